"""What is reported where no mistake is known: single changes of the solution, and effects on the answer."""

import numpy as np
import pytest
from support.commands import SOFTMAX
from support.judging import by_name, judged, mistakes_in, solution_text, wrapped_solution

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.effects import diagnose_effect
from autograder.engine.diagnosis.replay import Answer
from autograder.engine.student import Call

pytestmark = pytest.mark.usefixtures("enough_time")


@pytest.fixture(autouse=True)
def no_table(request, monkeypatch):
    """Leave out the known mistakes, so that adding some changes nothing here."""
    if "documented_error" not in request.node.name:
        monkeypatch.setattr("autograder.engine.diagnosis.diagnose.mistakes_of_function", lambda *args: ())


def titles(failed):
    return {name: outcome.mistake and outcome.mistake["title"] for name, outcome in by_name(failed).items()}


@pytest.mark.parametrize(("function", "changed", "title"), [
    ("ffn.relu_backward", "np.float64(1) * result", "dx is float64, not float32"),
    ("ffn.linear_backward", "(result[0], result[1][None], result[2])", "dW is right, but in the shape"),
    ("ffn.dropout_backward", "7 * result", "dx is 7 times the correct value"),
    ("ffn.linear", "_official(args[0][..., ::-1], *args[1:])", "x is reversed along its last axis"),
    ("ffn.linear", "_official(args[0], args[1].reshape(args[1].shape[::-1]).T, args[2])", "filled column by column"),
])  # fmt: skip
def test_diagnose_effect_of_unknown_mistake(tmp_path, function, changed, title):
    found = titles(judged(tmp_path, function, wrapped_solution(function, f"return {changed}")))
    assert all(title in text for text in found.values()), found


@pytest.mark.parametrize("function", ["ffn.relu_backward", "ffn.gelu", "layernorm.rmsnorm_backward"])
@pytest.mark.parametrize("body", ["None", "0 * args[0]", "2.5", "args[0]"])
def test_diagnose_placeholder_is_recognized(tmp_path, function, body):
    words = {"None": "None", "0 * args[0]": "zeros", "2.5": "2.5", "args[0]": "unchanged"}[body]
    found = set(titles(judged(tmp_path, function, wrapped_solution(function, f"return {body}"))).values())
    assert len(found - {None}) == 1 and words in (found - {None}).pop()


@pytest.mark.slow
def test_diagnose_results_exchanged_within_a_dict(tmp_path):
    code = 'return result[0], result[1] | {"ln1.gamma": result[1]["ln2.beta"], "ln2.beta": result[1]["ln1.gamma"]}'
    found = titles(judged(tmp_path, "blocks.block_backward", wrapped_solution("blocks.block_backward", code)))
    assert set(found.values()) == {"grads['ln1.gamma'] and grads['ln2.beta'] are swapped"}


def test_diagnose_adds_up_the_single_numbers_of_several_checks(tmp_path):
    found = titles(judged(tmp_path, "training.learning_rate", solution_text("training", ("math.pi * ", ""))))
    assert set(found.values()) == {"the factor math.pi is missing"}


def test_diagnose_unreadable_file_names_no_mistake(tmp_path):
    assert mistakes_in(tmp_path, "softmax.softmax", "def softmax(x:\n") == {None}


def test_diagnose_error_for_a_number_of_axes(tmp_path):
    text = f"""{solution_text("ffn")}

_official = linear


def linear(x, W, b):
    if x.ndim == 3:
        _, _ = x.shape
    return _official(x, W, b)
"""
    found = titles(judged(tmp_path, "ffn.linear", text))
    assert all("for x with 3 axes" in title for title in found.values())


def test_diagnose_documented_error_is_separate(tmp_path):
    """An error that is not raised does not hide the mistake in the numbers."""
    text = SOFTMAX.replace("/ temperature", "* temperature").replace("if temperature <= 0", "if False")
    found = titles(judged(tmp_path, "softmax.softmax", text))
    for name in ("errors", "errors_zero"):
        errors = found.pop(name)
        assert "ValueError" in errors or "temperature" in errors
    assert set(found.values()) == {"the scores were multiplied by the temperature instead of divided"}


