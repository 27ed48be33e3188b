"""Reading and writing files; outputs never replace what people write, whatever `--force` says."""

import os
import stat
from pathlib import Path

import pytest
from support.commands import refusal
from support.raising import raising

from autograder.classroom.storage import result_store
from autograder.core.files import read_modules, write_atomically
from autograder.core.output_files import OutputRecord, require_replaceable
from autograder.core.tensor_files import write_tensors
from autograder.engine.reference.memo import user_cache
from autograder.errors import UsageError
from autograder.models.training import datasets


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("write", [write_atomically, lambda path, data: write_tensors(path, {}, {"": "a table"}, [])])
def test_write_atomically_pipe_is_not_replaced(tmp_path, write):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write(path, b"a table")
    assert b"a table" in os.read(reader, 100)
    os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_read_modules_skips_anything_but_plain_files(tmp_path):
    (tmp_path / "b.py").write_bytes(b"b")
    (tmp_path / "a.py").write_bytes(b"a")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / ".#a.py").symlink_to("ada@desk.1234:1700000000")
    (tmp_path / "linked.py").symlink_to("a.py")
    (tmp_path / "memory.py").symlink_to("/proc/self/mem")  # a plain file that cannot be read
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    (tmp_path / "notes.txt").write_bytes(b"n")
    assert list(read_modules(tmp_path)) == [("a.py", b"a"), ("b.py", b"b"), ("linked.py", b"a")]


def test_user_folder_without_home_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    assert user_cache() == tmp_path
    monkeypatch.delenv("HEADWAY_CACHE")
    assert user_cache().is_absolute()
    homeless = raising(RuntimeError("could not determine the home directory"))
    for find in (homeless, lambda *args, **kwargs: Path("~/.cache/headway")):
        monkeypatch.setattr("platformdirs.user_cache_path", find)
        monkeypatch.setattr("platformdirs.user_data_path", find)
        assert user_cache() is None
        monkeypatch.delenv("HEADWAY_DATA", raising=False)
        with pytest.raises(UsageError, match="HEADWAY_DATA=FOLDER"):
            datasets.data_folder()


@pytest.mark.parametrize(("error", "refused"), [(BlockingIOError(11, "held"), True), (OSError(38, "no locks"), False)])
def test_file_system_without_locks_is_not_another_run(tmp_path, monkeypatch, error, refused):
    monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", raising(error))
    if refused:
        with pytest.raises(UsageError, match="another headway grade"), result_store.locked(tmp_path / "out"):
            pass
    else:
        with result_store.locked(tmp_path / "out") as remember:
            remember(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="needs the modes of files")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_written_file_has_the_usual_mode(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "a", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~mask


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


def test_output_is_replaced_only_if_a_command_wrote_it(tmp_path):
    path, theirs = tmp_path / "plot.svg", tmp_path / "table.csv"
    require_replaceable(path, lambda content: False, "a plot", option="--out FILE", force=None)
    for text, is_own, force in (("", False, False), ("plot", True, None), ("text", False, True)):
        path.write_text(text)
        require_replaceable(path, lambda content, is_own=is_own: is_own, "a plot", option="--out FILE", force=force)
    for force, remedy in ((False, "To replace it: --force"), (None, "--out FILE$")):
        with pytest.raises(UsageError, match=f"not a plot, so it was kept.*{remedy}"):
            require_replaceable(path, lambda content: False, "a plot", option="--out FILE", force=force)
    own = OutputRecord(tmp_path, is_own_folder=True)
    own.require_replaceable([path], option="--to FILE", force=False)
    for record in (OutputRecord(tmp_path), OutputRecord(tmp_path / "out", is_own_folder=True)):
        with pytest.raises(UsageError, match="was not written by this command"):
            record.require_replaceable([path], option="--to FILE", force=False)
    theirs.write_text("a,b")
    own.add([path, theirs, tmp_path / "gone"])
    path.write_text("changed")
    OutputRecord(tmp_path).require_replaceable([theirs], option="--to FILE", force=False)
    OutputRecord(tmp_path).require_replaceable([path], option="--to FILE", force=True)
    for record in (own, OutputRecord(tmp_path)):
        with pytest.raises(UsageError, match="was changed after Headway wrote it"):
            record.require_replaceable([path], option="--to FILE", force=False)


@pytest.mark.parametrize("command", [
    ["train", "--solution", "--out", "softmax.py", "--force"],
    ["card", "model.safetensors", "--out", "README.md", "--force"], ["check", "softmax", "--json", "softmax.py"],
])  # fmt: skip
def test_no_command_replaces_work(tmp_path, command):
    for name in ("softmax.py", "README.md"):
        (tmp_path / name).write_text("mine = 1\n")
    assert "may be your work" in refusal(*command, cwd=tmp_path)
    assert {path.read_text() for path in tmp_path.glob("*.*") if path.suffix in (".py", ".md")} == {"mine = 1\n"}
