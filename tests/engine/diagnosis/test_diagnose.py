"""Diagnosis: the right name, both names, a pair, or silence."""

import json

import numpy as np
import pytest
from support.built_in import mistakes_of_function, solution_source
from support.commands import SOFTMAX
from support.judging import by_name, judged, mistakes_in, solution_text, verdict

from autograder.course.model import BUILT_IN
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.comparison import relations
from autograder.engine.diagnosis import replay
from autograder.engine.diagnosis.explanation import Diagnosis
from autograder.engine.diagnosis.matching import (
    Match,
    Part,
    count_wrong,
    is_distinctive,
    match_parts,
    match_values,
    nearly_correct,
)
from autograder.engine.diagnosis.mistake import Mistake
from autograder.engine.diagnosis.search import Search
from autograder.engine.session import Options, check
from autograder.engine.student import Call
from autograder.errors import Cancelled

pytestmark = pytest.mark.usefixtures("enough_time")

NO_MAXIMUM, LAST_AXIS = ("x - x.max(axis, keepdims=True)", "x"), ("z.sum(axis", "z.sum(-1")


@pytest.mark.parametrize(("edits", "names"), [
    ([NO_MAXIMUM, LAST_AXIS], ("no-maximum", "last-axis-always")),
    ([NO_MAXIMUM, (" / temperature", "")], ("no-maximum", "temperature-ignored")),
    ([LAST_AXIS, ("max(axis", "max(-1"), ("/ temp", "* temp")], ("last-axis-always", "temperature-multiplied")),
])  # fmt: skip
def test_diagnose_two_mistakes_names_both(tmp_path, edits, names):
    """In code that looks nothing like the solution's."""
    text = SOFTMAX
    for edit in edits:
        text = text.replace(*edit)
    for outcome in judged(tmp_path, "softmax.softmax", text):
        assert set(outcome.mistake["id"].split("+")) == {f"softmax.softmax/{name}" for name in names}
        assert ", and " in outcome.mistake["title"]


MULTIPLIED = SOFTMAX.replace("/ temperature", "* temperature")
UNKNOWN = [
    ("return z", "return 1.01 * z"), ("keepdims=True)\n", "keepdims=True) ** 1.1\n"), ("np.exp", "np.arctan"),
    # As a listed mistake for one temperature, right for the other: not that mistake.
    ("/ temperature", "* (temperature if temperature < 1 else 1 / temperature)"),
]  # fmt: skip
BROKEN_FORWARD = ("def block(", "def block(*args, **kwargs):\n    raise TypeError('broken')\n\n\ndef _block(")
# In the first array, the number of the layer is 1, as if βᵗ were β, a missing power; in the others, it is not.
STEP = "    for name, p in params.items():\n        g = grads[name]\n        m = (1 - beta1) * g\n"
STEP_BY_LAYER = """    for layer, (name, p) in enumerate(params.items(), 1):
        root2 = math.sqrt(1 - beta2**layer)
        step_size = lr * root2 / (1 - beta1**layer)
""" + STEP.partition("\n")[2]


@pytest.mark.parametrize(("function", "text", "named"), [
    ("softmax.softmax", MULTIPLIED, "softmax.softmax/temperature-multiplied"),  # in another style
    *(pytest.param("softmax.softmax", SOFTMAX.replace(*edit), None, marks=pytest.mark.slow) for edit in UNKNOWN),
    ("blocks.block_backward", solution_text("blocks", BROKEN_FORWARD), None),
    pytest.param("training.adamw_step", solution_text("training", (STEP, STEP_BY_LAYER)), None, marks=pytest.mark.slow),
], ids=lambda value: None if value is None else value[:40])  # fmt: skip
def test_diagnose_names_the_mistake_or_nothing(tmp_path, function, text, named):
    assert mistakes_in(tmp_path, function, text) == {named}


