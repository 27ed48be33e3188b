"""Graded hints: complete, never the solution, one more at a time, whatever lies in the workspace."""

import ast
import json
import re
import shlex
from functools import cache

import numpy as np
import pytest
from support.built_in import solution_module
from support.commands import invoke, refusal, succeed

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace import hints, state

LONG_ENOUGH = 12  # characters without spaces: `x = as_float(x)` counts, `return x` does not


def squeezed(text):
    return "".join(text.split())


@cache
def lines_of(module):
    """Function of a solution -> its code without spaces: lines, statements, and what is assigned or returned.

    The private helpers of the module count as code of each of its functions.
    """
    text = (bundled("solutions") / f"{module}.py").read_text("utf-8")
    found, helpers = {}, set()
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef):
            if isinstance(node, ast.Assign):
                helpers |= {squeezed(ast.unparse(node.value))}
            continue
        body = node.body[1:] if ast.get_docstring(node) else node.body
        code = set()
        for line in text.splitlines()[body[0].lineno - 1 : node.end_lineno]:
            code.add(squeezed(line.partition("  #")[0]))
        for part in (part for statement in body for part in ast.walk(statement)):
            if isinstance(part, ast.stmt) and not isinstance(part, (ast.If, ast.For, ast.While, ast.Try, ast.With)):
                code.add(squeezed(ast.unparse(part)))
                if getattr(part, "value", None) is not None:
                    code.add(squeezed(ast.unparse(part.value)))
        if node.name.startswith("_"):
            helpers |= code
        else:
            found[node.name] = code
    return {name: {line for line in code | helpers if len(line) >= LONG_ENOUGH} for name, code in found.items()}


def test_hints_cover_exactly_the_functions():
    names = [f"{module}.{name}" for module in TRANSFORMER.modules for name in hints.load(module, TRANSFORMER.package)]
    assert names == list(TRANSFORMER.functions)


@pytest.mark.parametrize("function", TRANSFORMER.functions)
def test_hints_are_three_and_do_not_contain_the_solution(function):
    steps = hints.steps(function, TRANSFORMER.package)
    assert len(steps) == len(hints.KINDS) == 3
    assert all(step.strip() for step in steps)
    assert len(set(steps)) == 3 and "?" in steps[0]
    module, _, name = function.partition(".")
    lines = lines_of(module)[name]
    assert lines
    assert [line for step in steps for line in lines if line in squeezed(step)] == []


MODULES_WITH_CASES = ("softmax", "embeddings", "attention", "multihead")


@pytest.mark.parametrize("function", [f for f in TRANSFORMER.functions if f.split(".")[0] in MODULES_WITH_CASES])
def test_small_case_in_the_second_hint_is_correct(function):
    """It defines arrays as `name = value`, and says what the official solution returns as: `call` gives `value`."""
    module, _, name = function.partition(".")
    known = {**vars(solution_module(module)), "np": np}
    tried = 0
    shown = r"`([^`]*)`(?:,? gives `([^`]*)`)?"
    for code, expected in re.findall(shown, hints.steps(function, TRANSFORMER.package)[1]):
        if re.match(r"\w+(, \w+)* = ", code):
            exec(code, known)
        elif expected:
            np.testing.assert_allclose(np.asarray(eval(code, known)), np.array(eval(expected)), atol=5e-5, rtol=0)
            tried += code.startswith(f"{name}(")
    assert tried >= 1


def test_hint_with_a_line_of_the_solution_is_found():
    assert squeezed("z -= z.max(axis=axis)") not in lines_of("softmax")["softmax"]
    assert squeezed("np.exp(z, out=z)") in lines_of("softmax")["softmax"]
    assert squeezed("np.maximum(as_float(x), 0)") in lines_of("ffn")["relu"]


def steps_in(done, function="softmax.softmax"):
    """How many steps of the function were printed, in order, whole."""
    assert done.returncode == 0, done.stderr
    text = squeezed(done.stdout)
    starts = [text.find(squeezed(step)) for step in hints.steps(function, TRANSFORMER.package)]
    found = [start for start in starts if start >= 0]
    assert found == sorted(found)
    assert starts[: len(found)] == found
    return len(found)


@pytest.fixture
def workspace(submission):
    return submission(softmax="def softmax(x, axis=-1, temperature=1.0): ...\n")


def remembered(workspace):
    return json.loads((workspace / state.FILE).read_text("utf-8"))


