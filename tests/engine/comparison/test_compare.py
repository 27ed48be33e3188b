"""The comparer finds the coarsest difference first, says where the worst one is, and lets rounding pass."""

import numpy as np
import pytest
from support.judging import verdict

from autograder.core.wire_format import Config, Instance, Opaque
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.comparison.compare import Tolerance, axis_names, compare, require_python
from autograder.errors import Mismatch

SOFTMAX = TRANSFORMER.functions["softmax.softmax"]
BYTES = TRANSFORMER.functions["bpe.byte_symbols"]
LOSS = TRANSFORMER.functions["softmax.cross_entropy"]
TAPE = TRANSFORMER.functions["gradients.tape_gradients"]
ATTENTION = TRANSFORMER.functions["attention.attention"]
SETTINGS = TRANSFORMER.functions["gpt2.gpt2_config"]


EXPECTED = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(("actual", "message"), [
    (None, "probs must be a NumPy array of numbers, not None"),
    ([[1.0]], "probs must be a NumPy array of numbers, not list"),
    (Opaque("numpy.matrix"), "probs must be a NumPy array of numbers, not numpy.matrix"),
    (EXPECTED[0], "probs has shape (3,), expected (2, 3) = (row, class)"),
    (np.full((3, 2), np.nan, np.float32), "probs has shape (3, 2), expected (2, 3) = (row, class)"),
    (EXPECTED[:1], "probs has shape (1, 3), expected (2, 3) = (row, class)"),
    (EXPECTED.astype(np.float32), "probs has dtype float32, expected float64"),
    (EXPECTED * np.array([1, 1, np.nan]), "probs has nan values where finite values are expected"),
    (EXPECTED + np.array([0, 0, np.inf]), "probs has infinite values where finite values are expected"),
    (EXPECTED + 1, "probs differs from PyTorch's softmax"),
])  # fmt: skip
def test_compare_reports_first_difference(actual, message):
    assert verdict(actual, EXPECTED).message == message


@pytest.mark.parametrize(("actual", "message"), [
    ((EXPECTED, np.float64(2.0)), "gradients must be a list, not tuple"),
    ([EXPECTED], "gradients must be a list of 2 arrays, not of 1"),
    ([EXPECTED, np.float64(2.0), EXPECTED], "gradients must be a list of 2 arrays, not of 3"),
    ([EXPECTED, np.ones(3)], "gradients[1] has shape (3,), expected ()"),
    ([EXPECTED + 1, np.float64(2.0)], "gradients[0] differs from PyTorch's autograd.grad"),
])  # fmt: skip
def test_compare_reports_first_wrong_array_of_a_list(actual, message):
    expected = [EXPECTED, np.array(2.0)]
    assert verdict(actual, expected, TAPE).message == message
    compare([EXPECTED, np.float64(2.0)], expected, TAPE)


@pytest.mark.parametrize("right", [1.5, 1e-300, 5e-324, 1e300])
@pytest.mark.parametrize("wrong", [1e308, -1e308, 1e-323, 0.0, np.inf, np.nan])
def test_compare_extreme_floats(right, wrong):
    verdict(wrong, right, LOSS, tolerance=Tolerance(0.0, 0.0))
    verdict(np.full((2, 3), wrong), np.arange(6.0).reshape(2, 3) * right, tolerance=Tolerance(0.0, 0.0))


def test_compare_reports_largest_error():
    actual = EXPECTED.copy()
    actual[0, 1] += 0.5
    actual[1, 1] -= 2.0
    details = verdict(actual, EXPECTED).details
    tolerance = pytest.approx(4e-9 + 5e-12)  # of this entry, which is not the largest
    worst = {"index": [1, 1], "axes": ["row", "class"], "yours": 2.0, "expected": 4.0, "tolerance": tolerance}
    assert details["wrong"] == {"count": 2, "total": 6} and details["worst"] == worst
    actual[1, 2] = np.nan
    assert verdict(actual, EXPECTED).details["worst"]["yours"] == "nan"


@pytest.mark.parametrize(("dtype", "right", "wrong"), [(np.float64, 1e-11, 1e-7), (np.float32, 1e-6, 1e-3)])
def test_compare_accepts_rounding_and_rejects_mistakes(dtype, right, wrong):
    expected = np.linspace(0.1, 1.0, 12, dtype=dtype).reshape(3, 4)
    compare((expected * dtype(1 + right)), expected, SOFTMAX)
    verdict((expected * dtype(1 + wrong)), expected)


