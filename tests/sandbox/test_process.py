"""The student's process: whatever happens in it costs one call, says what happened, and the next call works."""

import os
import shutil
from contextlib import closing, nullcontext
from pathlib import Path

import numpy as np
import pytest
from support.editing import write_files
from support.waiting import wait_until

from autograder.core.text import clean
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.student import StudentCode
from autograder.errors import Blocked, Died, Mismatch, NotStarted, Raised, TimedOut, UsageError
from autograder.sandbox import probe
from autograder.sandbox.in_process import InProcessWorkers
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX, SandboxPolicy
from autograder.sandbox.probe import SandboxUnavailable, strongest_level
from autograder.sandbox.process import ForkedWorkers, SpawnedWorkers, start_workers

GOOD = "import numpy as np\ndef log_softmax(x, axis=-1):\n    return np.asarray(x) * 2\n"


WORKERS = {"fork": ForkedWorkers, "spawn": SpawnedWorkers, "in-process": InProcessWorkers}
real_processes = pytest.mark.parametrize("some_workers", ["fork", "spawn"], indirect=True)


@pytest.fixture(scope="module", params=WORKERS)
def some_workers(request):
    if request.param == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    with WORKERS[request.param]() as workers:
        yield workers


@pytest.fixture
def student(some_workers, submission):
    students = []

    def make(text="", modules=None, **limits):
        folder = submission(**{"softmax": GOOD + text, **(modules or {})})
        students.append(StudentCode(some_workers, folder, TRANSFORMER, Limits(**limits)))
        return students[-1]

    yield make
    for student in students:
        student.close()


def still_works(student):
    return student.softmax.log_softmax(21) == 42


def require_failure(student, error, match=None):
    """Call softmax, which must fail like this; return the error."""
    with pytest.raises(error, match=match) as caught:
        student.softmax.softmax(1)
    return caught.value


def test_call_returns_equal_values(student):
    student = student("def softmax(x, axis=-1, temperature=1.0):\n    return x * temperature\n")
    assert student.softmax.softmax(2.0, temperature=1.5) == 3.0
    assert still_works(student)


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 7])
def test_os_exit_costs_one_call(student, code):
    student = student(f"def softmax(x):\n    try:\n        import os; os._exit({code})\n    except BaseException: 0\n")
    require_failure(student, Died, rf"exit code {code} \(os\._exit")
    assert still_works(student)


@real_processes
@pytest.mark.slow
@pytest.mark.parametrize(("body", "words"), [
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    ("import os; os.close(3); os.closerange(3, 200)", "its process"),
    ("import os\n    for fd in range(3, 9):\n        try: os.write(fd, b'x' * 100)\n        except OSError: 0",
     "its process"),
])  # fmt: skip
def test_process_that_ends_costs_one_call(student, body, words):
    student = student(f"def softmax(x):\n    {body}\n")
    require_failure(student, Died, words)
    assert still_works(student)


@pytest.mark.slow
@real_processes
@pytest.mark.parametrize("body", [
    "while True: pass", "import time; time.sleep(3600)",
    "import signal\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 60))\n    while True: pass",
])  # fmt: skip
def test_endless_loop_times_out(student, body):
    student = student(f"def softmax(x):\n    {body}\n", call_seconds=1.0, retry_seconds=0.1)
    assert still_works(student)
    reason = "was asleep for more than 2 s" if "sleep" in body else "used more than 1 s of CPU time"
    require_failure(student, TimedOut, f"softmax was stopped: it {reason}")
    require_failure(student, TimedOut, r"more than 0\.[12] s")
    student.usage.slow.clear()
    assert still_works(student)


def test_exception_has_its_location(student):
    student = student("def softmax(x):\n    if x < -20:\n        return x / 0\n    return softmax(x - 1)\n")
    error = require_failure(student, Raised, r"ZeroDivisionError in .*line 6")
    assert error.exception.trace[-1].text == "return x / 0", "of many lines, the innermost ones"
    assert still_works(student)