def test_hint_more_shows_one_more_each_time(workspace):
    first = invoke("hint", "softmax.softmax", cwd=workspace)
    assert steps_in(first) == 1
    assert "headway hint softmax.softmax --more" in first.stdout and "headway check softmax.softmax" in first.stdout
    assert remembered(workspace) == {"hints": {"softmax.softmax": 1}}
    assert steps_in(invoke("hint", "softmax.softmax", cwd=workspace)) == 1  # asking again shows nothing new
    assert steps_in(invoke("hint", "softmax.softmax", "--more", cwd=workspace)) == 2
    assert steps_in(invoke("hint", "softmax.softmax", cwd=workspace)) == 2
    for _ in range(2):
        last = invoke("hint", "softmax.softmax", "--more", cwd=workspace)
        assert steps_in(last) == 3
        assert "no more hints" in last.stdout and "headway check softmax.softmax" in last.stdout
        assert "--more" not in last.stdout
    assert remembered(workspace) == {"hints": {"softmax.softmax": 3}}
    assert max(map(len, last.stdout.splitlines())) <= 80
    assert "\x1b" not in last.stdout


def test_hint_counts_per_function_and_keeps_unknown_keys(workspace):
    (workspace / state.FILE).write_text('{"watch": {"last": [1, 2]}, "hints": {"gpt.gpt": 2, "no.more": "x"}}')
    invoke("hint", "softmax.log_softmax", "--more", cwd=workspace)
    counts = {"gpt.gpt": 2, "no.more": "x", "softmax.log_softmax": 2}
    assert remembered(workspace) == {"watch": {"last": [1, 2]}, "hints": counts}


def test_hint_dir_selects_the_workspace(workspace, tmp_path):
    workspace = workspace.rename(tmp_path / "ada's work")
    done = invoke("hint", "softmax.softmax", "--dir", workspace, cwd=tmp_path, COLUMNS="300")
    assert steps_in(done) == 1
    assert f"--more --dir {shlex.quote(str(workspace))}" in done.stdout
    assert remembered(workspace)["hints"] == {"softmax.softmax": 1}
    assert "headway init nowhere" in refusal("hint", "softmax.softmax", "--dir", "nowhere", cwd=tmp_path)


def test_hint_outside_a_workspace_records_nothing(tmp_path):
    assert steps_in(invoke("hint", "softmax.softmax", cwd=tmp_path)) == 1
    two = invoke("hint", "softmax.softmax", "--more", cwd=tmp_path)
    assert steps_in(two) == 2
    assert "headway hint softmax.softmax --more --more" in two.stdout
    assert steps_in(invoke("hint", "softmax.softmax", "--more", "--more", cwd=tmp_path)) == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["softmax", str(TRANSFORMER.modules["softmax"].number), "softmax.py"])
def test_hint_for_an_assignment_lists_its_functions(name, workspace):
    (workspace / state.FILE).write_text('{"hints": {"softmax.log_softmax": 2}}')
    done = succeed("hint", name, "--more", cwd=workspace)
    for function in TRANSFORMER.modules["softmax"].functions:
        assert f"headway hint {function.qualified}" in done.stdout
    assert sum("softmax.log_softmax" in line and "2" in line for line in done.stdout.splitlines()) == 1
    assert remembered(workspace) == {"hints": {"softmax.log_softmax": 2}}


@pytest.mark.parametrize(("name", "words"), [
    ("sotfmax", "Did you mean 'softmax'"), ("softmax.sofmax", "Did you mean 'softmax.softmax'"), ("", "headway list"),
])  # fmt: skip
def test_hint_unknown_name_is_one_line(name, words, tmp_path):
    assert words in refusal("hint", name, cwd=tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1, 2]", b"null", bytes(range(256)), b'{"hints": 7}', b"[" * 100_000, b'{"a": ' + b"9" * 9999 + b"}"],
    ids=["empty", "cut off", "a list", "null", "bytes", "hints a number", "deep", "long number"],
)
def test_hint_damaged_state_is_reported_and_replaced(content, workspace):
    (workspace / state.FILE).write_bytes(content)
    done = invoke("hint", "softmax.softmax", cwd=workspace)
    assert steps_in(done) == 1
    assert state.FILE in done.stderr and len(done.stderr.splitlines()) == 1
    assert remembered(workspace) == {"hints": {"softmax.softmax": 1}}
    assert invoke("hint", "softmax.softmax", cwd=workspace).stderr == ""


@pytest.mark.parametrize("count", [-1, 0, 7, True, "2", None, 1.5, [2]])
def test_hint_invalid_count_is_ignored(count, workspace):
    (workspace / state.FILE).write_text(json.dumps({"hints": {"softmax.softmax": count}}))
    assert steps_in(invoke("hint", "softmax.softmax", cwd=workspace)) == (3 if count == 7 else 1)


def test_hint_unwritable_state_still_shows_the_hint(workspace):
    (workspace / state.FILE).mkdir()
    done = invoke("hint", "softmax.softmax", cwd=workspace)
    assert steps_in(done) == 1
    assert ".headway.json" in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in workspace.iterdir() if path.name.startswith(".tmp-")] == []
