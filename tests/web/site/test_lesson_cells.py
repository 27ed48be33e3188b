"""The cells of a lesson page in Chromium: edit, check, hints, saving, conflicts; the back end is a fake."""

import re
from itertools import pairwise

import pytest
from support.served_lesson import ServedLesson
from support.waiting import wait_until

pytest.importorskip("selenium")
pytest.importorskip("jinja2")
pytest.importorskip("markdown_it")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from autograder.courses.transformer import TRANSFORMER

pytestmark = pytest.mark.browser
SOFTMAX, LOG_SOFTMAX = "softmax.softmax", "softmax.log_softmax"
WRONG, RIGHT = "def softmax(x):\n    return x # wrong", "def softmax(x):\n    return x"
LOOP = "def softmax(x):\n    while True:\n        pass"


class Page(ServedLesson):
    """A lesson page with the fake back end."""

    def __init__(self, browser):
        super().__init__(browser, SOFTMAX)

    def wait(self, expression, *arguments):
        wait_until(
            lambda: self.js(f"return {expression}", *arguments), 60, lambda: f"{expression}\n{self.text('main')}"
        )

    def cell(self, selector, function=SOFTMAX):
        return self.browser.find_element(By.CSS_SELECTOR, self.path(selector, function))

    def keys(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def save_state(self):
        return self.cell(".save-state").text

    def wait_for_state(self, text):
        wait_until(lambda: self.save_state() == text, 60, self.save_state)

    def save(self, text):
        self.write(text)
        self.wait_for_state("saved")

    def saved(self):
        """Return the text of softmax in the back end."""
        return self.js("return fake.cells[arguments[0]].text", SOFTMAX)

    def requests(self, action):
        return [payload for name, payload in self.js("return fake.log") if name == action]

    def answer(self, value):
        self.wait("document.querySelector('dialog[open]')")
        self.js("document.querySelector(`dialog button[value=${arguments[0]}]`).click()", value)

    def wait_until_ready(self):
        self.wait("document.querySelectorAll('.cell.ready').length === 5")


@pytest.fixture
def page(browser, lesson_site):
    """The page, just opened with empty storage. Afterwards the browser must have reported nothing."""
    browser.get(lesson_site + "assets/icon.svg")
    browser.execute_script("sessionStorage.clear()")
    browser.get(lesson_site + "softmax.html")
    page = Page(browser)
    page.wait_until_ready()
    yield page
    browser.execute_script("window.onbeforeunload = null; if (window.fake) fake.failure = ''")
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_cells_become_editors_with_the_numbers_of_the_file(page):
    assert page.code().startswith("def softmax(x, axis=-1")
    first = page.js("return fake.cells[arguments[0]].line", SOFTMAX)
    assert page.cell(".cm-lineNumbers .cm-gutterElement:not([style*=hidden])").text == str(first)
    docs = page.cell(".docs").text
    assert "temperature=1.0)" in docs and "`" not in docs
    assert page.js("return document.querySelectorAll('dl:not(:has(dt))').length") == 0
    assert page.text(".progress-text") == "0 of 5 functions pass"


def test_check_saves_shows_the_report_and_marks_its_line(page):
    page.js("fake.holdsSave = true")
    page.check(WRONG)
    page.wait_for(".check-state", "Checking …")  # before the text is saved
    page.js("fake.holdsSave = false; fake.release()")
    page.wait_for(".cell-report", "2 of 3 checks failed")
    assert page.requests("save")[0]["text"] == WRONG and page.save_state() == "saved"
    contents = page.browser.find_element(By.CSS_SELECTOR, f'nav [data-function="{SOFTMAX}"]')
    assert "does not pass yet" in contents.get_attribute("textContent")
    page.click(".report-location")
    assert page.cell(".cm-reported").text.strip() == "return x # wrong"
    assert page.js("return document.activeElement.classList.contains('cm-content')")
    page.keys("#")  # the cursor is at the beginning of that line
    assert page.code().endswith("\n    #return x # wrong")
    page.wait_for(".cell-report")
    assert "outdated" in page.cell("").get_attribute("class")


def test_pass_is_celebrated_with_points_badges_and_what_comes_next(page):
    page.js("fake.badges = ['First function']")
    page.check(RIGHT)
    page.wait_for(".passed", "softmax passes")
    page.wait_for(".plots svg")
    passed = page.cell(".passed").text
    assert "3 points" in passed and "First function" in passed
    assert page.cell(".passed .next a").get_attribute("href").endswith(f"#{LOG_SOFTMAX}")
    assert page.text(".progress-text") == "1 of 5 functions pass"
    contents = page.text("nav [data-module=softmax]").split("\n")
    assert contents == ["4. Softmax and cross-entropy", "1/5", "(1 of 5 functions pass)"]
    assert re.fullmatch(r"2 of \d{3}[.\d]* points in the whole course", page.text(".progress-points"))
    page.click(".compare")
    page.wait_for(".solution", "keepdims")
    page.click(".solution .actions button")
    assert not page.js("return document.querySelector('.solution')")


def test_hints_come_in_steps_and_then_the_solution_after_a_question(page):
    page.click(".hint")
    page.wait_for(".hints", "Which number")
    shown = "[...document.querySelectorAll('main :is(h1, h2, h3, h4)')].filter((heading) => heading.checkVisibility())"
    levels = page.js(f"return {shown}.map((heading) => Number(heading.tagName[1]))")
    assert [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1] == [], "headings skip no level"
    assert not page.cell(".show-solution").is_displayed()
    page.click(".next-hint")
    page.wait_for(".hints", "Subtract it")
    assert page.cell(".hints code").text == "np.exp"
    page.click(".next-hint")
    page.wait_for(".show-solution")
    assert not page.cell(".next-hint").is_displayed()
    page.click(".show-solution")
    page.answer("no")
    assert [payload["give_up"] for payload in page.requests("solution")] == [False]
    page.click(".show-solution")
    page.answer("yes")
    page.wait_for(".solution", "keepdims")
    assert [payload["give_up"] for payload in page.requests("solution")] == [False, False, True]


def test_reset_asks_first_and_says_where_the_backup_is(page):
    stub = page.code()
    page.save(WRONG)
    page.click(".reset")
    page.answer("no")
    assert page.requests("reset") == []
    page.click(".reset")
    page.answer("yes")
    page.wait_for(".note", "backups/softmax-1.py")
    assert page.code() == stub


def test_typing_is_saved_after_a_pause_and_a_failure_is_said(page):
    page.js("fake.failure = 'the disk is full'")
    page.write(WRONG)
    page.wait_for_state("not saved")
    page.wait_for(".problem", "not saved: the disk is full")
    page.js("fake.failure = ''")
    page.keys("!")
    page.wait_for_state("saved")
    assert page.saved() == WRONG + "!" and page.cell(".problem").text == ""


@pytest.mark.parametrize("outside", ["", RIGHT])
def test_draft_survives_a_reload(page, outside):
    page.js("fake.failure = 'no answer'")
    page.write(WRONG)
    page.wait_for_state("not saved")
    page.browser.execute_script("fake.failure = ''; fake.holds = true")
    if outside:
        page.js("fake.cells[arguments[0]].text = arguments[1]", SOFTMAX, outside)
        page.js("sessionStorage.setItem('fake-files', JSON.stringify(fake.cells))")
    page.js("window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)")
    page.browser.refresh()
    page.wait_until_ready()
    if outside:
        page.click(".conflict .actions button:first-child")  # of two texts, keep that of the page
    assert page.code() == WRONG
    page.wait_for_state("saved")
    assert page.saved() == WRONG
    assert page.js("return sessionStorage.length") == 1, "the files of the fake, and no draft"


def test_change_outside_and_a_file_that_is_gone_are_shown_at_once(page):
    page.js("fake.changeOutside(...arguments)", SOFTMAX, RIGHT)
    page.wait_for(".note", "changed outside")
    assert page.code() == RIGHT and page.save_state() == "saved"
    page.js("fake.emit({event: 'changed', module: 'softmax', cells: {}, notes: ['no such file: softmax.py']})")
    page.wait_for_state("not saved")
    assert page.text(".backend-state") == "no such file: softmax.py"
    page.js("fake.changeOutside(...arguments)", LOG_SOFTMAX, RIGHT)
    page.wait_for_state("saved")
    assert page.text(".backend-state") == "" and page.js("return sessionStorage.length") == 1


def test_page_says_that_python_starts_without_covering_text_or_paper(page):
    place = "return getComputedStyle(document.querySelector('.backend-state')).position"
    page.js("fake.emit({event: 'loading', text: 'starting Python'})")
    assert page.text(".backend-state") == "Starting Python …" and page.js(place) == "static"
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not page.js("return document.querySelector('.backend-state').checkVisibility()")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    page.js("fake.emit({event: 'ready'})")
    assert page.text(".backend-state") == "" and page.js(place) == "sticky"


def test_page_without_scripts_says_why_it_has_no_editors(browser, lesson_site):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"{lesson_site}softmax.html")
        note = browser.find_element(By.CSS_SELECTOR, ".backend-state")
        wait_until(note.is_displayed)
        assert "need JavaScript" in note.text and "opened as a file" in note.text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize(("choice", "kept"), [("first-child", WRONG), ("last-child", RIGHT)])