@pytest.mark.slow
def test_diagnose_forgotten_error_hides_no_other_mistake(tmp_path):
    """The masks of numbers that should be refused come on top of nan where a query sees nothing."""
    text = """
import numpy as np
from softmax import softmax

def attention(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    return weights @ v, weights
"""
    failed = by_name(judged(tmp_path, "attention.attention", text))
    assert failed["sees_nothing"].mistake["id"] == "attention.attention/nan-where-nothing-is-seen"
    assert failed["errors"].mistake["id"].startswith("attention.attention/numbers-in-mask-accepted")


def test_diagnose_wrong_numbers_and_an_error_names_both(tmp_path):
    """Right for matrices but for the missing division; an error for a batch of texts."""
    text = """
import numpy as np

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

def cross_entropy_backward(logits, targets):
    d = softmax(logits)
    d[np.arange(len(targets)), targets] -= 1
    return d
"""
    failed = judged(tmp_path, "softmax.cross_entropy_backward", text)
    function = "softmax.cross_entropy_backward"
    assert {outcome.mistake["id"] for outcome in failed} == {f"{function}/not-divided+{function}/matrices-only"}
    reasons = {name: outcome.mistake["reason"] for name, outcome in by_name(failed).items()}
    assert "your numbers" in reasons["loss_rows"] and "raises the same error" in reasons["loss_gradient_batch"]


EMBED_BACKWARD = """
import numpy as np
def embed_tokens_backward(dout, ids, vocab_size):
    if np.any(ids < 0) or np.any(ids >= vocab_size):
        raise ValueError("no such token")
    dW = np.zeros((vocab_size, dout.shape[-1]), {dtype})
    {add}
    return dW
"""


@pytest.mark.slow
def test_diagnose_wrong_dtype_does_not_hide_mistake(tmp_path):
    text = EMBED_BACKWARD.format(dtype="float", add="dW[ids] += dout")
    failed = by_name(judged(tmp_path, "embeddings.embed_tokens_backward", text))
    assert set(failed) == {"table_gradient_repeated", "table_gradient_batch", "table_gradient_dtypes"}
    for outcome in failed.values():
        assert "embeddings.embed_tokens_backward/repeats-lost" in outcome.mistake["id"].split("|")
    assert "except for the dtype" in failed["table_gradient_dtypes"].mistake["reason"]


def test_diagnose_wrong_dtype_alone_is_not_named(tmp_path):
    """The values of a check are right: a mistake that does not show in it gives them, too."""
    text = EMBED_BACKWARD.format(dtype="np.longdouble", add="np.add.at(dW, ids, dout)")
    assert [outcome.mistake for outcome in judged(tmp_path, "embeddings.embed_tokens_backward", text)] == [None] * 5


@pytest.mark.slow
def test_diagnose_ignores_coincidence_among_unexplained(tmp_path):
    """Divided by a power of the batch: with a batch of one text that is as if nothing was divided."""
    edit = ("    scores /= math.sqrt(q.shape[-1])", "    scores /= float(q.shape[0] ** 3 + (q.shape[0] > 1))")
    named = [outcome.mistake for outcome in judged(tmp_path, "attention.attention", solution_text("attention", edit))]
    assert len(named) > 5 and named == [None] * len(named)


@pytest.mark.slow
def test_diagnose_names_first_wrong_result(tmp_path):
    text = """
import numpy as np
def layernorm_backward(dout, x, gamma, eps=1e-5):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    xhat = (x - x.mean(-1, keepdims=True)) / std
    return dout * gamma / std, 2 * (dout * xhat).reshape(-1, len(gamma)).sum(0), dout.reshape(-1, len(gamma)).sum(0)
"""
    failed = judged(tmp_path, "layernorm.layernorm_backward", text)
    for outcome in failed:
        assert outcome.mistake["id"] == "layernorm.layernorm_backward/direct-path-only", outcome.id
    assert "your numbers for dx; fix" in by_name(failed)["gradient"].mistake["reason"]


