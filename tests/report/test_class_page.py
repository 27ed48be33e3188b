"""The class page in a real browser: sorting, searching, hostile names, keyboard, phone and print."""

import contextlib

import pytest
from support.html_rules import read_page
from support.waiting import wait_until

from autograder.classroom.class_report import class_statistics, similarity, student_pages
from autograder.classroom.storage import gradebook
from autograder.courses.transformer import TRANSFORMER
from autograder.report.class_records import SimilarityResult, SimilarPair
from autograder.report.html.class_page import render_class

pytest.importorskip("selenium")
pytest.importorskip("jinja2")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

pytestmark = [pytest.mark.browser, pytest.mark.drawn(3)]


@pytest.fixture(scope="module")
def book(make_class):
    return gradebook.read(make_class(70, seed=14, code=True))


@pytest.fixture(scope="module")
def records(book):
    return class_statistics.collect(book)


@pytest.fixture(scope="module")
def earlier(make_class):
    return class_statistics.collect(gradebook.read(make_class(70, seed=4, week=-2)))


@pytest.fixture(scope="module")
def page(book, records, earlier, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    first, second = records.students[16], records.students[17]
    submissions = (first.submission, second.submission)
    pair = SimilarPair(first.name, second.name, 0.9, 40, "softmax 90%", submissions, ("softmax",))
    similar = similarity.write_pair_pages(SimilarityResult([pair]), book, path.with_suffix(""), path)
    student_pages.write(book, path.with_suffix(""), path, similar)
    for student in records.students:
        student.page, student.feedback = (f"{name}/{student.submission}.html" for name in ("report", "feedback"))
    path.write_text(render_class(records, similar, class_statistics.compare(records, earlier, "week 2")), "utf-8")
    return path


CHROMIUM_FLAGS = ("window-size=1300,900",)


@pytest.fixture
def opened(browser, page):
    """The browser with the page just opened. Afterwards its log must be empty."""
    browser.get_log("browser")
    browser.get(page.as_uri())
    # The grid draws its rows again when it learns its size, before the second frame.
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
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


def open_first_student(browser):
    """Show the details of the first student in the grid; return their element."""
    browser.execute_script("document.querySelector('#grid [role=rowheader] button').click()")
    return browser.find_element(By.ID, "detail")


@contextlib.contextmanager
def view(browser, width, height=900):
    """Let the browser have this size for a time; a narrow one is a phone."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_grid_counts_all_students_and_draws_those_in_view(opened, records):
    assert count_text(opened) == f"{len(records.students)} of {len(records.students)} students"
    assert 10 < len(names(opened)) < 60
    assert opened.find_element(By.ID, "grid").get_attribute("aria-rowcount") == str(len(records.students) + 1)


def test_search_filters_students(opened, records):
    wanted = records.students[30]
    search(opened, wanted.id)
    assert names(opened) == [wanted.name]
    assert count_text(opened).startswith("1 of")
    search(opened, "missing")
    assert len(names(opened)) == len([s for s in records.students if s.status == "missing" or "missing" in s.name])
    search(opened, "nobody of this name")
    assert names(opened) == []


def test_missing_student_has_a_status_and_is_not_late(opened, records):
    search(opened, "missing")
    heads = rows(opened, ".head [role=columnheader]", "textContent")
    assert heads[:5] == ["student", "score", "status", "late", "section"]
    assert rows(opened, ".row:not(.head) [role=cell]", "textContent")[:3] == ["–", "missing", ""]


def test_unreadable_student_has_a_score_and_the_reason(opened, records):
    unreadable = next(student for student in records.students if student.status == "unreadable" and student.out_of)
    search(opened, unreadable.id)  # Another name may contain this one.
    assert rows(opened, ".row:not(.head) [role=cell]", "textContent")[:2] == ["0%", "unreadable"]
    assert unreadable.reason and rows(opened, ".row:not(.head) .state", "title")[0] == unreadable.reason


def test_checks_table_counts_blocked_checks(opened, records):
    name = max(records.checks.values(), key=lambda check: check.statuses["blocked"]).function.partition(".")[0]
    checks = [check for check in records.checks.values() if check.function.startswith(f"{name}.")]
    blocked = sum(check.statuses["blocked"] for check in checks)
    path = f"//section[@aria-labelledby='checks']/details[starts-with(summary, '{name} ')]"
    details = opened.find_element(By.XPATH, path)
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
    assert names(opened)[0] in {s.name for s in records.students if s.statuses.get("softmax.softmax") == "passed"}


def test_scrolling_to_the_end_draws_the_last_student(opened, records):
    Select(opened.find_element(By.ID, "sort")).select_by_value("id")
    opened.execute_script("const g = document.getElementById('grid'); g.scrollTop = g.scrollHeight;")
    wait_until(lambda: records.students[-1].name in names(opened))


def test_mistake_button_lists_its_students(opened, records):
    mistake = records.mistakes[0]
    opened.find_element(By.CSS_SELECTOR, "[data-mistake='0']").click()
    assert count_text(opened) == f"{len(mistake.students)} of {len(records.students)} students with “{mistake.title}”"
    assert set(names(opened)) <= {records.students[number].name for number in mistake.students}
    detail = open_first_student(opened)
    assert detail.is_displayed() and mistake.title in detail.text
    links = {link.text: link.get_attribute("href") for link in detail.find_elements(By.TAG_NAME, "a")}
    assert "/report/" in links["Code and results"] and "/feedback/" in links["Feedback for this student"]


def test_tables_sort_by_their_headings(opened, records):
    heading = opened.find_element(By.XPATH, "//section[@aria-labelledby='functions']//th[2]/button")
    values = "//section[@aria-labelledby='functions']//tbody/tr/td[2]"
    for descending in (True, False):
        heading.click()
        shares = [float(cell.get_attribute("data-value")) for cell in opened.find_elements(By.XPATH, values)]
        assert shares == sorted(shares, reverse=descending)
    assert len(shares) == len(records.functions) == len(TRANSFORMER.functions)


def test_hostile_names_are_shown_as_text(opened, records):
    hostile = records.students[:9]
    assert opened.title.endswith("class report")  # a name that runs would have changed it
    search(opened, "<script>")
    assert names(opened) == [hostile[0].name]
    assert hostile[0].name.startswith("<script>")
    assert hostile[0].name in open_first_student(opened).text
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
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        with view(opened, 390, 844):
            assert opened.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
            background = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert max(int(part) for part in background[4:-1].split(",")) < 64
    finally:
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    opened.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert len(opened.find_elements(By.CSS_SELECTOR, "#printed .row")) == len(records.students)
    opened.execute_script("dispatchEvent(new Event('afterprint'))")


def test_group_select_lists_its_students(opened, records):
    Select(opened.find_element(By.ID, "group")).select_by_visible_text("Grace Hopper")
    mine = [student for student in records.students if student.ta == "Grace Hopper"]
    assert count_text(opened) == f"{len(mine)} of {len(records.students)} students"
    assert set(names(opened)) <= {student.name for student in mine}
    Select(opened.find_element(By.ID, "group")).select_by_visible_text("everybody")
    assert count_text(opened).startswith(f"{len(records.students)} of")


def test_similar_pair_opens_from_a_student_and_shows_both(opened, records):
    first, second = records.students[16], records.students[17]
    search(opened, first.submission)
    open_first_student(opened)
    opened.find_element(By.PARTIAL_LINK_TEXT, "Similar to").click()
    assert opened.find_element(By.TAG_NAME, "h1").text == f"{first.name} and {second.name}"
    sides = opened.find_elements(By.CSS_SELECTOR, ".sides .code")
    assert len(sides) == 2
    marked = sides[0].find_elements(By.CSS_SELECTOR, ".same")
    assert len(marked) > 5
    target = marked[0].find_element(By.TAG_NAME, "a").get_attribute("href").partition("#")[2]
    assert "same" in opened.find_element(By.ID, target).get_attribute("class")
    opened.find_element(By.LINK_TEXT, "Class report").click()
    assert opened.title.endswith("class report")


def test_functions_show_discrimination_and_earlier_pass_rate(opened, records):
    headings = [cell.text.strip() for cell in opened.find_elements(By.CSS_SELECTOR, "#functions ~ .wide th")]
    assert headings[1:5] == ["pass rate", "before", "mean points", "discrimination"]
    cells = opened.find_elements(By.XPATH, "//section[@aria-labelledby='functions']//tbody/tr/td[5]")
    shown = [float(cell.get_attribute("data-value")) for cell in cells]
    expected = [records.statistics[name].discrimination for name in records.functions]
    assert shown == pytest.approx([-2 if value is None else value for value in expected])
    assert any(value is not None for value in expected)


def test_phone_has_labels_of_one_size_and_targets_to_touch(opened, page):
    with view(opened, 390, 844):
        for name in ("report", "report/student00010", "report/pair-1"):
            opened.get((page.parent / f"{name}.html").as_uri())
            small = opened.execute_script(
                "for (const d of document.querySelectorAll('details')) d.open = true;"
                "return [...document.querySelectorAll('a, button, input, select, summary')].filter((e) => {"
                " const box = e.getBoundingClientRect();"
                " return box.height && (box.height < 24 || box.width < 24); }).map((e) => e.outerHTML)"
            )
            assert small == []
        opened.get(page.as_uri())
        sizes = opened.execute_script(
            "return [...document.querySelectorAll('svg text, figcaption, .key, .strip span')]"
            ".map((e) => getComputedStyle(e).fontSize)"
        )
        # Text of a scaled picture would be smaller than its font says.
        assert len(set(sizes)) == 1 and not opened.find_elements(By.CSS_SELECTOR, ".histogram[viewBox]")


def test_work_without_a_result_has_a_sign_a_word_and_a_color(browser, make_class, tmp_path):
    book = gradebook.read(make_class(20, seed=2, assignments=("softmax", "attention"), hostile=False))
    states = {"excused": "⊘", "missing": "–", "unreadable": "?", "waiting": "…", "failed": "▲"}
    for student, state in zip(book.students, states, strict=False):
        grade = student["assignments"]["attention"]
        grade.update({"excused": True} if state == "excused" else {"status": state, "file": None})
        student["name"] = state
    page = tmp_path / "report.html"
    page.write_text(render_class(class_statistics.collect(book)), "utf-8")
    browser.get(page.as_uri())
    colors = set()
    for state, sign in states.items():
        search(browser, state)
        (run,) = browser.find_elements(By.CSS_SELECTOR, "#grid .strip .all")
        word = "grading failed" if state == "failed" else state
        assert run.text == f"{sign} {word}"
        colors.add(run.value_of_css_property("background-color"))
        assert browser.find_element(By.XPATH, f"//ul[@class='legend']/li[contains(., '{word}')]").text == sign + word
    assert len(colors) == len(states)


@pytest.mark.parametrize("width", [360, 700, 1440, 2560])
@pytest.mark.parametrize("name", ["report", "report/student00010", "report/pair-1"])
def test_no_page_scrolls_sideways(opened, page, name, width):
    with view(opened, width):
        opened.get((page.parent / f"{name}.html").as_uri())
        opened.execute_script("for (const d of document.querySelectorAll('details')) d.open = true;")
        wide = opened.execute_script(
            "return [document.documentElement, ...document.querySelectorAll('body *')]"
            ".filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth"
            " && (e.matches('html') || ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)))"
            ".map((e) => `${e.tagName}.${e.className}#${e.id}`)"
        )
        if width > 640:  # the statuses of a whole course do not fit, nor do long tables on a tablet
            wide = [element for element in wide if not element.endswith("#grid")]
            wide = [element for element in wide if width > 1000 or not element.startswith("DIV.wide")]
        assert wide == []


@pytest.mark.parametrize("name", ["report", "report/student00010", "report/pair-1"])
def test_pages_obey_the_rules_of_pages(page, name):
    text = (page.parent / f"{name}.html").read_text("utf-8")
    allowed = ("an inline style sheet", "an inline script")
    assert [problem for problem in read_page(text).problems if problem not in allowed] == []


def test_policy_refuses_an_injected_script(browser, page, tmp_path):
    """The Content-Security-Policy alone refuses a script put into the page."""
    injected = page.read_text("utf-8").replace("</main>", "<script>document.title = 'owned'</script></main>", 1)
    (tmp_path / "injected.html").write_text(injected, "utf-8")
    browser.get((tmp_path / "injected.html").as_uri())
    assert "owned" not in browser.title
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_grid_of_a_small_class_has_no_empty_space(browser, make_class, tmp_path):
    small = class_statistics.collect(gradebook.read(make_class(5, seed=2)))
    (tmp_path / "report.html").write_text(render_class(small), "utf-8")
    browser.get((tmp_path / "report.html").as_uri())
    wait_until(lambda: len(browser.find_elements("css selector", "#grid .row:not(.head)")) == 5)
    assert 6 * 26 <= browser.execute_script("return document.getElementById('grid').offsetHeight") <= 8 * 26


def test_feedback_page_of_a_hostile_name_opens(browser, make_class, tmp_path):
    book = gradebook.read(make_class(10, seed=4, assignments=("softmax",)))
    student_pages.write_feedback(book, tmp_path)
    browser.get_log("browser")
    browser.get((tmp_path / "student00000.html").as_uri())
    assert browser.title.startswith("<script>")
    assert browser.find_element(By.TAG_NAME, "h1").text == book.students[0]["name"]
    assert browser.find_elements(By.CSS_SELECTOR, "article dl dt") and browser.get_log("browser") == []
