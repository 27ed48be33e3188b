"""Wrong answers as beginners write them fail a check, and their mistakes are named.

A function `NAME__VARIANT` in `submissions/beginners/` is a wrong answer for NAME. Its docstring lists the mistakes that
must be named (how their names begin), or "-" where the message already explains the failure. No other mistake may be
named. Functions without two underscores are helpers.
"""

import ast

import pytest
from support.built_in import solution_source
from support.paths import SUBMISSIONS

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import Options, run_in_session

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("enough_time")]

FOLDER = SUBMISSIONS / "beginners"


def is_answer(node):
    return isinstance(node, ast.FunctionDef) and "__" in node.name


def helper_text(path, module):
    """Return the text of a file without its wrong answers and without imports from their own module."""
    text = path.read_text("utf-8")
    nodes = [node for node in ast.parse(text).body if not is_answer(node)]
    return "\n\n".join(
        ast.get_source_segment(text, node)
        for node in nodes
        if not (isinstance(node, ast.ImportFrom) and node.module == module)
    )


def answers(path):
    """Yield (name, (function, text, expected mistakes)) of each wrong answer."""
    text = path.read_text("utf-8")
    for node in ast.parse(text).body:
        if is_answer(node):
            function, _, _ = node.name.partition("__")
            code = ast.get_source_segment(text, node).replace(node.name, function, 1)
            yield node.name, (function, code, ast.get_docstring(node).split())


@pytest.mark.drawn(3)
@pytest.mark.parametrize("module", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_diagnose_beginners_answers_names_the_mistakes(tmp_path, module, drawing):
    others = helper_text(FOLDER / f"{module}.py", module)
    results = {}

    def check_all(session):
        for name, (function, code, _) in expected.items():
            folder = tmp_path / name
            folder.mkdir()
            (folder / f"{module}.py").write_text(f"{solution_source(module)}\n\n{others}\n\n{code}\n", "utf-8")
            results[name] = session.check(name, folder, (f"{module}.{function}",))

    expected = dict(drawing.some(answers(FOLDER / f"{module}.py"), 10, module))
    run_in_session(Options(functions=TRANSFORMER.select([module]), official=True), check_all)
    assert len(results) == len(expected) > 5
    for name, (_, _, starts) in expected.items():
        checks = results[name].checks
        assert any(check.status != "passed" for check in checks), f"{name} passes every check"
        ids = [check.mistake["id"].replace("|", "+").split("+") for check in checks if check.mistake]
        named = {mistake.rpartition("/")[2] for group in ids for mistake in group}
        if starts == ["-"]:
            assert not named, name
        else:
            missing = [start for start in starts if not any(name_found.startswith(start) for name_found in named)]
            assert not missing, f"{name}: expected {missing}, named {named}"
            wrong = [mistake for mistake in named if not mistake.startswith(tuple(starts))]
            assert not wrong, f"{name}: also named {wrong}. Is that right? Add them to its docstring"