@pytest.mark.slow
def test_called_wrong_function_blocks_correct_caller(tmp_path, solutions):
    text = (solutions / "softmax.py").read_text("utf-8")
    text = text.replace("z.max(axis=axis", "z.max(axis=-1").replace("z.sum(axis=axis", "z.sum(axis=-1")
    text += "\n\ndef log_softmax(x, axis=-1):\n    return np.log(_helper(x, axis))\n"
    (tmp_path / "softmax.py").write_text(text + "\n\ndef _helper(x, axis):\n    return softmax(x, axis=axis)\n")
    for functions in (TRANSFORMER.select(["softmax"]), ("softmax.log_softmax",)):
        result = check("s", tmp_path, Options(functions=functions))
        found = {outcome.id: outcome for outcome in result.checks}
        blocked = found["softmax.log_softmax::log_any_axis"]
        assert (blocked.status, blocked.earned, blocked.mistake) == ("blocked", 0.0, None)
        assert blocked.blocked_by == ["softmax.softmax"] and "only by softmax.softmax" in blocked.message
        extreme = found["softmax.log_softmax::log_extreme"]
        assert extreme.status == "failed" and extreme.mistake["id"] == "softmax.log_softmax/log-of-softmax"
        assert extreme.mistake["reason"].startswith("found with the official softmax.softmax")


@pytest.mark.slow
def test_called_wrong_function_does_not_block_wrong_caller(tmp_path, solutions):
    text = (solutions / "softmax.py").read_text("utf-8").replace("np.exp(z, out=z)", "np.exp2(z, out=z)")
    text += "\n\ndef log_softmax(x, axis=-1):\n    return np.log2(softmax(x, axis=axis))\n"
    (tmp_path / "softmax.py").write_text(text)
    result = check("s", tmp_path, Options(functions=TRANSFORMER.select(["softmax"])))
    checks = [outcome for outcome in result.checks if outcome.function == "softmax.log_softmax"]
    assert len([outcome for outcome in checks if outcome.status == "failed"]) == 4
    assert all(outcome.blocked_by in ([], ["softmax.log_softmax"]) for outcome in checks)


@pytest.mark.slow
def test_diagnose_distinguishes_modified_inputs(tmp_path):
    """A step that changes the state in place is not one that changes the parameters."""
    kept = 'return new_params, {"step": step, "m": new_m, "v": new_v}'
    text = solution_text("training", (kept, "state.update(step=step, m=new_m, v=new_v)\n    return new_params, state"))
    (failed,) = judged(tmp_path, "training.adamw_step", text)
    assert failed.mistake["id"] == "training.adamw_step/state-in-place"


def test_diagnose_difference_quotient_is_named(tmp_path):
    text = """
import numpy as np

def cross_entropy(logits, targets):
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return -np.mean(np.log(np.take_along_axis(p, targets[..., None], -1)))

def cross_entropy_backward(logits, targets):
    grad, h = np.zeros(logits.shape), 1e-6
    for i in np.ndindex(*logits.shape):
        moved = logits.astype(float)
        moved[i] += h
        grad[i] = (cross_entropy(moved, targets) - cross_entropy(logits.astype(float), targets)) / h
    return grad
"""
    failed = by_name(judged(tmp_path, "softmax.cross_entropy_backward", text))
    for name in ("loss_rows", "loss_gradient_batch"):
        assert failed[name].mistake["id"] == "softmax.cross_entropy_backward/difference-quotient"
        assert "divided by 1e-06" in failed[name].mistake["reason"]


X = np.arange(24.0).reshape(2, 3, 4) ** 1.5
MANY_AXES = np.arange(64.0).reshape([2] * 6)


