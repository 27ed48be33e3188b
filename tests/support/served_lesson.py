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
    """What a test does in a lesson page. Elements are looked up in the cell of a function."""

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

    def wait_for(self, selector, text=""):
        """Wait until an element of the cell is shown that contains a text."""
        path = f'.cell[data-function="{self.function}"] {selector}'
        script = """
            const found = document.querySelector(arguments[0]);
            return !!found && found.checkVisibility() && found.textContent.includes(arguments[1]);"""
        wait_until(lambda: self.js(script, path, text), what=lambda: f"{selector} {text!r}\n{self.in_cell('')}")

    def text(self, selector):
        """Return the text of an element anywhere in the page; empty if there is none."""
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def in_cell(self, selector):
        return self.text(f'.cell[data-function="{self.function}"] {selector}')

    def code(self):
        """Return the text of the editor."""
        path = f'.cell[data-function="{self.function}"] .cm-line'
        lines = self.js("return [...document.querySelectorAll(arguments[0])].map((line) => line.textContent)", path)
        return "\n".join(lines)

    def click(self, selector):
        path = f'.cell[data-function="{self.function}"] {selector}'
        self.js("document.querySelector(arguments[0]).click()", path)

    def write(self, text):
        """Type a text in the place of the old one."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        path = f'.cell[data-function="{self.function}"] .cm-content'
        self.js("document.querySelector(arguments[0]).focus()", path)
        ActionChains(self.browser).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).perform()
        self.browser.execute_cdp_cmd("Input.insertText", {"text": text})

    def check(self):
        """Press Ctrl-Enter."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        ActionChains(self.browser).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()

    def check_by_click(self):
        """Press the button that checks."""
        self.click(".check")
