"""The site in a real browser: no errors, search, the choice of colors, phones, keyboard, paper, no network."""

import pytest
from support.static_server import serve
from support.waiting import wait_until

from autograder.cli.web import command_help
from autograder.courses.transformer import TRANSFORMER
from autograder.web.site import build

pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = [pytest.mark.browser, pytest.mark.drawn(3)]


@pytest.fixture(scope="module")
def contents():
    return build.pages(TRANSFORMER, "none", commands=command_help())


CHROMIUM_FLAGS = ("hide-scrollbars",)
KEPT = """
    const [version, done] = arguments, paths = (requests) => requests.map(({ url }) => new URL(url).pathname.slice(1));
    caches.keys().then((names) => names.find((name) => name.endsWith(version)))
        .then(async (name) => done(name ? paths(await (await caches.open(name)).keys()) : []));"""


@pytest.fixture(scope="module")
def address(contents):
    with serve(contents, policy="") as at:
        yield at


@pytest.fixture
def wide(browser):
    set_width(browser, 1300)
    browser.get_log("browser")
    yield browser
    assert browser.get_log("browser") == []


def set_width(browser, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def style(browser, selector, name, pseudo=""):
    script = "return getComputedStyle(document.querySelector(arguments[0]), arguments[2])[arguments[1]]"
    return browser.execute_script(script, selector, name, pseudo)


def test_pages_have_no_errors_and_no_sideways_scrolling_on_a_phone(browser, address, contents):
    set_width(browser, 360)
    browser.get_log("browser")
    for name in contents:
        if name.endswith(".html"):
            browser.get(address + name)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= 360, name
            assert browser.get_log("browser") == [], name
            assert not browser.find_elements(By.CSS_SELECTOR, "div[tabindex]:not([role])"), name
    targets = "[...document.querySelectorAll('footer a, main summary')]"
    browser.get(address + "softmax.html")
    assert min(browser.execute_script(f"return {targets}.map((at) => at.getBoundingClientRect().height)")) >= 24, (
        "room for a finger"
    )
    fonts = "document.fonts.ready.then((fonts) => arguments[0]([...fonts].map((font) => font.status)))"
    assert browser.execute_async_script(fonts) == ["loaded"]


def test_search_finds_by_keyboard(wide, address):
    wide.get(address + "index.html")
    wide.find_element(By.TAG_NAME, "body").send_keys("/")
    box = wide.switch_to.active_element
    assert box.get_attribute("id") == "search"
    box.send_keys("temperature")
    wait_until(lambda: wide.find_elements(By.CSS_SELECTOR, "#search-results li"))
    assert wide.find_element(By.CSS_SELECTOR, "#search-results li").get_attribute("aria-selected") == "true"
    pages = [link.get_attribute("href") for link in wide.find_elements(By.CSS_SELECTOR, "#search-results a")]
    assert any("softmax.html#softmax.softmax" in page for page in pages)
    items = [item.get_attribute("id") for item in wide.find_elements(By.CSS_SELECTOR, "#search-results li")]
    for key, expected in ((Keys.ARROW_UP, items[-1]), (Keys.ARROW_DOWN, items[0]), (Keys.ARROW_DOWN, items[1])):
        box.send_keys(key)
        assert box.get_attribute("aria-activedescendant") == expected
    target = wide.find_element(By.ID, items[1]).find_element(By.TAG_NAME, "a").get_attribute("href")
    box.send_keys(Keys.ENTER)
    wait_until(lambda: wide.current_url == target)


def test_search_says_when_nothing_is_found_and_closes(wide, address):
    wide.get(address + "softmax.html")
    box = wide.find_element(By.ID, "search")
    box.send_keys("qqqqqqqq")
    status = wide.find_element(By.CSS_SELECTOR, ".search-status")
    wait_until(lambda: "Nothing found" in status.text)
    marks = "return [...document.querySelectorAll('mark')].map((mark) => mark.innerText.slice(0, 4).toLowerCase())"
    for query, found in (("mask", "mask"), ("sofmax", "soft")):  # Similar words only where nothing else is found.
        box.clear()
        box.send_keys(query)
        wait_until(lambda right={found, ""}: {*wide.execute_script(marks), ""} == right)
    box.send_keys(Keys.ESCAPE)
    wait_until(lambda: not status.is_displayed())


def test_choice_of_colours_is_kept(wide, address):
    wide.get(address + "softmax.html")
    before = style(wide, "body", "backgroundColor")
    wide.find_element(By.CSS_SELECTOR, "button.theme").click()
    chosen = style(wide, "body", "backgroundColor")
    assert chosen != before
    wide.get(address + "glossary.html")
    assert style(wide, "body", "backgroundColor") == chosen
    wide.find_element(By.CSS_SELECTOR, "button.theme").click()
    assert style(wide, "body", "backgroundColor") == before


def test_meaning_of_a_term_appears_on_focus(wide, address):
    wide.get(address + "softmax.html")
    link = wide.find_element(By.CSS_SELECTOR, "a.term")
    assert style(wide, "a.term", "content", "::after") == "none"
    wide.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)  # so that the focus is one of the keyboard
    wide.execute_script("arguments[0].focus({focusVisible: true})", link)
    assert link.get_attribute("data-meaning") in style(wide, "a.term", "content", "::after")
    described = wide.find_element(By.ID, link.get_attribute("aria-describedby"))
    assert described.get_attribute("textContent") == link.get_attribute("data-meaning")