def test_conflict_shows_both_texts_and_asks(page, choice, kept):
    page.write(WRONG)
    page.js("fake.changeOutside(...arguments)", SOFTMAX, RIGHT)
    page.wait_for(".conflict")
    assert page.saved() == RIGHT, "nothing is overwritten"
    page.press(Keys.CONTROL, Keys.ENTER)
    page.wait_for(".check-state", "Choose first")
    page.click(f".conflict .actions button:{choice}")
    page.wait_for_state("saved")
    assert page.code() == kept and page.saved() == kept


def test_old_event_about_an_earlier_save_changes_nothing(page):
    page.save(WRONG)
    old = page.js("return {...fake.cells[arguments[0]]}", SOFTMAX)
    assert len(page.requests("save")) == 1
    page.save(RIGHT)
    digest = page.requests("save")[1]["digest"]  # of the text that was saved first
    cell = {**old, "text": WRONG, "digest": digest, "shared_with": []}
    page.js("fake.emit(arguments[0])", {"event": "changed", "module": "softmax", "cells": {SOFTMAX: cell}})
    page.wait("fake.log.filter(([action]) => action === 'open').length === 2")
    assert page.code() == RIGHT


def test_checks_are_queued_once(page):
    page.js("fake.holds = true")
    page.check(WRONG)
    page.wait_for(".stop")
    for _ in range(3):
        page.press(Keys.CONTROL, Keys.ENTER)
    page.wait_for(".check-state", "checked next")
    page.click(".check", LOG_SOFTMAX)
    page.js("fake.holds = false; fake.release()")
    page.wait_for(".cell-report", function=LOG_SOFTMAX)
    without_diagnosis = [payload["function"] for payload in page.requests("check") if "diagnose" in payload]
    assert without_diagnosis == [SOFTMAX, SOFTMAX, LOG_SOFTMAX]


