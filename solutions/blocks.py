"""Assignment 8: the transformer block, forward and backward, with the norm before or after."""

# %% [markdown]
# # The block: attend, then think, and never lose the thread
#
# Attention, layer norm, feed-forward network: the parts are there. What is missing is how they fit together, so that a
# hundred of them can stand on top of each other and still be trained. The unit that a transformer is a stack of is the
# **transformer block**. It does two things to the vector of each position:
#
# 1. attention: collect information from other positions;
# 2. feed-forward network: work on what has been collected, every position alone.
#
# Neither replaces the vector. Each one *adds* its result to it: $x + f(x)$, a **residual connection** (He et al. 2016,
# section 3.1). The vectors that run through the whole network in this way, from the embedding to the last block, are
# called the **residual stream**. Every step reads from it on a *branch* and writes a correction back. A block that has
# not learned anything yet does little harm, and on the way back the gradient has a free road through every plus sign,
# around everything else.
#
# ```text
#     x ──┬────────────────────────> + ──┬──────────────────> + ──> y     the residual stream
#         │                          ^   │                    ^
#         └──> ln1 ──> attention ────┘   └──> ln2 ──> ffn ────┘           two branches, norm="pre"
# ```
#
# ## Pre-norm and post-norm
#
# Layer norm keeps the numbers in range, and there are two places to put it: **pre-norm**, on the branch, before each
# step; and **post-norm**, on the stream, after each sum.
#
# | | `norm="pre"` | `norm="post"` |
# |---|---|---|
# | after attention | $a = x + \mathrm{attention}(\mathrm{ln}_1(x))$ | $a = \mathrm{ln}_1(x + \mathrm{attention}(x))$ |
# | after ffn | $y = a + \mathrm{ffn}(\mathrm{ln}_2(a))$ | $y = \mathrm{ln}_2(a + \mathrm{ffn}(a))$ |
# | found in | GPT-2, Llama, and this course's GPT | the first transformer, BERT |
# | source | Radford et al. 2019, section 2.3 | Vaswani et al. 2017, section 3.1 |
#
# In the pre-norm form the stream itself is never touched: the free road is really free. Such a network trains well from
# the first step, but needs one more norm at the very end of the stack, because the stream grows. In the post-norm form
# every gradient has to pass through every norm, and deep stacks only learn if the learning rate starts very small
# (Xiong et al. 2020, section 3).
#
# Both have the same parameters with the same shapes, and both learn something, so mixing them up is easy to do and hard
# to see. PyTorch's `nn.TransformerEncoderLayer` is post-norm unless you say `norm_first=True`.

# %%
from ffn import ffn, ffn_backward
from layernorm import layernorm, layernorm_backward
from multihead import multihead_attention, multihead_attention_backward
from softmax import as_float

# %% [markdown]
# ## Parameters of parts
#
# A block owns the parameters of four parts, all in one flat dictionary: `ln1.gamma`, `attn.W_qkv`, `ffn.b_1` and so on.
# The parts know nothing of this and want their own short names. Two small helpers, given, translate in both directions.
#
# ```python
# >>> subset({"ln1.gamma": 1, "ffn.W_1": 2, "ffn.W_2": 3}, "ffn.")
# {'W_1': 2, 'W_2': 3}
# >>> prefixed({"W_1": 2, "W_2": 3}, "ffn.")
# {'ffn.W_1': 2, 'ffn.W_2': 3}
#
# ```


