"""Scaled dot-product attention, from averages to masks and gradients."""

# %% [markdown]
# # Attention: an average that chooses its weights
#
# *Assignment 7 of 21 · 5 functions · about 2 h 30 min to write them*
#
# Here is a vector for "bank", whose four entries you may read as article, water, noun, and what is said about the noun:
# (0, −0.5, 2, 0). There is no water in it. But the text says "the river bank", and after one step of this lesson the
# vector is (0.05, 1.08, 1.19, 0): now it says water. How did it find out?
#
# So far, each position knows its token and its place in the text, and nothing about its neighbors. With **attention**,
# positions exchange information: each takes a weighted average of the vectors of other positions, and chooses the
# weights itself.
#
# ```text
#     positions             the     river    bank
#     "bank" chooses        0.1     0.6      0.3       weights that sum to 1
#     and gets              0.1 × vector of "the" + 0.6 × vector of "river" + 0.3 × its own
# ```
#
# ![A map of the whole model. Marked: attention, the panel on the right.](figures/map-attention.svg)
#
# (The panel on the right shows one attention; H is how many run side by side, in the next assignment.)
#
# The result has T positions, each an average over S positions; usually they are the same ones. In front of the last two
# axes, there can be any number of batch axes, written `...`.

# %%
import math

import numpy as np
from softmax import as_float, softmax, softmax_backward

# %% [markdown]
# ## `causal_average_matmul`
#
# *20 min, needs some thought*
#
# The simplest way to pass information on is a plain average: position t gets the average of all positions up to and
# including itself. The average must not include later ones: a language model has to predict the next token, so it must
# not see that token. This rule is called **causal**.
#
# $$out_t = \frac{1}{t + 1} \sum_{j=0}^{t} x_j$$
#
# As a loop over t, it reads like the formula. (The positions are the second-to-last axis of (..., T, D), which NumPy
# calls `axis=-2`.)
#
# ```python
# >>> x = np.array([[6.0, 0.0], [0.0, 2.0], [3.0, 1.0]])  # T = 3 positions, D = 2
# >>> np.array([x[: t + 1].mean(axis=-2) for t in range(3)])
# array([[6., 0.],
#        [3., 1.],
#        [3., 1.]])
#
# ```
#
# Write the same without a loop: a matrix product computes weighted sums of rows. Row t of `weights @ x` is the sum of
# the rows of `x`, each multiplied by its entry in row t of `weights`. So put the weights into a (T, T) matrix, a lower
# triangle whose rows sum to 1 (`np.tril` keeps the lower triangle of a matrix):
#
# ```text
#     1     0     0          position 0 sees itself
#     1/2   1/2   0          position 1 sees 0 and 1
#     1/3   1/3   1/3        position 2 sees 0, 1 and 2
# ```
#
# ```python
# >>> causal_average_matmul(x)
# array([[6., 0.],
#        [3., 1.],
#        [3., 1.]])
#
# ```
#
# A third way to get the same matrix leads to attention: start with scores that are all 0, put `-inf` above the
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
# Equal scores give equal weights. Attention uses other scores.

# %%
def causal_average_matmul(x):
    """Return for each position the mean of itself and all positions before it, as a matrix product.

        out = A x,   A[t, j] = 1 / (t + 1) if j ≤ t else 0

    Args:
        x: vectors, (..., T, D).

    Returns:
        The averages, same shape and dtype as `x` (float64 for integers).
    """
    raise NotImplementedError("attention.causal_average_matmul")


