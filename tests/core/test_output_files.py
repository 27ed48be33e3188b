"""Outputs never replace what people write, whatever `--force` says."""

import pytest
from support.commands import refusal

from autograder.core.output_files import OutputRecord, require_replaceable
from autograder.errors import UsageError

WORK = ["softmax.py", "notebooks/softmax.ipynb", "headway.toml", ".headway.json", "README.md"]


@pytest.mark.parametrize("name", WORK)
def test_work_is_never_replaced(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    with pytest.raises(UsageError, match="may be your work"):
        require_replaceable(path, lambda content: True, "a plot", option="--out FILE", force=True)
    with pytest.raises(UsageError, match="may be your work"):
        OutputRecord(tmp_path).require_replaceable([path], option="--out FILE", force=True)


@pytest.mark.parametrize("command", [
    ["train", "--solution", "--out", "softmax.py", "--force"],
    ["card", "model.safetensors", "--out", "README.md", "--force"],
    ["check", "softmax", "--json", "softmax.py"],
])  # fmt: skip
def test_no_command_replaces_work(tmp_path, command):
    for name in ("softmax.py", "README.md"):
        (tmp_path / name).write_text("mine = 1\n")
    assert "may be your work" in refusal(*command, cwd=tmp_path)
    assert {path.read_text() for path in tmp_path.glob("*.*") if path.suffix in (".py", ".md")} == {"mine = 1\n"}
