"""What a page sees of training runs: their events, and the actions by name."""

from autograder.models.page.runs import TrainingRuns
from support.waiting import wait_until

TINY = {"preset": "bigram", "steps": 40, "solution": True}
LONG = {**TINY, "steps": 10_000_000}


class Page:
    """A page without a browser."""

    def __init__(self, folder):
        self.events = []
        self.runs = TrainingRuns(folder, self.events.append)

    def __call__(self, action, **payload):
        return self.runs.actions[action](payload)

    def of_kind(self, name):
        return [event for event in self.events if event["event"] == name]

    def wait(self, name, count=1):
        wait_until(lambda: len(self.of_kind(name)) >= count, what=lambda: f"no {name}: {self.events}")
        return self.of_kind(name)[count - 1]

    def train(self, **payload):
        """Train to the end and return the event of it."""
        count = len(self.of_kind("training-ended"))
        assert "conflict" not in self("train", **payload)
        return self.wait("training-ended", count + 1)


class PageInBrowser:
    """The page in Chromium, which is opened from the address of the start page."""

    def __init__(self, browser, address):
        self.browser = browser
        browser.get(address)
        browser.get(f"{browser.current_url.rpartition('/')[0]}/train.html")
        self.wait_for_models(0)

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def text(self, selector):
        return self.browser.execute_script("return document.querySelector(arguments[0]).textContent", selector)

    def count(self, selector):
        return len(self.browser.find_elements("css selector", selector))

    def is_shown(self, selector):
        return self.find(selector).is_displayed()

    def fill(self, selector, value):
        self.find(selector).clear()
        self.find(selector).send_keys(str(value))

    def click(self, selector):
        self.browser.execute_script("document.querySelector(arguments[0]).click()", selector)

    def wait(self, true):
        wait_until(true, what=lambda: self.text("main"))

    def wait_for_models(self, count):
        self.wait(lambda: self.is_shown("#start") and self.count("#write option") == count)

    def start(self, steps, name, preset="bigram"):
        self.click(f"input[value={preset}]")
        self.fill("#start [name=steps]", steps)
        self.fill("#start [name=out]", name)
        if not self.find("#start [name=solution]").is_selected():
            self.click("#start [name=solution]")
        self.click("#start button.primary")

    def wait_for_end(self, text):
        self.wait(lambda: text in self.text("#run .state") or not self.find("#run > .message").get_property("hidden"))
        assert text in self.text("#run .state"), self.text("#run")