def test_slider_below_a_figure_shows_its_frames_by_keyboard(wide, address):
    wide.get(address + "softmax.html")
    slider = wide.find_element(By.CSS_SELECTOR, "figure .frames input")
    image = slider.find_element(By.XPATH, "ancestor::figure//img")
    assert slider.get_attribute("aria-valuetext") == "0.1" and "#" not in image.get_attribute("src")
    before = image.screenshot_as_base64
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    assert slider.get_attribute("aria-valuetext") == "4" and image.get_attribute("src").endswith("temperature.svg#f1")
    wait_until(lambda: image.screenshot_as_base64 != before)


def test_editor_of_the_start_page_names_the_mistake_and_turns_green(wide, address):
    wide.get(address + "index.html")
    mark = "return [...new Set([...document.querySelectorAll('.try .map-marks td')].map((cell) => cell.className))]"
    wait_until(lambda: wide.find_elements(By.CSS_SELECTOR, ".try td"))
    text = wide.find_element(By.CSS_SELECTOR, ".try").text
    assert "not divided by √d_k" in text and "map-cell map-0" not in wide.execute_script(mark)
    editor = wide.find_element(By.CSS_SELECTOR, ".try textarea")
    editor.send_keys(Keys.CONTROL, Keys.HOME, Keys.NULL, Keys.DOWN, Keys.DOWN, Keys.END, " / q.shape[-1]**0.5  # root")
    assert wide.execute_script(mark) == ["map-cell map-0"]
    editor.send_keys("\nx")
    assert wide.find_element(By.LINK_TEXT, "The lesson").is_displayed()


def test_contents_open_on_a_phone_without_covering_the_lesson_afterwards(wide, address):
    set_width(wide, 390)
    wide.get(address + "softmax.html")
    nav = wide.find_element(By.ID, "contents")
    assert not nav.is_displayed()
    wide.find_element(By.CSS_SELECTOR, "button.show-contents").click()
    wait_until(nav.is_displayed)
    lesson = nav.find_element(By.CSS_SELECTOR, '[data-module="attention"] a')
    assert not lesson.is_displayed()
    nav.find_element(By.TAG_NAME, "summary").click()
    assert lesson.text == "7. Attention"
    nav.find_element(By.CSS_SELECTOR, '[data-function="softmax.cross_entropy"] a').click()
    wait_until(lambda: not nav.is_displayed())
    assert wide.current_url.endswith("#softmax.cross_entropy")


def test_paper_shows_folded_answers_and_no_menus(wide, address):
    wide.get(address + "softmax.html")
    answers = "#answers p"
    assert not wide.find_element(By.CSS_SELECTOR, answers).is_displayed()
    wide.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        height = "return document.querySelector(arguments[0]).getBoundingClientRect().height"
        assert wide.execute_script(height, answers) > 0
        assert style(wide, "header.site", "display") == "none"
    finally:
        wide.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_page_can_be_read_without_scripts(wide, address):
    wide.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        wide.get(address + "softmax.html")
        assert not wide.find_element(By.ID, "search").is_displayed()
        assert not wide.find_element(By.CSS_SELECTOR, "button.theme").is_displayed()
        assert wide.find_element(By.CSS_SELECTOR, ".cell .stub").is_displayed()
    finally:
        wide.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_what_was_loaded_works_offline_and_an_update_replaces_it(wide, contents):
    worker = contents["service_worker.js"].decode()
    first = worker.split('VERSION = "')[1][:64]
    files = contents | {"favicon.ico": b"", "glossary.html": contents["glossary.html"] + b"<p>of another build</p>"}
    lesson = {"softmax.html", "assets/site.js", "assets/text.css", "assets/vendor/source-serif-4.woff2"}

    def keeps(version, names):
        return names <= {*wide.execute_async_script(KEPT, version)}

    with serve(files, policy="") as address:
        wide.get(address + "softmax.html")
        wait_until(lambda: keeps(first, lesson))
        wide.get(address + "glossary.html")
        assert "of another build" in wide.page_source and not keeps(first, {"glossary.html"})
        files["service_worker.js"] = worker.replace(first, "next").encode()
        wide.execute_script("navigator.serviceWorker.getRegistration().then((found) => found.update())")
        wait_until(lambda: not keeps(first, lesson))
        wide.get(address + "softmax.html")
        wait_until(lambda: keeps("next", lesson))
    wide.get(address + "softmax.html#softmax.softmax")
    wide.refresh()
    assert wide.execute_script("return document.querySelector('button.theme').hidden") is False
    wide.get(address + "glossary.html")
    assert "You are offline" in wide.page_source
    wide.get_log("browser")  # what could not be loaded
