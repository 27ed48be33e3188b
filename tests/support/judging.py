"""Check one function of one module, and return what failed."""

from autograder.engine.session import Options, check


def judged(folder, function, text):
    """Return the failed checks of `function` with `text` as its module, on official prerequisites."""
    module = function.partition(".")[0]
    (folder / f"{module}.py").write_text(text)
    result = check("s", folder, Options(functions=(function,), official=True))
    return [outcome for outcome in result.checks if outcome.status in ("failed", "error", "timeout")]