@pytest.mark.parametrize(("actual", "words"), [
    (X.swapaxes(1, 2), "axes 1 and 2 swapped"), (X.transpose(2, 0, 1), "the axes in the order"),
    (X.swapaxes(1, 2).reshape(X.shape), "read with axes 1 and 2 swapped, then reshaped"),
    (X.reshape(6, 4), "in another shape"), (X[:, ::-1], "reverse order along axis 1"),
    (np.roll(X, 1, 1), "shifted by one along axis 1"),
    (-X, "every sign"), (X * np.sqrt(8), "2.82843 times"), (X + 0.5, "0.5 too large"),
    (np.zeros_like(X), "every value is 0"), (X * (1 + 3e-8 * np.cos(X)), "only 7 digits"),
    (X * (1 + 1e-2 * np.cos(X)), None), (X + 1e-6 * (X == 0), None),
    (X * (1 + 1e-10 * np.cos(X)), "only 9 digits"),  # not "in the wrong places"
    (X * (1 + 1e-7), "only 6 digits"),  # not "1 times"
    ((X * (1 + 3e-6 * np.cos(X))).astype(np.float32), None),  # float32 has no more digits
    (X[:1] + X, None), (X * np.nan, None), (X.astype(str), None),
    (np.roll(X, -1, 1), "shifted by one along axis 1"), (X - 0.5, "0.5 too small"),
    (-2.75, "the sign is reversed"), (6 * 2.75, "it is 6 times the expected value"),
    (2.75 / 3, "it is 1/3 of the expected value"), (-4 * 2.75, "it is minus 4 times the expected value"),
    (2.75 * np.sqrt(8), "it is √8 = 2.82843 times the expected value"),
    (2.75 / np.log(2), "it is 1/log 2 = 1.4427 times the expected value"), (2.75 / np.log(10), "it is 1/log 10 times"),
    (0.0, "it is 0"), (2.9, None),
    (1500 * 2.75, None),  # by chance
    (np.nan, None),
])  # fmt: skip
def test_describe_relation_of_arrays_and_single_numbers(actual, words):
    found = relations.describe_relation(np.asarray(actual), X if np.ndim(actual) else np.asarray(2.75))
    assert found is None if words is None else words in found


def test_alternative_that_only_adds_a_mistake_is_left_out():
    first, second = (
        Mistake("softmax.softmax", name, title, "why", "ask?")
        for name, title in (("sign", "the sign is missing"), ("both", "the sign is missing, and the rows were summed"))
    )
    assert Diagnosis((first, second)).title == "the sign is missing"
    assert Diagnosis((first, second), together=True).titles == (first.title, second.title)
    third = Mistake("softmax.softmax", "third", "either the sum is wrong, or the mean", "why", "ask?")
    assert Diagnosis((second, third)).title == f"either {second.title}, or {third.title}"
    assert Diagnosis((first, third), together=True).title == f"{first.title}; and {third.title}"


@pytest.mark.parametrize(("actual", "expected", "found"), [
    (np.zeros((2, 3), dtype=bool), np.tri(2, 3, dtype=bool), "every value is False"),
    (np.array([0, 1, 0, 0, 1, 1]), np.array([1, 1, 1, 0, 0, 0]), None),  # the same few numbers, perhaps by chance
    (np.array([2.0, 1.0, 4.0, 3.0]), np.arange(1.0, 5.0), "these are the right values in the wrong places"),
    (np.ones(3), np.tile(1.0, (2, 3)), "these are the right values for one row only: an axis is missing"),
    (np.full(2, 3.0), np.ones(2), None),
    (MANY_AXES.T, MANY_AXES, "these are the right values in the wrong places: check the order of the axes"),
    # Neither is looked for in large arrays.
    (-np.arange(100_001.0), np.arange(100_001.0), None), (np.ones(2), np.ones((50_001, 2)), None),
])  # fmt: skip
def test_describe_relation_needs_a_telling_array(actual, expected, found):
    assert relations.describe_relation(actual, expected) == found


def test_compare_help_contains_relation():
    found = verdict(X.swapaxes(1, 2), X)
    assert "1 (row) and 2 (class)" in found.help
    assert found.details["shapes"] == {"yours": [2, 4, 3], "expected": [2, 3, 4]}


