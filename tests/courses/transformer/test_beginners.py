"""Wrong answers as beginners write them: each is caught, and called what it is.

Each function with two underscores in its name, in `submissions/beginners/`, is named after the one that it stands in
for; its docstring lists the mistakes that must be named (beginnings of their names), "-" where the message says all
there is to say. Nothing else may be named. What has no two underscores in its name is there to be used by the others.
"""

import ast

import pytest
from support.paths import SUBMISSIONS

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.variants import solution_source
from autograder.engine.session import Options, run_in_session

pytestmark = pytest.mark.slow

FOLDER = SUBMISSIONS / "beginners"


def is_answer(node):
    return isinstance(node, ast.FunctionDef) and "__" in node.name


def beside(path, module):
    """The text of a file without its answers, and without what it imports from the module that they belong to."""
    text = path.read_text("utf-8")
    nodes = [node for node in ast.parse(text).body if not is_answer(node)]
    return "\n\n".join(
        ast.get_source_segment(text, node)
        for node in nodes
        if not (isinstance(node, ast.ImportFrom) and node.module == module)
    )


def answers(path):
    """Name of the answer: (function, its text, the names that are expected)."""
    text = path.read_text("utf-8")
    for node in ast.parse(text).body:
        if is_answer(node):
            function, _, _ = node.name.partition("__")
            code = ast.get_source_segment(text, node).replace(node.name, function, 1)
            yield node.name, (function, code, ast.get_docstring(node).split())


@pytest.mark.parametrize("module", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_wrong_answers_of_beginners_are_named(tmp_path, module):
    others = beside(FOLDER / f"{module}.py", module)
    results = {}

    def check_all(session):
        for name, (function, code, _) in expected.items():
            folder = tmp_path / name
            folder.mkdir()
            (folder / f"{module}.py").write_text(f"{solution_source(module)}\n\n{others}\n\n{code}\n", "utf-8")
            results[name] = session.check(name, folder, (f"{module}.{function}",))

    expected = dict(answers(FOLDER / f"{module}.py"))
    run_in_session(Options(functions=TRANSFORMER.select([module]), official=True), check_all)
    assert len(results) == len(expected) > 5
    for name, (_, _, starts) in expected.items():
        checks = results[name].checks
        assert any(check.status != "passed" for check in checks), f"{name} passes every check"
        ids = [check.mistake["id"].replace("|", "+").split("+") for check in checks if check.mistake]
        named = {one.rpartition("/")[2] for several in ids for one in several}
        if starts == ["-"]:
            assert not named, name
        else:
            missing = [start for start in starts if not any(one.startswith(start) for one in named)]
            assert not missing, f"{name} is not called {missing}, but {named}"
            wrong = [one for one in named if not one.startswith(tuple(starts))]
            assert not wrong, f"{name} is called {wrong}, too"
