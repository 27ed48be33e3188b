r"""The pytest plugin: options, hooks and fixtures of graded checks. Load it with `-p autograder.engine.pytest_plugin`.

    python -m pytest -p autograder.engine.pytest_plugin --submission my-gpt \
        --pyargs autograder.courses.transformer.softmax.checks

A graded check is an ordinary test with the mark `graded(function, points=1)`; the first line of its docstring is its
title. With several functions, `graded("a.f", "a.g")`, it is one check for each of them. A check that sees no answers to
drawn inputs counts only if another check of its function passes; `alone` overrides that (see `fixtures.sees_answers`).
"""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from autograder.engine import fixtures
from autograder.engine.fixtures import CONTEXT, check_name, function_name, session_fixture
from autograder.engine.job_runner import JobRunner
from autograder.engine.jobs import Job, Options
from autograder.errors import Verdict
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import start_workers

# Pytest finds fixtures and hooks as attributes of a plugin.
student, reference, draw = map(session_fixture, ("student", "reference", "draw"))
compare, agree, stages = map(session_fixture, ("compare", "agree", "stages"))
backward, unmodified, refuses = map(session_fixture, ("backward", "unmodified", "refuses"))
pytest_pycollect_makeitem = fixtures.pytest_pycollect_makeitem

RUNNER = pytest.StashKey[JobRunner]()


def pytest_addoption(parser: "pytest.Parser") -> None:
    """Register the options; `--submission` must never be registered in a conftest."""
    group = parser.getgroup("headway", "grading one submission against PyTorch")
    group.addoption("--submission", metavar="DIR", help="folder with the submission's modules")
    group.addoption("--seed", type=int, default=0, metavar="N", help="seed of the inputs (default 0: public inputs)")
    group.addoption(
        "--call-seconds", type=float, default=Limits.call_seconds, metavar="S", help="the most CPU time per call"
    )


def pytest_configure(config: "pytest.Config") -> None:
    """Describe the mark; on pytest's own command line, make the runner."""
    mark = "graded(*functions, points=1, alone=None): a graded check of each of the functions"
    config.addinivalue_line("markers", mark)
    folder = config.getoption("submission", None)
    if folder is None or RUNNER in config.stash:
        return
    path = Path(folder)
    if not path.is_dir():
        raise pytest.UsageError(f"--submission: no such folder: {folder}")
    workers = start_workers()
    config.add_cleanup(workers.close)
    options = Options(seed=config.getoption("seed"), limits=Limits(call_seconds=config.getoption("call_seconds")))
    config.stash[RUNNER] = JobRunner(workers, options, main=lambda runner: runner.run(Job(path)))


def pytest_collection_modifyitems(config: "pytest.Config", items: list[pytest.Item]) -> None:
    """Sort the checks in the order of the curriculum."""
    runner = config.stash.get(RUNNER, None)
    if runner is None:
        return
    order = {name: i for i, name in enumerate(runner.options.curriculum.functions)}
    unknown = {name for item in items if (name := function_name(item)) and name not in order}
    if unknown:
        raise pytest.UsageError(f"checks of functions that are not in the course: {', '.join(sorted(unknown))}")
    items.sort(key=lambda item: order.get(function_name(item), -1))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Let the runner run jobs in place of pytest's loop over the collected checks."""
    runner = session.config.stash.get(RUNNER, None)
    if runner is None:
        return None
    if session.testsfailed and not session.config.option.continue_on_collection_errors:
        raise session.Interrupted(f"{session.testsfailed} errors during collection")
    if not session.config.option.collectonly:
        runner.start(session)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Prepare the check's context."""
    function, context = function_name(item), item.config.stash.get(CONTEXT, None)
    if function and context is not None:
        context.begin_check(function, check_name(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Generator[None, Any, Any]:
    """Record the check's result; report unwritten functions and blocked checks to pytest as skipped."""
    report = yield
    runner = item.config.stash.get(RUNNER, None)
    if runner is None or not function_name(item):
        return report
    result = runner.record(item, call)
    if result is not None and isinstance(call.excinfo and call.excinfo.value, Verdict):
        reason = f"{result.status}: {result.message}"
        if result.status in ("not_started", "blocked"):
            report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1] or 0, reason)
        else:
            report.longrepr = f"{reason}\n    input  {result.inputs}" if result.inputs else reason
    return report
