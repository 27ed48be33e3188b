"""The class page in a real browser: sorting, searching, hostile names, keyboard, phone and print."""

import shutil

import pytest
from support.waiting import wait_until

from autograder.classroom import class_statistics, feedback_files, gradebook
from autograder.courses.transformer import TRANSFORMER
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
def records(make_class):
    return class_statistics.collect(gradebook.read(make_class(150, seed=4)))


@pytest.fixture(scope="module")
def page(records, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_class(records, lambda student: f"feedback/{student.submission}.html"), "utf-8")
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
def opened(browser, page):
    """The browser with the page just opened. Afterwards its log must be empty."""
    browser.get_log("browser")
    browser.get(page.as_uri())
    yield browser
    assert browser.get_log("browser") == []


def rows(browser, selector, attribute):
    """An attribute of the grid's elements, from top to bottom; in one call, because a scroll replaces all rows."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#grid ' + arguments[0])]"
        ".sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y)"
        ".map((element) => element[arguments[1]])",
        selector,
        attribute,
    )


def names(browser):
    return rows(browser, "[role=rowheader] button", "title")


def scores(browser):
    texts = rows(browser, ".row:not(.head) .score", "textContent")
    return [float(text.removesuffix("%")) for text in texts if text not in ("", "–")]


def search(browser, text):
    box = browser.find_element(By.ID, "search")
    box.clear()
    box.send_keys(text)


def count_text(browser):
    return browser.find_element(By.ID, "count").text


def test_grid_counts_all_students_and_draws_those_in_view(opened, records):
    assert count_text(opened) == f"{len(records.students)} of {len(records.students)} students"
    assert 10 < len(names(opened)) < 60
    assert opened.find_element(By.ID, "grid").get_attribute("aria-rowcount") == str(len(records.students) + 1)


def test_search_filters_students(opened, records):
    wanted = records.students[50]
    search(opened, wanted.id)
    assert names(opened) == [wanted.name]
    assert count_text(opened).startswith("1 of")
    search(opened, "missing")
    assert len(names(opened)) == len([s for s in records.students if s.status == "missing" or "missing" in s.name])
    search(opened, "nobody of this name")
    assert names(opened) == []


def test_missing_student_has_a_status_and_is_not_late(opened, records):
    search(opened, "missing")
    assert rows(opened, ".head [role=columnheader]", "textContent")[:4] == ["student", "score", "status", "late"]
    assert rows(opened, ".row:not(.head) [role=cell]", "textContent")[:3] == ["–", "missing", ""]


def test_checks_table_counts_blocked_checks(opened, records):
    name = max(records.checks.values(), key=lambda check: check.statuses["blocked"]).function.partition(".")[0]
    checks = [check for check in records.checks.values() if check.function.startswith(f"{name}.")]
    blocked = sum(check.statuses["blocked"] for check in checks)
    details = opened.find_element(
        By.XPATH, f"//section[@aria-labelledby='checks']/details[starts-with(summary, '{name} ')]"
    )
    assert blocked
    assert f"blocked {blocked} times" in details.find_element(By.TAG_NAME, "summary").text
    cells = details.find_elements(By.XPATH, ".//tbody/tr/td[7]")
    assert sum(int(cell.get_attribute("textContent")) for cell in cells) == blocked


def test_grid_sorts_by_score_id_and_function(opened, records):
    Select(opened.find_element(By.ID, "sort")).select_by_value("score")
    first = scores(opened)
    assert first == sorted(first, reverse=True)
    assert first[0] == pytest.approx(max(s.share for s in records.graded) * 100, abs=0.06)
    opened.find_element(By.ID, "direction").click()
    Select(opened.find_element(By.ID, "sort")).select_by_value("id")
    assert names(opened)[0] == max(records.students, key=lambda s: int(s.id)).name
    Select(opened.find_element(By.ID, "sort")).select_by_value("softmax.softmax")
    opened.find_element(By.ID, "direction").click()
    column = records.functions.index("softmax.softmax")
    passing = {s.name for s in records.students if s.letters[column : column + 1] == "p"}
    assert names(opened)[0] in passing


def test_scrolling_to_the_end_draws_the_last_student(opened, records):
    Select(opened.find_element(By.ID, "sort")).select_by_value("id")
    opened.execute_script("const g = document.getElementById('grid'); g.scrollTop = g.scrollHeight;")
    wait_until(lambda: records.students[-1].name in names(opened))


def test_mistake_button_lists_its_students(opened, records):
    mistake = records.mistakes[0]
    opened.find_element(By.CSS_SELECTOR, "[data-mistake='0']").click()
    assert count_text(opened) == f"{len(mistake.students)} of {len(records.students)} students with “{mistake.title}”"
    assert set(names(opened)) <= {records.students[number].name for number in mistake.students}
    opened.execute_script("document.querySelector('#grid [role=rowheader] button').click()")
    detail = opened.find_element(By.ID, "detail")
    assert detail.is_displayed()
    assert mistake.title in detail.text
    assert detail.find_element(By.TAG_NAME, "a").get_attribute("href").endswith(".html")


def test_tables_sort_by_their_headings(opened, records):
    heading = opened.find_element(By.XPATH, "//section[@aria-labelledby='functions']//th[2]/button")
    values = "//section[@aria-labelledby='functions']//tbody/tr/td[2]"
    heading.click()
    shares = [float(cell.get_attribute("data-value")) for cell in opened.find_elements(By.XPATH, values)]
    assert shares == sorted(shares, reverse=True)
    heading.click()
    shares = [float(cell.get_attribute("data-value")) for cell in opened.find_elements(By.XPATH, values)]
    assert shares == sorted(shares)
    assert len(shares) == len(records.functions) == len(TRANSFORMER.functions)


def test_hostile_names_are_shown_as_text(opened, records):
    hostile = records.students[:9]
    assert opened.title.endswith("class report")  # a name that runs would have changed it
    search(opened, "<script>")
    assert names(opened) == [hostile[0].name]
    assert hostile[0].name.startswith("<script>")
    opened.execute_script("document.querySelector('#grid [role=rowheader] button').click()")
    assert hostile[0].name in opened.find_element(By.ID, "detail").text
    assert len(opened.find_elements(By.TAG_NAME, "script")) == 2
    assert not opened.find_elements(By.CSS_SELECTOR, "img, b, iframe")
    assert not set(opened.page_source) & set("\u202e\u202d\u2066")
    search(opened, "=HYPERLINK")
    assert names(opened) == [hostile[1].name]


def test_grid_can_be_used_with_the_keyboard(opened):
    opened.execute_script("document.querySelector('#grid [role=rowheader] button').focus()")
    first = names(opened)
    keys = ActionChains(opened).send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    keys.perform()  # to whatever has the focus
    wait_until(lambda: opened.execute_script("return document.activeElement.title") == first[3])
    ActionChains(opened).send_keys(Keys.ENTER).perform()
    assert first[3] in opened.find_element(By.ID, "detail").text


def test_status_strip_and_buttons_have_accessible_names(opened):
    strip = opened.find_element(By.CSS_SELECTOR, "#grid .strip[aria-label]")
    assert "passed" in strip.get_attribute("aria-label")
    assert all(b.accessible_name for b in opened.find_elements(By.TAG_NAME, "button") if b.is_displayed())


def test_page_adapts_to_phone_dark_mode_and_print(opened, records):
    opened.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    )
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        assert opened.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
        background = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert max(int(part) for part in background[4:-1].split(",")) < 64
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    opened.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert len(opened.find_elements(By.CSS_SELECTOR, "#printed .row")) == len(records.students)
    opened.execute_script("dispatchEvent(new Event('afterprint'))")


def test_policy_refuses_an_injected_script(browser, page, tmp_path):
    """The Content-Security-Policy alone refuses a script put into the page."""
    injected = page.read_text("utf-8").replace("</main>", "<script>document.title = 'owned'</script></main>", 1)
    (tmp_path / "injected.html").write_text(injected, "utf-8")
    browser.get((tmp_path / "injected.html").as_uri())
    assert "owned" not in browser.title
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_grid_of_a_small_class_has_no_empty_space(browser, make_class, tmp_path):
    small = class_statistics.collect(gradebook.read(make_class(5, seed=2)))
    (tmp_path / "report.html").write_text(render_class(small, lambda student: None), "utf-8")
    browser.get((tmp_path / "report.html").as_uri())
    height, shown = browser.execute_script(
        "const grid = document.getElementById('grid');"
        "return [grid.offsetHeight, grid.querySelectorAll('.row:not(.head)').length]"
    )
    assert shown == 5
    assert 6 * 26 <= height <= 8 * 26


def test_feedback_page_of_a_hostile_name_opens(browser, make_class, tmp_path):
    book = gradebook.read(make_class(10, seed=4, assignments=("softmax",)))
    feedback_files.write(book, tmp_path)
    browser.get_log("browser")
    browser.get((tmp_path / "student00000.html").as_uri())
    assert browser.title.startswith("<script>")
    assert browser.find_element(By.TAG_NAME, "h1").text == book.students[0]["name"]
    assert browser.find_elements(By.CSS_SELECTOR, "article dl dt")
    assert browser.get_log("browser") == []
