"""The wheel works when it is installed into a fresh environment without PyTorch and without a clone."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from support.first_day import RIGHT, STUB, WRONG, first_day
from support.paths import ROOT

from autograder.course import registry
from autograder.courses.transformer import TRANSFORMER
from autograder.web.site.guides import GUIDES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from the source distribution, as on the package index."""
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT]
    subprocess.run(list(map(str, build)), check=True, capture_output=True)
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Run a command of a fresh environment that holds the wheel and what it depends on, nothing else."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home / "env")
    scripts = home / "env" / ("Scripts" if os.name == "nt" else "bin")
    install = [sys.executable, "-m", "pip", "--python", scripts / "python", "install", "--quiet", "--no-compile"]
    install += ["--constraint", ROOT / "constraints.txt", wheel]
    subprocess.run(list(map(str, install)), check=True, capture_output=True)

    def run(*command):
        return subprocess.run(
            [str(scripts / command[0]), *map(str, command[1:])],
            capture_output=True,
            text=True,
            cwd=home,
            env={**os.environ, "HEADWAY_CACHE": str(home / "cache"), "COLUMNS": "200"},
            check=False,
        )

    run.home, run.headway = home, str(scripts / "headway")
    return run


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    """Run `headway` of the unpacked wheel far from a clone, with all packages of the extras that this machine has."""
    home = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(wheel).extractall(home / "site")

    environment = {**os.environ, "PYTHONPATH": str(home / "site"), "HEADWAY_CACHE": str(home / "cache")}
    keywords = {"capture_output": True, "text": True, "cwd": home, "env": environment, "check": False}

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "autograder.cli", *map(str, arguments)], **keywords)

    run.home, run.run_python = home, lambda code: subprocess.run([sys.executable, "-c", code], **keywords)
    return run


@pytest.mark.drawn(1)
def test_wheel_contains_stubs_solutions_data_and_memo(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for module in TRANSFORMER.modules:
        assert f"autograder/_bundle/assignments/{module}.py" in names
        assert f"autograder/_bundle/solutions/{module}.py" in names
        assert f"autograder/courses/transformer/{module}/answers.memo" in names
        files = registry.check_files(module, TRANSFORMER.package)
        assert files
        assert {path.relative_to(ROOT).as_posix() for path in files} <= names
    figures = registry.figure_texts(TRANSFORMER)
    assert figures
    assert {f"autograder/_bundle/solutions/{name}" for name in figures} <= names
    assert "autograder/courses/transformer/common/figures/trained_model.json" in names
    assert {f"autograder/{name}" for name in ("engine/pytest.ini", "py.typed", "models/plots/viewer.html")} <= names
    assert {f"autograder/courses/transformer/softmax/{name}.toml" for name in ("hints", "glossary")} <= names
    assert "autograder/web/site/templates/lesson.html.j2" in names and "autograder/web/site/static/site.css" in names
    assert "autograder/web/site/example_report.json" in names
    assert {f"autograder/_bundle/docs/{Path(guide.file).name}" for guide in GUIDES} <= names
    assert not any("node_modules" in name for name in names)
    assert any(name.startswith("autograder/_bundle/data/") for name in names)
    assert not any(name.startswith("tests/") or "/__pycache__/" in name for name in names)


@pytest.mark.drawn(0)
def test_wheel_works_without_clone_and_torch(installed):
    assert installed("python", "-c", "import torch").returncode != 0
    made = installed("headway", "init", "my-gpt")
    assert made.returncode == 0, made.stderr
    stubs = installed("headway", "check", "--dir", "my-gpt", "--json", "stubs.json")
    assert stubs.returncode == 1, stubs.stderr
    document = json.loads((installed.home / "stubs.json").read_text("utf-8"))
    assert document["points"]["earned"] == 0 and document["internal_errors"] == []
    assert document["versions"]["torch"] is None
    solutions = installed(
        "python", "-c", "from autograder.course.stubs import bundled; print(bundled('solutions'))"
    ).stdout
    done = installed("headway", "check", "--dir", solutions.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks passed.\n" in done.stdout


@pytest.mark.drawn(0)
def test_wheel_fresh_inputs_without_torch_are_one_line(installed):
    solutions = installed(
        "python", "-c", "from autograder.course.stubs import bundled; print(bundled('solutions'))"
    ).stdout
    done = installed("headway", "check", "softmax", "--dir", solutions.strip(), "--seed", "5")
    assert done.returncode == 2 and 'extra "torch"' in done.stderr
    guide = done.stderr.partition('"Installing" in ')[2].rstrip(")\n")
    assert "## Installing" in Path(guide).read_text("utf-8")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.drawn(0)
def test_wheel_doctor_of_the_light_install(installed):
    done = installed("headway", "doctor")
    assert done.returncode == 0, done.stdout
    assert 'extra "torch"' in done.stdout


@pytest.mark.drawn(0)
def test_wheel_first_day_of_a_student(installed):
    first_day(installed.headway, installed.home)


def test_unpacked_wheel_is_the_one_that_runs(unpacked):
    done = unpacked("init", "my-gpt")
    assert done.returncode == 0, done.stderr
    location = unpacked.run_python("import autograder; print(autograder.__file__)").stdout.strip()
    assert Path(location).is_relative_to(unpacked.home)


@pytest.mark.drawn(1)
def test_wheel_grades_a_class_on_shipped_answers(unpacked):
    for name, body in (("ada", RIGHT), ("bo", WRONG)):
        (unpacked.home / "class" / name).mkdir(parents=True)
        stub = (ROOT / "assignments" / "softmax.py").read_text("utf-8")
        (unpacked.home / "class" / name / "softmax.py").write_text(stub.replace(STUB, body), "utf-8")
    options = ("--seed", "0", "--assignment", "softmax", "--unsafe-no-sandbox")
    done = unpacked("grade", "class", "--out", "out", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    ada, bo = json.loads((unpacked.home / "out" / "class.json").read_text("utf-8"))["students"]
    assert ada["earned"] > bo["earned"] > 0


def test_wheel_writes_the_site(unpacked):
    pytest.importorskip("markdown_it")
    done = unpacked("site", "--out", "site-out", "--no-checks")
    assert done.returncode == 0, done.stderr
    assert "<h1" in (unpacked.home / "site-out" / "softmax.html").read_text("utf-8")


def test_wheel_releases_notebooks(unpacked):
    pytest.importorskip("jupytext")
    done = unpacked("release", "notebooks", "--format", "notebooks")
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in (unpacked.home / "notebooks").glob("*.ipynb")} >= set(TRANSFORMER.modules)
