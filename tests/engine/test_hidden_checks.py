"""Inputs of hidden checks reach no output that a student sees."""

import copy
import re

import pytest
from support.commands import SOFTMAX, timeless
from support.editing import write_files
from support.raising import raising

from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult, SubmissionResult, hidden_document, to_document, withhold
from autograder.engine import student
from autograder.engine.session import Options, run_in_session
from autograder.sandbox.limits import Limits

# Prints the inputs of this call, marked, and everything that earlier calls have left behind.
MEMORY = """
import numpy as np
SEEN = []
def recall():
    return SEEN
def remember(text):
    SEEN.append(text)
"""
FILE = """
import numpy as np
PATH = {path!r}
def recall():
    try:
        return open(PATH).read().split()
    except OSError:
        return []
def remember(text):
    with open(PATH, "a") as file:
        print(text, file=file)
"""
CODE = """
def softmax(x, axis=-1, temperature=1.0):
    x = np.asarray(x)
    print("earlier", *recall())
    remember(repr(float(np.nansum(np.abs(x)))))
    print("now", repr(float(np.nansum(np.abs(x)))))
    return x
"""


def inputs(check):
    return set(re.findall(r"^now (.+)$", check.output, re.MULTILINE))


def check_with_id(result, name):
    return next(check for check in result.checks if check.id == name)


@pytest.mark.parametrize("way", [MEMORY, FILE], ids=["memory", "file"])
@pytest.mark.parametrize("hidden", ["softmax.softmax::rows", "softmax.softmax::dtypes"], ids=["first", "later"])
def test_hidden_inputs_cannot_be_printed_in_visible_checks(submission, check_submission, tmp_path, way, hidden):
    folder = submission(softmax=way.format(path=str(tmp_path / "notes")) + CODE)
    shown = check_submission(folder, "softmax.softmax", diagnose=False)
    secrets = inputs(check_with_id(shown, hidden))
    assert secrets
    (tmp_path / "notes").unlink(missing_ok=True)
    result = check_submission(folder, "softmax.softmax", diagnose=False, is_hidden=lambda check: check == hidden)
    assert [check.id for check in result.checks] == [check.id for check in shown.checks]
    assert [check.status for check in result.checks] == [check.status for check in shown.checks]
    visible = [check for check in result.checks if check.id != hidden]
    assert any("earlier" in check.output for check in visible)
    for check in visible:
        for secret in secrets - inputs(check):
            assert secret not in check.output
    assert check_with_id(result, hidden).output == ""


def test_hidden_checks_see_nothing_of_visible_ones(submission, check_submission, tmp_path):
    begin = "    remember('x')\n    x = np.asarray(x) if len(SEEN) < 4 else 2 * np"  # Only the first calls are right.
    code = MEMORY + SOFTMAX.replace("    x = np", begin, 1)
    folder, hidden = submission(softmax=code), "softmax.softmax::vector"
    shown = check_submission(folder, "softmax.softmax", diagnose=False)
    assert check_with_id(shown, hidden).status == "failed"  # not the first two calls
    result = check_submission(folder, "softmax.softmax", diagnose=False, is_hidden=lambda check: check == hidden)
    assert check_with_id(result, hidden).status == "passed"


@pytest.mark.parametrize(("level", "keys", "message"), [
    ("full", {"yours", "expected", "shape"}, "is 3, not 4"), ("summary", {"shape"}, "is 3: wrong"), ("none", None, ""),
])  # fmt: skip
def test_feedback_below_full_shows_no_expected_value(level, keys, message):
    error_map = {"yours": [3], "expected": [4], "shape": [1]}
    more = {"secret": (", not 4", ": wrong"), "worst": {"expected": 4}, "error_map": error_map}
    check = CheckResult("a.f::x", "a.f", "x", "failed", 1.0, message="is 3, not 4", **more)
    withhold(result := SubmissionResult("ada", "", 0, [check], seconds=1.5), level)
    (check,) = result.checks
    assert (check.message, check.worst) == (message, {"expected": 4} if level == "full" else None)
    assert (None if check.error_map is None else {*check.error_map}) == keys and len(error_map) == 3
    assert result.seconds == (2 if level == "none" else 1.5)
    check.message, check.secret = "is 3, not", (", not 4", ": wrong")
    withhold(result, "summary")
    assert check.message == "the value: wrong" or level == "none"


