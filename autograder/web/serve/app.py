"""The application behind `headway serve`: the pages of the course, their requests, and their events."""

import asyncio
import contextlib
import json
import mimetypes
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import partial
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from autograder.core.text import clean
from autograder.errors import Cancelled, UsageError
from autograder.web.serve.access import MAX_BODY, MAX_IMPORT, PAGE_HEADER, Access, Guard
from autograder.web.serve.check_queue import CheckQueue, ServedBackend
from autograder.web.serve.experiments import Experiments

MAX_CHECKS = 8  # requests that run student code at the same time; the others wait
SLOW_ACTIONS = ("check", "solution", "draw", "export", "run")  # they run student code, and saves must not wait for them
ENDING_ACTIONS = ("cancel", "stop")  # They are answered also if the workspace is gone.
PATIENCE, COUNTDOWN_STEP = 0.7, 0.25  # seconds: before the first event of a countdown, and from one to the next
MAX_WAITING = 1000  # events; a page that does not read them is dropped, and connects again
HEARTBEAT = 15.0  # seconds without an event after which a comment is sent, so that a lost page is noticed
TYPES = mimetypes.MimeTypes()  # Python's own: the system may have others for scripts
TYPES.add_type("text/javascript", ".js")
TYPES.add_type("font/woff2", ".woff2")
Action = Callable[[dict[str, Any]], dict[str, Any]]
Event = dict[str, Any]


class EventHub:
    """Passes events from any thread to every connected page, which reads them as a `text/event-stream`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._streams: set[asyncio.Queue[Event | None]] = set()  # None ends a stream

    def publish(self, events: Iterable[Event], page: str = "") -> None:
        """Send events to every page; from any thread.

        Pages share streams, so each event names the `page` whose request has caused it, if there is one.
        """
        self._send([event | {"page": page} for event in events])

    def stop(self, message: str) -> None:
        """Send the last event and end every stream; from any thread."""
        self._send([{"event": "stopped", "message": message}, None])

    def _send(self, events: list[Event | None]) -> None:
        loop = self._loop  # None if no page is connected
        if loop is not None and events:
            with contextlib.suppress(RuntimeError):  # The loop was closed meanwhile.
                loop.call_soon_threadsafe(self._deliver, events)

    def _deliver(self, events: list[Event | None]) -> None:
        for stream in list(self._streams):
            for event in events:
                if stream.qsize() >= MAX_WAITING:
                    self._streams.discard(stream)
                    stream.put_nowait(None)
                    break
                stream.put_nowait(event)

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the events from now on, until the server ends."""
        self._loop = asyncio.get_running_loop()
        waiting: asyncio.Queue[Event | None] = asyncio.Queue()
        self._streams.add(waiting)
        try:
            yield b": connected\n\n"
            while True:
                try:
                    event = await asyncio.wait_for(waiting.get(), HEARTBEAT)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if event is None:
                    return
                yield f"data: {json.dumps(event)}\n\n".encode()
        finally:
            self._streams.discard(waiting)
            if not self._streams:
                self._loop = None