# %% [markdown]
# ## `causal_mask`
#
# *15 min, needs some thought*
#
# From here on, a position that collects information is a **query**, and one that it collects from is a **key**; the
# query *attends to* the key. A **mask** is a table of `True` and `False` with one row for each query and one column for
# each key. There are three conventions for its entries, and the wrong one often raises no error. You need only the
# first; the others matter when you read other code:
#
# | in the mask | means | used by | to convert to ours |
# |---|---|---|---|
# | `True` | *may* attend | *this course*; booleans in PyTorch's `F.scaled_dot_product_attention` | |
# | `True` | must *not* attend | booleans in PyTorch's `nn.MultiheadAttention` and `nn.Transformer` | `~mask` |
# | 0 and `-inf` | numbers to be *added* to the scores | floats in both | `mask == 0` |
#
# The causal mask is a lower triangle of `True`, *including* the diagonal: without it, the first position could not
# attend to anything.
#
# ```python
# >>> causal_mask(3)
# array([[ True, False, False],
#        [ True,  True, False],
#        [ True,  True,  True]])
#
# ```
#
# A model that writes text adds one or a few tokens at a time and keeps the keys of all earlier ones. Then the queries
# are the *last* positions: with 5 keys and 2 queries, positions 3 and 4. The triangle is in the lower *right* corner.
#
# ```python
# >>> causal_mask(2, 5)
# array([[ True,  True,  True,  True, False],
#        [ True,  True,  True,  True,  True]])
#
# ```
#
# (PyTorch's `is_causal=True` puts it in the upper left corner.)
#
# ![The words the, river, bank, was, green, as queries and as keys. From the last query, green, arrows lead to all keys;
# bars show the weights.](figures/causal-sentence.svg)

# %%
def causal_mask(n_queries, n_keys=None):
    """Return a mask that hides all later positions from each query (Vaswani et al. 2017, section 3.2.3).

        mask[i, j] = (j ≤ i + n_keys - n_queries)

    Args:
        n_queries: T. The queries are the last T of the S positions.
        n_keys: S. The default None means as many keys as queries.

    Returns:
        The mask, (T, S), boolean: True where query i may attend to key j.

    Raises:
        ValueError: if there are more queries than keys.
    """
    raise NotImplementedError("attention.causal_mask")


# %% [markdown]
# ## `padding_mask`
#
# *10 min, straightforward*
#
# Padding carries no meaning, so no query should attend to it, whatever its position.
#
# The input is one `True` or `False` per key, (B, S). The scores will have the shape (B, H, T, S): batch, H attentions
# side by side (the next assignment), queries, keys. Broadcasting aligns shapes from the right, so the two axes in the
# middle must be there, with length 1. An index `None` inserts such an axis: if `a` has the shape (2, 3), then
# `a[:, None]` has the shape (2, 1, 3).
#
# ```python
# >>> ids = np.array([[7, 4, 9], [5, 0, 0]])  # two texts, 0 is the padding
# >>> padding_mask(ids != 0).shape
# (2, 1, 1, 3)
# >>> padding_mask(ids != 0)[:, 0, 0]  # the row of each text
# array([[ True,  True,  True],
#        [ True, False, False]])
#
# ```
#
# Combine masks with `&`: `causal_mask(3) & padding_mask(ids != 0)` has the shape (2, 1, 3, 3), and a query attends only
# where both allow it.
#
# ![Four masks as tables with a tick where the query may attend: causal, causal with more keys than queries, padding
# (its single row repeated for every query), and causal and padding combined.](figures/masks.svg)

# %%
def padding_mask(keep):
    """Return a mask that hides padding from all queries and broadcasts to scores of shape (B, H, T, S).

        mask[b, 0, 0, j] = keep[b, j]

    Args:
        keep: boolean, (B, S), True where the key is a real token and False where it is padding.

    Returns:
        The mask, (B, 1, 1, S), boolean: True where every query of text b may attend to key j.
    """
    raise NotImplementedError("attention.padding_mask")


