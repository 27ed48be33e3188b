"""Lessons: from why to what could go wrong; nothing in them is stale, and what they show in notebooks runs."""

import ast
import contextlib
import importlib
import io
import re
import subprocess
import sys

import pytest
from support import commands

from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum.effort import DIFFICULTY, duration
from autograder.curriculum.stubs import NOTEBOOK_ONLY, bundled, experiment, make_stub
from autograder.engine.diagnosis.mistake import mistakes_of_module
from autograder.workspace import glossary
from autograder.workspace.plots.catalog import FIGURES, PLOTS

MODULES = list(TRANSFORMER.modules)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
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
    assert headings[-1:] != ["## In your own GPT"] or headings.pop()
    assert headings[-4:] == ["## What could go wrong", "## Try it", "## What came out", "## Answers"]
    assert "```text\n" in markdown(module)[0], "a picture, before anything is to be written"
    drawn = re.findall(r"^```text\n(.*?)^```", "\n".join(markdown(module)), re.MULTILINE | re.DOTALL)
    assert max(len(line) for picture in drawn for line in picture.splitlines()) <= 100, "as wide as a notebook's page"


@pytest.mark.parametrize("module", MODULES)
def test_every_function_has_its_lesson_in_course_order_and_a_worked_example(module):
    lessons = {}
    for text in markdown(module):
        heading = re.match(r"## (?:Bonus: )?`(\w+)`", text)
        if heading:
            lessons[heading[1]] = text
    names = [function.name for function in TRANSFORMER.modules[module].functions]
    assert [name for name in lessons if name in names] == names
    for name in names:
        # The exact GELU is shown where the two forms are compared.
        text = lessons["gelu" if name == "gelu_exact" else name]
        code = "\n".join(re.findall(r"^(?:>>>|\.\.\.) (.*)", text, re.MULTILINE))
        assert f"{name}(" in code, f"{name}: no worked example"


@pytest.mark.parametrize("module", MODULES)
def test_a_lesson_says_how_long_it_takes_and_each_function_too(solutions, module):
    stub = make_stub((solutions / f"{module}.py").read_text("utf-8"), module, TRANSFORMER)
    assignment = TRANSFORMER.modules[module]
    counted = sum(not function.bonus for function in assignment.functions)
    number = f"{assignment.number} of {len(TRANSFORMER.assignments)}"
    whole = f"# *Assignment {number} · {counted} functions · about "
    assert stub.count(whole + duration(assignment.minutes)) == 1
    for function in assignment.functions:
        said = f"`{function.name}`[^\n]*\n#\n# \\*{duration(function.minutes)}, {DIFFICULTY[function.difficulty]}\\*\n"
        assert len(re.findall(r"# ## [^`\n]*" + said, stub)) == 1, function.name


@pytest.mark.parametrize(("minutes", "words"), [(5, "5 min"), (60, "1 h"), (110, "1 h 50 min"), (0, "0 min")])
def test_durations_in_words(minutes, words):
    assert duration(minutes) == words


