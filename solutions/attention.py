"""Assignment 4: scaled dot-product attention, from plain averages to masks and gradients."""

# %% [markdown]
# # Attention: an average that chooses its weights
#
# So far each token has a vector that knows what it is and where it stands, and nothing about its neighbours. But what
# "bank" means depends on whether "river" or "money" came before. Positions have to exchange information, and the way
# they do it in a transformer is this: **each position takes a weighted average of the vectors of other positions, and
# chooses the weights itself.**
#
# We come to it in three steps: an average with equal weights; the same average as one matrix product; and then weights
# that depend on the content.
#
# Letters: T positions that ask (*queries*), S positions that are looked at (*keys*), K numbers in a query and in a
# key, Kᵥ numbers in a value. In front of the last two axes there may be any number of batch axes, written `...`; the
# next assignment puts batch and heads there.

# %%
import math

import numpy as np
from softmax import as_float, softmax, softmax_backward  # noqa: F401, the examples and most solutions call softmax

# %% [markdown]
# ## `causal_average_loop`
#
# The simplest way to hand information on: position t gets the plain average of everything up to and including itself.
# Not of what comes later: a language model has to predict the next token, and must not be shown it. That rule is
# called **causal**.
#
# $$out_t = \frac{1}{t + 1} \sum_{j=0}^{t} x_j$$
#
# Write it as it reads, with a loop over t. Mind the end of the slice: position t may see itself.
#
# ```python
# >>> x = np.array([[6.0, 0.0], [0.0, 2.0], [3.0, 1.0]])  # T = 3 positions, D = 2
# >>> causal_average_loop(x)
# array([[6., 0.],
#        [3., 1.],
#        [3., 1.]])
#
# ```


# %%
def causal_average_loop(x):
    """Each position becomes the mean of itself and all positions before it, by a loop over the positions.

        out[..., t, :] = (1 / (t + 1)) Σ_{j ≤ t} x[..., j, :]

    Args:
        x: vectors, (..., T, D).

    Returns:
        The averages, same shape and dtype as `x` (float64 for integers).
    """
    x = as_float(x)
    out = np.empty_like(x)
    for t in range(x.shape[-2]):
        out[..., t, :] = x[..., : t + 1, :].mean(axis=-2)  # mean of (..., t + 1, D)
    return out


# %% [markdown]
# ## `causal_average_matmul`
#
# The same without a loop. A weighted sum of rows is what a matrix product computes: row t of `weights @ x` is the sum
# of the rows of `x`, each multiplied by its entry in row t of `weights`. So put the averages into a (T, T) matrix, a
# lower triangle whose rows add up to 1:
#
# ```text
#     1     0     0          position 0 sees itself
#     1/2   1/2   0          position 1 sees 0 and 1
#     1/3   1/3   1/3        position 2 sees 0, 1 and 2
# ```
#
# ```python
# >>> x = np.array([[6.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
# >>> causal_average_matmul(x)
# array([[6., 0.],
#        [3., 1.],
#        [3., 1.]])
#
# ```
#
# And a third way to get the same matrix, the one that leads on: start with scores that are all 0, put `-inf` above the
# diagonal, and take the softmax of each row.
#
# ```python
# >>> scores = np.array([[0.0, -np.inf, -np.inf], [0.0, 0.0, -np.inf], [0.0, 0.0, 0.0]])
# >>> softmax(scores).round(4)
# array([[1.    , 0.    , 0.    ],
#        [0.5   , 0.5   , 0.    ],
#        [0.3333, 0.3333, 0.3333]])
#
# ```
#
# An average with equal weights is the special case in which all scores are equal. Attention fills in other scores.


# %%
def causal_average_matmul(x):
    """Each position becomes the mean of itself and all positions before it, by one matrix product.

        out = A x,   A[t, j] = 1 / (t + 1) if j ≤ t else 0

    Args:
        x: vectors, (..., T, D).

    Returns:
        The averages, same shape and dtype as `x` (float64 for integers): what `causal_average_loop` returns.
    """
    x = as_float(x)
    weights = np.tri(x.shape[-2], dtype=x.dtype)  # (T, T), ones on and below the diagonal
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ x  # (T, T) @ (..., T, D)


