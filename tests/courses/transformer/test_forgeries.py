"""Answers that earn points without the work, graded on inputs that are not the public ones.

They come from `submissions/forgeries.py`. Beside them lie the official solutions of earlier assignments.
"""

import runpy

import pytest
from support.built_in import solution_source
from support.editing import write_files
from support.paths import SUBMISSIONS

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import Options, run_in_session

pytestmark = pytest.mark.slow

FORGERIES = runpy.run_path(str(SUBMISSIONS / "forgeries.py"))["FORGERIES"]
MODULES = list(dict.fromkeys(name.partition(".")[0] for name, *_ in FORGERIES))
# Types of answers that could seem equal to what is expected, by one function for each form of an answer.
TYPES = """
import fractions

import numpy as np


class Equal(np.ndarray):
    __eq__ = lambda self, other: np.True_
    __array_ufunc__ = lambda self, *arguments, **options: np.zeros(1)


class Keys(dict):
    __contains__ = __eq__ = lambda self, other: True
    __getitem__ = lambda self, key: 0


class Items(list):
    __eq__ = lambda self, other: True


def disguised(answer, kind):
    if isinstance(answer, dict):
        return Keys() if kind == "subclass" else {name: disguised(item, kind) for name, item in answer.items()}
    if isinstance(answer, (list, tuple)):
        kept = [disguised(item, kind) for item in answer]
        return Items() if kind == "subclass" and type(answer) is list else type(answer)(kept)
    array = np.asarray(answer)
    if array.dtype.kind == "U":
        return {"bytes": str(answer).encode(), "object": array, "generator": iter(answer)}.get(kind, "")
    whole = array.dtype.kind in "iu"
    return {
        "nan": np.full_like(array, -1 if whole else np.nan),
        "infinite": np.full_like(array, np.iinfo(array.dtype).max if whole else np.inf),
        "zeros": np.zeros_like(array),
        "shuffled": np.roll(array.ravel(), 1).reshape(array.shape) if array.size > 1 else array + 1,
        "object": array.astype(object),
        "complex": array.astype(complex),
        "half": array.astype(np.float16),
        "structured": array.astype([("x", array.dtype)]),
        "masked": np.ma.masked_all_like(array),
        "subclass": np.zeros_like(array).view(Equal),
        "list": array.tolist() if array.ndim else [array.item()],
        "axis": array[None],
        "corner": array.ravel()[:1].reshape((1,) * array.ndim) if array.size > 1 else array[None],
        "fraction": fractions.Fraction(1, 3),
        "huge": 10**300,
        "text": str(answer),
        "bytes": array.tobytes(),
        "generator": iter([answer]),
    }[kind]
"""
KINDS = [line.split('"')[1] for line in TYPES.splitlines() if line.startswith('        "')]
DISGUISED = ("gradients.tape_gradients", "counting.bigram_counts", "bpe.train_bpe", "gpt2.gpt2_params")
DISGUISED += ("llama_layers.silu",)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Results by name: of each forgery and each disguise, and of the official solutions."""
    root, results = tmp_path_factory.mktemp("forgeries"), {}

    def grade(session, name, code):
        function = name.partition("/")[0]
        module, _, short = function.partition(".")
        text = f"{solution_source(module)}\n\nofficial = {short}\n\n{code}\n"
        folder = write_files(root / name.replace("/", "-"), {f"{module}.py": text})
        results[name] = session.check(name, folder, (function,))

    def check_all(session):
        for name, _, _, code in FORGERIES:
            grade(session, name, code)
        for function in DISGUISED:
            for kind in KINDS:
                answer = f"lambda *args, **named: disguised(official(*args, **named), {kind!r})"
                grade(session, f"{function}/as {kind}", f"{TYPES}\n\n{function.partition('.')[2]} = {answer}")
        results["official"] = session.check("official", bundled("solutions"), functions)

    functions = tuple(TRANSFORMER.select(MODULES))
    run_in_session(Options(functions=functions, seed=20261, official=True, diagnose=False), check_all)
    return results


@pytest.mark.parametrize("module", MODULES)
def test_forgery_earns_only_what_is_fair(graded, module):
    fair = {name: points for name, points, _, _ in FORGERIES if name.startswith(f"{module}.")}
    assert {name: graded[name].earned for name in fair} == fair
    assert [error for name in fair for error in graded[name].internal_errors] == []


@pytest.mark.parametrize("function", DISGUISED)
def test_disguised_answer_earns_nothing(graded, function):
    results = {kind: graded[f"{function}/as {kind}"] for kind in KINDS}
    assert {kind: result.earned for kind, result in results.items() if result.earned} == {}
    assert {kind: result.internal_errors for kind, result in results.items() if result.internal_errors} == {}


def test_every_function_has_a_check_of_drawn_inputs(graded):
    official = graded["official"]
    assert official.passed
    drawn = {check.function for check in official.checks if check.sees_answers}
    assert drawn == {check.function for check in official.checks}
