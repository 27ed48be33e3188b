"""Take pictures of the pages of `headway serve`, as the documentation shows them.

    python tests/support/site_screenshots.py docs/screenshots

Needs Chromium. A right softmax, a wrong one and an endless loop are typed into the lesson; a small model is trained.
"""

import base64
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from autograder.courses.transformer import TRANSFORMER
from autograder.workspace import create
from support.chromium import chromium
from support.served_lesson import ServedLesson, serving
from support.softmax_code import FUNCTION as RIGHT
from support.waiting import wait_until

WIDE, PHONE = (1440, 1000), (390, 844)
SOFT = "softmax.softmax"
IS_IDLE = "return !document.querySelector('.checking')"
WRONG = RIGHT.replace("x.max(axis, keepdims=True)", "x.max()").replace("z.sum(axis", "z.sum(-1")
LOOP = RIGHT.replace("    z = np.exp", "    while x.size:\n        pass\n    z = np.exp")


class Camera:
    """Takes pictures of what a browser shows."""

    def __init__(self, browser, folder):
        self._browser, self._folder = browser, folder

    def set_view(self, size, dark=False):
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size is PHONE}
        self._browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        wishes = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self._browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def take(self, name):
        picture = self._browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        (self._folder / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))


def take_all(browser, address, folder):
    camera, lesson = Camera(browser, folder), ServedLesson(browser, SOFT)
    camera.set_view(WIDE)
    browser.get(address)
    start = browser.current_url
    camera.take("start")
    camera.set_view(PHONE)
    camera.take("start-phone")
    camera.set_view(WIDE, dark=True)
    browser.get(f"{start}softmax.html")
    lesson.wait_until_ready()
    camera.take("lesson-dark")
    camera.set_view(WIDE)
    for name, code, selector, text, place in (
        ("wrong-answer", WRONG, ".report-mistake-title", "", ""),
        ("endless-loop", LOOP, ".check-clock", "will be stopped in", ""),
        ("pass", RIGHT, ".plots svg", "", ""),
        ("wrong-answer-phone", WRONG, ".report-mistake-title", "", ".cell-report"),
    ):
        if name.endswith("phone"):
            camera.set_view(PHONE)
        lesson.write(code)
        lesson.check()
        lesson.wait_for(selector, text)
        time.sleep(1)  # for transitions
        shown = f'.cell[data-function="{SOFT}"] {place}'.strip()
        lesson.js("document.querySelector(arguments[0]).scrollIntoView()", shown)
        camera.take(name)
        wait_until(lambda: lesson.js(IS_IDLE), what=lambda: "the check goes on")
    camera.set_view(WIDE)
    browser.get(f"{start}train.html")
    take_training(lesson, camera)


def take_training(lesson, camera):
    """Train a model of the official solution, and take a picture in the middle of it."""
    shown = "return document.querySelector('#start button.primary')?.checkVisibility()"
    wait_until(lambda: lesson.js(shown), what=lambda: lesson.text("main"))
    lesson.js("""
        const form = document.querySelector("#start form");
        form.querySelector("input[name=solution]").checked = true;
        form.requestSubmit();""")
    half = "return [...document.querySelectorAll('progress')].some((bar) => bar.value > 0.45 * bar.max)"
    wait_until(lambda: lesson.js(half), what=lambda: lesson.text("main"), seconds=300)
    camera.take("training")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Path(scratch, "my-gpt")
        create.create(workspace, TRANSFORMER)
        with serving(workspace) as (_, address), chromium(Path(scratch, "profile")) as browser:
            take_all(browser, address, folder)


if __name__ == "__main__":
    main()
