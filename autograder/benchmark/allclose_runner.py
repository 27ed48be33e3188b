"""The runner with plain `numpy.allclose` tests: an implementation is wrong if its test in `docstring_tests` fails.

It names no mistakes. The sources run in a process of their own with a time limit, but without a sandbox. So it refuses
sources that are not in Headway's own data set.
"""

import argparse
import hashlib
import sys
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from autograder.benchmark import dataset
from autograder.benchmark.allclose_worker import run_worker
from autograder.benchmark.answer_lines import read_questions, write_answer
from autograder.benchmark.records import Answer, Question
from autograder.curriculum import registry
from autograder.errors import UsageError

SECONDS = 20.0  # for one implementation; the slowest correct one takes about one
GRACE_SECONDS = 5.0  # for the process that runs the tests to end one itself
START_SECONDS = 60.0


def main() -> None:
    """Answer every question on standard input."""
    parser = argparse.ArgumentParser(description="Answer questions of the benchmark with numpy.allclose tests.")
    parser.add_argument("--unsafe", action="store_true", help="run any source, with your own privileges")
    arguments = parser.parse_args()
    worker = _Worker()
    known = _KnownSources()
    try:
        for question in read_questions():
            if not arguments.unsafe and question not in known:
                error = "not run: the source is not in the data set of this version of Headway, and there is no sandbox"
                write_answer(Answer(question.id, error=error))
            else:
                write_answer(worker.answer(question))
    finally:
        worker.stop()


class _KnownSources:
    """The sources of Headway's own data set."""

    def __init__(self) -> None:
        try:
            self._submissions = dataset.find_submissions(None)
        except UsageError as error:
            sys.exit(str(error))
        self._hashes: dict[str, set[bytes]] = {}

    def __contains__(self, question: Question) -> bool:
        name = question.function
        if name not in registry.default().functions:
            return False
        if name not in self._hashes:
            items = dataset.implementations(self._submissions, [name])
            self._hashes[name] = {_digest(item.source) for item in items}
        return _digest(question.source) in self._hashes[name]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class _Worker:
    """A process that runs tests, started again if it does not answer."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question: a test that does not end, or ends the process, has failed."""
        connection = self._connection or self._start()
        try:
            connection.send((question.function, question.source))
            if not connection.poll(SECONDS + GRACE_SECONDS):
                raise TimeoutError
            verdict: bool | None = connection.recv()
        except (OSError, EOFError):  # TimeoutError is an OSError.
            self.stop()
            return Answer(question.id, True)
        if verdict is None:
            return Answer(question.id, error="there is no test for this function")
        return Answer(question.id, verdict)

    def _start(self) -> Connection:
        context = get_context("spawn")
        own, other = context.Pipe()
        self._process = context.Process(target=run_worker, args=(other, SECONDS), daemon=True)
        self._process.start()
        other.close()
        if not own.poll(START_SECONDS) or own.recv() != "ready":
            sys.exit("the process that runs the tests did not start")
        self._connection = own
        return own

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._connection = None


if __name__ == "__main__":
    main()