def test_error_map_shows_slice_of_largest_error():
    actual = X.copy()
    actual[1, 0, 3] = np.nan
    actual[1, 2, :] += 90.0
    drawn = verdict(np.nan_to_num(actual, nan=-1e3), X).details["error_map"]
    assert drawn["rows"] == ["0003", "0000", "3333"] and drawn["at"] == "[1]"
    assert drawn["axes"] == ["row", "class"] and drawn["expected"][2][3] == X[1, 2, 3]
    assert verdict(actual, X).details["error_map"]["rows"][0] == "000n"


@pytest.mark.parametrize(("actual", "expected", "row"), [
    ([1, 0], [1, 1], "03"), ([np.inf, 1.2], [-np.inf, 1.0], "33"), ([1j, 1], [1j, 2], "03"),
])  # fmt: skip
def test_error_map_of_integers_infinity_and_complex_numbers(actual, expected, row):
    details = verdict(np.array(actual), np.array(expected)).details
    assert details["error_map"]["rows"] == [row] and json.dumps(details, allow_nan=False)


def test_error_map_of_large_array_keeps_errors():
    expected = np.ones((100, 300))
    actual = expected.copy()
    actual[57, 211] = 2.0
    rows = verdict(actual, expected).details["error_map"]["rows"]
    assert (len(rows), len(rows[0]), "".join(rows).count("3")) == (16, 48, 1)


@pytest.mark.slow
def test_first_wrong_stage_is_reported(tmp_path, solutions):
    text = (solutions / "blocks.py").read_text("utf-8").replace("layernorm(", "_plain(", 10)
    text += "\n\ndef _plain(x, gamma, beta, eps=1e-5):\n    return layernorm(x, gamma, beta, eps) * 1.5\n"
    (tmp_path / "blocks.py").write_text(text)
    result = check("s", tmp_path, Options(functions=("blocks.block",), official=True))
    departures = {outcome.first_wrong_stage for outcome in result.checks if outcome.status == "failed"}
    assert any("the attention weights" in (departure or "") for departure in departures)


@pytest.mark.slow
def test_stage_that_the_cache_lacks_is_skipped(tmp_path, solutions):
    text = (solutions / "blocks.py").read_text("utf-8").replace('        "after_attention": after_attention,\n', "")
    (tmp_path / "blocks.py").write_text(text.replace("after_attention + ffn_out", "after_attention + 2 * ffn_out"))
    result = check("s", tmp_path, Options(functions=("blocks.block",), official=True))
    stages = {outcome.first_wrong_stage for outcome in result.checks if outcome.first_wrong_stage}
    assert stages and all("first wrong at the residual stream after the feed-forward" in stage for stage in stages)


def test_diagnose_out_of_time_is_silent(tmp_path, monkeypatch):
    """A student's return value may reach Headway's own code, and only this stops it."""
    monkeypatch.setattr("autograder.engine.diagnosis.diagnose.SECONDS", -1.0)
    assert mistakes_in(tmp_path, "softmax.softmax", MULTIPLIED) == {None}


def test_diagnose_ends_soon_after_it_is_cancelled():
    calls = iter([False, False, True])
    search = Search("softmax.softmax", [], BUILT_IN, 60.0, lambda: next(calls))
    with pytest.raises(Cancelled):
        search.explain_all(mistakes_of_function("softmax.softmax"))


@pytest.mark.slow
def test_diagnose_pair_prefers_mistakes_that_are_made_completely(tmp_path):
    """Of two gradients one is a mean and the other is not normalized: "both are means" would claim too much."""
    text = f"""{solution_source("layernorm")}

official = layernorm_backward


def layernorm_backward(dout, x, gamma, eps=1e-5):
    rows, upstream = x.reshape(-1, x.shape[-1]), dout.reshape(-1, x.shape[-1])
    centered = rows - rows.mean(axis=-1, keepdims=True)
    dx, _, _ = official(dout, x, gamma, eps)
    return dx, (upstream * centered).sum(axis=0), upstream.mean(axis=0)
"""
    (title,) = {outcome.mistake["title"] for outcome in judged(tmp_path, "layernorm.layernorm_backward", text)}
    assert "dbeta is the mean" in title and "are means" not in title


