"""Student code that runs in the same interpreter leaves nothing behind, and finds what it left itself.

What holds for student processes of every kind is in test_process.py.
"""

import builtins
import contextlib
import math
import os
import sys
import warnings
from contextlib import closing

import numpy as np
import pytest
from support.editing import write_files

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.student import StudentCode
from autograder.errors import Raised, Verdict
from autograder.sandbox.in_process import InProcessWorkers
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX, SandboxPolicy
from autograder.sandbox.source_reader import SourceReader

WORKERS = InProcessWorkers()


@pytest.fixture
def student(tmp_path):
    students = []

    def make(**modules):
        folder = write_files(tmp_path / f"{len(students)}", {f"{name}.py": text for name, text in modules.items()})
        students.append(StudentCode(WORKERS, folder, TRANSFORMER, Limits()))
        return students[-1]

    yield make
    for student in students:
        student.close()


def state():
    """Return what student code must not change for the rest of the program."""
    streams = (sys.stdin, sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    lists = (list(sys.path), list(sys.meta_path), list(sys.path_hooks), sys.argv, list(warnings.filters))
    functions = (builtins.print, math.exp, np.exp, np.argmax, np.linalg.norm, os._exit, os.abort, open)
    numbers = (np.geterr(), np.get_printoptions(), sys.getrecursionlimit(), sys.dont_write_bytecode, os.getcwd())
    return streams, lists, functions, numbers


CHANGES = {
    "path": ("import sys; sys.path.insert(0, '/student')", "'/student' in sys.path"),
    "finders": ("import sys; sys.meta_path.append(1)", "1 in sys.meta_path"),
    "stdout": ("import sys, io; sys.stdout = io.StringIO()", "type(sys.stdout).__name__ == 'StringIO'"),
    "closed stdout": ("import sys; sys.stdout.close()", "sys.stdout.closed"),
    "recursion": ("import sys; sys.setrecursionlimit(5000)", "sys.getrecursionlimit() > 4000"),
    "NumPy": ("np.exp = lambda x: 7", "np.exp(1) == 7"),
    "a part of NumPy": ("np.linalg.norm = None", "np.linalg.norm is None"),
    "deleted function": ("del np.argmax", "not hasattr(np, 'argmax')"),
    "new attribute": ("np.student = 3", "np.student == 3"),
    "array for a function": ("np.exp = np.ones(3)", "isinstance(np.exp, np.ndarray)"),
    "builtins": ("import builtins; builtins.abs = lambda x: -1", "abs(2) == -1"),
    "math": ("import math; math.exp = abs", "math.exp(-2) == 2"),
    "errors": ("np.seterr(all='raise')", "np.geterr()['divide'] == 'raise'"),
    "print options": ("np.set_printoptions(precision=2)", "np.get_printoptions()['precision'] == 2"),
    "removed module": ("import sys, json; del sys.modules['json']", "True"),
    "replaced module": ("import sys; sys.modules['json'] = 5", "True"),
    "warnings": ("import warnings; warnings.simplefilter('error')", "True"),
    "open": ("import io; io.open = None", "True"),
    "folder": ("import os; os.chdir('/')", "True"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_change_lasts_in_its_process_only(student, name):
    import json

    change, seen = CHANGES[name]
    text = f"import numpy as np\ndef softmax(x):\n    {change}\n    return 1.0\n"
    text += f"def log_softmax(x):\n    import sys, builtins, math\n    return bool({seen})\n"
    before = state()
    first, second = student(softmax=text), student(softmax=text)
    assert first.softmax.softmax(1) == 1.0
    assert state() == before
    assert sys.modules["json"] is json
    assert first.softmax.log_softmax(1) is True
    if name == "new attribute":
        with pytest.raises(Raised, match="AttributeError"):
            second.softmax.log_softmax(1)
    elif seen != "True":
        assert second.softmax.log_softmax(1) is False
    assert state() == before


def test_two_submissions_keep_their_modules_apart(student):
    names = ("softmax", "helper", "later")
    before = [sys.modules.get(name) for name in names]  # another test may have imported a solution
    text = "import helper\ndef softmax(x):\n    from later import NUMBER\n    return helper.NUMBER + NUMBER\n"
    first, second = (student(softmax=text, helper=f"NUMBER = {n}\n", later=f"NUMBER = {10 * n}\n") for n in (1, 2))
    for _ in range(2):
        assert first.softmax.softmax(0) == 11
        assert second.softmax.softmax(0) == 22
    assert [sys.modules.get(name) for name in names] == before


def test_edited_file_is_imported_anew(student, tmp_path):
    code = student(softmax="import helper\ndef softmax(x):\n    return helper.NUMBER\n", helper="NUMBER = 1\n")
    assert code.softmax.softmax(0) == 1
    (tmp_path / "0" / "helper.py").write_text("NUMBER = 2\n", "utf-8")
    assert code.softmax.softmax(0) == 1
    code.new_check("attention.attention")  # another assignment: another process
    assert code.softmax.softmax(0) == 2


def test_line_of_an_edited_file_is_shown(student, tmp_path):
    code = student(softmax="def softmax(x):\n    return 1 / 0\n")
    for text in ("1 / 0", "2 / 0"):
        (tmp_path / "0" / "softmax.py").write_text(f"def softmax(x):\n    return {text}\n", "utf-8")
        code.new_check("attention.attention")
        code.new_check("softmax.softmax")
        with pytest.raises(Raised) as raised:
            code.softmax.softmax(0)
        assert raised.value.exception.trace[-1].text == f"return {text}"


def test_recursion_is_as_deep_as_in_a_process(student):
    code = student(softmax="def softmax(n):\n    return 0 if n == 0 else 1 + softmax(n - 1)\n")
    assert code.softmax.softmax(950) == 950
    with pytest.raises(Raised, match="RecursionError"):
        code.softmax.softmax(1050)


def test_printing_after_the_end_is_lost(student):
    code = student(softmax="def softmax(x):\n    print('now', end='')\n    return 1.0\n")
    code.softmax.softmax(1)
    stdout = code.process._process._state._stdout
    assert code.printed() == "now"
    code.close()
    stdout.write("later")
    stdout.flush()


def test_sandbox_is_refused():
    for policy in (SandboxPolicy(("landlock",)), SandboxPolicy(unsafe=True)):
        with pytest.raises(ValueError, match="process of its own"):
            InProcessWorkers(policy)
    assert InProcessWorkers(NO_SANDBOX).layers == ["in-process"]


def test_source_reader_reads_in_process():
    with closing(SourceReader(WORKERS)) as reader:
        used = reader.used_functions(b"def f(x):\n    return g(x)\ndef g(x):\n    return x\n", ["f", "g"])
        assert used == {"f": {"g"}, "g": set()}
        cells = b'{"cells": [{"cell_type": "code", "source": "def f(x):\\n    return x"}]}'
        assert reader.notebook_modules(cells, {"m": ["f"]}).keys() == {"m.py"}


BREAKS = ["len", "isinstance", "dict", "print", "getattr", "BaseException", "zip", "enumerate", "super", "__import__"]


@pytest.mark.parametrize("name", BREAKS)
def test_broken_builtin_costs_its_process_only(student, name):
    text = f"import builtins\ndef softmax(x):\n    builtins.{name} = None\n    return 1.0\n"
    code, before = student(softmax=text), (state(), dict(vars(builtins)))
    with contextlib.suppress(Verdict):
        code.softmax.softmax(1)
    assert (state(), dict(vars(builtins))) == before
    assert student(softmax="def softmax(x):\n    return float(len([x]))\n").softmax.softmax(1) == 1.0