def terms():
    """What the lessons say, in course order, as (module, text), and the terms in bold, as (module, term).

    Bold that ends a sentence begins a paragraph and is no term, nor is the bold of the mistakes. Code, formulas and
    headings do not count. Docstrings are read where they stand.
    """
    told, found = [], []
    for module in MODULES:
        for head, text in cells(module):
            if NOTEBOOK_ONLY in head:
                continue
            if head.startswith("[markdown]"):
                if text.startswith("## What could go wrong"):
                    text = text.replace("**", "")
                text = re.sub(r"^#.*", "", FENCED.sub("", text), flags=re.MULTILINE)
                text = re.sub(r"\$\$.*?\$\$|`[^`]*`|\$[^$]*\$", "`", text, flags=re.DOTALL)
            else:
                nodes = [node for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
                public = [ast.get_docstring(node) or "" for node in nodes if not node.name.startswith("_")]
                text = re.sub(r"`[^`]*`", "`", "\n".join(public)).replace("**", "")
            text = " ".join(text.split())
            told.append(text)
            found += [(module, bold) for bold in re.findall(r"\*\*(.+?)\*\*", text) if bold[-1] not in ".?!"]
    return " ".join(told), found


def test_every_term_is_introduced_once_and_not_used_before():
    """In bold where it is introduced, and nowhere before."""
    told, found = terms()
    for module, term in found:
        singular = term.removesuffix("s")
        stem, ending = (singular[:-1], "(y|ies)") if singular.endswith("y") else (singular, "(s|es)?")
        first = re.search(rf"(?<![\w-]){re.escape(stem)}{ending}(?!\w)", told, re.IGNORECASE)
        around = told[max(0, first.start() - 60) : first.end() + 20]
        assert told[: first.start()].endswith("**"), f"{term!r} ({module}) is used before: … {around} …"
        assert [t.lower().removesuffix("s") for _, t in found].count(singular.lower()) == 1, term


def test_the_list_of_words_is_that_of_the_lessons():
    _, found = terms()
    listed = [(module, word) for module, words in glossary.load(TRANSFORMER).items() for word in words]
    plain = [(module, word.lower().removesuffix("s")) for module, word in listed]
    assert sorted(plain) == sorted((module, term.lower().removesuffix("s")) for module, term in found)


def test_words_are_looked_up_on_the_command_line(tmp_path):
    done = commands.headway("list", "--terms", "logits", "attention", cwd=tmp_path)
    assert done.returncode == 0
    assert "the same as score" in done.stdout
    assert "weighted average" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80
    unknown = commands.headway("list", "--terms", "lgoit", cwd=tmp_path)
    assert unknown.returncode == 2
    assert len(unknown.stderr.splitlines()) == 1


@pytest.mark.parametrize("module", MODULES)
def test_no_line_of_a_paragraph_looks_like_a_list(module):
    """Markdown makes a list of a line that begins with "- ", though it is a minus sign."""
    for text in markdown(module):
        before = ""
        for line in FENCED.sub("", text).splitlines():
            if re.match(r" *([-+*]|\d+\.) ", line):
                assert line[0] != " ", line
                assert not before or re.match(r"([-+*]|\d+\.) |  ", before), line
            before = line


@pytest.mark.parametrize("module", MODULES)
def test_an_experiment_is_guessed_first_and_short_and_its_questions_have_answers(module):
    """That what it prints and answers is right: test_source.py, with every other number."""
    all_cells = list(cells(module))
    at, told = next((i, text) for i, (_, text) in enumerate(all_cells) if text.startswith("## Try it"))
    assert "?" in told.partition("**Guess first.**")[2]
    assert f"`python {module}.py`" in told
    code = experiment(all_cells[at + 1][1])
    assert len([line for line in code.splitlines() if line]) <= 25
    out, answers = all_cells[at + 2][1], all_cells[at + 3][1]
    asked = re.findall(r"^(\d)\. .*?\?", re.sub(r"\n  +", " ", out), re.MULTILINE)
    assert asked == re.findall(r"^\*\*(\d)\. ", answers, re.MULTILINE) == [str(i + 1) for i in range(len(asked))]
    assert len(asked) >= 2
    assert ">>> " in answers
    assert ">>> " not in told + out


def test_an_experiment_runs_as_a_file(solutions):
    """As the lesson says; importing the module runs nothing of it."""
    done = subprocess.run(
        [sys.executable, "softmax.py"], cwd=solutions, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert f"```text\n{done.stdout}```" in "\n".join(markdown("softmax"))


@pytest.mark.parametrize("module", MODULES)
def test_the_mistakes_in_a_lesson_are_those_that_the_report_names(module):
    section = next(text for text in markdown(module) if text.startswith("## What could go wrong"))
    bullets = re.sub(r"\n  +", " ", section).split("\n\n", 2)[2].splitlines()
    known = {
        (m.function.partition(".")[2], m.title, " ".join(m.explanation.split())) for m in mistakes_of_module(module)
    }
    told = [BULLET.fullmatch(bullet).groups() for bullet in bullets]
    assert not set(told) - known, "the words of autograder/courses/transformer/mistakes, exactly"
    assert len(set(told)) == len(told) >= 5


@pytest.mark.parametrize("module", MODULES)
def test_what_a_lesson_shows_exists(module):
    text = "\n".join(text for _, text in cells(module))
    named = set(re.findall(r'headway plot ([\w-]+)|show\("([\w-]+)"', text))
    names = {one or other for one, other in named}
    assert names <= set(PLOTS)
    for name in names:
        assert f"`headway plot {name}`" in text, name
        assert (f'show("{name}", globals())' in text) == (PLOTS[name].suffixes == FIGURES), name


def test_every_picture_has_its_place_in_a_lesson():
    text = "\n".join(text for module in MODULES for _, text in cells(module))
    assert [name for name in PLOTS if f"headway plot {name}" not in text] == []


@pytest.mark.parametrize("module", MODULES)
def test_the_pictures_in_notebooks_are_drawn(module, monkeypatch, tmp_path):
    """Without a word of complaint; those of a trained model say how to train one."""
    monkeypatch.syspath_prepend(str(bundled("solutions")))
    monkeypatch.chdir(tmp_path)
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    namespace = {**vars(importlib.import_module(module)), "np": importlib.import_module("numpy")}
    for head, code in cells(module):
        if head.startswith("[markdown]") or NOTEBOOK_ONLY not in head:
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, f"{module}, notebook cell", "exec"), namespace)
        trained = [name for name in re.findall(r'show\("([\w-]+)"', code) if PLOTS[name].trained]
        assert ("headway train" in out.getvalue()) == bool(trained), out.getvalue()
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
