"""Blocked checks: which failures another function explains, and what earns no points."""

import itertools
from pathlib import Path

import pytest

from autograder.course import CACHES
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult, SubmissionResult
from autograder.engine import session
from autograder.engine.blocking import MAX_BYTES, BlockedChecks
from autograder.engine.jobs import JobResult, Options
from autograder.sandbox.policy import NO_SANDBOX, SandboxPolicy
from autograder.sandbox.student_process import ResourceUsage

FUNCTION = "softmax.softmax"


def checked(status, sees_answers=True, function=FUNCTION):
    name = f"{function}::{'rows' if sees_answers else 'inputs_kept'}"
    earned = 1.0 if status == "passed" else 0.0
    return CheckResult(name, function, "", status, 1.0, earned, sees_answers=sees_answers)


def marked(*checks):
    result = SubmissionResult("ada", "", 0, list(checks))
    marker = BlockedChecks(Path("nowhere"), Options(), lambda job: JobResult(), Code(), ResourceUsage())
    marker.mark(result, {check.function for check in checks}, {})
    return result


@pytest.mark.parametrize("status", ["failed", "error", "timeout"])
def test_input_check_without_correct_answer_is_blocked(status):
    result = marked(checked(status), checked("passed", sees_answers=False))
    assert result.earned == 0
    assert [check.status for check in result.checks] == [status, "blocked"]
    assert result.checks[1].blocked_by == [FUNCTION]


def test_input_check_beside_a_correct_answer_or_alone_earns_points():
    assert marked(checked("failed"), checked("passed"), checked("passed", sees_answers=False)).earned == 2
    assert marked(checked("passed", sees_answers=False)).earned == 1


def test_input_check_is_blocked_by_what_blocks_answers():
    attention = "attention.attention"
    result = marked(checked("failed"), checked("failed", True, attention), checked("passed", False, attention))
    assert [check.blocked_by for check in result.checks[1:]] == [[FUNCTION], [FUNCTION]]


@pytest.mark.parametrize(("file", "failure", "status"), [
    ("attention.py", "unreadable_file", "error"), ("attention.py", "slow_import", "blocked"),
    ("softmax.py", "unreadable_file", "blocked"), ("", "", "blocked"),
])  # fmt: skip
def test_error_in_the_file_itself_is_blocked_by_nothing(file, failure, status):
    unreadable = checked("error", function="attention.attention")
    unreadable.file_at_fault, unreadable.failure = file, failure
    result = marked(checked("timeout"), unreadable)
    assert (unreadable.status, unreadable.blocked_by) == (status, [FUNCTION] if status == "blocked" else [])
    assert result.checks[0].status == "timeout"


class Code:
    """Says which functions call which, in the place of the reader of a submission."""

    def __init__(self, **calls):
        self.calls, self.read = calls, 0

    def used_functions(self, content, names):
        self.read += 1
        return {name: set(used) for name, used in self.calls.items()}


def blocked(tmp_path, checks, calls, *, known=None, selected=(), reruns=(), sandbox=NO_SANDBOX, official=False):
    """The result after `mark`, the functions that were run again, and the code; `reruns` are the results of that."""
    result = SubmissionResult("ada", "", 0, checks, official_prerequisites=official)
    jobs, code, answers = [], Code(**calls), list(reruns)
    for check in checks:
        (tmp_path / f"{check.function.partition('.')[0]}.py").write_text("")

    def run_job(job):
        assert job.visible_only
        jobs.append(set(job.functions))
        return JobResult([answers.pop(0)] if answers else [])

    marker = BlockedChecks(tmp_path, Options(sandbox=sandbox), run_job, code, ResourceUsage())
    marker.mark(result, {check.function for check in checks} | set(selected), known or {})
    return result, jobs, code


ATTENTION, LOG = "attention.attention", "softmax.log_softmax"
CALLS_SOFTMAX = {"log_softmax": ["softmax"], "softmax": []}


@pytest.mark.parametrize("status", ["failed", "error", "timeout", "not_started"])
def test_known_prerequisite_that_does_not_pass_blocks(tmp_path, status):
    calls = {"attention": []}  # the code shows only what is called of the same assignment
    result, jobs, _ = blocked(tmp_path, [checked("failed", function=ATTENTION)], calls, known={FUNCTION: status})
    assert result.checks[0].blocked_by == [FUNCTION] and not jobs


@pytest.mark.parametrize("status", ["failed", "error", "timeout"])
def test_failure_of_any_kind_is_blocked_by_a_prerequisite(tmp_path, status):
    wrong = checked("failed", function=FUNCTION)
    result, jobs, _ = blocked(tmp_path, [checked(status, function=ATTENTION)], {}, reruns=[wrong])
    assert (result.checks[0].status, result.checks[0].blocked_by) == ("blocked", [FUNCTION])
    assert jobs[0] == {FUNCTION}


