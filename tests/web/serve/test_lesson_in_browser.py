"""A lesson page of `headway serve` in Chromium: edit, check, hints, loops, reload, tabs, files, a lost server."""

import signal

import pytest
from support.served_lesson import ServedLesson, serving
from support.softmax_code import FUNCTION as RIGHT
from support.softmax_code import WRONG_SUM as WRONG
from support.static_server import serve
from support.waiting import wait_until

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace.file_cells import FileCells

pytestmark = [pytest.mark.browser, pytest.mark.drawn(3)]
SOFT = "softmax.softmax"


@pytest.fixture(scope="module")
def server(shared_folder):
    with serving(shared_folder) as started:
        yield started


@pytest.fixture(scope="module")
def opened(browser, server):
    lesson = ServedLesson(browser, SOFT)
    lesson.open(server[1])
    return lesson


@pytest.fixture
def lesson(opened):
    """The page in one tab, with right code that was checked. Afterwards the browser must have reported nothing."""
    if opened.code() != RIGHT:
        opened.check(RIGHT)
        opened.wait_for(".passed", "softmax passes")
    yield opened
    assert [entry["message"] for entry in opened.browser.get_log("browser")] == []
    assert "taken" not in opened.browser.title


def in_file(shared_folder):
    return FileCells(shared_folder, "softmax", TRANSFORMER).require("softmax").text


def test_wrong_code_is_saved_and_its_mistake_named(lesson, shared_folder):
    lesson.check(WRONG)
    lesson.wait_for(".cell-report", "checks failed")
    assert in_file(shared_folder) == WRONG
    lesson.wait_for(".report-mistake-title", "sum was taken over the whole array")
    lesson.click(".debug")
    lesson.wait_for(".solution", "result = softmax.softmax(x)")
    lesson.click(".solution .actions button")


def test_right_code_is_recorded_and_a_reload_keeps_text_and_status(lesson, shared_folder):
    assert in_file(shared_folder) == RIGHT
    wait_until(lambda: "1 of 5 functions" in lesson.text(".progress-text"), what=lambda: lesson.text(".progress-text"))
    lesson.browser.refresh()
    lesson.wait_until_ready()
    assert lesson.code() == RIGHT and "1 of 5 functions" in lesson.text(".progress-text")


def test_tabs_see_each_other(lesson, server, shared_folder):
    first = lesson.browser.current_window_handle
    address = lesson.browser.current_url
    lesson.browser.switch_to.new_window("tab")
    lesson.browser.get(address)
    lesson.wait_until_ready()
    lesson.check(WRONG)
    lesson.wait_for(".cell-report", "checks failed")
    second = lesson.browser.current_window_handle
    lesson.browser.switch_to.window(first)
    wait_until(lambda: lesson.code() == WRONG, what=lesson.code)
    wait_until(lambda: "0 of 5 functions" in lesson.text(".progress-text"))
    lesson.check(RIGHT)
    lesson.wait_for(".passed", "softmax passes")
    wait_until(lambda: "1 of 5 functions" in lesson.text(".progress-text"))
    lesson.browser.close()  # It has read the events for both.
    lesson.browser.switch_to.window(second)
    wait_until(lambda: lesson.code() == RIGHT, what=lesson.code)
    wait_until(lambda: "1 of 5 functions" in lesson.text(".progress-text"))
    path = shared_folder / "softmax.py"
    path.write_text(path.read_text().replace("return z / z.sum(", "return z / np.sum(z, "))
    wait_until(lambda: "np.sum(z, " in lesson.code(), what=lesson.code)


def test_many_tabs_share_one_stream(lesson):
    first, address = lesson.browser.current_window_handle, lesson.browser.current_url
    for _ in range(6):  # with the first one, more than a browser's connections to one server
        lesson.browser.switch_to.new_window("tab")
        lesson.browser.get(address)
        lesson.wait_until_ready()
    lesson.click(".check")
    lesson.wait_for(".passed", "softmax passes")
    for handle in lesson.browser.window_handles:
        if handle != first:
            lesson.browser.switch_to.window(handle)
            lesson.browser.close()
    lesson.browser.switch_to.window(first)


