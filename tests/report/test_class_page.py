"""The page of a class in a real browser: sorting, searching, hostile names, keyboard, phone and paper."""

import shutil

import pytest
from support.waiting import wait_until

from autograder.classroom import class_statistics, feedback_files, gradebook
from autograder.report.html.class_page import render_class

selenium = pytest.importorskip("selenium")
pytest.importorskip("jinja2")

from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (BROWSER and DRIVER), reason="no Chromium with chromedriver: apt-get install chromium chromium-driver"
    ),
]


@pytest.fixture(scope="module")
def found(make_class):
    return class_statistics.collect(gradebook.read(make_class(150, seed=4)))


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_class(found, lambda student: f"feedback/{student.submission}.html"), "utf-8")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = Options()
    options.binary_location = BROWSER
    for flag in (
        "headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "disable-dev-shm-usage", "window-size=1300,900",
        f"user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def at(browser, page):
    """The page, freshly opened; afterwards the browser must have had nothing to complain about."""
    browser.get_log("browser")
    browser.get(page.as_uri())
    yield browser
    assert browser.get_log("browser") == []


def rows(browser, selector, told):
    """What is told of elements of the grid, from top to bottom; in one look, for a scroll draws all rows anew."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#grid ' + arguments[0])]"
        ".sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y)"
        ".map((element) => element[arguments[1]])",
        selector,
        told,
    )


def names(browser):
    return rows(browser, "[role=rowheader] button", "title")


def scores(browser):
    texts = rows(browser, ".row:not(.head) .score", "textContent")
    return [float(text.removesuffix(" %")) for text in texts if text not in ("", "–")]


def search(browser, text):
    box = browser.find_element(By.ID, "search")
    box.clear()
    box.send_keys(text)


def how_many(browser):
    return browser.find_element(By.ID, "found").text


def test_all_students_are_counted_and_few_are_drawn(at, found):
    assert how_many(at) == f"{len(found.students)} of {len(found.students)} students"
    assert 10 < len(names(at)) < 60
    assert at.find_element(By.ID, "grid").get_attribute("aria-rowcount") == str(len(found.students) + 1)


def test_searching(at, found):
    wanted = found.students[50]
    search(at, wanted.id)
    assert names(at) == [wanted.name]
    assert how_many(at).startswith("1 of")
    search(at, "missing")
    assert len(names(at)) == len([s for s in found.students if s.status == "missing" or "missing" in s.name])
    search(at, "nobody of this name")
    assert names(at) == []


def test_who_handed_in_nothing_has_a_status_and_is_not_late(at, found):
    search(at, "missing")
    assert rows(at, ".head [role=columnheader]", "textContent")[:4] == ["student", "score", "status", "late"]
    assert rows(at, ".row:not(.head) [role=cell]", "textContent")[:3] == ["–", "missing", ""]


def test_checks_that_were_blocked_are_counted(at, found):
    name = max(found.checks.values(), key=lambda check: check.statuses["blocked"]).function.partition(".")[0]
    checks = [check for check in found.checks.values() if check.function.startswith(f"{name}.")]
    blocked = sum(check.statuses["blocked"] for check in checks)
    details = at.find_element(
        By.XPATH, f"//section[@aria-labelledby='checks']/details[starts-with(summary, '{name} ')]"
    )
    assert blocked
    assert f"{blocked} times one was blocked" in details.find_element(By.TAG_NAME, "summary").text
    cells = details.find_elements(By.XPATH, ".//tbody/tr/td[7]")
    assert sum(int(cell.get_attribute("textContent")) for cell in cells) == blocked


def test_sorting(at, found):
    Select(at.find_element(By.ID, "sort")).select_by_value("score")
    first = scores(at)
    assert first == sorted(first, reverse=True)
    assert first[0] == pytest.approx(max(s.share for s in found.graded) * 100, abs=0.06)
    at.find_element(By.ID, "direction").click()
    Select(at.find_element(By.ID, "sort")).select_by_value("id")
    assert names(at)[0] == max(found.students, key=lambda s: int(s.id)).name
    Select(at.find_element(By.ID, "sort")).select_by_value("softmax.softmax")
    at.find_element(By.ID, "direction").click()
    column = found.functions.index("softmax.softmax")
    by_name = {s.name for s in found.students if s.letters[column : column + 1] == "p"}
    assert names(at)[0] in by_name


def test_scrolling_shows_the_last(at, found):
    Select(at.find_element(By.ID, "sort")).select_by_value("id")
    at.execute_script("const g = document.getElementById('grid'); g.scrollTop = g.scrollHeight;")
    wait_until(lambda: found.students[-1].name in names(at))


def test_who_made_a_mistake(at, found):
    named = found.mistakes[0]
    at.find_element(By.CSS_SELECTOR, "[data-mistake='0']").click()
    assert how_many(at) == f"{len(named.students)} of {len(found.students)} students with “{named.title}”"
    assert set(names(at)) <= {found.students[number].name for number in named.students}
    at.execute_script("document.querySelector('#grid [role=rowheader] button').click()")
    detail = at.find_element(By.ID, "detail")
    assert detail.is_displayed()
    assert named.title in detail.text
    assert detail.find_element(By.TAG_NAME, "a").get_attribute("href").endswith(".html")


def test_tables_sort_by_their_headings(at, found):
    heading = at.find_element(By.XPATH, "//section[@aria-labelledby='functions']//th[2]/button")
    values = "//section[@aria-labelledby='functions']//tbody/tr/td[2]"
    heading.click()
    shares = [float(cell.get_attribute("data-value")) for cell in at.find_elements(By.XPATH, values)]
    assert shares == sorted(shares, reverse=True)
    heading.click()
    shares = [float(cell.get_attribute("data-value")) for cell in at.find_elements(By.XPATH, values)]
    assert shares == sorted(shares)
    assert len(shares) == len(found.functions) == 63


def test_hostile_names_are_only_names(at, found):
    hostile = found.students[:9]
    assert at.title.endswith("what the class knows")  # a name that runs would have changed it
    search(at, "<script>")
    assert names(at) == [hostile[0].name]
    assert hostile[0].name.startswith("<script>")
    at.execute_script("document.querySelector('#grid [role=rowheader] button').click()")
    assert hostile[0].name in at.find_element(By.ID, "detail").text
    assert len(at.find_elements(By.TAG_NAME, "script")) == 2
    assert not at.find_elements(By.CSS_SELECTOR, "img, b, iframe")
    assert not set(at.page_source) & set("\u202e\u202d\u2066")
    search(at, "=HYPERLINK")
    assert names(at) == [hostile[1].name]


def test_by_keyboard(at):
    at.execute_script("document.querySelector('#grid [role=rowheader] button').focus()")
    first = names(at)
    keys = ActionChains(at).send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    keys.perform()  # to whatever has the focus
    wait_until(lambda: at.execute_script("return document.activeElement.title") == first[3])
    ActionChains(at).send_keys(Keys.ENTER).perform()
    assert first[3] in at.find_element(By.ID, "detail").text


def test_a_strip_has_words_for_those_who_do_not_see_it(at):
    strip = at.find_element(By.CSS_SELECTOR, "#grid .strip[aria-label]")
    assert "passed" in strip.get_attribute("aria-label")
    assert all(b.accessible_name for b in at.find_elements(By.TAG_NAME, "button") if b.is_displayed())


def test_phone_dark_and_paper(at, found):
    at.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    )
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    at.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        assert at.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
        background = at.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert max(int(part) for part in background[4:-1].split(",")) < 64
    finally:
        at.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        at.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    at.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert len(at.find_elements(By.CSS_SELECTOR, "#printed .row")) == len(found.students)
    at.execute_script("dispatchEvent(new Event('afterprint'))")


def test_markup_that_slipped_through_could_not_run(browser, page, tmp_path):
    """The policy by itself: a script put into the page is refused, and said so."""
    injected = page.read_text("utf-8").replace("</main>", "<script>document.title = 'owned'</script></main>", 1)
    (tmp_path / "injected.html").write_text(injected, "utf-8")
    browser.get((tmp_path / "injected.html").as_uri())
    assert "owned" not in browser.title
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_a_small_class_leaves_no_empty_box(browser, make_class, tmp_path):
    small = class_statistics.collect(gradebook.read(make_class(5, seed=2)))
    (tmp_path / "report.html").write_text(render_class(small, lambda student: None), "utf-8")
    browser.get((tmp_path / "report.html").as_uri())
    height, shown = browser.execute_script(
        "const grid = document.getElementById('grid');"
        "return [grid.offsetHeight, grid.querySelectorAll('.row:not(.head)').length]"
    )
    assert shown == 5
    assert 6 * 26 <= height <= 8 * 26


def test_feedback_for_a_student(browser, make_class, tmp_path):
    book = gradebook.read(make_class(10, seed=4, assignments=("softmax",)))
    feedback_files.write(book, tmp_path)
    browser.get_log("browser")
    browser.get((tmp_path / "student00000.html").as_uri())
    assert browser.title.startswith("<script>")
    assert browser.find_element(By.TAG_NAME, "h1").text == book.students[0]["name"]
    assert browser.find_elements(By.CSS_SELECTOR, "article dl dt")
    assert browser.get_log("browser") == []
