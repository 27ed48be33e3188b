"""Pooling."""

# %% [markdown]
# # Pooling
#
# A weighted mean turns the rows of a matrix into one row.

# %%
from attention import causal_mask
from softmax import softmax


# %%
def weighted_mean(x, scores):
    """The mean of the rows, weighted by the softmax of the scores.

    Args:
        x: floating point array, (n, d).
        scores: a score for each row, (n,).
    """
    return softmax(scores) @ x


# %%
def causal_count(x):
    """The number of rows that each row sees if none sees a later one: (n, d) to (n,).

    Args:
        x: floating point array, (n, d).
    """
    return causal_mask(len(x)).sum(axis=-1)
