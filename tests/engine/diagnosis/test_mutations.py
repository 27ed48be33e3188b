"""Mutations of the official solutions."""

import ast

import pytest
from support.built_in import mutations, solution_source, source_with_mistakes

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.mistake import CONSTANT
from autograder.engine.diagnosis.mutations import _exchanged_targets


@pytest.mark.parametrize("function", TRANSFORMER.functions)
def test_mutated_number_is_no_size(function):
    """An array or a loop of 10¹² steps would use up the memory of the grader, or its time."""
    for mistake in mutations(function):
        for _, new in mistake.edits:
            for call in ("arange(", "zeros(", "ones(", "empty(", "range(", "// "):
                _, found, after = new.partition(call)
                assert not found or CONSTANT not in after.partition(")" if call.endswith("(") else " ")[0], new


@pytest.mark.parametrize(("function", "title", "code"), [
    ("layernorm.rmsnorm", "a term is added outside of the root", "x.shape[-1]) + float(eps)"),
    ("softmax.cross_entropy", "mean divides by the number of values minus 1", "np.ones_like(picked).sum() - 1"),
    ("gradients.matmul_backward", "the matrix dout is transposed in da", "np.swapaxes(dout, -1, -2)"),
    ("attention.attention", "k and v are exchanged", "q, v, k = "),
    ("softmax.softmax", "axis is ignored: it is always -1", "    axis = -1\n"),
    ("gradients.numerical_gradient", "a position of x is one too large", "x[(place) + 1]"),
    ("counting.bigram_counts", "a slice of ids begins one later", "ids[(1) + 1:]"),
    ("generation.next_token_probs", "of equal values, the last one is taken", "- 1 - np.flip("),
    ("generation.next_token_probs", "of equal values, the last one comes first", "- 1 - np.argsort(np.flip(-logits, "),
    ("multihead.split_heads", "a reshape takes the place of swapped axes", "np.reshape(x.reshape("),
    ("embeddings.sinusoidal_positions", "a quotient is rounded up", "-(-(d_model) // (2))"),
    ("attention.attention_backward", "k is used in dk, not q", "dscores.swapaxes(-1, -2) @ k"),
])  # fmt: skip
def test_change_of_a_step_is_derived(function, title, code):
    sources = [source_with_mistakes(found) for found in mutations(function) if found.title.startswith(title)]
    assert any(code in source for source in sources) and code not in solution_source(function.partition(".")[0])


def test_loop_that_may_become_endless_is_not_changed():
    assert mutations("bpe.train_bpe") == ()


def test_parts_of_a_chained_assignment_are_exchanged():
    assert [new for _, new, _ in _exchanged_targets(ast.parse("a, b = c = f()").body[0], set())] == ["b, a"]
