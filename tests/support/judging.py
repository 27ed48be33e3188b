"""Check one function of one module, and return what failed."""

from autograder.course.stubs import bundled
from autograder.engine.session import Options, check


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
