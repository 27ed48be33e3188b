"""Which version of an assignment counts: its file or its notebook."""

import json
import os
import shutil

import pytest
from support.student_notebook import edit_cells, write_functions, write_functions_in_file

from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.workspace import notebook_files, sources
from autograder.workspace.sources import split_file_names
from autograder.workspace.workspace import Workspace

NAME = "notebooks/softmax.ipynb"


@pytest.fixture
def notebook(folder):
    return folder / NAME


def source_of(folder, module="softmax"):
    """Return how a new command sees the assignment."""
    return Workspace.open(folder).sources[module]


def set_saved(path, seconds):
    """Let a file be saved so many seconds after a fixed time."""
    os.utime(path, (1.7e9 + seconds, 1.7e9 + seconds))


def write_both(folder):
    write_functions_in_file(folder / "softmax.py", "softmax")
    write_functions(folder / NAME, "softmax", "log_softmax")


def test_new_workspace_counts_files(folder):
    workspace = Workspace.open(folder)
    assert not workspace.notebook_modules and workspace.module_folder == folder
    assert workspace.describe_sources(TRANSFORMER.modules) == []


def test_only_version_with_work_counts(folder, notebook):
    write_functions(notebook, "log_softmax")
    assert (source_of(folder).version, source_of(folder).reason) == ("notebook", "only")
    assert source_of(folder).name == NAME
    shutil.copy(notebook_files.bundled("assignments") / NAME, notebook)
    write_functions_in_file(folder / "softmax.py", "softmax")
    assert (source_of(folder).version, source_of(folder).reason) == ("file", "only")


def test_second_notebook_beside_the_file_is_reported(folder, notebook):
    shutil.copy(notebook, folder / "softmax.ipynb")
    assert Workspace.open(folder).describe_sources(["softmax"]) == []
    write_functions(folder / "softmax.ipynb", "softmax")
    (line,) = Workspace.open(folder).describe_sources(["softmax"])
    assert "is not read" in line
    notebook.unlink()
    assert "is not read" not in " ".join(Workspace.open(folder).describe_sources(["softmax"]))


def test_change_of_a_notebook_that_keeps_its_length_is_imported(folder, notebook):
    workspace = Workspace.open(folder)
    for result in ("1", "2"):
        write_functions(notebook, "softmax", text=f"def softmax(x, axis=-1, temperature=1.0):\n    return {result}\n")
        workspace.refresh_snapshot()
        assert f"return {result}\n" in (workspace.module_folder / "softmax.py").read_text()


@pytest.mark.parametrize("other", ["Softmax_final.py", "softmax (1).py", "my_softmax.py"])
def test_other_file_with_work_of_the_assignment_is_reported(folder, other):
    stub = (folder / "softmax.py").read_bytes()
    (folder / other).write_bytes(stub)
    assert Workspace.open(folder).describe_sources(["softmax"]) == [], "nothing is written in it"
    write_functions_in_file(folder / "softmax.py", "softmax")
    (folder / "softmax.py").rename(folder / other)
    (folder / "softmax.py").write_bytes(stub)
    (line,) = Workspace.open(folder).describe_sources(["softmax"])
    assert line.startswith(f"softmax: {other} is not checked, because softmax.py counts")
    assert Workspace.open(folder).describe_sources(["bigram"]) == []
    if (name := other.removesuffix(".py")).isidentifier():
        (folder / "softmax.py").write_bytes(stub + f"\nfrom {name} import softmax\n".encode())
        assert Workspace.open(folder).describe_sources(["softmax"]) == [], "a helper is no other version"
    (folder / "softmax.py").write_bytes((folder / other).read_bytes())
    assert Workspace.open(folder).describe_sources(["softmax"]) == [], "they are the same"


def test_running_and_moving_cells_is_no_work(folder, notebook):
    def run(cell):
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "1"}]
            cell["execution_count"] = 1

    edit_cells(notebook, run)
    content = json.loads(notebook.read_text())
    content["cells"].append({"cell_type": "code", "source": "softmax([1, 2])", "outputs": [], "metadata": {}})
    notebook.write_text(json.dumps(content))
    assert source_of(folder).version == "file"


def test_checkpoint_of_jupyterlab_does_not_count(folder, notebook):
    checkpoint = folder / "notebooks" / ".ipynb_checkpoints" / "softmax-checkpoint.ipynb"
    checkpoint.parent.mkdir()
    shutil.copy(notebook, checkpoint)
    shutil.copy(notebook, checkpoint.with_name("softmax.ipynb"))
    write_functions(checkpoint.with_name("softmax.ipynb"), "softmax")
    assert source_of(folder).version == "file"


@pytest.mark.parametrize("newer", ["file", "notebook"])
def test_two_versions_are_undecided_and_the_newer_counts(folder, notebook, newer):
    write_both(folder)
    set_saved(folder / "softmax.py", 100 if newer == "file" else 0)
    set_saved(notebook, 0 if newer == "file" else 100)
    source = source_of(folder)
    assert source.is_undecided
    assert (source.version, source.reason) == (newer, "newer")
    assert f"headway check softmax --use {newer}" in sources.describe(source)


def test_times_of_a_copied_workspace_decide_nothing(folder, notebook):
    write_both(folder)
    set_saved(folder / "softmax.py", 0)
    set_saved(notebook, 1)
    source = source_of(folder)
    assert source.is_undecided
    assert (source.version, source.reason) == ("file", "unknown")
    assert source.only_in_other == ["log_softmax"]
    assert "only in notebooks/softmax" in sources.describe(source)


