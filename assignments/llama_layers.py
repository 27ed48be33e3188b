"""The layers of a Llama: rotary positions, the gated feed-forward network, and shared keys and values."""

# %% [markdown]
# # The layers of a Llama
#
# *Assignment 18 of 21 · 8 functions · about 3 h to write them*
#
# GPT-2 cannot read its 1,025th token: its table of positions ends after 1,024 rows. And if each head of queries had its
# own keys and values, the smallest Llama 3 would keep 4 GiB of them for a text of 8,192 tokens. It keeps 1 GiB.
#
# Llama keeps GPT-2's plan but changes the layers inside the blocks (Touvron et al. 2023, section 2.2). You wrote one of
# the new ones, the RMS norm, in the assignment `layernorm`. Here you write the other three, each with its backward
# pass, and in the assignment `llama`, you build the model from them.
#
# ```text
#                             GPT-2                        Llama
#     where a token is        a vector for each position   queries and keys are rotated,
#                             is added, once               in every block
#     feed-forward network    D -> 4D, GELU, 4D -> D       two products D -> F, of which one is
#                                                          a gate for the other; F -> D
#     attention               H heads of queries,          H heads of queries,
#                             H of keys and values         G of keys and values, which are shared
# ```
#
# ![A map of the whole model. Marked: both halves of the block, and in each head the rotation of queries and keys, and
# the G heads of k and v.](figures/map-llama-layers.svg)

# %%
import numpy as np
from attention import attention, attention_backward
from ffn import linear, linear_backward
from multihead import merge_heads, split_heads
from softmax import as_float

# %% [markdown]
# ## `rope`
#
# *30 min, needs some thought*
#
# What attention mostly needs to know is a *distance*, such as "the token before this one". With a vector for each
# position, GPT-2 has to learn every distance again at each position.
#
# The **rotary position embedding** (RoPE) adds nothing. It turns the queries and keys by an angle that grows with the
# position (Su et al. 2021, section 3.2). Begin with vectors of two entries, (a, b), as arrows in a plane. To turn an
# arrow by the angle $\theta$, compute
#
# $$(a \cos\theta - b \sin\theta,\;\; a \sin\theta + b \cos\theta)$$
#
# At one radian per position (a full turn is 2π, about 6.28), the same arrow (1, 0) becomes:
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
# A score is the product q · k of two arrows. It is the product of their lengths and the cosine of the angle between
# them. Turn the query by its position m and the key by its position n: the lengths stay the same, and the angle changes
# by m − n radians. Move both a hundred positions on, and nothing changes:
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
# In the picture, both arrows keep turning from step 2 to step 3, but the angle between them stays the same:
#
# ![A query and a key as arrows, in four steps. Both at 0, 53 degrees apart; at 5 and 3, 61 degrees; at 8 and 6, both
# arrows point elsewhere, but are 61 degrees apart again; at 8 and 3, 127 degrees.](figures/rope-distance.svg)
#
# The values are *not* turned. What a position passes on should not depend on the distance.
#
# ### Fast and slow pairs
#
# One pair cannot tell a distance of 1 from one of 7, which is nearly a full turn more. So a vector of K entries is cut
# into K/2 pairs, and each pair i has its own speed, like the hands of a clock:
#
# $$\mathrm{angle}_{t,i} = \mathrm{position}_t \cdot \mathrm{base}^{-2i/K}$$
#
# These are the angles of the sinusoidal positions in `embeddings`. With K = 4, the speeds are 1 and 0.01:
#
# ```python
# >>> rope(np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]), np.array([1, 100])).round(4)
# array([[ 0.5403,  1.    ,  0.8415,  0.01  ],
#        [ 0.8623,  0.5403, -0.5064,  0.8415]])
#
# ```
#
# ![Four pairs as arrows at position 8, and pale at all positions before: the first pair turns by one radian at each
# step, the fourth by a thousandth.](figures/rope-pairs.svg)
#
# Su et al. took the base 10,000 from the sinusoids. Models for longer texts take a larger one, which makes the slow
# pairs slower still: 500,000 in Llama 3 (Grattafiori et al. 2024, section 3.2). Later models also slow down some pairs
# and leave the others as they are. Then `base` is not one number, but holds the K/2 speeds themselves.
#
# ### Which entries form a pair?
#
# In the example, the two entries of pair 0 are entry 0 and entry 2. Here, as in Hugging Face's models, entry i of the
# first *half* is turned together with entry i of the second half. In the paper and in Meta's own program, the pairs are
# *interleaved*: entries 0 and 1, then 2 and 3. Written with your `rope`, this form is
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
# Neither form is better. But trained parameters fit only one of them, and with the other, the model writes nonsense,
# without any error. To convert a model, reorder the columns of `W_q` and `W_k` within each head:
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
# - **Digits.** At position 100,000, the first angle is 100,000 radians, and a float32 keeps only two digits after the
#   point. Compute the angles in float64, and convert the cosines and sines to the dtype of x.
# - **The old entries.** Both lines of the rotation need the *old* a and b.

