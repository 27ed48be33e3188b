"""What `make demo` prints fits a terminal, names each student's mistakes, and suggests commands that work."""

import importlib.metadata
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support import demo_class
from support.paths import ROOT

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
    modules = {
        module
        for module, names in importlib.metadata.packages_distributions().items()
        if absent.issuperset(map(canonicalize_name, names))
    }
    assert {"torch", "matplotlib"} <= modules and not modules & {"numpy", "jinja2", "pytest"}
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({sorted(modules)}))\n")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder), "COLUMNS": "80", "PYTHONUTF8": "1"}

    def run(*command):
        (folder / "clone").mkdir(exist_ok=True)
        return subprocess.run(
            list(map(str, command)),
            cwd=folder / "clone", env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip

    run.folder = folder / "clone"
    return run


@pytest.fixture(scope="module")
def demo(run):
    done = run(sys.executable, ROOT / "tests" / "support" / "demo_class.py")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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
        done = run(*shlex.split(command, comments=True))
        assert done.returncode == 0, command + done.stderr


def test_demo_class_names_every_mistake(graded):
    for student in json.loads((graded / "class.json").read_text("utf-8"))["students"]:
        _, _, mistakes = demo_class.STUDENTS[student["submission"]]
        files = {grade["file"] for grade in student["assignments"].values()}
        results = [json.loads((graded / file).read_text("utf-8")) for file in files]
        checks = [c for r in results for a in r["assignments"] for f in a["functions"] for c in f["checks"]]
        named = {part for check in checks if check["mistake"] for part in check["mistake"]["id"].split("|")}
        assert set(mistakes) <= named, student["submission"]
        assert student["status"] == "graded"
        wrong = [check["id"] for check in checks if check["status"] in ("failed", "error", "timeout")]
        assert bool(wrong) == bool(mistakes), student["submission"]


def test_demo_class_is_at_different_points(graded):
    scores = [student["score"] for student in json.loads((graded / "class.json").read_text("utf-8"))["students"]]
    assert len(set(scores)) >= len(scores) - 2 and min(scores) > 0