@pytest.mark.parametrize(("expected", "right", "wrong"), [
    ([0.0, 1e6], [1e-8, 1e6], [1e-3, 1e6]), ([0.0, 0.5], [9e-13, 0.5 + 4e-10], [2e-12, 0.5 + 4e-10]),
    ([-np.inf, 1.0], [-np.inf, 1 + 4e-10], [np.inf, 1.0]),
    ([-np.inf, 1.0], [-np.inf, 1.0], [-1e300, 1.0]), ([np.nan, 1.0], [np.nan, 1.0], [0.0, 1.0]),
], ids=["0 among large values", "0 among small values", "sign of infinity", "no infinity", "nan"])  # fmt: skip
def test_compare_zero_infinity_and_nan(expected, right, wrong):
    compare(np.array(right), np.array(expected), SOFTMAX)
    verdict(np.array(wrong), np.array(expected))


def test_compare_booleans_and_integers_exactly():
    assert verdict(np.array([True, False]), np.array([True, True])).details["wrong"]["count"] == 1
    assert "dtype" in verdict(np.array([1, 0]), np.array([True, True])).message
    verdict(np.array([2**60]), np.array([2**60 + 1]))


@pytest.mark.parametrize("actual", [1.5, np.float64(1.5), np.array(1.5), np.float32(1.5)])
def test_compare_number_accepts_any_float(actual):
    compare(actual, 1.5, LOSS)
    compare(1, 1.0, LOSS)


@pytest.mark.parametrize(("actual", "expected"), [
    *((other, 1.5) for other in (np.array([1.5]), None, "1.5", True, Opaque("x"))), (np.float64(7), 7), (1, True),
    (10**400, 1.0), (True, 1.0), (True, 1),
])  # fmt: skip
def test_compare_number_rejects_other_types(actual, expected):
    verdict(actual, expected, LOSS)


def test_compare_empty_arrays():
    compare(np.zeros((0, 3)), np.zeros((0, 3)), SOFTMAX)
    assert "shape" in verdict(np.zeros((3, 0)), np.zeros((0, 3))).message


@pytest.mark.parametrize(("actual", "expected"), [
    ([["a", "b"]], [("a", "b")]), ([("a", "b", "c")], [("a", "b")]), ([np.ones(2)], [1]),
    ("ab", ["a", "b"]), (None, "None"), (0, None),
])  # fmt: skip
def test_compare_plain_values_of_another_type_differ(actual, expected):
    verdict(actual, expected)


@pytest.mark.parametrize(("value", "kind", "other"), [(np.float64(1), float, "float64"), (True, int, "bool")])
def test_require_python_accepts_no_subclass(value, kind, other):
    with pytest.raises(Mismatch, match=other):
        require_python(value, kind, "the loss")
    require_python(kind(value), kind, "the loss")


@pytest.mark.parametrize(("actual", "expected", "secret"), [
    ("abc", "abd", "abd"), ([1, 2], [1, 3], "[1, 3]"), (7, 8, "8"), ({"a": 1}, {"secret": 1}, "secret"),
    ({"secret": "x", "more": "x"}, {"secret": "x"}, "more"), ({"W": EXPECTED}, {"W": EXPECTED, "b": EXPECTED}, None),
    ({"W": EXPECTED}, {"W": EXPECTED, "secret": 1}, "secret"),
])  # fmt: skip
def test_compare_marks_what_reveals_the_answer(actual, expected, secret):
    found = verdict(actual, expected)
    marked, replacement = found.details.get("secret") or ("", "")
    assert (secret is None) == (not marked) and marked in found.message
    assert secret is None or (secret in marked and secret not in replacement)


@pytest.mark.parametrize(("shape", "is_shown"), [
    ((2, 8), True), ((8, 8), True), ((2, 9), False), ((9, 2), False), ((2,), True), ((1,), None), ((), None),
])  # fmt: skip
def test_compare_shows_the_numbers_of_small_slices_only(shape, is_shown):
    error_map = verdict(np.zeros(shape), np.ones(shape)).details["error_map"]
    found = error_map and (len(error_map["axes"]), "yours" in error_map, "expected" in error_map)
    assert found == (None if is_shown is None else (2, is_shown, is_shown))