# %%


def rope(x, positions, base=10000.0):
    """Rotate pairs of entries by angles that grow with the position (Su et al. 2021, section 3.2.2).

        angle[t, i] = positions[t] · base^(-2i/K),   i from 0 to K/2 - 1
        out[..., t, i]       = x[..., t, i] cos(angle[t, i]) - x[..., t, i + K/2] sin(angle[t, i])
        out[..., t, i + K/2] = x[..., t, i] sin(angle[t, i]) + x[..., t, i + K/2] cos(angle[t, i])

    Args:
        x: queries or keys, (..., T, K). Integers are computed in float64.
        positions: integers, (T,), the position of each row of `x`, in any order.
        base: the number whose powers are the angles per position, or a sequence of these K/2 angles themselves.

    Returns:
        (..., T, K), in the dtype of `x`.

    Raises:
        ValueError: if K is odd.
    """
    raise NotImplementedError("llama_layers.rope")


# %% [markdown]
# ## `rope_backward`
#
# *15 min, needs some thought*
#
# There is nothing to learn in a rotation, but gradients have to go back through it. Take one pair (a, b) and its angle
# $\theta$, and ask as in `ffn`:
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
# your two lines with those of the forward pass. They describe a rotation, too: by what angle?
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
    raise NotImplementedError("llama_layers.rope_backward")


# %% [markdown]
# ## `silu`
#
# *10 min, straightforward*
#
# Llama's activation is a close relative of GELU. GELU multiplies x by a gate made from the normal distribution; the
# **SiLU** (sigmoid linear unit, also called swish) uses the sigmoid $\sigma$ of x as the gate (Hendrycks and Gimpel
# 2016, section 2):
#
# $$\mathrm{silu}(x) = x\, \sigma(x) = \frac{x}{1 + e^{-x}}$$
#
# ```python
# >>> silu(np.array([-10.0, -3.0, -1.0, 0.0, 1.0, 3.0, 10.0])).round(4)
# array([-5.0000e-04, -1.4230e-01, -2.6890e-01,  0.0000e+00,  7.3110e-01,
#         2.8577e+00,  9.9995e+00])
#
# ```
#
# Taken literally, the formula overflows where x is very negative, and NumPy warns. `np.exp(-np.abs(x))` never
# overflows. How can you write the sigmoid with it, for positive and for negative x?

# %%


def silu(x):
    """Apply the sigmoid linear unit, element by element (Hendrycks and Gimpel 2016, section 2).

        silu(x) = x σ(x) = x / (1 + exp(-x))

    Args:
        x: any shape. Integers are computed in float64.

    Returns:
        Same shape and dtype as `x`.
    """
    raise NotImplementedError("llama_layers.silu")


# %% [markdown]
# ## `silu_backward`
#
# *15 min, needs some thought*
#
# SiLU is a product of x and the gate σ(x), entry by entry. So use the product rule, as for GELU:
#
# - What is the derivative of σ? You found it on paper in `ffn` (question 2): it can be written with σ alone.
# - The product rule has two terms. In the first, x is replaced by its derivative; in the second, the gate is.
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
    raise NotImplementedError("llama_layers.silu_backward")


# %% [markdown]
# ## `swiglu`
#
# *15 min, straightforward*
#
# In `ffn`, the activation looks at one number and decides how much of *that* number passes. A **gated linear unit**
# computes two numbers for each feature from x, with two matrices. One is the gate, and decides how much of the other
# passes (Dauphin et al. 2017, section 2). With SiLU at the gate, this is called **SwiGLU** (Shazeer 2020, section 2):
#
# $$\mathrm{swiglu}(x) = \big(\mathrm{silu}(x W_{gate}) \cdot (x W_{up})\big)\, W_{down}$$
#
# The dot multiplies entry by entry. Why does it help? Shazeer offers no explanation: "we attribute their success, as
# all else, to divine benevolence" (section 4).
#
# | step | shape |
# |---|---|
# | `x` | (..., D) |
# | z = `x W_gate`, with `W_gate` (D, F) | (..., F) |
# | u = `x W_up`, with `W_up` (D, F) | (..., F) |
# | the gate s = silu(z), and the hidden features s · u | (..., F) |
# | out, with `W_down` (F, D) | (..., D) |
#
# A third matrix costs parameters. So F is about 8/3 D instead of 4 D: both forms then have 8 D². There are no biases.
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
# By hand, for the first row: z is (1, −1) and u is (2, 2). SiLU turns z into (0.7311, −0.2689), so the hidden features
# are (1.4621, −0.5379), and 1.4621 · 1 − 0.5379 · 10 = −3.9167.

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
    raise NotImplementedError("llama_layers.swiglu")


