"""Llama: rotary positions, gated feed-forward networks and shared keys and values, and the model made of them."""

# %% [markdown]
# # Llama: the same model with other parts
#
# Most models that came after GPT-2 have its plan: embed the tokens, add the results of N blocks to the residual stream,
# compute logits. The parts have changed. The first Llama has most of the new ones (Touvron et al. 2023, section 2.2);
# shared keys and values came with Llama 2. Many other open models have the same parts.
#
# ```text
#                             GPT-2                        Llama
#     where a token is        a vector for each position   queries and keys are rotated,
#                             is added, once               in every block
#     norm                    layer norm                   RMS norm
#     feed-forward network    D -> 4D, GELU, 4D -> D       two products D -> F, of which one is
#                                                          a gate for the other; F -> D
#     attention               H heads of queries,          H heads of queries,
#                             H of keys and values         G of keys and values, which are shared
#     biases                  in all linear layers         none
#                             but the output head
# ```
#
# ![A map of the whole model. Marked: the embeddings, which lose their positions, the norms, both halves of the block,
# and in each head the rotation of queries and keys, and the G heads of k and v.](figures/map-llama.svg)
#
# You wrote the RMS norm in the assignment `layernorm`. Here you write the other parts, each with its backward pass.
# Then you build the whole model from them, translate the configuration and the tensors of published files into its own,
# and let it write.

# %%
import math
import sys
from dataclasses import dataclass

import numpy as np
from attention import attention, attention_backward, causal_mask
from blocks import prefixed, subset
from embeddings import embed_tokens, embed_tokens_backward
from ffn import linear, linear_backward
from generation import next_token_probs, sample
from layernorm import rmsnorm, rmsnorm_backward
from multihead import merge_heads, split_heads
from softmax import as_float

# %% [markdown]
# ## `rope`
#
# GPT-2 adds a learned vector for each position. That has two weaknesses. There is no vector for a position beyond the
# last one of training. And what attention mostly needs is a *distance*, such as "the token before this one". With a
# vector for each position, every distance has to be learned again for each position.
#
# The **rotary position embedding** (RoPE) adds nothing. It turns the queries and keys by an angle that grows with the
# position (Su et al. 2021, section 3.2). Begin with vectors of two entries, (a, b), as arrows in a plane. To turn an
# arrow by the angle $\theta$ is to compute
#
# $$(a \cos\theta - b \sin\theta,\;\; a \sin\theta + b \cos\theta)$$
#
# With one radian for each position (a full turn is 2π, about 6.28), the same arrow (1, 0) becomes:
#
# ```python
# >>> rope(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), np.array([0, 1, 2])).round(4)
# array([[ 1.    ,  0.    ],
#        [ 0.5403,  0.8415],
#        [-0.4161,  0.9093]])
#
# ```
#
# ### Only the distance matters
#
# A score is the product q · k of two arrows. It depends on their lengths and on the angle between them. Now turn the
# query by its position m and the key by its position n. The lengths stay the same, and the angle between them changes
# by m − n radians. If both positions grow by 100, both arrows turn further by the same angle, and the product stays the
# same:
#
# ```python
# >>> q, k = np.array([[1.0, 0.0]]), np.array([[0.6, 0.8]])
# >>> def score(m, n):
# ...     return round(float((rope(q, np.array([m])) * rope(k, np.array([n]))).sum()), 4)
# >>> score(5, 3), score(6, 4), score(105, 103)  # two positions apart
# (0.4777, 0.4777, 0.4777)
# >>> score(5, 4), score(5, 5), score(3, 5)  # other distances
# (0.9974, 0.6, -0.9771)
#
# ```
#
# ![A query and a key as arrows. At the positions 5 and 3, 6 and 4, 8 and 6 the arrows point elsewhere, but the angle
# between them is the same; at 8 and 3 it is another one.](figures/rope-distance.svg)
#
# In formulas: turning both arrows back by n radians does not change their product, so it is the product of k itself and
# of q turned by m − n.
#
# The values are *not* turned. The distance decides how much a query attends to a key. What it then receives should be
# the same from everywhere.
#
# ### Fast and slow pairs
#
# One pair cannot tell a distance of 1 from one of 7, which is nearly a full turn more. So a vector of K entries is cut
# into K/2 pairs, and each pair i has its own speed, like the hands of a clock:
#
# $$\mathrm{angle}_{t,i} = \mathrm{position}_t \cdot \mathrm{base}^{-2i/K}$$
#
# These are the angles of the sinusoidal positions in the assignment `embeddings`. Pair 0 turns by one radian from each
# position to the next, and the last pair hardly at all. With K = 4 the speeds are 1 and 0.01:
#
# ```python
# >>> rope(np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]), np.array([1, 100])).round(4)
# array([[ 0.5403,  1.    ,  0.8415,  0.01  ],
#        [ 0.8623,  0.5403, -0.5064,  0.8415]])
#
# ```
#
# ![Four pairs at the positions 0 to 8, as arrows: the first pair turns by one radian at each step, the fourth by a
# thousandth.](figures/rope-pairs.svg)
#
# Models for longer texts take a larger base, which makes the slow pairs slower still: 10,000 in Llama 2, 500,000 in
# Llama 3 (Grattafiori et al. 2024, section 3.2).
#
# ### Which entries form a pair?
#
# Look at the example again: the two entries of pair 0 are entry 0 and entry 2. Here, as in Hugging Face's models, entry
# i of the first *half* is turned together with entry i of the second half. In the paper and in Meta's own program the
# pairs are *interleaved*: the entries 0 and 1, then 2 and 3. Written with yours, this form is
#
# ```python
# >>> def rope_interleaved(x, positions):
# ...     halves = np.concatenate([x[..., ::2], x[..., 1::2]], axis=-1)  # 0, 2, 4, …, and then 1, 3, 5, …
# ...     first, second = np.split(rope(halves, positions), 2, axis=-1)
# ...     return np.stack([first, second], axis=-1).reshape(x.shape)
# >>> rope_interleaved(np.array([[1.0, 0.0, 1.0, 0.0]]), np.array([1])).round(4)
# array([[0.5403, 0.8415, 1.    , 0.01  ]])
#
# ```
#
# Neither form is better. But the parameters of a trained model fit only one of them, and with the other the model
# writes nonsense, without any error. To convert a model, reorder the columns of `W_q` and `W_k` within each head. The
# scores are then the same:
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> x, W_q, W_k = rng.normal(size=(5, 6)), rng.normal(size=(6, 4)), rng.normal(size=(6, 4))  # one head, K = 4
# >>> at, order = np.arange(5), [0, 2, 1, 3]
# >>> interleaved = rope_interleaved(x @ W_q, at) @ rope_interleaved(x @ W_k, at).T
# >>> halves = rope(x @ W_q[:, order], at) @ rope(x @ W_k[:, order], at).T
# >>> np.allclose(halves, interleaved)
# True
# >>> np.allclose(rope(x @ W_q, at) @ rope(x @ W_k, at).T, interleaved)
# False
#
# ```
#
# Two things to watch out for:
#
# - **Digits.** At position 100,000 the first angle is 100,000 radians. float32 has about seven digits, so of such an
#   angle only the first two digits after the point are right. Compute the angles in float64, and convert their cosines
#   and sines to the dtype of x.
# - **The old entries.** Both lines of the rotation need the *old* a and b. If you write the new a into the array first,
#   the second line uses it by mistake.