class LessonServer:
    """Answers the requests of lesson pages for one workspace."""

    def __init__(
        self,
        backend: ServedBackend,
        checks: CheckQueue,
        events: EventHub,
        access: Access,
        pages: Mapping[str, bytes],
        actions: Mapping[str, Action] | None = None,
        experiments: Experiments | None = None,
    ) -> None:
        self._backend, self._checks, self._events = backend, checks, events
        self._experiments = experiments
        self._pages = {path: _with_token(path, content, access.api_token) for path, content in pages.items()}
        self._actions = {"cancel": self._cancel, **(actions or {})}  # besides those of the backend
        self._is_idle = threading.Event()  # set when something may have to be checked in the background
        self._is_idle.set()
        self._is_closed = False
        self._limiter: anyio.CapacityLimiter | None = None
        routes = [
            Route("/api/events", self._stream, methods=["GET"]),
            Route("/api/{action}", self._answer, methods=["POST"]),
            Route("/{path:path}", self._page, methods=["GET"]),
        ]
        self.app = Guard(Starlette(routes=routes), access)

    def check_in_background(self) -> None:
        """Check what is not known, whenever no page has a request; for a thread of its own, until `close`."""
        check = partial(self._checks.check, in_background=True)
        while self._is_idle.wait() and not self._is_closed:
            self._is_idle.clear()
            try:
                while not self._is_closed and self._backend.check_next_unknown(check):
                    self._events.publish([self._backend.progress_event()])
            except Cancelled:
                continue  # A page has asked for a check, and sets the event when it is done.
            except (UsageError, OSError):
                continue  # The page that needs the file reports it.

    def files_changed(self) -> None:
        """Tell the pages what has changed outside of them."""
        if events := self._backend.changes():
            self._events.publish(events)
            self._is_idle.set()

    def close(self) -> None:
        """End the checks in the background."""
        self._is_closed = True
        self._is_idle.set()

    async def _page(self, request: Request) -> Response:
        path = request.path_params["path"] or "index.html"
        content = self._pages.get(path)
        if content is None:
            return PlainTextResponse("There is no such page.\n", 404)
        return Response(content, media_type=TYPES.guess_type(path)[0] or "application/octet-stream")

    async def _stream(self, request: Request) -> Response:
        return StreamingResponse(self._events.stream(), media_type="text/event-stream")

    async def _answer(self, request: Request) -> Response:
        action = request.path_params["action"]
        try:
            body = await _read_body(request, MAX_IMPORT if action == "import" else MAX_BODY)
        except ClientDisconnect:
            return Response(status_code=400)
        if body is None:
            return _json({"error": "the request is too large. Shorten the text"}, 413)
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            return _json({"error": "the page sent no valid request. Reload it"}, 400)
        self._limiter = self._limiter or anyio.CapacityLimiter(MAX_CHECKS)
        limiter = self._limiter if action in SLOW_ACTIONS else None
        page = request.headers.get(PAGE_HEADER, "")[:100]
        countdown = asyncio.create_task(self._count_down(payload.get("function"), page)) if action == "check" else None
        answer = partial(self._reply, action, payload, page)
        try:
            return _json(await anyio.to_thread.run_sync(answer, limiter=limiter))
        except UsageError as error:
            return _json({"error": clean(error, 1000)}, 400)
        except Cancelled:
            return _json({"cancelled": "the check was cancelled"})  # no error: a page cancels when the text is edited
        except Exception as error:
            text = f"internal error (please report it): {type(error).__name__}: {clean(error, 300)}"
            return _json({"error": text}, 500)
        finally:
            if countdown is not None:
                countdown.cancel()

    async def _count_down(self, function: Any, page: str) -> None:
        """Tell the page how long the running call of a check still has, until this is cancelled."""
        await asyncio.sleep(PATIENCE)
        while isinstance(function, str):
            seconds = self._checks.seconds_left(function)  # None while the check waits, and between two calls.
            event = {"event": "countdown", "function": function, "seconds": seconds and round(seconds, 1)}
            self._events.publish([event], page)
            await asyncio.sleep(COUNTDOWN_STEP)

    def _reply(self, action: str, payload: dict[str, Any], page: str) -> dict[str, Any]:
        """Return the reply to a request; called in a thread."""
        if action not in ENDING_ACTIONS:
            self._backend.require_folder()
        if action in self._actions:
            return self._actions[action](payload)
        if action == "save":
            self.files_changed()  # What others changed before is news for this page, too.
        reply = self._backend.handle(action, payload)
        if action == "save":
            self._events.publish(self._backend.changes(), page)
        elif action in ("reset", "import"):
            self.files_changed()
        elif action in ("check", "solution", "export"):
            self._events.publish([self._backend.progress_event()])
            self._is_idle.set()
        return reply

    def _cancel(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Cancel checks and the experiment, or `only` one of both kinds."""
        only = payload.get("only")
        if only != "run":
            self._checks.cancel()
        if only != "check" and self._experiments is not None:
            self._experiments.cancel()
        return {}


async def _read_body(request: Request, limit: int) -> bytes | None:
    """Return the body of a request, or None as soon as it is known to be larger than `limit` bytes."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > limit:
        return None
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            return None
    return bytes(body)


def _json(content: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(content, allow_nan=False), status, media_type="application/json")


def _with_token(path: str, content: bytes, token: str) -> bytes:
    """Return a page with the token that its requests need; other files as they are."""
    if not path.endswith(".html"):
        return content
    return content.replace(b"<head>", f'<head>\n<meta name="headway-token" content="{token}">'.encode(), 1)
