"""The report in a notebook: the same panels as in the terminal, as HTML with a plain text beside it."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from autograder.report.check_report import (
    STATUS_STYLES,
    STATUS_WORDS,
    Document,
    all_checks,
    check_panel,
    first_failures,
    more,
    sum_text,
)

WIDTH = 96
MAX_PANELS = 3
# Colours of the notebook's own theme, whether it is light or dark. A line break within a line would tear the frames.
_STYLE = "white-space:pre;overflow-x:auto;line-height:1.16;font-family:Menlo,'DejaVu Sans Mono',Consolas,monospace"
_FORMAT = f'<pre style="{_STYLE};margin:0;color:inherit;background:none">{{code}}</pre>'


@dataclass(frozen=True)
class NotebookReport:
    """What a check found, in the form that notebooks show.

    Attributes:
        document: a `headway.result/1` document.
        progress: status of each function of the assignments in it, None where it was not checked yet.
        origins: where earlier assignments are from that the functions are built on.
        note: something to know about this check.
    """

    document: Document
    progress: Mapping[str, str | None]
    origins: Mapping[str, str]
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return bool(self.document["passed"])

    def __str__(self) -> str:
        return self._repr_mimebundle_()["text/plain"]

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        console = _printed(self._parts())
        html = console.export_html(inline_styles=True, code_format=_FORMAT, clear=False)
        return {"text/html": html, "text/plain": console.export_text(styles=False)}

    def _parts(self) -> list[RenderableType]:
        checks = all_checks(self.document)
        wrong = [check for check in checks if check["status"] in ("failed", "error", "timeout")]
        shown = first_failures(wrong)[:MAX_PANELS]
        parts: list[RenderableType] = [self._headline(checks)]
        parts += [check_panel(check, commands=False) for check in shown]
        if len(wrong) > len(shown):
            parts.append(Text(f"… and {more(len(wrong) - len(shown))}", "dim"))
        if shown:
            parts.append(Text(f"stuck? in a terminal: headway hint {shown[0]['function']}", "dim"))
        parts += [Text(f"◌ {line}", STATUS_STYLES["blocked"][1]) for line in _blocked(checks)]
        parts += [Text(f"The kit itself failed: {problem}", "bold red") for problem in self.document["problems"]]
        parts.append(self._line())
        if self.origins:
            parts.append(Text("built on " + " · ".join(f"{m}: {o}" for m, o in self.origins.items()), "dim"))
        if self.note:
            parts.append(Text(self.note, "dim"))
        return parts

    def _headline(self, checks: Sequence[dict[str, Any]]) -> Text:
        names = list(dict.fromkeys(check["function"] for check in checks))
        text = Text(names[0] if len(names) == 1 else f"{len(names)} functions", "bold")
        for status, (mark, style) in STATUS_STYLES.items():
            count = sum(check["status"] == status for check in checks)
            if count:
                text.append(f"   {mark} {count} {STATUS_WORDS[status]}", style)
        text.append(f"   {sum_text(self.document)} points")
        return text

    def _line(self) -> Text:
        """How far the notebook is: one mark for each function of the assignment."""
        modules = dict.fromkeys(name.partition(".")[0] for name in self.progress)
        text = Text().append(", ".join(modules) + " ", "dim")
        for status in self.progress.values():
            mark, style = STATUS_STYLES[status] if status else ("·", "dim")
            text.append(mark, style)
        right = sum(status == "passed" for status in self.progress.values())
        return text.append(f" {right} of {len(self.progress)} functions right", "dim")


def _blocked(checks: Sequence[dict[str, Any]]) -> list[str]:
    """Why checks are blocked or not begun, once for each function."""
    lines = {}
    for check in checks:
        if check["status"] == "blocked":
            lines[check["function"]] = check["message"]
        elif check["status"] == "not_started":
            name = check["function"].partition(".")[2]
            lines[check["function"]] = f"{name} is not written yet: it still raises NotImplementedError"
    return list(lines.values())


def _printed(parts: list[RenderableType]) -> Console:
    console = Console(
        file=io.StringIO(),
        record=True,
        width=WIDTH,
        force_jupyter=False,
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        legacy_windows=False,
        no_color=False,
    )
    console.print(Group(*parts))
    return console
