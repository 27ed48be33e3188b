"""Gradients by difference quotients, in any assignment: recognised by what they leave behind."""

from autograder.engine.diagnosis.mistake import Mistake

_TITLE = "the gradient is a difference quotient: (f(x + h) - f(x - h)) / 2h"
_EXPLANATION = (
    "What is rounded in f is divided by h: six to ten digits are right, in float32 two or three. And it takes two "
    "forward passes for every number. It is good for trying a gradient, not for computing one."
)
_HINT = "You can try your result already. Which formula does the docstring give for it?"

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


def quotient(function: str, given: str, loss: str, result: str) -> Mistake:
    """The mistake for a function.

    Args:
        function: qualified name.
        given: lines that make copies of the inputs.
        loss: the number whose gradient is wanted, as an expression.
        result: what is returned.
    """
    body = f"{given}\n    def loss():\n        return {loss}\n{_LOOP}    return {result}\n"
    return Mistake(function, "difference-quotient", _TITLE, _EXPLANATION, _HINT, body=body, quotient="one")


def quotient_of_each(function: str, forward: str) -> Mistake:
    """The same where every entry has its own forward value, `forward(x)`."""
    body = f"    x = as_float(x)\n    return dout * ({forward}(x + 1e-5) - {forward}(x - 1e-5)) / 2e-5\n"
    return Mistake(function, "difference-quotient", _TITLE, _EXPLANATION, _HINT, body=body, quotient="each")