# %%
def subset(params, prefix):
    """Given: the entries of `params` whose names begin with `prefix`, under the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in params.items() if name.startswith(prefix)}


def prefixed(params, prefix):
    """Given: the opposite of `subset`, every name with `prefix` in front."""
    return {prefix + name: value for name, value in params.items()}


# %% [markdown]
# ## `block`
#
# With x of shape `(B, T, D)` every line keeps the shape `(B, T, D)`; that is what allows the residual connections, and
# what makes blocks stackable. The layer norms use $\epsilon = 10^{-5}$.
#
# Write `a = x + ...`, not `x += ...`: in-place addition would change the caller's array, and the vectors that an
# earlier step has put into its cache.
#
# A block in which the last matrices of both branches, `attn.W_o` and `ffn.W_2`, are 0 adds nothing to the stream. The
# pre-norm form then returns its input unchanged, and the post-norm form returns it normalized (twice, which is the same
# as once):
#
# ```python
# >>> import numpy as np
# >>> D, F = 2, 3
# >>> params = {"ln1.gamma": np.ones(D), "ln1.beta": np.zeros(D), "ln2.gamma": np.ones(D), "ln2.beta": np.zeros(D)}
# >>> params |= {"attn.W_qkv": np.ones((D, 3 * D)), "attn.W_o": np.zeros((D, D))}
# >>> params |= {"ffn.W_1": np.ones((D, F)), "ffn.W_2": np.zeros((F, D))}
# >>> x = np.array([[[4.0, 0.0], [1.0, 7.0]]])
# >>> out, cache = block(x, params, n_heads=1)
# >>> out
# array([[[4., 0.],
#         [1., 7.]]])
# >>> out, cache = block(x, params, n_heads=1, norm="post")
# >>> out.round(3)
# array([[[ 1., -1.],
#         [-1.,  1.]]])
#
# ```
#
# The cache has three entries that everybody can rely on, because they are worth looking at: the attention weights, and
# the residual stream after each of the two steps.
#
# ```python
# >>> cache["weights"].shape, cache["after_attention"].shape, cache["after_ffn"].shape
# ((1, 1, 2, 2), (1, 2, 2), (1, 2, 2))
#
# ```


# %%
def block(x, params, n_heads, mask=None, norm="pre", activation="gelu"):
    """One transformer block: attention and a feed-forward network on a residual stream.

        norm="pre":     a = x + attention(ln1(x))         y = a + ffn(ln2(a))       (Radford et al. 2019, section 2.3)
        norm="post":    a = ln1(x + attention(x))         y = ln2(a + ffn(a))       (Vaswani et al. 2017, section 3.1)

    Args:
        x: the residual stream, (..., T, D). Integers are computed in float64.
        params: `ln1.gamma`, `ln1.beta`, `ln2.gamma`, `ln2.beta`, each (D,); the parameters of `multihead_attention` as
            `attn.W_qkv` (D, 3D), `attn.b_qkv` (3D,), `attn.W_o` (D, D), `attn.b_o` (D,); those of `ffn` as `ffn.W_1`
            (D, F), `ffn.b_1` (F,), `ffn.W_2` (F, D), `ffn.b_2` (D,). The biases `b_...` may be absent.
        n_heads: number of heads H; D is a multiple of it.
        mask: boolean, broadcastable to (..., H, T, T), e.g. (T, T) or (B, 1, T, T); True where the query may look at
            the key. A query that may look at nothing gets 0 from its heads. None: everybody sees everything.
        norm: "pre" or "post".
        activation: "gelu" (the tanh form) or "relu".

    Returns:
        out: (..., T, D), same dtype as `x`.
        cache: dictionary for `block_backward`, with what you like and these entries:
            `weights`, the attention weights, (..., H, T, T);
            `after_attention`, the stream after the first step (a above), (..., T, D);
            `after_ffn`, the stream after the second step (y above, the output), (..., T, D).

    Raises:
        ValueError: if `norm` is neither "pre" nor "post", or `activation` neither "gelu" nor "relu".
    """
    if norm not in ("pre", "post"):
        raise ValueError(f'norm must be "pre" or "post", got {norm!r}')
    x = as_float(x)
    ln1, ln2 = subset(params, "ln1."), subset(params, "ln2.")
    attn_params, ffn_params = subset(params, "attn."), subset(params, "ffn.")

    # Every array is (..., T, D). What a norm reads is kept for the backward pass.
    if norm == "pre":
        ln1_in = x
        attn_out, attn_cache = multihead_attention(layernorm(ln1_in, **ln1), attn_params, n_heads, mask)
        after_attention = ln2_in = x + attn_out
        ffn_out, ffn_cache = ffn(layernorm(ln2_in, **ln2), ffn_params, activation)
        after_ffn = after_attention + ffn_out
    else:
        attn_out, attn_cache = multihead_attention(x, attn_params, n_heads, mask)
        ln1_in = x + attn_out
        after_attention = layernorm(ln1_in, **ln1)
        ffn_out, ffn_cache = ffn(after_attention, ffn_params, activation)
        ln2_in = after_attention + ffn_out
        after_ffn = layernorm(ln2_in, **ln2)

    cache = {
        "weights": attn_cache["weights"],
        "after_attention": after_attention,
        "after_ffn": after_ffn,
        "norm": norm,
        "names": list(params),
        "ln1": (ln1_in, ln1["gamma"]),
        "ln2": (ln2_in, ln2["gamma"]),
        "attn": attn_cache,
        "ffn": ffn_cache,
    }
    return after_ffn, cache


# %% [markdown]
# ## `block_backward`
#
# Read the forward formulas from the end to the start. Where the stream was *added* to, the gradient goes both ways: one
# copy passes along the stream unchanged, the other goes back through the branch, and where the branch had left the
# stream the two are *added* again. Forgetting one of these sums is the classic mistake; the gradients then look
# plausible, and training still works, only worse.
#
# For the second step of the pre-norm form, with $dy$ arriving from above:
#
# $$da = dy + \mathrm{ln}_2^{backward}\big( \mathrm{ffn}^{backward}(dy) \big)$$
#
# The first step goes the same way, with $da$ in place of $dy$. In the post-norm form the norm comes first on the way
# back, for both copies: with $ds = \mathrm{ln}_2^{backward}(dy)$,
#
# $$da = ds + \mathrm{ffn}^{backward}(ds)$$
#
# In the block of zeros above nothing came through the branches, and nothing goes back through them:
#
# ```python
# >>> out, cache = block(x, params, n_heads=1)
# >>> dx, grads = block_backward(np.array([[[1.0, 2.0], [3.0, 4.0]]]), cache)
# >>> dx
# array([[[1., 2.],
#         [3., 4.]]])
# >>> sorted(grads) == sorted(params)
# True
#
# ```


# %%
def block_backward(dout, cache):
    """Gradients of `block`.

    Args:
        dout: gradient with respect to the output, (..., T, D).
        cache: what `block` returned. It is not changed: a second call gives the same answer.

    Returns:
        dx: (..., T, D).
        grads: dictionary with the same keys and shapes as the parameters.
    """
    dout = as_float(dout)
    dln1, dln2 = {}, {}
    if cache["norm"] == "pre":
        dbranch, dffn = ffn_backward(dout, cache["ffn"])
        dbranch, dln2["gamma"], dln2["beta"] = layernorm_backward(dbranch, *cache["ln2"])
        dstream = dout + dbranch  # with respect to after_attention
        dbranch, dattn = multihead_attention_backward(dstream, cache["attn"])
        dbranch, dln1["gamma"], dln1["beta"] = layernorm_backward(dbranch, *cache["ln1"])
        dx = dstream + dbranch
    else:
        dsum, dln2["gamma"], dln2["beta"] = layernorm_backward(dout, *cache["ln2"])
        dbranch, dffn = ffn_backward(dsum, cache["ffn"])
        dstream = dsum + dbranch  # with respect to after_attention
        dsum, dln1["gamma"], dln1["beta"] = layernorm_backward(dstream, *cache["ln1"])
        dbranch, dattn = multihead_attention_backward(dsum, cache["attn"])
        dx = dsum + dbranch

    grads = prefixed(dln1, "ln1.") | prefixed(dattn, "attn.") | prefixed(dln2, "ln2.") | prefixed(dffn, "ffn.")
    return dx, {name: grads[name] for name in cache["names"]}


# %% [markdown]
# ## What could go wrong
#
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
#
# - `block`: **x is not added to the attention's output.** The stream must be able to run past each step; otherwise deep
#   networks hardly learn.
# - `block`: **the attention reads the stream as it is, not normalized (ln1 is missing).** The norm is perhaps computed,
#   but its result is not what the attention gets.
# - `block`: **the mask is inverted: True was taken to forbid.** Here True means that the query may look at the key; in
#   some libraries it means the opposite.
# - `block_backward`: **the gradient does not go past the feed-forward network.** The stream was copied: one copy went
#   through the step, the other one past it. Their gradients add up.
# - `block_backward`: **with "pre", the attention gets dout instead of the gradient of the stream.** What the attention
#   added to the stream also went through the feed-forward network.
# - `block_backward`: **with "pre", dout is added at the end instead of the gradient of the stream.** x reaches the
#   output past both steps, but also past the attention and through the feed-forward network.

# %% [markdown]
# ## Try it
#
# What does the residual stream save? Eight positions with random vectors go through a stack of random blocks: pre-norm,
# post-norm, and a third form without the two sums, in which each step *replaces* the stream. Attention is an average,
# and averages make things alike. So watch one number: how different are the eight vectors still, as a share of their
# length?
#
# **Guess first.** For each of the three forms, what is left of the differences after 1, 4, 16 and 32 blocks?
#
# Run it: `python blocks.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    import numpy as np

    D, n_heads = 32, 4
    shapes = {"attn.W_qkv": (D, 3 * D), "attn.W_o": (D, D), "ffn.W_1": (D, 4 * D), "ffn.W_2": (4 * D, D)}
    norms = {f"ln{i}.gamma": np.ones(D) for i in (1, 2)} | {f"ln{i}.beta": np.zeros(D) for i in (1, 2)}

    def replace(x, params):  # a block without "x +"
        x, _ = multihead_attention(layernorm(x, **subset(params, "ln1.")), subset(params, "attn."), n_heads)
        return ffn(layernorm(x, **subset(params, "ln2.")), subset(params, "ffn."))[0]

    def stack(form, depth, size=1.0):  # `size` is for the matrices that write into the stream
        rng = np.random.default_rng(0)
        x = rng.normal(size=(8, D))
        for _ in range(depth):
            params = norms | {name: rng.normal(size=s) / np.sqrt(s[0]) for name, s in shapes.items()}
            params |= {name: size * params[name] for name in ("attn.W_o", "ffn.W_2")}
            x = replace(x, params) if form == "replace" else block(x, params, n_heads, norm=form)[0]
        return x

    def differences(x):
        return np.linalg.norm(x - x.mean(axis=0)) / np.linalg.norm(x)

    depths = (1, 4, 16, 32)
    print("blocks ", *(f"{depth:4}" for depth in depths))
    for form in ("replace", "post", "pre"):
        print(f"{form:7}", *(f"{differences(stack(form, depth)):.2f}" for depth in depths))

# %% [markdown]
# ## What came out
#
# ```text
# blocks     1    4   16   32
# replace 0.72 0.00 0.00 0.00
# post    0.92 0.60 0.01 0.00
# pre     0.93 0.79 0.53 0.42
# ```
#
# Where each step replaces the stream, all positions are the same vector after four blocks: the text is forgotten.
# (Dong, Cordonnier and Loukas 2021 prove it for attention alone: a feed-forward network only slows it down.) The sums
# keep the thread. They keep it longest in the pre-norm form, in which nothing ever touches the stream; a post-norm
# shrinks what is old with every sum, and 16 random blocks are enough to lose it.
#
# 1. How long is the stream at the top of 32 blocks, compared with its start, "pre" and "post"? Why does a pre-norm
#    stack need one last norm?
# 2. GPT-2 starts with `attn.W_o` and `ffn.W_2` divided by √(2 · 32) for 32 blocks. What becomes of the differences, and
#    of the length?

# %% [markdown]
# ## Answers
#
# **1. It grows with every sum in the pre-norm form.** In the post-norm form it cannot: a vector of 32 numbers with
# variance 1 has the length √32, eight of them √256 = 16. What reads the stream at the top should not depend on the
# depth, hence the last norm.
#
# ```python
# >>> for form in ("pre", "post"):
# ...     print(form, [round(float(np.linalg.norm(stack(form, depth)))) for depth in (0, 1, 8, 32)])
# pre [16, 21, 42, 83]
# post [16, 16, 16, 16]
#
# ```
#
# **2. Both are kept.** All 64 contributions together are now about as large as one was. That is what the next
# assignment does.
#
# ```python
# >>> x = stack("pre", 32, size=1 / 8)
# >>> print(f"{differences(x):.2f}", round(float(np.linalg.norm(x))))
# 0.90 20
#
# ```

# %% [markdown]
# ## In your own GPT
#
# When your GPT is trained (`headway train`, assignment 10), look at this part at work: `headway plot residual-norms`
# and `headway plot residual-stream`.

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("residual-norms", globals())

# %% tags=["active-ipynb"]
# show("residual-stream", globals())