@pytest.mark.slow
def test_choice_lasts_until_the_code_of_both_is_changed(folder, notebook):
    write_both(folder)
    Workspace.open(folder).choose_version("softmax", "notebook")
    assert (source_of(folder).version, source_of(folder).reason) == ("notebook", "chosen")
    path = folder / "softmax.py"
    path.write_text(f"# a comment\n{path.read_text()}")
    set_saved(path, 1e6)  # a new time is no change either
    assert source_of(folder).reason == "chosen"
    write_functions_in_file(path, "cross_entropy")
    assert (source_of(folder).version, source_of(folder).reason) == ("file", "changed")
    write_functions(notebook, "softmax_backward")
    assert source_of(folder).is_undecided


def test_equal_versions_agree(folder, notebook):
    write_functions_in_file(folder / "softmax.py", "softmax")
    write_functions(notebook, "softmax")
    source = source_of(folder)
    assert (source.version, source.reason) == ("file", "same")
    state = Workspace.open(folder).state
    state.section(sources.KEY)["softmax"] = source.record("file")
    state.save()
    write_functions(notebook, "log_softmax")
    assert (source_of(folder).version, source_of(folder).reason) == ("notebook", "changed")


def test_unreadable_notebook_is_reported_and_the_file_counts(folder, notebook):
    write_functions(notebook, "softmax")
    workspace = Workspace.open(folder)
    notebook.write_text(notebook.read_text()[:-100])
    assert source_of(folder).version == "file"
    (line,) = workspace.describe_sources(["softmax"])
    assert "cannot be read" in line and "softmax.py counts" in line
    with pytest.raises(UsageError, match="cannot be read"):
        workspace.choose_version("softmax", "notebook")


def test_damaged_choice_is_ignored(folder, notebook):
    write_both(folder)
    for damaged in (1, {"counts": "page", "file": "", "notebook": ""}, {"counts": "file"}):
        state = Workspace.open(folder).state
        state.content[sources.KEY] = {"softmax": damaged}
        state.save()
        assert source_of(folder).is_undecided


def test_fingerprint_is_the_same_in_file_and_notebook(folder, notebook):
    write_functions(notebook, "softmax", "log_softmax")
    in_notebook = Workspace.open(folder).snapshot.fingerprints["softmax.log_softmax"]
    shutil.copy(notebook_files.bundled("assignments") / NAME, notebook)
    write_functions_in_file(folder / "softmax.py", "softmax", "log_softmax")
    assert Workspace.open(folder).snapshot.fingerprints["softmax.log_softmax"] == in_notebook


def test_module_folder_has_the_notebook_in_place_of_the_file(folder, notebook):
    write_functions(notebook, "softmax")
    (folder / "helper.py").write_text("X = 1\n")
    (folder / "words.txt").write_text("data")
    workspace = Workspace.open(folder)
    copy = workspace.module_folder
    assert "cell " in (copy / "softmax.py").read_text()
    assert (copy / "helper.py").read_text() == "X = 1\n"
    assert (copy / "words.txt").read_text() == "data"
    assert not (copy / ".headway.json").exists()
    (folder / "helper.py").unlink()
    shutil.copy(notebook_files.bundled("assignments") / "notebooks/ffn.ipynb", notebook.with_name("ffn.ipynb"))
    workspace.refresh_snapshot()
    assert not (copy / "helper.py").exists()


def test_reset_function_in_a_notebook_keeps_the_rest(folder, notebook):
    write_functions(notebook, "softmax", "log_softmax")
    before = notebook.read_bytes()
    workspace = Workspace.open(folder)
    backup, _ = workspace.reset("softmax.softmax")
    assert (folder / backup).read_bytes() == before and backup.suffix == ".ipynb"
    workspace.refresh_snapshot()
    assert workspace.snapshot.is_stub("softmax.softmax")
    assert not workspace.snapshot.is_stub("softmax.log_softmax")
    workspace.reset("softmax")
    assert notebook.read_bytes() == notebook_files.released("softmax")


def test_update_replaces_unchanged_notebooks_only(folder, notebook, monkeypatch):
    state = Workspace.open(folder).state
    assert notebook_files.update(folder, state) == []
    write_functions(notebook, "softmax")
    assert notebook_files.update(folder, state) == [], "it is work in the notebook of this version"
    worked, installed = notebook.read_bytes(), notebook_files.released
    monkeypatch.setattr(notebook_files, "released", lambda name: installed(name).replace(b"# ", b"# New: ", 1))
    (folder / "notebooks" / "ffn.ipynb").unlink()
    lines = notebook_files.update(folder, state)
    assert notebook.read_bytes() == worked
    assert any("you have changed it" in line and line.startswith(NAME) for line in lines)
    assert not (folder / "notebooks" / "ffn.ipynb").exists()
    assert notebook.with_name("gpt.ipynb").read_bytes() == notebook_files.released("gpt") != installed("gpt")


@pytest.mark.slow
def test_split_file_names_accepts_files():
    names, versions = split_file_names(["notebooks/softmax.ipynb", "ffn.py", "gpt", "attention.attention"], TRANSFORMER)
    assert names == ("softmax", "ffn", "gpt", "attention.attention")
    assert versions == {"softmax": "notebook", "ffn": "file"}
    for wrong in (["softmax.py", "softmax.ipynb"], ["Untitled.ipynb"]):
        with pytest.raises(UsageError):
            split_file_names(wrong, TRANSFORMER)
