"""The memo of PyTorch's answers: lookups, damaged files, and whether the shipped answers are still correct."""

import subprocess
import sys

import numpy as np
import pytest
from support.editing import write_files
from support.raising import raising

from autograder.authoring.build_memo import ask_everything
from autograder.core import files, wire_format
from autograder.core.files import write_atomically
from autograder.core.versions import torch_version
from autograder.course import registry
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.comparison.compare import TOLERANCES
from autograder.engine.reference import Reference, source_digest
from autograder.engine.reference.memo import Memo, digest_of, read_shipped, shipped_file, write_shipped
from autograder.errors import UsageError

COURSE = registry.folder(TRANSFORMER.package)


@pytest.fixture
def counted(tmp_path):
    """A memo on disk that counts computations."""

    class Counted:
        computed = 0

        def ask(self, request=b"request", value=1.5):
            def compute():
                self.computed += 1
                return value

            return Memo(tmp_path / "course", cache=tmp_path / "cache").get_or_compute("m", request, compute)

        def files(self):
            return [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]

    return Counted()


def test_memo_second_request_is_looked_up(counted):
    assert counted.ask() == counted.ask() == 1.5
    assert counted.computed == 1 and counted.ask(b"another") == 1.5 and counted.computed == 2


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b"", lambda b: b"x" * 99]
)
def test_memo_damaged_entry_is_computed_again(counted, damage):
    counted.ask()
    (file,) = counted.files()
    file.write_bytes(damage(file.read_bytes()))
    assert counted.ask(value=2.5) == 2.5
    assert counted.ask() == 2.5, "the damaged entry was not replaced"
    assert counted.computed == 2


def test_memo_unwritable_cache_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert Memo(tmp_path, cache=tmp_path / "file").get_or_compute("m", b"request", lambda: 3) == 3


def test_read_shipped_rejects_damaged_file(tmp_path):
    frame = wire_format.pack(np.arange(3.0))
    write_shipped(tmp_path, {"m": {digest_of(b"request"): frame}}, {"torch": "9.9", "sources": "abc"})
    store = Memo(tmp_path)
    assert store.get_or_compute("m", b"request", lambda: None).tolist() == [0.0, 1.0, 2.0]
    assert store.index == {"torch": "9.9", "sources": "abc"}
    path = shipped_file(tmp_path, "m")
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert read_shipped(path) == {}
    assert Memo(tmp_path).get_or_compute("m", b"request", lambda: 4) == 4


