"""Formulas of a course show what it wrote, and bring nothing else into a page."""

import pytest
from support.html_rules import Elements

pytest.importorskip("latex2mathml")
pytest.importorskip("markdown_it")

from latex2mathml.commands import CONVERSION_MAP

from autograder.courses.transformer import TRANSFORMER
from autograder.errors import HeadwayError
from autograder.web.site import formulas
from autograder.web.site.markdown import CourseLinks, Markdown, PageText

HOSTILE = '<script>alert(1)</script><img src="x" onerror="alert(1)">'


def assert_harmless(page):
    assert page.tags.isdisjoint({"script", "img", "a"})
    assert page.attributes.isdisjoint({"href", "src", "style", "id", "onclick", "onerror", "onload"})
    assert {attributes.get("class", "formula") for _, attributes in page.found} == {"formula"}


@pytest.fixture(scope="module")
def markdown():
    return Markdown(CourseLinks(TRANSFORMER))


@pytest.mark.parametrize("tex", [
    rf"\text{{{HOSTILE}}}", r"\href{javascript:alert(1)}{x}", r"\style{background:url(https://example.org/x)}{x}",
    r"\class{message}{x}", rf"\color{{{HOSTILE}}}{{x}}", rf'\colorbox{{red" onclick="alert(1)}}{{{HOSTILE}}}',
    r"\unicode{x3c}\text{script}\unicode{x3e}", r"\text{&lt;script&gt;&#x0003C;script&#x0003E;}",
])  # fmt: skip
@pytest.mark.parametrize("form", ["A ${}$ b", "$$\n{}\n$$", "A $${}$$ b", "$${}$$ (x\"onclick='alert(1)')"])
def test_hostile_formula_is_text(markdown, tex, form):
    assert_harmless(Elements(markdown.render(form.replace("{}", tex), PageText())))


@pytest.mark.slow
def test_hostile_argument_of_any_command_is_text():
    shown = 0
    for command in CONVERSION_MAP:
        for arguments in (f"{{{HOSTILE}}}{{{HOSTILE}}}", '{1em" onclick="x}', f"[{HOSTILE}]{{x}}"):
            try:
                page = Elements(formulas.to_mathml(command + arguments))
            except HeadwayError:
                continue
            assert_harmless(page)
            shown += 1
    assert shown > len(CONVERSION_MAP)


@pytest.mark.parametrize("text", ["a<b", "a & b", 'say "no"', "x > y < z"])
def test_text_in_a_formula_is_shown_as_written(text):
    page = Elements(formulas.to_mathml(rf"\text{{{text}}}"))
    assert page.text.replace("\N{NO-BREAK SPACE}", " ") == text and page.tags == {"math", "mrow", "mtext"}


def test_formula_that_is_not_allowed_is_shown_as_its_source():
    tex = r"\href{https://example.org/?a&b}{x<y}"
    page = Elements(formulas.to_mathml(tex))
    assert page.tags == {"code"} and page.text == tex


def test_words_functions_and_colors_of_a_formula_are_kept():
    assert 'mathcolor="#a00"' in formulas.to_mathml(r"\color{#a00}{x}")
    assert "<mi>softmax</mi>" in formulas.to_mathml(r"\mathrm{softmax}(x)")
    assert '<mi>log</mi><mspace width="0.167em"/><mi>p</mi>' in formulas.to_mathml(r"\log p")
    assert formulas.to_mathml("x < y", block=True).startswith('<math display="block">')
    with pytest.raises(HeadwayError, match=r"unknown command \\softmx"):
        formulas.to_mathml(r"\softmx x")
