"""Stubs are generated from solutions, are in step with them, and hold nothing of them."""

import ast
import contextlib
import doctest
import functools
import io
import re

import numpy as np
import pytest

from autograder.course import registry
from autograder.course.stubs import NOTEBOOK_ONLY, bundled, experiment, make_stub, make_stubs
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import Options, check
from autograder.errors import HeadwayError

MODULES = list(TRANSFORMER.modules)
FUNCTIONS = "\n\n\n".join(
    f'def {f.name}(x):\n    """Docstring."""\n    # a comment\n    return _helper(x)'
    for f in TRANSFORMER.modules["softmax"].functions
)


@pytest.fixture(scope="module")
def checked_solutions(solutions):
    """The result of the official solutions on the public inputs."""
    return check("solutions", solutions, Options())


def test_stubs_match_the_solutions(solutions):
    made = make_stubs(solutions, TRANSFORMER) | registry.extra_texts(TRANSFORMER.package)
    assert {path.name for path in bundled("assignments").glob("*.py")} == set(made)
    for name, text in made.items():
        assert (bundled("assignments") / name).read_text("utf-8") == text, f"{name}: make stubs"


@pytest.mark.parametrize("module", MODULES)
def test_stub_keeps_the_lesson_which_does_not_contain_the_solution(solutions, module):
    source = (solutions / f"{module}.py").read_text("utf-8")
    stub = make_stub(source, module, TRANSFORMER)
    solved, stubbed = ast.parse(source), ast.parse(stub)
    names = {function.name for function in TRANSFORMER.modules[module].functions}
    defined = {node.name: node for node in stubbed.body if isinstance(node, ast.FunctionDef)}
    assert names <= set(defined)
    for node in solved.body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            other = defined[node.name]
            assert ast.get_docstring(other) == ast.get_docstring(node)
            assert ast.dump(other.args) == ast.dump(node.args)
            assert ast.unparse(other.body[1]) == f"raise NotImplementedError('{module}.{node.name}')"
            assert len(other.body) == 2
    assert not any(name.startswith("_") for name in defined)
    lessons = [line for line in source.splitlines() if line.startswith("#")]
    kept = set(stub.splitlines())
    private = {line for line in lessons if line not in kept and not line.startswith("# %%")}
    assert all("%%" not in line for line in private)
    assert stub.count("# %% [markdown]\n") == source.count("# %% [markdown]\n")
    code = [line.strip() for line in source.splitlines() if line.startswith("    ") and len(line.strip()) > 30]
    body = [line.partition("  #")[0].strip() for line in code if line not in stub]
    comments = "\n".join(line for line in stub.splitlines() if line.startswith("#"))
    given_away = [line for line in body if len(line) > 30 and line in comments]
    assert not given_away


def test_stub_omits_private_helpers_and_constants():
    source = (
        '"""Doc."""\n\n# %%\nimport numpy as np\n\n_SECRET = 1\n_ONE, _TWO = 1, 2\nGIVEN = 2\n\n\n'
        "# Why the helper is as it is.\ndef _helper(x):\n    return x\n\n\ndef given(x):\n    return x\n\n\n"
    )
    stub = make_stub(source + FUNCTIONS, "softmax", TRANSFORMER)
    assert "_SECRET" not in stub and "_ONE" not in stub and "_helper" not in stub and "Why the helper" not in stub
    assert "a comment" not in stub and "GIVEN = 2" in stub and "def given(x):\n    return x\n" in stub
    assert stub.count("raise NotImplementedError") == 5


def test_notebook_cells_are_not_in_stubs(solutions):
    for module in MODULES:
        source = (solutions / f"{module}.py").read_text("utf-8")
        for cell in source.split("\n# %%")[1:]:
            head, *lines = cell.splitlines()
            if NOTEBOOK_ONLY in head:
                assert all(not line or line.startswith("#") for line in lines), f"{module}: {lines[:3]}"
        stub = make_stub(source, module, TRANSFORMER)
        assert NOTEBOOK_ONLY not in stub
    source = (
        f'# %%\n{FUNCTIONS}\n\n\n# %% [markdown] tags=["active-ipynb"]\n# A picture:\n\n'
        '# %% tags=["active-ipynb"]\n# show("it")\n\n# %% [markdown]\n# The lesson goes on.\n'
    )
    stub = make_stub(source, "softmax", TRANSFORMER)
    assert "picture" not in stub and "show" not in stub
    assert stub.endswith("\n\n\n# %% [markdown]\n# The lesson goes on.\n")


