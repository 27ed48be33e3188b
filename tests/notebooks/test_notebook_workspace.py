"""Hints, solutions and progress in notebooks, which follow the rules of the commands of these names."""

import json
import sys

import pytest
from support.commands import invoke, run_program
from support.editing import edit
from support.paths import TESTS
from support.student_notebook import write_functions

from autograder.courses.transformer import TRANSFORMER
from autograder.notebooks import api, running_notebook
from autograder.workspace import solutions
from autograder.workspace.workspace import Workspace

SOFT, LOG = "softmax.softmax", "softmax.log_softmax"


@pytest.fixture
def notebooks(folder, monkeypatch):
    """The folder of notebooks of a new workspace, in which a kernel runs."""
    monkeypatch.chdir(folder / "notebooks")
    return folder / "notebooks"


def test_hints_are_remembered_in_the_workspace(notebooks, capsys):
    api.hint(SOFT)
    assert "hint 1 of 3" in (first := capsys.readouterr().out)
    assert "hint(softmax, more=True)" in first
    api.hint(SOFT, more=True)
    assert "hint 2 of 3" in capsys.readouterr().out
    assert "hint 2 of 3" in invoke("hint", SOFT, cwd=notebooks.parent).stdout


def test_solution_needs_a_pass_or_giving_up(notebooks, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(api._statuses, LOG, "passed")
    api.solution(SOFT)
    assert "give_up=True" in (shown := capsys.readouterr().out) and "def softmax" not in shown
    api.solution(LOG)
    assert solutions.GAVE_UP not in json.loads((notebooks.parent / ".headway.json").read_text())
    api.solution(SOFT, give_up=True)
    assert "def softmax" in capsys.readouterr().out
    assert list(Workspace.open(notebooks.parent).state.section(solutions.GAVE_UP)) == [SOFT]
    (notebooks.parent / solutions.COURSE).write_text('solutions = "never"')
    api.solution(LOG, give_up=True)
    assert "disabled" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    api.solution(LOG, give_up=True)
    assert "of a workspace" in capsys.readouterr().out


@pytest.mark.slow
def test_earlier_assignment_is_the_version_that_counts(notebooks):
    write_functions(notebooks / "softmax.ipynb", "softmax")
    edit(notebooks.parent / "softmax.py", f'raise NotImplementedError("{SOFT}")', "return 1")
    workspace = Workspace.open(notebooks.parent)
    for version, name in (("notebook", "softmax.ipynb"), ("file", "my-gpt/softmax.py")):
        workspace.choose_version("softmax", version)
        assert running_notebook.find_earlier_assignment("softmax", notebooks, TRANSFORMER).origin == name


@pytest.mark.notebook
def test_check_in_a_notebook_counts_in_the_workspace(notebooks):
    write_functions(notebooks / "softmax.ipynb", "softmax")
    run_program(sys.executable, TESTS / "support" / "run_notebooks.py", notebooks / "softmax.ipynb", timeout=300)
    listed = invoke("list", "softmax", cwd=notebooks.parent).stdout
    assert "1 of 5 functions pass" in listed and "changed since the last check" not in listed
