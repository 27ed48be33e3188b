"""Intake of hostile folders and archives: no link is followed, and no stated size is believed."""

import os
import stat
import struct
import tracemalloc
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.editing import write_files, zip_bytes

from autograder.classroom.submissions import account, folder_reader, intake
from autograder.classroom.submissions.account import account_for
from autograder.classroom.submissions.intake import read_files
from autograder.classroom.submissions.model import Attempt, SubmissionPart
from autograder.classroom.submissions.sources import read_class_members
from autograder.courses.transformer import TRANSFORMER

GOOD = "def softmax(x):\n    return x\n"
OTHER = "def softmax(x):\n    return x + 1\n"
SECRET = "SECRET = 1\n"


@pytest.fixture
def copy(tmp_path, reader):
    """Return a function that copies the modules at a path, and returns their texts and the notes.

    It checks that the secret beside the submission is not among them.
    """
    secret = tmp_path / "secret.py"
    secret.write_text(SECRET)

    def copy_path(path):
        part = path if isinstance(path, SubmissionPart) else SubmissionPart(path)
        into = tmp_path / f"into{len(list(tmp_path.iterdir()))}"
        into.mkdir()
        found = account_for(read_files(Attempt((part,))), TRANSFORMER, reader)
        found.write(into, TRANSFORMER)
        notes = found.notes
        assert secret.read_text() == SECRET
        files = {file.name: file.read_text() for file in into.iterdir()}
        assert SECRET not in files.values()
        assert all(stat.S_ISREG(file.lstat().st_mode) and file.stat().st_nlink == 1 for file in into.iterdir())
        assert all(len(note) < 300 and "\x1b" not in note and "\n" not in note for note in notes)
        return files, notes

    return copy_path


@pytest.fixture
def folder(tmp_path):
    return write_files(tmp_path / "work", {"softmax.py": GOOD})


def archive(tmp_path, *entries):
    """A zip file of (name or ZipInfo, content)."""
    path = tmp_path / "work.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries:
            made.writestr(name, content)
    return path


def test_links_are_not_followed(copy, folder, tmp_path):
    (folder / "layernorm.py").symlink_to(tmp_path / "secret.py")
    os.link(tmp_path / "secret.py", folder / "attention.py")
    (folder / "ffn.py").symlink_to("/dev/zero")
    (folder / "blocks.py").symlink_to(folder / "blocks.py")
    files, notes = copy(folder)
    assert files == {"softmax.py": GOOD}
    assert [note.partition(":")[0] for note in notes] == ["attention.py", "blocks.py", "ffn.py", "layernorm.py"]
    assert "hard link" in notes[0] and "link" in notes[3]


def test_submission_that_is_a_link_is_left_out(copy, folder, tmp_path):
    (tmp_path / "other").symlink_to(folder)
    files, notes = copy(tmp_path / "other")
    assert files == {} and "links are not followed" in notes[0]


