"""Gradients by difference quotients, in any assignment; the diagnosis recognizes them by their rounding."""

from functools import partial

from autograder.engine.diagnosis.mistake import MistakeEntry

_TEXT = """
    the gradient is a difference quotient: (f(x + h) - f(x - h)) / 2h
    why: What is rounded in f is divided by h: six to ten digits are right, in float32 two or three. And it takes two
         forward passes for every number. It is good for trying a gradient, not for computing one.
    ask: You can try your result already. Which formula does the docstring give for it?"""

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
        mistake: what `Mistakes.for_functions` returned for the function.
        copies: lines that make copies of the inputs.
        loss: the number whose gradient is wanted, as an expression.
        result: what is returned.
    """
    body = f"{copies}\n    def loss():\n        return {loss}\n{_LOOP}    return {result}\n"
    mistake("difference-quotient", quotient="one").body(body).explain(_TEXT)


def difference_quotient_of_each(mistake: partial[MistakeEntry], forward: str) -> None:
    """Add the mistake to a function in which every entry has its own forward value, `forward(x)`."""
    body = f"    x = as_float(x)\n    return dout * ({forward}(x + 1e-5) - {forward}(x - 1e-5)) / 2e-5\n"
    mistake("difference-quotient", quotient="each").body(body).explain(_TEXT)
