"""A lesson page of `headway serve` in Chromium: edit, check, hints, loops, reload, tabs, files, a lost server."""

import signal

import pytest
from support.chromium import chromium
from support.served_lesson import ServedLesson, serving
from support.waiting import wait_until

from autograder.courses.transformer import TRANSFORMER
from autograder.workspace import create, hints
from autograder.workspace.file_cells import FileCells

pytestmark = pytest.mark.browser
SOFT = "softmax.softmax"
RIGHT = """def softmax(x, axis=-1, temperature=1.0):
    if not temperature > 0:
        raise ValueError("temperature must be positive")
    x = as_float(x) / temperature
    z = np.exp(x - x.max(axis, keepdims=True))
    return z / z.sum(axis, keepdims=True)"""
WRONG = RIGHT.replace("z.sum(axis, keepdims=True)", "z.sum()")
LOOP = RIGHT.replace("z = np", "while True:\n        pass\n    z = np")
HOSTILE = "<img src=x onerror=document.title='taken'></script><script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lesson") / "my-gpt"
    create.create(folder, TRANSFORMER)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serving(folder) as started:
        yield started


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def opened(browser, server):
    lesson = ServedLesson(browser, SOFT)
    lesson.open(server[1])
    return lesson


@pytest.fixture
def lesson(opened):
    """The page, open in one tab. Afterwards the browser must have reported nothing."""
    yield opened
    assert [entry["message"] for entry in opened.browser.get_log("browser")] == []
    assert "taken" not in opened.browser.title


def in_file(folder):
    return FileCells(folder, "softmax", TRANSFORMER).require("softmax").text


def test_wrong_code_is_saved_and_its_mistake_named(lesson, folder):
    lesson.write(WRONG)
    lesson.check()
    lesson.wait_for(".cell-report", "checks failed")
    assert in_file(folder) == WRONG
    assert "sum was taken over the whole array" in lesson.in_cell(".cell-report")


def test_hint_is_shown(lesson):
    lesson.click(".hint")
    first_words = hints.steps(SOFT)[0].partition("`")[0][:20]
    lesson.wait_for(".hints", first_words)
    lesson.click(".hint")


def test_endless_loop_counts_down_and_costs_one_check(lesson, folder):
    lesson.write(LOOP)
    lesson.check()
    lesson.wait_for(".check-clock", "It has run for")
    lesson.wait_for(".cell-report", "was stopped")
    assert in_file(folder) == LOOP


def test_right_code_passes_and_is_recorded(lesson, folder):
    lesson.write(RIGHT)
    lesson.check()
    lesson.wait_for(".passed", "softmax passes")
    assert in_file(folder) == RIGHT
    wait_until(lambda: "1 of 5 functions" in lesson.text(".progress-text"), what=lambda: lesson.text(".progress-text"))


def test_reload_keeps_text_and_status(lesson):
    lesson.browser.refresh()
    lesson.wait_until_ready()
    assert lesson.code() == RIGHT
    assert "1 of 5 functions" in lesson.text(".progress-text")


def test_file_changed_outside_appears_at_once(lesson, folder):
    path = folder / "softmax.py"
    path.write_text(path.read_text().replace("np.exp(x - ", "np.exp(-np.inf + x - "))
    lesson.wait_for(".note", "changed outside")
    assert "np.inf" in lesson.code()
    path.write_text(path.read_text().replace("-np.inf + ", ""))
    wait_until(lambda: lesson.code() == RIGHT, what=lesson.code)


def test_tabs_see_each_other(lesson, server, folder):
    first = lesson.browser.current_window_handle
    address = lesson.browser.current_url
    lesson.browser.switch_to.new_window("tab")
    lesson.browser.get(address)
    lesson.wait_until_ready()
    lesson.write(WRONG)
    lesson.check()
    lesson.wait_for(".cell-report", "checks failed")
    second = lesson.browser.current_window_handle
    lesson.browser.switch_to.window(first)
    wait_until(lambda: lesson.code() == WRONG, what=lesson.code)
    wait_until(lambda: "0 of 5 functions" in lesson.text(".progress-text"))
    lesson.write(RIGHT)
    lesson.check()
    lesson.wait_for(".passed", "softmax passes")
    lesson.browser.switch_to.window(second)
    wait_until(lambda: lesson.code() == RIGHT, what=lesson.code)
    wait_until(lambda: "1 of 5 functions" in lesson.text(".progress-text"))
    lesson.browser.close()
    lesson.browser.switch_to.window(first)
    path = folder / "softmax.py"
    path.write_text(path.read_text().replace("return z / z.sum(", "return z / np.sum(z, "))
    wait_until(lambda: "np.sum(z, " in lesson.code(), what=lesson.code)


def test_many_tabs_share_one_stream(lesson):
    first, address = lesson.browser.current_window_handle, lesson.browser.current_url
    for _ in range(7):  # more than a browser's connections to one server
        lesson.browser.switch_to.new_window("tab")
        lesson.browser.get(address)
        lesson.wait_until_ready()
    lesson.check_by_click()
    lesson.wait_for(".passed", "softmax passes")
    for handle in lesson.browser.window_handles:
        if handle != first:
            lesson.browser.switch_to.window(handle)
            lesson.browser.close()
    lesson.browser.switch_to.window(first)


def test_hostile_text_is_shown_as_text(lesson):
    lesson.write(f"def softmax(x, axis=-1, temperature=1.0):\n    print({HOSTILE!r})\n    raise KeyError({HOSTILE!r})")
    lesson.check()
    lesson.wait_for(".cell-report", "onerror=")
    assert lesson.js("return document.querySelectorAll('.cell img, .cell script').length") == 0


def test_lost_server_keeps_the_text(opened, server, folder):
    lesson, process = opened, server[0]
    before = in_file(folder)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: "headway serve has ended" in lesson.text(".backend-state"), what=lambda: lesson.text("main"))
    assert process.wait(60) == 0
    lesson.write(RIGHT)
    wait_until(lambda: lesson.in_cell(".save-state") == "not saved", what=lambda: lesson.in_cell(".save-state"))
    assert in_file(folder) == before
    assert lesson.code() == RIGHT
    lesson.js("window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)")
