"""Events from the server to its pages, as a stream of `text/event-stream` for each page."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

MAX_WAITING = 1000  # events; a page that does not read them is dropped, and connects again
HEARTBEAT = 15.0  # seconds without an event after which a comment is sent, so that a lost page is noticed
Event = dict[str, Any]


class EventHub:
    """Passes events from any thread to every connected page."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._streams: set[asyncio.Queue[Event | None]] = set()

    def publish(self, events: Iterable[Event], page: str = "") -> None:
        """Send events to every page; from any thread.

        Pages share streams, so each event names the `page` whose request has caused it, if there is one.
        """
        if waiting := [event | {"page": page} for event in events]:
            self._call_soon(self._deliver, waiting)

    def _deliver(self, events: list[Event]) -> None:
        for stream in list(self._streams):
            for event in events:
                if stream.qsize() >= MAX_WAITING:
                    self._streams.discard(stream)
                    stream.put_nowait(None)
                    break
                stream.put_nowait(event)

    def stop(self, message: str) -> None:
        """Send the last event and end every stream; from any thread."""
        self._call_soon(self._end, {"event": "stopped", "message": message})

    def _call_soon(self, function: Callable[[Any], None], argument: Any) -> None:
        loop = self._loop  # None if no page is connected
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # The loop was closed meanwhile.
                loop.call_soon_threadsafe(function, argument)

    def _end(self, last: Event) -> None:
        self._deliver([last])
        for stream in self._streams:
            stream.put_nowait(None)

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