def mistakes(page):
    return [title.text for title in page.browser.find_elements(By.CSS_SELECTOR, ".report-mistake-title")]


def test_result_is_shown_before_its_mistake_is_looked_for(page):
    page.js("fake.holdsDiagnosis = true")
    page.check(WRONG)
    page.wait_for(".check-state", "2 of 3 checks failed. Looking for the mistake …")
    page.wait_for(".cell-report", "2 of 3 checks failed")
    assert mistakes(page) == [] and page.cell(".stop").is_displayed()
    page.js("fake.release()")
    page.wait_for(".report-mistake-title")
    assert page.cell(".check-state").get_attribute("textContent") == f"2 of 3 checks failed. {mistakes(page)[0]}"
    assert not page.cell(".stop").is_displayed()
    assert page.requests("check") == [{"function": SOFTMAX, "diagnose": False}, {"function": SOFTMAX}]


def test_search_for_a_mistake_ends_when_the_text_is_changed_or_checked_again(page):
    page.js("fake.holdsDiagnosis = true")
    page.check(WRONG)
    page.wait_for(".check-state", "Looking for the mistake")
    page.press(Keys.CONTROL, Keys.ENTER)
    page.wait("fake.log.filter(([action]) => action === 'check').length === 4")
    page.wait_for(".check-state", "Looking for the mistake")
    page.keys("#")
    page.wait("!document.querySelector('.stop').checkVisibility()")
    assert page.requests("cancel") == [{"only": "check"}] * 2
    assert mistakes(page) == [] and page.cell(".check-state").text == ""
    assert "outdated" in page.cell("").get_attribute("class")


