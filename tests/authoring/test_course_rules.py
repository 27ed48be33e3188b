"""`headway verify` reports each broken rule of a course in one line: what is wrong, in which file and line."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.editing import edit
from support.toy_course import install, install_mixed

from autograder.authoring import promises, rules
from autograder.cli import main
from autograder.course import registry
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis import mistake

DECLARATION, LESSON, CHECKS = "averages/__init__.py", "solutions/averages.py", "averages/checks.py"
MISTAKES, REFERENCE, HINTS = "averages/mistakes.py", "averages/reference.py", "averages/hints.toml"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The toy course, installed for this process; its files may be changed before the course is loaded."""
    install(tmp_path)
    yield from _installed(tmp_path, "toycourse", monkeypatch)


@pytest.fixture
def mixed(tmp_path, monkeypatch):
    install_mixed(tmp_path)
    yield from _installed(tmp_path, "mixedcourse", monkeypatch)


def _installed(folder, name, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield folder / name
    caches = (registry.find, registry.load, registry.home, registry.imported_names)
    for cached in (*caches, mistake.mistakes_of_module, promises.promises_of_module):
        cached.cache_clear()
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


def change(package, file, old, new):
    """Replace a text in a file; return the line of it."""
    text = (package / file).read_text("utf-8")
    edit(package / file, old, new)
    return text[: text.index(old)].count("\n") + 1


def problems(name="toy"):
    return rules.find_problems(registry.find(name))


@pytest.mark.slow
def test_built_in_course_keeps_the_rules():
    assert [str(problem) for problem in rules.find_problems(TRANSFORMER)] == []


def test_toy_and_mixed_course_keep_the_rules(package, mixed):
    assert problems() == problems("mixed") == []


BROKEN = [
    (DECLARATION, '"mean row"', '""', "averages.mean_of has no outputs"),
    (DECLARATION, 'function("variance', 'function("mean_of", "x"), function("variance', "function mean_of twice"),
    (DECLARATION, '"mean_of"', '"_mean_of"', "cannot write a function named"),
    (DECLARATION, "difficulty=1", "difficulty=4", "the difficulty of averages.mean_of is 4"),
    (DECLARATION, "minutes=5", "minutes=-5", "are negative"),
    (DECLARATION, 'needs="averages.mean_of"', 'needs="averages.median"', "needs 'averages.median'"),
    (DECLARATION, "minutes=10", "bonus=True, minutes=10", None),
    # How long an assignment takes, and how hard it is, is the author's choice.
    *((DECLARATION, text, "", None) for text in ("minutes=5, difficulty=1", "minutes=10, difficulty=2")),
    (DECLARATION, '"Mean and variance"', '""', "averages has no title"),
    (LESSON, "return x.sum(axis=-1)", "return x.sum((axis=-1)", "not valid Python"),
    (LESSON, "def mean_of", "def mean_off", "mean_of is not defined"),
    (LESSON, '"""The mean of each row', '0, """The mean of each row', "mean_of has no docstring"),
    (LESSON, '    """\n    distance', '    """; distance', "the docstring of variance shares a line with code"),
    (LESSON, "import numpy as np", "import numpy as np, scipy", "scipy cannot be imported"),
    (LESSON, "import numpy as np", "from . import numpy as np", "relative import"),
    (LESSON, "import numpy as np", "import numpy as np\nimport averages", "averages imports itself"),
    (LESSON, "# The mean says", "# ![A](figures/none.svg)\n#\n# The mean says", "figures/none.svg is missing"),
    (LESSON, "# %%\ndef variance", '# %% tags=["active-ipynb"]\nprint(1)\n\n# %%\ndef variance', "Comment it out"),
    (LESSON, "# The mean says", "The mean says", "not valid Python"),
    (LESSON, "# The mean says", "x = 1\n# The mean says", "does not begin with #"),
    (LESSON, "    return x.sum(axis=-1) / x.shape[-1]\n", "", "has only a docstring"),
    (LESSON, "# %%\ndef variance", "# %%\n_N = 3\n\n\ndef n():\n    return _N\n\n\n# %%\ndef variance", "but not _N"),
    (CHECKS, '@graded("averages.mean_of")', '@graded("averages.mean")', "checks 'averages.mean'"),
    (CHECKS, "points=2", "points=0", "gives 0 points"),
    (CHECKS, '@graded("averages.mean_of")\n', "", "no check grades averages.mean_of"),
    (CHECKS, "agree(draw.normal(6)", "agree((draw.normal(6)", "not valid Python"),
    (REFERENCE, "def variance", "def spread", "variance is not defined here"),
    (REFERENCE, "def variance", "from os import *\n\n\ndef spread", None),
    (MISTAKES, 'for_functions("averages.mean_of")', 'for_functions("averages.mean")', "is not a function of averages"),
    (MISTAKES, "why: One", "because: One", "needs a title"),
    (MISTAKES, '"x.shape[-1]", "x.size").explain', '"x.shape[-1]").explain', "edits come in pairs"),
    (MISTAKES, "MISTAKES = Mistakes()", "MISTAKES = Mistakes(1)", "cannot be imported"),
    (MISTAKES, "divided-by-n-minus-one", "divided by n - 1", None),
    (MISTAKES, "mistake = MISTAKES.for_functions(\"averages.variance\")\nmistake(\"divided-by-n-minus-one\"",
     "mistake(\"over-columns\"", "two mistakes are named averages.mean_of/over-columns"),
    (HINTS, "[mean_of]", "[meanof]", "meanof is not a function of averages"),
    (HINTS, '  "What is the mean of 1, 2 and 6?",\n', "", "needs exactly 3 hints"),
    (HINTS, "What is the mean of 1, 2 and 6?", " ", "needs exactly 3 hints"),
    (HINTS, "steps = [", "steps = ", "not valid TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "words"), BROKEN)
def test_broken_rule_is_reported_with_its_file(package, file, old, new, words):
    change(package, file, old, new)
    found = problems()
    texts = [str(problem) for problem in found]
    if words is None:
        assert texts == []
        return
    assert any(words in text for text in texts), texts
    assert all(len(text.splitlines()) == 1 for text in texts)
    assert any(problem.path == package / file for problem in found), texts


@pytest.mark.parametrize(("file", "old", "new"), [
    (LESSON, "import numpy as np", "import scipy"),
    (CHECKS, '@graded("averages.variance", points=2)', '@graded("averages.variants", points=2)'),
    (HINTS, "[variance]", "[variants]"),
])  # fmt: skip
def test_broken_rule_is_reported_with_its_line(package, file, old, new):
    line = change(package, file, old, new)
    assert [(problem.path, problem.line) for problem in problems() if problem.line] == [(package / file, line)]


@pytest.mark.parametrize(("name", "words"), [
    ("numpy", "cannot be named 'numpy'"), ("train", "the website has a page"), ("glossary", "the website has a page"),
    ("json", "there is a Python module of that name"), ("class", "a word of the Python language"),
    ("a-b", "Use letters, digits and underscores"), ("_averages", "Use letters, digits and underscores"),
])  # fmt: skip
def test_name_that_cannot_be_used_is_reported(package, name, words):
    (package / "averages").rename(package / name)
    line = change(package, "__init__.py", '"averages"', f'"{name}"')
    (problem,) = [problem for problem in problems() if words in problem.text]
    assert (problem.path, problem.line) == (package / "__init__.py", line)


@pytest.mark.parametrize("file", [LESSON, CHECKS, REFERENCE])
def test_missing_file_is_reported(package, file):
    (package / file).unlink()
    assert "is missing" in str(*problems())


def test_module_beside_the_solutions_is_reported(package):
    (package / "solutions" / "helpers.py").write_text("X = 1\n")
    change(package, LESSON, "import numpy as np", "import numpy as np\nimport helpers")
    (problem,) = problems()
    assert "helpers.py is not" in problem.text


def test_lesson_without_cells_is_reported(package):
    path = package / LESSON
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith("# %%")))
    assert "there are no cells" in problems()[0].text


def test_promises_that_cannot_be_read_are_reported(package):
    promised = package / "averages" / "promises.toml"
    promised.write_text("[mean_of]\nfoo = 1\n")
    assert "Write a table" in problems()[0].text
    promises.promises_of_module.cache_clear()
    promised.write_text("[median]\ndescriptions = []\n")
    (problem,) = problems()
    assert "averages.median is not" in problem.text and problem.line == 1


@pytest.mark.parametrize("terms", ["[mean]\nmeaning = 'x'", "mean ="])
def test_glossary_that_cannot_be_read_is_reported(package, terms):
    (package / "averages" / "glossary.toml").write_text(terms)
    (problem,) = problems()
    assert "not a table of terms" in problem.text and problem.path.name == "glossary.toml"


def test_needs_in_the_wrong_order_are_reported(package):
    course = registry.find("toy")
    (assignment,) = course.assignments
    backwards = replace(assignment, functions=assignment.functions[::-1])
    (problem,) = rules.find_problems(replace(course, assignments=(backwards,)))
    assert "needs averages.mean_of" in problem.text
    empty = replace(assignment, functions=())
    assert "has no functions" in rules.find_problems(replace(course, assignments=(empty,)))[0].text
    twice = replace(course, assignments=(assignment, replace(assignment, number=2)))
    assert "two assignments" in rules.find_problems(twice)[0].text
    assert "no assignments" in rules.find_problems(replace(course, assignments=()))[0].text


def test_verify_reports_rules_and_runs_nothing(package, monkeypatch):
    monkeypatch.setattr("autograder.authoring.verify.verify", None)
    change(package, LESSON, "def mean_of", "def mean_off")
    done = CliRunner().invoke(main, ["verify", "--curriculum", "toy"])
    assert done.exit_code == 1
    assert f"{package / LESSON}: the function mean_of" in done.output and "1 broken rule" in done.output
    done = CliRunner().invoke(main, ["verify", "--curriculum", "toy", "--json", "-"])
    assert [finding["kind"] for finding in json.loads(done.stdout)] == ["rule"]


def test_paths_below_the_current_folder_are_short(package, monkeypatch):
    monkeypatch.chdir(package)
    change(package, LESSON, "def mean_of", "def mean_off")
    assert str(problems()[0]).startswith(str(Path(LESSON)))
