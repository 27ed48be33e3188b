"""The stream of events of each page."""

import asyncio

from autograder.web.serve import app


def test_stream_of_a_page_that_does_not_read_ends(monkeypatch):
    monkeypatch.setattr(app, "MAX_WAITING", 3)

    async def read_late():
        hub = app.EventHub()
        stream = hub.stream()
        await anext(stream)
        hub.publish([{"event": "x"}] * 5)
        await asyncio.sleep(0)
        return [chunk async for chunk in stream]  # a page connects again when its stream ends

    found = asyncio.run(asyncio.wait_for(read_late(), 5))
    assert found == [b'data: {"event": "x", "page": ""}\n\n'] * 3
