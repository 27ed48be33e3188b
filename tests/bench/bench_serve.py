"""The latency of lesson pages: from the click on "Check" to the verdict in Chromium, beside `headway watch`.

    python tests/bench/bench_serve.py                # softmax and block, 20 checks each
    python tests/bench/bench_serve.py --checks 6

Each check changes one function from right to wrong or back. The same code reaches the same engine in three ways: a save
in an editor that `headway watch` notices; the requests "save" and "check" to `headway serve` without a browser; a click
in a page, which saves, checks and shows the report. Prints medians.
"""

import argparse
import http.client
import json
import os
import re
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(Path(__file__).parent)]

import bench_watch  # noqa: E402
from support.chromium import chromium  # noqa: E402
from support.served_lesson import ServedLesson, serving  # noqa: E402

from autograder.courses.transformer import TRANSFORMER  # noqa: E402
from autograder.workspace.file_cells import FileCells  # noqa: E402

UNTIL = 12  # assignments that are written
CLICK = """
    const [cell, expected, done] = arguments;
    const state = document.querySelector(`.cell[data-function="${cell}"] .check-state`);
    const begin = performance.now();
    const observer = new MutationObserver(() => {
      if (!state.textContent.includes(expected)) return;
      observer.disconnect();
      const shown = performance.now();
      requestAnimationFrame(() => setTimeout(() => done([shown - begin, performance.now() - begin])));
    });
    observer.observe(state, {childList: true, characterData: true, subtree: true});
    document.querySelector(`.cell[data-function="${cell}"] button.check`).click();
"""


class Api:
    """The requests of a page, without a browser."""

    def __init__(self, address):
        self._connection = http.client.HTTPConnection(*re.search(r"//([^:]+):(\d+)", address).groups(), timeout=60)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        entered = self._send("GET", address[address.index("/?") :])
        self._path, cookie = entered.headers["Location"], entered.headers["Set-Cookie"].partition(";")[0]
        page = self._send("GET", self._path, headers={"Cookie": cookie}).text
        token = re.search('name="headway-token" content="([^"]+)"', page)[1]
        self._headers = {"Cookie": cookie, "X-Headway-Token": token, "Content-Type": "application/json"}

    def __call__(self, action, **payload):
        reply = json.loads(self._send("POST", f"{self._path}api/{action}", json.dumps(payload), self._headers).text)
        assert "error" not in reply, reply
        return reply

    def _send(self, method, path, body=None, headers=None):
        self._connection.request(method, path, body, headers or {})
        response = self._connection.getresponse()
        response.text = response.read().decode()
        return response


def versions(folder, function):
    """Return the right and the wrong text of a function's cell."""
    module, _, name = function.partition(".")
    right = FileCells(folder, module, TRANSFORMER).require(name).text
    before, after = bench_watch.CASES[function]
    assert before in right
    return right, right.replace(before, after, 1)


def measure_api(address, folder, function, checks):
    """Return the seconds of each save and of each check, wrong and right in turn."""
    api, texts = Api(address), versions(folder, function)
    digest = api("open", module=function.partition(".")[0])["cells"][function]["digest"]
    saves, taken = [], []
    for number in range(checks + 2):
        begin = time.perf_counter()
        digest = api("save", function=function, text=texts[1 - number % 2], digest=digest)["digest"]
        saved = time.perf_counter()
        reply = api("check", function=function, diagnose=False)
        assert reply["report"]["passed"] == (number % 2 == 1)
        if number >= 2:  # The first ones collect checks and fill caches.
            saves.append(saved - begin)
            taken.append(time.perf_counter() - saved)
        wait_until_quiet()
    return saves, taken


def measure_page(lesson, folder, checks):
    """Return the seconds from the click until the verdict is in the page, and until it is painted."""
    texts = versions(folder, lesson.function)
    found = []
    for number in range(checks + 2):
        lesson.write(texts[1 - number % 2])
        expected = "passes." if number % 2 else "failed"
        times = lesson.browser.execute_async_script(CLICK, lesson.function, expected)
        if number >= 2:
            found.append([1e-3 * value for value in times])
        wait_until_quiet()
    return [list(column) for column in zip(*found, strict=True)]


def wait_until_quiet():
    """Until the mistake has been looked for, and what depends on the function has been checked in the background."""
    time.sleep(3.0)


def show(label, *columns):
    """Print the medians of wrong and right code, in milliseconds."""
    wrong, right = ([1e3 * statistics.median(column[begin::2]) for column in columns] for begin in (0, 1))
    for words, values in (("wrong", wrong), ("right", right)):
        print(f"{label:<56}{words:<8}" + "".join(f"{value:10.0f}" for value in values), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=20)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {options.checks} checks, medians, ms")
    for function in ("softmax.softmax", "blocks.block"):
        print(function)
        totals, _ = bench_watch.measure(function, UNTIL, options.checks, bench_watch.CASES[function], "differs from")
        show("  headway watch, from the save", totals)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "my-gpt"
            bench_watch.workspace(folder, UNTIL)
            with serving(folder) as (_, address), chromium(Path(scratch) / "profile") as browser:
                browser.set_script_timeout(60)
                saves, taken = measure_api(address, folder, function, options.checks)
                both = [a + b for a, b in zip(saves, taken, strict=True)]
                show("  headway serve without a browser: all, save, check", both, saves, taken)
                lesson = ServedLesson(browser, function)
                lesson.open(address)
                shown, painted = measure_page(lesson, folder, options.checks)
                show("  page, from the click: in the page, painted", shown, painted)


if __name__ == "__main__":
    main()