# %% [markdown]
# ## `causal_mask`
#
# A **mask** says who may look at whom: one row for each query, one column for each key. There are three conventions
# for what stands in it, and mixing them up is one of the most frequent mistakes of all, because nothing crashes:
#
# | in the mask | means | who uses it | to get ours |
# |---|---|---|---|
# | `True` | **may** look | **this kit**; booleans in PyTorch's `F.scaled_dot_product_attention` | |
# | `True` | must **not** look | booleans in PyTorch's `nn.MultiheadAttention` and `nn.Transformer` | `~mask` |
# | 0 and `-inf` | numbers to be *added* to the scores | floats in both | `mask == 0` |
#
# The causal mask is a lower triangle of `True`, *with* the diagonal: without it the first position could look at
# nothing.
#
# ```python
# >>> causal_mask(3)
# array([[ True, False, False],
#        [ True,  True, False],
#        [ True,  True,  True]])
#
# ```
#
# When a model writes text, it adds one token at a time and keeps the keys of all earlier ones. Then there are fewer
# queries than keys, and the queries are the **last** positions: with 5 keys, 2 queries are positions 3 and 4. The
# triangle stands in the lower *right* corner.
#
# ```python
# >>> causal_mask(2, 5)
# array([[ True,  True,  True,  True, False],
#        [ True,  True,  True,  True,  True]])
#
# ```
#
# (PyTorch's `is_causal=True` puts the triangle in the upper left corner. For as many queries as keys it is the same.)


# %%
def causal_mask(n_queries, n_keys=None):
    """Which keys each query may look at when nobody sees the future (Vaswani et al. 2017, section 3.2.3).

        mask[i, j] = (j ≤ i + n_keys - n_queries)

    Args:
        n_queries: T. The queries are the last T of the S positions.
        n_keys: S. The default None means as many as queries.

    Returns:
        Boolean array, (T, S), True where query i may look at key j.

    Raises:
        ValueError: if there are more queries than keys.
    """
    if n_keys is None:
        n_keys = n_queries
    if n_queries > n_keys:
        raise ValueError(f"{n_queries} queries cannot be the last positions of only {n_keys} keys")
    return np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)


# %% [markdown]
# ## `padding_mask`
#
# Texts in a batch have different lengths, and the short ones are filled up with a *padding* token that means nothing.
# Nobody should look at it, wherever the query stands. From one truth value per key, (B, S), make a mask that fits
# scores of shape (B, H, T, S): batch, heads (next assignment), queries, keys. Broadcasting lines shapes up from the
# right, so the two axes in the middle must be there, with length 1.
#
# ```python
# >>> ids = np.array([[7, 4, 9], [5, 0, 0]])  # two texts, 0 is the padding
# >>> padding_mask(ids != 0)
# array([[[[ True,  True,  True]]],
# <BLANKLINE>
# <BLANKLINE>
#        [[[ True, False, False]]]])
#
# ```
#
# Masks combine with `&`: `causal_mask(3) & padding_mask(ids != 0)` has the shape (2, 1, 3, 3), and a query looks only
# where both allow it.


# %%
def padding_mask(keep):
    """Turn "this key is a real token" into a mask that broadcasts to scores of shape (B, H, T, S).

        mask[b, 0, 0, j] = keep[b, j]

    Args:
        keep: boolean, (B, S), True where the key is a real token and False where it is padding.

    Returns:
        Boolean array, (B, 1, 1, S), True where every query of text b may look at key j.
    """
    return np.asarray(keep, dtype=bool)[..., None, None, :]


