"""The commands about single students of a graded class: show, comment, choose."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli import options
from autograder.core.csv_table import parse_number
from autograder.core.text import clean, local_time
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.classroom.comments.comment_records import CommentRecord
    from autograder.classroom.score import Regrade
    from autograder.classroom.storage.gradebook import Gradebook
    from autograder.documents.reading import Document


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("student")
@options.assignment_option("Show only this assignment. Repeatable.")
@click.option("--code", "whole_code", is_flag=True, help="Show all of the code, not only the lines that failed.")
@click.option("--html", "page", type=options.PATH, metavar="FILE", help="Also write a page that needs no network.")
def show(out: Path, student: str, names: tuple[str, ...], whole_code: bool, page: Path | None) -> None:
    """Show one student: score, code, failed checks, comments.

    OUT is the folder that "headway grade" wrote. STUDENT is any name that the class has for the student: submission,
    name, id, login or address.
    """
    from autograder.classroom.class_report import student_pages
    from autograder.classroom.storage import gradebook
    from autograder.classroom.submissions.student_names import find_student
    from autograder.core.files import report_write_error, write_atomically
    from autograder.core.output_files import require_no_work
    from autograder.report import student_results

    book = gradebook.read(out)
    book.require_graded(names)
    shown = student_pages.results_of(book, find_student(book.students, student), names)
    student_results.render(shown, options.make_console(), whole_code=whole_code)
    if page is not None:
        require_no_work(page, "--html FILE")
        with report_write_error(page, "Choose another place: --html FILE"):
            write_atomically(page, student_results.as_page(shown).encode("utf-8", "replace"))
        options.show(f"Page: {page}", "dim")
    folder, name = shlex.quote(str(out)), shlex.quote(shown.student["submission"])
    comment, feedback = f"headway comment {folder} {name} TEXT", f"headway report {folder} --feedback"
    options.show(f"Next: {comment}\n      {feedback}", "dim")


MAX_SHOWN = 20  # changes on the screen
TINY = 1e-5


def _number(text: str) -> float:
    if (number := parse_number(text)) is None:  # it may have a decimal comma
        raise click.BadParameter(f"{text!r} is not a number")
    return number


@click.command()
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("student", required=False)
@click.argument("words", nargs=-1, metavar="[FILE:LINE] [TEXT]")
@click.option("--as", "reuses", metavar="NAME", default="", help="Use a text of [comments] in course.toml.")
@click.option("--assignment", metavar="NAME", default="", help="The assignment (default: the comment is on all).")
@click.option("--rubric", metavar="ID", default="", help="The rubric item of course.toml that --points is for.")
@click.option("--points", type=_number, metavar="N", help="Points for the rubric item.")
@click.option("--add", type=_number, metavar="N", help="Add points to the score; a negative number deducts them.")
@click.option("--score", type=_number, metavar="N", help="Set the score, regardless of checks and late penalties.")
@click.option("--reason", default="", help="For the record only; the student does not see it.")
@click.option("--by", metavar="NAME", default="", help="Name to record (default: your user name).")
@click.option("--undo", "undoes", metavar="ID", default="", help="Undo an earlier comment of this student.")
@click.option("--from", "table", type=options.PATH, metavar="FILE", help="Read comments and points from a CSV file.")
@options.curriculum
def comment(
    out: Path, student: str | None, words: tuple[str, ...], by: str, table: Path | None, **choices: Any
) -> None:
    r"""Comment on a student's work, or change its score.

    Records who decided what and why in OUT/comments.jsonl, and writes class.json and grades.csv again, without grading.
    STUDENT is any name, id or address in the class. The student reads TEXT in the feedback, beside the line FILE:LINE
    of the graded code if you name one. Without TEXT and options, lists the comments of a student.

    \b
    headway comment OUT ada "Shown in the lab." --assignment softmax --score 17
    headway comment OUT ada softmax.py:12 "This is the sum over all elements."
    """
    from autograder.classroom.comments import comment_records
    from autograder.classroom.comments.comment_request import not_recorded, read_table, reusable_text
    from autograder.classroom.score import record_decisions
    from autograder.classroom.storage import gradebook
    from autograder.classroom.submissions.student_names import StudentNames

    book = gradebook.read(out)
    names = StudentNames.of_documents(book.students)
    has_place = bool(words) and re.fullmatch(comment_records.PLACE, words[0]) is not None
    place, texts = (words[0], words[1:]) if has_place else ("", words)
    if len(texts) > 1:
        raise UsageError(f"put the text in quotes: headway comment OUT STUDENT {shlex.quote(' '.join(texts))}")
    if choices["reuses"]:
        texts = (reusable_text(choices["reuses"], book.policy), *texts)
    choices |= {"place": place, "text": " ".join(texts)}
    given = comment_records.requested("", **choices)
    if table is not None:
        if student or given != comment_records.requested(""):
            raise UsageError("--from reads students, texts and points from the file. Leave out the other arguments.")
        requests = read_table(table, names)
        new = not_recorded(requests, comment_records.read(out))
        if len(new) < len(requests):
            again = "is" if len(requests) - len(new) == 1 else "are"
            options.show(f"{len(requests) - len(new)} of {len(requests)} rows {again} recorded already: skipped")
        if not (requests := new):
            return
    elif student is None:
        raise UsageError("name a student: headway comment OUT STUDENT TEXT. For many: headway comment OUT --from FILE")
    else:
        submission = names.require(student, "headway comment OUT")
        if given == comment_records.requested(""):
            _list_comments(out, submission, book.policy.time_zone)
            return
        requests = [comment_records.requested(submission, **choices)]
    done = record_decisions(out, requests, by, options.selected_curriculum())
    for record in done.records[:MAX_SHOWN]:
        _show_change(done, record)
    if len(done.records) > MAX_SHOWN:
        options.show(f"… and {len(done.records) - MAX_SHOWN} more")
    first, last = done.records[0], done.records[-1]
    number = f"comment {last.id}" if first is last else f"comments {first.id} to {last.id}"
    by_whom = f"Recorded by {clean(last.by, 80)} as {number} in {out / 'comments.jsonl'}."
    folder = shlex.quote(str(out))
    options.show(f"{by_whom}{_how_to_undo(folder, done.records)}", "dim")
    options.show(f"Next: headway report {folder} --feedback, or headway export FORMAT {folder}", "dim")


def _how_to_undo(folder: str, records: "Sequence[CommentRecord]") -> str:
    """Return the command that undoes a record, or one of several; an undo cannot be undone."""
    if len(records) > 1:
        return f" To undo one: headway comment {folder} STUDENT --undo NUMBER"
    command = f"headway comment {folder} {shlex.quote(records[0].student)} --undo {records[0].id}"
    return "" if records[0].undoes else f" To undo: {command}"


def _show_change(done: "Regrade", record: "CommentRecord") -> None:
    """Print the score before and after, and how it follows from the points."""
    from autograder.classroom.storage.gradebook import display_name
    from autograder.core.points import format_points
    from autograder.report.score_words import score_lines

    before, after = done.students(record.student)
    name = clean(display_name(after), 80)
    changes = [
        f"{key} {format_points(old['score'])} → {format_points(new['score'])} of {format_points(new['possible'])}"
        for key, new in after["assignments"].items()
        if abs((old := before["assignments"][key])["score"] - new["score"]) > TINY
    ]
    totals = [one["percent"] for one in (before, after)]
    if None not in totals and abs(totals[0] - totals[1]) > TINY:
        changes.append(f"total {format_points(totals[0])}% → {format_points(totals[1])}%")
    if not changes and record.changes_points:
        changes = [f"the score of {record.assignment} stays the same"]
    options.show(f"{name}: {', '.join(changes) or record.summary}")
    if record.changes_points:
        lines = score_lines(after, done.after, [record.assignment])
        options.show("\n".join(f"  {line}" for line in lines), "dim")


def _list_comments(out: Path, submission: str, zone: str) -> None:
    from autograder.classroom.comments import comment_records

    records = comment_records.read(out)
    kept = {record.id for record in comment_records.in_force(records)}
    own = [record for record in records if submission in (record.student, record.owner)]
    for record in own:
        where = f"{clean(record.place or record.assignment, 80)}: " if record.place or record.assignment else ""
        undone = "" if record.id in kept or record.undoes else " (undone)"
        text = ": ".join(filter(None, [record.summary, clean(record.text, 300)]))
        reason = f" [{clean(record.reason, 300)}]" if record.reason else ""
        when = local_time(record.time, zone)
        options.show(f"{record.id:>4}  {when}  {clean(record.by, 40)}  {where}{text}{reason}{undone}")
    if not own:
        options.show(f"No comments yet. To write one: headway comment {shlex.join([str(out), submission])} TEXT")


@click.command()
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("student", required=False)
@click.argument("what", nargs=-1, metavar="[ASSIGNMENT] [FILE | STUDENT-ID]")
@click.option("--keep", is_flag=True, help="Leave it as it is: the question needs no more attention.")
@click.option("--by", metavar="NAME", default="", help="Name to record (default: your user name).")
@options.curriculum
def choose(out: Path, student: str | None, what: tuple[str, ...], keep: bool, by: str) -> None:
    r"""Decide what needs a person: which file counts, and whose work it is.

    Without more arguments, lists what is open in a class, or about one student, with a command for each question.
    Choices are recorded like comments ("headway comment OUT STUDENT" lists them, and --undo takes one back), and later
    runs respect them.

    \b
    headway choose OUT ada softmax softmax_final.py    this file counts
    headway choose OUT unknown-7 grace                 this work is Grace's
    headway choose OUT ada softmax --keep              the grade is right as it is
    """
    from autograder.classroom.score import record_decisions
    from autograder.classroom.storage import gradebook
    from autograder.classroom.submissions.student_names import find_student
    from autograder.report import open_questions

    book = gradebook.read(out)
    found = find_student(book.students, student) if student is not None else None
    if found is None or not (what or keep):
        students = [found] if found else gradebook.with_class(book.document)
        open_questions.render(students, str(out), options.make_console(), limit=None, commands=True)
        if not any(one["open"] for one in students):
            options.show("Nothing is open.")
        return
    request, next_step = _request(book, found, what, keep)
    done = record_decisions(out, [request], by, options.selected_curriculum())
    record = done.records[-1]
    name = shlex.quote(record.owner or found["submission"])
    undo = f"headway comment {shlex.quote(str(out))} {name} --undo {record.id}"
    options.show(f"Recorded by {record.by}: {record.summary}. To undo: {undo}")
    if next_step:
        options.show(next_step, "dim")


def _request(book: "Gradebook", student: "Document", what: tuple[str, ...], keep: bool) -> "tuple[CommentRecord, str]":
    """Return what is to be recorded, and the command that comes next."""
    from autograder.classroom.comments.comment_records import requested
    from autograder.classroom.submissions.student_names import find_student
    from autograder.report.open_questions import DECIDED_BY_A_RUN

    known = [assignment["name"] for assignment in book.assignments]
    assignment = what[0] if what and what[0] in known else ""
    rest = what[1:] if assignment else what
    questions = [one for one in student["open"] if not assignment or one["assignment"] in (assignment, "")]
    submission, out = student["submission"], shlex.quote(str(book.out))
    if not questions:
        raise UsageError(f"nothing is open about {submission}. To see what is: headway choose {out}")
    if keep:
        if rest:
            raise UsageError(f"--keep leaves everything as it is. Leave it out to choose {rest[0]}")
        ids = tuple(one["id"] for one in questions if one["kind"] not in DECIDED_BY_A_RUN)
        if not ids:
            raise UsageError(f"{submission} waits for the next run. Grade again: headway grade DIR --out {out}")
        return requested(submission, assignment=assignment, settles=ids), ""
    if len(rest) != 1:
        raise UsageError("name one file or one student, or leave it as it is: --keep")
    for question in questions:
        if question["kind"] == "versions" and rest[0] in question["files"]:
            again = f"The next run grades it: headway grade DIR --out {out}"
            return requested(submission, assignment=question["assignment"], file=rest[0]), again
    if any(one["kind"] == "identity" for one in questions) and not assignment:
        owner = find_student(book.students, rest[0])
        work = [one["assignments"] for one in (owner, student)]
        both = [name for name in known if all(grades[name]["status"] != "missing" for grades in work)]
        rule = f"{rest[0]} submitted {', '.join(both)}, too: the policy decides which attempt counts. " if both else ""
        return requested(submission, owner=owner["submission"]), f"{rule}To apply it: headway grade --out {out}"
    files = [file for one in questions if one["kind"] == "versions" for file in one["files"]]
    raise UsageError(f"{rest[0]!r} is none of the files in question. Name one of these: {', '.join(files) or '--keep'}")
