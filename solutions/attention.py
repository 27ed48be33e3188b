"""Assignment 4: scaled dot-product attention, from plain averages to masks and gradients."""

# %% [markdown]
# # Attention: an average that chooses its weights
#
# So far each position has a vector that says what stands there and where, and nothing about its neighbours. But what
# "bank" means depends on whether "river" or "money" came before. Positions have to exchange information, and the way
# they do it in a transformer is **attention**: each position takes a weighted average of the vectors of other
# positions, and chooses the weights itself.
#
# ```text
#     positions             the     river    bank
#     "bank" chooses        0.1     0.6      0.3       weights that add up to 1
#     and gets              0.1 × vector of "the" + 0.6 × vector of "river" + 0.3 × its own
# ```
#
# We come to it in three steps: an average with equal weights; the same average as one matrix product; and then weights
# that depend on the content. At the end comes the way back.
#
# Letters: T positions look, and S positions are looked at; most of the time they are the same ones. In front of the
# last two axes there may be any number of batch axes, written `...`.

# %%
import math

import numpy as np
from softmax import as_float, softmax, softmax_backward  # noqa: F401, the examples and most solutions call softmax

# %% [markdown]
# ## `causal_average_loop`
#
# The simplest way to hand information on: position t gets the plain average of everything up to and including itself.
# Not of what comes later: a language model has to predict the next token, and must not be shown it. That rule is called
# **causal**.
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
# A loop over positions is slow, and its weights cannot be changed. The same without a loop: a weighted sum of rows is
# what a matrix product computes. Row t of `weights @ x` is the sum of the rows of `x`, each multiplied by its entry in
# row t of `weights`. So put the averages into a (T, T) matrix, a lower triangle whose rows add up to 1:
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
# There is a third way to get the same matrix, the one that leads on: start with scores that are all 0, put `-inf` above
# the diagonal, and take the softmax of each row.
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
# Before that, the triangle gets a name of its own.


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
# Who may look at whom? From here on a position that looks is called a **query**, and one that is looked at a **key**. A
# **mask** is a table of `True` and `False` with one row for each query and one column for each key. There are three
# conventions for what stands in it, and mixing them up is one of the most frequent mistakes of all, because nothing
# crashes:
#
# | in the mask | means | who uses it | to get ours |
# |---|---|---|---|
# | `True` | *may* look | *this kit*; booleans in PyTorch's `F.scaled_dot_product_attention` | |
# | `True` | must *not* look | booleans in PyTorch's `nn.MultiheadAttention` and `nn.Transformer` | `~mask` |
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
# queries than keys, and the queries are the *last* positions: with 5 keys, 2 queries are positions 3 and 4. The
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
# The future is one thing that must not be looked at; padding is the other. It means nothing, so nobody should look at
# it, wherever the query stands.
#
# You get one `True` or `False` per key, (B, S). Scores will have the shape (B, H, T, S): batch, H attentions side by
# side (the next assignment), queries, keys. NumPy's broadcasting lines shapes up from the right, so the two axes in the
# middle must be there, with length 1.
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
# Now the weights. So far "query" and "key" were only names for positions. Each position makes three vectors out of its
# own:
#
# - a query: what am I looking for?
# - a key: what do I have to offer, as others see it?
# - a **value**: what do I hand over to those who look at me?
#
# (How they are made is the next assignment; here they are just given.) A query and a key have K numbers, a value has
# Kᵥ. The score of a query for a key is their **dot product**: multiplied number by number and added up, which is large
# if both point the same way. Softmax makes **attention weights** of each query's scores, and the output is the average
# of the values with these weights (Vaswani et al. 2017, section 3.2.1, equation 1; what is K here is called $d_k$
# there, and in the report):
#
# $$\mathrm{attention}(q, k, v) = \mathrm{softmax}\!\left(\frac{q\, k^\top}{\sqrt{K}}\right) v$$
#
# ```text
#     q (..., T, K)  ─┐
#     k (..., S, K)  ─┴─> scores (..., T, S) ── softmax ─> weights (..., T, S) ─┐
#     v (..., S, Kᵥ) ───────────────────────────────────────────────────────────┴─> out (..., T, Kᵥ)
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
# By hand: the scores are 0 and 2, divided by √2 they are 0 and 1.4142, and softmax makes 0.1956 and 0.8044 of them. The
# first number of the output is 0.1956 · 10.
#
# The transpose concerns the last two axes only: `k.T` would turn *all* axes round, and is right for 2-D arrays alone.
# `k.swapaxes(-1, -2)` exchanges the last two, whatever stands in front of them.
#
# ### Why divide by √K
#
# A dot product adds up K products, so it grows with K. How much? The **variance** of some numbers is the mean of their
# squared distances from their mean. If the numbers in q and k are drawn independently with mean 0 and variance 1, their
# dot product has mean 0 and variance K: with K = 64, scores of ±8 are common. Softmax of such a row is almost all or
# nothing, and its gradient is almost 0 (section 3.2.1 and its footnote 4). Dividing by √K brings the variance back to
# 1.
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
# K is the length of *one query vector as it arrives here*, the last axis of `q`. When there are several attentions side
# by side, that is less than D; published code gets it wrong again and again. And `* K ** -0.5` is a division by √K: the
# minus sign is part of it.
#
# ### How to mask
#
# A forbidden key must get the weight 0, and the rest of the row must still add up to 1. So the *scores* are changed,
# before the softmax: a forbidden score becomes `-inf`, and its exponential is exactly 0. What happens with other fills,
# for scores 1, 2 and a forbidden third one:
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
# - `-1e9`, found in a lot of code, does the same job here, with two catches: it does not fit into float16, and a row in
#   which *everything* is forbidden becomes an average of all the forbidden values.
# - `-3.0` is not low enough: a little of the forbidden value leaks through. With large scores, `-100.0` is not either.
# - `1e-9` is a missing minus sign and hides nothing. Neither does multiplying the scores by a mask of zeros and ones: 0
#   is an ordinary score, better than all the negative ones.
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
# from autograder.workspace.plots import show
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
# matrix product $c = a\, b$ the rules are $da = dc\, b^\top$ and $db = a^\top dc$; the shapes leave no other choice.
# Write $w$ for the weights and $z$ for the scores:
#
# | forward | backward |
# |---|---|
# | $out = w\, v$ | $dv = w^\top dout$ and $dw = dout\, v^\top$ |
# | $w = \mathrm{softmax}(z)$ | $dz$ is the softmax backward of $dw$, assignment 2 |
# | $z = q\, k^\top / \sqrt{K}$ | $dq = dz\, k / \sqrt{K}$ and $dk = dz^\top q / \sqrt{K}$ |
#
# The factor $1/\sqrt{K}$ belongs into dq and into dk, and not into dv: v never went through the scores.
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
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
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
# What does the division by √K do? Take 1,000 random queries that choose among 8 keys, for a growing width K, once as
# `attention` does it and once with queries that were multiplied by √K beforehand, which undoes the division. All of it
# is noise: nobody has a reason to prefer any key.
#
# **Guess first.** How large is the largest of a query's eight weights, on average? And how much of a gradient that
# arrives at the weights gets through to the scores?
#
# Run it: `python attention.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    for K in (4, 16, 64, 256):
        q, k, v = rng.normal(size=(1000, K)), rng.normal(size=(8, K)), np.zeros((8, 1))
        dweights = rng.normal(size=(1000, 8))
        found = []
        for undo in (1.0, math.sqrt(K)):
            _, weights = attention(q * undo, k, v)
            dscores = softmax_backward(dweights, weights)
            found.append(f"largest {weights.max(axis=-1).mean():.2f}, gradient {np.abs(dscores).mean():.3f}")
        print(f"K = {K:3}   divided: {found[0]}   not divided: {found[1]}")

