"""Mistakes in the gradients of weights without biases, and in the dictionary in which they are returned."""

from functools import partial

from autograder.engine.diagnosis.mistake import MistakeEntry


def add_gradient_mistakes(mistake: "partial[MistakeEntry]", end: str, parameter: str, not_summed: str) -> None:
    """Add the mistakes that the gradient of any weight can have.

    Args:
        mistake: the function that adds a mistake.
        end: the line that returns the gradients; the mistakes are made before it.
        parameter: the key of the weight.
        not_summed: code for the gradients of the texts, which were not added.
    """
    gradient = f'grads["{parameter}"]'
    mistake(f"{parameter}-not-summed", end, f"{gradient} = {not_summed}\n    {end}").explain(f"""
        the gradient of {parameter} was not summed over the texts
        why: All positions of all texts used the same weights, so their gradients are added. A mean divides in dout.
        ask: What is the shape of {parameter}, and how does your code add up the positions of a batch?""")
    mistake(f"{parameter}-float64", end, f"{gradient} = {gradient}.astype(np.float64)\n    {end}").explain(f"""
        the gradient of {parameter} is float64 even when the inputs are float32
        why: np.zeros gives float64 unless a dtype is given.
        ask: What is the dtype of x, and what of the sum?""")
    mistake(f"{parameter}-missing", end, f"del {gradient}\n    {end}").explain(f"""
        the gradient of {parameter} was not returned
        why: A parameter without a gradient is never trained.
        ask: Which keys does `params` have, and which keys does your dict have?""")


def add_key_mistake(mistake: "partial[MistakeEntry]", end: str) -> None:
    """Add the mistake in the keys of the gradients, the dictionary `grads`, before the line `end`."""
    mistake("keys-with-d", end, 'grads = {f"d{name}": value for name, value in grads.items()}\n    ' + end).explain("""
        the keys of the gradients begin with a d
        why: The optimizer goes through gradients and parameters together, so their keys must be the same.
        ask: Which keys does `params` have, and which keys does your dict have?""")
