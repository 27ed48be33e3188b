"""Archives of `headway submit` in a workspace: only what was packed, with a backup, and no lost dates."""

import os
import stat
import struct
from pathlib import Path

import pytest
from support.commands import refusal

from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import SubmissionResult
from autograder.errors import UsageError
from autograder.workspace import state
from autograder.workspace.archive import import_archive, make_archive, make_manifest, read_submission
from autograder.workspace.solutions import GAVE_UP

SOFT = "softmax.softmax"
WORK = {"softmax.py": b"x = 1\n", "helper.py": b"y = 2\n"}


def archive(contents=WORK, listed=None, **more):
    """An archive whose manifest has the digests of the files `listed` (default: all)."""
    manifest = make_manifest("ada", listed or contents, SubmissionResult("ada", "", 0, []), state.State(Path()))
    return make_archive(contents, {**manifest, **more})


@pytest.mark.parametrize("name", ["softmax.py", "helper.py"])
@pytest.mark.parametrize("packed", [b"x = 3\n", None], ids=["changed", "added"])
def test_read_submission_file_that_was_not_packed_is_refused(name, packed):
    listed = {other: content for other, content in WORK.items() if other != name}
    listed |= {name: packed} if packed else {}
    with pytest.raises(UsageError, match=f"{name} .*was changed"):
        read_submission(archive(listed=listed), TRANSFORMER)
    for top in ("", "work/"):  # some programs put everything into a folder
        packed_again = {f"{top}{file}": content for file, content in WORK.items()}
        assert read_submission(archive(packed_again, WORK), TRANSFORMER)[0] == WORK


def test_import_archive_keeps_when_solutions_were_shown_here(folder):
    recorded = state.load(folder)
    recorded.section(GAVE_UP)[SOFT] = "2026-01-05"
    gave_up = {SOFT: "2026-02-01", "softmax.log_softmax": "2026-02-02", "no.such": "2026-02-03", "gpt.gpt": 3}
    import_archive(folder, archive(gave_up=gave_up), recorded)
    assert recorded.section(GAVE_UP) == {SOFT: "2026-01-05", "softmax.log_softmax": "2026-02-02"}


OUTSIDE = [
    "../evil.py", "/tmp/evil.py", "a/../../evil.py", "..\\evil.py", "C:evil.py", "C:/evil.py",
    "a/b/evil.py", "__MACOSX/evil.py", ".git/hooks/pre-commit", ".vscode/settings.json", ".vscode/tasks.json",
    ".headway.json", "AGENTS.md", "course.toml", "pyproject.toml", "pytest.ini", "evil.pth", "evil.so", "evil .py",
    "\x1b[2J.py",
]  # fmt: skip
RUN_BY_OTHERS = ["conftest", "sitecustomize", "usercustomize", "numpy", "pytest", "json", "autograder", "__init__"]
SAME_FILE = ["SOFTMAX.PY", "Softmax.py", "\u017foftmax.py", "HELPER.py", "numpy_warmup.py"]


@pytest.mark.parametrize("name", [*OUTSIDE, *(f"{name}.py" for name in RUN_BY_OTHERS), *SAME_FILE, "x" * 300 + ".py"])
def test_import_archive_leaves_out_hostile_name(folder, tmp_path, name):
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    lines = import_archive(folder, archive({**WORK, name: b"print('run')\n"}), state.load(folder))
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.name for path in after if after[path] != before.get(path)} == {"softmax.py", "helper.py"}
    assert (folder / "softmax.py").read_bytes() == WORK["softmax.py"]
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize("name", ["softmax.py", "helper.py"])
@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR])
def test_read_submission_leaves_out_anything_but_files(name, kind):
    content = archive()
    entry = content.index(name.encode(), content.index(b"PK\1\2")) - 46  # in the list of files at the end
    hostile = bytearray(content)
    hostile[entry + 38 : entry + 42] = struct.pack("<I", (kind | 0o777) << 16)
    if name == "softmax.py":
        with pytest.raises(UsageError, match="holds no assignment"):
            read_submission(bytes(hostile), TRANSFORMER)
    else:
        modules, _, notes = read_submission(bytes(hostile), TRANSFORMER)
        assert modules == {"softmax.py": WORK["softmax.py"]} and "a link or a device" in notes[0]


