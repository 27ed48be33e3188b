"""The latency of lesson pages: from the click on "Check" to the verdict in Chromium, beside `headway watch`.

    python tests/bench/bench_serve.py                # softmax and block, 20 checks each
    python tests/bench/bench_serve.py --checks 6

Each check changes one function from right to wrong or back. The same code reaches the same engine in three ways: a save
in an editor that `headway watch` notices; the requests "save" and "check" to `headway serve` without a browser; a click
in a page, which saves, checks and shows the report. Prints medians. The first wrong and the first right check collect
checks and fill caches.
"""

import http.client
import json
import os
import re
import socket
import tempfile
import time
from pathlib import Path

import bench_watch
from measuring import make_parser, median_ms, warm
from support.chromium import chromium
from support.served_lesson import ServedLesson, serving

from autograder.courses.transformer import TRANSFORMER
from autograder.workspace.file_cells import FileCells

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


def measure_api(address, texts, function, checks):
    """Return the seconds of each save and of each check, wrong and right in turn."""
    api = Api(address)
    digest = api("open", module=function.partition(".")[0])["cells"][function]["digest"]
    saves, taken = [], []
    for number in range(checks + 2):
        begin = time.perf_counter()
        digest = api("save", function=function, text=texts[1 - number % 2], digest=digest)["digest"]
        saved = time.perf_counter()
        reply = api("check", function=function, diagnose=False)
        assert reply["report"]["passed"] == (number % 2 == 1)
        saves.append(saved - begin)
        taken.append(time.perf_counter() - saved)
        wait_until_quiet(checks)
    return warm(saves, 2), warm(taken, 2)


def measure_page(lesson, texts, checks):
    """Return the seconds from the click until the verdict is in the page, and until it is painted."""
    found = []
    for number in range(checks + 2):
        lesson.write(texts[1 - number % 2])
        expected = "passes." if number % 2 else "failed"
        times = lesson.browser.execute_async_script(CLICK, lesson.function, expected)
        found.append([1e-3 * value for value in times])
        wait_until_quiet(checks)
    return [list(column) for column in zip(*warm(found, 2), strict=True)]


def wait_until_quiet(checks):
    """Until the mistake has been looked for, and what depends on the function has been checked in the background.

    Not for a single check, which only shows that the benchmark runs.
    """
    time.sleep(3.0 if checks > 1 else 0.0)


def show(label, *columns):
    """Print the medians of wrong and right code, in milliseconds."""
    for begin, words in enumerate(("wrong", "right")):
        medians = "".join(f"{median_ms(column[begin::2]):>10}" for column in columns)
        print(f"{label:<56}{words:<8}{medians}", flush=True)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--checks", type=int, default=20, help="after two that fill caches; 0: only these two")
    parser.add_argument("--function", choices=bench_watch.CASES, help="only this one")
    parser.add_argument("--until", type=int, default=bench_watch.LAST, help="number of the last written assignment")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {options.checks} checks, medians, ms")
    for function, case in bench_watch.CASES.items():
        if options.function not in (None, function):
            continue
        print(function)
        totals, _ = bench_watch.measure(function, options.until, options.checks, case, "differs from")
        show("  headway watch, from the save", totals)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "my-gpt"
            bench_watch.workspace(folder, options.until)
            texts = versions(folder, function)
            with serving(folder) as (_, address), chromium(Path(scratch) / "profile") as browser:
                browser.set_script_timeout(60)
                saves, taken = measure_api(address, texts, function, options.checks)
                both = [a + b for a, b in zip(saves, taken, strict=True)]
                show("  headway serve without a browser: all, save, check", both, saves, taken)
                lesson = ServedLesson(browser, function)
                lesson.open(address)
                shown, painted = measure_page(lesson, texts, options.checks)
                show("  page, from the click: in the page, painted", shown, painted)


if __name__ == "__main__":
    main()