# %% [markdown]
# ## `attention`
#
# *1 h, needs some thought*
#
# So far, "query" and "key" have only been names for positions. In attention, each position computes three vectors from
# its own vector (in the next assignment; here they are given):
#
# - a query: what is this position looking for?
# - a key: what does this position contain, so that queries can find it?
# - a **value**: what does it contribute to the positions that attend to it?
#
# Queries and keys have K entries, and values have Kᵥ. The score of a query for a key is their **dot product**: multiply
# them entry by entry, and sum. It is large if both point in the same direction. Softmax turns each query's scores into
# **attention weights**, and the output is the average of the values with these weights (Vaswani et al. 2017, section
# 3.2.1, equation 1; K is called $d_k$ there, and in the messages of `headway check`). $k^\top$ is k with its last two
# axes exchanged, the transpose of each matrix of keys:
#
# $$\mathrm{attention}(q, k, v) = \mathrm{softmax}\!\left(\frac{q\, k^\top}{\sqrt{K}}\right) v$$
#
# ```text
#     q (..., T, K)  ─┐
#     k (..., S, K)  ─┴─> scores (..., T, S) ── softmax ─> weights (..., T, S) ─┐
#     v (..., S, Kᵥ) ───────────────────────────────────────────────────────────┴─> out (..., T, Kᵥ)
# ```
#
# In this example, the query matches the second of two keys better:
#
# ```python
# >>> q = np.array([[0.0, 2.0]])  # T = 1 query, K = 2
# >>> k = np.array([[1.0, 0.0], [0.0, 1.0]])  # S = 2 keys
# >>> v = np.array([[10.0, 0.0, 0.0], [0.0, 10.0, 20.0]])  # and their values, Kᵥ = 3
# >>> out, weights = attention(q, k, v)
# >>> weights.round(4)
# array([[0.1956, 0.8044]])
# >>> out.round(4)
# array([[ 1.9557,  8.0443, 16.0886]])
#
# ```
#
# By hand: the scores 0 and 2, divided by √2, are 0 and 1.4142; their softmax is 0.1956 and 0.8044. The first entry of
# the output is 0.1956 · 10.
#
# In a Python dictionary, a query either equals a key and you get its value, or you get an error. Here, every key
# matches to some degree, and you get a mixture of all values. Or think of a directed graph: an arrow, marked with a
# weight, leads from each key to each query that may attend to it.
#
# The idea came from translation. Bahdanau et al. (2015) let a network look back at all words of the source sentence for
# each word that it wrote, instead of squeezing the sentence into one vector. Their *additive attention* (appendix
# A.1.2) computes the score as $\tanh(q\, W_q + k\, W_k) \cdot u$ with two learned matrices and a learned vector u.
# Vaswani et al. chose dot products because a single matrix product computes all of them, which is much faster in
# practice (section 3.2.1).
#
# Back to the bank, with K = 4 and vectors made up by hand. "bank" looks for water above all, and "river" has it:
#
# ```python
# >>> bank = np.array([[0.0, 1.3, 1.1, 1.0]])  # the query of "bank"
# >>> keys = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0], [0.0, 0.0, 2.0, 0.0]])  # of "the", "river", "bank"
# >>> values = np.array([[0.5, 0.0, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0], [0.0, -0.5, 2.0, 0.0]])
# >>> out, weights = attention(bank, keys, values)
# >>> weights.round(1)
# array([[0.1, 0.6, 0.3]])
# >>> out.round(2)
# array([[0.05, 1.08, 1.19, 0.  ]])
#
# ```
#
# To transpose, use `k.swapaxes(-1, -2)`, which swaps the last two axes; `k.T` would reverse *all* axes.
#
# ### Why divide by √K
#
# A dot product is a sum of K products, so its size grows with K. By how much? The **variance** of some numbers is the
# mean of their squared distances from their mean. Its square root is the standard deviation. Let the entries of q and k
# be drawn independently with mean 0 and variance 1. Then each product of two entries has mean 0 and variance 1, too
# (the mean of a product of independent numbers is the product of their means), and the variances of independent numbers
# add up: the dot product has variance K. For K = 64, its standard deviation is 8,
# so scores of 8 and −8 are common. The softmax of such a row gives one key most of the weight, and its gradient is
# small (section 3.2.1 and its footnote 4). Dividing by √K brings the variance back to 1.
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
# ![The weights of a query for five random keys with K = 1024, as bars: divided by √K, each key has some weight; not
# divided, one key has all of it.](figures/scaling.svg)
#
# K is the length of *one query vector that the function receives*, the last axis of `q`. With several attentions side
# by side, it is less than D. Compute the root with `math.sqrt`: a Python float keeps float32 scores in float32, whereas
# `np.sqrt(64)`, a NumPy float64, makes them float64.
#
# ### How to mask
#
# A hidden key must get the weight 0, and the rest of the row must still sum to 1. So change the *scores*, before the
# softmax: a hidden score becomes `-inf`, and its exponential is exactly 0. `np.where(condition, a, b)` takes each entry
# from `a` where the condition is True, and from `b` elsewhere; `a` and `b` may also be single numbers:
#
# ```python
# >>> np.where(np.array([True, True, False]), np.array([1.0, 2.0, 7.0]), -np.inf)
# array([  1.,   2., -inf])
#
# ```
#
# But `np.where` broadcasts all three, so a mask that is too large enlarges the scores without an error. Call
# `np.broadcast_to(mask, scores.shape)` first: it raises a ValueError if the mask cannot be stretched to the shape of
# the scores.
#
# This is what other fill values for a hidden score do, next to scores of 1 and 2:
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
# - `-1e9`, which a lot of code uses, works here. But it does not fit into float16, and a row in which *everything* is
#   hidden becomes an average of all the hidden values.
# - `-3.0` is not low enough. If all other scores are far below 0, even `-100.0` is not.
# - `1e-9` hides nothing; it is probably a typo for `-1e9`. Multiplying the scores by zeros and ones hides nothing
#   either: 0 is an ordinary score.
# - Setting individual weights to 0 *after* the softmax leaves rows that no longer sum to 1.
#
# In a text that is all padding, a query has nothing to attend to. All its scores are `-inf`, and softmax returns `nan`,
# because (-inf) - (-inf) is undefined. Such a row should get weights of 0, and so an output of 0. Do not wait for the
# `nan`: turning every `nan` into 0 afterwards would also hide those that come from the inputs. Treat these rows
# separately:
#
# 1. Find them before the softmax: `mask.any(axis=-1, keepdims=True)` is False for them.
# 2. Put any finite score into them (`np.where`).
# 3. After the softmax, set all their weights to 0.
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
# Finally, if all scores are equal, attention with the causal mask is the causal average:
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
# See it: `headway plot attention-mask` and `headway plot attention-queries`. (Not written yet? Add `--solution`.) They
# continue the example from the top: "the river bank was green".
#
# ![Four tables for the words the, river, bank, was, green: scores, scores after the mask, weights, and output. The row
# of bank has the weights 0.10, 0.61 and 0.29.](figures/attention-steps.svg)
#
# ![The weights of each of the five words as bars: each word is a query with its own distribution over the keys before
# it.](figures/attention-queries.svg)

