"""The search index: one entry for each heading of each page, with the text below it."""

import json
from collections.abc import Mapping
from html.parser import HTMLParser

_HEADINGS = ("h1", "h2", "h3", "dt")
_SKIPPED = ("script", "style", "pre", "math", "nav", "aside")


def search_index(pages: Mapping[str, bytes]) -> bytes:
    """Return the index of all pages as JSON: a list of [page, anchor, title of the page, heading, text]."""
    entries: list[list[str]] = []
    for name, page in pages.items():
        reader = _PageReader(name)
        reader.feed(page.decode())
        entries += reader.entries
    for entry in entries:
        entry[2:] = [" ".join(text.split()) for text in entry[2:]]
    return json.dumps([entry for entry in entries if entry[3]], ensure_ascii=False, separators=(",", ":")).encode()


class _PageReader(HTMLParser):
    """Collects the headings inside `<main>`, with the nearest id before each, and the text that follows it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.entries: list[list[str]] = []
        self._name, self._title, self._anchor = name, "", ""
        self._main = self._in_heading = False
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "main":
            self._main = True
        elif not self._main:
            return
        if tag == "section":
            self._anchor = values.get("id") or ""
        if tag in _SKIPPED:
            self._skipped += 1
        elif tag in _HEADINGS and not self._skipped:
            self._in_heading = True
            self.entries.append([self._name, values.get("id") or self._anchor, self._title, "", ""])

    def handle_endtag(self, tag: str) -> None:
        if tag == "main":
            self._main = False
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in _HEADINGS:
            if tag == "h1" and self._in_heading:
                self._title = self.entries[-1][2] = self.entries[-1][3]
            self._in_heading = False
        if self._main and self.entries and tag in ("p", "li", "td", "dd", "th"):
            self.entries[-1][4] += " "

    def handle_data(self, data: str) -> None:
        if self._main and self.entries and not self._skipped:
            self.entries[-1][3 if self._in_heading else 4] += data