def test_solution_without_a_function_is_refused():
    with pytest.raises(HeadwayError, match="does not define"):
        make_stub("x = 1\n", "softmax", TRANSFORMER)
    with pytest.raises(HeadwayError, match="no docstring"):
        make_stub("def softmax(x):\n    return x\n", "softmax", TRANSFORMER)


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize("body", ["return None", "return [*locals().values()][0]", "raise ValueError(repr(locals()))"])
def test_function_that_computes_nothing_scores_zero(tmp_path, body):
    """Not even for leaving its inputs alone, or for refusing what is to be refused."""
    for stub in bundled("assignments").glob("*.py"):
        text = re.sub(r"raise NotImplementedError\(.*\)", lambda _: body, stub.read_text("utf-8"))
        (tmp_path / stub.name).write_text(text, "utf-8")
    result = check("nothing", tmp_path, Options(diagnose=False))
    assert [c.id for c in result.checks if c.status == "passed"] == []
    assert result.earned == 0
    assert any(c.status == "blocked" for c in result.checks if c.blocked_by == [c.function])


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize("seed", [0, 2**31 - 2])
def test_every_solution_scores_full_points(solutions, checked_solutions, seed):
    result = check("solutions", solutions, Options(seed=seed)) if seed else checked_solutions
    assert result.passed, [(c.id, c.message) for c in result.checks if c.status != "passed"]
    assert result.internal_errors == []
    assert not [c.warnings for c in result.checks if c.warnings], "a solution warns"
    assert not [c.output for c in result.checks if c.output], "a solution prints"


@pytest.mark.slow
def test_every_function_has_checks_on_what_matters(checked_solutions):
    counts = {name: sum(c.function == name for c in checked_solutions.checks) for name in TRANSFORMER.functions}
    assert min(counts.values()) >= 2, counts
    assert len({c.id for c in checked_solutions.checks}) == len(checked_solutions.checks)
    assert all(c.possible > 0 for c in checked_solutions.checks)


def _without_signs(text):
    """The comments of a source, without their signs."""
    return "\n".join(re.findall(r"^# ?(.*)$", text, re.MULTILINE))


def assert_same_output(printed, expected, exact):
    """Experiments that train amplify the rounding of the machine: their numbers may differ a little."""
    number = r"-?\d+(?:\.\d+)?"
    lines = "\n".join(line.rstrip() for line in printed.splitlines()) + "\n"
    if exact:
        assert lines == expected
    assert re.sub(rf" *{number}", "#", lines) == re.sub(rf" *{number}", "#", expected)
    found, wanted = ([float(n) for n in re.findall(number, text)] for text in (lines, expected))
    assert found == pytest.approx(wanted, rel=0.25, abs=0.2)


@pytest.mark.slow
@pytest.mark.drawn(3)
@pytest.mark.parametrize("module", MODULES)
def test_numbers_in_lessons_are_correct(solutions, official, module):
    source, loaded = (solutions / f"{module}.py").read_text("utf-8"), official(module)
    if hasattr(loaded, "pretrained"):  # Each experiment begins with this training.
        loaded.pretrained = functools.cache(loaded.pretrained)
    known = {**vars(loaded), "np": np}
    lesson, _, after = source.partition("\n# ## Try it\n")
    docstrings = [ast.get_docstring(node) or "" for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    texts = [(_without_signs(lesson), known), *((docstring, known) for docstring in docstrings)]
    if after:  # the experiment, and the answers, which go on with what it has computed
        first, *further = filter(None, (experiment(cell.lstrip("\n")) for cell in after.split("\n# %%")))
        after = _without_signs(after)
        came_out = re.findall(r"^## What came out[^\n]*\n\n```text\n(.*?)^```", after, re.MULTILINE | re.DOTALL)
        tried_with = {**known, "__name__": "tried"}
        namespaces = [tried_with, *({**known} for _ in further)]
        for tried, out, namespace in zip([first, *further], came_out, namespaces, strict=True):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(tried, f"{module}, experiment", "exec"), namespace)
            assert_same_output(printed.getvalue(), out, exact=tried is first and "train(" not in tried)
        texts.append((after, tried_with))
    attempted = 0
    for text, globs in texts:
        example = doctest.DocTestParser().get_doctest(text, globs, module, None, 0)
        runner = doctest.DocTestRunner(verbose=False)
        runner.run(example)
        attempted += runner.tries
        assert runner.failures == 0
    assert attempted >= 1, "a lesson shows at least one worked example"
