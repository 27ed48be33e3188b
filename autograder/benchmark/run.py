"""Ask a runner about a data set, or a share of it, with several processes."""

import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autograder.benchmark.dataset import questions
from autograder.benchmark.records import Implementation, Question
from autograder.benchmark.runner_process import CommandNotFound, RunnerProcess, RunnerResult
from autograder.core.text import clean
from autograder.curriculum import registry
from autograder.errors import UsageError

RUNNERS = {name: f"autograder.benchmark.{name}_runner" for name in ("headway", "allclose", "naive")}


def included_command(name: str) -> list[str]:
    """Return the command of an included runner."""
    return [sys.executable, "-m", RUNNERS[name]]


def sample(items: Sequence[Implementation], share: int) -> list[Implementation]:
    """Return one in `share` of the implementations: always the same ones, chosen by their ids."""
    return [item for item in items if zlib.crc32(item.id.encode()) % share == 0]


def ask(
    command: Sequence[str],
    items: Sequence[Implementation],
    everything: Sequence[Implementation],
    *,
    processes: int = 1,
    seconds: float,
    on_answer: Callable[[], object] = lambda: None,
) -> RunnerResult:
    """Ask a command about `items`, until Ctrl-C; raise UsageError if it cannot be started.

    Args:
        command: the runner.
        items: the implementations.
        everything: the whole data set, whose causes are the candidates.
        processes: how many copies of the command run at the same time.
        seconds: the most time between two answers of a copy.
        on_answer: called after each answer.
    """
    result = RunnerResult()
    with tempfile.TemporaryDirectory(prefix="headway-") as modules, ThreadPoolExecutor(processes) as pool:
        for name, path in registry.official_files(registry.default()).items():
            shutil.copyfile(path, Path(modules, name))
        parts = _parts(questions(items, everything), processes)
        runners = [RunnerProcess(command, modules, seconds, on_answer) for _ in parts]
        asking = [pool.submit(runner.ask, part) for runner, part in zip(runners, parts, strict=True)]
        try:
            for future in asking:
                future.result()
        except KeyboardInterrupt:  # What was answered is scored: it may have cost money.
            result.interrupted = True
        except CommandNotFound as error:
            text = f"cannot start {clean(command[0], 200)!r} ({clean(str(error), 200)})"
            raise UsageError(f"{text}. Give the runner's command after two dashes: -- python3 my_runner.py") from None
        finally:
            for runner in runners:
                runner.stop()
    for runner in runners:
        result.add(runner.result)
    return result


def _parts(asked: Sequence[Question], count: int) -> list[list[Question]]:
    """Return the questions in `count` parts of similar size, with all questions about a function in one part."""
    sizes = Counter(question.function for question in asked)
    loads, part_of = [0] * count, dict[str, int]()
    for function, size in sizes.most_common():
        part_of[function] = loads.index(min(loads))
        loads[part_of[function]] += size
    parts = [[question for question in asked if part_of[question.function] == i] for i in range(count)]
    return [part for part in parts if part]
