"""Blocked checks: which failures another function explains, and what earns no points."""

import pytest

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.blocking import BlockedChecks, block_without_correct_answer, mark_blocked
from autograder.engine.jobs import JobResult
from autograder.results import CheckResult, SubmissionResult
from autograder.sandbox import ResourceUsage

FUNCTION = "softmax.softmax"


def checked(status, sees_answers=True, function=FUNCTION):
    name = f"{function}::{'rows' if sees_answers else 'inputs_kept'}"
    earned = 1.0 if status == "passed" else 0.0
    return CheckResult(name, function, "", status, 1.0, earned, sees_answers=sees_answers)


def marked(*checks):
    result = SubmissionResult("ada", "", 0, list(checks))
    mark_blocked(result, (), TRANSFORMER)
    block_without_correct_answer(result.checks)
    return result


@pytest.mark.parametrize("status", ["failed", "error", "timeout"])
def test_input_check_without_correct_answer_is_blocked(status):
    result = marked(checked(status), checked("passed", sees_answers=False))
    assert result.earned == 0
    assert [check.status for check in result.checks] == [status, "blocked"]
    assert result.checks[1].blocked_by == [FUNCTION]
    assert "another check of this function" in result.checks[1].message


def test_input_check_with_one_correct_answer_earns_points():
    result = marked(checked("failed"), checked("passed"), checked("passed", sees_answers=False))
    assert result.earned == 2


def test_function_without_answer_checks_earns_points():
    assert marked(checked("passed", sees_answers=False)).earned == 1


def test_input_check_is_blocked_by_what_blocks_answers():
    attention = "attention.attention"
    result = marked(checked("failed"), checked("failed", True, attention), checked("passed", False, attention))
    assert [check.blocked_by for check in result.checks[1:]] == [[FUNCTION], [FUNCTION]]


def test_reruns_share_one_budget(tmp_path, reader):
    # Code can detect a re-run by the files beside it, and be slow only then, once for each function.
    path = tmp_path / "softmax.py"
    path.write_text("def softmax(x): 0\ndef log_softmax(x): softmax(x)\ndef cross_entropy(x): softmax(x)\n")
    functions = ["softmax.softmax", "softmax.log_softmax", "softmax.cross_entropy"]
    jobs = []

    def run_job(job):
        jobs.append(job)
        return JobResult()

    result = SubmissionResult("ada", "", 0, [checked("failed", function=function) for function in functions])
    usage = ResourceUsage()
    BlockedChecks(tmp_path, TRANSFORMER, None, run_job, reader, usage).mark(result, functions, {})
    assert [job.functions for job in jobs] == [{"softmax.log_softmax"}, {"softmax.cross_entropy"}]
    assert jobs[0].usage is jobs[1].usage is usage