# %% [markdown]
# ## `swiglu_backward`
#
# *25 min, needs some thought*
#
# Only one step is new, the product of two numbers, entry by entry:
#
# ```text
#     hidden = s u
#
#     where is s?     in hidden, with the factor  u      ds = dhidden u
#     where is u?     in hidden, with the factor  ?      du = ?
# ```
#
# For all other steps, you have backward functions. Fill in the table on paper:
#
# | step, from the end | gets | needs from the cache | gives |
# |---|---|---|---|
# | third linear layer | `dout` (..., D) | hidden and `W_down` | dhidden (..., F), `W_down` |
# | product | dhidden | s, u | ds, du |
# | SiLU | ds | ? | dz |
# | first linear layer | dz | ? | a gradient of x, `W_gate` |
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
    raise NotImplementedError("llama_layers.swiglu_backward")


# %% [markdown]
# ## `grouped_query_attention`
#
# *30 min, needs some thought*
#
# For every new token, a model reads all earlier keys and values (see `generation`). Does it need H different sets of
# them? In **multi-query attention**, all heads share a single one (Shazeer 2019, section 3), and the model becomes
# slightly worse. **Grouped-query attention** lies in between: there are G heads of keys and values, and H / G
# neighboring heads of queries share each of them (Ainslie et al. 2023, section 2.2).
#
# ![Six heads of queries. On the left, each has keys and values of its own. In the middle, three neighbors share one
# of two heads of keys and values. On the right, all six share a single one.](figures/shared-heads.svg)
#
# The smallest Llama 3 has 32 blocks, H = 32, G = 8 and K = 128. With two bytes for each number, the keys and values of
# 8,192 tokens need
#
# ```python
# >>> def gib_of_keys_and_values(n_kv_heads):
# ...     return 32 * 2 * n_kv_heads * 128 * 2 * 8192 / 2**30  # blocks, keys and values, heads, K, bytes, tokens
# >>> gib_of_keys_and_values(32), gib_of_keys_and_values(8)
# (4.0, 1.0)
#
# ```
#
# The computation:
#
# ```text
#     x (B, T, D)  ── W_q, split ──>  (B, H, T, K)  ── rope ──>  q (B, H, T, K)
#                  ── W_k, split ──>  (B, G, T, K)  ── rope, repeat ──>  k (B, H, T, K)
#                  ── W_v, split ──>  (B, G, T, K)  ── repeat ──>  v (B, H, T, K)
#     q, k, v  ── attention ──>  (B, H, T, K)  ── merge ──>  (B, T, H K)  ── W_o ──>  out (B, T, D)
# ```
#
# Watch the order of the copies. Query head h uses the keys of head h // (H / G), so the copies of one head stand next
# to each other. `np.repeat` does this, `np.tile` does not:
#
# ```python
# >>> np.repeat(["k0", "k1"], 3).tolist()  # heads 0, 1, 2 share k0
# ['k0', 'k0', 'k0', 'k1', 'k1', 'k1']
# >>> np.tile(["k0", "k1"], 3).tolist()  # wrong
# ['k0', 'k1', 'k0', 'k1', 'k0', 'k1']
#
# ```
#
# The rotation acts within a head, so it comes after the split: all heads have the same K/2 angles. If no positions are
# given, they are 0 to T − 1.
#
# Here two heads of queries share one head of keys and values, and K = 2. The two tokens are equal, but the second is
# one position later:
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
# The scores are 1 / √2 on the diagonal, and cos(1) / √2 = 0.5403 / √2 beside it. The output is that of two equal
# values: they were not rotated.

# %%


