"""`headway serve` as a process: its address, raw requests, Ctrl-C, and what it refuses."""

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys

import pytest
from support.commands import headway, refusal
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
        yield process, int(found[1]), found[2]


def get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    body = response.read().decode("utf-8", "replace")
    connection.close()
    return response, body


def enter(port, token):
    """Open the printed address; return the path of the pages, the cookie and the token of the pages."""
    response, _ = get(port, f"/?token={token}")
    path, cookie = response.headers["Location"], response.headers["Set-Cookie"].partition(";")[0]
    page = get(port, path, Cookie=cookie)[1]
    return path, cookie, re.search(r'name="headway-token" content="([^"]+)"', page)[1]


def test_pages_of_the_course_are_served(running):
    _, port, token = running
    path, cookie, _ = enter(port, token)
    for name in ("softmax.html", "assets/backend_server.js", "assets/site.css"):
        response, body = get(port, path + name, Cookie=cookie)
        assert response.status == 200 and body
    assert 'data-backend="server"' in get(port, f"{path}softmax.html", Cookie=cookie)[1]


@pytest.mark.parametrize(
    "path", ["../my-gpt/softmax.py", "/etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..\\softmax.py", "assets/../../x"]
)
def test_paths_lead_nowhere_else(running, path):
    _, port, token = running
    root, cookie, _ = enter(port, token)
    response, body = get(port, root + path, Cookie=cookie)
    assert response.status == 404 and "no such page" in body


def test_raw_requests_that_are_not_http_are_refused(running):
    _, port, token = running
    for request in (b"\x16\x03\x01\x00\xff" * 10, b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"A" * 100_000):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while data := connection.recv(1 << 16):
                    answer += data
        assert not answer or b" 400 " in answer or b" 403 " in answer
    assert enter(port, token)


def test_connections_that_send_no_request_do_not_keep_others_out(running):
    _, port, token = running
    held = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(2 * MAX_CONNECTIONS)]
    for connection in held:
        with contextlib.suppress(OSError):  # It was closed already.
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127")
    assert enter(port, token)
    with contextlib.suppress(ConnectionResetError):
        assert held[0].recv(1) == b""
    for connection in held:
        connection.close()


def test_only_this_machine_is_answered(running):
    _, port, _ = running
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    except OSError:
        pytest.skip("this machine does not know its own name")
    for address in addresses - {"127.0.0.1"}:
        with pytest.raises(OSError), socket.create_connection((address, port), timeout=10):  # noqa: PT011
            pass


def test_thousand_requests_are_answered(running):
    _, port, token = running
    path, cookie, api_token = enter(port, token)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    headers = {"Cookie": cookie, "X-Headway-Token": api_token, "Content-Type": "application/json"}
    payload = json.dumps({"function": "softmax.softmax", "more": 0})
    for _ in range(1000):
        connection.request("POST", f"{path}api/hint", payload, headers)
        assert len(json.loads(connection.getresponse().read())["steps"]) == 1
    connection.close()


def test_second_server_on_a_port_is_refused(running, new_workspace, tmp_path):
    _, port, _ = running
    done = refusal("serve", new_workspace(tmp_path / "w"), "--port", port, "--no-browser", run=headway)
    assert f"port {port} is in use" in done and f"headway serve --port {port + 1}" in done


@pytest.mark.parametrize(("folder", "message"), [("missing", "no such folder"), (".", "holds none of the assignments")])
def test_folder_that_is_no_workspace_is_refused_as_by_watch(tmp_path, folder, message):
    done = refusal("serve", tmp_path / folder, "--port", "0", "--no-browser", run=headway)
    assert message in done and done == headway("watch", "--dir", tmp_path / folder).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_interrupt_ends_the_server_and_its_processes(running):
    process, port, token = running
    path, cookie, api_token = enter(port, token)
    events = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    events.request("GET", f"{path}api/events", headers={"Cookie": cookie, "X-Headway-Token": api_token})
    stream = events.getresponse()
    assert stream.status == 200 and stream.readline() == b": connected\n"
    children = _descendants(process.pid)
    assert children, "the engine has processes of its own"
    process.send_signal(signal.SIGINT)
    rest = stream.read().decode()
    events.close()
    assert '"event": "stopped"' in rest and "headway serve has ended" in rest
    assert process.wait(60) == 0 and process.stdout.read() == ""
    wait_until(lambda: not any(map(is_running, children)))


def _descendants(pid):
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    return [int(child) for child in found] + [grandchild for child in found for grandchild in _descendants(int(child))]
