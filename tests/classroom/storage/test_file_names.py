"""File names made from untrusted texts: readable, safe on every file system, unique and stable."""

import pytest

from autograder.classroom.storage.gradebook import MAX_NAME_BYTES, readable_names


def test_readable_names_keeps_safe_names():
    names = ["ada", "Ada Lovelace_500", "José", "01002", "bo.berg@uni.example", "王小明"]
    assert readable_names(names) == {name: name for name in names}


@pytest.mark.parametrize(("text", "readable"), [
    ("<img src=x onerror=alert(1)>", "img src x onerror alert(1) "),
    ("../../etc/passwd", "etc passwd "),
    ("50%", "50 "), ("a\u202eb\x1b[31m", "a b 31m "), ("-rf", "rf "),
    ("nul", ""), ("COM1.txt", ""), ("...", ""), ("", ""),
])  # fmt: skip
def test_readable_names_unsafe_name_gets_a_digest(text, readable):
    name = readable_names([text])[text]
    assert name.startswith(readable) and len(name) == len(readable) + 8
    assert not set(name) & set("/\\%#?*:|\"<>'`$&;\x1b\u202e")


def test_readable_names_are_unique_and_stable():
    texts = ["Ada", "ada", "a/b", "a:b", "a b", "x" * 500, "x" * 501, "é" * 200, "bo"]
    found = readable_names(texts)
    assert len({name.casefold() for name in found.values()}) == len(texts)
    assert all(len(name.encode()) <= MAX_NAME_BYTES + 9 for name in found.values())
    assert readable_names(texts[::-1]) == found
    assert readable_names(["a/b", "bo", "new"])["a/b"] == found["a/b"]
