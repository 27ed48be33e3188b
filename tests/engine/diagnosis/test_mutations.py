"""Mutations of the official solutions."""

import pytest
from support.built_in import mutations, solution_source, source_with_mistakes

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.mistake import CONSTANT


@pytest.mark.parametrize("function", TRANSFORMER.functions)
def test_mutated_number_is_no_size(function):
    """An array or a loop of 10¹² steps would use up the memory of the grader, or its time."""
    for mistake in mutations(function):
        for _, new in mistake.edits:
            for call in ("arange(", "zeros(", "ones(", "empty(", "range(", "// "):
                _, found, after = new.partition(call)
                assert not found or CONSTANT not in after.partition(")" if call.endswith("(") else " ")[0], new


@pytest.mark.parametrize(
    ("function", "title", "code"),
    [
        ("softmax.softmax", "min is taken, not max", "(z).min(axis=axis, keepdims=True)"),
        ("softmax.log_softmax", "sum is taken without keepdims", "np.exp(z).sum(axis=axis)"),
        ("ffn.relu", "the maximum with 0 is missing", "return (as_float(x))"),
        ("layernorm.rmsnorm", "a term is added outside of the root", "x.shape[-1]) + float(eps)"),
        ("softmax.cross_entropy", "a mean divides by the number of values minus 1", "np.ones_like(picked).sum() - 1"),
        ("llama_layers.silu_backward", "sigmoid is not applied to x", "= (x)"),
        ("embeddings.sinusoidal_positions", "cos is applied in table[:, 0::2], not sin", "= np.cos(angles)"),
        ("ffn.linear_backward", "W is not transposed in dx", "@ (W)"),
        ("gradients.matmul_backward", "dout is transposed in da", "np.swapaxes(dout, -1, -2)"),
        ("attention.attention", "k and v are exchanged", "q, v, k = "),
    ],
)
def test_change_of_a_step_is_derived(function, title, code):
    sources = [source_with_mistakes(found) for found in mutations(function) if found.title.startswith(title)]
    assert any(code in source for source in sources) and code not in solution_source(function.partition(".")[0])
