"""Reports and plots in Chromium: hostile text stays text, each status renders, maps and plots show every value."""

import json
import re
from importlib.resources import files

import numpy as np
import pytest
from support.contrast import contrast
from support.result_documents import check, document
from support.static_server import serve

pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from autograder.course.stubs import bundled
from autograder.engine.comparison.error_map import map_errors
from autograder.models import plot_data
from autograder.models.plot_data import PLOTS, functions_in_folder
from autograder.report import wording
from autograder.report.page_report import page_report

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=owned=1></script><script>owned=1</script>\u202etxt.\u2066`code`&lt;"
PLOT_NAMES = [name for name, plot in PLOTS.items() if not plot.trained]
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<link rel="stylesheet" href="site.css"><link rel="stylesheet" href="text.css"><link rel="stylesheet" href="report.css">
<link rel="stylesheet" href="plot.css">
<script type="module" src="test.js"></script></head><body></body></html>"""
SCRIPT = """
import { renderReport } from "./report.js";
import { renderFigure } from "./plot_figure.js";
window.places = [];
const onLocation = (place) => places.push(place);
window.report = (data) => document.body.replaceChildren(renderReport(data, {onLocation}));
window.plot = (data) => document.body.replaceChildren(renderFigure(data));
window.ready = true;
"""


@pytest.fixture(scope="module")
def address():
    static = files("autograder.web.site") / "static"
    served = {path.name: path.read_bytes() for path in static.iterdir() if path.is_file()}
    with serve({**served, "page.html": PAGE.encode(), "test.js": SCRIPT.encode()}) as at:
        yield f"{at}page.html"


@pytest.fixture
def page(browser, address):
    """The page, before anything is shown. Afterwards the browser's log must be empty: it would name violations."""
    browser.get_log("browser")
    browser.get(address)
    browser.execute_async_script(
        "const done = arguments[0]; const wait = () => window.ready ? done() : setTimeout(wait, 20); wait()"
    )
    yield browser
    assert browser.get_log("browser") == []


@pytest.fixture(scope="module")
def plots():
    """Every plot, drawn by the official solutions."""
    with functions_in_folder(bundled("solutions")) as functions:
        return {name: plot_data.draw(name, functions) for name in PLOT_NAMES}


def show(page, kind, data):
    """Show a report or a plot; it goes through JSON, as it does from a back end."""
    page.execute_script(f"window.{kind}(JSON.parse(arguments[0]))", json.dumps(data))


def values(page, selector, name):
    script = "return [...document.querySelectorAll(arguments[0])].map((e) => e[{0}] ?? e.getAttribute({0}))"
    return page.execute_script(script.replace("{0}", "arguments[1]"), selector, name)


def texts(page, selector):
    return values(page, selector, "textContent")


def count(page, selector):
    return page.execute_script("return document.querySelectorAll(arguments[0]).length", selector)


def failed(**more):
    return page_report(document(check(status="failed", **more)))


def mapped(shape, wrong):
    """The report of a check with a map; values are known for small shapes."""
    expected = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    actual = expected.copy()
    actual[wrong] += 100
    axes = ("query", "key")
    picture = map_errors(actual, expected, actual == expected, wrong, axes)
    worst = {"index": list(wrong), "axes": list(axes), "yours": float(actual[wrong]),
             "expected": float(expected[wrong]), "tolerance": 1e-9}  # fmt: skip
    return failed(error_map=picture, worst=worst)


def replaced(value, text):
    """The same value with every string that a student could have written replaced."""
    if isinstance(value, dict):
        kept = ("status", "mark", "rows", "labels", "kind", "style", "glyph")
        return {key: item if key in kept else replaced(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, text) for item in value]
    return text if isinstance(value, str) and value else value


def test_hostile_text_stays_text_in_reports(page):
    place, caller = {"file": "a.py", "line": 3, "text": "x"}, {"file": "b.py", "line": 4, "text": "y"}
    report = mapped((3, 3), (1, 1))
    [card] = report["cards"]
    more = failed(title="t", message="m", help="h", inputs="i", output="o", warnings=["w"], first_wrong_stage="s",
                  location=place, called_from=caller, shapes={"yours": [1], "expected": [2]},
                  mistake={"id": "a", "title": "t", "reason": "r", "explanation": "e", "hint": "h"})  # fmt: skip
    card = {**more["cards"][0], "map": card["map"], "values": card["values"], "also": ["a"] * 5}
    report = {**more, "cards": [card], "waiting": ["w"], "notes": ["n"], "internal_errors": ["e"],
              "remaining": "r", "remaining_titles": ["t"]}  # fmt: skip
    show(page, "report", replaced(report, HOSTILE))
    assert count(page, "img, script:not([src]), iframe, [onerror], [style]") == 0
    assert page.execute_script("return window.owned") is None
    shown = page.execute_script("return document.body.textContent")
    # Backquotes mark code in the texts of the course.
    assert shown.count(HOSTILE) + shown.count(HOSTILE.replace("`", "")) >= 30


