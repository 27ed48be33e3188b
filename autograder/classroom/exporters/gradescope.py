"""Write Gradescope's `results.json`, one per student, and an autograder that writes it on Gradescope.

The autograder is a zip with `setup.sh`, `run_autograder` and Headway as it is installed here. There, the script
`run_autograder` starts this module for every submission:

    python -P -m autograder.classroom.exporters.gradescope /autograder

The archive pins the versions of Headway's dependencies, so that every submission is graded by the same checks as here.
Only those packages are downloaded.

Sources: "Autograder Specifications" (gradescope-autograders.readthedocs.io/en/latest/specs/; its section "Output
format" describes `results.json`) and "Manual Docker Configuration" on the same site.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import requires
from pathlib import Path
from typing import Any, Literal

import msgspec

import autograder
from autograder.classroom.policy.model import Policy
from autograder.classroom.storage import gradebook
from autograder.classroom.storage.gradebook import Gradebook, has_no_result
from autograder.core.archives import zip_of
from autograder.core.current_folder import python_command
from autograder.core.files import write_atomically
from autograder.core.versions import installed_version
from autograder.course.stubs import bundled
from autograder.documents.reading import Document
from autograder.errors import HeadwayError, UsageError
from autograder.report.score_words import score_lines
from autograder.report.student_feedback import comment_texts
from autograder.report.wording import cause, cause_label
from autograder.sandbox.packages import allowed_packages

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
# The Dockerfile is for "Manual Docker Configuration": such an image is based on one of Gradescope's.
TEMPLATES = ("setup.sh", "run_autograder", "Dockerfile")


def write(book: Gradebook, folder: Path, *, visibility: Visibility = "visible", assignment: str | None = None) -> int:
    """Write `<submission>.json` into `folder` for every student with a result; return the number of files.

    With `assignment`, score and tests are those of this assignment.
    """
    count, names = 0, book.file_names()
    for student, result in book.results([assignment] if assignment else ()):
        chosen = [grade for name, grade in student["assignments"].items() if assignment in (None, name)]
        if any(grade["status"] != "missing" for grade in chosen) and not any(map(has_no_result, chosen)):
            content = json.dumps(document_of(book, student, result, visibility, assignment), indent=1) + "\n"
            write_atomically(folder / f"{names[student['submission']]}.json", content.encode())
            count += 1
    return count


def document_of(
    book: Gradebook, student: Document, result: Document | None, visibility: Visibility, assignment: str | None = None
) -> dict[str, Any]:
    """Return one student's `results.json`, for one assignment or all; it reveals no more than the result document."""
    grade = student if assignment is None else student["assignments"][assignment]
    base = {
        "score": round(grade["score"], 4),
        "visibility": visibility,
        "stdout_visibility": "hidden",
        "output_format": "text",
        "extra_data": {"submission": student["submission"]} | {key: book.document[key] for key in ("versions", "seed")},
    }
    if result is None or not result["assignments"]:
        return {**base, "output": f"This submission could not be graded: {grade['reason']}", "tests": []}
    hides = book.policy.checks.hides
    tests = [
        # Gradescope's numbers are assignment.function.check.
        _test(check, f"{assignment['number']}.{i}.{j}", "hidden" if hides(check["id"]) else visibility)
        for assignment in result["assignments"]
        for i, function in enumerate(assignment["functions"], 1)
        for j, check in enumerate(function["checks"], 1)
    ]
    output, seconds = _summary(book, student, result, assignment), round(result["seconds"], 3)
    return {**base, "execution_time": seconds, "output": output, "tests": tests}


def _test(check: Document, number: str, visibility: Visibility) -> dict[str, Any]:
    lines = [check["message"]]
    lines += [f"{cause_label(check)}: {title}"] if (title := cause(check)) else []
    lines += [f"input: {check['inputs']}"] if check["inputs"] and check["status"] != "passed" else []
    lines += [f"in: {check['location']['file']}:{check['location']['line']}"] if check["location"] else []
    others = [name for name in check["blocked_by"] if name != check["function"] or not check["message"]]
    lines += [f"blocked by: {', '.join(others)}"] if others else []
    return {
        "name": f"{check['function']} · {check['title']}",
        "number": number,
        "score": check["points"]["earned"],
        "max_score": check["points"]["possible"],
        "status": "passed" if check["status"] == "passed" else "failed",
        "output": "\n".join(line for line in lines if line),
        "output_format": "text",
        "tags": [check["function"].partition(".")[0], check["status"]],
        "visibility": visibility,
    }


def _summary(book: Gradebook, student: Document, result: Document, assignment: str | None) -> str:
    """Return how the score follows from the points, the instructor's comments, and notes on the submission."""
    lines = score_lines(student, book.document, () if assignment is None else [assignment])
    comments = comment_texts(student, book.code_of(student), assignment)
    return "\n".join([*lines, *comments, *result["notes"]])


@dataclass(frozen=True)
class GradescopeSettings:
    """The settings of the autograder, which are `settings.json` in the archive."""

    assignments: tuple[str, ...] = ()  # names as for `headway grade --assignment`; all if empty
    seed: int = 0  # 0: the public inputs, whose answers are part of Headway
    feedback: str = "summary"
    visibility: Visibility = "visible"
    unsafe: bool = False  # grade without a sandbox if the image has none
    policy: str = ""  # the content of a course.toml


