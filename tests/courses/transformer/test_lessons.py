"""Lessons have the same parts in the same order, use only terms that they have introduced, and run in notebooks."""

import ast
import contextlib
import io
import re
import subprocess
import sys

import numpy as np
import pytest
from support.built_in import mistakes_of_module
from support.commands import refusal, succeed

from autograder.core.text import counted
from autograder.course import FIGURES, glossary
from autograder.course.model import DIFFICULTY, duration
from autograder.course.stubs import NOTEBOOK_ONLY, bundled, experiment, make_stub
from autograder.courses.transformer import TRANSFORMER
from autograder.models.plot_data import PLOTS

MODULES = list(TRANSFORMER.modules)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
BULLET = re.compile(r"- `(\w+)`: \*\*(.+?)\.\*\* (.+)")


def cells(module):
    """Yield the header and the text of each cell of a solution, markdown without comment signs."""
    source = (bundled("solutions") / f"{module}.py").read_text("utf-8")
    for cell in re.split(r"^# %%", source, flags=re.MULTILINE)[1:]:
        head, *lines = cell.splitlines()
        if "markdown" in head or NOTEBOOK_ONLY in head:
            lines = [re.sub(r"^# ?", "", line) for line in lines]
        yield head.strip(), "\n".join(lines).strip()


def markdown(module):
    return [text for head, text in cells(module) if head.startswith("[markdown]")]


@pytest.mark.parametrize("module", MODULES)
def test_lesson_has_its_parts_in_order(module):
    headings = [re.match(r"#+ .*", text)[0] for text in markdown(module) if text.startswith("#")]
    assert headings[0].startswith("# "), "the first heading is the title"
    for optional in ("## Going faster", "## In your own GPT"):
        assert headings[-1:] != [optional] or headings.pop()
    while headings[-1] != "## Answers":  # further experiments
        *headings, tried, out = headings
        assert out.replace("What came out", "Try it") == tried
    assert headings[-4:] == ["## What could go wrong", "## Try it", "## What came out", "## Answers"]
    assert "```text\n" in markdown(module)[0], "the first cell has a diagram"
    drawn = re.findall(r"^```text\n(.*?)^```", "\n".join(markdown(module)), re.MULTILINE | re.DOTALL)
    assert max(len(line) for picture in drawn for line in picture.splitlines()) <= 100, "a diagram fits the page"


@pytest.mark.parametrize("module", MODULES)
def test_lesson_explains_every_function_with_an_example(module):
    lessons = {}
    for text in markdown(module):
        if heading := re.match(r"## (?:Bonus: )?`(\w+)`", text):
            lessons[heading[1]] = text
    names = [function.name for function in TRANSFORMER.modules[module].functions]
    assert [name for name in lessons if name in names] == names
    for name in names:
        code = "\n".join(re.findall(r"^(?:>>>|\.\.\.) (.*)", lessons[name], re.MULTILINE))
        assert f"{name}(" in code, f"{name}: no worked example"


@pytest.mark.parametrize("module", MODULES)
def test_stub_states_minutes_and_difficulty(solutions, module):
    stub = make_stub((solutions / f"{module}.py").read_text("utf-8"), module, TRANSFORMER)
    assignment = TRANSFORMER.modules[module]
    required = sum(not function.bonus for function in assignment.functions)
    number = f"{assignment.number} of {len(TRANSFORMER.assignments)}"
    whole = f"# *Assignment {number} · {counted(required, 'function')} · about "
    assert stub.count(f"{whole}{duration(assignment.minutes)} to write them") == 1
    for function in assignment.functions:
        line = f"`{function.name}`[^\n]*\n#\n# \\*{duration(function.minutes)}, {DIFFICULTY[function.difficulty]}\\*\n"
        assert len(re.findall(r"# ## [^`\n]*" + line, stub)) == 1, function.name


@pytest.mark.parametrize(("minutes", "words"), [(5, "5 min"), (60, "1 h"), (110, "1 h 50 min"), (0, "0 min")])
def test_duration_is_readable(minutes, words):
    assert duration(minutes) == words


def terms():
    """Return the text of the lessons in course order, and the terms in bold as (module, term).

    Bold text that ends with a full stop begins a paragraph and is not a term, nor is the title of a mistake. Code,
    formulas and headings are left out. Docstrings are included where they appear.
    """
    texts, bold_terms = [], []
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
            texts.append(text)
            bold_terms += [(module, bold) for bold in re.findall(r"\*\*(.+?)\*\*", text) if bold[-1] not in ".?!"]
    return " ".join(texts), bold_terms


@pytest.mark.slow
def test_term_is_introduced_once_before_its_use():
    text, bold_terms = terms()
    for module, term in bold_terms:
        singular = term.removesuffix("s")
        stem, ending = (singular[:-1], "(y|ies)") if singular.endswith("y") else (singular, "(s|es)?")
        first = re.search(rf"(?<![\w-]){re.escape(stem)}{ending}(?!\w)", text, re.IGNORECASE)
        around = text[max(0, first.start() - 60) : first.end() + 20]
        assert text[: first.start()].endswith("**"), f"{term!r} ({module}) is used before: … {around} …"
        assert [t.lower().removesuffix("s") for _, t in bold_terms].count(singular.lower()) == 1, term


def test_glossary_lists_the_terms_of_the_lessons():
    _, bold_terms = terms()
    listed = [(module, word) for module, words in glossary.load(TRANSFORMER).items() for word in words]
    plain = [(module, word.lower().removesuffix("s")) for module, word in listed]
    assert sorted(plain) == sorted((module, term.lower().removesuffix("s")) for module, term in bold_terms)