def test_hostile_text_stays_text_in_plots(page, plots):
    for name in ("attention-mask", "activations", "softmax-overflow", "layernorm"):
        show(page, "plot", replaced(plots[name], HOSTILE))
        page.find_element(By.TAG_NAME, "summary").click()
        assert count(page, "img, script:not([src]), iframe, [onerror], [style]") == 0
        assert page.execute_script("return document.body.textContent").count("<img src=x") >= 4
    assert page.execute_script("return window.owned") is None


def test_long_output_is_shown_as_text_in_a_box_that_scrolls(page):
    report = failed(message="wrong")
    output = "<b>" + "x" * 100_000
    report["cards"][0]["output"] = output
    show(page, "report", report)
    page.find_element(By.CSS_SELECTOR, ".report-card > details > summary").click()
    box = page.find_element(By.CLASS_NAME, "report-output")
    assert box.get_attribute("textContent") == output and box.size["height"] < 500
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_each_status_has_its_mark_and_words(page):
    for status, word in wording.STATUS_WORDS.items():
        report = page_report(document(check(status=status, message="why", blocked_by=["softmax.softmax"])))
        show(page, "report", report)
        assert report["headline"] in texts(page, ".report-headline")[0]
        assert f" 1 {word}" in texts(page, ".report-counts li")
        assert count(page, f".report-headline .status-mark-{status}") == 1
        assert count(page, "article") == (status in wording.FAILED_STATUSES)
        assert texts(page, ".report-waiting li") == report["waiting"]


def test_named_mistake_comes_first_and_the_question_after_it(page):
    mistake = {"id": "a/b", "title": "not divided", "reason": "proof", "explanation": "why", "hint": "by what?"}
    titles = "abcdef"
    checks = [check(status="failed", title=t, message="out differs", mistake=mistake) for t in titles]
    show(page, "report", page_report(document(*checks, check(status="failed", title="other"))))
    assert texts(page, ".report-mistake-title") == ["not divided"]
    text = page.find_element(By.TAG_NAME, "article").text
    places = [text.index(part) for part in ("not divided", "proof", "why", "by what?", "out differs")]
    assert places == sorted(places)
    assert texts(page, ".report-details .report-titles li") == list("bcdef")
    assert texts(page, ".report-folded summary")[-1] == wording.remaining_text(1)


def test_location_is_a_button_that_names_file_and_line(page):
    place, caller = ({"file": "softmax.py", "line": line, "text": "x @ y"} for line in (7, 3))
    show(page, "report", failed(location=place, called_from=caller))
    for button in page.find_elements(By.CLASS_NAME, "report-location"):
        button.send_keys(Keys.ENTER)
    assert page.execute_script("return window.places") == [{"file": "softmax.py", "line": line} for line in (7, 3)]


def test_cells_of_a_small_map_say_both_values(page):
    show(page, "report", mapped((3, 4), (1, 2)))
    labels = values(page, "[role=gridcell]", "ariaLabel")
    assert len(labels) == 2 * 12, "one table of what the function returned, one of what was expected"
    assert labels[6] == "107, query 1, key 2: got 107, expected 7 (far off)", "it has the text of the cell"
    assert labels[0] == "1, query 0, key 0: got 1, expected 1 (correct)"
    assert texts(page, "[role=gridcell]")[6] == "107"
    assert count(page, "[role=gridcell][tabindex='0']") == 2, "one stop of the tab key for each table"


def test_arrow_keys_go_through_the_cells_of_a_map(page):
    show(page, "report", mapped((7, 7), (1, 2)))
    first = page.find_element(By.CSS_SELECTOR, "[role=gridcell]")
    first.send_keys(Keys.ARROW_UP)  # an edge
    first.send_keys(Keys.ARROW_DOWN)
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_RIGHT):
        page.switch_to.active_element.send_keys(key)
    assert texts(page, ".map-readout") == ["query 1, key 2: got 110, expected 10 (far off)"]
    assert page.switch_to.active_element.get_attribute("aria-label") == texts(page, ".map-readout")[0]
    page.switch_to.active_element.send_keys(Keys.END)
    assert texts(page, ".map-readout")[0].startswith("query 1, key 6")
    assert count(page, ".map-current") == 1