def test_compare_several_outputs():
    pair = (EXPECTED, EXPECTED)
    assert "tuple (out, weights)" in verdict(EXPECTED, pair, ATTENTION).message
    assert "must return 2 values" in verdict((EXPECTED,) * 3, pair, ATTENTION).message
    found = verdict((EXPECTED, EXPECTED + 1), pair, ATTENTION)
    help = "wrong results: weights; right: out. Every value is 1 too large"
    assert (found.message.partition(" ")[0], found.help) == ("weights", help)


def test_compare_dictionaries():
    expected = {"W": EXPECTED, "b": EXPECTED[0]}
    compare(dict(expected), expected, SOFTMAX)
    assert "is missing key 'b'" in verdict({"W": EXPECTED}, expected).message
    assert "has an extra key 'c'" in verdict({**expected, "c": EXPECTED}, expected).message
    found = verdict({**expected, "W": EXPECTED + 1}, expected)
    assert "probs['W']" in found.message and found.help.endswith("; these are right: b. Every value is 1 too large")


@pytest.mark.parametrize(("actual", "message"), [
    (None, "config must be a GPTConfig of gpt.py, not None"),
    ({"d_model": 8, "tied": True}, "config must be a GPTConfig of gpt.py, not dict"),
    (Instance("gpt2.GPTConfig", {"d_model": 8, "tied": True}), "not gpt2.GPTConfig"),
    (Instance("gpt.GPTConfig", {"d_model": 8}), "config has no field tied"),
    (Instance("gpt.GPTConfig", {"d_model": 9, "tied": True}), "config.d_model is 9, expected 8"),
    (Instance("gpt.GPTConfig", {"d_model": 8.0, "tied": True}), "config.d_model must be int, not float"),
    (Instance("gpt.GPTConfig", {"d_model": 8, "tied": 1}), "config.tied must be bool, not int"),
    (Instance("gpt.GPTConfig", {"d_model": Instance("a.B", {}), "tied": True}), "must be int, not a.B"),
])  # fmt: skip
def test_compare_instances_by_their_fields(actual, message):
    expected = Config("gpt", "GPTConfig", {"d_model": 8, "tied": True})
    assert message in verdict(actual, expected, SETTINGS).message
    compare(Instance("gpt.GPTConfig", {"d_model": 8, "tied": True, "more": None}), expected, SETTINGS)


@pytest.mark.parametrize(("actual", "message"), [
    ((0.9, 1), "must be a tuple of floats"), ([0.9, 0.5], "not list"), ((0.9,), "shape"), ((0.9, 0.6), "differs"),
])  # fmt: skip
def test_compare_tuple_of_a_configuration(actual, message):
    expected = Config("gpt", "GPTConfig", {"betas": (0.9, 0.5)})
    assert message in verdict(Instance("gpt.GPTConfig", {"betas": actual}), expected, SETTINGS).message
    compare(Instance("gpt.GPTConfig", {"betas": (0.9, np.float64(0.5))}), expected, SETTINGS)


def test_compare_accepts_tolerance():
    compare(EXPECTED + 0.1, EXPECTED, SOFTMAX, tolerance=Tolerance(0.0, 0.2))


def test_axis_names_start_from_the_right():
    assert axis_names(("batch", "query", "key"), 2) == ("query", "key")
    assert axis_names(("query", "key"), 3) == ("", "query", "key")
    assert axis_names(("query",), 0) == ()


def test_compare_shows_long_lists_from_the_first_difference():
    merges = TRANSFORMER.functions["bpe.train_bpe"]
    pairs = [("a", letter) for letter in "bcdefghijk"]
    found = verdict([*pairs[:7], ("x", "y")], pairs, merges)
    assert found.message.startswith("merges[7:] is [('x', 'y')], expected [(")
    assert verdict(pairs[:8], pairs, merges).message == "merges[8:] is [], expected [('a', 'j'), ('a', 'k')]"
    assert verdict([("x", "y"), *pairs[1:]], pairs, merges).message.startswith("merges is [('x', 'y'), ")


def test_long_lists_of_wrong_entries_are_cut():
    symbols = dict.fromkeys(range(40), "a")
    found = verdict({number: "b" if number < 20 else "a" for number in symbols}, symbols, BYTES)
    assert "11, and 8 more; these are right: 20, 21" in found.help
