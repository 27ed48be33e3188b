"""What a check counts for, given what else was found."""

import pytest

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.blocking import Blocking, mark_blocked, wait_for_an_answer
from autograder.engine.pytest_plugin import Job, Outcome
from autograder.results import CheckResult, SubmissionResult

FUNCTION = "softmax.softmax"


def checked(status, sees_answers=True, function=FUNCTION):
    name = f"{function}::{'rows' if sees_answers else 'inputs_kept'}"
    earned = 1.0 if status == "passed" else 0.0
    return CheckResult(name, function, "", status, 1.0, earned, sees_answers=sees_answers)


def marked(*checks):
    result = SubmissionResult("ada", "", 0, list(checks))
    mark_blocked(result, (), TRANSFORMER)
    wait_for_an_answer(result.checks)
    return result


@pytest.mark.parametrize("status", ["failed", "error", "timeout"])
def test_inputs_left_alone_count_for_nothing_where_no_answer_is_right(status):
    result = marked(checked(status), checked("passed", sees_answers=False))
    assert result.earned == 0
    assert [check.status for check in result.checks] == [status, "blocked"]
    assert result.checks[1].blocked_by == [FUNCTION]
    assert "as soon as softmax.softmax gives a right answer" in result.checks[1].message


def test_one_right_answer_is_enough():
    result = marked(checked("failed"), checked("passed"), checked("passed", sees_answers=False))
    assert result.earned == 2


def test_a_function_of_which_no_check_sees_an_answer_is_judged_by_those():
    assert marked(checked("passed", sees_answers=False)).earned == 1


def test_what_blocks_the_answers_blocks_the_rest():
    attention = "attention.attention"
    result = marked(checked("failed"), checked("failed", True, attention), checked("passed", False, attention))
    assert [check.blocked_by for check in result.checks[1:]] == [[FUNCTION], [FUNCTION]]


def test_whatever_is_checked_again_has_one_allowance_of_time(tmp_path):
    # Code can see that it is checked again, by what lies beside it, and be slow only then, once for each function.
    path = tmp_path / "softmax.py"
    path.write_text("def softmax(x): 0\ndef log_softmax(x): softmax(x)\ndef cross_entropy(x): softmax(x)\n")
    functions = ["softmax.softmax", "softmax.log_softmax", "softmax.cross_entropy"]
    jobs = []

    def do(job):
        jobs.append(job)
        return Outcome()

    result = SubmissionResult("ada", "", 0, [checked("failed", function=function) for function in functions])
    Blocking(tmp_path, TRANSFORMER, None, do).mark(result, functions, {})
    assert [job.functions for job in jobs] == [{"softmax.log_softmax"}, {"softmax.cross_entropy"}]
    assert jobs[0].spent is jobs[1].spent
    assert jobs[0].spent is not Job(tmp_path).spent