# %% [markdown]
# ## What came out
#
# ```text
# K =   4   divided: largest 0.34, gradient 0.086   not divided: largest 0.51, gradient 0.071
# K =  16   divided: largest 0.35, gradient 0.087   not divided: largest 0.73, gradient 0.046
# K =  64   divided: largest 0.35, gradient 0.087   not divided: largest 0.86, gradient 0.026
# K = 256   divided: largest 0.37, gradient 0.086   not divided: largest 0.94, gradient 0.011
# ```
#
# With the division nothing depends on K. Without it, nearly the whole weight falls on one key as soon as vectors are
# long, at random, and the softmax is saturated: an eighth of the gradient is left, and the model can hardly learn to
# look elsewhere.
#
# 1. If √K is good, is K better? Guess the largest weight for K = 256 if the scores are divided by K.
# 2. A query that *does* have a reason: it is a copy of key 3. Which weight does key 3 get, for K = 4, 16, 64 and 256?

# %% [markdown]
# ## Answers
#
# **1. Then nobody can choose.** All weights are nearly 1/8 = 0.125, whatever the query says.
#
# ```python
# >>> q, k = rng.normal(size=(1000, 256)), rng.normal(size=(8, 256))
# >>> _, weights = attention(q / math.sqrt(256), k, k)
# >>> print(weights.max(axis=-1).mean().round(3))
# 0.137
#
# ```
#
# **2. It finds its key, the surer the longer the vectors are.** A vector's product with itself is about K, with another
# one about √K; divided by √K, that is √K against 1.
#
# ```python
# >>> for K in (4, 16, 64, 256):
# ...     k = np.random.default_rng(0).normal(size=(8, K))
# ...     _, weights = attention(k[3:4], k, k)
# ...     print(K, weights[0, 3].round(2))
# 4 0.79
# 16 0.89
# 64 1.0
# 256 1.0
#
# ```