def write_autograder(path: Path, settings: GradescopeSettings) -> int:
    """Write the archive; return the number of files. Raise UsageError if results would reveal expected values."""
    if settings.feedback == "full":
        raise UsageError("--feedback full would show students expected values. Use --feedback summary or none")
    files = {
        **{name: (Path(__file__).with_name("templates") / name).read_bytes() for name in TEMPLATES},
        "settings.json": (json.dumps(asdict(settings), indent=1) + "\n").encode(),
        "requirements.txt": "\n".join([*_requirements(settings), ""]).encode(),
        **{f"headway/{name}": file.read_bytes() for name, file in _headway_files().items()},
    }
    write_atomically(path, zip_of(files, executable=("setup.sh", "run_autograder")))
    return len(files)


def policy_text(policy: Policy) -> str:
    """Return the part of a class's policy that concerns a single submission as the content of a course.toml.

    Due dates are left out, because Gradescope has its own, and so are exceptions for single students.
    """
    lines = [f"bonus = {json.dumps(policy.bonus)}"]
    lines += ["own_prerequisites = true"] if policy.own_prerequisites else []
    lines += ["[checks]", f"hidden = {json.dumps(policy.checks.hidden)}"] if policy.checks.hidden else []
    lines += ["[packages]", f"allow = {json.dumps(policy.packages.allow)}"] if policy.packages.allow else []
    for name, rules in policy.assignments.items():
        lines.append(f"[assignments.{name}]")
        lines += [f"points = {rules.points}"] if rules.points is not None else []
        lines += [f"weight = {rules.weight}"] if rules.weight is not None else []
        lines += [f"[assignments.{name}.functions]"] if rules.functions else []
        lines += [f"{function} = {points}" for function, points in rules.functions.items()]
    return "\n".join([*lines, ""])


def _headway_files() -> dict[str, Path]:
    """Return every file of Headway by its name in the archive; the layout is that of the installed wheel."""
    package = Path(autograder.__file__).parent
    bundles = {f"autograder/_bundle/{name}": bundled(name) for name in ("assignments", "solutions", "data")}
    files: dict[str, Path] = {}
    for prefix, root in {"autograder": package, **bundles}.items():
        for file in sorted(root.rglob("*")):
            path = file.relative_to(root)
            if file.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in path.parts):
                files.setdefault(f"{prefix}/{path.as_posix()}", file)
    return files


def _requirements(settings: GradescopeSettings) -> Iterator[str]:
    """Yield the packages that grading needs, pinned to the versions installed here."""
    required = [line for line in requires("headway") or [] if "extra ==" not in line]
    names = [re.split(r"[;\[<>=!~ ]", line, maxsplit=1)[0] for line in required]
    # The answers for other than the public inputs are computed with PyTorch.
    for name in [*names, "pyseccomp", *(["torch"] if settings.seed else [])]:
        version = installed_version(name)
        yield f"{name}=={version.partition('+')[0]}" if version else name
    allowed = tomllib.loads(settings.policy).get("packages", {}).get("allow", ())
    yield from (f"{name}=={version}" for name, version in allowed_packages(tuple(allowed)).versions)


def main(root: Path) -> None:
    """Grade `root/submission` by `root/source/settings.json`; write `root/results/results.json`.

    It is always written, so that a student who gets no grade can read why.
    """
    try:
        document = _grade(root)
    except (HeadwayError, OSError, ValueError) as error:
        document = {"score": 0.0, "output": f"The autograder could not run: {error}", "stdout_visibility": "hidden"}
    write_atomically(root / "results" / "results.json", (json.dumps(document, indent=1) + "\n").encode())


def _grade(root: Path) -> dict[str, Any]:
    settings = msgspec.json.decode((root / "source" / "settings.json").read_bytes(), type=GradescopeSettings)
    with tempfile.TemporaryDirectory(prefix="headway-") as scratch:
        folder, out = Path(scratch) / "class", Path(scratch) / "out"
        # Links are copied as links: grading refuses them, as in every class.
        shutil.copytree(root / "submission", folder / "submission", symlinks=True)
        command = python_command("-m", "autograder.cli", "grade", str(folder), "--out", str(out), "--no-color")
        command += ["--seed", str(settings.seed), "--feedback", settings.feedback]
        if settings.policy:
            policy = Path(scratch) / "course.toml"
            policy.write_text(settings.policy, "utf-8")
            command += ["--course", str(policy)]
        command += [part for name in settings.assignments for part in ("--assignment", name)]
        for options in ([], ["--unsafe-no-sandbox"]) if settings.unsafe else ([],):
            done = subprocess.run([*command, *options], capture_output=True, text=True, errors="replace", check=False)
            if (out / "class.json").is_file():
                break
        print(done.stdout, done.stderr)
        if not (out / "class.json").is_file():
            raise HeadwayError((done.stderr.strip() or "no reason given").splitlines()[-1])
        book = gradebook.read(out)
        student, result = next(book.results())
        return document_of(book, student, result, settings.visibility)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
