"""The page that trains and writes text, in Chromium, with `headway serve`."""

import re
import shutil

import pytest
from support.served_lesson import serving
from support.training_page import PageInBrowser

pytest.importorskip("selenium")
pytest.importorskip("uvicorn")

from autograder.course.stubs import bundled
from autograder.models.training import checkpoint

pytestmark = pytest.mark.browser
CHROMIUM_FLAGS = ("window-size=1300,1000",)


@pytest.fixture
def address(folder):
    with serving(folder) as (_, address):
        yield address


def test_page_trains_stops_resumes_and_writes_text(browser, address, folder):
    page = PageInBrowser(browser, address)
    assert not page.is_shown("#write")
    page.start(60, "mine")
    page.wait_for_end("Done: mine.safetensors has 60 steps.")
    page.wait_for_models(1)
    assert "official solution" in page.text("#run .about") and page.count("#run tbody tr") == 10
    assert page.count(".chart path:is(.plot-dotted, .plot-dashed):not(.plot-key)") == 2  # the baselines
    page.wait(lambda: page.count(".chart circle") == 10)
    assert ", validation (" in page.find(".chart svg").get_attribute("aria-label")
    assert page.text("#run figure.sample pre")

    browser.get(browser.current_url.replace("train", "index"))
    page.wait(lambda: page.count(".model pre:not([hidden])"))  # the last model, and what it wrote
    assert page.text(".model p").startswith("mine.safetensors: bigram on")
    assert "60 steps" in page.text(".model figcaption")
    for module in ("tokenizer", "softmax", "counting", "gradients", "bigram"):
        shutil.copy(bundled("solutions") / f"{module}.py", folder)
    page.click(".model button")
    page.wait(lambda: page.text(".model figcaption").startswith("Using") and page.find(".model button").is_enabled())
    assert len(page.text(".model pre")) > 100

    browser.back()  # The whole curve is still there.
    page.wait_for_models(1)
    page.wait(lambda: page.count(".chart circle") == 10)
    assert "Done" in page.text("#run .state")

    page.start(10_000_000, "mine")  # It is not overwritten.
    page.wait(lambda: page.is_shown("#start .conflict"))
    assert checkpoint.load(folder / "mine.safetensors").step == 60
    page.click("#start .conflict button")
    page.wait(lambda: re.search(r"Step [1-9]", page.text("#run .state")))
    assert not page.is_shown("#start")
    page.click("#run button.stop")
    page.wait_for_end("Stopped: mine-2.safetensors has")
    page.wait_for_models(2)

    assert page.find("#write select").get_property("value") == "mine-2.safetensors"
    page.fill("#write textarea", "ma")
    page.fill("#write [name=length]", 60)
    page.click("#write [name=solution]")
    page.click("#write button.primary")
    page.wait(lambda: page.is_shown("#write .stop") is False and len(page.text("#write pre")) == 62)
    assert page.text("#write pre").startswith("ma") and "official solution" in page.text("#write figcaption")

    page.fill("#write textarea", "Ω")
    page.click("#write button.primary")
    page.wait(lambda: "vocabulary" in page.text("#write .message"))
    assert browser.get_log("browser") == []
