"""Lesson pages in Chromium, with a back end of the tests' own."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT, SUBMISSIONS
from support.static_server import serve

MODULE = "softmax"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not (BROWSER and DRIVER):
        pytest.skip("no Chromium with chromedriver: apt-get install chromium chromium-driver")
    pytest.importorskip("selenium")
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = BROWSER
    for flag in (
        "headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "disable-dev-shm-usage", "window-size=1440,1000",
        f"user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def cells_of_stub():
    from autograder.courses.transformer import TRANSFORMER
    from autograder.workspace.file_cells import FileCells

    cells = FileCells(ROOT / "assignments", MODULE, TRANSFORMER)
    found = {f"{MODULE}.{name}": cells.require(name) for name in cells.functions}
    return {name: {"text": cell.text, "line": cell.line} for name, cell in found.items()}


def report_of(folder: Path):
    from autograder import results
    from autograder.courses.transformer import TRANSFORMER
    from autograder.engine import session
    from autograder.report.page_report import page_report

    result = session.check("my-gpt", folder, session.Options(functions=(f"{MODULE}.softmax",)))
    return page_report(results.to_document(result, TRANSFORMER))


@pytest.fixture(scope="session")
def reports():
    """Real reports of one function: one that passes, and one with a mistake that has a name."""
    return {"passed": report_of(SUBMISSIONS / "class" / "ada"), "failed": report_of(SUBMISSIONS / "class" / "dara")}


@pytest.fixture(scope="session")
def lesson_files(reports):
    """The files of the site, with the fake back end in the place of the server's."""
    from autograder.courses.transformer import TRANSFORMER
    from autograder.site.build import pages
    from autograder.workspace import page_plots

    plot = page_plots.draw("softmax-temperatures", lambda name, args, kwargs: np.full(args[0].shape, 0.2))
    data = json.dumps({"cells": cells_of_stub(), "reports": reports, "plot": plot}).replace("<", "\\u003c")
    files = pages(TRANSFORMER, "server")
    html = files[f"{MODULE}.html"].decode()
    block = f'<script type="application/json" id="fake-data">{data}</script>'
    files[f"{MODULE}.html"] = html.replace("</body>", f"{block}</body>").encode()
    files["assets/backend_server.js"] = (Path(__file__).parent / "fake_backend.js").read_bytes()
    files["favicon.ico"] = b""
    return files


@pytest.fixture(scope="session")
def lesson_site(lesson_files):
    with serve(lesson_files) as address:
        yield address
