"""Check one function of one module, and return what failed; compare one answer with the expected one."""

import pytest

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.comparison.compare import compare
from autograder.engine.session import Options, check
from autograder.errors import Mismatch

SOFTMAX = TRANSFORMER.functions["softmax.softmax"]


def judged(folder, function, text):
    """Return the failed checks of `function`, of which there must be some, with `text` as its module.

    Its prerequisites are the official ones.
    """
    module = function.partition(".")[0]
    (folder / f"{module}.py").write_text(text)
    result = check("s", folder, Options(functions=(function,), official=True))
    failed = [outcome for outcome in result.checks if outcome.status in ("failed", "error", "timeout")]
    assert failed
    return failed


def by_name(outcomes):
    """Return the outcomes of the checks of one function by the names of the checks."""
    return {outcome.id.partition("::")[2]: outcome for outcome in outcomes}


def mistakes_in(folder, function, text):
    """Return the ids of the mistakes that the failed checks name; None where they name none."""
    return {outcome.mistake and outcome.mistake["id"] for outcome in judged(folder, function, text)}


def solution_text(module, *edits):
    """Return the official solution with edits: pairs of a text that occurs once, and what replaces it."""
    text = (bundled("solutions") / f"{module}.py").read_text("utf-8")
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def wrapped_solution(function, code):
    """Return the official solution with a function that calls the official one, and then runs `code` on `result`."""
    module, _, name = function.partition(".")
    wrapper = f"_official = {name}\n\n\ndef {name}(*args):\n    result = _official(*args)\n    {code}\n"
    return f"{solution_text(module)}\n\n{wrapper}"


def verdict(actual, expected, function=SOFTMAX, **options):
    """Return what the comparer says of a wrong answer."""
    with pytest.raises(Mismatch) as caught:
        compare(actual, expected, function, **options)
    return caught.value
