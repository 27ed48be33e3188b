"""Lesson pages in Chromium, with a back end of the tests' own."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT
from support.result_documents import check, document
from support.static_server import serve

MODULE = "softmax"


def cells_of_stub():
    from autograder.courses.transformer import TRANSFORMER
    from autograder.workspace.file_cells import FileCells

    cells = FileCells(ROOT / "assignments", MODULE, TRANSFORMER)
    found = {f"{MODULE}.{name}": cells.require(name) for name in cells.functions}
    return {name: {"text": cell.text, "line": cell.line} for name, cell in found.items()}


@pytest.fixture(scope="session")
def reports():
    """Two reports of one function: all checks pass, and two of three fail."""
    from autograder.engine.comparison.error_map import map_errors
    from autograder.report.page_report import page_report

    right = np.geomspace(1.234e-5, 98.765, 20).reshape(4, 5)
    wrong = map_errors(1.1 * right, right, np.zeros((4, 5), bool), (0, 0), ("row", "class"))
    name = f"{MODULE}.softmax"
    location = {"file": f"{MODULE}.py", "line": 1, "text": ""}
    more = {"message": "probs differs from PyTorch's softmax", "location": location, "error_map": wrong}
    failed = [check(name, "failed", title=title, **more) for title in ("Rows of a matrix", "Scores of ±1000")]
    passed = [check(name, title=f"Case {number}") for number in range(3)]
    return {"passed": page_report(document(*passed)), "failed": page_report(document(*failed, passed[0]))}


@pytest.fixture(scope="session")
def lesson_files(reports):
    """The files of the site, with the fake back end in the place of the server's."""
    from autograder.courses.transformer import TRANSFORMER
    from autograder.drawing.function_caller import FunctionCaller
    from autograder.models import plot_data
    from autograder.web.site.build import pages

    caller = FunctionCaller(lambda name, args, kwargs: np.full(args[0].shape, 0.2))
    plot = plot_data.draw("softmax-temperatures", caller)
    data = json.dumps({"cells": cells_of_stub(), "reports": reports, "plot": plot}).replace("<", "\\u003c")
    files = pages(TRANSFORMER, "server")
    block = f'<script type="application/json" id="fake-data">{data}</script></body>'.encode()
    for name in (f"{MODULE}.html", "index.html"):
        files[name] = files[name].replace(b"</body>", block)
    files["assets/backend_server.js"] = (Path(__file__).parent / "fake_backend.js").read_bytes()
    files["favicon.ico"] = b""
    return files


@pytest.fixture(scope="session")
def lesson_site(lesson_files):
    with serve(lesson_files) as address:
        yield address
