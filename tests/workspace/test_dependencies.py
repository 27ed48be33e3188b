"""What a save can change: fingerprints over names that are used, helpers and other modules included."""

from pathlib import Path

import pytest

from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum.stubs import bundled
from autograder.workspace import dependencies


@pytest.fixture
def workspace(tmp_path):
    for path in bundled("solutions").glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def edited(workspace: Path, module: str, old: str, new: str) -> tuple[dependencies.Snapshot, dependencies.Snapshot]:
    before = dependencies.take(workspace, TRANSFORMER)
    path = workspace / f"{module}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return before, dependencies.take(workspace, TRANSFORMER, before)


def test_comments_blank_lines_and_docstrings_change_nothing(workspace):
    before, after = edited(workspace, "softmax", "import numpy as np\n", "import numpy as np  # the library\n\n\n")
    assert after.changes(before) == ()
    before, after = edited(workspace, "softmax", "Softmax of `x / temperature`", "Something else")
    assert after.changes(before) == ()


def test_a_function_alone_changes_itself_and_what_is_built_on_it(workspace):
    path = workspace / "ffn.py"
    before = dependencies.take(workspace, TRANSFORMER)
    path.write_text(path.read_text().replace("def gelu_exact(x):", "def gelu_exact(x, *, unused=None):"))
    after = dependencies.take(workspace, TRANSFORMER, before)
    assert after.own_changes(before) == ("ffn.gelu_exact",)
    assert after.changes(before) == ("ffn.gelu_exact",)


def test_a_given_helper_reaches_other_modules(workspace):
    before, after = edited(
        workspace, "softmax", "x = np.asarray(x)\n    return x if", "x = np.array(x)\n    return x if"
    )
    mine = after.own_changes(before)
    assert mine == TRANSFORMER.select(["softmax"])
    assert "attention.attention" in after.changes(before)
    assert "tokenizer.encode" not in after.changes(before)


def test_a_statement_that_binds_nothing_counts_for_its_whole_module(workspace):
    before, after = edited(
        workspace, "layernorm", "import numpy as np\n", "import numpy as np\n\nnp.seterr(all='ignore')\n"
    )
    assert after.own_changes(before) == TRANSFORMER.select(["layernorm"])


def test_a_default_that_is_evaluated_can_stop_the_whole_module(workspace):
    before, after = edited(workspace, "layernorm", "def rmsnorm(x, gamma, eps=1e-5", "def rmsnorm(x, gamma, eps=1/0")
    assert after.own_changes(before) == TRANSFORMER.select(["layernorm"])


def test_helper_files_of_ones_own(workspace):
    (workspace / "tools.py").write_text("def half(x):\n    return x / 2\n")
    before, after = edited(workspace, "ffn", "import numpy as np\n", "import numpy as np\nfrom tools import half\n")
    assert after.changes(before) == ()  # nobody uses it yet
    before, after = edited(workspace, "ffn", "def relu(x):", "def relu(x, by=half):")
    (workspace / "tools.py").write_text("def half(x):\n    return x * 0.5\n")
    again = dependencies.take(workspace, TRANSFORMER, after)
    assert "ffn.relu" in again.changes(after)
    assert again.own_changes(after)


def test_syntax_errors_deleted_files_and_strange_bytes(workspace):
    before = dependencies.take(workspace, TRANSFORMER)
    (workspace / "softmax.py").write_text("def softmax(:\n")
    broken = dependencies.take(workspace, TRANSFORMER, before)
    assert set(TRANSFORMER.select(["softmax"])) <= set(broken.changes(before))
    assert not broken.is_stub("softmax.softmax")
    (workspace / "softmax.py").unlink()
    gone = dependencies.take(workspace, TRANSFORMER, broken)
    assert set(TRANSFORMER.select(["softmax"])) <= set(gone.changes(broken))
    (workspace / "softmax.py").write_bytes(b"\x00\xff" * 10)
    assert dependencies.take(workspace, TRANSFORMER).modules["softmax"].error is not None
    (workspace / "attention.py").unlink()
    (workspace / "attention.py").mkdir()
    assert "attention" not in dependencies.take(workspace, TRANSFORMER).modules


@pytest.mark.parametrize("terms", [1000, 2000, 100_000])
def test_code_that_is_nested_too_deeply_is_one_more_fingerprint(workspace, terms):
    before = dependencies.take(workspace, TRANSFORMER)
    with (workspace / "softmax.py").open("a") as file:
        file.write(f"\nX = {' + '.join(['1'] * terms)}\n")
    after = dependencies.take(workspace, TRANSFORMER)
    assert after.modules["softmax"].error is not None
    assert after.prints["softmax.softmax"] != before.prints["softmax.softmax"]
    assert not after.is_stub("softmax.softmax"), "nobody knows"


def test_stubs_are_told_from_work():
    stubs = dependencies.take(bundled("assignments"), TRANSFORMER)
    assert all(stubs.is_stub(name) for name in TRANSFORMER.functions)
    solved = dependencies.take(bundled("solutions"), TRANSFORMER)
    assert not any(solved.is_stub(name) for name in TRANSFORMER.functions)


def test_functions_that_use_each_other_have_fingerprints(tmp_path):
    (tmp_path / "ffn.py").write_text("from softmax import f\ndef relu(x):\n    return f(x)\n")
    (tmp_path / "softmax.py").write_text("from ffn import relu\ndef f(x):\n    return relu(x)\n")
    one = dependencies.take(tmp_path, TRANSFORMER)
    (tmp_path / "softmax.py").write_text("from ffn import relu\ndef f(x):\n    return relu(x) + 1\n")
    assert "ffn.relu" in dependencies.take(tmp_path, TRANSFORMER, one).changes(one)


def test_an_experiment_changes_nothing_and_uses_nothing(workspace):
    """What stands under `if __name__ == "__main__":` is for `python softmax.py`; no check imports it."""
    before, after = edited(workspace, "softmax", "for lead in (1.0, 5.0, 20.0):", "for lead in (2.0, 5.0, 20.0):")
    assert after.changes(before) == ()
    path = workspace / "softmax.py"
    path.write_text(path.read_text() + "\nif True:\n    print(softmax([1.0]))\n")
    assert "softmax.softmax" in dependencies.take(workspace, TRANSFORMER, after).changes(after)
