"""Official solutions on inputs that checks cannot send: they arrive contiguous in memory."""

import ast
import re
from pathlib import Path

import numpy as np
from support.built_in import solution_module

from autograder.courses import transformer

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