@pytest.mark.parametrize("descriptors", [folder_reader.HAS_DIRECTORY_DESCRIPTORS, False])
@pytest.mark.parametrize("exchanged", ["ada", "ada/week 1"])
@pytest.mark.parametrize("moment", ["read", "list", "open"])
def test_folder_exchanged_for_a_link_is_not_followed(copy, tmp_path, monkeypatch, exchanged, descriptors, moment):
    write_files(tmp_path / "class", {"ada/week 1/softmax.py": GOOD, "bo/week 1/softmax.py": SECRET})
    members = read_class_members(tmp_path / "class", TRANSFORMER)
    (ada,) = (member for member in members if member.submission == "ada")

    def exchange():
        folder = tmp_path / "class" / exchanged
        if not folder.is_symlink():
            folder.rename(tmp_path / "ada's own")
            folder.symlink_to(tmp_path / "class" / exchanged.replace("ada", "bo"))

    def exchange_before(function, condition=lambda *arguments: True):
        def wrapped(*arguments, **options):
            if condition(*arguments):
                exchange()
            return function(*arguments, **options)

        return wrapped

    monkeypatch.setattr(folder_reader, "HAS_DIRECTORY_DESCRIPTORS", descriptors)
    if moment == "read":
        exchange()
    elif moment == "list":
        monkeypatch.setattr(os, "scandir", exchange_before(os.scandir))
    else:
        monkeypatch.setattr(os, "open", exchange_before(os.open, lambda path, *_: str(path).endswith("softmax.py")))
    files, notes = copy(ada.attempts[0].parts[0])
    assert (tmp_path / "class" / exchanged).is_symlink()
    assert files == {"softmax.py": GOOD} or notes


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_folders_and_devices_are_left_out(copy, folder):
    os.mkfifo(folder / "attention.py")
    (folder / "ffn.py").mkdir()
    if os.geteuid() == 0:
        os.mknod(folder / "layernorm.py", 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero
    files, notes = copy(folder)
    assert files == {"softmax.py": GOOD}
    assert len(notes) == 2 + (os.geteuid() == 0)


def test_sparse_file_of_gigabytes_is_left_out(copy, folder):
    with open(folder / "attention.py", "wb") as file:
        file.truncate(10 << 30)
    files, notes = copy(folder)
    assert files == {"softmax.py": GOOD} and "larger than 1 MiB" in notes[0]


def test_files_without_module_names_are_left_out(copy, folder):
    names = ["conftest.py", "sitecustomize.py", "usercustomize.py", "\x1b[2J.py", "é.py", "a\nb.py", "x" * 90 + ".py"]
    write_files(folder, dict.fromkeys(names, SECRET.replace("1", "2")))
    write_files(folder, dict.fromkeys(("evil.pth", "numpy.so", ".hidden.py", "pytest.ini"), "x"))
    files, notes = copy(folder)
    assert set(files) == {"softmax.py"} and len(notes) == len(names)


@pytest.mark.slow
def test_thousands_of_files_give_one_note(copy, folder):
    for number in range(2100):
        (folder / f"m{number}.py").touch()
    files, notes = copy(folder)
    assert len(files) <= 200 and len(notes) == 1


def test_archive_cannot_write_outside(copy, tmp_path):
    names = ["../secret.py", "/secret.py", "a/../../secret.py", "..\\secret.py", "C:/secret.py", "a/b/c.py", "./x/y.py"]
    files, notes = copy(archive(tmp_path, ("softmax.py", GOOD), *((name, "SECRET = 2\n") for name in names)))
    assert files == {"softmax.py": GOOD} and len(notes) >= len(names) - 1


@pytest.mark.slow
def test_zip_bomb_is_not_unpacked(copy, tmp_path):
    path = archive(tmp_path, ("softmax.py", GOOD), *((f"m{n}.py", bytes(48 << 20)) for n in range(2)))
    tracemalloc.start()
    files, notes = copy(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert files == {"softmax.py": GOOD} and len(notes) == 2
    assert peak < 32 << 20


def test_archive_with_false_sizes_is_cut(copy, tmp_path):
    path = archive(tmp_path, ("softmax.py", GOOD), ("gpt.py", bytes(32 << 20)))
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):  # the size after unpacking
        start = data.rfind(mark)
        data[start + offset : start + offset + 4] = struct.pack("<I", 10)
    path.write_bytes(data)
    files, _ = copy(path)
    assert len(files.get("gpt.py", "")) <= 10


def test_archive_with_duplicate_names_keeps_the_first(copy, tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = archive(tmp_path, ("softmax.py", GOOD), ("softmax.py", OTHER), ("SOFTMAX.py", OTHER))
    files, notes = copy(path)
    assert files == {"softmax.py": GOOD}
    assert len(notes) == 2


@pytest.mark.slow
@pytest.mark.parametrize("entries", [2001, 6000])
def test_archive_with_thousands_of_entries_gives_one_note(copy, tmp_path, entries):
    files, notes = copy(archive(tmp_path, *((f"m{n}.py", "") for n in range(entries))))
    assert len(files) == 0 and len(notes) == 1


@pytest.mark.slow
def test_many_large_files_give_few_notes(copy, tmp_path):
    files, notes = copy(archive(tmp_path, *((f"m{n}.py", bytes((1 << 20) + 1)) for n in range(50))))
    assert files == {} and len(notes) == 21 and "30 more files" in notes[-1]


@pytest.mark.parametrize("archives", [1, 3])
def test_unpacked_size_is_limited_over_all_archives(copy, folder, tmp_path, monkeypatch, archives):
    monkeypatch.setattr(account, "MAX_UNPACKED_BYTES", 3 << 20)
    monkeypatch.setattr(account, "MAX_NOTEBOOKS", 100)
    nothing = b"{" + b" " * (1 << 19)  # no notebook
    for number in range(archives):
        path = archive(tmp_path, *((f"n{number}_{n}.ipynb", nothing) for n in range(12 // archives)))
        path.rename(folder / f"{number}.zip")
    files, notes = copy(folder)
    assert files == {"softmax.py": GOOD} and "larger than 3 MiB" in notes[-1]
    assert len(notes) == 6, "five were read"


def test_number_of_notebooks_is_limited(copy, folder, tmp_path):
    archive(tmp_path, *((f"n{n}.ipynb", b'{"cells": []}') for n in range(20))).rename(folder / "more.zip")
    write_files(folder, {f"m{n}.ipynb": '{"cells": []}' for n in range(20)})
    files, notes = copy(folder)
    assert files == {"softmax.py": GOOD} and "more than 30 notebooks" in notes[-1]


ZIP = zip_bytes({"softmax.py": GOOD, "work/gpt.py": GOOD * 50})


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, len(ZIP) - 1), st.integers(0, 255)), min_size=1, max_size=6), st.booleans())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_damaged_archive_yields_no_damaged_files(copy, tmp_path, changes, cut):
    data = bytearray(ZIP)
    for place, value in changes:
        data[place] = value
    path = tmp_path / "damaged.zip"
    path.write_bytes(data[: changes[0][0]] if cut else data)
    files, _ = copy(path)
    assert all(account.MODULE.fullmatch(name) for name in files)
    assert set(files.values()) <= {GOOD, GOOD * 50}, "damaged content was copied"


def test_file_signature_detects_change_with_same_date(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "CLOCK_STEP_NS", 0)
    file = tmp_path / "softmax.py"
    file.write_text("x = 1\n")
    attempt = Attempt((SubmissionPart(tmp_path),))
    first = intake.file_signature(attempt)
    assert first == intake.file_signature(attempt) != ""
    before = file.stat()
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # wait for the clock of the file system: see CLOCK_STEP_NS
        file.write_text("x = 2\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # the same size, the same date
    assert file.stat().st_size == before.st_size
    assert intake.file_signature(attempt) != first
    (tmp_path / "helper.py").write_text("")
    second = intake.file_signature(attempt)
    (tmp_path / "helper.py").unlink()
    assert len({first, second, intake.file_signature(attempt)}) == 3


def test_file_signature_ignores_hidden_files(tmp_path, monkeypatch):
    (tmp_path / "softmax.py").write_text("one")
    (tmp_path / "._softmax.py").write_text("what a Mac leaves beside it")
    monkeypatch.setattr(intake, "CLOCK_STEP_NS", 0)
    attempt = Attempt((SubmissionPart(tmp_path),))
    first = intake.file_signature(attempt)
    (tmp_path / "._softmax.py").write_text("another one")
    assert intake.file_signature(attempt) == first != ""
    assert [file.name for file in intake.read_files(attempt)] == ["softmax.py", "._softmax.py"]


def test_file_signature_of_too_many_files_is_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "CLOCK_STEP_NS", 0)
    monkeypatch.setattr(intake, "MAX_ENTRIES", 2)
    for name in ("one.py", "two.py"):
        (tmp_path / name).touch()
    attempt = Attempt((SubmissionPart(tmp_path),))
    assert intake.file_signature(attempt) != ""
    (tmp_path / "three.txt").touch()
    assert intake.file_signature(attempt) == ""
    assert "more than 2 files" in str(intake.read_files(attempt)[0].content)


def test_file_signature_of_recent_change_is_empty(tmp_path):
    (tmp_path / "softmax.py").write_text("x = 1\n")
    assert intake.file_signature(Attempt((SubmissionPart(tmp_path),))) == ""
    assert intake.file_signature(Attempt((SubmissionPart(tmp_path / "missing"),))) == ""