def test_experiment_runs_what_the_page_shows(lesson, shared_folder):
    (shared_folder / "softmax.py").write_text((bundled("solutions") / "softmax.py").read_text())
    here = ".experiment[data-experiment='']"
    press = "document.querySelector(arguments[0]).click()"

    def state():
        return lesson.text(f"{here} .run-line") + lesson.text(f"{here} .run-error")

    wait_until(lambda: lesson.code() == in_file(shared_folder), what=lesson.code)
    lesson.write(RIGHT + "\nprint('<img src=x>')")
    lesson.js(press, f"{here} .run")  # It saves first.
    wait_until(lambda: "Done after" in state(), what=state)
    assert lesson.text(f"{here} .run-output").startswith("<img src=x>\nlead  1.0   cross-entropy 0.99")
    assert "print('<img src=x>')" in (shared_folder / "softmax.py").read_text()
    lesson.write(WRONG)
    wait_until(lambda: in_file(shared_folder) == WRONG, what=lambda: in_file(shared_folder))


ATTACK = """
    const [root, token, done] = arguments;
    const headers = {"Content-Type": "application/json", "X-Headway-Token": token};
    const body = JSON.stringify({function: "softmax.softmax"});
    const api = (options) => fetch(`${root}api/reset`, {method: "POST", credentials: "include", body, ...options});
    const load = (name, source) => new Promise((resolve) => {
      const element = document.createElement(name);
      element.onload = () => resolve(name === "iframe" && !element.contentDocument ? "closed" : "open");
      element.onerror = () => resolve("closed");
      element.src = source;
      document.body.append(element);
    });
    Promise.all([
      api({headers}).then(() => "open", () => "closed"),
      api({mode: "no-cors", headers: {"Content-Type": "text/plain"}}).then(() => "open", () => "closed"),
      fetch(root, {credentials: "include"}).then(() => "open", () => "closed"),
      load("script", `${root}assets/lesson.js`),
      load("img", `${root}assets/icon.svg`),
      load("iframe", root),
    ]).then(done);
"""


def test_another_local_page_reaches_nothing(opened, shared_folder):
    lesson, before = opened, in_file(shared_folder)
    root = lesson.browser.current_url.rpartition("/")[0] + "/"
    token = lesson.js("return document.querySelector('meta[name=headway-token]').content")
    cookies = []
    first = lesson.browser.current_window_handle
    lesson.browser.switch_to.new_window("tab")
    with serve({"page.html": b"<!doctype html><body></body>"}, policy="", cookies=cookies) as address:
        for host in ("127.0.0.1", "localhost"):  # as if it even knew the path and the token
            lesson.browser.get(address.replace("127.0.0.1", host) + "page.html")
            assert lesson.browser.execute_async_script(ATTACK, root, token) == ["closed"] * 6
    lesson.browser.close()
    lesson.browser.switch_to.window(first)
    lesson.browser.get_log("browser")  # It has reported the refusals.
    assert in_file(shared_folder) == before
    assert cookies and not any(cookies), "browsers send a cookie to every port"


def test_lost_server_keeps_the_text(opened, server, shared_folder):
    lesson, process = opened, server[0]
    before, text = in_file(shared_folder), f"{RIGHT.rstrip()}  # later\n"
    process.send_signal(signal.SIGINT)
    wait_until(lambda: "headway serve has ended" in lesson.text(".backend-state"), what=lambda: lesson.text("main"))
    assert process.wait(60) == 0
    lesson.write(text)
    wait_until(lambda: lesson.in_cell(".save-state") == "not saved", what=lambda: lesson.in_cell(".save-state"))
    assert in_file(shared_folder) == before and lesson.code() == text
    lesson.js("window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)")
