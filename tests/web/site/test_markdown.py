"""Text of lessons as HTML: terms, code and figures, with every character that HTML gives a meaning escaped."""

from dataclasses import replace

import pytest
from support.html_rules import Elements

from autograder.course import glossary
from autograder.courses.transformer import TRANSFORMER
from autograder.web.site.markdown import EVERYDAY_WORDS, CourseLinks, Markdown, PageText

FIRST, SECOND, THIRD = list(TRANSFORMER.modules)[:3]
HARMFUL = """a "quoted" <b onclick='x()'> & more"""


@pytest.fixture
def links(monkeypatch):
    """The links of a course whose second assignment introduces two terms."""
    tables = {SECOND: {"log-odd": HARMFUL, "key": "an everyday word"}, THIRD: {"query": "a later term"}}
    monkeypatch.setattr(glossary, "load", lambda curriculum: tables)
    return CourseLinks(TRANSFORMER, {"check": "cmd-check"})


def test_meaning_of_a_term_is_escaped_in_its_attribute(links):
    ((paragraph, _), (link, attributes)) = Elements(Markdown(links).render("A log-odd.", PageText(THIRD))).found
    assert (paragraph, link) == ("p", "a")
    assert attributes["data-meaning"] == HARMFUL
    assert attributes.keys() == {"class", "href", "data-meaning", "aria-describedby"}


def test_code_is_linked_with_the_function_that_it_names():
    twice = replace(TRANSFORMER.modules["softmax"].functions[0], module="gpt")
    gpt = replace(TRANSFORMER.modules["gpt"], functions=(*TRANSFORMER.modules["gpt"].functions, twice))
    course = replace(TRANSFORMER, assignments=(TRANSFORMER.modules["softmax"], gpt))
    find = CourseLinks(course, {"check": "cmd-check"}).find_code
    assert find("softmax()", "gpt") == "#gpt.softmax" and find("softmax", "softmax") == "#softmax.softmax"
    assert find("softmax", "attention") == "softmax.html", "the lesson: two functions have the name"
    assert find("init_gpt", "attention") == "gpt.html#gpt.init_gpt"
    assert find("headway check", "gpt") == "commands.html#cmd-check" and find("headway go", "gpt") == ""


def test_cells_below_an_empty_head_are_headings_of_their_rows(links):
    table = Markdown(links).render("| | b |\n|---|---|\n| c | d |", PageText(FIRST))
    assert [tag for tag, _ in Elements(table).found if tag in ("th", "td")] == ["td", "th", "th", "td"]


@pytest.mark.parametrize(("module", "linked"), [
    (FIRST, []), (SECOND, ["log-odd", "key"]), (THIRD, ["log-odd"]), ("", []),
])  # fmt: skip
def test_find_terms_links_terms_from_their_own_lesson_on_and_everyday_words_only_there(links, module, linked):
    assert "key" in EVERYDAY_WORDS
    assert [term.text for _, _, term in links.find_terms("The log-odds of a key", module)] == linked
