"""A workspace with `headway serve`, and a lesson page of it in Chromium."""

import contextlib
import re
import subprocess

from support.commands import HEADWAY
from support.waiting import wait_until


@contextlib.contextmanager
def serving(folder):
    """Run `headway serve` for a workspace; the process and the address that it prints."""
    command = [*HEADWAY, "serve", str(folder), "--port", "0", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        yield process, found[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class ServedLesson:
    """What a test does in a lesson page. Elements are looked up in the cell of a function, of `function` by default."""

    def __init__(self, browser, function):
        self.browser, self.function = browser, function

    def open(self, address):
        """Open the address of the server, and from its start page the lesson of the function."""
        self.browser.get(address)
        self.browser.get(self.browser.current_url + f"{self.function.partition('.')[0]}.html")
        self.wait_until_ready()

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def wait_until_ready(self):
        self.wait_for(".cm-content")

    def path(self, selector, function=None):
        return f'.cell[data-function="{function or self.function}"] {selector}'

    def wait_for(self, selector, text="", function=None):
        """Wait until an element of the cell is shown that contains a text."""
        script = """
            const found = document.querySelector(arguments[0]);
            return !!found && found.checkVisibility() && found.textContent.includes(arguments[1]);"""
        path = self.path(selector, function)
        wait_until(lambda: self.js(script, path, text), what=lambda: f"{path} {text!r}\n{self.text('main')}")

    def text(self, selector):
        """Return the text of an element anywhere in the page; empty if there is none."""
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def in_cell(self, selector, function=None):
        return self.text(self.path(selector, function))

    def code(self, function=None):
        """Return the text of the editor."""
        script = "return [...document.querySelectorAll(arguments[0])].map((line) => line.textContent)"
        return "\n".join(self.js(script, self.path(".cm-line", function)))

    def click(self, selector, function=None):
        script = """
            const found = document.querySelector(arguments[0]);
            found.scrollIntoView({block: 'center'});
            found.click();"""
        self.js(script, self.path(selector, function))

    def press(self, modifier, key):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).key_down(modifier).send_keys(key).key_up(modifier).perform()

    def write(self, text, function=None):
        """Type a text in the place of the old one."""
        from selenium.webdriver.common.keys import Keys

        self.js("document.querySelector(arguments[0]).focus()", self.path(".cm-content", function))
        self.press(Keys.CONTROL, "a")
        self.browser.execute_cdp_cmd("Input.insertText", {"text": text})

    def check(self, text=None):
        """Press Ctrl-Enter, after the text has been typed."""
        from selenium.webdriver.common.keys import Keys

        if text is not None:
            self.write(text)
        self.press(Keys.CONTROL, Keys.ENTER)
