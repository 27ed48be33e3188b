"""The texts beside a verdict: inputs in one line, hints on exceptions, help, reasons, the first wrong gradient."""

from dataclasses import replace

import numpy as np
import pytest
from support.built_in import mistakes_of_function, parameters_of
from support.judging import judged, verdict, wrapped_solution

from autograder.core.wire_format import FunctionOf, GeneratorOf, Rng
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult
from autograder.engine.check_results import _add_error, describe_inputs
from autograder.engine.diagnosis.explanation import Diagnosis, is_same_error, is_same_refusal
from autograder.engine.exception_hints import hint_for_exception
from autograder.engine.first_wrong_stage import INPUTS, _describe_gradients, backward_order, first_wrong_stage
from autograder.engine.student import Cache, Call, StudentCode
from autograder.errors import TOP_LEVEL, UNREAD, CodeLine, Mismatch, StudentException


@pytest.mark.parametrize(("args", "text"), [
    ((np.array([[1000.0, 0.0], [-1.5, np.inf]]),), "(2, 2) = [[1000, 0], [-1.5, inf]]"),
    ((np.array([1 / 3, 2.0]),), "(2,) ≈ [0.3333, 2]"), ((np.zeros((3, 5)),), "(3, 5)"),
    ((np.arange(3, dtype=np.int32), 4), "(3,) int32 = [0, 1, 2], 4"), ((np.array([], dtype=np.int64),), "(0,) int64"),
    ((np.float32(0.5),), "scalar float32 = 0.5"), (([2, 0, 1], {}, [], [1, None]), "[2, 0, 1], {}, [], a list of 2"),
    ((list(range(40)), Rng(7)), "a list of 40, a generator with seed 7"), (("a\tb", None, True), "'a\\tb', None, True"),
    (([("mul", (0, 1)), ("sum", (2,))],), "[('mul', (0, 1)), ('sum', (2,))]"),
    (([np.zeros((3, 5)), np.array(2.0)],), "[(3, 5); scalar = 2]"),
    (([np.zeros(1)] * 5, np.arange(12)), f"a list of 5, (12,) int64 = {[*range(12)]}"),
    ((GeneratorOf([1, 2]), GeneratorOf([1], endless=True)), "a generator of 2 items, an endless generator"),
    (("x" * 600,), f"'{'x' * 498}…"),
    ((FunctionOf("sum(w * x**2)", np.zeros((3, 5))),), "the function sum(w * x**2) with w (3, 5)"),
    ((dict.fromkeys(range(6), "x"),), "{0: 'x', 1: 'x', 2: 'x', 3: 'x', …}"),
])  # fmt: skip
def test_describe_inputs_small_arrays_show_values(args, text):
    assert describe_inputs(args, {}) == text
    assert describe_inputs((), {"axis": 0}) == "axis 0"


OWN = CodeLine("attention.py", 9, "attention", "w = softmax(s)")
DEEPER = CodeLine("softmax.py", 4, "softmax")
ON_IMPORT, HELPER = CodeLine("attention.py", 2, TOP_LEVEL), CodeLine("my.py", 7, "f")


@pytest.mark.parametrize(("type", "trace", "status", "message"), [
    ("NotImplementedError", (OWN, DEEPER), "blocked", "attention needs softmax.softmax, which is not written yet"),
    ("NotImplementedError", (OWN,), "error", "attention still raises NotImplementedError in attention.py, line 9"),
    ("NotImplementedError", (), "not_started", "attention is not written yet"),
    ("KeyError", (OWN, HELPER), "error", "attention raised KeyError in my.py, line 7: x"),
    ("KeyError", (), "error", "attention raised KeyError: x"),
    ("NameError", (ON_IMPORT,), "error", "Python cannot import attention.py: NameError in line 2: x"),
    ("NameError", (ON_IMPORT, HELPER), "error", "Python cannot import attention.py: NameError in my.py, line 7: x"),
    ("SyntaxError", (CodeLine("a.py", 2, UNREAD),), "error", "Python cannot read a.py: SyntaxError in line 2: x"),
])  # fmt: skip
def test_verdict_on_an_exception_says_which_function_and_line_it_is_about(type, trace, status, message):
    student, attention = object.__new__(StudentCode), TRANSFORMER.functions["attention.attention"]
    student._curriculum, student._stubs = TRANSFORMER, {attention.qualified: False}
    found = student._verdict(StudentException(type, "x", trace), attention)
    assert (found.status, found.message) == (status, message)
    result = CheckResult("x", "x", "x", "passed", 1.0, inputs="q (2,)")
    _add_error(result, found, attention)
    assert (result.status, result.message) == (status, message)
    assert (result.inputs is None) is bool(result.file_at_fault) is message.startswith("Python cannot")
    lines = [place["line"] for place in (result.location, result.called_from) if place]
    assert lines == ([line.line for line in trace[::-1]] if status == "error" else [])


