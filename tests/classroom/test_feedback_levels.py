"""Test that results for students reveal no expected value, whatever a submission does to provoke one."""

import copy
import json

import pytest
from support.editing import write_files

from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult, SubmissionResult, most_urgent, to_document, withhold
from autograder.engine import session

WRONG = {
    "softmax": (
        "import numpy as np\n"
        "def softmax(x, axis=-1, temperature=1.0):\n    return np.zeros(np.shape(x))\n"
        "def log_softmax(x, axis=-1):\n    return np.full(np.shape(x), np.nan)\n"
        "def cross_entropy(logits, targets):\n    return 10**400\n"
    ),
    # Texts made to look like the comparer's sentences that tell no value.
    "tokenizer": (
        "def build_vocab(text):\n    return ['x has shape y has dtype z, expected '], {'q has shape': 1}, {7: 'x'}\n"
        "def encode(text, stoi):\n    return 'x has shape y'\n"
        "def decode(ids, itos):\n    return 'x has shape y, expected z'\n"
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = write_files(tmp_path_factory.mktemp("wrong"), {f"{module}.py": text for module, text in WRONG.items()})
    names = tuple(name for name, function in TRANSFORMER.functions.items() if function.module in WRONG)
    return session.check("wrong", folder, session.Options(functions=names, official=True))


def document(result, level):
    result = copy.deepcopy(result)
    withhold(result, level)
    return result, json.dumps(to_document(result, TRANSFORMER), ensure_ascii=False)


def secrets(result):
    """Expected values as the full document has them: of single values the text, of arrays the worst entry's digits."""
    for check in result.checks:
        if check.secret is not None and check.secret[0].startswith(", expected "):
            yield check, check.secret[0].removeprefix(", expected ")
        if check.worst is not None and isinstance(check.worst["expected"], float) and check.worst["expected"] % 1:
            yield check, repr(check.worst["expected"])


@pytest.mark.slow
def test_withhold_removes_expected_values(graded):
    full, whole = document(graded, "full")
    found = list(secrets(full))
    assert len({check.function for check, _ in found}) >= 4, "these submissions should provoke expected values"
    for level in ("summary", "none"):
        told = {check.id: vars(check) for check in document(graded, level)[0].checks}
        for check, secret in found:
            shown = told[check.id]
            assert check.secret is None or check.secret[0] not in shown["message"]
            assert secret not in json.dumps([shown[key] for key in ("worst", "help", "error_map", "first_wrong_stage")])
    assert "secret" not in json.loads(whole)["assignments"][0]["functions"][0]["checks"][0]


def test_withhold_removes_expected_keys(graded):
    told, _ = document(graded, "summary")
    messages = [check.message for check in told.checks if check.function.startswith("tokenizer.build_vocab")]
    assert messages
    assert not any("must be" in message and "keys" in message for message in messages)


def test_withhold_keeps_points(graded):
    def points(level):
        return [(check.id, check.earned, check.possible) for check in document(graded, level)[0].checks]

    assert points("full") == points("summary") == points("none")


def test_withhold_none_leaves_points_and_whether_a_check_passed(graded):
    told, _ = document(graded, "none")
    assert {check.status for check in graded.checks} >= {"error", "failed", "blocked"}
    for before, check in zip(graded.checks, told.checks, strict=True):
        status = before.status if before.status in ("passed", "not_started") else "failed"
        kept = (check.id, check.function, check.title, status, check.possible, check.earned)
        assert check == CheckResult(*kept, sees_answers=check.sees_answers)


def test_document_records_the_sandbox(graded):
    assert json.loads(document(graded, "summary")[1])["sandbox"] == ["process", "limits"]


@pytest.mark.parametrize("name", ["torch", "scipy", "jax", "tensorflow.keras", "sklearn.linear_model", "pandas"])
def test_use_of_other_library_has_a_clear_message(name, submission, check_submission):
    code = f"import {name} as other\ndef log_softmax(x, axis=-1):\n    return other.log_softmax(x)\n"
    result = check_submission(submission(softmax=code), "softmax.log_softmax")
    assert result.earned == 0 and f"No module named {name.partition('.')[0]!r}" in result.checks[0].message
    assert result.checks[0].location == {"file": "softmax.py", "line": 3, "text": "return other.log_softmax(x)"}


def test_document_counts_bonus_as_earned_only_and_needs_a_check_to_pass():
    names = ("layernorm.layernorm", "layernorm.rmsnorm")  # the second is a bonus
    checks = [CheckResult(f"{name}::a", name, "A", "passed", 2.0, 2.0) for name in names]
    whole = to_document(SubmissionResult("ada", "", 7, checks), TRANSFORMER)
    ((assignment,), points) = whole["assignments"], {"earned": 4.0, "possible": 2.0}
    assert whole["points"] == assignment["points"] == points and whole["passed"] and not whole["public_seed"]
    found = [(one["name"], one["bonus"], one["points"]["possible"]) for one in assignment["functions"]]
    assert found == [("layernorm", False, 2.0), ("rmsnorm", True, 2.0)]
    empty = to_document(SubmissionResult("ada", "", 0, []), TRANSFORMER)
    assert (empty["passed"], empty["assignments"], empty["public_seed"]) == (False, [], True)


def test_most_urgent_status_stands_for_a_function():
    order = ["error", "timeout", "failed", "blocked", "not_started", "passed"]
    assert [most_urgent(order[start:]) for start in range(len(order))] == order and most_urgent(()) == "passed"
