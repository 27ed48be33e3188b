"""Lessons: from why to what could go wrong; nothing in them is stale, and what they show in notebooks runs."""

import contextlib
import importlib
import io
import re
import sys

import pytest

from autograder.curriculum import TRANSFORMER
from autograder.mistakes import mistakes_of
from autograder.source import NOTEBOOK_ONLY, bundled
from autograder.study.pictures import FIGURES, PICTURES

MODULES = list(TRANSFORMER.modules)
BULLET = re.compile(r"- `(\w+)`: \*\*(.+?)\.\*\* (.+)")


def cells(module):
    """Heads and lines of the cells of a solution, comments without their signs."""
    source = (bundled("solutions") / f"{module}.py").read_text("utf-8")
    for cell in re.split(r"^# %%", source, flags=re.MULTILINE)[1:]:
        head, *lines = cell.splitlines()
        if "markdown" in head or NOTEBOOK_ONLY in head:
            lines = [re.sub(r"^# ?", "", line) for line in lines]
        yield head.strip(), "\n".join(lines).strip()


def markdown(module):
    return [text for head, text in cells(module) if head.startswith("[markdown]")]


@pytest.mark.parametrize("module", MODULES)
def test_a_lesson_is_one_story(module):
    headings = [re.match(r"#+ .*", text)[0] for text in markdown(module) if text.startswith("#")]
    assert headings[0].startswith("# "), "it begins with what it is about"
    assert headings[-2:] == ["## What could go wrong", "## Try it"]
    text = "\n".join(markdown(module))
    for function in TRANSFORMER.modules[module].functions:
        assert f"`{function.name}`" in text, function.name


@pytest.mark.parametrize("module", MODULES)
def test_the_mistakes_in_a_lesson_are_those_that_the_report_names(module):
    section = next(text for text in markdown(module) if text.startswith("## What could go wrong"))
    bullets = re.sub(r"\n  +", " ", section).split("\n\n", 2)[2].splitlines()
    known = {(m.function.partition(".")[2], m.title, " ".join(m.explanation.split())) for m in mistakes_of(module)}
    told = [BULLET.fullmatch(bullet).groups() for bullet in bullets]
    assert not set(told) - known, "the words of autograder/mistakes, exactly"
    assert len(set(told)) == len(told) >= 5


@pytest.mark.parametrize("module", MODULES)
def test_what_a_lesson_shows_exists(module):
    text = "\n".join(text for _, text in cells(module))
    named = set(re.findall(r'headway plot ([\w-]+)|show\("([\w-]+)"', text))
    names = {one or other for one, other in named}
    assert names <= set(PICTURES)
    for name in names:
        assert f"`headway plot {name}`" in text, name
        assert (f'show("{name}", globals())' in text) == (PICTURES[name].suffixes == FIGURES), name


def test_every_picture_has_its_place_in_a_lesson():
    text = "\n".join(text for module in MODULES for _, text in cells(module))
    assert [name for name in PICTURES if f"headway plot {name}" not in text] == []


@pytest.mark.parametrize("module", MODULES)
def test_the_cells_for_notebooks_run(module, monkeypatch, tmp_path):
    """Pictures are drawn without a word of complaint, and experiments print what the lesson says they print."""
    monkeypatch.syspath_prepend(str(bundled("solutions")))
    monkeypatch.chdir(tmp_path)
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    namespace = {**vars(importlib.import_module(module)), "np": importlib.import_module("numpy")}
    printed = []
    for head, code in cells(module):
        if head.startswith("[markdown]") or NOTEBOOK_ONLY not in head:
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, f"{module}, notebook cell", "exec"), namespace)
        trained = [name for name in re.findall(r'show\("([\w-]+)"', code) if PICTURES[name].trained]
        assert ("headway train" in out.getvalue()) == bool(trained), out.getvalue()
        if "show(" not in code:
            printed += out.getvalue().splitlines()
    lesson = "\n".join(markdown(module)[-1:])
    assert all(line in lesson for line in printed)
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