def test_large_map_has_a_cell_for_each_mark_and_no_values(page):
    report = mapped((40, 100), (11, 52))
    show(page, "report", report)
    shown = report["cards"][0]["map"]
    assert count(page, "[role=gridcell]") == len(shown["rows"]) * len(shown["rows"][0])
    assert values(page, ".map-marks .map-2", "ariaLabel") == ["query 10 to 11, key 52 to 53: off"]
    assert texts(page, ".map figcaption") == [shown["description"]]
    assert [text for text in texts(page, ".map-legend li") if "up to 10%" in text]


def test_plots_have_a_mark_for_each_value(page, plots):
    for name, plot in plots.items():
        show(page, "plot", plot)
        panels = plot["panels"]
        heatmaps = [panel["values"] for panel in panels if panel["kind"] == "heatmap"]
        cells = "".join(values(page, ".plot-cell", "d"))
        assert cells.count("M") == sum(len(values) * len(values[0]) for values in heatmaps), name
        series = [(panel["kind"], line) for panel in panels for line in panel.get("series", ())]
        bars = sum(len(line["y"]) for kind, line in series if kind == "bars")
        dots = sum(len(line["y"]) for _, line in series if line["style"] == "dots")
        lines = [line for kind, line in series if kind == "lines" and line["style"] != "dots"]
        assert (count(page, ".plot-bar"), count(page, ".plot-dot")) == (bars, dots), name
        assert count(page, ".plot-line:not(.plot-key)") == len(lines), name
        drawn = values(page, ".plot-line:not(.plot-key)", "d")
        points = [sum(value is not None for value in line["y"]) for line in lines]
        assert [path.count("M") + path.count("L") for path in drawn] == points, name
        assert not [path for path in [*drawn, cells] if "NaN" in path or "Infinity" in path], name
        picture = page.find_element(By.TAG_NAME, "svg")
        assert picture.get_attribute("role") == "img"
        assert picture.get_attribute("aria-label") == f"{plot['title']}. {plot['note']}"
        words = " ".join(texts(page, "svg text"))
        for panel in panels:
            assert all(tick["label"] in words for tick in panel["y"]["ticks"]), name
            assert all(line["label"] in words for line in panel.get("series", ())), name


def test_plots_have_their_numbers_as_tables(page, plots):
    for name in ("attention-mask", "softmax-temperatures", "learning-rate"):
        show(page, "plot", plots[name])
        assert count(page, "table") == 0
        page.find_element(By.TAG_NAME, "summary").click()
        panels = plots[name]["panels"]
        page.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 0))")
        assert count(page, "table") == len(panels), name
        if name == "softmax-temperatures":
            assert texts(page, "table tbody tr")[2] == f"3{panels[0]['series'][0]['y'][2]}"
        if name == "attention-mask":
            assert texts(page, "table td")[1:3] == panels[0]["texts"][0][:2]
            assert texts(page, "table thead th")[:5] == [tick["label"] for tick in panels[0]["x"]["ticks"]]


def in_hexadecimal(color):
    return "#" + bytes(map(int, re.findall(r"\d+", color)[:3])).hex()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_of_reports_is_readable_in_both_schemes(page, scheme):
    """Contrast of at least 4.5 to 1 of every text with what is behind it."""
    page.execute_script("document.documentElement.dataset.theme = arguments[0]", scheme)
    report = mapped((3, 4), (1, 2))
    report["cards"][0]["mistake"] = {"title": "t", "reason": "r", "explanation": "e", "hint": "h"}
    show(page, "report", {**report, "waiting": ["w"], "notes": ["n"], "internal_errors": ["i"]})
    script = """
      const behind = (element) => { for (; element; element = element.parentElement) {
        const color = getComputedStyle(element).backgroundColor;
        if (!/, 0\\)$/.test(color) && color !== 'transparent') return color; } return 'rgb(255, 255, 255)'; };
      return [...document.querySelectorAll('.report :not(.map-glyph)')].filter((element) =>
        [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
      ).map((element) => [element.textContent, getComputedStyle(element).color, behind(element)]);"""
    shown = page.execute_script(script)
    assert len(shown) > 20 and [text for text, *colors in shown if contrast(*map(in_hexadecimal, colors)) < 4.5] == []


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_is_wider_than_the_window(page, plots, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for kind, data in (("report", mapped((40, 100), (1, 1))), ("report", mapped((5, 5), (1, 1))),
                           *(("plot", plot) for plot in plots.values())):  # fmt: skip
            show(page, kind, data)
            page.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 0))")
            assert page.execute_script("return document.documentElement.scrollWidth") <= width
            if kind == "plot":
                box = page.execute_script("return document.querySelector('svg').getAttribute('viewBox')").split()
                assert int(box[2]) <= width, "drawn again for the width"
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