def test_endless_loop_has_a_countdown_and_can_be_stopped(page):
    page.check(LOOP)
    page.wait_for(".check-clock", "it will be stopped in")
    page.click(".stop")
    page.wait_for(".check-state", "was stopped")
    page.keys(" ")
    assert page.cell(".check-state").text == ""  # It was about another text.
    page.keys(Keys.BACKSPACE)
    assert not page.cell(".stop").is_displayed() and page.cell(".check-clock").text == ""
    assert page.code() == LOOP
    page.check(RIGHT)
    page.wait_for(".passed", "softmax passes")


def test_lost_back_end_keeps_the_text_and_reconnects(page):
    page.js("fake.lose('The connection to headway serve is lost.')")
    page.wait("document.querySelector('.backend-state').textContent.includes('is lost. Your text is kept')")
    page.write(WRONG)
    page.wait_for_state("not saved")
    page.js("document.querySelector('.backend-state button').click()")
    page.wait_for_state("saved")
    assert page.text("main").count("Reconnect") == 0 and page.saved() == WRONG


def test_keyboard_reaches_everything_and_leaves_the_editor(page):
    page.js("arguments[0].focus()", page.cell(".cm-content"))
    page.press(Keys.CONTROL, Keys.HOME)
    page.keys(Keys.TAB)
    assert page.code().startswith("    def softmax")
    page.keys(Keys.ESCAPE, Keys.TAB)
    focused = "return document.activeElement.className"
    assert page.js(focused) == "check"
    page.keys(Keys.TAB)
    assert page.js(focused) == "hint"
    page.keys(Keys.ENTER)
    page.wait_for(".hints")
    page.keys(Keys.TAB)
    assert page.js(focused) == "reset"
    page.keys(Keys.ENTER)
    page.wait("document.querySelector('dialog[open]')")
    page.keys(Keys.ESCAPE)
    page.wait("!document.querySelector('dialog')")
    assert page.js(focused) == "reset" and page.requests("reset") == []
    page.keys(Keys.TAB)
    assert page.js(focused) == "next-hint"


def reload_with(page, change, cells=4):
    """Reload the page after a script has changed the `files` of the back end; wait for so many cells."""
    page.js(f"const files = fake.cells; {change}; sessionStorage.setItem('fake-files', JSON.stringify(files))")
    page.browser.refresh()
    page.wait(f"document.querySelectorAll('.cell.ready').length === {cells}")


def test_functions_of_one_cell_share_an_editor(page):
    share = "files[{0!r}] = {{...files[{1!r}], shared_with: [{1!r}]}}; files[{1!r}].shared_with = [{0!r}]"
    reload_with(page, share.format(LOG_SOFTMAX, SOFTMAX))
    assert page.cell(".shared a", LOG_SOFTMAX).text == "softmax and log_softmax"
    page.check(RIGHT)
    page.wait_for(".passed", "softmax and log_softmax pass.")
    assert [payload["function"] for payload in page.requests("check")] == [SOFTMAX, LOG_SOFTMAX]


def test_function_that_the_file_lacks_can_be_restored(page):
    reload_with(page, f"delete files[{LOG_SOFTMAX!r}]")
    assert "no function log_softmax" in page.cell(".problem", LOG_SOFTMAX).text
    page.click(".problem button", LOG_SOFTMAX)
    page.wait_until_ready()
    assert page.code(LOG_SOFTMAX).startswith("def log_softmax(")