# %% [markdown]
# ## `attention`
#
# Now the weights. Each position makes three vectors out of its own:
#
# - a **query**: what am I looking for?
# - a **key**: what do I have to offer, as others see it?
# - a **value**: what do I hand over to those who look at me?
#
# (How they are made is the next assignment; here they are just given.) The score of query i for key j is their dot
# product, large if the two point the same way. Softmax makes weights of each query's scores, and the output is the
# weighted average of the values (Vaswani et al. 2017, section 3.2.1, equation 1):
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# ```text
#     q        (..., T, K)  ──┐
#     k        (..., S, K)  ──┴─>  scores (..., T, S)  ──softmax──>  weights (..., T, S)  ──┐
#     v        (..., S, Kᵥ) ────────────────────────────────────────────────────────────────┴─>  out (..., T, Kᵥ)
# ```
#
# A query that fits the second of two keys better:
#
# ```python
# >>> q = np.array([[0.0, 2.0]])  # T = 1 query, K = 2
# >>> k = np.array([[1.0, 0.0], [0.0, 1.0]])  # S = 2 keys
# >>> v = np.array([[10.0, 0.0, 0.0], [0.0, 10.0, 20.0]])  # and their values, 3 numbers each
# >>> out, weights = attention(q, k, v)
# >>> weights.round(4)
# array([[0.1956, 0.8044]])
# >>> out.round(4)
# array([[ 1.9557,  8.0443, 16.0886]])
#
# ```
#
# The transpose concerns the last two axes only: `k.T` would turn *all* axes round, and is right for 2-D arrays alone.
#
# ### Why divide by √d_k
#
# A dot product adds up K products. If the numbers in q and k vary independently with mean 0 and variance 1, the sum
# has variance K: with K = 64, scores of ±8 are common. Softmax of such a row is almost all or nothing, and its gradient
# is almost 0 (section 3.2.1, footnote 4). Dividing by √K brings the variance back to 1.
#
# ```python
# >>> typical = np.array([8.0, -8.0, 4.0])
# >>> softmax(typical).round(4)
# array([0.982, 0.   , 0.018])
# >>> softmax(typical / math.sqrt(64)).round(4)
# array([0.5741, 0.0777, 0.3482])
#
# ```
#
# K is the length of *one query vector as it arrives here*, the last axis of `q`. With several heads that is the size
# of a head, d_model / H, and not d_model; published code gets it wrong again and again. And `* K ** -0.5` is a
# division by √K: the minus sign is part of it.
#
# ### How to mask
#
# A forbidden key must get the weight 0, and the rest of the row must still add up to 1. So the *scores* are changed,
# before the softmax: a forbidden score becomes `-inf`, and its exponential is exactly 0. What happens with other
# fills, for scores 1, 2 and a forbidden third one:
#
# ```python
# >>> for fill in (-np.inf, -1e9, -3.0, 1e-9):
# ...     print(f"{fill:6g}", softmax(np.array([1.0, 2.0, fill])).round(4))
#   -inf [0.2689 0.7311 0.    ]
# -1e+09 [0.2689 0.7311 0.    ]
#     -3 [0.2676 0.7275 0.0049]
#  1e-09 [0.2447 0.6652 0.09  ]
#
# ```
#
# - `-1e9`, found in a lot of code, does the same job here, with two catches: it does not fit into half precision, and
#   a row in which *everything* is forbidden becomes an average of all the forbidden values.
# - `-3.0` is not low enough: a little of the forbidden value leaks through. With large scores, `-100.0` is not either.
# - `1e-9` is a missing minus sign and hides nothing. Neither does multiplying the scores by a mask of zeros and ones:
#   0 is an ordinary score, better than all the negative ones.
# - Zeros put into the weights *after* the softmax leave rows that no longer add up to 1.
#
# A query that may look at nothing is a row of nothing but `-inf`, and softmax makes `nan` of it: (-inf) - (-inf). It
# happens in practice, when a whole text is padding. Such a row gets weights 0 here, and so the output 0.
#
# ```python
# >>> out, weights = attention(k, k, v, mask=np.array([[True, False], [False, False]]))
# >>> weights
# array([[1., 0.],
#        [0., 0.]])
# >>> out
# array([[10.,  0.,  0.],
#        [ 0.,  0.,  0.]])
#
# ```
#
# And the circle closes: if all scores are equal, attention with the causal mask is the causal average.
#
# ```python
# >>> x = np.array([[6.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
# >>> out, weights = attention(np.zeros((3, 2)), x, x, mask=causal_mask(3))
# >>> out.round(4)
# array([[6., 0.],
#        [3., 1.],
#        [3., 1.]])
#
# ```
#
# See it: `headway plot attention-mask` and `headway plot attention-queries` (before your function is written, with
# `--solution`).

# %% tags=["active-ipynb"]
# from autograder.study.pictures import show
#
# show("attention-mask", globals())

# %% tags=["active-ipynb"]
# show("attention-queries", globals())