@pytest.mark.slow
def test_list_terms_explains_terms(tmp_path):
    done = succeed("list", "--terms", "logits", "attention", cwd=tmp_path)
    assert "the same as score" in done.stdout
    assert "weighted average" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80
    refusal("list", "--terms", "lgoit", cwd=tmp_path)


@pytest.mark.parametrize("module", MODULES)
def test_lesson_paragraphs_do_not_become_lists(module):
    """Markdown turns a line that begins with a minus sign, or with a number and a full stop, into a list."""
    for text in markdown(module):
        before = ""
        for line in FENCED.sub("", text).splitlines():
            if re.match(r" *([-+*]|\d+\.) ", line):
                advice = f"wrap the text elsewhere, or put an empty line before the list: {line}"
                assert line[0] != " ", advice
                assert not before or re.match(r"([-+*]|\d+\.) |  ", before), advice
            before = line


@pytest.mark.parametrize("module", MODULES)
def test_paper_questions_are_answered(module):
    texts = markdown(module)
    for at in [i for i, text in enumerate(texts) if text.startswith("## On paper")]:
        asked = re.findall(r"^(\d)\. ", texts[at], re.MULTILINE)
        assert texts[at + 1].startswith("## Answers on paper\n")
        numbers = [str(i + 1) for i in range(len(asked))]
        assert asked == re.findall(r"^\*\*(\d)\. ", texts[at + 1], re.MULTILINE) == numbers
        assert len(asked) >= 2, '"On paper" must ask at least two questions'


@pytest.mark.parametrize("module", MODULES)
def test_further_experiments_are_run_by_name(module):
    all_cells = list(cells(module))
    for at in [i for i, (_, text) in enumerate(all_cells) if text.startswith("## Try it:")]:
        task, code = all_cells[at][1], all_cells[at + 1][1]
        name = re.search(rf"`headway experiment {module} (\w+)`", task)[1]
        assert code.startswith(f'if __name__ == "__main__" and "{name}" in sys.argv:\n')
        assert len([line for line in code.splitlines() if line]) <= 65
        assert "?" in task.partition("**Guess first.**")[2]


@pytest.mark.parametrize("module", MODULES)
def test_experiment_is_short_and_its_questions_are_answered(module):
    """test_stubs.py checks its output and its answers, with all other numbers in lessons."""
    all_cells = list(cells(module))
    at, task = next((i, text) for i, (_, text) in enumerate(all_cells) if text.startswith("## Try it\n"))
    assert "?" in task.partition("**Guess first.**")[2] and f"`headway experiment {module}`" in task
    code = experiment(all_cells[at + 1][1])
    assert len([line for line in code.splitlines() if line]) <= 25
    out, answers = all_cells[at + 2][1], all_cells[at + 3][1]
    asked = re.findall(r"^(\d)\. .*?\?", re.sub(r"\n  +", " ", out), re.MULTILINE)
    assert asked == re.findall(r"^\*\*(\d)\. ", answers, re.MULTILINE) == [str(i + 1) for i in range(len(asked))]
    assert len(asked) >= 2, '"What came out" must ask at least two questions'
    assert ">>> " in answers, "the answers must show a calculation"
    assert ">>> " not in task + out


def test_experiment_runs_as_a_script_with_the_output_of_the_lesson(solutions):
    command = [sys.executable, "softmax.py"]
    done = subprocess.run(command, cwd=solutions, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout and f"```text\n{done.stdout}```" in "\n".join(markdown("softmax"))


@pytest.mark.parametrize("module", MODULES)
def test_lesson_mistakes_use_the_titles_of_the_report(module):
    section = next(text for text in markdown(module) if text.startswith("## What could go wrong"))
    bullets = re.sub(r"\n  +", " ", section).split("\n\n", 2)[2].splitlines()
    mistakes = mistakes_of_module(module)
    known = {(m.function.partition(".")[2], m.title, " ".join(m.explanation.split())) for m in mistakes}
    listed = [BULLET.fullmatch(bullet).groups() for bullet in bullets]
    assert not set(listed) - known, "a lesson uses the texts of its mistakes"
    assert len(set(listed)) == len(listed) >= 5


@pytest.mark.parametrize("module", MODULES)
def test_lesson_plots_exist(module):
    text = "\n".join(text for _, text in cells(module))
    named = set(re.findall(r'headway plot ([\w-]+)|show\("([\w-]+)"', text))
    names = {command or call for command, call in named}
    assert names <= set(PLOTS)
    for name in names:
        assert f"`headway plot {name}`" in text, name
        assert (f'show("{name}", globals())' in text) == (PLOTS[name].suffixes == FIGURES), name


def test_every_plot_appears_in_a_lesson():
    text = "\n".join(text for module in MODULES for _, text in cells(module))
    assert [name for name in PLOTS if f"headway plot {name}" not in text] == []


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_notebook_plots_are_drawn(official, module, monkeypatch, tmp_path):
    """A plot of a trained model says how to train one."""
    monkeypatch.chdir(tmp_path)
    namespace = {**vars(official(module)), "np": np}
    for head, code in cells(module):
        if head.startswith("[markdown]") or NOTEBOOK_ONLY not in head:
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, f"{module}, notebook cell", "exec"), namespace)
        trained = [name for name in re.findall(r'show\("([\w-]+)"', code) if PLOTS[name].trained]
        assert ("headway train" in out.getvalue()) == bool(trained), out.getvalue()
