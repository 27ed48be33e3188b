"""Requests of several pages for one engine: who waits, who is replaced, who is told of a failure."""

import queue
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.documents.results import SubmissionResult
from autograder.errors import Cancelled, UsageError
from autograder.web.serve import check_queue
from autograder.web.serve.check_queue import CheckQueue
from autograder.workspace.background_checker import CheckReply

SOFT, LOG = ("softmax.softmax",), ("softmax.log_softmax",)


class FakeChecker:
    """Takes requests, and replies when the test says so."""

    def __init__(self, workspace, on_reply):
        self.requests, self.on_reply, self.cancelled_before, self.closed = queue.SimpleQueue(), on_reply, 0, False

    def submit(self, request):
        self.requests.put(request)

    def cancel_before(self, number):
        self.cancelled_before = number

    def seconds_left(self):
        return 1.5

    def close(self):
        self.closed = True

    def reply(self, request):
        self.on_reply(CheckReply(request, SubmissionResult("w", "", request.number, [])))


class Pages:
    """Pages that send requests at the same time; the checker gets them in this order."""

    def __init__(self):
        self.failures = []
        self.queue = CheckQueue(None, self.failures.append)
        self.checker = self.queue._checker
        self._threads = ThreadPoolExecutor()

    def send(self, functions, *, in_background=False):
        """Send a request; return it as the checker gets it, and the future of its result."""
        result = self._threads.submit(self.queue.check, functions, {}, True, in_background=in_background)
        return self.checker.requests.get(timeout=60), result

    def answer(self, request, result):
        """Reply to a request, which nobody has answered yet."""
        assert not result.done()
        self.checker.reply(request)
        assert result.result(timeout=60).seed == request.number


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.setattr(check_queue, "BackgroundChecker", FakeChecker)
    pages = Pages()
    yield pages
    pages.queue.close()
    pages._threads.shutdown()


def cancelled(result):
    return isinstance(result.exception(timeout=60), Cancelled)


def test_same_request_replaces_the_running_one(pages):
    _, first = pages.send(SOFT)
    second, result = pages.send(SOFT)
    assert pages.checker.cancelled_before == second.number
    assert cancelled(first)
    pages.answer(second, result)


def test_same_request_leaves_other_waiting_ones(pages):
    _, running = pages.send(SOFT)
    waiting = pages.send(LOG)
    assert pages.checker.cancelled_before == 0
    again = pages.send(SOFT)
    assert cancelled(running)
    pages.answer(*waiting)
    pages.answer(*again)


def test_background_check_gives_way_to_a_page(pages):
    _, background = pages.send(SOFT, in_background=True)
    request, result = pages.send(LOG)
    assert cancelled(background)
    with pytest.raises(Cancelled):
        pages.queue.check(SOFT, {}, False, in_background=True)
    pages.answer(request, result)


def test_seconds_left_are_those_of_the_running_check(pages):
    assert pages.queue.seconds_left(SOFT[0]) is None
    pages.send(SOFT)
    pages.send(LOG)
    assert pages.queue.seconds_left(SOFT[0]) == 1.5 and pages.queue.seconds_left(LOG[0]) is None
    pages.queue.cancel()
    pages.send(SOFT, in_background=True)
    assert pages.queue.seconds_left(SOFT[0]) is None


def test_cancel_ends_what_runs_and_what_waits(pages):
    results = [pages.send(functions)[1] for functions in (SOFT, LOG)]
    pages.queue.cancel()
    assert all(map(cancelled, results)) and pages.checker.cancelled_before == 3
    request, result = pages.send(SOFT)
    pages.answer(request, result)


def test_failure_ends_every_check_and_later_ones(pages):
    results = [pages.send(functions)[1] for functions in (SOFT, LOG)]
    failure = RuntimeError("the engine ended")
    pages.checker.on_reply(CheckReply(None, failure=failure))
    assert [result.exception(timeout=60) for result in results] == [failure, failure] and pages.failures == [failure]
    with pytest.raises(RuntimeError, match="the engine ended"):
        pages.queue.check(SOFT, {}, True)


def test_close_ends_every_check_and_the_engine(pages):
    _, result = pages.send(SOFT)
    pages.queue.close()
    assert cancelled(result) and pages.checker.closed
    with pytest.raises(UsageError, match="headway serve has ended"):
        pages.queue.check(SOFT, {}, True)
