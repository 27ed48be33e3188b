"""`headway copy` brings work from a notebook into the file and back; experiments and pages follow what counts."""

import json
import shutil

import pytest
from support.built_in import solution_source
from support.commands import SOFTMAX, headway, refusal, succeed
from support.editing import edit, unchanged

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace.archive import collect_files
from autograder.workspace.copy_version import copy_version
from autograder.workspace.progress import VERSION
from autograder.workspace.workspace import Workspace

TOTAL = len(TRANSFORMER.functions)
HELPERS = "import math\n\nFACTOR = math.sqrt(4.0) / 2\n\n\ndef _scaled(x):\n    return x * FACTOR\n"
WORK = f"{HELPERS}\n\n{SOFTMAX.replace('x - ', '_scaled(x) - ', 1)}"
NOTEBOOK = "notebooks/softmax.ipynb"


@pytest.fixture
def workspace(folder):
    """A workspace with softmax in its notebook."""
    notebook = json.loads((folder / NOTEBOOK).read_text("utf-8"))
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": WORK}
    notebook["cells"].append(cell)
    (folder / NOTEBOOK).write_text(json.dumps(notebook))
    return folder


def test_copy_there_and_back_keeps_what_the_functions_do(workspace):
    said = succeed("copy", "softmax", "--to", "file", cwd=workspace).stdout
    assert "softmax.py counts now" in said and "backups/softmax-" in said
    text = (workspace / "softmax.py").read_text("utf-8")
    assert "def _scaled" in text and "FACTOR = " in text and "import math" in text and "# ## " in text
    assert Workspace.open(workspace).file_of("softmax") == "softmax.py"

    edit(workspace / "softmax.py", "/ 2\n", "/ 4\n")
    succeed("copy", "softmax", "--to", "notebook", cwd=workspace)
    opened = Workspace.open(workspace)
    assert opened.file_of("softmax") == NOTEBOOK
    assert "/ 4" in opened.notebook_modules["softmax"]
    assert len(list((workspace / "backups").iterdir())) == 2


@pytest.mark.slow
def test_copy_takes_every_official_solution(workspace):
    for module in TRANSFORMER.modules:
        (workspace / f"{module}.py").write_text(solution_source(module), "utf-8")
        copy_version(Workspace.open(workspace), module, "notebook")
        shutil.copy(bundled("assignments") / f"{module}.py", workspace)
        copy_version(Workspace.open(workspace), module, "file")


def test_copy_refuses_what_it_cannot_copy_whole(workspace):
    assert "nothing is written in the notebook of bigram" in refusal("copy", "bigram", "--to", "file", cwd=workspace)
    succeed("copy", "softmax", "--to", "file", cwd=workspace)
    edit(workspace / NOTEBOOK, r'"import math\n', r'"%time 1\nimport math\n')
    edit(workspace / "softmax.py", "/ 2\n", "/ 4\n")
    backups = list((workspace / "backups").iterdir())
    with unchanged(workspace / NOTEBOOK):
        assert "Copy them by hand" in refusal("copy", "softmax", "--to", "notebook", cwd=workspace)
    assert list((workspace / "backups").iterdir()) == backups


@pytest.mark.slow
def test_experiment_uses_the_notebook_that_counts(workspace):
    done = headway("experiment", "softmax", cwd=workspace)
    expected = "NotImplementedError: softmax.cross_entropy_backward. Write it first.\n"
    assert (done.returncode, done.stderr) == (1, expected)
    assert "no experiment 'x'" in refusal("experiment", "softmax", "x", cwd=workspace)
    for name, words in (("softmax", "there is no failed call"), ("log_softmax", "headway check softmax.log_softmax")):
        assert words in refusal("debug", f"softmax.{name}", cwd=workspace)
    edit(workspace / NOTEBOOK, r"/ 2\n", r"/ 4\n")
    done = headway("debug", "softmax.softmax", cwd=workspace)
    assert "ndarray (" in done.stdout and "expected:" in done.stdout
    assert "debug_softmax.py" not in collect_files(Workspace.open(workspace))
    (workspace / "debug_softmax.py").write_text("mine")
    with unchanged(workspace / "debug_softmax.py"):
        assert "a file of your own" in refusal("debug", "softmax.softmax", cwd=workspace)
        assert "\nresult = softmax" in succeed("debug", "softmax.softmax", "--print", cwd=workspace).stdout


def test_restored_workspace_is_checked_and_says_why_a_notebook_counts(workspace, tmp_path):
    succeed("submit", "--out", "work.zip", cwd=workspace)
    said = succeed("init", tmp_path / "again", "--from", workspace / "work.zip").stdout
    assert f"checked: 1 of {TOTAL} functions pass" in said and "counts, because it was imported" in said
    assert "as you decided" not in succeed("list", cwd=tmp_path / "again").stdout


def test_list_counts_only_what_was_checked_as_it_is_now(workspace):
    assert f"0 of {TOTAL} functions pass, 1 is not checked yet" in succeed("list", cwd=workspace, COLUMNS="200").stdout
    headway("check", "softmax", cwd=workspace)
    edit(workspace / NOTEBOOK, r"/ 2\n", r"/ 4\n")
    (workspace / "bigram.py").unlink()
    (workspace / "ffn.py").write_bytes((workspace / "ffn.py").read_bytes() + b"# \xe4\n")
    said = succeed("list", cwd=workspace, COLUMNS="200").stdout
    assert f"0 of {TOTAL} functions pass, 1 changed since the last check · 0 points" in said
    assert "there is no bigram.py" in said and "ffn.py is not UTF-8 text (line" in said


@pytest.mark.parametrize(("state", "words"), [(f'{{"{VERSION}": "0.0.9"}}', "of Headway 0.0.9"), ("{", "is damaged")])
def test_check_says_what_it_could_not_use(workspace, state, words):
    (workspace / ".headway.json").write_text(state)
    assert words in headway("check", "tokenizer", cwd=workspace, COLUMNS="200").stdout
    (workspace / ".headway.json").unlink()
    assert "Nothing was recorded" in headway("check", "tokenizer", cwd=workspace, COLUMNS="200").stdout
