"""Commands that are run among hostile files load none of them."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from dataclasses import asdict
from pathlib import Path

import pytest
from support import toy_course
from support.commands import SOFTMAX, invoke
from support.editing import write_files
from support.hostile_folder import MODULES, WARNED_OF, write_all, write_modules
from support.tiny_chat import make_chat_model
from support.tiny_gpt2 import make_random_model
from support.training_page import TINY, Page
from support.waiting import wait_until

from autograder.classroom.exporters import gradescope
from autograder.classroom.exporters.gradescope import GradescopeSettings
from autograder.cli import COMMANDS
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace import create

pytestmark = [pytest.mark.sandbox]

# The installed script: with `python -m`, the current folder would already be on the path.
HEADWAY = Path(sysconfig.get_path("scripts"), "headway")
GRADE = "--assignment softmax.softmax --seed 0 --unsafe-no-sandbox"

# Each command, run in a workspace of hostile files. `new` is a folder outside of it.
COMMAND_LINES = [
    "init {new}", "check softmax", "list", "hint softmax.softmax", "solution bigram.sgd_step --give-up",
    "diff bigram.sgd_step --give-up", "reset bigram --yes", "update", "copy softmax --to notebook", "submit softmax",
    "train --solution --preset bigram --steps 2 --plain", "runs", "card {model} --solution",
    "import-model {gpt2} --solution", "generate {model} --solution --length 2",
    "chat {chat} --solution --temperature 0", "plot softmax-temperatures --out plot.svg", "data list",
    "new-assignment clustering --course {new}", "release {new} --format nbgrader --assignment softmax",
    "site --out {new} --no-checks", "choose {out}", "comment {out} ada Good.", "mark {out}", "request {out} {message}",
    "report {out} --feedback --similar", "show {out} ada", "export nbgrader {out} --course {course}", "doctor",
    "verify --curriculum toy -j 1",
]  # fmt: skip
TRIED = {line.partition(" ")[0]: line for line in COMMAND_LINES}
OTHERS = ("grade", "watch", "serve")  # tried by tests of their own
EXEMPT = {"completion": "prints a text", **dict.fromkeys(("debug", "experiment"), "runs a program in its folder")}


@pytest.fixture(scope="session")
def given(tmp_path_factory):
    """What commands are given, made where nothing is hostile."""
    root = tmp_path_factory.mktemp("given")
    paths = {name: root / name for name in ("work", "class_", "out", "gpt2", "course", "courses")}
    write_files(paths["class_"], {"ada/softmax.py": SOFTMAX})
    create.create(paths["work"], TRANSFORMER)
    (paths["work"] / "softmax.py").write_text(SOFTMAX)
    assert invoke("grade", paths["class_"], "--out", paths["out"], *GRADE.split()).returncode == 0
    paths["message"] = root / "message.txt"
    paths["message"].write_text("student: ada\nabout: softmax.softmax\nquestion: Why?\n")
    paths["model"] = root / "model.safetensors"
    assert invoke(*TRIED["train"].split(), "--out", paths["model"]).returncode == 0
    (paths["course"] / "source").mkdir(parents=True)
    make_random_model(paths["gpt2"])
    paths["chat"] = root / "chat.safetensors"
    make_chat_model(root / "chat")
    assert invoke("import-model", root / "chat", "--solution", "--out", paths["chat"]).returncode == 0
    toy_course.install(paths["courses"])
    return paths


@pytest.fixture
def marks(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)  # Grading in this process, as in `given`, sets it.
    return tmp_path / "marks"


@pytest.fixture
def hostile(given, tmp_path, marks):
    """A workspace of hostile files."""
    shutil.copytree(given["work"], tmp_path / "hostile")
    write_all(tmp_path / "hostile", marks)
    return tmp_path / "hostile"


@pytest.fixture
def run(marks):
    """Return `run("check", "softmax", cwd=folder)`, which runs a command and proves that it loads nothing hostile."""

    def run_command(*arguments, cwd, program=HEADWAY, typed="", **environment):
        command, variables = [program, *map(str, arguments)], {**os.environ, **environment}
        done = subprocess.run(command, cwd=cwd, env=variables, input=typed, capture_output=True, text=True, check=False)
        assert_nothing_loaded(marks, done.stdout + done.stderr)
        assert done.returncode in (0, 1), done.stderr
        return done

    return run_command


def assert_nothing_loaded(marks, output=""):
    assert not marks.exists(), marks.read_text()
    assert WARNED_OF not in output


def test_every_command_is_tried_or_exempt():
    assert sorted([*TRIED, *OTHERS, *EXEMPT]) == sorted(COMMANDS)


@pytest.mark.parametrize("command", TRIED)
def test_command_in_hostile_folder_loads_nothing(command, given, hostile, run, tmp_path):
    arguments = TRIED[command].format(**given, new=tmp_path / "new")
    typed = "the cat\n" if command == "chat" else ""
    run(*arguments.split(), cwd=hostile, typed=typed, PYTHONPATH=str(given["courses"]))


@pytest.mark.parametrize("command", ["watch --plain", "serve --port 0 --no-browser"])
def test_endless_command_in_hostile_folder_loads_nothing(command, hostile, marks, tmp_path):
    output = tmp_path / "output"
    with (
        output.open("w") as file,
        subprocess.Popen([HEADWAY, *command.split()], cwd=hostile, stdout=file, stderr=file) as process,
    ):
        try:
            wait_until(lambda: re.search("passed|http://", output.read_text()), what=output.read_text)
        finally:
            process.send_signal(signal.SIGINT)
    assert_nothing_loaded(marks, output.read_text())


def test_training_process_of_serve_in_hostile_folder_loads_nothing(hostile, marks):
    with contextlib.chdir(hostile):
        assert Page(hostile).train(**{**TINY, "steps": 2})["checkpoint"]
    assert_nothing_loaded(marks)


@pytest.mark.parametrize(("place", "class_", "names"), [(".", ".", ("selectors", "struct")), ("ada", "..", MODULES)])
def test_grade_started_among_submissions_loads_none(place, class_, names, given, run, marks, tmp_path):
    folder = shutil.copytree(given["class_"], tmp_path / "class") / place
    write_modules(folder, marks, names)
    done = run("grade", class_, "--out", tmp_path / "out", *GRADE.split(), cwd=folder)
    assert "ada" in done.stdout, done.stderr


def test_gradescope_in_hostile_folder_loads_nothing(given, hostile, run):
    shutil.copytree(given["class_"] / "ada", hostile / "submission")
    settings = asdict(GradescopeSettings(assignments=("softmax",), unsafe=True))
    write_files(hostile, {"source/settings.json": json.dumps(settings)})
    places = {"HEADWAY_AUTOGRADER_ROOT": str(hostile), "HEADWAY_AUTOGRADER_PYTHON": sys.executable}
    script = Path(gradescope.__file__).with_name("templates") / "run_autograder"
    run("-c", script.read_text("utf-8"), cwd=hostile, program="bash", **places)
    assert json.loads((hostile / "results" / "results.json").read_text())["tests"]
