"""The requests of lesson pages: every action, large and malformed bodies, hostile text."""

import asyncio
import base64
import json
import os
import threading
from types import SimpleNamespace

import pytest
from support.commands import SOFTMAX
from support.editing import edit, unchanged
from support.raising import raising
from support.waiting import wait_until

from autograder.web.serve import app

SOFT, LOG = "softmax.softmax", "softmax.log_softmax"
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"
UNSERVED = "w/softmax.py softmax.py .headway.json ../w/softmax.py ..%2f..%2fetc/passwd %2e%2e/x //etc/passwd"


def cell(server, function=SOFT):
    return server.reply("open", module=function.partition(".")[0])["cells"][function]


def save(server, body, function=SOFT):
    found = cell(server, function)
    text = found["text"].replace(f'raise NotImplementedError("{function}")', body)
    return server.reply("save", function=function, text=text, digest=found["digest"])


@pytest.mark.slow
def test_every_action_of_the_session_is_served(server, tmp_path):
    opened = server.reply("open", module="softmax")
    assert opened["module"] == "softmax" and opened["features"] == ["plots", "archive"]
    saved = save(server, "return x")
    assert saved["digest"] == cell(server)["digest"]
    assert server.reply("save", function=SOFT, text="x", digest="0" * 16)["conflict"]["digest"] == saved["digest"]
    checked = server.reply("check", function=SOFT)
    assert checked["report"]["passed"] and checked["next"]["function"] == LOG
    assert len(server.reply("hint", function=SOFT, more=0)["steps"]) == 1
    assert "np.exp" in server.reply("solution", function=SOFT, give_up=False)["text"]
    assert server.reply("reset", function=SOFT)["backup"].startswith("backups/softmax-")
    archive = server.reply("export")
    assert archive["name"] == "my-gpt.zip"
    assert "0 files imported" in server.reply("import", base64=archive["base64"])["notes"][0]
    assert server.reply("cancel") == {} and server.checks.cancelled == 1


def test_errors_are_one_line_of_json(server):
    for action, payload in (
        ("solution", {"function": "softmax.none"}),
        ("nothing", {}),
        ("__class__", {}),
        ("open", {"module": "../../etc/passwd"}),
        ("save", {"function": SOFT, "text": 3, "digest": ""}),
        ("check", {"function": {"a": 1}}),
        ("import", {"base64": "AAAA"}),
    ):
        response = server.post(action, payload)
        assert response.status_code == 400
        (line,) = response.json().values()
        assert line and "\n" not in line and "passwd" not in line


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"module": NaN}', b'{"module": "softmax"} {}']
)
def test_malformed_bodies_are_refused(server, body):
    response = server.post("open", content=body)
    assert response.status_code == 400 and list(response.json()) == ["error"]


@pytest.mark.slow
def test_large_bodies_are_refused(server):
    text = {"function": SOFT, "text": "#" * (1 << 20), "digest": cell(server)["digest"]}

    def endless():
        for _ in range(64):
            yield b" " * (1 << 20)

    with unchanged(server.folder / "softmax.py"):
        assert server.post("save", text).status_code == 413
        assert server.post("open", content=endless()).status_code == 413
        assert server.post("open", content=b"{}", Content_Length="x").status_code in (400, 413)
        assert server.post("import", {"base64": "A" * (2 << 20)}).status_code == 400, "an archive may be larger"
        assert server.post("import", {"base64": "A" * (20 << 20)}).status_code == 413


@pytest.mark.parametrize(("count", "expected"), [(3, b"aaaa" * 3), (4, None), (10**9, None)])
def test_body_in_pieces_is_read_up_to_its_limit(count, expected):
    async def pieces():
        for _ in range(count):
            yield b"aaaa"

    assert asyncio.run(app._read_body(SimpleNamespace(headers={}, stream=pieces), 12)) == expected


@pytest.mark.parametrize("path", UNSERVED.split())
def test_no_file_of_the_machine_is_served(server, path):
    response = server.client.get(server.url(path))
    assert response.status_code == 404 and "def softmax" not in response.text and "root:" not in response.text


