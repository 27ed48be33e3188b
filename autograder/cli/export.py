"""The command `headway export`."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from autograder.cli import options
from autograder.cli.nbgrader import open_course, show_unexported_changes, without_password, write_course
from autograder.core.text import counted
from autograder.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.classroom.exporters.gradescope import Visibility
    from autograder.classroom.exporters.lms_plan import LmsOptions, LmsPlan
    from autograder.classroom.storage.gradebook import Gradebook


class Format(NamedTuple):
    """A format of `headway export`."""

    file: str  # name of the file or folder in OUT/exports
    next_step: str  # what to do with it
    # A module of `classroom/exporters` whose `write(book, path)` returns the number of students it has written. Formats
    # that have options of their own have none; `export` below calls them.
    exporter: str = ""


FORMATS = {
    "csv": Format("grades.csv", "open it in a spreadsheet"),
    "canvas": Format("canvas.csv", "in Canvas, open Grades and choose Import"),
    "canvas-feedback": Format("canvas-feedback.zip", "in Canvas, open the assignment and choose Upload Submissions"),
    "moodle": Format(
        "moodle.csv",
        "in Moodle, open the assignment, then Submissions, then Upload grading worksheet (UTF-8, separator comma)",
    ),
    "moodle-feedback": Format(
        "moodle-feedback.zip",
        "in Moodle, open the assignment, then Submissions, then Upload multiple feedback files in a zip",
    ),
    "gradescope": Format("gradescope", "give Gradescope each file as the results.json of that submission"),
    "gradescope-autograder": Format("gradescope-autograder.zip", "in Gradescope, upload it under Configure Autograder"),
    "nbgrader": Format("gradebook.db", "in nbgrader_config.py, set c.CourseDirectory.db_url to this database"),
    "junit": Format("junit.xml", "in Jenkins, add the step Publish JUnit test result report", exporter="junit"),
}
# Each assignment of the platform has a file of its own.
_ONE_PER_ASSIGNMENT = ("moodle", "moodle-feedback", "canvas-feedback")


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("out", metavar="OUT", type=options.PATH)
@click.option("--format", "kind", type=click.Choice(list(FORMATS)), required=True, help="Format to write.")
@click.option("--to", type=options.PATH, help="File or folder to write (default: in OUT/exports).")
@click.option(
    "--assignment",
    "names",
    multiple=True,
    metavar="NAME",
    help="canvas, moodle, feedback, gradescope: only this assignment.",
)
@click.option(
    "--gradebook",
    type=options.PATH,
    metavar="FILE",
    help="canvas: Canvas's current gradebook, exported as CSV (default: the roster, if it is one).",
)
@click.option(
    "--worksheet",
    type=options.PATH,
    metavar="FILE",
    help="moodle: the assignment's grading worksheet (default: the roster, if it is one).",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=TITLE",
    help="canvas: column of an assignment. moodle: column of the grade (grade=TITLE) or of comments (comments=TITLE).",
)
@click.option("--keep-existing", is_flag=True, help="canvas, moodle: keep every grade that is already there.")
@click.option("--replace-comments", is_flag=True, help="moodle: also replace comments that Headway did not write.")
@click.option("--partial", is_flag=True, help="canvas, moodle: FILE has only a part of the class, such as one section.")
@click.option("--dry-run", is_flag=True, help="canvas, moodle: only report what would change.")
@click.option(
    "--visibility",
    type=click.Choice(["visible", "after_due_date", "after_published", "hidden"]),
    default="visible",
    help="gradescope: when students see the tests. Hidden checks stay hidden.",
)
@click.option(
    "--database", metavar="URL", help="nbgrader: database URL, sqlite:////path/gradebook.db or postgresql://…"
)
@click.option(
    "--course",
    type=options.PATH,
    help="nbgrader: folder of the course. Writes its gradebook and autograded/, which formgrader shows.",
)
@click.option("--course-id", metavar="ID", help="nbgrader: course_id (default: that of the course's settings).")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    help="gradescope-autograder: seed of the inputs; 0 for those that students have.",
)
@click.option(
    "--feedback",
    type=click.Choice(["summary", "none"]),
    default="summary",
    help="gradescope-autograder: how much results reveal.",
)
@click.option(
    "--unsafe-no-sandbox",
    "unsafe",
    is_flag=True,
    help="gradescope-autograder: grade without a sandbox if there is none.",
)
@options.force
@options.no_color
def export(
    out: Path,
    kind: str,
    to: Path | None,
    names: tuple[str, ...],
    gradebook: Path | None,
    worksheet: Path | None,
    columns: tuple[str, ...],
    keep_existing: bool,
    replace_comments: bool,
    partial: bool,
    dry_run: bool,
    visibility: "Visibility",
    database: str | None,
    course: Path | None,
    course_id: str | None,
    seed: int,
    feedback: str,
    unsafe: bool,
    force: bool,
) -> None:
    """Write a graded class in the format of another system.

    OUT is the folder that "headway grade" wrote; for gradescope-autograder it may be any folder. Grades for Canvas and
    Moodle are filled into the platform's own file; the command first reports what will change there.
    """
    import importlib

    from rich.text import Text

    from autograder.classroom.exporters import gradescope, gradescope_zip, nbgrader, table
    from autograder.classroom.exporters.lms_plan import LmsOptions
    from autograder.classroom.storage import gradebook as graded_class
    from autograder.core.files import report_write_error
    from autograder.core.output_files import OutputRecord

    name, next_step, exporter = FORMATS[kind]
    if kind in _ONE_PER_ASSIGNMENT and names:
        stem, _, suffix = name.partition(".")
        name = f"{stem}-{names[0]}.{suffix}"
    target = to or out / "exports" / name
    console = options.make_console()
    if kind == "nbgrader" and course is not None:
        write_course(graded_class.read(out), open_course(course, database, course_id), console)
        return
    written, outputs = OutputRecord(out, is_own_folder=True), [target]
    if kind == "gradescope":
        outputs = [target / f"{stem}.json" for stem in graded_class.read(out).file_names().values()]
    if kind != "nbgrader" and not dry_run:  # nbgrader's database is brought up to date, not replaced.
        written.require_replaceable(outputs, option="--to PATH", force=force)
    with report_write_error(target, "Choose another place: --to PATH"):
        if kind == "gradescope-autograder":
            assignments = _assignments_of(out, names)
            is_class = (out / "class.json").exists()
            policy = gradescope_zip.policy_text(graded_class.read(out).policy) if is_class else ""
            settings = gradescope_zip.GradescopeSettings(assignments, seed, feedback, visibility, unsafe, policy)
            count, what = gradescope_zip.write(target, settings), "file"
            graded = ", ".join(assignments) or "all assignments (for one: --assignment NAME)"
            console.print(Text(f"It grades {graded}."))
            if policy:
                console.print(Text(f"It has the points, the bonus rule and the hidden checks of {out}."))
            if not seed:
                console.print(Text("It uses the inputs whose answers students have. For other inputs: --seed N"))
        else:
            book, what = graded_class.read(out), "student"
            _show_unmarked_questions(book, names, console)
            _show_missing_results(book, names, console)
            match kind:
                case "csv":
                    count = table.write(book.document, target)
                case "canvas" | "moodle":
                    lms_options = LmsOptions(keep_existing, replace_comments, partial)
                    plan = _lms_plan(book, kind, names, gradebook or worksheet, columns, lms_options)
                    for line in plan.lines:
                        console.print(Text(line))
                    if dry_run:
                        console.print(Text("Nothing was written (--dry-run)"))
                        return
                    count = plan.write(target, line_end="\r\n" if kind == "moodle" else "\n")
                case "canvas-feedback" | "moodle-feedback":
                    count = _write_feedback(book, kind, target, names, worksheet, console)
                case "gradescope":
                    name_or_total = _one_assignment(book, names)
                    count = gradescope.write(book, target, visibility=visibility, assignment=name_or_total)
                    what = "submission"
                case "nbgrader":
                    if database is None:
                        target.parent.mkdir(parents=True, exist_ok=True)
                    url, course_id = database or f"sqlite:///{target.resolve()}", course_id or "default_course"
                    count = nbgrader.write_gradebook(book.document, book.results(), url, course_id=course_id)
                    what = "submission"
                case _:
                    module = importlib.import_module(f"autograder.classroom.exporters.{exporter}")
                    count = module.write(book, target)
        if kind != "nbgrader" and out.is_dir():
            written.add(outputs)
    where = without_password(database) if database and kind == "nbgrader" else target
    console.print(Text(f"Wrote {counted(count, what)} to {where}"))
    if kind == "nbgrader":
        show_unexported_changes(book, console)
    console.print(Text(f"Next: {next_step}", "dim"))


def _show_unmarked_questions(book: "Gradebook", names: tuple[str, ...], console: "Console") -> None:
    """Report the questions that are not marked for some students; they count 0 until then."""
    from rich.text import Text

    from autograder.classroom.exporters.lms_plan import listed
    from autograder.classroom.storage.gradebook import display_name
    from autograder.report.score_words import unmarked_rubric_items

    students: dict[tuple[str, str], list[str]] = {}
    for student in book.students:
        for item in unmarked_rubric_items(student):
            if not names or item[0] in names:
                students.setdefault(item, []).append(display_name(student))
    for (assignment, title), unmarked in students.items():
        question = f'{assignment}: "{title}" is not graded yet for {counted(len(unmarked), "student")} and counts 0'
        console.print(Text(f"{question}: {listed(unmarked)}. See: headway comment --help"))


def _show_missing_results(book: "Gradebook", names: tuple[str, ...], console: "Console") -> None:
    """Report the assignments without a result for some students, who get no score until they are graded."""
    from rich.text import Text

    from autograder.classroom.exporters.lms_plan import listed
    from autograder.classroom.storage.gradebook import display_name, has_no_result

    for name in names or [assignment["name"] for assignment in book.assignments]:
        students = [s for s in book.students if name in s["assignments"] and has_no_result(s["assignments"][name])]
        if students:
            text = f"{name} has no result for {counted(len(students), 'student')}, so no score"
            again = f"Grade again: headway grade DIR --out {book.out}"
            console.print(Text(f"{text}: {listed([display_name(student) for student in students])}. {again}"))


def _lms_plan(
    book: "Gradebook",
    kind: str,
    names: tuple[str, ...],
    file: Path | None,
    columns: tuple[str, ...],
    lms_options: "LmsOptions",
) -> "LmsPlan":
    """Return what an export into Canvas's gradebook or Moodle's worksheet will write."""
    from autograder.classroom.exporters import canvas, canvas_gradebook, moodle, moodle_worksheet

    titles = dict(_column_title(column) for column in columns)
    if kind == "canvas":
        canvas_file = canvas_gradebook.read(file) if file else None
        return canvas.plan(book, canvas_file, assignments=names, columns=titles, options=lms_options)
    worksheet = moodle_worksheet.read(file, titles) if file else None
    assignment = _one_assignment(book, names)
    return moodle.plan(book, worksheet, assignment=assignment, columns=titles, options=lms_options)


def _column_title(column: str) -> tuple[str, str]:
    name, equals, title = column.partition("=")
    if not (name and equals and title):
        raise UsageError(f'--column {column}: write it as NAME=TITLE, for example --column softmax="Homework 1 (4711)"')
    return name.strip(), title.strip()


def _write_feedback(
    book: "Gradebook", kind: str, target: Path, names: tuple[str, ...], worksheet: Path | None, console: "Console"
) -> int:
    """Write feedback files for a bulk upload; return the number of students."""
    from rich.text import Text

    from autograder.classroom.exporters import feedback_zip, moodle_worksheet

    assignment = _one_assignment(book, names)
    if assignment is None:
        known = [entry["name"] for entry in book.assignments]
        if len(known) != 1:
            raise UsageError(f"each assignment has its own feedback. Name one: --assignment {' or '.join(known)}")
        assignment = known[0]
    if kind == "canvas-feedback":
        count, lines = feedback_zip.write_canvas(book, target, assignment)
    else:
        sheet = moodle_worksheet.read(worksheet, {}) if worksheet else None
        count, lines = feedback_zip.write_moodle(book, target, assignment, sheet)
    for line in lines:
        console.print(Text(line))
    return count


def _assignments_of(out: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named assignments, or those of the graded class in `out`, or none, which means all."""
    from autograder.classroom.storage import gradebook
    from autograder.course import registry

    if names:
        registry.default().select(names)
    elif (out / "class.json").exists():
        names = tuple(assignment["name"] for assignment in gradebook.read(out).assignments)
    return names


def _one_assignment(book: "Gradebook", names: tuple[str, ...]) -> str | None:
    """Return the assignment to export, or None for the total."""
    known = [assignment["name"] for assignment in book.assignments]
    if len(names) > 1:
        raise UsageError("this format has one assignment per file. Name one (--assignment NAME), or none")
    if names and names[0] not in known:
        raise UsageError(f"the class was not graded for {names[0]!r}. Name one of these: {', '.join(known)}")
    return names[0] if names else None
