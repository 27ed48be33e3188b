"""Hints, solutions and progress in notebooks, which follow the rules of the commands of these names."""

import json
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from support.commands import SOFTMAX, invoke, run_program
from support.editing import edit, write_files
from support.paths import TESTS
from support.student_notebook import write_functions

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import InternalError
from autograder.errors import UsageError
from autograder.notebooks import api, running_notebook
from autograder.parsing.cell_statements import Cell
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


@pytest.mark.parametrize(("place", "origin"), [
    ("w/softmax.py", "softmax.py"), ("softmax.py", "{top}/softmax.py"), ("softmax/softmax.py", "softmax/softmax.py"),
    ("other/softmax.py", running_notebook.OFFICIAL_ORIGIN),
])  # fmt: skip
def test_earlier_assignment_is_looked_for_in_the_folders_of_an_nbgrader_course(tmp_path, place, origin):
    write_files(tmp_path, {"w/attention.ipynb": "", place: SOFTMAX})
    found = running_notebook.find_earlier_assignment("softmax", tmp_path / "w", TRANSFORMER)
    assert found.origin == origin.format(top=tmp_path.name)


def test_submission_of_a_notebook_has_the_students_helpers(tmp_path):
    large = "#" * (1 << 20)
    write_files(tmp_path, {"helper.py": "X = 1", "large.py": large, "gpt.py": "X = 2", "softmax.py": SOFTMAX})
    cells = [Cell("In [1]", "from softmax import softmax\ndef attention(q, k, v, mask=None):\n    return softmax(q)")]
    found = running_notebook.assemble_submission("attention", cells, tmp_path, TRANSFORMER)
    assert (set(found.texts), found.own_modules) == ({"attention", "softmax", "helper"}, {"attention"})
    assert found.origins == {"softmax": "softmax.py"}
    imported = running_notebook.assemble_submission("softmax", [], tmp_path, TRANSFORMER)
    assert imported.texts["softmax"] == SOFTMAX and imported.own_modules == set()


@pytest.mark.parametrize(("seed", "earned", "possible", "problems", "value"), [
    (0, 1.0, 3.0, [], 1.333333), (7, 3.0, 3.0, [], 4.0), (0, 9.0, 3.0, [], 4.0), (0, 0.0, 0.0, [], 0.0),
    (0, 3.0, 3.0, ["no memory"], None),
])  # fmt: skip
def test_graded_cell_returns_its_part_of_the_points(monkeypatch, seed, earned, possible, problems, value):
    document, asked = {"internal_errors": problems, "points": {"earned": earned, "possible": possible}}, []
    monkeypatch.setattr(api, "report", lambda *_, **how: asked.append(how) or SimpleNamespace(document=document))
    monkeypatch.setattr(api, "_display", lambda shown: None)
    grade = api.GradeCell()
    grade.seed = seed
    if value is None:
        with pytest.raises(InternalError, match="no memory"):
            grade(SOFT, points=4)
    else:
        assert grade(SOFT, points=4) == value
    assert asked == [{"seed": seed, "feedback": "summary" if seed else "full", "as_run": False}] and grade.seed == 0


def test_graded_cell_without_hidden_inputs_uses_the_usual_ones(monkeypatch, capsys):
    @dataclass
    class Report:
        document: dict
        note: str = ""

    def report(*_, seed=0, **how):
        if seed or broken:
            raise UsageError("it needs PyTorch")
        return Report({"internal_errors": [], "points": {"earned": 1.0, "possible": 2.0}})

    shown = []
    monkeypatch.setattr(api, "report", report)
    monkeypatch.setattr(api, "_display", shown.append)
    grade, broken = api.GradeCell(), False
    grade.seed = 7
    assert grade(SOFT, points=4) == 2.0 and "usual inputs: it needs PyTorch" in shown[0].note
    broken = True
    assert grade(SOFT, points=4) == 0.0 and capsys.readouterr().out == "headway: it needs PyTorch\n"


MARKED = {"grade": True, "solution": False, "locked": True, "schema_version": 3, "grade_id": "f", "points": 2}


@pytest.mark.notebook
@pytest.mark.parametrize(("changes", "grade_id"), [
    ({}, "f"), ({"grade": False, "points": None}, "f"), ({"schema_version": 2}, None), ({"points": None}, None),
    ({"locked": None}, None), ({"solution": 1}, None), ({"grade_id": ""}, None), ({"grade_id": 3}, None),
])  # fmt: skip
def test_damaged_metadata_of_nbgrader_is_ignored(changes, grade_id):
    preprocessor = pytest.importorskip("autograder.notebooks.nbgrader_preprocessor")
    marks = {key: value for key, value in (MARKED | changes).items() if value is not None}
    for metadata, expected in (({"nbgrader": marks}, grade_id), ({"nbgrader": [marks]}, None), ({}, None)):
        assert preprocessor._grade_id(SimpleNamespace(metadata=metadata)) == expected
