"""Grade on the workers of a Dask cluster (`distributed`), with the same store, resumption and progress as locally.

    dask scheduler
    PYTHONSAFEPATH=1 dask worker ADDRESS --nthreads 2    # on each machine
    headway grade DIR --out OUT --cluster ADDRESS

A worker proves that its Headway is the same as here and that it has a sandbox; only then does it offer the resource
that tasks require. Student code runs in the sandbox of a grading process. Dask notices a worker that is gone; tasks of
a silent one are given to others at the end of the run. The first answer counts; all answers are equal.

Dask's messages carry code: the network must be trusted, or its TLS switched on (distributed.dask.org, "TLS/SSL").
"""

import asyncio
import multiprocessing
import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from autograder.classroom.grading import cache_keys
from autograder.classroom.grading.worker import GradedDocuments, GradingTask, WorkerSetup, scratch_folder
from autograder.classroom.grading.worker_pool import GraderProcess, NextTask, OnResult, entry_of_death
from autograder.classroom.storage.result_store import JournalEntry
from autograder.core.text import clean
from autograder.errors import UsageError, missing_package
from autograder.sandbox.packages import allowed_packages
from autograder.sandbox.policy import SandboxPolicy
from autograder.sandbox.probe import SandboxUnavailable, strongest_level

if TYPE_CHECKING:
    from distributed import Client, Future, Worker

RESOURCE = "headway"
MAX_TRIES = 2  # of a task whose worker or grading process was lost before it started on the task
CONNECT_SECONDS = 15
# When all other work is done, a task that takes this many times the usual time is also given to a second worker, after
# twice that time more to a third, and so on.
OVERDUE_FACTOR = 4.0
MIN_OVERDUE_SECONDS = 3.0

Reply = tuple[str, Any, GradedDocuments | None]  # ("done", entry, documents) or ("refused", reason, None)


class WorkerSlots:
    """The plugin of a Dask worker: a grading process for each of its threads, with a sandbox and a scratch folder."""

    def __init__(self, setup: WorkerSetup, headway_digest: str) -> None:
        self._setup, self._headway_digest = setup, headway_digest
        self.refusal = "not set up yet"  # why the worker takes no work; empty if it does

    async def setup(self, worker: "Worker") -> None:
        """Prove version and sandbox, then offer one slot per thread of the worker."""
        self._resources = ExitStack()
        self._slots: queue.Queue[GraderProcess | None] = queue.Queue()  # None: the process is not started yet
        self.refusal = await asyncio.to_thread(self._prepare)
        if not self.refusal:
            for _ in range(worker.state.nthreads):
                self._slots.put(None)
            await worker.set_resources(**{RESOURCE: worker.state.nthreads})

    async def teardown(self, worker: "Worker") -> None:
        """Kill the grading processes and delete the copies of submissions."""
        with suppress(queue.Empty):
            while True:
                if grader := self._slots.get_nowait():
                    grader.kill()
        self._resources.close()

    def _prepare(self) -> str:
        """Build the sandbox and return an empty string, or return why this worker must not grade."""
        if cache_keys.headway_digest() != self._headway_digest:
            return "its Headway differs from this one; install the same version there"
        scratch = self._resources.enter_context(scratch_folder())
        try:
            packages = allowed_packages(self._setup.policy.packages.allow)
            sandbox = SandboxPolicy.unconfined(packages, unsafe=True)
            if not self._setup.options.sandbox.unsafe:
                sandbox = strongest_level(scratch, packages)
        except UsageError as error:
            return str(error)
        except SandboxUnavailable as error:
            return f"it has no sandbox ({error})"
        options = replace(self._setup.options, sandbox=sandbox)
        self._setup = replace(self._setup, options=options, scratch=scratch, results=None)
        # Dask starts its workers as daemons, which multiprocessing does not allow to have children. Grading processes
        # exit on their own when their pipe closes.
        getattr(multiprocessing.current_process(), "_config", {}).pop("daemon", None)
        return ""

    def grade(self, task: GradingTask) -> Reply:
        """Grade one task in a grading process.

        A process that dies before it starts on the task is replaced; one that dies later fails the submission.
        """
        reason = ""
        for _ in range(MAX_TRIES):
            grader, kept, death = self._slots.get() or GraderProcess(self._setup), False, None
            try:
                grader.submit(task)
                while (message := grader.receive()) is None:
                    pass  # the process has only said that it started
                kind, *values = message
                if kind == "refused":
                    return "refused", values[0], None
                if kind == "done":
                    kept = True
                    return "done", values[1], values[2]
                reason = grader.error = str(values[0])
            except (EOFError, OSError):
                reason = grader.how_it_ended()
            finally:
                if not kept:
                    death = entry_of_death(task, grader) if grader.started == task.number else None
                    grader.kill()
                self._slots.put(grader if kept else None)
            if death is not None:
                return "done", death, None
        return "done", JournalEntry(task.file, "", "failed", f"internal error: {reason}"), None


