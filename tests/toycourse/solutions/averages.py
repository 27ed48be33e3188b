"""Assignment 1: mean and variance."""

# %% [markdown]
# # Mean and variance
#
# The mean says where numbers lie, the variance how far they are apart.

# %%
import numpy as np


# %%
def mean_of(x):
    """The mean of each row: (..., n) to (...).

    Args:
        x: floating point array.
    """
    return x.sum(axis=-1) / x.shape[-1]


# %%
def variance(x):
    """The mean squared distance of each row from its mean: (..., n) to (...).

    Args:
        x: floating point array.
    """
    distance = x - np.expand_dims(mean_of(x), -1)
    return (distance**2).sum(axis=-1) / x.shape[-1]