@pytest.mark.slow
def test_diagnose_general_exception_everywhere_is_not_named(tmp_path, monkeypatch):
    """Any code may raise the same everywhere; a known mistake that does, too, proves nothing."""
    edit = ("z /= z.sum(axis=axis, keepdims=True)", "None.size")
    known = (Mistake("softmax.softmax", "no-result", "there is no result", "Why.", "Which?", (edit,)),)
    monkeypatch.setattr("autograder.engine.diagnosis.diagnose.mistakes_of_function", lambda *args: known)
    named = mistakes_in(tmp_path, "softmax.softmax", solution_text("softmax", edit))
    assert not any("no-result" in (name or "") for name in named)


@pytest.mark.slow
def test_diagnose_input_changed_by_forward_pass_is_one_finding(tmp_path):
    """The backward pass gets a cache with an array that has changed: that is no mistake of its own."""
    old = "after_attention = ln2_in = x + attn_out"
    text = solution_text("blocks", (old, "x += attn_out\n        after_attention = ln2_in = x"))
    (tmp_path / "blocks.py").write_text(text, "utf-8")
    options = Options(functions=TRANSFORMER.select(["blocks"]), official=True)
    wrong = [outcome for outcome in check("s", tmp_path, options).checks if outcome.status != "passed"]
    named = {outcome.function: outcome.mistake["id"] for outcome in wrong if outcome.mistake}
    assert named == {"blocks.block": "blocks.block/x-in-place-with-pre"}
    backward = [outcome.blocked_by for outcome in wrong if outcome.function == "blocks.block_backward"]
    assert backward and backward == [["blocks.block"]] * len(backward)


def test_diagnose_message_that_fails_a_check_is_no_evidence_for_a_right_message(tmp_path, monkeypatch):
    """The text of an error is free, apart from what the check looks for: only one of the two messages has it."""
    edit = ("is not in the vocabulary", "is not in this vocabulary")
    known = (Mistake("tokenizer.encode", "words", "other words are used", "Why.", "Which?", (edit,)),)
    monkeypatch.setattr("autograder.engine.diagnosis.diagnose.mistakes_of_function", lambda *args: known)
    old = 'raise ValueError(f"character {char!r} at position {position} is not in the vocabulary")'
    text = solution_text("tokenizer", (old, 'raise ValueError("it is unknown")'))
    assert mistakes_in(tmp_path, "tokenizer.encode", text) == {None}


def test_wrong_value_of_an_integer_key_is_reported(tmp_path, solutions):
    text = (solutions / "bpe.py").read_text("utf-8")
    text += "\n_symbols = byte_symbols\n\n\ndef byte_symbols():\n    return _symbols() | {7: 'x'}\n"
    assert [outcome.status for outcome in judged(tmp_path, "bpe.byte_symbols", text)][:1] == ["failed"]


@pytest.mark.parametrize("answer", [([1.0, 2.0], 3.0), [np.zeros((2, 3)), np.zeros(4)], None, "text"])
def test_is_distinctive_of_no_array_is_false(answer):
    assert not is_distinctive(answer, np.zeros(4))


@pytest.mark.parametrize(("names", "match"), [
    (("weights", "out"), Match.IN_PART), (("params['a']", "params['b']"), Match.NO),
])  # fmt: skip
def test_match_parts_explains_first_stage_but_not_one_entry_of_a_dict(names, match):
    right = np.zeros(4)
    first = Part(names[0], right + 1, right + 1, right)
    assert match_parts([first, Part(names[1], right + 2, right + 3, right)], False, {}).match is match
    assert match_parts([first, Part(names[1], right, right + 3, right)], False, {}).contradicts
    assert match_values([right.astype("f4"), right], [right, right]) is Match.UP_TO_DTYPE


