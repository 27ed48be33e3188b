"""The static site in Chromium: check, named mistake, endless loop, reload, two tabs, archive.

A stand-in for Pyodide answers the page everywhere. Pyodide does, too, if HEADWAY_PYODIDE names a folder with the files
that `headway site --pyodide` needs: no package registry has the wheels of NumPy and `regex` for it.
"""

import base64
import os
import re
from pathlib import Path

import pytest
from support.served_lesson import ServedLesson
from support.softmax_code import ENDLESS_LOOP as LOOP
from support.softmax_code import FUNCTION as RIGHT
from support.softmax_code import WRONG_SUM as WRONG
from support.stand_in_python import serve_python
from support.static_server import serve
from support.training_page import PageInBrowser
from support.waiting import wait_until

from autograder.courses.transformer import TRANSFORMER
from autograder.web.site.pyodide_bundle import CORE, VERSION, WHEELS

PYODIDE = os.environ.get("HEADWAY_PYODIDE")
pytestmark = pytest.mark.browser
SOFT = "softmax.softmax"
SECONDS = 300  # Python starts in a few seconds, but a busy machine may need a hundred times as long.


@pytest.fixture(scope="module", params=["stand-in", "Pyodide"])
def files(request, tmp_path_factory):
    pytest.importorskip("markdown_it")
    from autograder.web.site.build import pages

    folder = Path(PYODIDE or tmp_path_factory.mktemp("pyodide"))
    if request.param == "Pyodide" and not PYODIDE:
        pytest.skip("HEADWAY_PYODIDE=DIR must name a folder with npm's pyodide@0.28.3 and NumPy's wheel for it")
    for name, _, _ in () if PYODIDE else (*CORE, *WHEELS):
        (folder / name).write_text(f'"{VERSION}" {name}')
    found = {**pages(TRANSFORMER, "browser", pyodide=folder), "favicon.ico": b""}
    if request.param == "stand-in":
        found["assets/pyodide_worker.js"] = Path(__file__).with_name("stand_in_worker.js").read_bytes()
    return found


@pytest.fixture(scope="module")
def site(files):
    with serve_python() as answer, serve(files, policy="", answer=answer) as address:
        yield address


@pytest.fixture(scope="module")
def lesson(browser, site):
    browser.get_log("browser")
    browser.get(site + "softmax.html")
    lesson = ServedLesson(browser, SOFT)
    wait(lesson, ".cm-content")
    return lesson


def wait(lesson, selector, text=""):
    """Wait until an element of the cell contains a text."""
    wait_until(
        lambda: text in lesson.in_cell(selector) and lesson.in_cell(".cm-content"),
        SECONDS,
        lambda: f"{selector} {text!r}\n{lesson.text('.backend-state')}\n{lesson.in_cell('')}",
    )


def test_a_wrong_answer_is_named_and_a_right_one_passes(lesson):
    lesson.check(WRONG)
    wait(lesson, ".cell-report", "checks failed")
    wait(lesson, ".report-mistake-title", "whole array")
    lesson.check(RIGHT)
    wait(lesson, ".check-state", "softmax passes")


def test_a_loop_is_stopped_with_its_line_and_the_other_results_stay(lesson):
    lesson.check(LOOP.replace("while True:", "while x.ndim == 1:"))
    wait(lesson, ".cell-report", "it did not return within")  # 2 s, or more on a busy machine
    assert "while x.ndim == 1:" in lesson.in_cell(".cell-report")
    wait(lesson, ".check-state", "of 11 checks failed")
    assert "11 of 11" not in lesson.in_cell(".check-state")


def test_a_call_that_nothing_interrupts_is_counted_down_and_stopped(lesson):
    lesson.check(LOOP.replace("while True:\n        pass", "sum(iter(int, 1))"))
    wait(lesson, ".check-clock", "it will be stopped in")
    wait(lesson, ".check-state", "did not return within 10 s")
    assert "sum(iter" in lesson.code()
    lesson.check(RIGHT)
    assert "Look for a loop" not in lesson.in_cell(".check-state")
    wait(lesson, ".check-state", "softmax passes")


def test_an_experiment_runs_and_can_be_stopped(lesson):
    def run(code, *expected):
        lesson.write(code)
        lesson.js("document.querySelector('.experiment .run').click()")
        for text in expected:
            wait_until(lambda: text in lesson.text(".experiment"), SECONDS, lambda: lesson.text(".experiment"))  # noqa: B023

    run(RIGHT + "\nprint('here')", "Ended early after", "here", "softmax.cross_entropy_backward. Write it first.")
    run(LOOP + "\nsoftmax(1)", "It will be stopped in")
    lesson.js("document.querySelector('.experiment .stop').click()")
    wait_until(lambda: "was stopped." in lesson.text(".run-line"), SECONDS, lambda: lesson.text(".run-line"))
    lesson.check(RIGHT)
    wait(lesson, ".check-state", "softmax passes")


