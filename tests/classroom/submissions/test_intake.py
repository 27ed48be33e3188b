"""Taking hostile folders and archives in: nothing is followed, unpacked by its own word, or believed about its size."""

import io
import os
import stat
import struct
import tracemalloc
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.classroom.submissions import intake
from autograder.classroom.submissions.intake import copy_modules, read_files
from autograder.classroom.submissions.model import Attempt, SubmissionPart
from autograder.courses.transformer import TRANSFORMER

GOOD = "def softmax(x):\n    return x\n"
SECRET = "SECRET = 1\n"


@pytest.fixture
def taken(tmp_path):
    """`taken(path)`: the files that were taken in with their texts, and the notes; the secret is never among them."""
    secret = tmp_path / "secret.py"
    secret.write_text(SECRET)

    def take(path):
        into = tmp_path / f"into{len(list(tmp_path.iterdir()))}"
        into.mkdir()
        notes = copy_modules(read_files(Attempt((SubmissionPart(path),))), into, TRANSFORMER).notes
        assert secret.read_text() == SECRET
        files = {file.name: file.read_text() for file in into.iterdir()}
        assert SECRET not in files.values()
        assert all(stat.S_ISREG(file.lstat().st_mode) and file.stat().st_nlink == 1 for file in into.iterdir())
        assert all(len(note) < 300 and "\x1b" not in note and "\n" not in note for note in notes)
        return files, notes

    return take


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    (path / "softmax.py").write_text(GOOD)
    return path


def archive(tmp_path, *entries):
    """A zip file of (name or ZipInfo, content)."""
    path = tmp_path / "work.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries:
            made.writestr(name, content)
    return path


def odd(name, **attributes):
    info = zipfile.ZipInfo(name)
    for attribute, value in attributes.items():
        setattr(info, attribute, value)
    return info


def test_links_are_not_followed(taken, folder, tmp_path):
    (folder / "layernorm.py").symlink_to(tmp_path / "secret.py")
    os.link(tmp_path / "secret.py", folder / "attention.py")
    (folder / "ffn.py").symlink_to("/dev/zero")
    (folder / "blocks.py").symlink_to(folder / "blocks.py")
    files, notes = taken(folder)
    assert files == {"softmax.py": GOOD}
    assert [note.partition(":")[0] for note in notes] == ["attention.py", "blocks.py", "ffn.py", "layernorm.py"]
    assert "hard link" in notes[0]
    assert "link" in notes[3]


