"""Choose the tests of a lane.

- fast: all tests without a mark of COSTLY
- test: those, and some of the costly tests, drawn with a seed that is printed, so that runs differ, and together cover
  everything: where the mark `drawn(count)` stands, so many of the function's parameters, or of the file's tests; of
  other slow tests, one in SHARE of each file
- all: every test

In the lane `test`, the tests of an assignment whose files have changed since the main branch are complete.
"""

import functools
import random
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT, TESTS

COSTLY = ("sandbox", "browser", "notebook", "cluster", "slow")
LANES = ("fast", "test", "all")
SHARE = 8
COURSE_FOLDERS = ("solutions", "autograder/courses", "tests/courses", "tests/submissions")

# The files that take longest, the longest first: minutes to half a minute of CPU time each.
LONGEST = (
    "authoring/test_verify.py", "sandbox/test_hostile_submissions.py", "bench/test_benchmarks.py",
    "course/test_stubs.py", "courses/transformer/test_beginners.py", "notebooks/test_nbgrader.py",
    "notebooks/test_notebooks.py", "classroom/grading/test_grade_processes.py", "engine/test_session.py",
    "report/test_class_page.py", "notebooks/test_nbgrader_exchange.py", "course/test_mixed_course.py",
    "engine/test_in_process.py",
)  # fmt: skip
left_out: Counter[str] = Counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lanes")
    group.addoption("--lane", choices=LANES, default="all", help="the tests to run (default: all)")
    group.addoption("--seed", type=int, help="the seed of what is drawn at random (default: another one in each run)")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # a process of pytest-xdist, which draws what all others draw
        config.option.seed = config.workerinput["seed"]
    elif config.option.seed is None:
        config.option.seed = random.SystemRandom().randrange(1 << 16)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    costly = {item: mark for item in items if (mark := next(filter(item.get_closest_marker, COSTLY), None))}
    # A long file that starts last makes all others wait.
    longest = {TESTS / name: number for number, name in enumerate(LONGEST)}
    files = {item.path for item in costly}
    items.sort(key=lambda item: (longest.get(item.path, len(longest)), item.path not in files))
    lane = config.option.lane
    if lane == "all":
        return
    kept = set() if lane == "fast" else draw(costly, config.option.seed, changed_assignments())
    deselected = [item for item in costly if item not in kept]
    if deselected:
        left_out.update(costly[item] for item in deselected)
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item not in costly or item in kept]


def draw(items: dict[pytest.Item, str], seed: int, changed: set[str]) -> set[pytest.Item]:
    """Return the items to keep of costly ones; of the changed assignments, all that may be drawn."""
    groups: dict[str, list[pytest.Item]] = {}
    counts: dict[str, int] = {}
    kept = set()
    for item, mark in items.items():
        node, drawn = next(item.iter_markers_with_node("drawn"), (None, None))
        if drawn is not None:
            group = item.nodeid.partition("[")[0] if node is item else node.nodeid
            counts[group] = drawn.args[0]
        elif mark == "slow":
            group = item.nodeid.partition("::")[0]
            counts[group] = len(groups.get(group, [])) // SHARE + 1
        else:
            continue
        groups.setdefault(group, []).append(item)
    for group, members in groups.items():
        kept.update(random.Random(f"{seed} {group}").sample(members, min(counts[group], len(members))))
        kept.update(item for item in members if is_about(item, changed))
    return kept


def is_about(item: pytest.Item, assignments: set[str]) -> bool:
    """Return whether a parameter of the test is one of these assignments, or one of their functions."""
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec else ()
    return any(isinstance(value, str) and value.partition(".")[0] in assignments for value in values)


@functools.cache
def changed_assignments() -> set[str]:
    """Return the assignments with files that differ from the main branch; none where git cannot tell."""
    from autograder.courses.transformer import TRANSFORMER

    def git(*arguments: str) -> list[str]:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.split() if done.returncode == 0 else []

    base = next(filter(None, (git("merge-base", "HEAD", name) for name in ("origin/main", "main"))), ["HEAD"])
    paths = git("diff", "--name-only", base[0], "--", *COURSE_FOLDERS)
    paths += git("ls-files", "--others", "--exclude-standard", "--", *COURSE_FOLDERS)
    words = {part.removesuffix(".py").removeprefix("test_") for path in paths for part in Path(path).parts}
    return words & TRANSFORMER.modules.keys()


class Drawing:
    """What a test draws: everything in the lane `all`, otherwise a part that depends on the seed and the test."""

    def __init__(self, lane: str, seed: int, name: str) -> None:
        self.seed = seed
        self.is_complete = lane == "all"
        self._random = random.Random(f"{seed} {name}")

    def some(self, values: Iterable[Any], count: int, assignment: str = "") -> list[Any]:
        """Return `count` of the values, in their order; all of an assignment whose files have changed."""
        values = list(values)
        if self.is_complete or len(values) <= count or assignment in changed_assignments():
            return values
        chosen = sorted(self._random.sample(range(len(values)), count))
        return [values[index] for index in chosen]


@pytest.fixture
def drawing(request: pytest.FixtureRequest) -> Drawing:
    return Drawing(request.config.option.lane, request.config.option.seed, request.node.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["seed"] = node.config.option.seed


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # a process of pytest-xdist
        session.config.workeroutput["left_out"] = dict(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    for lane, count in getattr(node, "workeroutput", {}).get("left_out", {}).items():
        left_out[lane] = count  # not added up: all processes leave out the same tests


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    line = f"Lane {config.option.lane}, drawn with --seed {config.option.seed}."
    if left_out:
        counts = ", ".join(f"{left_out[name]} {name}" for name in COSTLY if left_out[name])
        line += f" Left out: {counts} (make test-all runs every test)."
    terminalreporter.write_line(line)