def test_hostile_text_stays_text(server):
    (server.folder / "softmax.py").write_text(f"# %%\ndef softmax(x):\n    return {HOSTILE!r}\n")
    response = server.post("open", {"module": "softmax"})
    assert response.headers["content-type"] == "application/json"
    assert HOSTILE in json.loads(response.content)["cells"][SOFT]["text"]
    assert server.client.get(server.url("")).text.count("<script>") == 0


@pytest.mark.slow
def test_hostile_file_names_are_harmless(server, tmp_path):
    for name in (f"{'<b>' * 20}.py", "a\nb.py", "\u202esoftmax.py", "-rf.py", "%2e%2e.py"):
        (server.folder / name.replace("/", "_")).write_text("x = 1\n")
    (server.folder / os.fsdecode(b"\xff.py")).write_text("x = 1\n")
    os.mkfifo(server.folder / "pipe.py")
    (server.folder / "link.py").symlink_to("/etc/passwd")
    (server.folder / "big.py").write_bytes(b"#" * (3 << 20))
    assert cell(server)["text"]
    assert save(server, "return x")["digest"]
    assert server.post("check", {"function": SOFT}).status_code == 200
    refused = server.post("export")
    assert refused.status_code == 400 and "link.py is a link" in refused.json()["error"]
    (server.folder / "link.py").unlink()
    archive = base64.b64decode(server.reply("export")["base64"])
    assert b"big.py" not in archive and b"pipe" not in archive and b"root:" not in archive


def test_internal_error_is_one_line(server, monkeypatch):
    monkeypatch.setitem(server.backend._actions, "hint", raising(RuntimeError(f"unexpected\n{HOSTILE}")))
    response = server.post("hint", {"function": SOFT})
    assert response.status_code == 500
    assert response.json()["error"].startswith("internal error (please report it): RuntimeError")


def collect(server, act, last):
    """Return the events that arrive while `act` runs, up to the first of the kind `last`."""
    received = []

    async def follow():
        stream = server.events.stream()
        assert await anext(stream) == b": connected\n\n"
        thread = threading.Thread(target=act)
        thread.start()
        async for block in stream:
            if block.startswith(b"data: "):
                received.append(json.loads(block.removeprefix(b"data: ")))
                if received[-1]["event"] == last:
                    break
        await stream.aclose()
        await asyncio.to_thread(thread.join)

    asyncio.run(asyncio.wait_for(follow(), 120))
    return received


def test_save_is_an_event_that_names_its_page(server):
    cell(server)
    events = collect(server, lambda: save(server, "return x"), "statuses")
    assert [(event["event"], event["page"]) for event in events] == [("changed", "page-1"), ("statuses", "page-1")]
    assert "return x" in events[0]["cells"][SOFT]["text"]
    assert events[0]["module"] == "softmax" and events[1]["statuses"][SOFT] is None
    events = collect(server, lambda: server.reply("reset", function=SOFT), "statuses")
    assert "NotImplementedError" in events[0]["cells"][SOFT]["text"] and events[0]["event"] == "changed"


@pytest.mark.slow
def test_file_changed_outside_is_an_event(server):
    def change():
        edit(server.folder / "softmax.py", f'raise NotImplementedError("{SOFT}")', "return 3")
        server.lessons.files_changed()

    changed, _ = collect(server, change, "statuses")
    assert "return 3" in changed["cells"][SOFT]["text"] and changed["page"] == ""


def test_stop_is_the_last_event(server):
    events = collect(server, lambda: server.events.stop("ended"), "stopped")
    assert events == [{"event": "stopped", "message": "ended"}]