@pytest.mark.slow
@pytest.mark.parametrize("exception", ["SystemExit(0)", "KeyboardInterrupt", "GeneratorExit", "BaseException('x')"])
def test_base_exceptions_do_not_end_the_process(student, exception):
    student = student(f"def softmax(x):\n    raise {exception}\n")
    require_failure(student, Raised, exception.partition("(")[0])
    assert still_works(student)


def test_unwritten_prerequisite_blocks(student):
    attention = "from softmax import softmax\ndef attention(q, k, v, mask=None):\n    return softmax(q)\n"
    softmax = (
        "def softmax(x):\n    return cross_entropy(x, x)\ndef cross_entropy(x, y):\n    raise NotImplementedError\n"
    )
    with pytest.raises(Blocked) as caught:
        student(softmax, {"attention": attention}).attention.attention(1, 2, 3)
    assert caught.value.needed == "softmax.cross_entropy"


def test_syntax_error_affects_only_its_module(student):
    student = student(modules={"layernorm": "x = 1\ndef layernorm(x:\n    return x\n"})
    with pytest.raises(Raised, match=r"layernorm\.py: .*line 2"):
        student.layernorm.layernorm(1, 2, 3)
    assert still_works(student)


def test_what_is_not_written_is_not_started(student):
    require_failure(student("def softmax(x):\n    raise NotImplementedError('softmax.softmax')\n"), NotStarted)
    empty = student()
    require_failure(empty, NotStarted, "no function softmax")
    with pytest.raises(NotStarted, match=r"no file layernorm\.py"):
        empty.layernorm.layernorm(1, 2, 3)


@pytest.mark.parametrize("line", [
    "import torch", "import matplotlib.pyplot as torch", "import os, torch.nn, sys",
    "from torch.nn import functional as torch", "import torch; import scipy.special",
])  # fmt: skip
def test_import_of_another_package_costs_only_what_uses_it(student, line):
    modules = {"attention": "import softmax as own\ndef attention(q, k, v):\n    return own.log_softmax(q)\n"}
    student = student(f"{line}\ndef softmax(x):\n    return torch.log(x)\n", modules)
    require_failure(student, Raised, r"softmax\.py.*No module named '(torch|matplotlib)'")
    assert still_works(student)
    assert student.attention.attention(21, 1, 1) == 42


PACKAGES = ("torch", "autograder", "autograder.engine", "pytest", "scipy", "tokenizers")
USES = ("torch(x)", "torch[x]", "isinstance(x, torch)", "[*torch]", "torch.a", "not torch")
AT_ONCE = (
    "from torch import *", "import torch\nx = torch.zeros(1)", "from torch.nn import Module\nclass Net(Module): pass",
    "import numpy.nowhere", "import softmax2, torch\nsoftmax2.x",
)  # fmt: skip
NO_TORCH = r"ModuleNotFoundError in softmax\.py, line .: No module named 'torch'"


@pytest.mark.parametrize(("text", "match"), [
    ("class E(Exception):\n    def __str__(self): raise self\ndef softmax(x):\n    raise E\n", "softmax raised E"),
    *((f"from torch import torch\ndef softmax(x):\n    return {use}\n", NO_TORCH) for use in USES),
    *((f"{top}\ndef softmax(x):\n    return 1\n", "ModuleNotFoundError") for top in AT_ONCE),
    *(pytest.param(f"def softmax(x):\n    import {name}\n", "ModuleNotFoundError", marks=pytest.mark.slow)
      for name in PACKAGES),
])  # fmt: skip
def test_exceptions_of_all_kinds_are_reported(student, text, match):
    require_failure(student(text), Raised, match)


LOOK_AROUND = """import sys
def softmax(x):
    return [[p for p in sys.path if 'site-packages' in p],
            [m for m in sys.modules if m.startswith(('torch', 'autograder', '_pytest', 'rich'))]]
"""


