"""Fuzz the whole way from the files of a class to its reports: generated classes are graded, reported and exported.

The test runs for about half a minute with the same classes each time. To run it for an hour with others:

    HEADWAY_FUZZ_SECONDS=3600 HEADWAY_FUZZ_SEED=7 python -m pytest tests/fuzz

The folder of a class that fails stays in pytest's temporary folder, and its path is printed.
"""

import json
import os
import resource
import shutil
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from support.calibration import cpu_limit
from support.commands import invoke
from support.generated_class import MARK, GeneratedClass, classes
from support.reading import read_json
from support.required_sandbox import skip_without_sandbox
from support.softmax_class import InProcessPool

from autograder.classroom import grade as grading
from autograder.classroom.grading import worker
from autograder.classroom.policy.model import LimitsPolicy
from autograder.course.stubs import bundled
from autograder.documents.schema import json_schema
from autograder.sandbox.limits import Limits

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux"),
]
SECONDS = float(os.environ.get("HEADWAY_FUZZ_SECONDS", "30"))
FEWEST = 2  # classes, however slow the machine is
FIRST_SEED = int(os.environ.get("HEADWAY_FUZZ_SEED", "0"))
CLASSES_PER_SEED = 20
HONEST = ("honest-ada", "honest-zoe")
# The limit of a submission is time that passes: on a busy machine, an honest one has waited for twenty seconds.
LIMITS = Limits(0.3, submission_seconds=120.0, cpu_seconds=120.0, memory_bytes=768 << 20, result_bytes=16 << 20)
# What the grader itself may use for one submission, and for the reports of a class: CPU seconds and MiB.
GRADER_SECONDS, REPORT_SECONDS, GRADER_MIB = 8.0, 15.0, 400
EXPORTS = ("csv", "canvas", "moodle", "gradescope", "junit")  # nbgrader's gradebook takes seconds to create
VALIDATORS = {kind: jsonschema.Draft202012Validator(json_schema(f"headway.{kind}/1")) for kind in ("result", "class")}


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float, float]]:
    """Grade in this process, and note what each submission costs it: CPU seconds and growth of its peak in MiB."""
    costs = []
    honest_grade = worker.grade
    monkeypatch.setattr(LimitsPolicy, "sandbox_limits", lambda self: LIMITS)

    def grade(task, *rest):
        before, peak = time.process_time(), peak_mib()
        try:
            return honest_grade(task, *rest)
        finally:
            costs.append((task.name, time.process_time() - before, peak_mib() - peak))

    monkeypatch.setattr(worker, "grade", grade)
    monkeypatch.setattr(grading, "WorkerPool", InProcessPool)
    return costs


def write_class(folder: Path, generated: GeneratedClass) -> set[str]:
    """Write a class with two honest students; return the names of those that could be written."""
    folder = folder / "submitted" if generated.platform == "nbgrader" else folder
    folder.mkdir(parents=True)
    right = (bundled("solutions") / "softmax.py").read_bytes()
    students = dict(generated.students)
    for number, name in enumerate(HONEST, 90):
        if generated.platform == "canvas":
            students[f"{name}_{number}_{number}_softmax.py"] = {"": right}
        elif generated.platform == "gradescope":
            students[f"submission_{number}"] = {"softmax.py": right}
        elif generated.platform == "moodle":
            students[f"{name}_{number}_assignsubmission_file"] = {"softmax.py": right}
        else:
            students[name] = {"softmax.py": right}
    written = set()
    for name, parts in students.items():
        place = folder / name
        try:
            if "" in parts:
                if name.startswith(("._", ".#", ".nfs")):  # a file of a system or an editor
                    continue
                place.write_bytes(parts[""])
            else:
                place = place / "softmax" if generated.platform == "nbgrader" else place
                place.mkdir(parents=True)
                for file, content in parts.items():
                    (place / file).write_bytes(content)
        except (OSError, ValueError):  # the file system does not have this name
            continue
        written.add(name)
    if generated.platform == "gradescope":
        people = dict(zip(generated.students, generated.names, strict=True))
        people |= {f"submission_{number}": name for number, name in enumerate(HONEST, 90)}
        about = {name: {":name": people[name], ":sid": f"{people[name]}{name[11:]}"} for name in written}
        index = {name: {":submitters": [submitter]} for name, submitter in about.items()}
        content = json.dumps(index, ensure_ascii=False).encode("utf-8", "replace")
        (folder / "submission_metadata.yml").write_bytes(content)
    return written