# %%


def attention(q, k, v, mask=None):
    """Return scaled dot-product attention and its weights (Vaswani et al. 2017, section 3.2.1, equation 1).

        weights = softmax(q kᵀ / √K, masked),   out = weights v

    Args:
        q: queries, (..., T, K).
        k: keys, (..., S, K), with the batch axes of `q`.
        v: values, (..., S, Kᵥ), with the batch axes of `q`.
        mask: boolean, True where a query may attend to a key; any shape that broadcasts to (..., T, S). None means
            that every query may attend to every key.

    Returns:
        out: (..., T, Kᵥ), for each query the weighted average of the values.
        weights: (..., T, S), the weights of that average. Each row sums to 1, and is exactly 0 where the mask is
            False. A query that may attend to nothing has weights 0 and output 0.
        Both are in the dtype of the inputs (float64 for integers).

    Raises:
        TypeError: if the mask is not boolean. (Masks of 0 and -inf, or of 0 and 1, are other conventions.)
        ValueError: if the mask does not broadcast to (..., T, S).
    """
    raise NotImplementedError("attention.attention")


# %% [markdown]
# ### The same function, written as einsum
#
# `np.einsum` names the axes of its arrays by letters, as a formula does, and sums over every letter that is missing to
# the right of the arrow. Let d count the K entries of a query and a key. Then the scores
# $z_{ts} = \sum_d q_{td}\, k_{sd}$ are `"td,sd->ts"`, and nothing has to be transposed. Three dots stand for any axes
# in front.
#
# ```python
# >>> def attention_by_einsum(q, k, v):
# ...     scores = np.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1])
# ...     return np.einsum("...ts,...sv->...tv", softmax(scores), v)
# >>> rng = np.random.default_rng(0)
# >>> q, k, v = rng.normal(size=(2, 5, 8)), rng.normal(size=(2, 7, 8)), rng.normal(size=(2, 7, 6))
# >>> np.allclose(attention_by_einsum(q, k, v), attention(q, k, v)[0])
# True
#
# ```

