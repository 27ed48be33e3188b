"""What a person should decide or look at before the grades count, in words, with the command that decides it."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from autograder.core.text import clean, counted
from autograder.documents.reading import Document

TITLE = "Needs a person"
MAX_SHOWN = 12
DECIDED_BY_A_RUN = ("no_result", "chosen")  # kinds of questions that only another run settles


@dataclass(frozen=True)
class QuestionLine:
    """An open question about one student."""

    name: str
    text: str
    answers: list[tuple[str, str]]  # command and what follows OUT: one of them decides it; none if another run does

    def commands(self, out: str) -> list[str]:
        """Return the commands of which one decides the question; `out` is the folder of the class."""
        folder = shlex.quote(out)
        decide = [f"headway {command} {folder} {answer}".rstrip() for command, answer in self.answers]
        return decide or [f"headway grade DIR --out {folder}"]


def question_lines(students: Iterable[Document]) -> list[QuestionLine]:
    """Return the open questions about some students of a class document."""
    lines = []
    for student in students:
        for question in student["open"]:
            name = clean(student["name"] or student["id"] or student["submission"], 120)
            text = clean(question_text(question), 400)
            lines.append(QuestionLine(name, text, _answers(student, question)))
    return lines


def question_text(question: Document) -> str:
    """Return an open question in words."""
    files, reason, name = question["files"], question["reason"], question["assignment"]
    where = f"{name}: " if name else ""
    match question["kind"]:
        case "versions":
            others = " and ".join(files[1:])
            differing = f" in {reason}" if reason else ""
            return f"{where}{files[0]} counts, but {others} {'differs' if len(files) == 2 else 'differ'}{differing}"
        case "nothing_written":
            others = ", ".join(files)
            if not reason:
                return f"{where}nothing was submitted{f', only {others}' if files else ''}"
            also = f"; {others} was submitted, too" if files else ""
            return f"{where}{reason} holds only stubs, or none of its functions{also}"
        case "chosen":
            return f"{where}{files[0]} was chosen, and the next run grades it; the grade is still that of {files[1]}"
        case "elsewhere":
            return f"{where}no submission, but {files[0]} was submitted for another assignment"
        case "no_result":
            return f"{where}no result{f' ({reason})' if reason else ' yet'}"
        case "request":
            return f"{where}asks: {reason}"
        case _:
            return f"{where}{reason}"


def _answers(student: Document, question: Document) -> list[tuple[str, str]]:
    words = [student["submission"], *([question["assignment"]] if question["assignment"] else [])]
    if question["kind"] in DECIDED_BY_A_RUN:
        return []
    if question["kind"] == "exception":
        return [("grade --out", "")]
    if question["kind"] == "request":
        return [("comment", f"{shlex.quote(words[0])} TEXT --assignment {question['assignment']}")]
    others = question["files"][1:] if question["kind"] == "versions" else []
    owner = [f"{shlex.join(words)} STUDENT-ID"] if question["kind"] == "identity" else []
    return [("choose", answer) for answer in [*owner, *(shlex.join([*words, one]) for one in [*others, "--keep"])]]


def render(
    students: Iterable[Document], out: str, console: Console, *, limit: int | None = MAX_SHOWN, commands: bool = False
) -> None:
    """Print the open questions; above `limit`, the command that shows all of them."""
    lines = question_lines(students)
    if not lines:
        return
    console.print(Text.assemble((f"\n{TITLE}", "bold"), (f" · {counted(len(lines), 'open question')}", "dim")))
    for line in lines[:limit]:
        console.print(Padding(Text.assemble((line.name, "bold"), f"  {line.text}"), (0, 0, 0, 2)))
        if commands:
            console.print(
                Text("".join(f"    {command}\n" for command in line.commands(out)), "dim"), end="", soft_wrap=True
            )
    rest = f"{len(lines) - limit} more. " if limit is not None and len(lines) > limit else ""
    if not commands:
        console.print(Text(f"{rest}To decide: headway choose {shlex.quote(out)}", "dim"))
