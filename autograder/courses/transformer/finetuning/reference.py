"""The reference for finetuning: a function for each function of the assignment, to compare answers with.

Replace them. Write a reference differently from the solution, so that they do not share a mistake. To
compare with PyTorch, let `in_torch` convert the arrays to float64 tensors and back:

    from autograder.engine.reference.torch_bridge import in_torch

    @in_torch
    def finetuning(x):
        return x - x.mean(-1, keepdim=True)
"""

import math

import numpy as np


def finetuning(x):
    """Subtract the mean of each row, one row at a time."""
    return np.array([[number - math.fsum(row) / len(row) for number in row] for row in x.tolist()])