def test_write_atomically_failure_keeps_old_file(tmp_path, monkeypatch):
    target = tmp_path / "file"
    write_atomically(target, b"old")
    monkeypatch.setattr(files.os, "replace", raising(OSError("no")))
    with pytest.raises(OSError, match="no"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_memo_key_covers_arguments_and_torch_version(tmp_path, monkeypatch):
    reference = Reference(Memo(tmp_path, cache=tmp_path / "cache"), package=TRANSFORMER.package)
    x = np.array([1.0, 2.0])
    reference.softmax.softmax(x)
    reference.softmax.softmax(x, axis=0)
    reference.softmax.log_softmax(x)
    reference.softmax.softmax(x.astype(np.float32))
    assert len(reference._memo.used["softmax"]) == 4
    monkeypatch.setattr("autograder.engine.reference.torch_version", lambda: "0.0")
    other = Reference(Memo(tmp_path, cache=tmp_path / "cache"), package=TRANSFORMER.package)
    other.softmax.softmax(x)
    assert not set(other._memo.used["softmax"]) & set(reference._memo.used["softmax"])


def test_shipped_memo_matches_reference_sources():
    shipped = Memo(COURSE)
    assert shipped.index["sources"] == source_digest(TRANSFORMER.package), "the references changed: make memo"
    assert shipped.index["torch"] == torch_version()


class ShippedMemoAudit(Reference):
    """Answers checks from the shipped memo, and compares each answer with PyTorch's live answer to the same request.

    The checks never see a live answer. Later requests contain earlier answers, and a live answer of another processor
    may differ in its last bit: it would lead to requests that the memo does not hold.

    Args:
        folder: the course with the answers.
        change: changes each live answer before the comparison; gets the name of the function, and the answer.
    """

    def __init__(self, folder, change):
        super().__init__(Memo(folder), package=TRANSFORMER.package)
        self._folder = folder
        self._change = change
        self.problems = []

    def call(self, name, args, kwargs):
        live = super()._ask(*name.split("."), args, kwargs)
        live = self._change(name, wire_format.unpack(wire_format.pack(live)))
        answer = super().call(name, args, kwargs)
        if not is_close(answer, live):
            self.problems.append(f"{name} differs")
        return answer

    def _ask(self, module, function, args, kwargs):
        self.problems.append(f"{module}.{function} is missing")
        return super()._ask(module, function, args, kwargs)

    def find_problems(self):
        """Run all checks of the official solutions, and return what is wrong with the memo."""
        ask_everything(self, TRANSFORMER)
        for path in sorted(self._folder.glob("*/answers.memo")):
            module = path.parent.name
            unused = set(read_shipped(path)) - set(self._memo.used.get(module, ()))
            self.problems += [f"{module}: {key} is left over" for key in unused]
        return self.problems


def is_close(a, b):
    """Return whether two answers agree within a tenth of what is allowed to students."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(is_close(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(is_close, a, b))
    if isinstance(a, (np.ndarray, float)) and np.asarray(a).dtype.kind == "f":
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        with np.errstate(invalid="ignore"):
            near = np.abs(a - b) <= 0.1 * TOLERANCES[a.dtype].allowed(b)
        return bool((near | (a == b) | (np.isnan(a) & np.isnan(b))).all())
    return np.array_equal(a, b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)


def next_float(function, answer):
    """Move every finite floating point number of an answer by one unit in the last place.

    Numbers in half precision are left: nothing is computed with them, they are only copied.
    """
    if isinstance(answer, dict):
        return {key: next_float(function, value) for key, value in answer.items()}
    if isinstance(answer, (tuple, list)):
        return type(answer)(next_float(function, value) for value in answer)
    if isinstance(answer, np.ndarray) and answer.dtype in (np.float32, np.float64):
        return np.where(np.isfinite(answer), np.nextafter(answer, np.asarray(np.inf, answer.dtype)), answer)
    return type(answer)(np.nextafter(answer, np.inf)) if isinstance(answer, float) else answer


@pytest.mark.slow
def test_shipped_memo_on_another_processor_agrees():
    moved = set()

    def change(function, answer):
        changed = next_float(function, answer)
        if wire_format.pack(changed) != wire_format.pack(answer):
            moved.add(function)
        return changed

    assert ShippedMemoAudit(COURSE, change).find_problems() == [], "make memo"
    assert {"softmax.softmax", "softmax.softmax_backward", "training.train"} < moved
    assert not is_close(1 + 1e-8, 1.0)


@pytest.mark.slow
def test_check_with_warm_memo_does_not_import_torch(solutions):
    code = (
        "import sys; from pathlib import Path; from autograder.engine.session import *\n"
        f"result = check('s', Path({str(solutions)!r}), Options())\n"
        "assert result.passed, [c.message for c in result.checks if c.status != 'passed']\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_reference_without_torch_is_usage_error(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    reference = Reference(Memo(tmp_path), package=TRANSFORMER.package)
    with pytest.raises(UsageError, match=r"install .*\"torch\""):
        reference.softmax.softmax(np.ones(2))


def test_changed_reference_makes_only_answers_stale_that_depend_on_it(tmp_path, monkeypatch):
    package, original = TRANSFORMER.package, registry.folder(TRANSFORMER.package)
    references = original.glob("*/reference.py")
    write_files(tmp_path, {f"{path.parent.name}/reference.py": path.read_bytes() for path in references})
    monkeypatch.setattr(registry, "folder", lambda name: tmp_path)
    before = {module: source_digest(package, module) for module in TRANSFORMER.modules}
    with open(tmp_path / "gpt" / "reference.py", "a") as file:
        file.write("# changed\n")
    changed = {module for module in TRANSFORMER.modules if source_digest(package, module) != before[module]}
    assert changed == {"gpt", "training", "generation", "gpt2"}
