"""Mutations of the official solutions."""

import ast
from collections import defaultdict
from functools import cache

import pytest
from support.built_in import function_text, mutations, plain_version, solution_source, source_with_mistakes

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis import rewrites
from autograder.engine.diagnosis.mistake import CONSTANT
from autograder.engine.diagnosis.mutations import _changes, _Words
from autograder.engine.session import Options, check

PLAIN = [function for function in TRANSFORMER.functions if any(plain_version(function))]


@pytest.mark.parametrize("function", TRANSFORMER.functions)
def test_mutated_number_is_no_size(function):
    """An array or a loop of 10¹² steps would use up the memory of the grader, or its time."""
    for mistake in mutations(function):
        for _, new in mistake.edits:
            for call in ("arange(", "zeros(", "ones(", "empty(", "range(", "// "):
                _, found, after = new.partition(call)
                assert not found or CONSTANT not in after.partition(")" if call.endswith("(") else " ")[0], new


@pytest.mark.parametrize(("function", "title", "code"), [
    ("softmax.softmax", "axis is ignored", "    axis = -1\n"),
    ("attention.attention", "k and v are exchanged", "q, v, k = "),
    ("counting.bigram_counts", "a slice of ids begins", "ids[(1) + 1:]"),
    ("embeddings.sinusoidal_positions", "a quotient is", "-(-d_model // 2)"),
    ("finetuning.dpo_loss", "an exponential overflows", "/ (1 + np.exp(-m))"),
    ("gradients.numerical_gradient", "a position of x is one", "x[(place) + 1]"),
    ("attention.attention_backward", "k is used in dk", ".swapaxes(-1, -2) @ k"),
    ("layernorm.rmsnorm", "the term float(eps) is added outside", "keepdims=True)) + float(eps)"),
    ("multihead.split_heads", "a reshape takes the place", "np.reshape(x.reshape("),
    ("llama_layers.swiglu_backward", "cache['gate'] is used", "dhidden * cache['gate']"),
    ("gradients.matmul_backward", "the matrix dout is transposed", "np.swapaxes(dout, -1, -2)"),
    ("generation.next_token_probs", "of equal values, the last one is taken", "- 1 - np.argmax(np.flip("),
    ("softmax.cross_entropy", "mean divides by the number of values minus 1", "np.ones_like(picked)) - 1"),
    ("blocks.block", "the term x is added after layernorm in after_attention", "x + layernorm(attn_out, **ln1)"),
    ("generation.next_token_probs", "of equal values, the last one comes first", "- 1 - np.argsort(np.flip(-logits, "),
    ("ffn.gelu", "the exponent is 2, not 3", "x**2"),
    ("layernorm.rmsnorm_backward", "the sum is taken, not the mean", "mean = (np.sum(g * normalized"),
    ("llama_layers.silu_backward", "the term x * (1 - 1 / (1 + np.exp(-x))) is subtracted", "1 - x * (1 - sigmoid)"),
    ("attention.causal_average_matmul", "x.shape[-2] is used, not the result of arange", "dtype=x.dtype)) / length"),
    ("multihead.multihead_attention_backward", "k and v are swapped in a call", "cache['v'], cache['k'], "),
    ("encoder_decoder.greedy_decode", "a condition has no effect: the value end is never taken", "best = (best)"),
    ("encoder_decoder.transformer_backward", "the factor math.sqrt(config.d_model) is missing in grads['W_source']",
     'W_source"] = embed_tokens_backward((dx)'),
    ("training.estimate_loss", "the condition of the documented error is not tested", "if False:"),
    ("llama.generate_llama", "top_k and top_p are swapped in a call of next_token_probs", "top_p, top_k)"),
])  # fmt: skip
def test_change_of_a_step_is_derived(function, title, code):
    sources = [source_with_mistakes(found) for found in mutations(function) if found.title.startswith(title)]
    assert any(code in source for source in sources) and code not in solution_source(function.partition(".")[0])


def test_loop_that_may_become_endless_is_not_changed_but_a_chained_assignment():
    assert mutations("bpe.train_bpe") == mutations("encoder_decoder.greedy_decode", plain=False) == ()
    (function,) = ast.parse("def f(): a, b = c = g()").body
    assert "b, a" in [new for _, new, _ in _changes(function, _Words(frozenset(), {}, {}, {}, {}, {}))]


@pytest.mark.slow
@pytest.mark.parametrize("function", PLAIN)
def test_plain_version_passes_all_checks(tmp_path, function):
    module = function.partition(".")[0]
    (tmp_path / f"{module}.py").write_text(f"{solution_source(module)}\n\n{''.join(plain_version(function))}")
    result = check("s", tmp_path, Options(functions=(function,), official=True))
    assert {outcome.status for outcome in result.checks} == {"passed"}


@cache
def functions_by_row():
    """Return an expression and what takes its place, by row of the table and by function of the course."""
    found = defaultdict(dict)
    for function in TRANSFORMER.functions:
        tree = ast.parse("".join(plain_version(function)) or function_text(function))
        for row, (pattern, new, _) in enumerate(rewrites._rules()):
            for node in (part for part in ast.walk(tree) if type(part) is type(pattern)):
                bound = {"O": node}
                code = rewrites.filled(new, bound) if rewrites._matches(pattern, node, bound) else ""
                if code not in ("", ast.unparse(node)):
                    found[row].setdefault(function, (node, code))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("row", range(len(rewrites._rules())))
def test_row_of_the_table_rewrites_itself_and_three_functions(row):
    """A row is an expression itself: its letters are names."""
    pattern, new, title = rewrites._rules()[row]
    assert (f"({ast.unparse(new)})", title) in [*rewrites.rewritten(pattern, lambda title, _: title)]
    for old, code in [*functions_by_row()[row].values()][:3]:
        assert ast.dump(ast.parse(code, mode="eval").body) != ast.dump(old)