# %%
def _cos_sin(positions, size, base, dtype):
    """Return the cosines and sines of the angles, each (T, K/2)."""
    if size % 2 != 0:
        raise ValueError(f"the entries are rotated in pairs, but a vector has {size} of them")
    pairs = np.arange(size)[: size // 2]  # (K/2,), the numbers i
    rates = float(base) ** (-2 * pairs / size)  # (K/2,), the angle from one position to the next
    angles = np.asarray(positions)[:, None] * rates  # (T, K/2), in float64: large angles need all digits
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def _rotate(x, cos, sin):
    """Rotate the pairs of entries i and i + K/2."""
    first, second = np.split(x, 2, axis=-1)  # each (..., T, K/2)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def rope(x, positions, base=10000.0):
    """Rotate pairs of entries by angles that grow with the position (Su et al. 2021, section 3.2.2).

        angle[t, i] = positions[t] · base^(-2i/K),   i from 0 to K/2 - 1
        out[..., t, i]       = x[..., t, i] cos(angle[t, i]) - x[..., t, i + K/2] sin(angle[t, i])
        out[..., t, i + K/2] = x[..., t, i] sin(angle[t, i]) + x[..., t, i + K/2] cos(angle[t, i])

    Args:
        x: queries or keys, (..., T, K). Integers are computed in float64.
        positions: integers, (T,), the position of each row of `x`, in any order.
        base: the number whose powers are the angles per position.

    Returns:
        (..., T, K), in the dtype of `x`.

    Raises:
        ValueError: if K is odd.
    """
    x = as_float(x)
    cos, sin = _cos_sin(positions, x.shape[-1], base, x.dtype)
    return _rotate(x, cos, sin)


# %% [markdown]
# ## `rope_backward`
#
# There is nothing to learn in a rotation, but gradients have to go back through it. Take one pair (a, b) and its angle
# $\theta$, and ask as in the assignment `ffn`:
#
# ```text
#     out_a = a cos θ - b sin θ
#     out_b = a sin θ + b cos θ
#
#     where is a?     in out_a with the factor  cos θ,   in out_b with the factor  sin θ
#     where is b?     in out_a with the factor  ?        in out_b with the factor  ?
# ```
#
# Multiply each factor by its upstream gradient, and add: da = dout_a cos θ + dout_b sin θ. Write down db. Then compare
# your two lines with those of the forward pass. They describe a rotation, too: by which angle?
#
# (As matrices: out = R x, so dx = Rᵀ dout. The transpose of a rotation is the rotation that undoes it.)
#
# The gradient of the first entry alone, at position 1:
#
# ```python
# >>> rope_backward(np.array([[1.0, 0.0]]), np.array([1])).round(4)
# array([[ 0.5403, -0.8415]])
#
# ```
#
# Neither x nor the output is needed: the angles follow from the positions and the base.


# %%
def rope_backward(dout, positions, base=10000.0):
    """Return the gradient of `rope(x, positions, base)` with respect to `x`, which does not depend on `x`.

    Args:
        dout: gradient with respect to the output, (..., T, K).
        positions: integers, (T,), those of the forward pass.
        base: that of the forward pass.

    Returns:
        Gradient with respect to `x`, (..., T, K), in the dtype of `dout`.
    """
    cos, sin = _cos_sin(positions, dout.shape[-1], base, dout.dtype)
    return _rotate(dout, cos, -sin)


# %% [markdown]
# ## `silu`
#
# Llama's activation is a close relative of GELU. GELU multiplies x by a gate made of the normal distribution; the
# **SiLU** (sigmoid linear unit) takes the sigmoid $\sigma$ of x itself as the gate:
#
# $$\mathrm{silu}(x) = x\, \sigma(x) = \frac{x}{1 + e^{-x}}$$
#
# (Hendrycks and Gimpel 2016, section 2.) It is also called swish. Its gate opens more slowly than that of GELU:
#
# ```python
# >>> silu(np.array([-10.0, -3.0, -1.0, 0.0, 1.0, 3.0, 10.0])).round(4)
# array([-5.0000e-04, -1.4230e-01, -2.6890e-01,  0.0000e+00,  7.3110e-01,
#         2.8577e+00,  9.9995e+00])
#
# ```
#
# Taken literally, the formula overflows where x is very negative: `np.exp(1000.0)` is infinite. The result is still
# right, because x divided by infinity is 0, but NumPy warns. `np.exp(-np.abs(x))` never overflows. How can you write
# the sigmoid with it, for positive and for negative x?


# %%
def _sigmoid(x):
    """Return 1 / (1 + exp(-x)), without an exponential of a positive number, which could overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def silu(x):
    """Apply the sigmoid linear unit, element by element (Hendrycks and Gimpel 2016, section 2).

        silu(x) = x σ(x) = x / (1 + exp(-x))

    Args:
        x: any shape. Integers are computed in float64.

    Returns:
        Same shape and dtype as `x`.
    """
    x = as_float(x)
    return x * _sigmoid(x)


# %% [markdown]
# ## `silu_backward`
#
# Each entry stands alone, and SiLU is a product of x and the gate σ(x). So use the product rule, as for GELU:
#
# - What is the derivative of σ? You found it on paper in the assignment `ffn` (question 2): it is written with σ alone.
# - The product rule has two terms. In the first one x is replaced by its derivative, in the second one the gate is.
#
# At x = 1, your numbers should be:
#
# | σ | σ′ | first term | second term | derivative of silu |
# |---|---|---|---|---|
# | 0.7311 | 0.1966 | 0.7311 | 0.1966 | 0.9277 |
#
# ```python
# >>> silu_backward(np.ones(5), np.array([-3.0, -1.0, 0.0, 1.0, 3.0])).round(4)
# array([-0.0881,  0.0723,  0.5   ,  0.9277,  1.0881])
#
# ```


# %%
def silu_backward(dout, x):
    """Return the gradient of `silu(x)`.

    Args:
        dout: gradient with respect to the output, same shape as `x`.
        x: input of the forward pass, any shape.

    Returns:
        Gradient with respect to `x`, same shape as `x`, in the dtype of the inputs.
    """
    gate = _sigmoid(x)
    return dout * (gate + x * gate * (1 - gate))


# %% [markdown]
# ## `swiglu`
#
# In `ffn`, the activation looks at one number and decides how much of *this* number passes. A **gated linear unit**
# computes two numbers for each feature from x, with two matrices. One is the gate, and decides how much of the other
# passes (Dauphin et al. 2017, section 2). With SiLU at the gate, this is called **SwiGLU** (Shazeer 2020, section 2):
#
# $$\mathrm{swiglu}(x) = \big(\mathrm{silu}(x W_{gate}) \cdot (x W_{up})\big)\, W_{down}$$
#
# The dot multiplies entry by entry.
#
# | step | shape |
# |---|---|
# | `x` | (..., D) |
# | gate g, `W_gate` is (D, F) | (..., F) |
# | the other product u, `W_up` is (D, F) | (..., F) |
# | hidden: h = silu(g) · u | (..., F) |
# | out, `W_down` is (F, D) | (..., D) |
#
# A third matrix costs parameters. To have as many as before, F is about 8/3 D instead of 4 D: both forms then have 8 D²
# parameters. There are no biases.
#
# ```python
# >>> params = {"W_gate": np.array([[1.0, -1.0]]), "W_up": np.array([[2.0, 2.0]]), "W_down": np.array([[1.0], [10.0]])}
# >>> out, cache = swiglu(np.array([[1.0], [0.0]]), params)
# >>> out.round(4)
# array([[-3.9167],
#        [ 0.    ]])
#
# ```
#
# By hand, for the first row: g is (1, −1) and u is (2, 2). SiLU turns g into (0.7311, −0.2689), so h is (1.4621,
# −0.5379), and 1.4621 · 1 − 0.5379 · 10 = −3.9167. Both features have the same u, but their gates differ.


# %%
def swiglu(x, params):
    """Apply the gated feed-forward network of Llama (Shazeer 2020, section 2).

        out = (silu(x W_gate) · (x W_up)) W_down,   where · multiplies entry by entry

    Args:
        x: (..., D).
        params: `W_gate` (D, F), `W_up` (D, F), `W_down` (F, D).

    Returns:
        out: (..., D), in the dtype of the inputs.
        cache: what `swiglu_backward` needs; its contents are up to you.
    """
    gate = linear(x, params["W_gate"], None)  # (..., F)
    up = linear(x, params["W_up"], None)  # (..., F)
    opened = silu(gate)
    hidden = opened * up
    out = linear(hidden, params["W_down"], None)  # (..., D)
    return out, {"x": x, "params": dict(params), "gate": gate, "up": up, "opened": opened, "hidden": hidden}


# %% [markdown]
# ## `swiglu_backward`
#
# Only one step is new: the product h = s · u, where s = silu(g). Entry by entry, it is a product of two numbers:
#
# ```text
#     h = s u
#
#     where is s?     in h, with the factor  u      ds = dh u
#     where is u?     in h, with the factor  ?      du = ?
# ```
#
# For all other steps you have backward functions. Fill in the table on paper:
#
# | step, from the end | gets | needs from the cache | gives |
# |---|---|---|---|
# | third linear layer | `dout` (..., D) | h and `W_down` | dh (..., F), `W_down` |
# | product | dh | s, u | ds, du |
# | SiLU | ds | ? | dg |
# | first linear layer | dg | ? | a gradient of x, `W_gate` |
# | second linear layer | ? | ? | ?, `W_up` |
#
# The vector x was used twice. What happens to its two gradients?
#
# ```python
# >>> dx, grads = swiglu_backward(np.array([[1.0], [0.0]]), cache)
# >>> dx.round(4)
# array([[-3.508],
#        [ 0.   ]])
# >>> for name in params:
# ...     print(name, grads[name].round(4).tolist())
# W_gate [[1.8553, 1.4466]]
# W_up [[0.7311, -2.6894]]
# W_down [[1.4621], [-0.5379]]
#
# ```
#
# The second row of `dout` is 0, so everything here comes from the first row.


# %%
def swiglu_backward(dout, cache):
    """Return the gradients of `swiglu`.

    Args:
        dout: gradient with respect to the output, (..., D).
        cache: the cache that `swiglu` returned. It is not changed: a second call returns the same result.

    Returns:
        dx: gradient with respect to `x`, (..., D), in the dtype of the inputs.
        grads: dict with the same keys as `params`; each gradient has the shape and dtype of its parameter.
    """
    x, params, grads = cache["x"], cache["params"], {}
    dhidden, grads["W_down"], _ = linear_backward(dout, cache["hidden"], params["W_down"])
    dgate = silu_backward(dhidden * cache["up"], cache["gate"])  # (..., F)
    dup = dhidden * cache["opened"]  # (..., F)
    dx_gate, grads["W_gate"], _ = linear_backward(dgate, x, params["W_gate"])
    dx_up, grads["W_up"], _ = linear_backward(dup, x, params["W_up"])
    return dx_gate + dx_up, grads


# %% [markdown]
# ## `grouped_query_attention`
#
# When a model writes, it keeps the keys and values of all earlier positions (the assignment `generation`). For a long
# text this cache is large, and all of it has to be read for every new token. Are H different sets of keys and values
# needed? In **multi-query attention**, all heads share a single one (Shazeer 2019, section 3), and the model becomes
# slightly worse. **Grouped-query attention** lies in between: there are G heads of keys and values, and H / G
# neighbouring heads of queries share each of them (Ainslie et al. 2023, section 2.2).
#
# ![Six heads of queries. On the left, each has keys and values of its own. In the middle, three neighbours share one
# of two heads of keys and values. On the right, all six share a single one.](figures/shared-heads.svg)
#
# The largest model of Llama 3 has H = 128 and G = 8. Here is the size of the cache of the smallest one, with 32 blocks,
# K = 128, two bytes for each number, and a text of 8,192 tokens:
#
# ```python
# >>> def cache_in_gib(n_kv_heads):
# ...     return 32 * 2 * n_kv_heads * 128 * 2 * 8192 / 2**30  # blocks, keys and values, heads, K, bytes, tokens
# >>> cache_in_gib(32), cache_in_gib(8)  # a head of keys for each of the 32 heads of queries; G = 8
# (4.0, 1.0)
#
# ```
#
# With G = H this is the attention that you know, and with G = 1 multi-query attention. The computation:
#
# ```text
#     x (B, T, D)  ── W_q, split ──>  (B, H, T, K)  ── rope ──>  q (B, H, T, K)
#                  ── W_k, split ──>  (B, G, T, K)  ── rope, repeat ──>  k (B, H, T, K)
#                  ── W_v, split ──>  (B, G, T, K)  ── repeat ──>  v (B, H, T, K)
#     q, k, v  ── attention ──>  (B, H, T, K)  ── merge ──>  (B, T, H K)  ── W_o ──>  out (B, T, D)
# ```
#
# Watch the order of the copies. Query head h uses the keys of head h // (H / G), so the copies of one head stand next
# to each other. `np.repeat` makes them so, `np.tile` does not:
#
# ```python
# >>> np.repeat(["k0", "k1"], 3).tolist()  # heads 0, 1, 2 share k0
# ['k0', 'k0', 'k0', 'k1', 'k1', 'k1']
# >>> np.tile(["k0", "k1"], 3).tolist()  # wrong
# ['k0', 'k1', 'k0', 'k1', 'k0', 'k1']
#
# ```
#
# The rotation acts within a head, so it comes after the split: a head has K entries, and all heads have the same
# angles. If no positions are given, they are 0 to T − 1. (In a model that continues a text, the new tokens have later
# positions.)
#
# An example with two heads of queries that share one head of keys and values, and K = 2. The two tokens are equal, and
# so are all products, but the second token is one position later:
#
# ```python
# >>> x = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
# >>> params = {"W_q": np.eye(4), "W_k": np.eye(4)[:, :2], "W_v": np.eye(4)[:, :2], "W_o": np.eye(4)}
# >>> out, cache = grouped_query_attention(x, params, n_heads=2, n_kv_heads=1)
# >>> cache["weights"][0].round(4)
# array([[0.5806, 0.4194],
#        [0.4194, 0.5806]])
# >>> out.round(4)
# array([[1., 0., 1., 0.],
#        [1., 0., 1., 0.]])
#
# ```
#
# The scores are 1 / √2 on the diagonal, and cos(1) / √2 = 0.5403 / √2 beside it: each token attends more to itself. The
# output is that of equal values, which were not rotated.


# %%
def _for_all_heads(shared, n_heads):
    """Repeat keys or values, (..., G, T, K), so that every query head has its own copy: (..., H, T, K)."""
    return np.repeat(shared, n_heads // shared.shape[-3], axis=-3)


def grouped_query_attention(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    """Compute self attention with rotated positions and shared keys and values (Ainslie et al. 2023, section 2.2).

        q = x W_q (H heads),   k = x W_k (G heads),   v = x W_v (G heads)
        head_h = attention(rope(q_h), rope(k_g), v_g),   g = h // (H / G)
        out = [head_0, head_1, …] W_o

    Args:
        x: vectors, (..., T, D).
        params: `W_q` (D, H K), `W_k` (D, G K), `W_v` (D, G K), `W_o` (H K, D), where K = D / H.
        n_heads: H, the number of heads of the queries.
        n_kv_heads: G, the number of heads of the keys and values.
        mask: boolean, True where a query may attend to a key; broadcastable to (..., H, T, T). None means that every
            query may attend to every key.
        positions: integers, (T,), the position of each row of `x`; None means 0 to T - 1.
        base: that of `rope`.

    Returns:
        out: (..., T, D), in the dtype of the inputs.
        cache: dict for `grouped_query_attention_backward`. `cache["weights"]` holds the attention weights,
            (..., H, T, T); the other entries are up to you.

    Raises:
        ValueError: if D is not a multiple of H, or if H is not a multiple of G.
    """
    if n_heads % n_kv_heads != 0:
        raise ValueError(f"{n_heads} heads of queries cannot share {n_kv_heads} heads of keys and values evenly")
    positions = np.arange(x.shape[-2]) if positions is None else positions
    q = rope(split_heads(linear(x, params["W_q"], None), n_heads), positions, base)  # (..., H, T, K)
    k = rope(split_heads(linear(x, params["W_k"], None), n_kv_heads), positions, base)  # (..., G, T, K)
    v = split_heads(linear(x, params["W_v"], None), n_kv_heads)  # (..., G, T, K)
    heads, weights = attention(q, _for_all_heads(k, n_heads), _for_all_heads(v, n_heads), mask)
    merged = merge_heads(heads)  # (..., T, H K)
    out = linear(merged, params["W_o"], None)  # (..., T, D)
    cache = {"x": x, "params": dict(params), "n_kv_heads": n_kv_heads, "positions": positions, "base": base}
    return out, cache | {"q": q, "k": k, "v": v, "weights": weights, "merged": merged}


# %% [markdown]
# ## `grouped_query_attention_backward`
#
# As always, write the steps in reverse order:
#
# ```text
#     forward, step by step              result                 backward, from the last step
#     1  x W_q, x W_k, x W_v             (B, T, H K or G K)     6  linear layers
#     2  split_heads                     (B, H or G, T, K)      5  merge_heads
#     3  rope of queries and keys        (B, H or G, T, K)      4  ?
#     4  repeat the keys and values      (B, H, T, K)           3  ?
#     5  attention, merge_heads          (B, T, H K)            2  split_heads, attention_backward
#     6  merged W_o                      (B, T, D)              1  linear layer
# ```
#
# **The copies.** `attention_backward` returns H gradients of keys, one for each copy. But there are only G heads of
# keys: each of them was used by H / G heads of queries. Which heads are these, and what happens to their gradients? The
# rule is the one for broadcasting, from the assignment `gradients`. In numbers, for H = 4 and G = 2: if the gradients
# of the four copies of a single entry are 1, 2, 3 and 4, those of the two keys are 3 and 7.
#
# **The rotation.** Which of dq, dk and dv have to be turned back, and by which positions? Turning back and adding up
# the copies may be done in either order: all copies of a key are at the same position.
#
# **The input.** The vector x was used three times.
#
# ```python
# >>> dx, grads = grouped_query_attention_backward(np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]), cache)
# >>> [grads[name].shape for name in params]
# [(4, 4), (4, 2), (4, 2), (4, 4)]
# >>> grads["W_v"].round(4) + 0.0
# array([[2., 0.],
#        [0., 0.],
#        [2., 0.],
#        [0., 0.]])
#
# ```
#
# Each of the two heads adds 1 here, because its weights add up to 1.


# %%
def _over_groups(dheads, n_kv_heads):
    """Sum the gradients (..., H, T, K) of the copies that `_for_all_heads` made: (..., G, T, K)."""
    *batch, n_heads, length, size = dheads.shape
    return dheads.reshape(*batch, n_kv_heads, n_heads // n_kv_heads, length, size).sum(axis=-3)


def grouped_query_attention_backward(dout, cache):
    """Return the gradients of `grouped_query_attention`.

    Args:
        dout: gradient with respect to the output, (..., T, D).
        cache: the cache that `grouped_query_attention` returned. It is not changed: a second call returns the same
            result.

    Returns:
        dx: gradient with respect to `x`, (..., T, D), in the dtype of the inputs.
        grads: dict with the same keys as `params`; each gradient has the shape and dtype of its parameter.
    """
    x, params, q, grads = cache["x"], cache["params"], cache["q"], {}
    n_heads, n_kv_heads = q.shape[-3], cache["n_kv_heads"]
    rotation = cache["positions"], cache["base"]
    k, v = _for_all_heads(cache["k"], n_heads), _for_all_heads(cache["v"], n_heads)

    dmerged, grads["W_o"], _ = linear_backward(dout, cache["merged"], params["W_o"])
    dq, dk, dv = attention_backward(split_heads(dmerged, n_heads), q, k, v, cache["weights"])  # each (..., H, T, K)
    dk, dv = _over_groups(dk, n_kv_heads), _over_groups(dv, n_kv_heads)  # each (..., G, T, K)
    dq, dk = rope_backward(dq, *rotation), rope_backward(dk, *rotation)
    dx_q, grads["W_q"], _ = linear_backward(merge_heads(dq), x, params["W_q"])
    dx_k, grads["W_k"], _ = linear_backward(merge_heads(dk), x, params["W_k"])
    dx_v, grads["W_v"], _ = linear_backward(merge_heads(dv), x, params["W_v"])
    return dx_q + dx_k + dx_v, grads


# %% [markdown]
# ## On paper
#
# 1. K = 2. A query (1, 0) is at position 5, a key (0, 1) at position 2. What is their product after the rotation? What
#    is it for the positions 105 and 102?
# 2. Where is SiLU smallest? Write the condition "the slope is 0" with σ, and check it at x = −1.278.
# 3. In `swiglu`, all three matrices are 0 at the start of training. Which gradients are 0? And if only `W_down` is 0,
#    and the others are random?
# 4. D = 16, H = 4. How many parameters does attention have with G = 4, with G = 2, and with G = 1?

# %% [markdown]
# ## Answers on paper
#
# **1. It is sin 3 = 0.1411, both times.** Turned back by 2 radians, the key is (0, 1) again, and the query is at
# position 3: (cos 3, sin 3). Their product is sin 3. The distance from 102 to 105 is 3 as well.
#
# ```python
# >>> q, k = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
# >>> [round(float((rope(q, np.array([m])) * rope(k, np.array([n]))).sum()), 4) for m, n in ((5, 2), (105, 102))]
# [0.1411, 0.1411]
#
# ```
#
# **2. At −1.278, where it is −0.2785.** The slope is σ + x σ (1 − σ). Divide by σ, which is never 0: 1 + x (1 − σ) = 0.
#
# ```python
# >>> x = np.array([-1.278])
# >>> gate = 1 / (1 + np.exp(-x))
# >>> (1 + x * (1 - gate)).round(3) + 0.0, silu_backward(np.ones(1), x).round(3) + 0.0, silu(x).round(4)
# (array([0.]), array([0.]), array([-0.2785]))
#
# ```
#
# **3. All of them; all except that of `W_down`.** If all three are 0, then so is h, and with it the gradient of
# `W_down`. And dh is 0, because `W_down` is, so that no gradient reaches the gate, the other product, or x. Such a
# network never learns. If only `W_down` is 0, then h is not, and `W_down` changes in the first step. After that, the
# other gradients are not 0 either.
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> x, shapes = rng.normal(size=(3, 4)), {"W_gate": (4, 5), "W_up": (4, 5), "W_down": (5, 4)}
# >>> random = {name: rng.normal(size=shape) for name, shape in shapes.items()}
# >>> zeros = {name: np.zeros(shape) for name, shape in shapes.items()}
# >>> for params in (zeros, random | {"W_down": np.zeros((5, 4))}):
# ...     out, cache = swiglu(x, params)
# ...     dx, grads = swiglu_backward(np.ones((3, 4)), cache)
# ...     print([name for name, grad in (grads | {"x": dx}).items() if grad.any()])
# []
# ['W_down']
#
# ```
#
# **4. 1,024, 768 and 640.** `W_q` and `W_o` have 16 · 16 = 256 entries each. K is 4, so `W_k` and `W_v` have 16 · 4 G
# entries each: 256, 128 or 64.
#
# ```python
# >>> [2 * 16 * 16 + 2 * 16 * 4 * G for G in (4, 2, 1)]
# [1024, 768, 640]
#
# ```

# %% [markdown]
# ## From GPT-2 to Llama: what changed and why
#
# These parts take the place of their counterparts in your GPT. Everything else stays: the residual stream, pre-norm
# blocks, the causal mask, the loss, training and sampling. This is the whole difference between GPT-2 (Radford et al.
# 2019) and Llama (Touvron et al. 2023, section 2.2):
#
# | | GPT-2 | Llama |
# |---|---|---|
# | positions | a learned table, added to the token vectors | queries and keys are rotated, in every block |
# | norm | layer norm, with gamma and beta | RMS norm, with gamma only |
# | feed-forward network | GELU, two matrices, F = 4 D | SwiGLU, three matrices, F about 8/3 D |
# | biases | in every linear layer of a block | none |
# | heads of keys and values | H, as many as query heads | G, in the larger models fewer than H |
# | output head | tied | a separate matrix (tied in some small models, such as Llama 3.2 1B) |
#
# Why was each of them changed?
#
# - **Positions.** The scores of attention now depend on the distance of two tokens, not on where both of them stand (Su
#   et al. 2021). And there is no table that ends after `block_size` rows.
# - **Norm.** The RMS norm has less to compute, and the models turn out as well (Zhang and Sennrich 2019).
# - **Feed-forward network.** The gate lowers the loss of a model with the same number of parameters (Shazeer 2020).
#   That explains the 8/3: the network of GPT-2 has 2 · D · 4 D = 8 D² parameters, SwiGLU has 3 · D · F, and F = 8/3 D
#   makes that 8 D², too.
# - **Biases.** Chowdhery et al. (2022, section 2) found that large models train more stably without them.
# - **Heads.** The key/value cache shrinks to G/H of its size (Ainslie et al. 2023). This was added in Llama 2, for its
#   larger models.
# - **Head.** The papers do not say why. A tied head saves V · D parameters. Only in a small model is that a large part.
#
# ## `LlamaConfig` and `init_llama`
#
# Both are given. The names of the parameters are as in `gpt` where the part is the same. The two norms of a block are
# called `norm1` and `norm2`. Queries, keys and values have matrices of their own, because those of the keys and values
# are narrower.
#
# ```python
# >>> config = LlamaConfig(vocab_size=27, block_size=8, n_layers=2, n_heads=4, n_kv_heads=2, d_model=16)
# >>> config.d_ff  # 8/3 of 16, rounded up to a multiple of 8
# 48
# >>> params = init_llama(config, np.random.default_rng(0))
# >>> for name in list(params)[:10]:
# ...     print(f"{name:20} {params[name].shape}")
# W_tok                (27, 16)
# blocks.0.norm1.gamma (16,)
# blocks.0.attn.W_q    (16, 16)
# blocks.0.attn.W_k    (16, 8)
# blocks.0.attn.W_v    (16, 8)
# blocks.0.attn.W_o    (16, 16)
# blocks.0.norm2.gamma (16,)
# blocks.0.ffn.W_gate  (16, 48)
# blocks.0.ffn.W_up    (16, 48)
# blocks.0.ffn.W_down  (48, 16)
#
# ```


# %%
@dataclass(frozen=True)
class LlamaConfig:
    """Given: the shape of a Llama.

    Attributes:
        vocab_size: V, the number of different tokens.
        block_size: the longest text, in tokens, that the model reads at once.
        n_layers: the number of blocks.
        n_heads: H, the number of heads of the queries, a divisor of D.
        n_kv_heads: G, the number of heads of the keys and values, a divisor of H.
        d_model: D, the width of the residual stream; D / H must be even.
        d_ff: F, the width inside the feed-forward network. None stands for 8/3 D, rounded up to a multiple of 8, and
            is replaced by that number.
        rope_base: the base of `rope`.
        norm_eps: the eps of all norms.
        tied: whether the head is the transposed token table (True) or a separate matrix (False).
        init_std: the standard deviation of the initial matrices.
    """

    vocab_size: int
    block_size: int
    n_layers: int = 4
    n_heads: int = 4
    n_kv_heads: int = 2
    d_model: int = 64
    d_ff: int | None = None
    rope_base: float = 10000.0
    norm_eps: float = 1e-5
    tied: bool = False
    init_std: float = 0.02

    def __post_init__(self):
        """Fill in d_ff, and raise ValueError for settings that cannot work."""
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 8 * math.ceil(self.d_model / 3))
        for name in ("vocab_size", "block_size", "n_layers", "n_heads", "n_kv_heads", "d_model", "d_ff"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.d_model % (2 * self.n_heads) != 0:
            raise ValueError(f"d_model ({self.d_model}) must be an even multiple of n_heads ({self.n_heads})")
        if self.n_heads % self.n_kv_heads != 0:
            raise ValueError(f"n_heads ({self.n_heads}) must be a multiple of n_kv_heads ({self.n_kv_heads})")


def init_llama(config, rng):
    """Given: return the parameters of an untrained Llama, a dictionary of float32 arrays.

    The names, for blocks i = 0 … n_layers - 1, with K = D / H:

        W_tok (V, D)
        blocks.{i}. norm1.gamma (D,)
                    attn.W_q (D, H K)   attn.W_k (D, G K)  attn.W_v (D, G K)  attn.W_o (H K, D)
                    norm2.gamma (D,)
                    ffn.W_gate (D, F)   ffn.W_up (D, F)    ffn.W_down (F, D)
        norm_f.gamma (D,)  W_head (D, V), unless the head is tied

    As in `init_gpt`, the matrices are normal with the standard deviation `config.init_std`; those that write into the
    residual stream, `attn.W_o` and `ffn.W_down`, are smaller by √(2 n_layers). Every gamma is 1.
    """
    d, f = config.d_model, config.d_ff
    narrow = config.n_kv_heads * (d // config.n_heads)  # G K

    def normal(*shape, std=config.init_std):
        return rng.normal(0.0, std, shape).astype(np.float32)

    residual_std = config.init_std / math.sqrt(2 * config.n_layers)
    params = {"W_tok": normal(config.vocab_size, d)}
    for i in range(config.n_layers):
        layer = {
            "norm1.gamma": np.ones(d, dtype=np.float32),
            "attn.W_q": normal(d, d),
            "attn.W_k": normal(d, narrow),
            "attn.W_v": normal(d, narrow),
            "attn.W_o": normal(d, d, std=residual_std),
            "norm2.gamma": np.ones(d, dtype=np.float32),
            "ffn.W_gate": normal(d, f),
            "ffn.W_up": normal(d, f),
            "ffn.W_down": normal(f, d, std=residual_std),
        }
        params |= prefixed(layer, f"blocks.{i}.")
    params["norm_f.gamma"] = np.ones(d, dtype=np.float32)
    if not config.tied:
        params["W_head"] = normal(d, config.vocab_size)
    return params


# %% [markdown]
# ## `llama_block`
#
# This is the pre-norm block of the assignment `blocks` with the new parts. There are two additions to the stream, and
# each reads the stream through its own norm:
#
# ```text
#     x ──┬─────────────────────────────────────────> + ──┬─────────────────────> + ──> y
#         └──> norm1 ──> grouped_query_attention ─────┘   └──> norm2 ──> swiglu ──┘
# ```
#
# The eps of both norms comes from the configuration: some models were trained with 1e-5, others with 1e-6. The base of
# the rotation comes from there, too. The positions are 0 to T − 1, which `grouped_query_attention` uses by default.
#
# If the two matrices that write into the stream are 0, the block changes nothing. With `W_down` alone at 0, it adds
# what the attention returns. A single token attends to itself, so that is its normalized value vector, through `W_o`:
#
# ```python
# >>> config = LlamaConfig(vocab_size=3, block_size=4, n_layers=1, n_heads=1, n_kv_heads=1, d_model=2, d_ff=2)
# >>> block_params = {f"attn.{name}": np.eye(2) for name in ("W_q", "W_k", "W_v", "W_o")}
# >>> block_params |= {"ffn.W_gate": np.eye(2), "ffn.W_up": np.eye(2), "ffn.W_down": np.zeros((2, 2))}
# >>> block_params |= {"norm1.gamma": np.ones(2), "norm2.gamma": np.ones(2)}
# >>> x = np.array([[3.0, 4.0]])
# >>> out, cache = llama_block(x, block_params, config)
# >>> (out - x).round(4)  # 3 and 4, divided by the root of their mean square, √12.5
# array([[0.8485, 1.1314]])
#
# ```


# %%
def llama_block(x, params, config, mask=None):
    """Apply one block of Llama: attention and a feed-forward network on a residual stream (Touvron et al. 2023).

        a = x + grouped_query_attention(rmsnorm(x, gamma_1))
        y = a + swiglu(rmsnorm(a, gamma_2))

    Args:
        x: the residual stream, (..., T, D), at the positions 0 to T - 1.
        params: `norm1.gamma` and `norm2.gamma`, each (D,); the parameters of `grouped_query_attention` as `attn.W_q`
            (D, H K), `attn.W_k` (D, G K), `attn.W_v` (D, G K), `attn.W_o` (H K, D); those of `swiglu` as `ffn.W_gate`
            (D, F), `ffn.W_up` (D, F), `ffn.W_down` (F, D).
        config: a `LlamaConfig`, of which `n_heads`, `n_kv_heads`, `rope_base` and `norm_eps` are used.
        mask: boolean, broadcastable to (..., H, T, T), e.g. (T, T) or (B, 1, T, T); True where the query may attend to
            the key. None: no mask.

    Returns:
        out: (..., T, D), in the dtype of `x` and the parameters.
        cache: dict for `llama_block_backward`, with any entries that you need and these:
            `weights`, the attention weights, (..., H, T, T);
            `after_attention`, the stream after the first step (a above), (..., T, D);
            `after_ffn`, the stream after the second step (y above, the output), (..., T, D).
    """
    gamma1, gamma2, eps = params["norm1.gamma"], params["norm2.gamma"], config.norm_eps
    heads = config.n_heads, config.n_kv_heads
    normed = rmsnorm(x, gamma1, eps)  # (..., T, D)
    attn_out, attn_cache = grouped_query_attention(normed, subset(params, "attn."), *heads, mask, base=config.rope_base)
    after_attention = x + attn_out
    normed = rmsnorm(after_attention, gamma2, eps)
    ffn_out, ffn_cache = swiglu(normed, subset(params, "ffn."))
    after_ffn = after_attention + ffn_out
    cache = {"weights": attn_cache["weights"], "after_attention": after_attention, "after_ffn": after_ffn}
    cache |= {"names": list(params), "attn": attn_cache, "ffn": ffn_cache}
    return after_ffn, cache | {"norm1": (x, gamma1, eps), "norm2": (after_attention, gamma2, eps)}


# %% [markdown]
# ## `llama_block_backward`
#
# Follow the graph backwards. Write $g_y$ for the gradient that arrives at y. The second step is
# $y = a + \mathrm{swiglu}(\mathrm{rmsnorm}(a, \gamma_2))$, in which a is used twice. The plus sign passes $g_y$ to both
# of its terms:
#
# $$g_a = g_y + \mathrm{rmsnorm}^{backward}_{\gamma_2}(\mathrm{swiglu}^{backward}(g_y))$$
#
# The first step is $a = x + \mathrm{attention}(\mathrm{rmsnorm}(x, \gamma_1))$. It has the same form, with $g_a$ in
# place of $g_y$, *both* terms of it:
#
# $$g_x = g_a + \mathrm{rmsnorm}^{backward}_{\gamma_1}(\mathrm{attention}^{backward}(g_a))$$
#
# `rmsnorm_backward` needs the input of the norm, its gamma and the same eps. Each backward function also returns the
# gradients of its parameters. Collect them under the names that they have in `params`.
#
# In the example above, the feed-forward network passes nothing back, because its last matrix is 0. The gradient of that
# matrix is not 0: that is how training gets away from such a start.
#
# ```python
# >>> dx, grads = llama_block_backward(np.array([[1.0, -1.0]]), cache)
# >>> dx.round(4)  # (1, -1) from the stream, and the rest through the attention
# array([[ 1.3168, -1.2376]])
# >>> grads["norm1.gamma"].round(4), grads["norm2.gamma"]
# (array([ 0.8485, -1.1314]), array([0., 0.]))
# >>> bool(np.abs(grads["ffn.W_down"]).min() > 0.1)
# True
#
# ```


# %%
def llama_block_backward(dout, cache):
    """Return the gradients of `llama_block`.

    Args:
        dout: gradient with respect to the output, (..., T, D).
        cache: what `llama_block` returned. It may be used again, with the same result.

    Returns:
        dx: gradient with respect to `x`, (..., T, D).
        grads: dict with the same keys and shapes as `params`.
        All in the dtype of the inputs of `llama_block`.
    """
    grads = {}
    dbranch, dffn = swiglu_backward(dout, cache["ffn"])
    dbranch, grads["norm2.gamma"] = rmsnorm_backward(dbranch, *cache["norm2"])
    dstream = dout + dbranch  # with respect to after_attention
    dbranch, dattn = grouped_query_attention_backward(dstream, cache["attn"])
    dbranch, grads["norm1.gamma"] = rmsnorm_backward(dbranch, *cache["norm1"])
    grads |= prefixed(dattn, "attn.") | prefixed(dffn, "ffn.")
    return dstream + dbranch, {name: grads[name] for name in cache["names"]}


# %% [markdown]
# ## `llama`
#
# Now the model, from the ids to the scores. Compare it with `gpt`, line by line:
#
# ```text
#     ids (B, T)
#       ── rows of W_tok ───────>  x (B, T, D)       which token; nothing about its position
#       ── block 0, block 1, … ─>  x (B, T, D)       each rotates its queries and keys
#       ── rmsnorm ─────────────>  x (B, T, D)       norm_f
#       ── times W_head ────────>  logits (B, T, V)  or times the transposed W_tok
# ```
#
# No table of positions is added. The first block gets the same vector for a token wherever it stands. Without the
# rotations, a single block could not tell "ab?" from "ba?": the last query would see the same keys and values, in
# another order. With them, it can.
#
# ```python
# >>> config = LlamaConfig(vocab_size=3, block_size=8, n_layers=1, init_std=0.5)
# >>> params = init_llama(config, np.random.default_rng(0))
# >>> logits, cache = llama(np.array([[0, 1, 2], [1, 0, 2]]), params, config)
# >>> logits.shape
# (2, 3, 3)
# >>> bool(np.abs(logits[0, -1] - logits[1, -1]).max() > 0.01)
# True
# >>> [name for name in cache if name.startswith("blocks.0.")]
# ['blocks.0.weights', 'blocks.0.after_attention', 'blocks.0.after_ffn']
#
# ```
#
# A longer text would not run out of rows of a table. Nevertheless, `llama` refuses texts longer than `block_size`: the
# model was trained on no larger distances, and its predictions get worse beyond them.


# %%
def llama(ids, params, config):
    """Compute the scores for the next token at every position (Touvron et al. 2023, section 2.2).

        x = W_tok[ids]
        x = llama_block(x) for every block, with the causal mask
        logits = rmsnorm(x, gamma_f) W_head,    with W_head = W_tokᵀ if the head is tied

    Args:
        ids: integers, (B, T), each in [0, V), with T at most `config.block_size`. Any number of leading axes.
        params: dictionary of parameters; for names and shapes see `init_llama`.
        config: a `LlamaConfig`.

    Returns:
        logits: (B, T, V), in the dtype of the parameters. The scores at position t depend on ids[..., : t + 1] only.
        cache: dictionary with the values that `llama_backward` needs, and these entries:
            `embedded`, the residual stream before the first block, (B, T, D);
            `blocks.{i}.weights`, the attention weights of block i, (B, H, T, T);
            `blocks.{i}.after_attention` and `blocks.{i}.after_ffn`, the stream after its two steps, (B, T, D);
            `final_norm`, the stream after the last norm, (B, T, D).

    Raises:
        ValueError: if T is larger than `config.block_size`, or if an id is negative or not below V.
    """
    length = np.shape(ids)[-1]
    if length > config.block_size:
        raise ValueError(f"{length} tokens do not fit into the block size of {config.block_size}")
    mask = causal_mask(length)
    x = embed_tokens(ids, params["W_tok"])  # (B, T, D)
    cache = {"embedded": x, "ids": ids, "params": params, "config": config, "block_caches": []}
    for i in range(config.n_layers):
        x, block_cache = llama_block(x, subset(params, f"blocks.{i}."), config, mask)
        cache["block_caches"].append(block_cache)
        for stage in ("weights", "after_attention", "after_ffn"):
            cache[f"blocks.{i}.{stage}"] = block_cache[stage]
    final = rmsnorm(x, params["norm_f.gamma"], config.norm_eps)
    cache |= {"last": x, "final_norm": final}
    return linear(final, _head(params, config), None), cache  # (B, T, V)


def _head(params, config):
    """Return the output head, (D, V): the transposed token table if the head is tied."""
    return params["W_tok"].T if config.tied else params["W_head"]


# %% [markdown]
# ## `llama_backward`
#
# Here the loss is computed outside: `cross_entropy` of the logits, whose gradient `cross_entropy_backward` is the
# `dlogits` of this function. The rest is the second half of `gpt_loss`:
#
# 1. the output head, a product: one gradient for the matrix, one for the final vectors;
# 2. the last norm;
# 3. the blocks, last one first, each with its own cache;
# 4. the token table. There are no positions to add a gradient to.
#
# With a tied head, the table was used twice, and its two gradients are added.
#
# ```python
# >>> from softmax import cross_entropy, cross_entropy_backward
# >>> ids, targets = np.array([[0, 1, 2]]), np.array([[1, 2, 0]])
# >>> params = {name: value.astype(np.float64) for name, value in params.items()}
# >>> logits, cache = llama(ids, params, config)
# >>> grads = llama_backward(cross_entropy_backward(logits, targets), cache)
# >>> grads.keys() == params.keys()
# True
# >>> def loss_with(W_k):
# ...     return cross_entropy(llama(ids, params | {"blocks.0.attn.W_k": W_k}, config)[0], targets)
# >>> W_k, step = params["blocks.0.attn.W_k"], np.zeros((64, 32))
# >>> step[5, 7] = 1e-5
# >>> slope = (loss_with(W_k + step) - loss_with(W_k - step)) / 2e-5
# >>> bool(abs(slope - grads["blocks.0.attn.W_k"][5, 7]) < 1e-9)
# True
#
# ```


# %%
def llama_backward(dlogits, cache):
    """Return the gradient of every parameter of `llama`.

    Args:
        dlogits: gradient with respect to the logits, (B, T, V), with the leading axes of the ids, e.g. from
            `cross_entropy_backward`.
        cache: what `llama` returned. It may be used again, with the same result.

    Returns:
        A dictionary with the same keys, shapes and dtype as `params`. With a tied head, the gradient of `W_tok` is the
        sum of that of the table at the beginning and that of the head at the end.
    """
    ids, params, config = cache["ids"], cache["params"], cache["config"]
    dfinal, dhead, _ = linear_backward(dlogits, cache["final_norm"], _head(params, config))
    dx, dgamma = rmsnorm_backward(dfinal, cache["last"], params["norm_f.gamma"], config.norm_eps)
    grads = {"norm_f.gamma": dgamma}
    for i in reversed(range(config.n_layers)):
        dx, dblock = llama_block_backward(dx, cache["block_caches"][i])
        grads |= prefixed(dblock, f"blocks.{i}.")
    grads["W_tok"] = embed_tokens_backward(dx, ids, config.vocab_size)
    if config.tied:
        grads["W_tok"] = grads["W_tok"] + dhead.T
    else:
        grads["W_head"] = dhead
    return {name: grads[name] for name in params}


# %% [markdown]
# ## `llama_config`
#
# A trained model is distributed as a folder of files. Its `config.json` is a dictionary of settings under the names
# that Hugging Face's library `transformers` uses. Your model has other names for the same things:
#
# | `config.json` | here | if it is missing |
# |---|---|---|
# | `vocab_size` | `vocab_size` | ValueError |
# | `max_position_embeddings` | `block_size` | ValueError |
# | `num_hidden_layers` | `n_layers` | ValueError |
# | `num_attention_heads` | `n_heads` | ValueError |
# | `num_key_value_heads` | `n_kv_heads` | as many as `num_attention_heads` |
# | `hidden_size` | `d_model` | ValueError |
# | `intermediate_size` | `d_ff` | ValueError |
# | `rms_norm_eps` | `norm_eps` | 1e-6 |
# | `rope_theta` | `rope_base` | 10000 |
# | `tie_word_embeddings` | `tied` | False |
#
# Version 5 of `transformers` stores the base of the rotation in a dictionary of its own, `rope_parameters`, together
# with its kind, `rope_type`. Older files have `rope_theta` at the top. `rope_scaling`, if it is not None, is also such
# a dictionary: it describes how the angles were changed for longer texts.
#
# Many models are called Llama and differ a little. If you read a model whose angles are scaled, and do not scale them,
# it still writes. The text is only a little worse, or gets worse after a few thousand tokens. Such a mistake is hard
# to find. So refuse what you cannot do, and say why:
#
# ```python
# >>> small = {"model_type": "llama", "vocab_size": 100, "max_position_embeddings": 64, "num_hidden_layers": 2}
# >>> small |= {"num_attention_heads": 4, "hidden_size": 32, "intermediate_size": 80, "rms_norm_eps": 1e-6}
# >>> config = llama_config(small)
# >>> config.n_kv_heads, config.norm_eps, config.tied
# (4, 1e-06, False)
# >>> llama_config(small | {"hidden_act": "gelu"})
# Traceback (most recent call last):
# ValueError: unsupported setting: hidden_act is 'gelu'
#
# ```


# %%
_SIZES = {
    "vocab_size": "vocab_size",
    "max_position_embeddings": "block_size",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "hidden_size": "d_model",
    "intermediate_size": "d_ff",
}


def llama_config(hf_config):
    """Return the configuration that a Hugging Face `config.json` describes.

    Args:
        hf_config: the dictionary of a `config.json`. The sizes are `vocab_size`, `max_position_embeddings` (the block
            size), `num_hidden_layers`, `num_attention_heads`, `hidden_size` and `intermediate_size` (F).
            `num_key_value_heads` (by default as many as `num_attention_heads`), `rms_norm_eps` (default 1e-6),
            `tie_word_embeddings` (default False). The base of the rotation is `rope_theta`, in the dictionary
            `rope_parameters` or at the top (default 10000). A setting that is None counts as missing. All other
            settings that are not named below are ignored.

    Returns:
        A `LlamaConfig`.

    Raises:
        ValueError: if a size is missing, with its name in the message; if `llama` cannot do what a setting asks for,
            with the name of the setting and its value: a `model_type` other than "llama" (or none), a `hidden_act`
            other than "silu", a `rope_scaling` or `rope_parameters` whose `rope_type` (in older files `type`) is not
            "default", an `attention_bias` or `mlp_bias` that is not False, a `head_dim` other than `hidden_size`
            divided by `num_attention_heads`. Of these, a missing `model_type` is refused, and no other missing setting.
    """
    hf_config = {key: value for key, value in hf_config.items() if value is not None}
    sizes = {ours: hf_config.get(theirs) for theirs, ours in _SIZES.items()}
    if absent := [theirs for theirs, ours in _SIZES.items() if sizes[ours] is None]:
        raise ValueError(f"missing sizes: {', '.join(absent)}")
    rotations = [hf_config.get(name) or {} for name in ("rope_parameters", "rope_scaling")]
    kinds = [rotation.get("rope_type") or rotation.get("type") or "default" for rotation in rotations]
    allowed = {
        "model_type": ("llama",),
        "hidden_act": ("silu", None),
        "attention_bias": (False, None),
        "mlp_bias": (False, None),
        "head_dim": (sizes["d_model"] // sizes["n_heads"], None),
    }
    found = {name: hf_config.get(name) for name in allowed}
    unsupported = [f"{name} is {found[name]!r}" for name in allowed if found[name] not in allowed[name]]
    unsupported += [f"rope_type is {kind!r}" for kind in kinds if kind != "default"]
    if unsupported:
        raise ValueError(f"unsupported setting: {', '.join(unsupported)}")
    return LlamaConfig(
        **sizes,
        n_kv_heads=hf_config.get("num_key_value_heads") or sizes["n_heads"],
        rope_base=rotations[0].get("rope_theta") or hf_config.get("rope_theta", 10000.0),
        norm_eps=hf_config.get("rms_norm_eps", 1e-6),
        tied=hf_config.get("tie_word_embeddings", False),
    )


# %% [markdown]
# ## `llama_params`
#
# The parameters are in files of named arrays, as a dictionary from names to arrays. Three things differ from yours.
#
# **Names.** The names of most files begin with `model.`, but not all do. `input_layernorm` and
# `post_attention_layernorm` are the two norms of a block: both are RMS norms, and the second one is not a post-norm. It
# comes after the attention and before the feed-forward network.
#
# | Hugging Face, after `model.` | here |
# |---|---|
# | `embed_tokens.weight` | `W_tok` |
# | `layers.{i}.input_layernorm.weight` | `blocks.{i}.norm1.gamma` |
# | `layers.{i}.self_attn.q_proj.weight`, `k_proj`, `v_proj`, `o_proj` | `blocks.{i}.attn.W_q`, `W_k`, `W_v`, `W_o` |
# | `layers.{i}.post_attention_layernorm.weight` | `blocks.{i}.norm2.gamma` |
# | `layers.{i}.mlp.gate_proj.weight`, `up_proj`, `down_proj` | `blocks.{i}.ffn.W_gate`, `W_up`, `W_down` |
# | `norm.weight` | `norm_f.gamma` |
# | `lm_head.weight`, never after `model.` | `W_head` |
#
# **Transposed matrices.** PyTorch's linear layer computes $x W^T$ and stores W as (out, in). Yours computes $x W$ with
# (in, out). All matrices have to be transposed, except for the token table, from which rows are looked up in both.
# `W_q` and `W_o` are square here: they fit either way, and nothing reports the mistake.
#
# **BF16.** A float32 has 32 bits: one for the sign, 8 for the exponent and 23 for the fraction. Most large models are
# stored in *bfloat16*, or BF16: the first 16 of these bits, sign, exponent, and 7 bits of the fraction (Kalamkar et al.
# 2019). It has the range of float32, and two to three digits.
#
# ```text
#     float32    s eeeeeeee fffffffffffffffffffffff
#     bfloat16   s eeeeeeee fffffff
# ```
#
# NumPy has no such dtype. So the arrays come as `uint16`: 16 bits each, without a meaning. To make a float32 of them,
# put 16 zeros behind them. The number 16,457, as an example, has the bits 0 10000000 1001001: the sign is +, the
# exponent is 128 − 127 = 1, and the fraction is 1 + 73/128.
#
# ```python
# >>> bits = np.array([16457], dtype=np.uint16)
# >>> f"{bits[0]:016b}"
# '0100000001001001'
# >>> 2 * (1 + 73 / 128)
# 3.140625
# >>> (bits.astype(np.uint32) << 16).view(np.float32)
# array([3.140625], dtype=float32)
#
# ```
#
# `view` keeps the bits and changes what they mean. `astype` keeps the number and changes the bits: it would make
# 16457.0 of it. As a test, this is π with the last 16 bits of its float32 removed:
#
# ```python
# >>> int(np.float32(np.pi).view(np.uint32) >> 16)
# 16457
#
# ```
#
# What is unknown is an error, as in `llama_config`. A tensor that you do not use, such as the bias of a query matrix,
# would change what the model computes. The only exceptions are the tables `rotary_emb.inv_freq` of older files. They
# hold base^(−2i/K), which you compute.
#
# A checkpoint of a very small tied model, D = 4, F = 3, H = 2 and G = 1, in which all numbers are 1:
#
# ```python
# >>> shapes = {"input_layernorm": (4,), "post_attention_layernorm": (4,)}
# >>> shapes |= {f"self_attn.{name}_proj": (rows, 4) for name, rows in (("q", 4), ("k", 2), ("v", 2), ("o", 4))}
# >>> shapes |= {"mlp.gate_proj": (3, 4), "mlp.up_proj": (3, 4), "mlp.down_proj": (4, 3)}
# >>> tensors = {f"model.layers.0.{name}.weight": np.ones(shape) for name, shape in shapes.items()}
# >>> tensors |= {"model.embed_tokens.weight": np.ones((5, 4)), "model.norm.weight": np.ones(4)}
# >>> params = llama_params(tensors)
# >>> params["blocks.0.attn.W_k"].shape, params["blocks.0.ffn.W_down"].shape, "W_head" in params
# ((4, 2), (3, 4), False)
# >>> llama_params(tensors | {"model.layers.0.self_attn.q_proj.bias": np.ones(4)})
# Traceback (most recent call last):
# ValueError: unknown tensors: layers.0.self_attn.q_proj.bias
#
# ```


# %%
_TENSORS = {
    "input_layernorm.weight": "norm1.gamma",
    "self_attn.q_proj.weight": "attn.W_q",
    "self_attn.k_proj.weight": "attn.W_k",
    "self_attn.v_proj.weight": "attn.W_v",
    "self_attn.o_proj.weight": "attn.W_o",
    "post_attention_layernorm.weight": "norm2.gamma",
    "mlp.gate_proj.weight": "ffn.W_gate",
    "mlp.up_proj.weight": "ffn.W_up",
    "mlp.down_proj.weight": "ffn.W_down",
}


def llama_params(tensors):
    """Return the parameters of `llama` from the tensors of a Hugging Face checkpoint.

    Args:
        tensors: dictionary of arrays under Hugging Face's names: `embed_tokens.weight`, `norm.weight`, for each layer i
            `layers.{i}.` and `input_layernorm.weight`, `self_attn.q_proj.weight` (and `k_proj`, `v_proj`, `o_proj`),
            `post_attention_layernorm.weight`, `mlp.gate_proj.weight` (and `up_proj`, `down_proj`), each with or without
            the prefix `model.`; and `lm_head.weight`, unless the head is tied. The matrices are (out, in). Arrays of
            dtype uint16 hold the bits of BF16 numbers. Names that end with `rotary_emb.inv_freq` are ignored.

    Returns:
        Dictionary of arrays, with the names and shapes of `init_llama`: all matrices but `W_tok` are transposed. There
        is a `W_head` if there is an `lm_head.weight`. BF16 numbers become float32, without a change of their value;
        other arrays keep their dtype.

    Raises:
        ValueError: if tensors are missing or unknown, with the name of at least one of them in the message.
    """
    given = {n.removeprefix("model."): v for n, v in tensors.items() if not n.endswith("rotary_emb.inv_freq")}
    layers = {name.split(".")[1] for name in given if name.startswith("layers.")}
    names = {"embed_tokens.weight": "W_tok", "norm.weight": "norm_f.gamma"}
    for i in range(max(1, len(layers))):
        names |= {f"layers.{i}.{theirs}": f"blocks.{i}.{ours}" for theirs, ours in _TENSORS.items()}
    if "lm_head.weight" in given:
        names["lm_head.weight"] = "W_head"
    for what, which in (("missing", names.keys() - given.keys()), ("unknown", given.keys() - names.keys())):
        if which:
            raise ValueError(f"{what} tensors: {', '.join(sorted(which))}")

    params = {}
    for theirs, ours in names.items():
        value = np.asarray(given[theirs])
        if value.dtype == np.uint16:
            value = (value.astype(np.uint32) << 16).view(np.float32)
        params[ours] = value if ours == "W_tok" else value.T
    return params


# %% [markdown]
# ## `generate_llama`
#
# The loop is that of `generate_cached`: the prompt is processed once, and then one token at a time. What is in the
# cache of a block? Its values, and its keys *after* the rotation. A key is rotated by the angle of its own position,
# which never changes while the window stays where it is, so rotating once is enough. Rotating the stored keys again
# with each new token would turn them twice.
#
# The new token stands at position S − 1 if S tokens are in the cache with it. Its query and its key are rotated by this
# position, not by 0. (If *all* positions were shifted by the same number, nothing would change. The scores depend on
# the differences only.)
#
# The cache has G heads, not H: that is what grouped queries are for. Beyond `block_size`, the window moves and the
# cache is filled anew, as in `generate_cached`. Would that be necessary here, where a shift of all positions changes
# nothing? Yes, from the second block on: the stored keys and values contain what their positions read from the token
# that was dropped.
#
# ```python
# >>> config = LlamaConfig(vocab_size=11, block_size=6, n_layers=2, d_model=16, init_std=0.5)
# >>> params = init_llama(config, np.random.default_rng(0))
# >>> generated = generate_llama(np.array([[1, 2, 3]]), params, config, 8, np.random.default_rng(0), temperature=0)
# >>> generated[0, 3:]
# array([5, 4, 1, 6, 3, 3, 3, 3])
# >>> ids = np.array([[1, 2, 3]])  # the same without a cache
# >>> for _ in range(8):
# ...     new = llama(ids[:, -6:], params, config)[0][:, -1].argmax(axis=-1)
# ...     ids = np.column_stack([ids, new])
# >>> bool((ids == generated).all())
# True
#
# ```


# %%
def _next_logits(ids, start, caches, params, config):
    """Return the scores after `ids` (B, n), at the positions from `start` on. Add keys and values to `caches`."""
    end = start + ids.shape[-1]
    positions = np.arange(start, end)
    mask = causal_mask(ids.shape[-1], end)  # (n, S): the queries are the last n of S positions
    x = embed_tokens(ids, params["W_tok"])  # (B, n, D)
    for layer, keys, values in caches:
        normed = rmsnorm(x, layer["norm1.gamma"], config.norm_eps)
        q = split_heads(linear(normed, layer["attn.W_q"], None), config.n_heads)  # (B, H, n, K)
        k = split_heads(linear(normed, layer["attn.W_k"], None), config.n_kv_heads)  # (B, G, n, K)
        keys[..., start:end, :] = rope(k, positions, config.rope_base)
        values[..., start:end, :] = split_heads(linear(normed, layer["attn.W_v"], None), config.n_kv_heads)
        k, v = (_for_all_heads(stored[..., :end, :], config.n_heads) for stored in (keys, values))  # (B, H, S, K)
        heads, _ = attention(rope(q, positions, config.rope_base), k, v, mask)  # (B, H, n, K)
        x = x + linear(merge_heads(heads), layer["attn.W_o"], None)
        normed = rmsnorm(x, layer["norm2.gamma"], config.norm_eps)
        x = x + swiglu(normed, subset(layer, "ffn."))[0]
    last = rmsnorm(x[..., -1, :], params["norm_f.gamma"], config.norm_eps)  # (B, D): only the last position is needed
    return linear(last, _head(params, config), None)  # (B, V)


def generate_llama(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """Append `n_new` tokens to each text, one at a time, each drawn from the model's prediction.

    With a key/value cache: the keys, after their rotation, and the values of G heads are kept for every block. Beyond
    `config.block_size` tokens, the window moves with every token, and the cache is filled again from the cropped text.

    Args:
        ids: the prompts, token ids, (B, T) with T ≥ 1; T may be larger than `config.block_size`. Any number of leading
            axes.
        params: dictionary of the Llama's parameters.
        config: a `LlamaConfig`.
        n_new: how many tokens to append to each text, ≥ 0.
        rng: a `numpy.random.Generator`; `sample` is called once per new token, with temperature 0 too.
        temperature: as in `next_token_probs`; 0 is greedy.
        top_k: as in `next_token_probs`.
        top_p: as in `next_token_probs`.

    Returns:
        The prompts with the new tokens, (B, T + n_new), int64: what the loop of `generate` returns with `llama` in
        place of `gpt`, unless a choice is so close that the rounding of the scores decides. `ids` is not modified.

    Raises:
        ValueError: if T is 0 or `n_new` is negative, and where `next_token_probs` raises it.
    """
    ids = np.array(ids, dtype=np.int64)
    if ids.shape[-1] < 1:
        raise ValueError("the prompt must have at least one token")
    if n_new < 0:
        raise ValueError(f"n_new must not be negative, got {n_new}")
    shape = (*ids.shape[:-1], config.n_kv_heads, config.block_size, config.d_model // config.n_heads)
    caches, n_cached = [], 0
    for i in range(config.n_layers):  # the parameters of each block, and room for its keys and its values
        keys, values = np.empty(shape, params["W_tok"].dtype), np.empty(shape, params["W_tok"].dtype)
        caches.append((subset(params, f"blocks.{i}."), keys, values))
    for _ in range(n_new):
        if n_cached == 0 or n_cached == config.block_size:  # at the start, and whenever the window moves
            context, n_cached = ids[..., -config.block_size :], 0
        else:
            context = ids[..., -1:]  # (B, 1), the one token that is not in the cache yet
        logits = _next_logits(context, n_cached, caches, params, config)  # (B, V)
        n_cached += context.shape[-1]
        new = sample(next_token_probs(logits, temperature, top_k, top_p), rng)  # (B,)
        ids = np.concatenate([ids, new[..., None]], axis=-1)
    return ids


# %% [markdown]
# ## On paper: the model
#
# 1. A block has D = 64, H = 4, G = 2 and F = 8/3 D, rounded up to a multiple of 8. How many parameters does it have?
#    How many does a block of GPT-2 have with D = 64?
# 2. What is the smallest BF16 number above 1? And which BF16 number does 1.01 become if the last 16 bits of its float32
#    are cut off?
# 3. In a checkpoint, `embed_tokens.weight` has the shape (32000, 2048), `self_attn.k_proj.weight` (256, 2048), and
#    `config.json` says that there are 32 heads. What are K and G, and how many times smaller is the key/value cache
#    than with G = H?

# %% [markdown]
# ## Answers on paper
#
# **1. They have 46,208 and 49,984.** F is 176, the next multiple of 8 after 170.67. Attention has 12,288 parameters, in
# two matrices of 64 · 64 and two of 64 · 32. SwiGLU has 3 · 64 · 176 = 33,792, and the two norms have 128. GPT-2 has
# 12 · 64² = 49,152 in its matrices, 9 · 64 = 576 in its biases, and 4 · 64 = 256 in the norms.
#
# ```python
# >>> from gpt import GPTConfig, count_parameters, init_gpt
# >>> models = [(init_llama, LlamaConfig(27, 8, n_layers=1)), (init_gpt, GPTConfig(27, 8, n_layers=1))]
# >>> for init, config in models:
# ...     count_parameters(subset(init(config, np.random.default_rng(0)), "blocks.0."))
# 46208
# 49984
#
# ```
#
# **2. It is 1 + 1/128 = 1.0078125, and 1.01 becomes the same.** The fraction has 7 bits, so the step from 1 is
# 2 to the power of −7. The next number is 1.015625, which is too large.
#
# ```python
# >>> bits = (np.array([1.01], dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
# >>> (bits.astype(np.uint32) << 16).view(np.float32)
# array([1.0078125], dtype=float32)
#
# ```
#
# **3. K = 64 and G = 4; it is 8 times smaller.** K is D / H = 2048 / 32, and the 256 rows of `k_proj` are G heads of K
# rows. The cache holds G heads and not H.

# %% [markdown]
# ## What could go wrong
#
# Look here when a check fails. These mistakes are easy to make, and the report uses the same words when it recognizes
# one.
#
# - `rope`: **neighbouring entries were rotated: 2i with 2i + 1.** Here the entry i is rotated with the entry i + K/2.
#   Weights that were trained with one order of the entries give nonsense with another.
# - `rope`: **the exponent was -i/K, not -2i/K.** The angle of pair i is positions[t] · base^(-2i/K), in radians: the
#   first pair turns the fastest.
# - `rope`: **the pairs were turned the other way: the minus sign is in the second line.** A rotation turns (a, b)
#   into (a cos θ - b sin θ, a sin θ + b cos θ). With the opposite sign in both lines it turns backwards, and
#   parameters that were trained with the other direction give nonsense.
# - `rope_backward`: **dout was turned forward, as in rope, not back.** The gradient of out = R x is Rᵀ dout, and the
#   transpose of a rotation turns back by the same angle.
# - `silu_backward`: **the gate was treated as a constant: only σ(x) is left.** SiLU is x times a gate σ that depends
#   on x: the product rule gives σ + x σ', and σ' is σ (1 - σ).
# - `swiglu`: **SiLU was applied to x W_up, not to x W_gate.** The formula is (silu(x W_gate) · (x W_up)) W_down: SiLU
#   makes the gate, and the gate is multiplied by the other product, entry by entry.
# - `swiglu_backward`: **on the way to W_up, the factor silu(x W_gate) is missing.** For h = silu(g) · u, the product
#   rule gives du = dh silu(g) and d silu(g) = dh u; then comes the slope of SiLU at g.
# - `grouped_query_attention`: **the heads of the keys and values were repeated in turn: 0, 1, 0, 1 instead of 0, 0,
#   1, 1.** Head h of the queries uses head h // (H / G) of the keys and values: neighbouring heads share.
# - `grouped_query_attention`: **the values were rotated, too.** In each head, queries and keys are rotated by their
#   positions, once, so that their product depends on the distance. What is averaged, the values, stays as it is.
# - `grouped_query_attention`: **the scores were divided by √D, not by √K, the size of a head.** A score is a product
#   of two vectors with K entries, K = D / H.
# - `grouped_query_attention_backward`: **the gradients of the heads of a group were averaged, not added.** H / G
#   neighbouring heads used the same keys and values. What is repeated in the forward pass is summed in the backward
#   pass.
# - `grouped_query_attention_backward`: **the gradients of queries and keys were not turned back.** Queries and keys
#   were rotated in each head, so their gradients go back through rope_backward, with the same positions and base,
#   once. The values were not rotated.
# - `llama_block`: **norm1.gamma was used in both norms.** Both have the shape (D,), and in an untrained model all of
#   them are 1.
# - `llama_block`: **the eps of the configuration was not used: it was 1e-5.** 1e-5 is the default of rmsnorm. Some
#   models have 1e-6.
# - `llama_block`: **the second sum added x, not the stream after the attention.** The output of the attention is then
#   lost from the stream.
# - `llama_block_backward`: **the attention got dout instead of the gradient of the stream.** The output of the
#   attention also went through the feed-forward network, so its gradient has two parts.
# - `llama`: **every block was given the parameters of block 0.** The parameters of the other blocks then have no
#   effect.
# - `llama_backward`: **with a tied head, the gradient of W_tok left out the part from the head.** The table was used
#   twice: as the table at the beginning and as the head at the end.
# - `llama_config`: **rope_scaling was not looked at.** A model with scaled angles is read without an error, and writes
#   worse texts.
# - `llama_params`: **the square matrices were not transposed.** They fit either way, and no shape shows the mistake.
# - `llama_params`: **the bits of BF16 numbers were read as integers.** astype keeps the number and changes the bits.
#   The bits 0x3F80 stand for 1.0, and not for 16,256.
# - `llama_params`: **unknown tensors were ignored.** A tensor that is not used, such as a bias, would change what the
#   model computes.
# - `generate_llama`: **every new token was rotated as if it stood at position 0.** The new token is passed in as a text
#   of length 1, but its position is after all the tokens in the cache.
# - `generate_llama`: **the stored keys were rotated a second time.** They went into the cache after their rotation, by
#   the angle of their own position. That is enough.
# - `generate_llama`: **when the window moved, the oldest key was dropped and the others were reused.** From the second
#   block on, the stored keys and values contain what was read from the dropped token.

# %% [markdown]
# ## Try it
#
# A head that attends to the previous position is easy to build with rotations, for texts of any length. Give every
# position the same key. Let every query be this key, turned *back* by one position. Then the product of query and key
# is largest if the key is one position before the query: only there do the two rotations agree.
#
# The program prints the weights of the last of twelve positions, for heads of size K = 2, 8 and 32. It does so for a
# text that starts at position 0, and for one that starts at position 1000.
#
# **Guess first.** Which weights does the second text have? And which position other than the previous one may get a
# large weight if there is only one pair, K = 2?
#
# Run it: `headway experiment llama`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    T = 12

    def weights_of_head(K, start, base=10000.0, turn=-1, mask=None):
        key = np.full((T, K), 3.0)  # the same at every position
        query = rope(key, np.full(T, turn), base)  # the key, turned back by one position
        positions = start + np.arange(T)
        q, k = rope(query, positions, base), rope(key, positions, base)
        return attention(q, k, k, mask)[1].round(2)

    causal = np.tri(T, dtype=bool)
    for K in (2, 8, 32):
        for start in (0, 1000):
            print(f"K = {K:2}, start {start:4}:", weights_of_head(K, start, mask=causal)[-1])

# %% [markdown]
# ## What came out
#
# ```text
# K =  2, start    0: [0.   0.   0.   0.03 0.36 0.   0.   0.   0.   0.   0.61 0.  ]
# K =  2, start 1000: [0.   0.   0.   0.03 0.36 0.   0.   0.   0.   0.   0.61 0.  ]
# K =  8, start    0: [0.   0.   0.   0.03 0.18 0.   0.   0.   0.   0.04 0.71 0.04]
# K =  8, start 1000: [0.   0.   0.   0.03 0.18 0.   0.   0.   0.   0.04 0.71 0.04]
# K = 32, start    0: [0.   0.   0.   0.   0.   0.   0.   0.   0.   0.09 0.82 0.09]
# K = 32, start 1000: [0.   0.   0.   0.   0.   0.   0.   0.   0.   0.09 0.82 0.09]
# ```
#
# Where the text starts does not matter: only distances do. A single pair turns by one radian at each position, and
# after 6.28 of them it points in the same direction again. So with K = 2 the head also attends to position 4, six
# positions before the previous one. (The turn is not quite complete: 6 of 6.28 radians.) With more pairs, the slower
# ones tell the two positions apart, as the hour hand of a clock does when the minute hand has gone round once.
#
# 1. Take K = 4 and the bases 10,000 and 100. How fast is the second pair, and how large is the wrong weight at
#    position 4?
# 2. Turn the queries forward by one position instead of back, and use no mask. Which position does each of the
#    positions attend to? What does the last one do, which has no next position?

# %% [markdown]
# ## Answers
#
# **1. 0.01 and 0.1 radians for each position; 0.38 and 0.12.** Within six positions the second pair turns by 0.06
# radians with the base 10,000, which hardly changes a cosine, and by 0.6 radians with the base 100. For twelve
# positions the smaller base is better. For ten thousand it is not: no pair would turn slowly enough.
#
# ```python
# >>> for base in (10000.0, 100.0):
# ...     print(weights_of_head(4, 0, base, mask=causal)[-1])
# [0.   0.   0.   0.06 0.38 0.   0.   0.   0.   0.01 0.55 0.01]
# [0.   0.   0.   0.01 0.12 0.   0.   0.   0.   0.01 0.84 0.01]
#
# ```
#
# **2. To the next one; the last attends mostly to position 6.** A full turn is 6.28 positions, and position 6 is six
# positions before the next one, which does not exist.
#
# ```python
# >>> weights = weights_of_head(8, 0, turn=1)
# >>> weights.argmax(axis=-1).tolist()
# [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 6]
# >>> weights[-1]
# array([0.02, 0.  , 0.  , 0.  , 0.  , 0.13, 0.7 , 0.01, 0.  , 0.  , 0.  ,
#        0.14])
#
# ```

# %% [markdown]
# ## Try it: Llama or GPT
#
# Train both models on the same batches: a GPT with the settings of GPT-2, but with a separate head, and a Llama with
# the same width and nearly as many parameters. The text is that of "three sizes" in the assignment `training`: the next
# token depends on the two before it, through a table of 400 entries, and 10 % of the tokens are random. Both models
# must find the two previous tokens, wherever they stand.
#
# Then let the Llama, which was trained on texts of 32 tokens, read longer ones. Nothing but the check of the length
# keeps it from doing so. Measure the loss of the last eight tokens.
#
# **Guess first.** Which model learns faster, and why? What is the loss of the last eight tokens in texts of 32, 48 and
# 64 tokens? (Guessing among 20 tokens costs log 20 = 3.00.)
#
# Run it: `headway experiment llama compare`, or the next cell of the notebook. It takes about 15 seconds.

# %%
if __name__ == "__main__" and "compare" in sys.argv:
    from dataclasses import replace

    from gpt import GPTConfig, count_parameters, gpt, gpt_loss, init_gpt
    from softmax import cross_entropy, cross_entropy_backward
    from training import adamw_step, learning_rate

    V, T, steps = 20, 32, 300
    table = np.random.default_rng(0).integers(V, size=(V, V))

    def batch(rng, size, length=T):
        text = list(rng.integers(V, size=(2, size)))
        for _ in range(length - 1):
            follows = rng.random(size) < 0.9
            text.append(np.where(follows, table[text[-2], text[-1]], rng.integers(V, size=size)))
        text = np.stack(text, axis=1)  # (B, length + 1)
        return text[:, :-1], text[:, 1:]

    def llama_loss(ids, targets, params, config):
        logits, cache = llama(ids, params, config)
        return cross_entropy(logits, targets), llama_backward(cross_entropy_backward(logits, targets), cache)

    def trained(name, config, init, loss_of, model):
        params = {name: value.astype(np.float64) for name, value in init(config, np.random.default_rng(0)).items()}
        rng, state, losses = np.random.default_rng(1), {}, []
        for step in range(steps):
            loss, grads = loss_of(*batch(rng, 16), params, config)
            params, state = adamw_step(params, grads, state, learning_rate(step, 0.01, 0.001, 30, steps))
            losses.append(loss)
        course = " ".join(f"{np.mean(losses[at : at + 50]):.2f}" for at in range(0, steps, 50))
        ids, targets = batch(np.random.default_rng(2), 200)
        new = cross_entropy(model(ids, params, config)[0], targets)
        print(f"{name:5} {count_parameters(params)} parameters   {course}   on new text {new:.2f}")
        return params

    sizes = {"vocab_size": V, "block_size": T, "n_layers": 2, "n_heads": 2, "d_model": 16, "tied": False}
    trained("GPT", GPTConfig(**sizes, init_std=0.1), init_gpt, gpt_loss, gpt)
    config = LlamaConfig(**sizes, init_std=0.1)
    params = trained("Llama", config, init_llama, llama_loss, llama)
    for length in (32, 48, 64):
        ids, targets = batch(np.random.default_rng(3), 200, length)
        logits, _ = llama(ids, params, replace(config, block_size=length))
        print(f"the last 8 of {length} tokens: {cross_entropy(logits[:, -8:], targets[:, -8:]):.2f}")

# %% [markdown]
# ## What came out: Llama or GPT
#
# ```text
# GPT   7744 parameters   2.47 1.96 1.65 1.44 1.33 1.23   on new text 1.26
# Llama 7376 parameters   2.34 1.65 1.34 1.15 1.05 0.96   on new text 0.98
# the last 8 of 32 tokens: 0.83
# the last 8 of 48 tokens: 2.99
# the last 8 of 64 tokens: 3.33
# ```
#
# The Llama learns faster here. "The token before this one" is one and the same rotation everywhere, so what its heads
# learn at one position holds at all others. The GPT has 32 position vectors, and its heads have to learn for each of
# them which one comes before. (This is one text and one size. Other parts of the model differ, too: the run does not
# show how much each of them helps.)
#
# On longer texts the loss jumps to that of guessing, and above. The rotations exist for any position, but the model has
# never seen two tokens 40 positions apart. Its scores for such distances were never trained, and the wrong tokens get a
# share of the attention. That is why `llama` checks the length. (Large models are prepared for longer texts by further
# training on them, often with a larger base or scaled angles: that is what `rope_scaling` is about.)

# %% [markdown]
# ## In your own GPT
#
# `headway train` trains your GPT on names, and `headway train --preset llama` trains your Llama on the same batches.
# Width, depth and context are the same, and the Llama has 8% fewer parameters. In one run of 5,000 steps with the
# official solution, the loss on the validation text was 2.05 for the GPT and 2.04 for the Llama.