def grouped_query_attention(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    """Compute self attention with rotated positions and shared keys and values (Ainslie et al. 2023, section 2.2).

        q = x W_q (H heads),   k = x W_k (G heads),   v = x W_v (G heads)
        head_h = attention(rope(q_h), rope(k_j), v_j),   j = h // (H / G)
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
    raise NotImplementedError("llama_layers.grouped_query_attention")


# %% [markdown]
# ## `grouped_query_attention_backward`
#
# *40 min, needs pen and paper*
#
# Write the steps in reverse order:
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
# keys, each used by H / G heads of queries. Which heads are these, and what happens to their gradients? The rule is the
# one for broadcasting, from `gradients`. In numbers, for H = 4 and G = 2: if the gradients of the four copies of a
# single entry are 1, 2, 3 and 4, those of the two keys are 3 and 7.
#
# **The rotation.** Which of dq, dk and dv have to be turned back, and by which positions?
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
    raise NotImplementedError("llama_layers.grouped_query_attention_backward")


# %% [markdown]
# ## On paper
#
# 1. K = 2. A query (1, 0) is at position 5, a key (0, 1) at position 2. What is their product after the rotation? What
#    is it for the positions 105 and 102?
# 2. Where is SiLU smallest? Write the condition "the slope is 0" with σ, and check it at x = −1.278.
# 3. Suppose all three matrices of `swiglu` are 0 at the start of training. Which gradients are 0? And if only `W_down`
#    is 0, and the others are random?

# %% [markdown]
# ## Answers on paper
#
# **1. It is sin 3 = 0.1411, both times.** Turn both back by 2 radians: the key is (0, 1) again, and the query, now at
# position 3, is (cos 3, sin 3). The distance from 102 to 105 is 3 as well.
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
# **3. All of them; all except that of `W_down`.** If all three are 0, so are the hidden features, and with them the
# gradient of `W_down`. And dhidden is 0, because `W_down` is, so no gradient reaches the other two matrices, or x. Such
# a network never learns. If only `W_down` is 0, it changes in the first step, and then the others can, too.
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

# %% [markdown]
# ## What could go wrong
#
# The report uses these words when it recognizes a mistake.
#
# - `rope`: **neighboring entries were rotated: 2i with 2i + 1.** Here the entry i is rotated with the entry i + K/2.
#   Weights that were trained with one order of the entries give nonsense with another.
# - `silu_backward`: **the gate was treated as a constant: only σ(x) is left.** SiLU is x times a gate σ that depends
#   on x: the product rule gives σ + x σ', and σ' is σ (1 - σ).
# - `grouped_query_attention`: **the heads of the keys and values were repeated in turn: 0, 1, 0, 1 instead of 0, 0,
#   1, 1.** Head h of the queries uses head h // (H / G) of the keys and values: neighboring heads share.
# - `grouped_query_attention`: **the values were rotated, too.** In each head, queries and keys are rotated by their
#   positions, once, so that their product depends on the distance. What is averaged, the values, stays as it is.
# - `grouped_query_attention_backward`: **the gradients of the heads of a group were averaged, not added.** H / G
#   neighboring heads used the same keys and values. What is repeated in the forward pass is summed in the backward
#   pass.

# %% [markdown]
# ## Try it
#
# With rotations you can build a head that attends to the previous position, in texts of any length. Give every position
# the same key. Let every query be this key, turned *back* by one position. Then the product of query and key is largest
# where the key is one position before the query: only there do the two rotations agree.
#
# The program prints the weights of the last of twelve positions, for K = 2, 8 and 32, in a text that starts at position
# 0 and in one that starts at position 1000.
#
# **Guess first.** What weights does the second text have? And which position other than the previous one may get a
# large weight if there is only one pair, K = 2?
#
# Run it: `headway experiment llama_layers`, or the next cell of the notebook.

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
# It does not matter where the text starts. A single pair turns by one radian at each position, and after 6.28 of them,
# it points in the same direction again. So with K = 2, the head also attends to position 4, six positions before the
# previous one. With more pairs, the slower ones tell the two positions apart, as the hour hand of a clock does when the
# minute hand has gone around once.
#
# 1. Take K = 4 and the bases 10,000 and 100. How fast is the second pair, and how large is the wrong weight at
#    position 4?
# 2. Turn the queries forward by one position instead of back, and use no mask. What does each position attend to? What
#    about the last one, which has no next position?

# %% [markdown]
# ## Answers
#
# **1. 0.01 and 0.1 radians for each position; 0.38 and 0.12.** Within six positions, the second pair turns by 0.06
# radians with the base 10,000, which hardly changes a cosine, and by 0.6 radians with the base 100. For twelve
# positions, the smaller base is better. For ten thousand, it is not: no pair would turn slowly enough.
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
# before position 12, the next one, which does not exist.
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
