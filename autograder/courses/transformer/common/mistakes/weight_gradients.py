"""Mistakes in the gradients of weights without biases, and in the dictionary in which they are returned."""

from functools import partial

from autograder.engine.diagnosis.mistake import MistakeEntry


def add_gradient_mistakes(
    mistake: "partial[MistakeEntry]", end: str, parameter: str, *, of_first_text: str, not_summed: str
) -> None:
    """Add the mistakes that the gradient of any weight can have.

    Args:
        mistake: the function that adds a mistake.
        end: the line that returns the gradients; the mistakes are made before it.
        parameter: the key of the weight.
        of_first_text: code for the gradient that only the first text of the batch gives.
        not_summed: code for the gradients of the texts, which were not added.
    """
    gradient = f'grads["{parameter}"]'
    own = {
        "sign": ("Each step makes the loss larger.", "Does the loss grow or fall in a step against your gradient?"),
        "zero": ("A parameter whose gradient is 0 is never trained.", "Where does your code write into it?"),
        "float64": ("np.zeros gives float64 unless a dtype is given.", "What is the dtype of x, and what of the sum?"),
    }
    summed = (
        "All positions of all texts used the same weights, so their gradients are added. A mean divides in dout.",
        f"What is the shape of {parameter}, and how does your code add up the positions of a batch?",
    )
    for name, code, title in (
        ("sign", f"-{gradient}", "has the wrong sign"),
        ("zero", f"0 * {gradient}", "is 0 everywhere"),
        ("averaged", f"{gradient} / (x.size / x.shape[-1])", "was divided by the number of positions"),
        ("averaged-over-texts", f"{gradient} / len(x)", "was divided by the length of the first axis"),
        ("of-first-text", of_first_text, "was computed from the first text only"),
        ("not-summed", not_summed, "was not summed over the texts"),
        ("float64", f"{gradient}.astype(np.float64)", "is float64 even when the inputs are float32"),
    ):
        mistake(f"{parameter}-{name}", end, f"{gradient} = {code}\n    {end}").explain(f"""
            the gradient of {parameter} {title}
            why: {own.get(name, summed)[0]}
            ask: {own.get(name, summed)[1]}""")
    mistake(f"{parameter}-missing", end, f"del {gradient}\n    {end}").explain(f"""
        the gradient of {parameter} was not returned
        why: A parameter without a gradient is never trained.
        ask: Which keys does `params` have, and which keys does your dict have?""")


def add_dictionary_mistakes(mistake: "partial[MistakeEntry]", end: str) -> None:
    """Add the mistakes that concern all gradients of the dictionary `grads`, before the line `end`."""
    mistake(
        "all-averaged",
        end,
        "rows = x.size / x.shape[-1]\n    grads = {n: g / rows for n, g in grads.items()}\n    " + end,
    ).explain("""
        the gradients of the parameters were divided by the number of positions
        why: If the loss is a mean, its division is already in dout.
        ask: Does the forward pass divide by the number of positions anywhere?""")
    mistake("keys-with-d", end, 'grads = {f"d{name}": value for name, value in grads.items()}\n    ' + end).explain("""
        the keys of the gradients begin with a d
        why: The optimizer goes through gradients and parameters together, so their keys must be the same.
        ask: Which keys does `params` have, and which keys does your dict have?""")