def test_prerequisite_that_passes_now_blocks_nothing(tmp_path):
    checks = [checked("passed"), checked("failed", function=ATTENTION)]
    result, _, _ = blocked(tmp_path, checks, {}, known={FUNCTION: "failed"})
    assert [check.status for check in result.checks] == ["passed", "failed"]


@pytest.mark.parametrize("has_cache", [False, True])
def test_prerequisite_of_the_same_assignment_blocks_if_it_is_called_or_has_a_cache(tmp_path, has_cache):
    function, need = next(
        (function, need)
        for function in TRANSFORMER.functions.values()
        for need in TRANSFORMER.all_prerequisites(function.qualified)
        if need.startswith(f"{function.module}.")
        and any(output.name in CACHES for output in TRANSFORMER.functions[need].outputs) == has_cache
    )
    for used, official in itertools.product(([], [need.partition(".")[2]]), (False, True)):
        checks, calls = [checked("failed", function=function.qualified)], {function.name: used}
        result, _, _ = blocked(tmp_path, checks, calls, known={need: "failed"}, official=official)
        assert (need in result.checks[0].blocked_by) == bool(used or has_cache)


@pytest.mark.parametrize(("need", "function"), [(FUNCTION, ATTENTION), ("llama_layers.swiglu", "llama.llama_block")])
def test_official_prerequisites_block_nothing(tmp_path, need, function):
    checks = [checked("failed", function=need), checked("failed", function=function)]
    result, jobs, _ = blocked(tmp_path, checks, {}, official=True)
    assert [check.status for check in result.checks] == ["failed", "failed"] and not jobs


@pytest.mark.parametrize(("again", "status"), [("passed", "blocked"), ("failed", "failed")])
def test_called_function_blocks_if_the_official_one_helps(tmp_path, again, status):
    rerun = checked(again, function=LOG)
    rerun.mistake = {"id": "m", "title": "", "reason": "these are its values"} if again == "failed" else None
    checks = [checked("failed"), checked("failed", function=LOG)]
    result, jobs, _ = blocked(tmp_path, checks, CALLS_SOFTMAX, reruns=[rerun])
    log = result.checks[1]
    assert (log.status, log.blocked_by) == (status, [FUNCTION] if again == "passed" else []) and jobs == [{LOG}]
    assert (log.mistake or {"reason": ""})["reason"].startswith("found with the official" if rerun.mistake else "")


@pytest.mark.parametrize("sandbox", [SandboxPolicy(unsafe=True), SandboxPolicy(("landlock",))])
def test_untrusted_code_never_runs_beside_official_functions_of_its_assignment(tmp_path, sandbox):
    checks = [checked("failed"), checked("failed", function=LOG)]
    result, jobs, _ = blocked(tmp_path, checks, CALLS_SOFTMAX, sandbox=sandbox)
    assert not jobs and result.checks[1].status == "failed"
    assert "fix that first" in result.checks[1].help and result.checks[0].help is None


def test_large_module_is_not_read(tmp_path):
    for size, read in ((MAX_BYTES, 1), (MAX_BYTES + 1, 0)):
        code = Code()
        (tmp_path / "attention.py").write_bytes(b"#" * size)
        marker = BlockedChecks(tmp_path, Options(), lambda job: JobResult(), code, ResourceUsage())
        marker.mark(SubmissionResult("ada", "", 0, [checked("failed", function=ATTENTION)]), [ATTENTION], {})
        assert code.read == read


@pytest.mark.parametrize("was_wrong", [True, False])
def test_only_wrong_answers_are_run_again_in_isolation(tmp_path, was_wrong):
    check = checked("failed" if was_wrong else "error", function=ATTENTION)
    check.wrong = {"count": 1, "total": 1} if was_wrong else None
    rerun = checked("passed", function=ATTENTION)
    result, jobs, _ = blocked(tmp_path, [check], {}, known={FUNCTION: "failed"}, reruns=[rerun])
    assert jobs == ([{ATTENTION}] if was_wrong else [])
    assert ("correct in isolation" in result.checks[0].message) is was_wrong


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
    BlockedChecks(tmp_path, Options(), run_job, reader, usage).mark(result, functions, {})
    assert [job.functions for job in jobs] == [{"softmax.log_softmax"}, {"softmax.cross_entropy"}]
    assert jobs[0].usage is jobs[1].usage is usage


def test_blocked_checks_report_what_was_left_out(submission, monkeypatch):
    def mark(self, result, selected, known):
        self.notes.append("left out")

    monkeypatch.setattr(BlockedChecks, "mark", mark)
    options = session.Options(functions=(FUNCTION,))
    assert session.check("ada", submission(softmax="def softmax(x): return x\n"), options).notes == ["left out"]
