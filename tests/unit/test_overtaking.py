"""Units on a cluster one of whose workers is silent, neither gone nor ever done: all are done all the same."""

import json
from types import SimpleNamespace

import pytest

from autograder.course import cluster
from autograder.course.grader import Unit
from autograder.course.store import Entry


class Future:
    def __init__(self, key):
        self.key, self.status, self._callbacks = key, "pending", []

    def add_done_callback(self, callback):
        self._callbacks.append(callback)

    def finish(self, reply):
        self.status, self.result = "finished", lambda: reply
        for callback in self._callbacks:
            callback(self)


class Scheduler:
    """Gives a task to the silent worker whenever it may, as Dask may when the others are busy; the others finish it."""

    def __init__(self, silent, workers):
        self.silent, self.holders, self.pending = silent, {name: {} for name in workers}, []

    def nthreads(self):
        return dict.fromkeys(self.holders, 1)

    def submit(self, function, name, unit, *, key, resources, workers=None, allow_other_workers=False, pure):
        allowed = self.holders if workers is None or allow_other_workers else workers
        chosen = next((worker for worker in self.silent if worker in allowed), None) or next(iter(allowed))
        assert key not in self.holders[chosen]
        future = Future(key)
        self.holders[chosen][key] = (unit, future)
        return future

    def processing(self):
        """What is where; what a worker that answers has is done after that."""
        found = {worker: tuple(tasks) for worker, tasks in self.holders.items()}
        for worker, tasks in self.holders.items():
            if worker not in self.silent:
                while tasks:
                    unit, future = tasks.popitem()[1]
                    future.finish(("done", Entry(unit.file, "", "graded", ""), json.dumps(unit.number).encode()))
        return found

    def cancel(self, futures):
        """Nothing: a worker that is silent does not hear it either."""


@pytest.mark.parametrize("silent", [("a",), ("a", "b")])
def test_what_silent_workers_have_is_done_by_others(silent, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "OVERDUE_SECONDS", 0.1)
    monkeypatch.setattr(cluster, "OVERDUE", 0.0)
    monkeypatch.setattr(cluster.intake, "read", lambda work: [])
    done = []
    run = cluster.Cluster(
        SimpleNamespace(results=tmp_path), "tcp://nowhere", lambda unit, entry: done.append((unit.number, entry.status))
    )
    units = [Unit(number, f"s{number}", f"s{number}.json", []) for number in range(9)]
    cluster._Run(run, Scheduler(silent, "abc"), "headway-0", cluster.deque(units)).until_done()
    assert sorted(done) == [(number, "graded") for number in range(9)]
    assert sorted(path.read_text() for path in tmp_path.iterdir()) == [str(number) for number in range(9)]
