"""Which gradients are right, and where the backward pass departs."""

import pytest
from support.judging import judged, wrapped_solution

from autograder.engine.first_wrong_stage import backward_order

NAMES = ["W_tok", "b.0.ln1.gamma", "b.0.attn.W_o", "b.0.ln2.gamma", "b.0.ffn.W_1", "b.0.ffn.W_2"]


def test_backward_order_is_reversed_with_norms_where_they_are():
    assert backward_order(NAMES, is_post_norm=False) == NAMES[::-1]
    assert backward_order(NAMES, is_post_norm=True) == [NAMES[i] for i in (3, 5, 4, 1, 2, 0)]


@pytest.mark.slow
@pytest.mark.parametrize(("code", "stage"), [
    ("return 2 * result[0], result[1] | {'ffn.W_1': 3 * result[1]['ffn.W_1']}", "only ffn.W_1 has"),
    ("return result[0], {k: v if k[:3] in ('ffn', 'ln2') else v + 1 for k, v in result[1].items()}",
     "first wrong at attn.b_o, and so is everything after it"),
    ("return result[0], result[1] | {k: result[1][k] + 1 for k in ('attn.W_qkv', 'ln1.beta')}",
     "first wrong at attn.W_qkv"),
])  # fmt: skip
def test_backward_pass_is_localised(tmp_path, code, stage):
    failed = judged(tmp_path, "blocks.block_backward", wrapped_solution("blocks.block_backward", code))
    found = next(outcome for outcome in failed if outcome.id.endswith("::pre_norm_gradient"))
    assert stage in found.first_wrong_stage


@pytest.mark.slow
def test_right_results_are_listed_beside_the_wrong_one(tmp_path):
    code = "return result[0], result[1] + 1, result[2]"
    failed = judged(tmp_path, "ffn.linear_backward", wrapped_solution("ffn.linear_backward", code))
    for outcome in failed:
        if outcome.wrong:
            assert outcome.help.startswith("wrong results: dW; right: dx, db")
            assert outcome.mistake is None or "db" not in outcome.mistake["title"]


@pytest.mark.slow
def test_parameters_that_are_read_have_no_backward_pass(tmp_path):
    code = "return {name: a.T if 'attn.W' in name else a for name, a in result.items()}"
    failed = judged(tmp_path, "gpt2.gpt2_params", wrapped_solution("gpt2.gpt2_params", code))
    assert failed and not any(outcome.first_wrong_stage for outcome in failed)