# %% [markdown]
# ## `attention_backward`
#
# *45 min, needs pen and paper*
#
# You know the gradients of all the steps: two matrix products with a softmax between them. Write $z$ for the scores and
# $w$ for the weights:
#
# | step | forward | shapes |
# |---|---|---|
# | 1 | $z = q\, k^\top / \sqrt{K}$ | (T, K) and (K, S) give (T, S) |
# | 2 | $w = \mathrm{softmax}(z)$, row by row | (T, S) |
# | 3 | $out = w\, v$ | (T, S) and (S, Kᵥ) give (T, Kᵥ) |
#
# Go back from step 3 to step 1. `dout` (..., T, Kᵥ) is the gradient with respect to `out`. For the products, use the
# rule from `gradients`. The left factor gets the upstream gradient times the right factor, transposed; the right factor
# gets the left one, transposed, times the upstream gradient. Write the shape below each array. If all sizes are
# different, only one order fits.
#
# **Step 3.** The factors are w and v. Write down dw and dv.
#
# **Step 2.** Each row of w is the softmax of the same row of z. You have written the function that turns dw into dz.
#
# **Step 1.** Here k was transposed, multiplied by q, and the product divided by √K. Undo this in reverse order. By what
# do you have to multiply dz to get the gradient of $q\, k^\top$? Then use the rule again, with the factors q and
# $k^\top$: it gives dq and the gradient of $k^\top$. Transpose the latter to get dk. (To transpose a product, transpose
# both factors and exchange them.)
#
# That makes one line for each of the five gradients in this picture:
#
# ```text
#     forward     q ──┐                           v ──┐
#                     ├──> z ── softmax ──> w ────────┴──> out
#                 k ──┘
#
#     backward    dq <─┐                          dv <─┐
#                      ├── dz <── softmax ── dw <──────┴── dout
#                 dk <─┘
# ```
#
# The mask is not an argument, because the weights already include it. A hidden weight is 0, and so is every entry of
# the Jacobian $w_i (\delta_{ij} - w_j)$ that belongs to it. So the gradient of a hidden score is 0, and so are all
# gradients in a row that sees nothing.
#
# In this example, the loss is the first entry of the output:
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
# To increase this entry, the query should move towards the first key and away from the second, in the direction of
# `dq`.

# %%
def attention_backward(dout, q, k, v, weights):
    """Return the gradients with respect to the queries, keys and values.

        dq = dL/dq,   dk = dL/dk,   dv = dL/dv,   where L is the loss

    Args:
        dout: upstream gradient, with respect to `out`, (..., T, Kᵥ).
        q: queries, (..., T, K).
        k: keys, (..., S, K), with the batch axes of `q`.
        v: values, (..., S, Kᵥ), with the batch axes of `q`.
        weights: the weights that `attention(q, k, v, mask)` returned, (..., T, S).

    Returns:
        dq (..., T, K), dk (..., S, K) and dv (..., S, Kᵥ), in the dtype of the inputs.
    """
    raise NotImplementedError("attention.attention_backward")


