"""Default integers count as int64 where NumPy's default is int32; nothing changes where it is int64."""

import numpy as np
import pytest

from autograder.core import default_integer
from autograder.core.default_integer import default_as_int64
from autograder.engine.session import Options, check


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setattr(default_integer, "DEFAULT_INTEGER", np.dtype(np.int32))


def dtypes(value):
    if isinstance(value, dict):
        return {key: dtypes(item) for key, item in value.items()}
    return type(value)(map(dtypes, value)) if isinstance(value, (list, tuple)) else getattr(value, "dtype", None)


VALUE = (np.ones(2, np.int32), [np.int32(3), 4], {"a": np.ones(1, np.int16), "b": (np.ones(1, np.float32), "text")})


def test_default_integers_become_int64(narrow):
    assert dtypes(default_as_int64(VALUE)) == (np.int64, [np.int64, None], {"a": np.int16, "b": (np.float32, None)})


@pytest.mark.parametrize("arguments", [((np.int32(1),), {}), ((), {"x": [np.ones(2, np.int32)]})])
def test_type_of_an_argument_is_kept(narrow, arguments):
    assert default_as_int64(VALUE, arguments) is VALUE


def test_nothing_changes_where_int64_is_the_default():
    assert np.dtype(np.int64) != np.dtype(np.int32) and default_as_int64(VALUE) is VALUE


ENCODE = "import numpy as np\ndef encode(text, stoi):\n    return np.array([stoi[c] for c in text], np.int32)\n"


@pytest.mark.parametrize("is_narrow", [False, True])
def test_default_integers_of_a_student_are_right(submission, request, is_narrow):
    if is_narrow:
        request.getfixturevalue("narrow")
    result = check("tokenizer", submission(tokenizer=ENCODE), Options(("tokenizer.encode",), diagnose=False))
    found = {item.id.partition("::")[2]: item.message for item in result.checks}
    assert (found["encode"] == "") is is_narrow, found
