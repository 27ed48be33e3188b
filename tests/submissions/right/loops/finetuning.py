"""A right answer to `finetuning` with loops; replace it. `headway verify` requires that it passes every check."""

import numpy as np


def finetuning(x):
    out = np.array(x)
    for row in out:
        row -= sum(row) / len(row)
    return out
