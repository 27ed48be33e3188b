"""Read the HTML of the site and say what is wrong with it: structure, accessibility, links, what a policy forbids."""

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "mspace"}


@dataclass
class Page:
    """What the rules need to know of a page."""

    ids: Counter = field(default_factory=Counter)
    links: list = field(default_factory=list)  # href and src
    headings: list = field(default_factory=list)  # levels
    tags: Counter = field(default_factory=Counter)
    text: str = ""
    problems: list = field(default_factory=list)


def read_page(text):
    """Return what a page contains; `problems` lists the rules that it breaks."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    page = reader.page
    page.problems += [f"<{tag}> is not closed" for tag, _ in reader.open]
    page.problems += [f"the id {name} occurs {count} times" for name, count in page.ids.items() if count > 1]
    if page.tags["h1"] != 1 or page.headings[:1] != [1]:
        page.problems.append(f"the headings are {page.headings[:4]}…: one h1 comes first")
    steps = zip(page.headings, page.headings[1:], strict=False)
    page.problems += [f"a heading {a} is followed by a heading {b}" for a, b in steps if b > a + 1]
    page.problems += [f"no <{tag}>" for tag in ("title", "main", "header", "footer", "nav") if not page.tags[tag]]
    page.problems += [f"{name} is described by #{target}, which is missing"
                      for name, target in reader.references if target not in page.ids]  # fmt: skip
    return page


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.page, self.open, self.references = Page(), [], []

    def handle_starttag(self, tag, attributes):
        given, page = dict(attributes), self.page
        page.tags[tag] += 1
        if len(given) < len(attributes):
            page.problems.append(f"<{tag}> has an attribute twice")
        if "id" in given:
            page.ids[given["id"]] += 1
        page.links += [given[name] for name in ("href", "src") if name in given]
        self.references += [(tag, given[name]) for name in ("aria-describedby", "aria-controls", "popovertarget",
                            "aria-labelledby") if name in given]  # fmt: skip
        page.problems += [f"<{tag}> has {name}" for name in given if name == "style" or name.startswith("on")]
        labeled = any(name == "label" for name, _ in self.open)
        problem = self.problem_of(tag, given, labeled)
        if problem:
            page.problems.append(problem)
        if tag[0] == "h" and tag[1:].isdigit():
            page.headings.append(int(tag[1:]))
        if tag == "p" and any(name == "p" for name, _ in self.open):
            page.problems.append("a <p> in a <p>")
        if tag not in VOID:
            self.open.append((tag, given))

    @staticmethod
    def problem_of(tag, given, labeled):
        if tag == "img" and not given.get("alt", "").strip():
            return f"{given.get('src')} has no alt text"
        if tag == "html" and given.get("lang") != "en":
            return "no language"
        if tag in ("input", "select", "textarea") and not (labeled or given.get("aria-label")):
            return "an input without a label"
        if tag == "nav" and not given.get("aria-label"):
            return "a <nav> without a name"
        if tag == "script" and not given.get("src"):
            return "an inline script"
        return "an inline style sheet" if tag == "style" else None

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1][0] != tag:
            self.page.problems.append(f"</{tag}> closes {self.open[-1:]}")
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        self.page.text += data


class Elements(HTMLParser):
    """The elements of a page, each a tag and a dict of attributes, and its text: what a browser sees."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data

    @property
    def tags(self):
        return {tag for tag, _ in self.found}

    @property
    def attributes(self):
        return {name for _, attributes in self.found for name in attributes}
