"""Limit the connections of the local server: other programs could hold so many that it has no more files to open."""

import asyncio
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 100  # A browser opens about ten; macOS allows a process 256 open files by default.
MAX_NEW_CONNECTIONS = 50  # asyncio accepts as many at once, before any can be closed


class LimitedConnection(H11Protocol):
    """A connection that is closed if there are too many and it has waited longest for a complete request."""

    _waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close another connection if there are too many; one whose request is being answered stays."""
        super().connection_made(transport)
        self._waits_since = self.loop.time()
        connections = cast("set[LimitedConnection]", self.connections)
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
