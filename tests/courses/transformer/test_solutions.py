"""Official solutions on inputs that checks cannot send, which arrive contiguous in memory; and a task to learn.

What their docstrings promise is listed, and each promise has something that breaks it; `headway verify` breaks it.
"""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from support.built_in import broken_source, find_problems, promises_of_module, solution_module

from autograder.authoring.promises import WRAPPERS
from autograder.courses import transformer
from autograder.courses.transformer import TRANSFORMER

COURSE = Path(transformer.__file__).parent


def test_attention_of_any_memory_layout_is_the_same():
    attention = solution_module("attention").attention
    rng = np.random.default_rng(0)
    qkv = [rng.normal(size=(2, 3, 4, 5)) for _ in range(3)]
    expected = attention(*qkv, np.tri(4, dtype=bool))
    for axes in ((1, 0, 2, 3), (2, 1, 0, 3), (3, 2, 1, 0), (1, 2, 3, 0)):
        stored = [np.ascontiguousarray(x.transpose(axes)).transpose(np.argsort(axes)) for x in qkv]
        for actual, wanted in zip(attention(*stored, np.tri(4, dtype=bool)), expected, strict=True):
            np.testing.assert_allclose(actual, wanted)


def test_checks_begin_with_ordinary_values():
    """Of equally telling failures, the report leads with the first."""
    first = {}
    for file in sorted([*COURSE.glob("*/checks.py"), *COURSE.glob("*/checks/*.py")]):
        for node in ast.parse(file.read_text("utf-8")).body:
            for name in re.findall(r"'(\w+\.\w+)'", "".join(map(ast.unparse, getattr(node, "decorator_list", ())))):
                first.setdefault((file, name), ast.get_docstring(node))
    late = "stays float32|not changed|documented error"
    assert len(first) > 80 and [name for name, title in first.items() if re.search(late, title)] == []


@pytest.mark.slow
def test_encoder_decoder_learns_to_reverse():
    t, training = solution_module("encoder_decoder"), solution_module("training")
    rng, start, end = np.random.default_rng(0), 1, 2
    config = t.TransformerConfig(13, 13, n_layers=1, n_heads=4, d_model=32)
    params, state = t.init_transformer(config, rng), {}

    def batch(size, length=5):
        words = rng.integers(3, 13, (size, length))
        edge = np.full((size, 1), start)
        return words, np.hstack([edge, words[:, ::-1]]), np.hstack([words[:, ::-1], np.full_like(edge, end)])

    losses = []
    for _ in range(250):
        source, given, wanted = batch(32)
        log_probs, cache = t.transformer(source, given, params, config)
        losses.append(-float(np.take_along_axis(log_probs, wanted[..., None], -1).mean()))
        dlog_probs = np.zeros_like(log_probs)
        np.put_along_axis(dlog_probs, wanted[..., None], -1.0 / wanted.size, -1)
        params, state = training.adamw_step(params, t.transformer_backward(dlog_probs, cache), state, 3e-3)
    assert losses[0] == pytest.approx(np.log(13), abs=1.0)
    source, _, wanted = batch(100)
    decoded = t.greedy_decode(source, params, config, start, end, 8)
    right = [row[: len(want)].tolist() == want.tolist() for row, want in zip(decoded, wanted, strict=True)]
    assert np.mean(right) >= 0.9, (np.mean(right), losses[-1])


COVERED = [f for f in TRANSFORMER.functions if promises_of_module(f.partition(".")[0])]


@pytest.mark.slow
@pytest.mark.parametrize("function", COVERED)
def test_every_clause_of_a_docstring_is_covered(function):
    assert find_problems(function) == []


def test_promises_name_assigned_functions():
    listed = {name for module in TRANSFORMER.modules for name in promises_of_module(module)}
    assert listed <= set(TRANSFORMER.functions)


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrapper_is_valid_python(name):
    compile(broken_source("softmax.softmax", name), name, "exec")