@pytest.mark.parametrize(("offset", "value"), [
    (8, b"\1\0"), (10, b"\x0e\0"), (16, b"\0\0\0\0"), (24, b"\3\0\0\0"), (42, b"\xff\xff\xff\x7f"),
], ids=["encrypted", "other compression", "wrong checksum", "wrong size", "wrong place"])  # fmt: skip
def test_read_submission_of_damaged_entry_is_one_line(offset, value):
    content = archive()
    entry = content.index(b"PK\1\2")
    hostile = content[: entry + offset] + value + content[entry + offset + len(value) :]
    with pytest.raises(UsageError, match="Choose the archive"):
        read_submission(hostile, TRANSFORMER)


@pytest.mark.parametrize("cut", [1, 21, 60, 400, 10_000])
def test_read_submission_of_truncated_archive_is_one_line(cut):
    with pytest.raises(UsageError, match="not an archive"):
        read_submission(archive()[:-cut], TRANSFORMER)


@pytest.mark.slow
@pytest.mark.parametrize(
    "contents",
    [{"softmax.py": b"\0" * (2 << 20)}, {**WORK, **{f"m{n}.py": b"#" * (1 << 20) for n in range(20)}}],
    ids=["one large file", "many large files"],
)
def test_read_submission_of_zip_bomb_is_refused(contents):
    with pytest.raises(UsageError, match=r"MiB|no assignment"):
        read_submission(archive(contents), TRANSFORMER)


def test_read_submission_of_large_archive_does_not_read_its_list(monkeypatch):
    with pytest.raises(UsageError, match="not an archive"):
        read_submission(archive(more="x" * (1 << 20)), TRANSFORMER)
    monkeypatch.setattr("zipfile.ZipFile", None)
    with pytest.raises(UsageError, match="larger than 16 MiB"):
        read_submission(b"PK" * (9 << 20), TRANSFORMER)


def test_import_archive_takes_no_results_from_its_manifest(folder):
    claims = {"points": 1e9, "functions": dict.fromkeys(TRANSFORMER.functions, "passed"), "progress": {SOFT: "passed"}}
    claims |= {"welcomed": True, "curriculum": "os", "gave_up": {SOFT: "\x1b]0;title\x07" + "y" * 100_000}}
    recorded = state.load(folder)
    before = dict(recorded.content)
    import_archive(folder, archive(**claims), recorded)
    assert len(recorded.content.pop(GAVE_UP)[SOFT]) <= 40
    assert {key: value for key, value in recorded.content.items() if value} == before


@pytest.mark.parametrize("name", ["notebooks", "backups"])
def test_import_archive_does_not_follow_a_linked_folder(folder, tmp_path, name):
    (outside := tmp_path / "outside").mkdir()
    (folder / "softmax.py").write_text("my work\n")
    if (folder / name).exists():
        (folder / name).rename(tmp_path / "moved")
    (folder / name).symlink_to(outside)
    notebook = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    with pytest.raises(UsageError, match=f"{name}/ is a link"):
        import_archive(folder, archive({**WORK, "softmax.ipynb": notebook}), state.load(folder))
    assert not list(outside.iterdir())


def test_init_from_hostile_file_writes_nothing(tmp_path):
    (tmp_path / "work.zip").write_bytes(archive()[:-30])
    os.mkfifo(tmp_path / "pipe.zip")
    (tmp_path / "large.zip").write_bytes(archive() + b" " * (16 << 20))
    for name in ("work.zip", "pipe.zip", "large.zip", "missing.zip", "."):
        refusal("init", tmp_path / "w", "--from", tmp_path / name)
    assert not (tmp_path / "w").exists()