@pytest.mark.parametrize(("text", "answer"), [
    ("import regex\ndef softmax(x):\n    return regex.findall(r'\\p{L}+', x)\n", ["où", "là"]),
    # A failed import that the file catches stays its own, and the grader is not visible.
    ("try:\n    import torch\nexcept ImportError:\n    torch = 7\ndef softmax(x):\n    return torch\n", 7),
    (LOOK_AROUND, [[], []]),
], ids=["regex", "caught", "grader"])  # fmt: skip
def test_import_that_works_or_is_caught(student, text, answer):
    assert student(text).softmax.softmax("où 12, là") == answer


@real_processes
def test_environment_is_not_visible_to_the_student(student):
    environment = student("import os\ndef softmax(x):\n    return sorted(os.environ)\n").softmax.softmax(1)
    threads = {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"}
    # LC_CTYPE is set by Python itself.
    assert set(environment) <= {*threads, "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "LC_CTYPE"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["numpy", "regex", "random", "json", "conftest", "sitecustomize", "frames", "serve"])
def test_student_module_shadows_no_library(student, name):
    assert still_works(student("import regex\n", {name: "raise SystemExit('shadowed')\n"}))


def test_output_is_that_of_the_last_call_and_clean(student):
    student = student("def softmax(x):\n    print('[bold]hello[/bold]', x, '\\x1b[31mred\\x07')\n    return x\n")
    assert student.softmax.softmax(7) == 7 and student.softmax.softmax(3) == 3
    assert student.printed().split("(before the last call:)\n") == [f"[bold]hello[/bold] {x} red\n" for x in (3, 7)]
    assert student.printed() == ""


def test_long_output_is_shortened(student):
    student = student("def softmax(x):\n    print('y' * 3_000_000)\n    return x\n")
    assert student.softmax.softmax(3) == 3 and len(student.printed()) < 5000


def test_output_beyond_the_limit_is_an_error(student):
    text = "def softmax(x):\n    for _ in range(10_000):\n        print('y' * 10_000, flush=True)\n"
    student = student(text, output_bytes=1 << 20)
    require_failure(student, Raised, "File too large")
    assert os.fstat(student.process._output.fileno()).st_size <= 1 << 20
    assert len(student.printed()) < 5000


def test_output_before_a_crash_is_kept(student):
    student = student("import os\ndef softmax(x):\n    print('last words', flush=True)\n    os._exit(1)\n")
    require_failure(student, Died)
    assert student.printed() == "last words\n"


@pytest.mark.slow
def test_unsendable_results_are_opaque(student):
    student = student(
        "def softmax(x):\n    y = []\n    y.append(y)\n    return y\n"
        "def cross_entropy(a, b):\n    return np.zeros(2**24)\n"
    )
    require_failure(student, Mismatch, "nested too deeply")
    with pytest.raises(Mismatch, match="too large"):
        student.softmax.cross_entropy(1, 2)
    assert still_works(student)


@pytest.mark.slow
@pytest.mark.parametrize(("line", "make", "modified"), [
    ("x -= 1", lambda: np.ones(3), ["x"]), ("x.append(np.ones(1))", list, ["x[0]"]),
    ("x['step'] += 1", lambda: {"step": 3, "rate": 0.5}, ["x['step']"]),
], ids=["array", "added array", "number in a dictionary"])  # fmt: skip
def test_modified_inputs_are_named(student, line, make, modified):
    student = student(f"def softmax(x):\n    {line}\n    return 0\n")
    student.softmax.softmax(make())
    assert student.calls[-1].modified == modified
    student.softmax.log_softmax(np.ones(3))
    assert student.calls[-1].modified == []


def test_numpy_warnings_are_recorded(student):
    student = student("def softmax(x):\n    return np.log(np.zeros(1))\n")
    student.softmax.softmax(1)
    assert "divide by zero" in student.calls[-1].warnings[0]
    assert student.calls[-1].warnings[0].startswith("softmax.py:5")


@pytest.mark.slow
def test_next_submission_starts_fresh(some_workers, submission, tmp_path):
    text = "import numpy as np\nnp.exp = None\nnp.ones.__globals__.clear\ndef softmax(x):\n    return 1\n"
    first = StudentCode(some_workers, submission(softmax=text), TRANSFORMER, Limits())
    first.softmax.softmax(1)
    good = "import numpy as np\ndef softmax(x):\n    return np.exp(0.0)\n"
    second = StudentCode(some_workers, write_files(tmp_path / "other", {"softmax.py": good}), TRANSFORMER, Limits())
    assert second.softmax.softmax(1) == 1.0
    first.close()
    second.close()


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs /proc")
def test_memory_of_a_process_holds_no_path_of_an_earlier_submission(workers, tmp_path):
    text = """
import re
def softmax(x):
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        ranges = [line.split()[0].split("-") for line in maps if " rw" in line]
        found = set()
        for start, end in ranges:
            memory.seek(int(start, 16))
            found.update(re.findall(b"folder-of-([0-9a-f]{8})", memory.read(int(end, 16) - int(start, 16)) or b""))
    return sorted(name.decode() for name in found)
"""
    for name in ("0a1b2c3d", "4e5f6789"):
        folder = write_files(tmp_path / f"folder-of-{name}", {"softmax.py": text})
        with closing(StudentCode(workers, folder, TRANSFORMER, Limits())) as student:
            assert student.softmax.softmax(1) == [name]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no server without fork")
@pytest.mark.parametrize("sandboxed", [False, True])
def test_server_that_dies_is_replaced(submission, tmp_path, sandboxed):
    import signal

    try:
        sandbox = strongest_level(tmp_path) if sandboxed else NO_SANDBOX
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    with ForkedWorkers(sandbox=sandbox) as workers:
        student = StudentCode(workers, submission(softmax=GOOD), TRANSFORMER, Limits())
        assert still_works(student)
        workers._server._server.process.send_signal(signal.SIGKILL)
        workers._server._server.process.wait()
        try:
            # The sandbox ends what is in it when the process sandbox it has died, which takes it a moment.
            with pytest.raises(Died):
                wait_until(lambda: not still_works(student))
            assert still_works(student)
        finally:
            student.close()


@pytest.mark.parametrize(("missing", "tried"), [("bubblewrap", [0, 1]), ("landlock", [0, 2]), ("seccomp", [0])])
def test_level_with_a_mechanism_that_does_not_hold_is_not_used(monkeypatch, missing, tried):
    levels, is_last = [], missing == "seccomp"  # which every level has

    def prove(level, *_):
        levels.append(level)
        return (None, {missing: "gone"}) if missing in level else ("sandbox", {})

    monkeypatch.setattr(probe, "prove", prove)
    with pytest.raises(SandboxUnavailable, match="seccomp: gone") if is_last else nullcontext():
        assert strongest_level(Path()) == "sandbox"
    assert levels == [probe.LEVELS[number] for number in tried]


def test_start_failure_raises_worker_unavailable(submission):
    with (
        ForkedWorkers(sandbox=SandboxPolicy(python=shutil.which("false"))) as workers,
        closing(StudentCode(workers, submission(softmax=GOOD), TRANSFORMER, Limits())) as student,
        pytest.raises(UsageError, match="headway doctor"),
    ):
        still_works(student)


@pytest.mark.slow
def test_library_path_is_passed_to_the_child(submission, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/of/a/cluster")
    folder = submission(softmax="import os\ndef softmax(x):\n    return sorted(os.environ)\n")
    with start_workers() as workers, closing(StudentCode(workers, folder, TRANSFORMER, Limits())) as student:
        named = student.softmax.softmax(1)
    assert "LD_LIBRARY_PATH" in named and "HOME" not in named and "PATH" not in named


@pytest.mark.parametrize(("text", "shown"), [
    ("plain [b]text[/b]", "plain [b]text[/b]"), ("\x1b[2J\x1b]0;title\x07x", "x"),
    ("a\u202eb\u2066c", "abc"), ("a\u2028b\u200e\u061cc\u200b\ufeffd\uffff", "abcd"),
    ("\u0646\u200c\u0647 👩\u200d💻", "\u0646\u200c\u0647 👩\u200d💻"),
    ("tab\tand\nline", "tab\tand\nline"), ("lone \udc80", "lone ?"),
])  # fmt: skip
def test_clean_removes_unsafe_characters(text, shown):
    assert clean(text) == shown