# %%
def _softmax_in_place(scores):
    """Softmax over the last axis, (..., T, S), written over the scores; a row of nothing but -inf becomes zeros.

    The same formula as in `softmax`. For many short rows there are faster ways to the largest entry and to the sum than
    `max` and `sum`: `argmax` and a look at that place, and a product with a vector of ones.
    """
    rows = scores.reshape(-1, scores.shape[-1])  # (N, S), a view
    largest = rows[np.arange(len(rows)), rows.argmax(axis=-1)]  # (N,)
    largest[largest == -np.inf] = 0.0  # a row that sees nothing: -inf - (-inf) would be nan
    rows -= largest[:, None]
    np.exp(rows, out=rows)
    total = rows @ np.ones(rows.shape[-1], dtype=rows.dtype)  # (N,), at least 1, or 0 for a row that sees nothing
    rows /= np.maximum(total, 1)[:, None]
    return scores


def attention(q, k, v, mask=None):
    """Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1, equation 1).

        weights = softmax(q kᵀ / √K, masked),   out = weights v

    Args:
        q: queries, (..., T, K).
        k: keys, (..., S, K), with the batch axes of `q`.
        v: values, (..., S, Kᵥ), with the batch axes of `q`.
        mask: boolean, True where a query may look at a key; anything that broadcasts to (..., T, S). None means that
            everybody may look at everything.

    Returns:
        out: (..., T, Kᵥ), for each query the weighted average of the values.
        weights: (..., T, S), the weights of that average. Each row adds up to 1, and is exactly 0 where the mask is
            False. A query that may look at nothing has weights 0 and output 0.
        Both in the dtype of the inputs (float64 for integers).

    Raises:
        TypeError: if the mask is not boolean; 0 and -inf, or 0 and 1, are other conventions.
        ValueError: if the mask does not broadcast to (..., T, S).
    """
    q, k, v = as_float(q), as_float(k), as_float(v)
    scores = q @ k.swapaxes(-1, -2)  # (..., T, K) @ (..., K, S) = (..., T, S)
    scores /= math.sqrt(q.shape[-1])
    if mask is not None:
        mask = np.asarray(mask)
        if mask.dtype != bool:
            raise TypeError(f"mask must be boolean, True where a query may look at a key, but it is {mask.dtype}")
        np.copyto(scores, -np.inf, where=~mask)
    weights = _softmax_in_place(scores)
    return weights @ v, weights  # (..., T, S) @ (..., S, Kᵥ) = (..., T, Kᵥ)


# %% [markdown]
# ## `attention_backward`
#
# Backwards through the three steps, last one first. `dout` (..., T, Kᵥ) is the gradient with respect to `out`. For a
# matrix product $C = A B$ the rules are $dA = dC\, B^\top$ and $dB = A^\top dC$; the shapes leave no other choice.
#
# | forward | backward |
# |---|---|
# | $out = W V$ | $dV = W^\top dout$ and $dW = dout\, V^\top$ |
# | $W = \mathrm{softmax}(Z)$ | $dZ$ is the softmax backward of $dW$, assignment 2 |
# | $Z = Q K^\top / \sqrt{d_k}$ | $dQ = dZ\, K / \sqrt{d_k}$ and $dK = dZ^\top Q / \sqrt{d_k}$ |
#
# The factor $1/\sqrt{d_k}$ belongs into dQ and into dK, and not into dV: v never went through the scores.
#
# And the mask? It is not even an argument. A forbidden weight is 0, softmax backward multiplies by the weight, and so
# nothing flows back through a forbidden score; a row that sees nothing has gradient 0 throughout.
#
# ```python
# >>> q, k = np.array([[0.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
# >>> v = np.array([[10.0, 0.0, 0.0], [0.0, 10.0, 20.0]])
# >>> out, weights = attention(q, k, v)
# >>> dq, dk, dv = attention_backward(np.array([[1.0, 0.0, 0.0]]), q, k, v, weights)
# >>> dq.round(4)
# array([[ 1.1124, -1.1124]])
# >>> dk.round(4)
# array([[ 0.    ,  2.2249],
#        [ 0.    , -2.2249]])
# >>> dv.round(4)
# array([[0.1956, 0.    , 0.    ],
#        [0.8044, 0.    , 0.    ]])
#
# ```
#
# To make the first number of the output larger, the query should turn towards the first key: `dq` says so.