def test_a_whole_submission_that_is_a_link(taken, folder, tmp_path):
    (tmp_path / "other").symlink_to(folder)
    files, notes = taken(tmp_path / "other")
    assert files == {}
    assert "links are not followed" in notes[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_sockets_folders_and_devices_are_left_out(taken, folder):
    os.mkfifo(folder / "attention.py")
    (folder / "ffn.py").mkdir()
    if os.geteuid() == 0:
        os.mknod(folder / "layernorm.py", 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero
    files, notes = taken(folder)
    assert files == {"softmax.py": GOOD}
    assert len(notes) == 2 + (os.geteuid() == 0)


def test_a_sparse_file_of_gigabytes_is_left_out(taken, folder):
    with open(folder / "attention.py", "wb") as file:
        file.truncate(10 << 30)
    files, notes = taken(folder)
    assert files == {"softmax.py": GOOD}
    assert "larger than 1 MiB" in notes[0]


def test_names_that_are_no_modules_are_left_out(taken, folder):
    names = ["conftest.py", "sitecustomize.py", "\x1b[2J.py", "é.py", "a\nb.py", "x" * 90 + ".py"]
    for name in names:
        (folder / name).write_text(SECRET.replace("1", "2"))
    for name in ("evil.pth", "numpy.so", ".hidden.py", "pytest.ini"):
        (folder / name).write_text("x")
    files, notes = taken(folder)
    assert set(files) == {"softmax.py"}
    assert len(notes) == len(names)


@pytest.mark.parametrize("name", ["hw1_final.py", "homework one.py", "hw-1.py", "hw.v2.py", "Softmax(final).py"])
def test_the_only_file_counts_whatever_it_is_called(taken, tmp_path, name):
    for path in (tmp_path / "one" / name, tmp_path / "two" / name):
        path.parent.mkdir()
        path.write_text(GOOD)
    (tmp_path / "two" / "helpers.py").write_text("def help(x):\n    return x\n")
    for folder in ("one", "two"):
        files, (note,) = taken(tmp_path / folder)
        assert files["softmax.py"] == GOOD
        assert note.endswith(".py: taken for softmax.py, whose functions it defines")


def test_a_file_of_another_name_counts_only_where_there_is_none_of_a_modules_name(taken, folder):
    (folder / "hw1.py").write_text("def layer_norm(x):\n    return x\n")
    files, notes = taken(folder)
    assert (set(files), notes) == ({"softmax.py", "hw1.py"}, [])


def test_of_two_files_that_could_be_meant_neither_is_taken(taken, tmp_path):
    for name in ("hw1.py", "hw1_old.py"):
        (tmp_path / "work").mkdir(exist_ok=True)
        (tmp_path / "work" / name).write_text(GOOD)
    files, notes = taken(tmp_path / "work")
    assert "softmax.py" not in files
    assert notes == ["hw1.py and hw1_old.py: each could be softmax.py, so neither is taken for it"]


def test_capitals_in_the_name_of_a_module_do_not_matter(taken, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "Softmax.py").write_text(GOOD)
    assert taken(tmp_path / "work") == ({"softmax.py": GOOD}, [])


@pytest.mark.parametrize("name", ["layernorm (1).py", "layernorm(12).py", "layernorm copy.py", "layernorm - Copy.py"])
def test_a_copy_counts_under_the_name_it_is_a_copy_of(taken, folder, name):
    (folder / name).write_text(GOOD)
    assert taken(folder) == ({"softmax.py": GOOD, "layernorm.py": GOOD}, [])
    assert taken(folder / name) == ({"layernorm.py": GOOD}, [])


def test_a_copy_beside_what_it_is_a_copy_of_is_left_out(taken, folder):
    (folder / "softmax (1).py").write_text("x = 1\n")
    files, notes = taken(folder)
    assert files == {"softmax.py": GOOD}
    assert len(notes) == 1
    assert notes[0].startswith("softmax (1).py: left out")


def test_thousands_of_files(taken, folder):
    for number in range(2100):
        (folder / f"m{number}.py").touch()
    files, notes = taken(folder)
    assert len(files) <= 200
    assert len(notes) == 1


def test_an_archive_cannot_write_elsewhere(taken, tmp_path):
    names = ["../secret.py", "/secret.py", "a/../../secret.py", "..\\secret.py", "C:/secret.py", "a/b/c.py", "./x/y.py"]
    path = archive(tmp_path, ("softmax.py", GOOD), *((name, "SECRET = 2\n") for name in names))
    files, notes = taken(path)
    assert files == {"softmax.py": GOOD}
    assert len(notes) >= len(names) - 1


def test_links_and_devices_in_an_archive(taken, tmp_path):
    kinds = {"ffn.py": stat.S_IFLNK, "blocks.py": stat.S_IFCHR, "gpt.py": stat.S_IFIFO}
    entries = [(odd(name, external_attr=(kind | 0o777) << 16), "../secret.py") for name, kind in kinds.items()]
    files, notes = taken(archive(tmp_path, ("softmax.py", GOOD), *entries))
    assert files == {"softmax.py": GOOD}
    assert len(notes) == 3
    assert all("link or a device" in note for note in notes)


def test_a_bomb_is_not_unpacked(taken, tmp_path):
    path = archive(tmp_path, ("softmax.py", GOOD), *((f"m{n}.py", bytes(48 << 20)) for n in range(2)))
    tracemalloc.start()
    files, notes = taken(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert files == {"softmax.py": GOOD}
    assert len(notes) == 2
    assert peak < 32 << 20


def test_an_archive_that_lies_about_sizes(taken, tmp_path):
    path = archive(tmp_path, ("softmax.py", GOOD), ("gpt.py", bytes(32 << 20)))
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):  # the size after unpacking
        start = data.rfind(mark)
        data[start + offset : start + offset + 4] = struct.pack("<I", 10)
    path.write_bytes(data)
    files, _ = taken(path)
    assert len(files.get("gpt.py", "")) <= 10


def test_the_same_name_twice(taken, tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = archive(tmp_path, ("softmax.py", GOOD), ("softmax.py", "x = 1\n"), ("SOFTMAX.py", "x = 2\n"))
    files, notes = taken(path)
    assert files == {"softmax.py": GOOD}
    assert len(notes) == 2


@pytest.mark.parametrize("entries", [2001, 6000])
def test_an_archive_of_thousands(taken, tmp_path, entries):
    files, notes = taken(archive(tmp_path, *((f"m{n}.py", "") for n in range(entries))))
    assert len(files) <= 200
    assert len(notes) == 1


def test_many_files_that_are_too_large_give_few_notes(taken, tmp_path):
    files, notes = taken(archive(tmp_path, *((f"m{n}.py", bytes((1 << 20) + 1)) for n in range(50))))
    assert files == {}
    assert len(notes) == 21
    assert notes[-1] == "and 30 more files left out"


@pytest.mark.parametrize("archives", [1, 3])
def test_what_is_unpacked_is_limited_over_all_archives(taken, folder, tmp_path, monkeypatch, archives):
    monkeypatch.setattr(intake, "MAX_UNPACKED_BYTES", 3 << 20)
    monkeypatch.setattr(intake, "MAX_NOTEBOOKS", 100)
    nothing = b'{"cells": []' + b" " * (1 << 19) + b"}"
    for number in range(archives):
        path = archive(tmp_path, *((f"n{number}_{n}.ipynb", nothing) for n in range(12 // archives)))
        path.rename(folder / f"{number}.zip")
    files, notes = taken(folder)
    assert files == {"softmax.py": GOOD}
    assert notes[-1] == "the rest is left out, unpacked it is larger than 3 MiB"
    assert len(notes) == 6, "five have been looked at"


def test_only_so_many_notebooks_are_looked_at(taken, folder, tmp_path):
    archive(tmp_path, *((f"n{n}.ipynb", b'{"cells": []}') for n in range(20))).rename(folder / "more.zip")
    for n in range(20):
        (folder / f"m{n}.ipynb").write_text('{"cells": []}')
    files, notes = taken(folder)
    assert files == {"softmax.py": GOOD}
    assert notes[-1] == "and 11 more files left out"


def _a_zip():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("softmax.py", GOOD)
        made.writestr("work/gpt.py", GOOD * 50)
    return file.getvalue()


ZIP = _a_zip()


@given(st.lists(st.tuples(st.integers(0, len(ZIP) - 1), st.integers(0, 255)), min_size=1, max_size=6), st.booleans())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_damaged_archive_is_a_note(taken, tmp_path, changes, cut):
    data = bytearray(ZIP)
    for place, value in changes:
        data[place] = value
    path = tmp_path / "damaged.zip"
    path.write_bytes(data[: changes[0][0]] if cut else data)
    files, _ = taken(path)
    assert all(intake.MODULE.fullmatch(name) for name in files)
    assert set(files.values()) <= {GOOD, GOOD * 50}, "nothing that is damaged is taken for somebody's work"


def test_a_signature_notices_what_dates_hide(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "SETTLED_NS", 0)
    file = tmp_path / "softmax.py"
    file.write_text("x = 1\n")
    attempt = Attempt((SubmissionPart(tmp_path),))
    first = intake.signature(attempt)
    assert first == intake.signature(attempt) != ""
    before = file.stat()
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # the file system's clock ticks, which SETTLED_NS is there for
        file.write_text("x = 2\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # the same size, the same date
    assert file.stat().st_size == before.st_size
    assert intake.signature(attempt) != first
    (tmp_path / "helper.py").write_text("")
    second = intake.signature(attempt)
    (tmp_path / "helper.py").unlink()
    assert len({first, second, intake.signature(attempt)}) == 3


def test_a_signature_is_of_what_is_read(tmp_path, monkeypatch):
    (tmp_path / "softmax.py").write_text("one")
    (tmp_path / "._softmax.py").write_text("what a Mac leaves beside it")
    monkeypatch.setattr(intake, "SETTLED_NS", 0)
    attempt = Attempt((SubmissionPart(tmp_path),))
    first = intake.signature(attempt)
    (tmp_path / "._softmax.py").write_text("another one")
    assert intake.signature(attempt) == first != ""
    assert [raw.name for raw in intake.read_files(attempt)] == ["softmax.py"]


def test_a_folder_of_too_many_files_has_no_signature(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "SETTLED_NS", 0)
    monkeypatch.setattr(intake, "MAX_ENTRIES", 2)
    for name in ("one.py", "two.py"):
        (tmp_path / name).touch()
    attempt = Attempt((SubmissionPart(tmp_path),))
    assert intake.signature(attempt) != ""
    (tmp_path / "three.txt").touch()
    assert intake.signature(attempt) == ""
    assert "more than 2 files" in str(intake.read_files(attempt)[0].content)


def test_a_file_changed_a_moment_ago_has_no_signature(tmp_path):
    (tmp_path / "softmax.py").write_text("x = 1\n")
    assert intake.signature(Attempt((SubmissionPart(tmp_path),))) == ""
    assert intake.signature(Attempt((SubmissionPart(tmp_path / "missing"),))) == ""
