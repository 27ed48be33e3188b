"""Changing the student's files: reset and update, with backups."""

import pytest
from support.editing import edit

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.workspace import archive, files, state
from autograder.workspace.function_source import function_text, replace_function


def test_reset_function_keeps_the_rest_and_a_backup(folder):
    path = folder / "softmax.py"
    solved = (bundled("solutions") / "softmax.py").read_text()
    path.write_text(solved)
    backup = files.reset(folder, "softmax.log_softmax", TRANSFORMER)
    assert (folder / backup).read_text() == solved
    text = path.read_text()
    stub = files.stub_text("softmax", TRANSFORMER)
    assert function_text(text, "log_softmax") == function_text(stub, "log_softmax")
    assert function_text(text, "softmax") == function_text(solved, "softmax")
    assert files.reset(folder, "softmax", TRANSFORMER) != backup
    assert path.read_text() == stub


def test_reset_restores_a_missing_file_and_only_a_whole_unreadable_one(folder):
    (folder / "softmax.py").unlink()
    assert files.reset(folder, "softmax", TRANSFORMER) is None
    assert (folder / "softmax.py").read_text() == files.stub_text("softmax", TRANSFORMER)
    (folder / "softmax.py").write_text("def (")
    with pytest.raises(UsageError, match="headway reset softmax"):
        files.reset(folder, "softmax.softmax", TRANSFORMER)
    assert (folder / "softmax.py").read_text() == "def ("
    assert (folder / files.reset(folder, "softmax", TRANSFORMER)).read_text() == "def ("


def test_reset_and_update_accept_bom_and_windows_newlines(folder):
    path = folder / "softmax.py"
    solved = (bundled("solutions") / "softmax.py").read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + solved.replace(b"\n", b"\r\n"))
    files.reset(folder, "softmax.log_softmax", TRANSFORMER)
    stub = files.stub_text("softmax", TRANSFORMER)
    new = replace_function(solved.decode(), "log_softmax", function_text(stub, "log_softmax"))
    assert files.read_file(path) == new
    path.write_bytes(b"\xef\xbb\xbf" + stub.encode())
    assert files.update(folder, state.load(folder)) == []


def test_update_brings_new_stubs_and_keeps_work(folder, monkeypatch):
    edit(folder / "softmax.py", 'raise NotImplementedError("softmax.softmax")', "return my_work(x)")
    worked = (folder / "softmax.py").read_text() + "\n\ndef my_work(x):\n    return x\n"
    worked = worked.replace(function_text(worked, "cross_entropy"), "")  # in this version, it is a new function
    (folder / "softmax.py").write_text(worked)
    (folder / "ffn.py").unlink()
    (folder / "gpt.py").write_text("def gpt(")
    installed = files.stub_text

    def newer(module, curriculum):
        text = installed(module, curriculum).replace("import numpy as np", "import numpy as np  # newer", 1)
        return text.replace("Args:", "Newer args:")

    monkeypatch.setattr(files, "stub_text", newer)
    recorded = state.load(folder)
    lines = files.update(folder, recorded)
    assert len(lines) == len(TRANSFORMER.modules) and "gpt.py: not changed, because Python cannot read it" in lines
    assert (folder / "gpt.py").read_text() == "def gpt("
    text = (folder / "softmax.py").read_text()
    assert "return my_work(x)" in text and "def my_work" in text and "# newer" not in text
    assert "Newer args:" not in function_text(text, "softmax")
    assert "Newer args:" in function_text(text, "log_softmax")
    assert function_text(text, "cross_entropy") == function_text(newer("softmax", TRANSFORMER), "cross_entropy")
    assert (folder / "attention.py").read_text() == newer("attention", TRANSFORMER)
    assert (folder / "ffn.py").read_text() == newer("ffn", TRANSFORMER)
    assert len(files.update(folder, recorded)) == 1
    assert worked in [path.read_text() for path in (folder / files.BACKUPS).iterdir()]


@pytest.mark.parametrize("name", ["helper.py", "bigram.ipynb", "notebooks/bigram.ipynb"])
def test_link_out_of_the_workspace_is_not_submitted(folder, tmp_path_factory, name):
    archive.refuse_outside_links(folder)
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("{}")
    (folder / "notebooks").mkdir(exist_ok=True)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(secret)
    with pytest.raises(UsageError, match=f"{name} is a link"):
        archive.refuse_outside_links(folder)
