"""What is read of an untrusted archive, and the reason for what is left out."""

import io
import tarfile
import zipfile
from functools import partial

import pytest

from autograder.core.archives import Quota, SkippedFile, read_archive, tar_of, why_not_readable, zip_of

OUTSIDE = ["../a.py", "a/../../b.py", "/c.py", "C:/d.py", "\\e.py", "..\\f.py"]
FILES = {"x/./softmax.py": bytes(1024), "gpt.py": bytes(1025), "x.txt": b"x", ".git/a.py": b"x", ".git/b.py": b"x"}
UNPACKED = 1024 + 1025  # of the files that are read; a tar archive is unpacked as a whole


def read(content, name="a.zip", entries=11, quota=1 << 20):
    found = read_archive(name, content, lambda file: 1024 * file.endswith(".py"), entries, Quota(quota, "too much"))
    return [(path, str(file) if isinstance(file, SkippedFile) else file) for path, file in found]


@pytest.mark.parametrize(("name", "pack", "size"), [
    ("a.zip", zip_of, UNPACKED),
    *((f"a.{kind}", partial(tar_of, mode=mode), 20480) for kind, mode in (("tar", "w"), ("tgz", "w:gz"))),
])  # fmt: skip
def test_read_archive_gives_files_or_reasons_within_the_limits(name, pack, size):
    content = pack({**FILES, **dict.fromkeys(OUTSIDE, b"x")})
    found = read(content, name, quota=size)
    assert found[:3] == [("x/softmax.py", bytes(1024)), ("gpt.py", "it is larger than 1 KiB"), ("x.txt", b"")]
    assert [path for path, _ in found[3:]] == [".git/", *(path.replace("\\", "/").lstrip("/") for path in OUTSIDE)]
    assert {reason for _, reason in found[4:]} == {"its path leads out of the archive"}
    for limits, reason in (({"entries": 10}, "more than 10 files"), ({"quota": size - 1}, "too much")):
        with pytest.raises(SkippedFile, match=reason):
            read(content, name, **limits)


@pytest.mark.parametrize(("content", "reason"), [
    (bytes((16 << 20) + 1), "larger than 16 MiB"), (bytes(16 << 20), "cannot be read"), (b"", "BadZip"),
])  # fmt: skip
def test_read_archive_that_is_none_or_too_large_gives_the_reason(content, reason):
    with pytest.raises(SkippedFile, match=reason):
        read(content)


@pytest.mark.parametrize(("name", "value", "reason"), [
    ("external_attr", 0o120777 << 16, "it is a link or a device"), ("flag_bits", 1, "it is encrypted"),
    ("compress_type", zipfile.ZIP_LZMA, "it is compressed in an unusual way"), ("flag_bits", 0, None),
])  # fmt: skip
def test_zip_entry_that_is_not_a_plain_file_is_not_read(name, value, reason):
    setattr(entry := zipfile.ZipInfo("softmax.py"), name, value)
    assert why_not_readable(entry) == reason


def test_tar_entry_that_is_not_a_plain_file_is_not_read():
    with tarfile.open(fileobj=(content := io.BytesIO()), mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            (entry := tarfile.TarInfo("a.py")).type = kind
            archive.addfile(entry)
    assert read(content.getvalue(), "a.tar") == [("a.py", "it is a link or a device")] * 3