NAN, INF, ONES = np.array([np.nan]), np.array([np.inf]), np.ones((2, 3))


@pytest.mark.parametrize(("student", "candidate", "match"), [
    (NAN, NAN, Match.EXACT), (NAN, np.ones(1), Match.NO), (np.ones(1), NAN, Match.NO), (INF, INF, Match.EXACT),
    (INF, -INF, Match.NO), (ONES, ONES.T, Match.NO), (ONES + 0j, ONES, Match.NO), (ONES, ONES > 0, Match.UP_TO_DTYPE),
    (ONES, ONES + 1e-5, Match.NO), (ONES.astype("f4"), ONES + 1e-5, Match.UP_TO_DTYPE), ([ONES], (ONES,), Match.NO),
    (True, 1, Match.NO), ("a", "a", Match.EXACT), ({"a": 1}, {"b": 1}, Match.NO), ([ONES], [ONES] * 2, Match.NO),
])  # fmt: skip
def test_match_values(student, candidate, match):
    assert match_values(student, candidate) is match


@pytest.mark.parametrize(("student", "right", "count"), [
    (np.array([1.0, 1.0, 2.0, np.inf, np.nan]), np.zeros(5), 2), (np.array([1.0, 2.0]), np.zeros(3), 2),
    (np.array([1.0, 2.0]), np.array([1.0, 3.0]), 1), (np.array([1, 2]), np.array([0, 0]), 0), (ONES > 0, ONES, 0),
    (["a", "b", "b", "c"], ["x", "x", "x", "c"], 2), ([1, 2], [3, 4], 0), (None, ONES, 0),
])  # fmt: skip
def test_count_wrong_counts_different_finite_numbers_and_texts(student, right, count):
    assert count_wrong(student, right) == count
    assert count_wrong(np.array([1, 2]), np.array([0, 2]), weight_of_integers=0.5) == 0.5


@pytest.mark.parametrize(("student", "right", "near"), [
    (ONES * 1.009, ONES, True), (ONES * 1.011, ONES, False), (ONES * 0.009, ONES * 0, True), ([1.0], ONES, False),
    ((ONES, ONES), (ONES, ONES * 2), False), (np.ones(3), ONES, False), (ONES * 10.09, ONES * 10, True),
])  # fmt: skip
def test_nearly_correct_is_within_a_hundredth(student, right, near):
    assert nearly_correct(student, right) is near


@pytest.mark.parametrize(("after", "before", "same"), [
    (ONES.copy(), ONES, True), (ONES + 1, ONES, False), (ONES.astype("f4"), ONES, False), (ONES.T, ONES, False),
    ({"a": ONES}, {"a": ONES}, True), ({"a": ONES, "b": 1}, {"a": ONES}, False), ([1, 2], [1, 2, 3], False),
    ([1, 2], [1, 3], False), (NAN.copy(), NAN, True), (1, 1.0, False), ("a", "b", True),
])  # fmt: skip
def test_untouched_compares_type_and_content(after, before, same):
    assert replay._untouched(after, before) is same


@pytest.mark.parametrize(("modified", "others", "same"), [
    (["x"], {"x"}, True), (["x"], set(), False), (["x[0]"], {"x"}, True), ([], {"x"}, False), (["x"], {"axis"}, False),
    (["own"], {"x"}, True), (["own"], set(), False),
])  # fmt: skip
def test_same_modified_compares_names_where_they_are_known(modified, others, same):
    call = Call(TRANSFORMER.functions["softmax.softmax"], (), {}, modified=modified)
    assert replay.same_modified(call, replay.Answer(modified=frozenset(others)), BUILT_IN) is same
