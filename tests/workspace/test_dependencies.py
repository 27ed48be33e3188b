"""Fingerprints: which functions a change may affect, through helpers and other modules."""

import shutil

import pytest
from support.editing import edit

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace.dependencies import take_snapshot


@pytest.fixture
def workspace(tmp_path):
    return shutil.copytree(bundled("solutions"), tmp_path / "solutions")


def edited(workspace, module, old, new):
    """Return the snapshots before and after an edit."""
    before = take_snapshot(workspace, TRANSFORMER)
    edit(workspace / f"{module}.py", old, new)
    return before, take_snapshot(workspace, TRANSFORMER, before)


@pytest.mark.slow
def test_comments_and_docstrings_affect_nothing(workspace):
    before, after = edited(workspace, "softmax", "import numpy as np\n", "import numpy as np  # the library\n\n\n")
    assert after.affected_functions(before) == ()
    before, after = edited(workspace, "softmax", "softmax of `x / temperature`", "something else")
    assert after.affected_functions(before) == ()


@pytest.mark.slow
def test_signature_change_affects_only_that_function(workspace):
    before, after = edited(workspace, "ffn", "def relu_backward(dout, x", "def relu_backward(dout, x, *, unused=None")
    assert after.edited_functions(before) == ("ffn.relu_backward",)
    assert after.affected_functions(before) == ("ffn.relu_backward",)


def test_helper_change_affects_other_modules(workspace):
    before, after = edited(workspace, "softmax", "np.asarray(x)\n    return x if", "np.array(x)\n    return x if")
    assert after.edited_functions(before) == TRANSFORMER.select(["softmax"])
    assert "attention.attention" in after.affected_functions(before)
    assert "tokenizer.encode" not in after.affected_functions(before)


@pytest.mark.parametrize(("old", "new"), [
    ("import numpy as np\n", "import numpy as np\n\nnp.seterr(all='ignore')\n"),
    ("def rmsnorm(x, gamma, eps=1e-5", "def rmsnorm(x, gamma, eps=1/0"),
], ids=["unbound statement", "evaluated default"])  # fmt: skip
def test_code_that_an_import_runs_affects_its_whole_module(workspace, old, new):
    before, after = edited(workspace, "layernorm", old, new)
    assert after.edited_functions(before) == TRANSFORMER.select(["layernorm"])


@pytest.mark.slow
def test_student_helper_file_affects_its_users(workspace):
    (workspace / "tools.py").write_text("def half(x):\n    return x / 2\n")
    before, after = edited(workspace, "ffn", "import numpy as np\n", "import numpy as np\nfrom tools import half\n")
    assert after.affected_functions(before) == ()  # it is not used yet
    before, after = edited(workspace, "ffn", "def relu(x):", "def relu(x, by=half):")
    (workspace / "tools.py").write_text("def half(x):\n    return x * 0.5\n")
    again = take_snapshot(workspace, TRANSFORMER, after)
    assert "ffn.relu" in again.affected_functions(after) and again.edited_functions(after)


def test_helper_imported_inside_a_function_affects_it(workspace):
    (workspace / "tools.py").write_text("def half(x):\n    return x / 2\n")
    _, after = edited(workspace, "ffn", "return np.max", "from tools import half\n    return half(1) * np.max")
    (workspace / "tools.py").write_text("def half(x):\n    return x * 0.5\n")
    assert take_snapshot(workspace, TRANSFORMER, after).affected_functions(after)


def test_unreadable_or_missing_file_affects_its_functions(workspace):
    before = take_snapshot(workspace, TRANSFORMER)
    (workspace / "softmax.py").write_text("def softmax(:\n")
    broken = take_snapshot(workspace, TRANSFORMER, before)
    assert set(TRANSFORMER.select(["softmax"])) <= set(broken.affected_functions(before))
    assert not broken.is_stub("softmax.softmax")
    (workspace / "softmax.py").unlink()
    gone = take_snapshot(workspace, TRANSFORMER, broken)
    assert set(TRANSFORMER.select(["softmax"])) <= set(gone.affected_functions(broken))
    (workspace / "softmax.py").write_bytes(b"\x00\xff" * 10)
    assert take_snapshot(workspace, TRANSFORMER).modules["softmax"].parsed.error is not None
    (workspace / "attention.py").unlink()
    assert "attention" not in take_snapshot(workspace, TRANSFORMER).modules


@pytest.mark.parametrize("terms", [1000, 2000, 100_000])
def test_deeply_nested_code_has_a_fingerprint(workspace, terms):
    before = take_snapshot(workspace, TRANSFORMER)
    with (workspace / "softmax.py").open("a") as file:
        file.write(f"\nX = {' + '.join(['1'] * terms)}\n")
    after = take_snapshot(workspace, TRANSFORMER)
    assert after.modules["softmax"].parsed.error is not None
    assert after.fingerprints["softmax.softmax"] != before.fingerprints["softmax.softmax"]
    assert not after.is_stub("softmax.softmax"), "it cannot be known"


def test_is_stub_separates_stubs_from_solutions():
    stubs = take_snapshot(bundled("assignments"), TRANSFORMER)
    assert all(stubs.is_stub(name) for name in TRANSFORMER.functions)
    solved = take_snapshot(bundled("solutions"), TRANSFORMER)
    assert not any(solved.is_stub(name) for name in TRANSFORMER.functions)


def test_mutually_recursive_functions_have_fingerprints(tmp_path):
    (tmp_path / "ffn.py").write_text("from softmax import f\ndef relu(x):\n    return f(x)\n")
    (tmp_path / "softmax.py").write_text("from ffn import relu\ndef f(x):\n    return relu(x)\n")
    one = take_snapshot(tmp_path, TRANSFORMER)
    (tmp_path / "softmax.py").write_text("from ffn import relu\ndef f(x):\n    return relu(x) + 1\n")
    assert "ffn.relu" in take_snapshot(tmp_path, TRANSFORMER, one).affected_functions(one)


def test_experiment_affects_nothing(workspace):
    """Code below `if __name__ == "__main__":` only runs with `python softmax.py`, never in a check."""
    before, after = edited(workspace, "softmax", "for lead in (1.0, 5.0, 20.0):", "for lead in (2.0, 5.0, 20.0):")
    assert after.affected_functions(before) == ()
    further = '\nif __name__ == "__main__" and "further" in sys.argv:\n    print(softmax([1.0]))\n'
    path = workspace / "softmax.py"
    path.write_text(path.read_text() + further)
    assert take_snapshot(workspace, TRANSFORMER, after).affected_functions(after) == ()
    for more in (
        "if True:\n    print(softmax([1.0]))\n",
        'if __name__ == "__main__":\n    pass\nelse:\n    np = None\n',
    ):
        path.write_text(f"{path.read_text()}\n{more}")
        now = take_snapshot(workspace, TRANSFORMER, after)
        assert "softmax.softmax" in now.affected_functions(after)
        after = now
