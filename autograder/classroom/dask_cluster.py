"""The same units on more than one machine: a Dask cluster (`distributed`), with the same store, resume and progress.

    dask scheduler; dask worker ADDRESS --nthreads 2 on each machine; headway grade DIR --out OUT --cluster ADDRESS

A worker takes no work before it has proven its sandbox, and that its Headway is this one: only then does it offer the
resource that units ask for. Student code never runs in the Dask worker, but in the sandbox of a grading process, as on
one machine. Whatever happens to a worker, its units are done again elsewhere: Dask sees one that is gone, and one that
is silent is overtaken at the end of the run. What comes first counts; it is the same document.
"""

import asyncio
import dataclasses
import multiprocessing
import queue
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.classroom import cache_keys
from autograder.classroom.result_store import JournalEntry
from autograder.classroom.submissions import intake
from autograder.classroom.worker import GradingTask, WorkerSetup
from autograder.classroom.worker_pool import TRIES, Done, GraderProcess
from autograder.core.files import write_atomically
from autograder.core.text import clean
from autograder.errors import UsageError, missing_package
from autograder.sandbox import SandboxPolicy, SandboxUnavailable, strongest_level

if TYPE_CHECKING:
    from distributed import Client, Future, Worker

RESOURCE = "headway"
CONNECT_SECONDS = 15
# Where nothing else goes on, a unit is given to a second worker when it is this many times as old as usual, to a third
# after twice that time more, and so on.
OVERDUE = 4.0
OVERDUE_SECONDS = 3.0

Reply = tuple[str, Any, bytes]


class WorkerSlots:
    """What a Dask worker has for a run: its own sandbox and scratch, and a grading process for each of its threads.

    A plugin of the Dask worker: `setup` runs there before it takes units, `teardown` when the run is over.
    """

    def __init__(self, setup: WorkerSetup, kit: str) -> None:
        self._setup = setup
        self._kit = kit
        self.refused = "not asked yet"

    async def setup(self, worker: "Worker") -> None:
        """Prove version and sandbox; offer as many seats as the worker has threads."""
        self._scratch: Any = None
        self._free: queue.Queue[GraderProcess | None] = queue.Queue()
        self.refused = await asyncio.to_thread(self._prove)
        if not self.refused:
            for _ in range(worker.state.nthreads):
                self._free.put(None)
            await worker.set_resources(**{RESOURCE: worker.state.nthreads})

    async def teardown(self, worker: "Worker") -> None:
        """End the grading processes, remove the copies of submissions."""
        with suppress(queue.Empty):
            while True:
                seat = self._free.get_nowait()
                if seat is not None:
                    seat.end()
        if self._scratch is not None:
            Path(self._scratch.name).chmod(0o700)
            self._scratch.cleanup()

    def _prove(self) -> str:
        if cache_keys.headway_digest() != self._kit:
            return "its Headway is not the same as here (pip install the same version)"
        self._scratch = tempfile.TemporaryDirectory(prefix="headway-")
        scratch = Path(self._scratch.name).resolve()
        scratch.chmod(0o300)  # its owner can use it, but nobody can list it
        sandbox = SandboxPolicy(unsafe=True)
        if not self._setup.options.sandbox.unsafe:
            try:
                sandbox = strongest_level(scratch)
            except SandboxUnavailable as error:
                return f"it has no sandbox ({error})"
        options = dataclasses.replace(self._setup.options, sandbox=sandbox)
        self._setup = dataclasses.replace(self._setup, options=options, scratch=scratch, results=None)
        # Dask starts its workers as daemons, which may have no children; ours end by themselves with their pipe.
        getattr(multiprocessing.current_process(), "_config", {}).pop("daemon", None)
        return ""

    def grade(self, unit: GradingTask) -> Reply:
        """Grade one unit in a grading process; one that dies is replaced, and the unit tried once more."""
        words = ""
        for _ in range(TRIES):
            seat: GraderProcess | None = self._free.get() or GraderProcess(self._setup)
            assert seat is not None
            try:
                seat.give(unit)
                kind, *rest = seat.pipe.recv()
                if kind == "refused":
                    return "refused", rest[0], b""
                if kind == "done":
                    _, entry, content = rest
                    self._free.put(seat)
                    seat = None
                    return "done", entry, content
                words = str(rest[0])
            except (EOFError, OSError) as error:
                words = f"the grading process died ({type(error).__name__})"
            finally:
                if seat is not None:
                    seat.end()
                    self._free.put(None)
        return "done", JournalEntry(unit.file, "", "failed", f"the kit failed: {words}"), b""


def _grade(name: str, unit: GradingTask) -> Reply:
    """The task that Dask runs."""
    from distributed import get_worker

    seats: WorkerSlots = get_worker().plugins[name]  # type: ignore[assignment]
    return seats.grade(unit)


def _refusals(name: str, dask_worker: "Worker") -> str:
    seats = dask_worker.plugins.get(name)
    return seats.refused if isinstance(seats, WorkerSlots) else "it did not answer"