def test_notebook_that_counts_is_copied_into_the_file_by_a_button(page):
    reload_with(page, f"files[{SOFTMAX!r}].text = '# notebooks/softmax.ipynb counts'", 5)
    page.js("document.querySelector('.page-note button').click()")
    page.wait("!document.querySelector('.page-note')")
    assert page.code() == RIGHT and page.requests("copy") == [{"module": "softmax"}]


def test_archive_is_exported_and_imported(page, tmp_path):
    page.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.js("document.querySelector('.archive button').click()")
    wait_until(lambda: (tmp_path / "my-gpt.zip").exists(), 60)
    assert (tmp_path / "my-gpt.zip").read_bytes() == b"PK"
    page.browser.find_element(By.CSS_SELECTOR, ".archive input").send_keys(str(tmp_path / "my-gpt.zip"))
    page.answer("yes")
    page.wait("document.querySelector('.archive-state').textContent === 'imported 2 bytes'")


def test_start_page_becomes_a_home_for_who_has_begun(browser, lesson_site):
    browser.get(f"{lesson_site}index.html")
    page, work = Page(browser), "document.querySelector('.work').innerText"
    page.wait("window.fake?.log.length")

    def show(statuses, points, expected):
        event = {"event": "statuses", "statuses": statuses, "points": {"earned": points, "possible": points}}
        page.js("fake.emit(arguments[0])", event)
        page.wait(f"{work}.includes(arguments[0])", expected)
        return page.js("return [...document.querySelectorAll('.course-map a.complete')].map((link) => link.ariaLabel)")

    required = {name: "passed" for name, function in TRANSFORMER.functions.items() if not function.bonus}
    nothing = dict.fromkeys(TRANSFORMER.functions, "not_started")
    show(nothing, 0, "Start with the first function")
    some = {name: "passed" for name in nothing if name.startswith("tokenizer.")}
    some |= {SOFTMAX: "passed", LOG_SOFTMAX: None}
    passing = show(nothing | some, 12, f"Continue with {LOG_SOFTMAX} (assignment 4: Softmax and cross-entropy)")
    modules = page.js(
        "return [...document.querySelectorAll('.course-map [data-module]')].map((at) => at.dataset.module)"
    )
    assert {*modules} == TRANSFORMER.modules.keys(), "every assignment has a place on the map"
    assert passing == ["tokenizer (assignment 1: Text as numbers): 5 of 5 functions pass"]
    assert re.search(r"\n6 of \d+ functions pass: 12 of \d{3}[.\d]* points\.", page.text(".work"))
    state = page.text(".assignments li:nth-child(4) p:last-child")
    assert state.strip() == "1 of 5 functions pass, 1 not checked since the last change"
    assert page.js("return document.querySelectorAll('.assignments .status-mark-passed').length") == 1
    show(nothing | required, 700, f"The course is complete: all {len(TRANSFORMER.assignments)} assignments")
    assert page.js("return document.querySelectorAll('.course-map a:not(.complete)').length") == 0
    assert "Train your model" in page.text(".work a")


def test_page_fits_a_phone_and_large_letters(page):
    page.check(WRONG)
    page.wait_for(".cell-report", "checks failed")
    maps = "[...document.querySelectorAll('.cell .map-scroll')]"
    for width, scale in ((1440, 1), (390, 1), (720, 2)):
        page.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width // scale, "height": 800, "deviceScaleFactor": scale, "mobile": False},
        )
        # What a box with a scroll bar of its own contains may be wider.
        wide = page.js("""
            const scrolls = (element) => element && element !== document.documentElement &&
                (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
            return [...document.querySelectorAll(".cell *")].filter((element) =>
                element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element.parentElement)
            ).map((element) => element.className);
        """)
        assert wide == [], width
        assert page.js(f"return {maps}.filter((box) => box.scrollWidth > box.clientWidth).length") == 0 or width < 1440
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