def test_diagnose_refused_input_that_is_allowed(tmp_path):
    text = """
import numpy as np

def train_val_split(ids, train_fraction=0.9):
    if not 0 < train_fraction < 1:
        raise ValueError(f"bad fraction: {train_fraction}")
    n = int(len(ids) * train_fraction)
    return ids[:n], ids[n:]
"""
    found = titles(judged(tmp_path, "tokenizer.train_val_split", text))
    assert found == {"split_edges": "ValueError is raised for an input that is allowed"}


WRONG_KEYS = """
def build_vocab(text, start=0):
    chars = sorted(set(text))
    stoi = {char: number for number, char in enumerate(chars)}
    return chars, stoi, {number: char for char, number in stoi.items()}
"""
FREE_TEXT = """
import numpy as np

def encode(text, stoi):
    for char in text:
        if char not in stoi:
            raise ValueError("character not in vocab")
    return np.array([stoi[char] for char in text], dtype=np.int64)
"""
ERROR_FOR_AXES_THAT_WORK_ELSEWHERE = """

def matmul_backward(dout, a, b):
    da = sum_to_shape(dout @ np.swapaxes(b, -1, -2), b.shape)
    return da, sum_to_shape(np.swapaxes(a, -1, -2) @ dout, a.shape)
"""
# A constant without an effect on the numbers, such as the right one, explains nothing.
WRONG_TYPE = wrapped_solution("training.learning_rate", "return np.float64(result)")


@pytest.mark.parametrize(("function", "text", "words"), [
    ("tokenizer.build_vocab", WRONG_KEYS, "itos"), ("training.learning_rate", WRONG_TYPE, "default"),
    pytest.param("tokenizer.encode", FREE_TEXT, "another unknown", id="documented_error"),
    pytest.param("gradients.matmul_backward", solution_text("gradients") + ERROR_FOR_AXES_THAT_WORK_ELSEWHERE,
                 "it is right for b with 2", marks=pytest.mark.slow, id="axes"),
])  # fmt: skip
def test_diagnose_does_not_blame_what_is_right(tmp_path, function, text, words):
    assert words not in str(titles(judged(tmp_path, function, text)))


@pytest.mark.parametrize(("given", "right", "title"), [
    ("a", "abc", "grads is missing 'b', 'c'"), ("ab", "a", "grads also has 'b'"), ("ba", "ab", None),
])  # fmt: skip
def test_missing_and_extra_keys_are_told_apart(given, right, title):
    call = Call(TRANSFORMER.functions["blocks.block_backward"], (), {}, (X, dict.fromkeys(given, X)))
    found = diagnose_effect(call, Answer((X, dict.fromkeys(right, X))), TRANSFORMER.package)
    assert (found and {*found.title.split("'")}) == (title and {*title.split("'")})


X = np.arange(48.0).reshape(4, 12) ** 1.5
TIED = np.array([[3.0, 1.0, 3.0, 2.0, 2.0], [0.0, 5.0, 5.0, 1.0, 5.0]])
LAST_FIRST = np.array([[2, 0, 4, 3, 1], [4, 2, 1, 3, 0]])


@pytest.mark.parametrize(("given", "right", "title"), [
    (X.reshape(12, 4), X.reshape(-1).reshape(12, 4, order="F"), "right, but in another order: read with axes 0 and 1"),
    (np.concatenate([X[:, 0::2], X[:, 1::2]], axis=1), X, "read with axis 1 as 6 × 2, column by column"),
    (X.reshape(4, 3, 4).swapaxes(0, 1).reshape(4, 12), X, "axis 1 as 3 × 4, the axes in the order"),
    (np.vstack([X[:1], np.roll(X[1:3], 1, 1), X[3:]]), X, "shifted by one along axis 1 within [1:3, 0:12]"),
    (LAST_FIRST[:, 0], TIED.argmax(1), "of equal values another one is taken"),
    (LAST_FIRST, np.argsort(-TIED, kind="stable"), "of equal values another one is taken"),
    (3, 0, None), (np.array([0, 3]), TIED.argmax(1), None), (X[:, ::-1] + 1, X, None),
])  # fmt: skip
def test_other_order_or_other_one_of_equal_values_is_described(given, right, title):
    call = Call(TRANSFORMER.functions["softmax.softmax"], (TIED[0] if isinstance(given, int) else TIED,), {}, given)
    found = diagnose_effect(call, Answer(right), TRANSFORMER.package)
    assert found is None if title is None else found is not None and title in found.title, found
