"""What `make demo` prints fits a terminal, names each student's mistakes, and suggests commands that work."""

import importlib.metadata
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support import demo_class
from support.commands import run_program
from support.paths import ROOT
from support.reading import checks_of, read_json, students_of

pytestmark = pytest.mark.slow


def needed(*extras):
    """Return the distributions that Headway with these extras needs."""
    found, waiting = set(), [Requirement(f"headway[{','.join(extras)}]")]
    while waiting:
        wanted = waiting.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in found:
            continue
        found.add(key)
        try:
            requires = importlib.metadata.requires(wanted.name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for each in map(Requirement, requires):
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)):
                waiting.append(each)
    return {name for name, _ in found}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run a command as after `make demo`: with no package but those of the light installation."""
    folder = tmp_path_factory.mktemp("demo")
    light = re.search(r"--editable '\.\[(.+)\]'", (ROOT / "Makefile").read_text("utf-8"))[1]
    absent = needed("dev") - needed(*light.split(","))
    packages = importlib.metadata.packages_distributions().items()
    modules = {module for module, names in packages if absent.issuperset(map(canonicalize_name, names))}
    assert {"torch", "matplotlib"} <= modules and not modules & {"numpy", "jinja2", "pytest"}
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({sorted(modules)}))\n")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder), "COLUMNS": "80", "PYTHONUTF8": "1"}

    def run(*command):
        (folder / "clone").mkdir(exist_ok=True)
        return run_program(*command, cwd=folder / "clone", env=environment)

    run.folder = folder / "clone"
    return run


@pytest.fixture(scope="module")
def demo(run):
    return run(sys.executable, ROOT / "tests" / "support" / "demo_class.py").stdout


@pytest.fixture(scope="module")
def graded(run, demo):
    return run.folder / "demo-out" / "results"


def test_demo_fits_a_screen_and_shows_expected_values(demo):
    lines = demo.splitlines()
    assert len(lines) < 80 and max(map(len, lines)) <= 80
    assert "expected 5.0" in demo and "History" not in demo


def test_demo_suggests_commands_that_work(run, demo):
    suggested = re.findall(r"^(?:Next:)? +(headway .+)$", demo, re.M)
    assert {command.split()[1] for command in suggested} == {"report", "show", "comment", "export", "init"}
    for command in suggested:
        run(*shlex.split(command, comments=True))


def test_demo_class_names_every_mistake(graded):
    for student in students_of(graded):
        _, _, mistakes = demo_class.STUDENTS[student["submission"]]
        files = {grade["file"] for grade in student["assignments"].values()}
        checks = checks_of(*(read_json(graded / file) for file in files))
        named = {part for check in checks if check["mistake"] for part in check["mistake"]["id"].split("|")}
        assert set(mistakes) <= named, student["submission"]
        assert student["status"] == "graded"
        wrong = [check["id"] for check in checks if check["status"] in ("failed", "error", "timeout")]
        assert bool(wrong) == bool(mistakes), student["submission"]


def test_demo_class_is_at_different_points(graded):
    scores = [student["score"] for student in students_of(graded)]
    assert len(set(scores)) >= len(scores) - 2 and min(scores) > 0