def test_work_and_status_are_there_after_a_reload(lesson, site):
    lesson.browser.get(site + "index.html")
    kept = f"1 of {len(TRANSFORMER.functions)} functions pass, as last checked in this browser"
    wait_until(lambda: kept in lesson.text(".work"))
    assert not lesson.js("return performance.getEntriesByType('resource').some(({ name }) => /yodide/.test(name))")
    lesson.browser.back()
    wait(lesson, ".cm-content", "as_float(x) / temperature")
    status = "return document.querySelector('.cell[data-function=\"softmax.softmax\"]').dataset.status"
    assert lesson.js(status) == "passed"


def test_a_second_tab_shows_what_the_first_saves(lesson, site):
    browser, first = lesson.browser, lesson.browser.current_window_handle
    browser.switch_to.new_window("tab")
    browser.get(site + "softmax.html")
    wait(lesson, ".cm-content", "as_float(x) / temperature")
    second = browser.current_window_handle
    browser.switch_to.window(first)
    lesson.write(RIGHT + "  # from the first tab")
    wait(lesson, ".save-state", "saved")
    browser.switch_to.window(second)
    wait(lesson, ".cm-content", "# from the first tab")
    browser.close()
    browser.switch_to.window(first)


def test_the_archive_of_the_page_is_one_of_headway_submit(lesson):
    lesson.write(RIGHT + "  # to submit")
    wait(lesson, ".save-state", "saved")
    # Selenium gives up after 120 s, whatever the script's limit is.
    lesson.js("""
        import("./assets/backend_browser.js").then(async ({ connect }) => {
            const backend = await connect({ module: "softmax" });
            await backend.request("open", { module: "softmax" });
            window.archive = (await backend.request("export")).base64;
        });""")
    wait_until(lambda: lesson.js("return window.archive"), SECONDS)
    archive = base64.b64decode(lesson.js("return window.archive"))
    from autograder.workspace.archive import read_submission

    modules, manifest, notes = read_submission(archive, TRANSFORMER)
    assert b"# to submit" in modules["softmax.py"] and (notes, manifest["gave_up"]) == ([], {})


def test_the_browser_has_reported_nothing(lesson):
    assert [entry["message"] for entry in lesson.browser.get_log("browser")] == []


def test_model_learns_in_the_tab_and_is_there_after_a_reload(browser, site):
    loaded = "return performance.getEntriesByType('resource').map(({ name }) => name.replace(/.*[/]/, ''))"
    page = PageInBrowser(browser, site + "index.html")
    more = {"training.bin", WHEELS[1][0]}
    assert more <= {*browser.execute_script(loaded)}
    page.start(100_000, "mine", preset="small")
    page.wait(lambda: re.search(r"Step [1-9]\d", page.text("#run .state")) and page.count(".chart path"))
    assert "13,712 parameters" in page.text("#run .about")
    assert browser.execute_script("return dispatchEvent(new Event('beforeunload', { cancelable: true }))") is False
    page.click("#run button.stop")
    page.wait_for_end("Stopped: mine.safetensors has")
    browser.refresh()
    page.wait_for_models(1)
    page.click("#write [name=solution]")
    page.click("#write button.primary")
    page.wait(lambda: page.text("#write pre").count("\n") > 10 and not page.is_shown("#write .stop"))
    page.start(20, "short", preset="small")
    page.wait_for_end("Done: short.safetensors has 20 steps.")
    page.wait_for_models(2)
    sample = page.text("#run figure.sample pre")
    browser.get(site + "index.html")
    page.wait(lambda: page.text(".model pre") == sample)
    assert page.text(".model p").startswith("short.safetensors: small on names, 20 steps")
    for name in ("index.html", "softmax.html"):
        browser.get(site + name)
        assert name == "index.html" or wait_until(lambda: "headway.bin" in browser.execute_script(loaded)) is None
        assert more.isdisjoint(browser.execute_script(loaded))
    assert browser.get_log("browser") == []


@pytest.mark.parametrize(("name", "content", "expected"), [
    ("pyodide/pyodide.asm.wasm", b"another file", "pyodide.asm.wasm from 127.0.0.1"),
    ("pyodide/python_stdlib.zip", None, "python_stdlib.zip could not be loaded"),
])  # fmt: skip
def test_a_file_that_is_wrong_or_missing_is_one_line(browser, files, site, name, content, expected):
    before = files[name]
    files[name] = content
    try:
        browser.get(site + "softmax.html")
        lesson = ServedLesson(browser, SOFT)
        wait_until(lambda: expected in lesson.text(".backend-state"), SECONDS, lambda: lesson.text(".backend-state"))
        assert "def softmax(x" in lesson.in_cell("")  # The lesson is still there to read.
    finally:
        files[name] = before