@pytest.mark.parametrize(("error", "status", "message"), [
    (AssertionError("a\nb"), "failed", "a"), (AssertionError(), "failed", "the check's assertion failed"),
    (KeyError("x"), "error", "internal error (please report it): KeyError: 'x'"),
])  # fmt: skip
def test_error_that_is_no_verdict_is_a_failed_assertion_or_internal(error, status, message):
    _add_error(result := CheckResult("x", "x", "x", "passed", 1.0), error, TRANSFORMER.functions["softmax.softmax"])
    assert (result.status, result.message) == (status, message)


def test_describe_inputs_uses_parameter_names():
    assert describe_inputs((4, 5), {"k": 1}, ("n_queries", "n_keys", "k")) == "n_queries 4, n_keys 5, k 1"
    assert describe_inputs((4, 5), {}, ("n_queries",)) == "n_queries 4, 5"
    assert tuple(parameters_of("attention.attention")) == ("q", "k", "v", "mask")


@pytest.mark.parametrize(("kind", "message", "words"), [
    ("ValueError", "operands could not be broadcast together with shapes (4,7) (4,) ", "keepdims=True"),
    ("ValueError", "operands could not be broadcast together with shapes (2,3,4,5) (2,4,5) ", "keepdims=True"),
    ("ValueError", "operands could not be broadcast together with shapes (4,7) (3,5) ", "aligned from the right"),
    ("IndexError", "shape mismatch: indexing arrays could not be broadcast …", "the same shape"),
    ("AxisError", "axis 1 is out of bounds for array of dimension 1", "number of axes"),
    ("IndexError", "index 7 is out of bounds for axis 1 with size 7", "size minus 1"),
    ("ValueError", "not enough values to unpack (expected 3, got 2)", "needs an x with 3 axes"),
    ("TypeError", "'NoneType' object is not subscriptable", "something is None"),
    ("UFuncTypeError", "Cannot cast ufunc 'subtract' output from dtype('float64') to dtype('int64')", "a new array"),
    ("AttributeError", "'list' object has no attribute 'shape'", "np.asarray"), ("KeyError", "'b_qkv'", "`name in d`"),
    ("TypeError", "_mean() got an unexpected keyword argument 'keepdim'", "NumPy calls them axis and keepdims"),
    ("TypeError", "softmax() got an unexpected keyword argument 'scale'", "do not change the first line"),
    ("ValueError", "`indices` and `arr` must have the same number of dimensions", "[..., None]"),
    ("OSError", "[Errno 27] File too large", "remove the print"),
    ("EOFError", "EOF when reading a line", "input() gets no answer"), ("BdbQuit", "", "breakpoint()"),
    ("ModuleNotFoundError", "torch is not available here: write it in NumPy", "its own modules"),
    ("ValueError", "The truth value of an array with more than one element is ambiguous.", "is not None"),
])  # fmt: skip
def test_exception_hint_common_cause_is_explained(kind, message, words):
    assert words in hint_for_exception(StudentException(kind, message))


def test_exception_hint_unknown_exception_is_none():
    assert hint_for_exception(StudentException("ZeroDivisionError", "division by zero")) is None
    assert hint_for_exception(StudentException("ValueError", "what the student says")) is None


def test_same_error_ignores_shape_order_and_integer_type():
    text = "operands could not be broadcast together with shapes {} {} "
    assert is_same_error(text.format("(4,7)", "(4,)"), text.format("(4,)", "(4,7)"))
    assert not is_same_error(text.format("(4,7)", "(4,)"), text.format("(4,7)", "(7,)"))
    assert is_same_error("np.int64(4)", "4")
    assert not is_same_error("np.int64(4)", "5")


@pytest.mark.parametrize(("first", "second", "same"), [
    (("ValueError", "3 is too much"), ("ValueError", "-4.5 is too much"), True),
    (("ValueError", "3 is too much"), ("TypeError", "3 is too much"), False),
    (("ValueError", "3 is too much"), ("ValueError", "3 is too little"), False),
    (("ValueError", "3"), ("ValueError", "3"), False), (("ValueError", "no"), None, False), (None, None, False),
])  # fmt: skip
def test_same_refusal_has_the_words_and_type_of_another(first, second, same):
    errors = [StudentException(*error) if error else None for error in (first, second)]
    assert is_same_refusal(*errors) is same