def grade_and_report(folder: Path, generated: GeneratedClass, costs: list[tuple[str, float, float]]) -> None:
    """Grade and report one class; raise AssertionError if anything is not as promised."""
    class_, out = folder / "class", folder / "out"
    written = write_class(class_, generated)
    extra = list(generated.options)
    files = (("roster.csv", generated.roster, "--roster"), ("c.toml", generated.policy, "--course"))
    for name, content, option in files:
        if content is not None:
            (folder / name).write_bytes(content)
            extra += [option, str(folder / name)]
    command = ["grade", class_, "--out", out, "--assignment", "softmax"]
    del costs[:]
    done = run(*command, "--seed", "0", *extra)
    if done.returncode == 2:  # the roster or the policy: one line; without them, the class is graded
        shutil.rmtree(out, ignore_errors=True)
        done = run(*command, "--seed", "0")
    assert done.returncode == 0, done.stderr
    for name, seconds, mib in costs:
        assert seconds < cpu_limit(GRADER_SECONDS), f"{name!r} took {seconds:.1f} s of the grader"
        assert mib < GRADER_MIB, f"{name!r} took {mib:.0f} MiB of the grader"
    check_documents(out, written)
    before = time.process_time()
    report(class_, out)
    assert time.process_time() - before < cpu_limit(REPORT_SECONDS), "the reports took too long"


def run(*arguments):
    """Run a command, which must end in the way that it should."""
    done = invoke(*arguments)
    said = done.stdout + done.stderr
    assert done.returncode in (0, 1, 2), f"{arguments[0]}: exit code {done.returncode}: {said[-1000:]}"
    assert "Traceback (most" not in done.stderr and "internal error" not in said, said[-1000:]
    if done.returncode == 2:
        problem = done.stderr.strip()
        assert problem.startswith("headway: ") and len(problem.splitlines()) == 1, problem
    assert not set(said) & set("\x1b\u202e\0"), f"control characters: {said[-300:]!r}"
    return done


def check_documents(out: Path, written: set[str]) -> None:
    document = read_json(out / "class.json")
    VALIDATORS["class"].validate(document)
    submitted = [student for student in document["students"] if student["status"] != "missing"]
    assert len(submitted) == len(written), f"{len(written)} submissions, {len(submitted)} students"
    for path in (out / "results").glob("*.json"):
        VALIDATORS["result"].validate(read_json(path))
    for name in HONEST:
        (result,) = (student for student in submitted if student["submission"].startswith(name))
        assert result["status"] == "graded", result
        files = {grade["file"] for grade in result["assignments"].values()}
        points = [one["points"] for file in files for one in read_json(out / file)["assignments"]]
        assert points and all(each["earned"] == each["possible"] > 0 for each in points), (name, points)


def report(class_: Path, out: Path) -> None:
    done = run("report", out, "--feedback", "--similar", class_)
    assert done.returncode == 0, done.stderr
    pages = [*out.rglob("*.html"), *out.rglob("*.md")]
    assert len(pages) > 2
    for page in pages:
        assert page.suffix != ".html" or MARK not in page.read_text("utf-8"), page
    for kind in EXPORTS:
        done = run("export", kind, out, "--despite-open")
        assert done.returncode == 0 or kind in ("canvas", "moodle"), done.stderr


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # it would hide what failed
def test_grading_of_generated_classes_keeps_every_promise(tmp_path, measured):
    skip_without_sandbox(tmp_path)
    grade_and_report(tmp_path / "warm", GeneratedClass({}), measured)  # loads what all classes need
    ends, number, deepest = time.monotonic() + SECONDS, 0, [0.0, 0.0]

    def is_over():
        return number >= FEWEST and time.monotonic() > ends

    def fuzz(generated):
        nonlocal number
        if is_over():
            return
        number += 1
        folder = tmp_path / str(number)
        grade_and_report(folder, generated, measured)
        for _, *cost in measured:
            deepest[:] = map(max, deepest, cost)
        shutil.rmtree(folder)

    quiet = settings(
        max_examples=CLASSES_PER_SEED, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip
    current = FIRST_SEED
    while not is_over():
        seed(current)(quiet(given(classes())(fuzz)))()
        current += 1
    print(f"{number} classes; a submission took at most {deepest[0]:.1f} s and {deepest[1]:.0f} MiB of the grader")