@dataclasses.dataclass
class DaskCluster:
    """Grading processes on the workers of a Dask cluster; the same face as `run.WorkerPool`."""

    setup: WorkerSetup
    address: str
    done: Done
    warn: Callable[[str], None] = lambda text: None

    def run(self, units: Iterable[GradingTask]) -> None:
        """Grade all of them.

        Raises:
            UsageError: if there is no such cluster, or none of its workers may take work.
        """
        try:
            import distributed
        except ImportError:
            raise missing_package("a cluster needs Dask", "cluster") from None
        try:
            client: Client = distributed.Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            text = f"no Dask scheduler answers at {self.address} ({error}). Start one: dask scheduler"
            raise UsageError(text) from None
        name = f"headway-{time.time_ns()}"
        try:
            self._register(client, name)
            _Run(self, client, name, deque(units)).until_done()
        finally:
            _leave(client, name)

    def _register(self, client: "Client", name: str) -> None:
        from distributed import WorkerPlugin

        # A class of its own: the module can be read where Dask is not installed.
        plugin = type("HeadwaySeats", (WorkerSlots, WorkerPlugin), {})(self.setup, cache_keys.headway_digest())
        client.register_plugin(plugin, name=name)
        refusals = client.run(_refusals, name)
        for address, why in refusals.items():
            if why:
                self.warn(f"{address} takes no work: {why}")
        if not any(not why for why in refusals.values()):
            first = next(iter(refusals.values()), "it has no workers")
            raise UsageError(f"no worker of {self.address} may take work: {first}. On each: headway doctor")


class _Run:
    """The units of one run under way on a cluster."""

    def __init__(self, cluster: DaskCluster, client: "Client", name: str, todo: "deque[GradingTask]") -> None:
        self._cluster, self._client, self._name, self._todo = cluster, client, name, todo
        self._waiting: dict[int, tuple[GradingTask, float, list[Future[Reply]]]] = {}
        self._tries: dict[int, int] = {}
        self._finished: queue.Queue[tuple[int, Future[Reply], Reply | Exception | None]] = queue.Queue()
        self._seconds = 0.0
        self._count = 0

    def until_done(self) -> None:
        while self._todo or self._waiting:
            # Two for each seat: one that is graded and one that waits. No more of the class is in memory.
            room = 2 * max(1, sum(self._client.nthreads().values())) - len(self._waiting)
            for _ in range(min(room, len(self._todo))):
                self._submit(self._todo.popleft())
            with suppress(queue.Empty):
                self._take(*self._finished.get(timeout=0.5))
            self._overtake()

    def _submit(self, unit: GradingTask, workers: list[str] | None = None) -> None:
        _, _, copies = self._waiting.setdefault(unit.number, (unit, time.monotonic(), []))
        work = unit.work if isinstance(unit.work, list) else intake.read_files(unit.work)
        future = self._client.submit(
            _grade,
            self._name,
            dataclasses.replace(unit, work=work),
            key=f"{self._name}-{unit.number}-{len(copies)}-{self._tries.get(unit.number, 0)}",
            resources={RESOURCE: 1},
            workers=workers,  # and no others: Dask would let one that is silent steal it
            pure=False,
        )
        copies.append(future)
        assert self._client.loop is not None  # it runs
        future.add_done_callback(partial(self._client.loop.add_callback, self._fetch, unit.number))

    async def _fetch(self, number: int, future: "Future[Reply]") -> None:
        """Bring an answer from the worker that has it. It may have fallen silent: that holds up nothing else."""
        reply: Reply | Exception | None = None
        if future.status == "finished":
            try:
                reply = await self._client.gather(future, asynchronous=True)
            except Exception as error:
                reply = error
        self._finished.put((number, future, reply))

    def _take(self, number: int, future: "Future[Reply]", reply: Reply | Exception | None) -> None:
        if number not in self._waiting:
            return  # the second copy of a unit that is done
        unit, since, copies = self._waiting[number]
        if reply is None or isinstance(reply, Exception):
            self._failed(unit, future, reply)
            return
        kind, entry, content = reply
        if kind == "refused":
            raise UsageError(entry)
        del self._waiting[number]
        self._client.cancel([copy for copy in copies if copy is not future])
        self._seconds += time.monotonic() - since
        self._count += 1
        assert self._cluster.setup.results is not None
        if content:
            write_atomically(self._cluster.setup.results / entry.file, content, durable=True)
        self._cluster.done(unit, entry)

    def _failed(self, unit: GradingTask, future: "Future[Reply]", error: Exception | None) -> None:
        """Dask gave a unit up: it, or its answer, was lost with one worker after another."""
        if future.status == "cancelled":
            return
        self._tries[unit.number] = self._tries.get(unit.number, 0) + 1
        del self._waiting[unit.number]
        if self._tries[unit.number] < TRIES:
            self._submit(unit)
        else:
            reason = f"the kit failed on the cluster: {clean(repr(error or future.exception()), 200)}"
            self._cluster.done(unit, JournalEntry(unit.file, "", "failed", reason))

    def _overtake(self) -> None:
        """Where nothing else goes on, give what is overdue to another worker, too: the first may be stuck."""
        usual = self._seconds / self._count if self._count else OVERDUE_SECONDS
        allowed = max(OVERDUE_SECONDS, OVERDUE * usual)
        now = time.monotonic()
        late = [
            (unit, copies)
            for unit, since, copies in self._waiting.values()
            if now - since > allowed * (2 ** len(copies) - 1)
        ]
        if not late or (self._todo and len(late) < len(self._waiting)):
            return
        under_way = self._client.processing()
        for unit, copies in late:
            held = {copy.key for copy in copies}
            answered = {address for addresses in self._client.who_has(copies).values() for address in addresses}
            others = [a for a, tasks in under_way.items() if held.isdisjoint(tasks) and a not in answered]
            if others and len(copies) < len(under_way):
                self._submit(unit, others)


def _leave(client: "Client", name: str) -> None:
    """Tell the workers that the run is over; one that does not answer is not waited for."""

    def tell() -> None:
        with suppress(Exception):
            client.unregister_worker_plugin(name)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    thread.join(5)
    with suppress(Exception):
        client.close(timeout=2)
