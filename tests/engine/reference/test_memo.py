"""The memo gives what was computed, never what was damaged, and spares the import of torch."""

import subprocess
import sys

import numpy as np
import pytest

from autograder.core import files, wire_format
from autograder.core.files import write_atomically
from autograder.core.versions import torch_version
from autograder.engine.reference import Reference, memo, shipped_answers, source_digest
from autograder.engine.reference.memo import Memo, digest_of, read_shipped, write_shipped


@pytest.fixture
def counted(tmp_path):
    """A memo on disk, and how often it had to compute."""

    class Counted:
        computed = 0

        def ask(self, request=b"request", value=1.5):
            def compute():
                self.computed += 1
                return value

            return Memo(shipped=tmp_path / "shipped", cache=tmp_path / "cache").get_or_compute("m", request, compute)

        def files(self):
            return [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]

    return Counted()


def test_the_second_time_is_looked_up(counted):
    assert counted.ask() == counted.ask() == 1.5
    assert counted.computed == 1
    assert counted.ask(b"another") == 1.5
    assert counted.computed == 2


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b"", lambda b: b"x" * 99]
)
def test_a_damaged_entry_is_computed_again(counted, damage):
    counted.ask()
    (file,) = counted.files()
    file.write_bytes(damage(file.read_bytes()))
    assert counted.ask(value=2.5) == 2.5
    assert counted.ask() == 2.5, "the damaged entry was not replaced"
    assert counted.computed == 2


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    (tmp_path / "file").write_text("in the way")
    store = Memo(shipped=tmp_path, cache=tmp_path / "file")
    assert store.get_or_compute("m", b"request", lambda: 3) == 3


def test_shipped_answers_are_read_and_checked(tmp_path):
    frame = wire_format.pack(np.arange(3.0))
    write_shipped(tmp_path, {"m": {digest_of(b"request"): frame}}, {"torch": "9.9", "sources": "abc"})
    store = Memo(shipped=tmp_path)
    assert store.get_or_compute("m", b"request", lambda: None).tolist() == [0.0, 1.0, 2.0]
    assert (store.shipped_torch, store.shipped_sources) == ("9.9", "abc")
    path = tmp_path / "m.memo"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert read_shipped(path) == {}
    assert Memo(shipped=tmp_path).get_or_compute("m", b"request", lambda: 4) == 4


def test_half_a_file_is_never_seen(tmp_path, monkeypatch):
    target = tmp_path / "file"
    write_atomically(target, b"old")
    monkeypatch.setattr(files.os, "replace", lambda a, b: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_key_holds_everything_an_answer_depends_on(tmp_path, monkeypatch):
    reference = Reference(Memo(shipped=tmp_path, cache=tmp_path / "cache"))
    x = np.array([1.0, 2.0])
    reference.softmax.softmax(x)
    reference.softmax.softmax(x, axis=0)
    reference.softmax.log_softmax(x)
    reference.softmax.softmax(x.astype(np.float32))
    assert len(reference._memo.used["softmax"]) == 4
    monkeypatch.setattr("autograder.engine.reference.torch_version", lambda: "0.0")
    other = Reference(Memo(shipped=tmp_path, cache=tmp_path / "cache"))
    other.softmax.softmax(x)
    assert not set(other._memo.used["softmax"]) & set(reference._memo.used["softmax"])


def test_the_shipped_memo_is_of_these_references():
    shipped = Memo(shipped_answers())
    assert shipped.shipped_sources == source_digest(), "the references changed: make memo"
    assert shipped.shipped_torch == torch_version()


def test_the_shipped_memo_is_what_pytorch_says_now(solutions):
    """Ask PyTorch everything again, and compare every shipped answer with it: none missing, none left over."""
    from autograder.engine.build_memo import collect

    live = collect()
    for module, entries in live.items():
        shipped = read_shipped(shipped_answers() / f"{module}{memo.SUFFIX}")
        assert set(shipped) == set(entries), f"{module}: make memo"
        for key in entries:
            assert_close(wire_format.unpack(shipped[key]), wire_format.unpack(entries[key]))
    assert {path.stem for path in shipped_answers().glob("*.memo")} == set(live)


def assert_close(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_close(a[key], b[key])
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for mine, theirs in zip(a, b, strict=True):
            assert_close(mine, theirs)
    elif isinstance(a, (np.ndarray, float)):
        # Another processor may round the last digits otherwise.
        np.testing.assert_allclose(a, b, rtol=1e-6 if getattr(a, "dtype", None) == np.float32 else 1e-11, atol=1e-12)
        assert getattr(a, "dtype", float) == getattr(b, "dtype", float)
    else:
        assert a == b


def test_a_warm_check_does_not_import_torch(solutions):
    code = (
        "import sys; from pathlib import Path; from autograder.engine.session import *\n"
        f"result = check('s', Path({str(solutions)!r}), Options())\n"
        "assert result.passed, [c.message for c in result.checks if c.status != 'passed']\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_torch_fresh_inputs_are_refused_in_one_line(tmp_path, monkeypatch):
    from autograder.errors import UsageError

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    reference = Reference(Memo(shipped=tmp_path))
    with pytest.raises(UsageError, match=r"pip install 'headway\[torch\]'"):
        reference.softmax.softmax(np.ones(2))
