"""Run `headway serve`: the server, its engine and the watcher of the workspace's files, until Ctrl-C."""

import asyncio
import contextlib
import errno
import logging
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from autograder.core.text import clean_name
from autograder.course import registry
from autograder.errors import UsageError
from autograder.models.page.runs import TrainingRuns
from autograder.web.serve.access import Access
from autograder.web.serve.app import Action, EventHub, LessonServer
from autograder.web.serve.check_queue import CheckQueue, ServedBackend
from autograder.web.serve.experiments import Experiments
from autograder.workspace.file_watcher import FileWatcher
from autograder.workspace.workspace import Workspace

KEEP_ALIVE_SECONDS = 60  # so that a page that is being worked on need not connect for each request
GRACE_SECONDS = 2  # for requests that are being answered when the server ends
# Other programs could hold so many connections that the server has no more files to open.
MAX_CONNECTIONS = 100  # A browser opens about ten; macOS allows a process 256 open files by default.
MAX_NEW_CONNECTIONS = 50  # asyncio accepts as many at once, before any can be closed
ENDED = "headway serve has ended. To continue, start it again in your terminal."


class _LimitedConnection(H11Protocol):
    """A connection that is closed if there are too many and it has waited longest for a complete request."""

    _waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close another connection if there are too many; one whose request is being answered stays."""
        super().connection_made(transport)
        self._waits_since = self.loop.time()
        connections = cast("set[_LimitedConnection]", self.connections)
        if len(connections) <= MAX_CONNECTIONS:
            return
        waiting = [other for other in connections if other.cycle is None or other.cycle.response_complete]
        longest = min(waiting, key=lambda other: other._waits_since)
        connections.discard(longest)
        longest.transport.abort()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._waits_since = self.loop.time()
        super().on_response_complete()


class _LocalServer(uvicorn.Server):
    """A uvicorn server that tells its pages before it ends, since they keep connections open for events."""

    def __init__(self, config: uvicorn.Config, events: EventHub, checks: CheckQueue, experiments: Experiments) -> None:
        super().__init__(config)
        self._events, self._checks, self._experiments = events, checks, experiments
        self._last_message = ENDED

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the server: uvicorn calls this after Ctrl-C."""
        self._events.stop(self._last_message)
        self._checks.cancel()
        self._experiments.close()
        await super().shutdown(sockets)

    def end(self, message: str) -> None:
        """Let the server end soon; from any thread."""
        self._last_message, self.should_exit = message, True


def open_socket(port: int) -> socket.socket:
    """Return a socket that listens on this machine only; `port` 0 means any free one."""
    # With this protocol given, asyncio sets TCP_NODELAY; without it, each reply would wait 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # Restart at once; on Windows this option would share the port with another program.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        reasons = dict.fromkeys((errno.EACCES, errno.EPERM), "may not be used")
        reasons[errno.EADDRINUSE] = "is in use, perhaps by another headway serve"
        reason = reasons.get(error.errno or 0, f"cannot be used ({error.strerror})")
        raise UsageError(f"port {port} {reason}. Choose another one: headway serve --port {port + 1}") from None
    return listener


def run(
    folder: Path,
    pages: Callable[[Workspace], Mapping[str, bytes]],
    *,
    port: int,
    open_browser: bool,
    poll: bool,
    echo: Callable[[str], None],
) -> None:
    """Serve a workspace until Ctrl-C. `pages` generates its pages."""
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # A warning is a request that is not HTTP.
    workspace = Workspace.open(folder, follow_links=False)
    listener = open_socket(port)
    failures: list[BaseException] = []
    with contextlib.ExitStack() as stack:
        stack.callback(listener.close)
        access, events = Access(listener.getsockname()[1]), EventHub()

        def fail(error: BaseException) -> None:
            failures.append(error)
            server.end(f"headway serve has ended: {error}")

        checks = CheckQueue(workspace, fail)
        stack.callback(checks.close)
        actions: dict[str, Action] = {}
        if workspace.curriculum == registry.default():  # Only this course ends with a model that can be trained.
            runs = TrainingRuns(folder, lambda event: events.publish([event]))
            stack.callback(runs.close)
            actions = runs.actions
        experiments = Experiments(folder, workspace.curriculum)
        stack.callback(experiments.close)
        features = ("train", "generate") if actions else ()
        backend = ServedBackend(workspace, checks.check, features, threading.RLock(), run=experiments.run)
        lessons = LessonServer(backend, checks, events, access, pages(workspace), actions, experiments)
        server = _LocalServer(_configuration(lessons), events, checks, experiments)
        watcher = FileWatcher(folder, lambda event: lessons.files_changed(), poll)
        stack.callback(watcher.close)
        stack.callback(lessons.close)
        threading.Thread(target=lessons.check_in_background, name="background checks", daemon=True).start()
        echo(f"{clean_name(workspace.folder.name)}: {access.address()}  (Ctrl-C ends the server)")
        if open_browser and _has_browser():
            threading.Thread(target=webbrowser.open, args=(access.single_use_address(),), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            server.run([listener])
    if failures:
        raise failures[0]


def _configuration(lessons: LessonServer) -> uvicorn.Config:
    return uvicorn.Config(
        lessons.app,
        http=_LimitedConnection,
        backlog=MAX_NEW_CONNECTIONS,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def _has_browser() -> bool:
    """Return whether a browser with a window can be opened; one in the terminal would hide the address."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