# %% [markdown]
# ## On paper
#
# 1. Take one query and two keys, with K = Kᵥ = 1: q = (log 3), the keys are 1 and 0, and the values 4 and 0. Compute
#    the scores, the weights and the output. Then go back with dout = 1: what are dv, dw, dz, dq and dk?
# 2. All values are the same vector. What are dq and dk, whatever dout is? Why?
# 3. There are four positions and a causal mask, and only the row of dout that belongs to position 1 is not 0. Which
#    rows of dq, dk and dv are not 0?
# 4. The product of step 3 is `"ts,sv->tv"` as an einsum. Which einsum of dout and w computes dv, and which one of dout
#    and v computes dw?

# %% [markdown]
# ## Answers on paper
#
# **1. dv = (3/4, 1/4), dw = (4, 0), dz = (3/4, −3/4), dq = 3/4, dk = (3/4 log 3, −3/4 log 3).** The scores are log 3
# and 0, because √K is 1; the weights are 3/4 and 1/4, and the output is 3. The Jacobian of the softmax is 3/16 on the
# diagonal and −3/16 elsewhere, so dz is 4 · 3/16 and −4 · 3/16. The keys are 1 and 0, so dq is the first of these. And
# 3/4 · log 3 is 0.824.
#
# ```python
# >>> q, k, v = np.array([[np.log(3.0)]]), np.array([[1.0], [0.0]]), np.array([[4.0], [0.0]])
# >>> out, weights = attention(q, k, v)
# >>> weights.round(4), out.round(4)
# (array([[0.75, 0.25]]), array([[3.]]))
# >>> for gradient in attention_backward(np.array([[1.0]]), q, k, v, weights):
# ...     print(gradient.ravel().round(4))
# [0.75]
# [ 0.824 -0.824]
# [0.75 0.25]
#
# ```
#
# **2. They are 0.** An average of equal vectors is that vector, whatever the weights are. In the steps: each row of dw
# then has equal entries, and the softmax turns such a row into zeros.
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> q, k, dout = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
# >>> v = np.tile([5.0, -1.0], (4, 1))
# >>> _, weights = attention(q, k, v)
# >>> dq, dk, dv = attention_backward(dout, q, k, v, weights)
# >>> np.allclose(dq, 0.0), np.allclose(dk, 0.0), np.allclose(dv, 0.0)
# (True, True, False)
#
# ```
#
# **3. Row 1 of dq, and rows 0 and 1 of dk and dv.** The output of position 1 depends on its own query only, and on the
# keys and values that it may attend to.
#
# ```python
# >>> v = rng.normal(size=(4, 2))
# >>> _, weights = attention(q, k, v, mask=causal_mask(4))
# >>> for gradient in attention_backward(dout * (np.arange(4) == 1)[:, None], q, k, v, weights):
# ...     print(np.flatnonzero(np.abs(gradient).max(axis=-1) > 1e-9))
# [1]
# [0 1]
# [0 1]
#
# ```
#
# **4. `"ts,tv->sv"` and `"tv,sv->ts"`.** Exchange the letters of the factor with those of the output.
#
# ```python
# >>> _, _, dv = attention_backward(dout, q, k, v, weights)
# >>> np.allclose(np.einsum("ts,tv->sv", weights, dout), dv)
# True
#
# ```

# %% [markdown]
# ## What could go wrong
#
# The report uses these words when it recognizes a mistake.
#
# - `causal_average_matmul`: **one diagonal too many: every position sees the next one.** A model that sees the next
#   token does not need to learn to predict it.
# - `causal_mask`: **the mask was inverted: True where a query must not attend.** Some libraries mark the hidden keys
#   with True. Here True means that the query may attend to the key.
# - `attention`: **the scores were not divided by √d_k.** The dot products of longer vectors are larger, and the softmax
#   of large scores puts nearly all weight on a single key.
# - `attention`: **softmax was taken over the wrong axis (the queries).** The weights of each key then sum to 1, when
#   those of each query should.
# - `attention_backward`: **the sum over the row is missing from the backward pass of the softmax.** Raising one score
#   lowers all other weights of the row. The sum accounts for that.

