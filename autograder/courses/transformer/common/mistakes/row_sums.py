"""Sums over all rows that are taken wrongly, in the backward pass of any layer with gains or biases."""

import re
from collections.abc import Iterable, Mapping
from functools import partial

from autograder.engine.diagnosis.mistake import MistakeEntry

_ROWS = "{0}.reshape(-1, {0}.shape[-1])"
SUM = f"{_ROWS}.sum(axis=0)"

# Name, code for the contributions {0} of all rows (..., D), title with {singular|plural}, why, ask.
_WRONG_SUMS = (
    (
        "means-over-rows",
        f"{_ROWS}.mean(axis=0)",
        "{is the mean|are means} over the rows instead of {the sum|sums}",
        "All rows used the same parameters, so their contributions are added.",
        "Does the forward pass divide by the number of rows anywhere?",
    ),
    (
        "divided-by-first-axis",
        f"{SUM} / len({{0}})",
        "{was|were} divided by the length of the first axis",
        "All rows used the same parameters, so their contributions are added.",
        "Does the forward pass divide by the size of the batch anywhere?",
    ),
    (
        "not-summed",
        "{0} * 1.0",
        "{was|were} not summed over the rows",
        "A gradient has the shape of its parameter: one entry for each feature.",
        "What is the shape of the parameter, and what is the shape of your gradient?",
    ),
    (
        "summed-over-one-axis",
        "{0}.sum(axis=0)",
        "{was|were} summed over the first axis only",
        "A matrix comes out right. A batch of texts, (B, T, D), has two axes to sum over.",
        "How many axes come before the last one, and over how many do you sum?",
    ),
    (
        "summed-over-positions",
        "{0}.sum(axis=-2)",
        "{was|were} summed over the second-to-last axis only",
        "A matrix comes out right. A batch of texts, (B, T, D), has two axes to sum over, and a vector has none.",
        "How many axes come before the last one, and over how many do you sum?",
    ),
    (
        "summed-over-two-axes",
        "{0}.sum(axis=(0, 1))",
        "{was|were} always summed over the first two axes",
        "That is right for (B, T, D). A matrix has only one axis of rows, and a batch may have more than two.",
        "How could you reshape (..., D) to rows (N, D), for any number of leading axes?",
    ),
    (
        "summed-to-one-number",
        "{0}.sum()",
        "{was|were} summed over all axes, including the features",
        "Each feature has its own parameter, and so its own gradient.",
        "What is the shape of the parameter, and what is the shape of .sum() without an axis?",
    ),
    (
        "one-number-for-a-vector",
        "{0}.sum(axis=tuple(range({0}.ndim - 1)) or None)",
        "{is a single number|are single numbers} if the input is a single vector",
        "A vector has no axes to sum over. axis=None does not mean that: it sums over all axes.",
        "For an input of shape (D,), which value of axis does your sum get, and what does that value mean?",
    ),
    (
        "last-row-only",
        f"{_ROWS}[-1]",
        "came from the last row only",
        "In a loop, `=` keeps the last contribution; `+=` adds all of them.",
        "Does each turn of your loop add its contribution, or does it replace the one before?",
    ),
    (
        "last-text-only",
        f"({{0}}[-1] if {{0}}.ndim > 2 else {{0}}){SUM[3:]}",
        "came from the last text of the batch only",
        "In a loop, `=` keeps the last contribution; `+=` adds all of them. A matrix comes out right.",
        "Does each turn of your loop add its contribution, or does it replace the one before?",
    ),
)


def wrong_row_sums(
    mistake: partial[MistakeEntry],
    sums: Mapping[str, tuple[str, str, str]],
    targets: Iterable[tuple[str, ...]],
    *,
    named_by_parameter: bool = False,
) -> None:
    """Add each wrong sum for each of several sets of gradients.

    Args:
        mistake: the callable that `Mistakes.for_functions` returned for the function.
        sums: by gradient, code of the solution, what replaces it, with SUM for the wrong sum, and the code of the
            contributions of all rows, (..., D).
        targets: sets of gradients that are summed wrongly together. The name of a mistake tells which; the first set
            needs no mention.
        named_by_parameter: `sums` and `targets` name the parameters, not their gradients.
    """
    first, *others = targets
    for targeted in (first, *others):
        suffix = "" if targeted == first else f"-of-{'-and-'.join(targeted)}"
        is_single = len(targeted) == 1
        subject = " and ".join(targeted)
        if named_by_parameter:
            subject = f"the gradient{'' if is_single else 's'} of {subject}"
        for name, code, title, why, ask in _WRONG_SUMS:
            edits = []
            for old, new, contributions in map(sums.__getitem__, targeted):
                edits += [old, new.replace("SUM", code.format(contributions))]
            verb = re.sub(r"\{(.*?)\|(.*?)\}", r"\1" if is_single else r"\2", title)
            mistake(name + suffix, *edits).explain(f"""
                {subject} {verb}
                why: {why}
                ask: {ask}""")
