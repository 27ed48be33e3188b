"""Test that all tasks are graded on a cluster with silent workers, which neither fail nor answer."""

import asyncio
import contextlib
import json
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.classroom.grading import dask_cluster
from autograder.classroom.grading.worker import GradedDocuments, GradingTask, WorkerSetup
from autograder.classroom.storage.result_store import JournalEntry
from autograder.engine.session import Options
from autograder.errors import UsageError


class Silent(BaseException):
    """Raised in place of waiting for an answer that never comes."""


class Future:
    def __init__(self, key):
        self.key, self.status, self._callbacks = key, "pending", []

    def add_done_callback(self, callback):
        self._callbacks.append(callback)

    def finish(self, reply):
        self.status, self.reply = "finished", reply
        for callback in self._callbacks:
            callback(self)


class Scheduler:
    """A fake Dask client that gives a task to a silent worker whenever it may, as Dask may when others are busy.

    With `answer`, silent workers finish their tasks, but their results cannot be fetched.
    """

    def __init__(self, silent, workers, *, answer):
        self.silent, self.answer, self.holders = silent, answer, {name: {} for name in workers}
        self.loop = SimpleNamespace(add_callback=lambda fetch, *arguments: self._run(fetch(*arguments)))
        self.where = {}

    def _run(self, fetching):
        with contextlib.suppress(Silent):
            asyncio.run(fetching)

    async def gather(self, future, *, asynchronous):
        if self.where[future.key] in self.silent:
            raise Silent
        return future.reply

    def who_has(self, futures):
        return {future.key: [self.where[future.key]] if future.status == "finished" else [] for future in futures}

    def nthreads(self):
        return dict.fromkeys(self.holders, 1)

    def submit(self, function, name, unit, *, key, resources, workers=None, allow_other_workers=False, pure):
        allowed = self.holders if workers is None or allow_other_workers else workers
        chosen = next((worker for worker in self.silent if worker in allowed), None) or next(iter(allowed))
        assert key not in self.holders[chosen] and resources == {dask_cluster.RESOURCE: 1}
        future = Future(key)
        self.holders[chosen][key] = (unit, future)
        self.where[key] = chosen
        return future

    def processing(self):
        """Return the tasks by worker, then finish those of the workers that respond."""
        found = {worker: tuple(tasks) for worker, tasks in self.holders.items()}
        for worker, tasks in self.holders.items():
            if worker not in self.silent or self.answer:
                while tasks:
                    unit, future = tasks.popitem()[1]
                    documents = GradedDocuments(json.dumps(unit.number).encode(), b"code")
                    future.finish(("done", JournalEntry(unit.file, "", "graded", ""), documents))
        return found

    def cancel(self, futures):
        """Do nothing, like a silent worker."""


@pytest.mark.slow
@pytest.mark.parametrize("answer", [False, True])
@pytest.mark.parametrize("silent", [("a",), ("a", "b")])
def test_dispatcher_tasks_of_silent_workers_are_done(silent, answer, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "MIN_OVERDUE_SECONDS", 0.1)
    monkeypatch.setattr(dask_cluster, "OVERDUE_FACTOR", 0.0)
    done = []
    setup = SimpleNamespace(results=tmp_path / "results")
    note = lambda unit, entry: done.append((unit.number, entry.status))  # noqa: E731
    run = dask_cluster.DaskCluster(setup, "tcp://nowhere", note, print, deque.popleft)
    run.client = Scheduler(silent, "abc", answer=answer)
    run.todo.extend(GradingTask(number, f"s{number}", f"s{number}", f"s{number}.json", []) for number in range(5))
    run.grade_all()
    assert sorted(done) == [(number, "graded") for number in range(5)]
    assert sorted(path.read_text() for path in (tmp_path / "results").iterdir()) == [str(number) for number in range(5)]
    assert len(list((tmp_path / "code").iterdir())) == 5


def test_worker_with_another_headway_takes_no_work():
    slots = dask_cluster.WorkerSlots(WorkerSetup(Options(), Path()), "another digest")
    assert "Headway differs" in slots._prepare()


def test_task_whose_answer_is_lost_is_tried_once_more_and_a_refusal_ends_the_run():
    found, task = [], GradingTask(7, "ada", "ada", "ada.json", [])
    run = dask_cluster.DaskCluster(None, "", lambda _, entry: found.append(entry), print, print)
    run.client = Scheduler((), "a", answer=False)
    run._submit(task)
    for _ in range(dask_cluster.MAX_TRIES):
        assert not found
        (future,) = run.pending[7].futures
        for future.status, error in (("cancelled", None), ("error", OSError("lost"))):
            run._receive(7, future, error)
    assert [entry.status for entry in found] == ["failed"] and "lost" in found[0].reason and not run.pending
    run._submit(task)
    with pytest.raises(UsageError, match="it needs PyTorch"):
        run._receive(7, run.pending[7].futures[0], ("refused", "it needs PyTorch", None))