# %% [markdown]
# ## Try it
#
# Take 1,000 random queries and 8 random keys, for a growing width K. All vectors are noise, so no query has a reason to
# prefer any key. Compute the weights once as `attention` does, and once with queries that were multiplied by √K
# beforehand, which undoes the division.
#
# **Guess first.** How large is the largest of a query's eight weights, on average? And how much smaller is the gradient
# of the scores without the division?
#
# Run it: `headway experiment attention`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    for K in (4, 16, 64, 256):
        q, k, v = rng.normal(size=(1000, K)), rng.normal(size=(8, K)), np.zeros((8, 1))
        dweights = rng.normal(size=(1000, 8))
        results = []
        for factor in (1.0, math.sqrt(K)):
            _, weights = attention(q * factor, k, v)
            dscores = softmax_backward(dweights, weights)
            results.append(f"largest {weights.max(axis=-1).mean():.2f}, gradient {np.abs(dscores).mean():.3f}")
        print(f"K = {K:3}   divided: {results[0]}   not divided: {results[1]}")


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
# With the division, the results hardly depend on K. Without it, one random key gets nearly all the weight when vectors
# are long. For K = 256, the gradient is only an eighth of what it is with the division, so the model would be slow to
# learn to attend to other keys.
#
# 1. If √K is good, is K better? Guess the largest weight for K = 256 if the scores are divided by K.
# 2. Now take a query that *does* have a reason to prefer a key: it is a copy of key 3. What weight does key 3 get for
#    K = 4, 16, 64 and 256?

# %% [markdown]
# ## Answers
#
# **1. Then these queries hardly matter.** All their weights are nearly 1/8 = 0.125. Even a copy of a key gets a score
# of only about 1 for that key, however large K is, and about 0 for the others: a weight of about e / (e + 7) = 0.28.
#
# ```python
# >>> q, k = rng.normal(size=(1000, 256)), rng.normal(size=(8, 256))
# >>> _, weights = attention(q / math.sqrt(256), k, k)
# >>> print(weights.max(axis=-1).mean().round(2))
# 0.14
# >>> _, weights = attention(k / math.sqrt(256), k, k)  # each query is a copy of a key
# >>> print(np.diag(weights).mean().round(2))
# 0.28
#
# ```
#
# **2. A large one, and a larger one for a larger K.** The dot product of a vector with itself is about K; with another
# vector, it is about √K in size. Divided by √K, these are √K and 1.
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

# %% [markdown]
# ## In your own GPT
#
# The bigram model sees only one token. With attention, the last position can use every token before it: if the first of
# five vectors changes, so does the last output.
#
# ```python
# >>> x = np.random.default_rng(0).normal(size=(5, 4))
# >>> other = x.copy()
# >>> other[0] += 1.0
# >>> outputs = [attention(rows, rows, rows, causal_mask(5))[0] for rows in (x, other)]
# >>> np.isclose(outputs[0][-1], outputs[1][-1])
# array([False, False, False, False])
#
# ```

# %% [markdown]
# ## Going faster
#
# Skip this until your code is correct. The softmax takes much of the time of `attention`. For many short rows, indexing
# with `argmax` is usually faster than `max`, and a product with a vector of ones is faster than `sum`:
#
# ```python
# >>> rows = np.array([[1.0, 5.0, 2.0], [4.0, 0.0, 3.0]])
# >>> rows[np.arange(2), rows.argmax(axis=-1)], rows.max(axis=-1)
# (array([5., 4.]), array([5., 4.]))
# >>> rows @ np.ones(3), rows.sum(axis=-1)
# (array([8., 7.]), array([8., 7.]))
#
# ```