@pytest.mark.parametrize(("actual", "expected", "function", "words"), [
    (np.array([]), np.array([], np.int64), "tokenizer.encode", "np.array([], dtype=np.int64)"),
    (np.array([1.0]), np.array([1]), "tokenizer.encode", "dtype=np.int64"),
    (np.array([1], np.int32), np.array([1]), "tokenizer.encode", "dtype=np.int64"),
    (np.eye(2, dtype=int), np.eye(2, dtype=bool), "attention.causal_mask", "use a comparison, np.tril"),
    (np.array([2]), np.array([True]), "attention.causal_mask", "True and False are needed, not numbers"),
    (np.ones(2, np.float32), np.ones(2), "softmax.softmax", "something was converted to float32"),
    ((np.ones(2), 1), np.ones(2), "softmax.softmax", "return one value, not several"),
    (np.eye(2, dtype=int), np.eye(2), "embeddings.one_hot", ".astype(np.float64)"),
    ((["b", "a"], {}, {}), (["a", "b"], {}, {}), "tokenizer.build_vocab", "the right elements in another order"),
    ("abd", "bad", "tokenizer.decode", "the right characters in another order"),
])  # fmt: skip
def test_compare_wrong_dtype_or_order_gives_help(actual, expected, function, words):
    assert words in verdict(actual, expected, TRANSFORMER.functions[function]).help


def test_compare_wrong_shape_names_axes():
    encode, one_hot = (TRANSFORMER.functions[name] for name in ("tokenizer.encode", "embeddings.one_hot"))
    assert verdict(np.zeros(5, int), np.zeros(6, int), encode).message.endswith("(6,) = (position,)")
    message = verdict(np.zeros((2, 5)), np.zeros((2, 3, 5)), one_hot).message
    assert message.endswith("(2, 3, 5) = (batch, position, token)")


def test_diagnosis_reason_covers_each_case():
    first, second, *_ = mistakes_of_function("softmax.softmax")
    one, two = (first,), (first, second)
    assert "exactly your numbers" in Diagnosis(one).reason
    assert "raises the same error" in Diagnosis(one, raised=True).reason
    assert "either mistake" in Diagnosis(two).reason
    assert "both mistakes" in Diagnosis(two, together=True).reason
    assert "other failed checks" in Diagnosis(one, here_only=True).reason
    assert "except for the dtype" in Diagnosis(one, here_only=True, up_to_dtype=True).reason
    four = Diagnosis(one, parts=("dq", "dk", "dv", "db"))
    assert "your numbers for dq, dk, dv, db; fix it" in four.reason
    assert "your numbers for some of the results; fix it" in replace(four, parts=(*four.parts, "dW")).reason
    assert "in what softmax.softmax should do gives" in Diagnosis(one, function="softmax.log_softmax").reason
    assert Diagnosis(one, function=first.function).reason == Diagnosis(one).reason
    assert Diagnosis(one, proof="It rounds.").reason == "It rounds."


def test_diagnosis_joins_titles_and_ids():
    base = mistakes_of_function("softmax.softmax")[0]
    found = tuple(replace(base, name=name, title=name) for name in ("a", "a, and b", "c", "a"))
    either, together = Diagnosis(found), Diagnosis(found, together=True)
    assert (either.title, together.title) == ("a, or c", "a, and a, and b, and c")
    assert (either.id.count("|"), together.id.count("+")) == (3, 3)
    assert "either mistake" in either.reason and "all these mistakes" in together.reason
    assert either.as_record()["hint"] == base.hint and either.as_record()["explanation"] == base.explanation


class Entries(Cache):
    """A cache whose entries are not in a student's process."""

    def __init__(self, entries):
        self.entries = entries

    def peek(self, key):
        if key not in self.entries:
            raise Mismatch("no such entry")
        return self.entries[key]


@pytest.mark.parametrize(("wrong", "text"), [
    ("a", "first wrong at a"), ("blocks.1.c", "right up to b, first wrong at c of block 1"),
    ("", "right up to c of block 1, wrong after it"),
])  # fmt: skip
def test_first_wrong_stage_is_found_among_those_that_the_cache_has(wrong, text):
    entries = {name: float(name in (wrong, INPUTS)) for name in ("a", INPUTS, "b", "blocks.1.c")}
    call = Call(TRANSFORMER.functions["softmax.softmax"], (), {}, (1.0, Entries(entries)))
    stages = dict.fromkeys(("a", INPUTS, "b", "not_kept", "blocks.1.c"), 0.0)
    assert first_wrong_stage(call, (1.0, stages)) == text and first_wrong_stage(call, (1.0, {})) is None


NAMES = ["W_tok", "b.0.ln1.gamma", "b.0.attn.W_o", "b.0.ln2.gamma", "b.0.ffn.W_1", "b.0.ffn.W_2"]


def test_backward_order_is_reversed_with_norms_where_they_are():
    assert backward_order(NAMES, is_post_norm=False) == NAMES[::-1]
    assert backward_order(NAMES, is_post_norm=True) == [NAMES[i] for i in (3, 5, 4, 1, 2, 0)]


@pytest.mark.parametrize(("wrong", "text"), [
    ("cd", "backward: right down to b, first wrong at c"), ("ab", "backward: first wrong at a"), ("", None),
    ("def", "backward: right down to c, first wrong at d, and so is everything after it"), ("abcdef", None),
    ("d", "backward: of these parameters, only d has a wrong gradient"),
])  # fmt: skip
def test_gradients_are_described_from_the_first_wrong_one(wrong, text):
    assert _describe_gradients("abcdef", wrong) == text


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
