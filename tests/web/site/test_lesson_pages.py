"""Every assignment becomes a page with its lesson and with the stubs of its functions, and with no solution."""

import ast
import html
import re

import pytest
from support.html_rules import read_page

from autograder.course import glossary
from autograder.course.stubs import bundled, make_stub
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import Options, check
from autograder.web.site.build import pages
from autograder.web.site.lesson import points_of
from autograder.workspace import experiments

MODULES = list(TRANSFORMER.modules)


@pytest.fixture(scope="module")
def built():
    return pages(TRANSFORMER, "none")


def lesson_text(module):
    """The Markdown of a lesson, without code."""
    source = (bundled("solutions") / f"{module}.py").read_text("utf-8")
    cells = re.findall(r"(?m)^# %% \[markdown\]\n((?:#.*\n)*)", source)
    text = "\n\n".join(re.sub(r"(?m)^# ?", "", cell) for cell in cells)
    return re.sub(r"`[^`\n]+`", "", re.sub(r"(?ms)^```.*?^```", "", text))


@pytest.mark.parametrize("module", MODULES)
def test_page_has_a_section_and_a_cell_with_the_stub_for_each_function_and_marks_experiments(built, module):
    page = built[f"{module}.html"].decode()
    for function in TRANSFORMER.modules[module].functions:
        name = function.qualified
        assert page.count(f'<section id="{name}" class="function" data-function="{name}" data-points="') == 1
        assert page.count(f'<div class="cell" data-function="{name}">') == 1
        assert f'<li class="function" data-function="{name}"><a href="#{name}">' in page
    assert re.findall(r'<li data-module="(\w+)"', page) == MODULES
    assert f'<a href="{module}.html" aria-current="page">' in page and page.count("<summary><h2>") >= 2
    marked = re.findall(r'<div class="experiment" data-experiment="(\w*)"><pre class="code given">', page)
    assert marked == experiments.names(module, TRANSFORMER)
    stub = make_stub((bundled("solutions") / f"{module}.py").read_text("utf-8"), module, TRANSFORMER)
    cells = [cell.strip("\n") for cell in re.split(r"(?m)^# %%.*\n", stub)]
    shown = re.findall(r'<code class="stub">(.*?)</code></pre></div>', page, re.DOTALL)
    assert len(shown) == len(TRANSFORMER.modules[module].functions)
    assert {html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in shown} <= set(cells)


@pytest.mark.parametrize("module", MODULES)
def test_every_formula_becomes_mathml(built, module):
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$]+\$", lesson_text(module), re.DOTALL)
    page = built[f"{module}.html"].decode()
    side_by_side = sum(formula.count(r"\qquad") for formula in formulas if formula.startswith("$$"))
    assert page.count("<math") == len(formulas) + side_by_side
    assert "$" not in re.sub(r"<(pre|code)\b.*?</\1>", "", page, flags=re.DOTALL)


@pytest.mark.slow
def test_every_lesson_heading_and_figure_is_on_its_page(built):
    for module in MODULES:
        text, page = lesson_text(module), built[f"{module}.html"].decode()
        assert page.count('<img src="figures/') == text.count("](figures/")
        headings = re.findall(r"(?m)^#{1,6} ", text)
        assert len(read_page(page).headings) == len(headings) + page.count("<h2>Terms on this page")


def test_official_bodies_are_nowhere(built):
    bodies = {}
    for module in MODULES:
        source = (bundled("solutions") / f"{module}.py").read_text("utf-8")
        names = TRANSFORMER.function_names[module]
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and (node.name in names or node.name.startswith("_")):
                lines = source.splitlines()[node.body[0].end_lineno : node.end_lineno]
                bodies[f"{module}.{node.name}"] = " ".join(" ".join(lines).split())
    assert len(bodies) > 90
    for name, data in built.items():
        if name.endswith((".html", ".json")):
            text = " ".join(html.unescape(re.sub(r"<[^>]+>", "", data.decode())).split())
            # One line can be right in a lesson, too: `return x @ W + b`.
            assert [function for function, body in bodies.items() if len(body) > 60 and body in text] == [], name


def test_points_are_those_of_the_checks():
    points = points_of(TRANSFORMER)
    assert points.keys() == TRANSFORMER.functions.keys()
    functions = tuple(f.qualified for f in TRANSFORMER.modules["softmax"].functions)
    result = check("stub", bundled("assignments"), Options(functions=functions, diagnose=False))
    for function in functions:
        assert points[function] == sum(done.possible for done in result.checks if done.function == function)


def test_terms_are_linked_to_the_glossary(built):
    page = built["softmax.html"].decode()
    assert '<strong id="term-temperature">temperature</strong>' in page
    assert 'href="glossary.html#term-token" data-meaning="a piece of text that has a number' in page
    text = read_page(built["glossary.html"].decode()).text
    for terms in glossary.load(TRANSFORMER).values():
        for term, meaning in terms.items():
            assert term in text and meaning in text