def _grade_on_worker(name: str, task: GradingTask) -> Reply:
    """Grade a task on the Dask worker that runs this function."""
    from distributed import get_worker

    slots: WorkerSlots = get_worker().plugins[name]  # type: ignore[assignment]
    return slots.grade(task)


def _refusal(name: str, dask_worker: "Worker") -> str:
    slots = dask_worker.plugins.get(name)
    return slots.refusal if isinstance(slots, WorkerSlots) else "it did not answer"


@dataclass
class _PendingTask:
    """A task that was submitted to the cluster and not yet answered."""

    task: GradingTask
    submitted_at: float
    futures: "list[Future[Reply]]" = field(default_factory=list)  # one for each worker it was given to


@dataclass
class DaskCluster:
    """Grading processes on the workers of a Dask cluster; used like `worker_pool.WorkerPool`."""

    setup: WorkerSetup
    address: str  # of the scheduler
    on_result: OnResult
    on_warning: Callable[[str], None]  # called for each worker that takes no work
    next_task: NextTask  # removes a task from the queue, or returns None if none may begin now
    name: str = field(default_factory=lambda: f"headway-{time.time_ns()}")  # of the plugin, and in the keys of tasks
    client: "Client" = field(init=False)  # of the scheduler, while tasks are graded
    todo: deque[GradingTask] = field(default_factory=deque)
    pending: dict[int, _PendingTask] = field(default_factory=dict)  # by task number
    tries: Counter[int] = field(default_factory=Counter)  # by task number
    finished: "queue.Queue[tuple[int, Future[Reply], Reply | Exception | None]]" = field(default_factory=queue.Queue)
    total_seconds: float = 0.0  # of the tasks that were answered
    count: int = 0  # of these tasks

    def run(self, tasks: Iterable[GradingTask]) -> None:
        """Grade all tasks; raise UsageError if there is no such cluster, or none of its workers may take work."""
        try:
            import distributed
        except ImportError:
            raise missing_package("a cluster needs Dask", "cluster") from None
        try:
            self.client = distributed.Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            problem = f"no Dask scheduler answers at {self.address} ({error})"
            raise UsageError(f"{problem}. Start one: dask scheduler") from None
        self.todo.extend(tasks)
        try:
            self._register()
            self.grade_all()
        finally:
            self._unregister()

    def _register(self) -> None:
        from distributed import WorkerPlugin

        # The class is made here so that this module can be imported where Dask is not installed.
        plugin = type("HeadwaySlots", (WorkerSlots, WorkerPlugin), {})(self.setup, cache_keys.headway_digest())
        self.client.register_plugin(plugin, name=self.name)
        refusals = self.client.run(_refusal, self.name)
        for address, refusal in refusals.items():
            if refusal:
                self.on_warning(f"{address} takes no work: {refusal}")
        if all(refusals.values()):
            first = next(iter(refusals.values()), "it has no workers")
            raise UsageError(f"no worker of {self.address} can take work: {first}. On each, run: headway doctor")

    def grade_all(self) -> None:
        """Submit the tasks to the workers and receive their results, until there are none left."""
        while self.todo or self.pending:
            # Two tasks per thread, one running and one queued, so that little of the class is in memory.
            room = 2 * max(1, sum(self.client.nthreads().values())) - len(self.pending)
            for _ in range(min(room, len(self.todo))):
                if task := self.next_task(self.todo):
                    self._submit(task)
            with suppress(queue.Empty):
                self._receive(*self.finished.get(timeout=0.5))
            self._resubmit_overdue()

    def _submit(self, task: GradingTask, workers: list[str] | None = None) -> None:
        pending = self.pending.setdefault(task.number, _PendingTask(task, time.monotonic()))
        future = self.client.submit(
            _grade_on_worker,
            self.name,
            replace(task, source=task.read_files()),
            key=f"{self.name}-{task.number}-{len(pending.futures)}-{self.tries[task.number]}",
            resources={RESOURCE: 1},
            workers=workers,  # only these: otherwise Dask would let a silent worker steal the task
            pure=False,
        )
        pending.futures.append(future)
        assert self.client.loop is not None  # the client is connected
        future.add_done_callback(partial(self.client.loop.add_callback, self._fetch, task.number))

    async def _fetch(self, number: int, future: "Future[Reply]") -> None:
        """Fetch a result from its worker. If the worker has fallen silent, only this coroutine waits."""
        reply: Reply | Exception | None = None
        if future.status == "finished":
            try:
                reply = await self.client.gather(future, asynchronous=True)
            except Exception as error:
                reply = error
        self.finished.put((number, future, reply))

    def _receive(self, number: int, future: "Future[Reply]", reply: Reply | Exception | None) -> None:
        pending = self.pending.get(number)
        if pending is None:
            return  # another worker was first
        if reply is None or isinstance(reply, Exception):
            self._retry(pending.task, future, reply)
            return
        kind, entry, graded = reply
        if kind == "refused":
            raise UsageError(entry)
        del self.pending[number]
        self.client.cancel([other for other in pending.futures if other is not future])
        self.total_seconds += time.monotonic() - pending.submitted_at
        self.count += 1
        assert self.setup.results is not None
        if graded is not None:
            graded.write(self.setup.results, entry.file)
        self.on_result(pending.task, entry)

    def _retry(self, task: GradingTask, future: "Future[Reply]", error: Exception | None) -> None:
        """Submit a task again that Dask gave up because it, or its result, was lost with several workers."""
        if future.status == "cancelled":
            return
        self.tries[task.number] += 1
        del self.pending[task.number]
        if self.tries[task.number] < MAX_TRIES:
            self._submit(task)
        else:
            reason = f"internal error on the cluster: {clean(repr(error or future.exception()), 200)}"
            self.on_result(task, JournalEntry(task.file, "", "failed", reason))

    def _resubmit_overdue(self) -> None:
        """Give overdue tasks to another worker too, if all pending tasks are overdue: their workers may hang."""
        usual = self.total_seconds / self.count if self.count else MIN_OVERDUE_SECONDS
        allowed = max(MIN_OVERDUE_SECONDS, OVERDUE_FACTOR * usual)
        now = time.monotonic()
        overdue = [
            task for task in self.pending.values() if now - task.submitted_at > allowed * (2 ** len(task.futures) - 1)
        ]
        if not overdue or (self.todo and len(overdue) < len(self.pending)):
            return
        processing = self.client.processing()
        for pending in overdue:
            keys = {future.key for future in pending.futures}
            holders = set(chain.from_iterable(self.client.who_has(pending.futures).values()))
            others = [name for name, tasks in processing.items() if keys.isdisjoint(tasks) and name not in holders]
            if others and len(pending.futures) < len(processing):
                self._submit(pending.task, others)

    def _unregister(self) -> None:
        """Remove the plugin from the workers, waiting at most 5 s for those that do not answer."""

        def unregister() -> None:
            with suppress(Exception):
                self.client.unregister_worker_plugin(self.name)

        thread = threading.Thread(target=unregister, daemon=True)
        thread.start()
        thread.join(5)
        with suppress(Exception):
            self.client.close(timeout=2)
