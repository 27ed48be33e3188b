"""Gradients computed by difference quotients, in any assignment; diagnosis recognizes them by their rounding."""

from functools import partial

from autograder.engine.diagnosis.mistake import MistakeEntry

_TEXT = """
    the gradient was computed as a difference quotient
    why: The rounding error of f is divided by h, so at most about ten digits are correct, in float32 three. It also
         needs a forward pass or two for every entry. That is good for testing a gradient, but not for training.
    ask: How often does your code compute the forward pass? A formula needs it once at most. Your result can test it."""

_LOOP = """
    def quotients(x):
        dx = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            before = x[place]
            x[place] = before + 1e-5
            above = loss()
            x[place] = before - 1e-5
            below = loss()
            x[place] = before
            dx[place] = (above - below) / 2e-5
        return dx

"""


def difference_quotient(mistake: partial[MistakeEntry], copies: str, loss: str, result: str) -> None:
    """Add the mistake to a function with a single loss.

    Args:
        mistake: the callable that `Mistakes.for_functions` returned for the function.
        copies: lines of code that copy the inputs.
        loss: the number to differentiate, as an expression.
        result: the expression to return.
    """
    body = f"{copies}\n    def loss():\n        return {loss}\n{_LOOP}    return {result}\n"
    mistake("difference-quotient", quotient="one").body(body).explain(_TEXT)


def difference_quotient_of_each(mistake: partial[MistakeEntry], forward: str) -> None:
    """Add the mistake to a function whose forward pass, `forward(x)`, treats every entry separately."""
    body = f"    x = as_float(x)\n    return dout * ({forward}(x + 1e-5) - {forward}(x - 1e-5)) / 2e-5\n"
    mistake("difference-quotient", quotient="each").body(body).explain(_TEXT)