# %%
def attention_backward(dout, q, k, v, weights):
    """Gradients of the loss with respect to the queries, keys and values.

        dv = weightsᵀ dout,   dscores = softmax_backward(dout vᵀ, weights) / √K,   dq = dscores k,   dk = dscoresᵀ q

    Args:
        dout: gradient with respect to `out`, (..., T, Kᵥ).
        q: queries, (..., T, K).
        k: keys, (..., S, K), with the batch axes of `q`.
        v: values, (..., S, Kᵥ), with the batch axes of `q`.
        weights: what `attention(q, k, v, mask)` returned, (..., T, S).

    Returns:
        dq (..., T, K), dk (..., S, K) and dv (..., S, Kᵥ), in the dtype of the inputs (float64 for integers).
    """
    dout, q, k, v, weights = as_float(dout), as_float(q), as_float(k), as_float(v), as_float(weights)
    dv = weights.swapaxes(-1, -2) @ dout  # (..., S, T) @ (..., T, Kᵥ)
    dweights = dout @ v.swapaxes(-1, -2)  # (..., T, Kᵥ) @ (..., Kᵥ, S)
    dscores = softmax_backward(dweights, weights)  # (..., T, S)
    dscores /= math.sqrt(q.shape[-1])
    dq = dscores @ k  # (..., T, S) @ (..., S, K)
    dk = dscores.swapaxes(-1, -2) @ q  # (..., S, T) @ (..., T, K)
    return dq, dk, dv


# %% [markdown]
# ## What could go wrong
#
# Known mistakes of this assignment. When the report recognises one of them, it calls it by this name:
#
# - `causal_average_loop`: **the average includes the next position.** A model that sees the next character needs not
#   learn to predict it.
# - `causal_mask`: **the mask is inverted: True where a query must not look.** Some libraries mark what is hidden. Here
#   True means: may look.
# - `causal_mask`: **the queries were taken for the first positions, not for the last.** When fewer queries than keys
#   are given, they are the newest ones, and may see all the older keys.
# - `padding_mask`: **the padding stands along the queries, not along the keys.** It would forbid padding to look, not
#   others to look at padding.
# - `attention`: **the scores were not divided by √d_k.** Products of longer vectors are larger, and the softmax of
#   large scores looks at a single key.
# - `attention`: **the softmax ran over the queries, not over the keys.** The weights of each key add up to 1, when
#   those of each query should.
# - `attention`: **a query that sees nothing gets nan.** -inf - (-inf) is nan. The output must be 0 there, and the
#   weights too.
# - `attention_backward`: **the sum over the row is missing in the backward of the softmax.** Raising one score lowers
#   all other weights of the row; that is what the sum stands for.

# %% [markdown]
# ## Try it
#
# Why divide by √K? Draw random queries and keys of growing width K and look at the largest weight of each row, on
# average over 1,000 queries that choose among 8 keys. The first column is `attention` as it is. For the second, the
# queries are multiplied by √K beforehand, which undoes the division.
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> for K in (4, 16, 64, 256):
# ...     q, k, v = rng.normal(size=(1000, K)), rng.normal(size=(8, K)), np.zeros((8, 1))
# ...     scaled, unscaled = attention(q, k, v)[1], attention(q * math.sqrt(K), k, v)[1]
# ...     print(K, scaled.max(axis=-1).mean().round(2), unscaled.max(axis=-1).mean().round(2))
# 4 0.34 0.51
# 16 0.35 0.76
# 64 0.36 0.87
# 256 0.37 0.94
#
# ```
#
# Without the division nearly the whole weight falls on one key as soon as vectors are long, and softmax's gradient is p
# (1 − p), nearly 0, wherever one p is nearly 1: the model could no longer learn whom to look at (Vaswani et al. 2017,
# section 3.2.1). What should the first column be if all eight weights were equal?

# %% tags=["active-ipynb"]
# rng = np.random.default_rng(0)
# for K in (4, 16, 64, 256):
#     q, k, v = rng.normal(size=(1000, K)), rng.normal(size=(8, K)), np.zeros((8, 1))
#     scaled, unscaled = attention(q, k, v)[1], attention(q * math.sqrt(K), k, v)[1]
#     print(K, scaled.max(axis=-1).mean().round(2), unscaled.max(axis=-1).mean().round(2))
