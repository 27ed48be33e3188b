"""`headway serve` as a process: its address, raw requests, Ctrl-C, and what it refuses."""

import contextlib
import http.client
import json
import re
import signal
import socket
import sys
from types import SimpleNamespace

import pytest
from support.commands import headway, refusal
from support.process_tree import family
from support.served_lesson import serving
from support.waiting import is_running, wait_until

from autograder.web.serve.server import MAX_CONNECTIONS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def running(shared_folder):
    """A running server: its process, port and token."""
    with serving(shared_folder) as (process, address):
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{32})", address)
        assert found, address
        yield SimpleNamespace(process=process, port=int(found[1]), token=found[2])


def get(running, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    body = response.read().decode("utf-8", "replace")
    connection.close()
    return response, body


def enter(running):
    """Open the printed address; return the path of the pages, the cookie and the token of the pages."""
    response, _ = get(running, f"/?token={running.token}")
    path, cookie = response.headers["Location"], response.headers["Set-Cookie"].partition(";")[0]
    page = get(running, path, Cookie=cookie)[1]
    return path, cookie, re.search(r'name="headway-token" content="([^"]+)"', page)[1]


def test_pages_of_the_course_are_served(running):
    path, cookie, _ = enter(running)
    for name in ("softmax.html", "assets/backend_server.js", "assets/site.css"):
        response, body = get(running, path + name, Cookie=cookie)
        assert response.status == 200 and body
    assert 'data-backend="server"' in get(running, f"{path}softmax.html", Cookie=cookie)[1]


@pytest.mark.parametrize(
    "path", ["../my-gpt/softmax.py", "/etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..\\softmax.py", "assets/../../x"]
)
def test_paths_lead_nowhere_else(running, path):
    root, cookie, _ = enter(running)
    response, body = get(running, root + path, Cookie=cookie)
    assert response.status == 404 and "no such page" in body


def test_raw_requests_that_are_not_http_are_refused(running):
    for request in (b"\x16\x03\x01\x00\xff" * 10, b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"A" * 100_000):
        with socket.create_connection(("127.0.0.1", running.port), timeout=60) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while data := connection.recv(1 << 16):
                    answer += data
        assert not answer or b" 400 " in answer or b" 403 " in answer
    assert enter(running)


def test_connections_that_send_no_request_do_not_keep_others_out(running):
    held = [socket.create_connection(("127.0.0.1", running.port), timeout=60) for _ in range(2 * MAX_CONNECTIONS)]
    for connection in held:
        with contextlib.suppress(OSError):  # It was closed already.
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127")
    assert enter(running)
    with contextlib.suppress(ConnectionResetError):
        assert held[0].recv(1) == b""
    for connection in held:
        connection.close()


def test_only_this_machine_is_answered(running):
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    except OSError:
        pytest.skip("this machine does not know its own name")
    for address in addresses - {"127.0.0.1"}:
        with pytest.raises(OSError), socket.create_connection((address, running.port), timeout=10):  # noqa: PT011
            pass


def test_thousand_requests_are_answered(running):
    path, cookie, api_token = enter(running)
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    headers = {"Cookie": cookie, "X-Headway-Token": api_token, "Content-Type": "application/json"}
    payload = json.dumps({"function": "softmax.softmax", "more": 0})
    for _ in range(1000):
        connection.request("POST", f"{path}api/hint", payload, headers)
        assert len(json.loads(connection.getresponse().read())["steps"]) == 1
    connection.close()


def test_second_server_on_a_port_is_refused(running, new_workspace, tmp_path):
    done = refusal("serve", new_workspace(tmp_path / "w"), "--port", running.port, "--no-browser", run=headway)
    assert f"port {running.port} is in use" in done and f"headway serve --port {running.port + 1}" in done


@pytest.mark.parametrize(("folder", "message"), [("missing", "no such folder"), (".", "holds none of the assignments")])
def test_folder_that_is_no_workspace_is_refused_as_by_watch(tmp_path, folder, message):
    done = refusal("serve", tmp_path / folder, "--port", "0", "--no-browser", run=headway)
    assert message in done and done == headway("watch", "--dir", tmp_path / folder).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_interrupt_ends_the_server_and_its_processes(running):
    path, cookie, api_token = enter(running)
    events = http.client.HTTPConnection("127.0.0.1", running.port, timeout=120)
    events.request("GET", f"{path}api/events", headers={"Cookie": cookie, "X-Headway-Token": api_token})
    stream = events.getresponse()
    assert stream.status == 200 and stream.readline() == b": connected\n"
    children = [pid for pid in family(running.process.pid) if pid != running.process.pid]
    assert children, "the engine has processes of its own"
    running.process.send_signal(signal.SIGINT)
    rest = stream.read().decode()
    events.close()
    assert '"event": "stopped"' in rest and "headway serve has ended" in rest
    assert running.process.wait(60) == 0 and running.process.stdout.read() == ""
    wait_until(lambda: not any(map(is_running, children)))