HIDDEN = "softmax.log_softmax::log_extreme"
# A known mistake, and something else on the hidden input.
WAYS = """
import os
import time
import warnings
import numpy as np
def log_softmax(x, axis=-1):
    x = np.asarray(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x, float)
    if np.max(x) == 1000.0:
        {way}
    return x - np.log2(np.sum(np.exp(x - x.max(axis, keepdims=True)), axis, keepdims=True)) - x.max(axis, keepdims=True)
def raise_in(name):
    module, function = name.split(".")
    path = os.path.join(os.path.dirname(__file__), module + ".py")
    scope = {{}}
    exec(compile(f"def {{function}}():\\n    raise NotImplementedError", path, "exec"), scope)
    scope[function]()
"""
FAILURES = {
    "the mistake": "pass",
    "another value": "return np.zeros(3)",
    "another mistake": "return x - x.max(axis, keepdims=True)",
    "no value": "return None",
    "an exception": "raise ValueError(repr(x))",
    "an import error": "exec(compile('1 / 0', __file__, 'exec'))",
    "a missing function": "raise_in('attention.attention')",
    "another missing function": "raise_in('gpt.gpt')",
    "the function itself missing": "raise_in('softmax.log_softmax')",
    "the end of the process": "os._exit(7)",
    "a loop": "while True: pass",
    "some time": "time.sleep(0.2)",
    "output": "print(x)",
    "a warning": "warnings.warn(repr(x))",
    "changed inputs": "x += 1",
}


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """Return the result of each way to fail the hidden check."""
    folder, found = tmp_path_factory.mktemp("failures"), {}
    write_files(folder, {f"{name}/softmax.py": WAYS.format(way=way) for name, way in FAILURES.items()})
    limits = Limits(call_seconds=0.2)
    options = Options(("softmax.log_softmax",), limits=limits, is_hidden=lambda check: check == HIDDEN)
    run_in_session(options, lambda s: found.update({n: s.check(n, folder / n, options.functions) for n in FAILURES}))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("level", ["summary", "none"])
def test_way_in_which_a_hidden_check_fails_shows_nowhere(failures, level):
    documents = {}
    for name, result in failures.items():
        shown = copy.deepcopy(result)
        withhold(shown, level, lambda check: check == HIDDEN)
        document = to_document(shown, TRANSFORMER) | {"submission": {}}
        assert document["seconds"] % 1 == 0 and document["used"] is None
        assert check_with_id(shown, HIDDEN).seconds == 0.0
        documents[name] = timeless(document)
    first = documents.pop("the mistake")
    checks = {check["id"]: check for check in first["assignments"][0]["functions"][0]["checks"]}
    assert checks[HIDDEN]["status"] == "failed"
    assert level == "none" or checks["softmax.log_softmax::log_rows"]["mistake"]
    assert {name: document for name, document in documents.items() if document != first} == {}


def test_hidden_check_of_an_unwritten_function_is_not_started(submission, check_submission):
    folder = submission(softmax="def log_softmax(x, axis=-1):\n    raise NotImplementedError\n")
    result = check_submission(folder, "softmax.log_softmax", is_hidden=lambda check: check == HIDDEN)
    assert {check.status for check in result.checks} == {"not_started"}


@pytest.mark.slow
def test_internal_error_in_a_hidden_check_shows_no_text(submission, check_submission, monkeypatch):
    monkeypatch.setattr(student, "default_as_int64", raising(ZeroDivisionError("the input")))
    hidden, shown = (
        check_submission(submission(softmax=SOFTMAX), "softmax.softmax", is_hidden=lambda check, is_it=is_it: is_it)
        for is_it in (True, False)
    )
    assert hidden.internal_errors and "the input" not in str(hidden)
    assert "the input" in shown.internal_errors[0]


@pytest.mark.parametrize(("status", "others", "expected"), [
    ("passed", {"passed"}, "passed"), ("error", {"error", "passed"}, "failed"),
    ("not_started", {"not_started", "passed"}, "failed"), ("not_started", {"not_started"}, "not_started"),
])  # fmt: skip
def test_hidden_check_says_only_whether_it_passed(status, others, expected):
    check = {"id": "a", "function": "f", "title": "t", "status": status, "points": {"possible": 1.0, "earned": 0.0}}
    assert hidden_document(check, others)["status"] == expected
