"""The Python of a page's worker, beside the browser: for tests of the page without Pyodide's NumPy.

As a program it reads requests, one a line, and prints events and answers. Each worker has a program of its own.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path


@contextlib.contextmanager
def serve_python():
    """Yield a function that yields the lines with which the Python of a worker answers a request."""
    programs = {}

    def answer(name, request):
        if name not in programs:
            programs[name] = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        programs[name].stdin.write(request + b"\n")
        programs[name].stdin.flush()
        for line in programs[name].stdout:
            yield line
            if b'"id"' in line:
                return

    try:
        yield answer
    finally:
        for program in programs.values():
            program.kill()
            program.communicate()


def main():
    from autograder.core import small_pytest

    sys.modules["pytest"] = small_pytest
    from autograder.web.browser.page import BrowserPage

    send = partial(print, file=sys.stdout, flush=True)  # Student code has another `sys.stdout`.
    with tempfile.TemporaryDirectory() as parent:
        page, folder = None, Path(parent, "my-gpt")
        for request in map(json.loads, sys.stdin):
            for path, content in request["files"]:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content.encode("latin-1"))
            page = page or BrowserPage(str(folder), send)
            answer = json.loads(page.answer(request["action"], json.dumps(request["payload"])))
            answer["changed"] = [[path, (folder / path).read_bytes().decode("latin-1")] for path in answer["changed"]]
            send(json.dumps({"id": request["id"], **answer}))


if __name__ == "__main__":
    main()