def test_lost_page_is_noticed_and_a_stream_that_ended_is_forgotten(monkeypatch):
    monkeypatch.setattr(app, "HEARTBEAT", 0.01)

    async def wait():
        hub = app.EventHub()
        hub.publish([{"event": "x"}])  # nobody reads it
        one, other = hub.stream(), hub.stream()
        first = [await anext(stream) for stream in (one, other, one)]
        await one.aclose()
        hub.publish([{"event": "y"}], "page-2")
        await asyncio.sleep(0)
        return first, await anext(other)

    connected, still_here = b": connected\n\n", b": still here\n\n"
    event = b'data: {"event": "y", "page": "page-2"}\n\n'
    assert asyncio.run(asyncio.wait_for(wait(), 5)) == ([connected, connected, still_here], event)


def test_what_runs_can_be_ended_after_the_workspace_is_gone(server):
    server.folder.rename(server.folder.with_name("elsewhere"))
    assert server.reply("cancel") == {} and server.checks.cancelled == 1
    assert server.reply("cancel", only="run") == {} and server.checks.cancelled == 1
    response = server.post("hint", {"function": SOFT, "more": 0})
    assert response.status_code == 400 and "was moved or deleted" in response.json()["error"]


def test_stream_of_a_page_that_does_not_read_ends(monkeypatch):
    monkeypatch.setattr(app, "MAX_WAITING", 3)

    async def read_late():
        hub = app.EventHub()
        stream = hub.stream()
        await anext(stream)
        hub.publish([{"event": "x"}] * 5)
        await asyncio.sleep(0)
        return [chunk async for chunk in stream]  # a page connects again when its stream ends

    assert asyncio.run(asyncio.wait_for(read_late(), 5)) == [b'data: {"event": "x", "page": ""}\n\n'] * 3


@pytest.mark.slow
def test_endless_loop_costs_one_check_and_counts_down(engine_server, monkeypatch):
    server = engine_server
    monkeypatch.setattr(app, "PATIENCE", 0.05)
    path = server.folder / "softmax.py"
    path.write_text(SOFTMAX.replace("z = np.exp", "while True: pass\n    z = np.exp"))
    replies = []
    events = collect(server, lambda: replies.append(server.reply("check", function=SOFT)), "statuses")
    counts = [event for event in events if event["event"] == "countdown"]
    assert counts and all(event["function"] == SOFT for event in counts)
    assert any(event["seconds"] is not None and event["seconds"] <= 60 for event in counts)
    assert replies[0]["statuses"][SOFT] == "timeout"
    path.write_text(SOFTMAX)
    assert server.reply("check", function=SOFT)["statuses"][SOFT] == "passed"


def check_in_thread(server, code):
    """Begin to check a softmax that begins with a loop; return the thread, and the list that gets the response."""
    (server.folder / "softmax.py").write_text(SOFTMAX.replace("z = np.exp", f"{code}\n    z = np.exp"))
    responses = []
    thread = threading.Thread(target=lambda: responses.append(server.post("check", {"function": SOFT})))
    thread.start()
    wait_until(lambda: server.checks.seconds_left(SOFT) is not None)
    return thread, responses


@pytest.mark.slow
@pytest.mark.parametrize(("code", "cancels"), [
    ("import time\n    while True: time.sleep(0.01)", True), ("while True: pass", False),
])  # fmt: skip
def test_cancel_or_a_second_check_ends_a_check_and_saves_do_not_wait_for_it(engine_server, code, cancels):
    server = engine_server
    thread, responses = check_in_thread(server, code)
    assert save(server, "return 1", "tokenizer.build_vocab")["digest"]
    if cancels:
        server.reply("cancel")
        thread.join()
    (server.folder / "softmax.py").write_text(SOFTMAX)
    assert server.reply("check", function=SOFT)["statuses"][SOFT] == "passed"
    thread.join()
    assert responses[0].status_code == 200 and {"cancelled", "report"} & responses[0].json().keys()


def test_file_in_the_middle_of_a_save_is_read_again(server, monkeypatch):
    path = server.folder / "softmax.py"
    text = path.read_text()
    monkeypatch.setattr("time.sleep", lambda seconds: path.write_text(text.replace("softmax.softmax", "done")))

    def save_slowly():
        path.write_text("")
        server.lessons.files_changed()

    changed, *_ = collect(server, save_slowly, "changed")
    assert "done" in changed["cells"][SOFT]["text"]
