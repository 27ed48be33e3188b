"""The transformer block, forward and backward, with the norm before or after."""

# %% [markdown]
# # The transformer block: attention and a feed-forward network on one stream
#
# *Assignment 11 of 21 · 2 functions · about 1 h 15 min to write them*
#
# Let eight random vectors attend to each other in four random layers, each of which replaces its input. Out come eight
# nearly identical vectors: relative to their length, they differ by 0.00. Whatever the text was, it is lost. Now *add*
# the result of each step to its input instead. In the better of two forms, the vectors still differ by 0.42 after 32
# layers. (The experiment at the end measures it.) One plus sign in each step saves the text.
#
# A transformer is a stack of **transformer blocks**, each made of the parts that you have written. A block does two
# things to the vector of each position:
#
# 1. attention: collect information from other positions;
# 2. feed-forward network: process what has been collected, at each position separately.
#
# Neither replaces the vector. Each *adds* its result to it: $x + f(x)$, a **residual connection** (He et al. 2016,
# section 3.1). The vectors that run through the whole network in this way are called the **residual stream**. Every
# step reads from the stream on a *branch* and adds a correction to it. In the backward pass, every plus sign passes the
# gradient on unchanged, past the branch. Without the sum, a position would lose its own token: if each attended only to
# its left neighbor, the whole text would shift by one: of "the cat sat", "cat" would stand where "sat" was.
#
# ```text
#     x ──┬────────────────────────> + ──┬──────────────────> + ──> y     the residual stream
#         │                          ^   │                    ^
#         └──> ln1 ──> attention ────┘   └──> ln2 ──> ffn ────┘           two branches, norm="pre"
# ```
#
# Follow one token through two blocks. Each step adds one vector to the stream, and what was there before remains in the
# sum:
#
# ![The vector of one token with eight entries, in five frames: after the embedding, and after attention and the
# feed-forward network of two blocks. Beside each later frame stands the vector that was
# added.](figures/stream-steps.svg)
#
# ![A map of the whole model. Marked: the inside of one block, and the stack of blocks.](figures/map-blocks.svg)
#
# ## Pre-norm and post-norm
#
# Layer norm keeps the values in range. It can go in two places: **pre-norm**, on the branch, before each step; and
# **post-norm**, on the stream, after each sum.
#
# | | `norm="pre"` | `norm="post"` |
# |---|---|---|
# | after attention | $a = x + \mathrm{attention}(\mathrm{ln}_1(x))$ | $a = \mathrm{ln}_1(x + \mathrm{attention}(x))$ |
# | after ffn | $y = a + \mathrm{ffn}(\mathrm{ln}_2(a))$ | $y = \mathrm{ln}_2(a + \mathrm{ffn}(a))$ |
# | found in | GPT-2, Llama, and this course's GPT | the first transformer, BERT |
# | source | Radford et al. 2019, section 2.3 | Vaswani et al. 2017, section 3.1 |
#
# In the pre-norm form, no norm acts on the stream itself, so the gradient flows along it unchanged. Such a network can
# start with the full learning rate, but the stream grows, so the stack needs one more norm at its end. In the post-norm
# form, every gradient has to pass through every norm, and training usually needs a learning rate that starts very small
# (Xiong et al. 2020, section 3).
#
# Both forms have the same parameters, and both can be trained, so you can mix them up without noticing. PyTorch's
# `nn.TransformerEncoderLayer` is post-norm unless you set `norm_first=True`.

# %%
import sys

from ffn import dropout as apply_dropout
from ffn import dropout_backward, ffn, ffn_backward
from layernorm import layernorm, layernorm_backward
from multihead import multihead_attention, multihead_attention_backward

# %% [markdown]
# ## Parameters of parts
#
# One flat dictionary holds the parameters of all four parts: `ln1.gamma`, `attn.W_qkv`, `ffn.b_1` and so on. The parts
# expect their own short names. Two helper functions, both given, convert between them:
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
    """Given: return the entries of `params` whose names begin with `prefix`, without the prefix."""
    return {name.removeprefix(prefix): value for name, value in params.items() if name.startswith(prefix)}


def prefixed(params, prefix):
    """Given: return `params` with `prefix` before each name, the opposite of `subset`."""
    return {prefix + name: value for name, value in params.items()}


# %% [markdown]
# ## `block`
#
# *30 min, needs some thought*
#
# Every line keeps the shape `(B, T, D)` of x, which makes the sums possible and lets you stack blocks. The layer norms
# use $\epsilon = 10^{-5}$.
#
# Write `a = x + ...`, not `x += ...`: in-place addition would change the caller's array, and arrays in the cache of an
# earlier step.
#
# If the last matrix of each branch (`attn.W_o`, `ffn.W_2`) is 0 and has no bias, a block adds nothing to the stream.
# The pre-norm form then returns its input unchanged, and the post-norm form returns it normalized:
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
# ### Dropout
#
# In training, dropout acts on a *branch*, never on the stream: what attention and the feed-forward network return goes
# through `dropout` before it is added (Vaswani et al. 2017, section 5.4). There is no dropout without a random
# generator, so pass `training=rng is not None`. The argument `dropout` shares its name with your function, so import
# the function under another name, as above.
#
# ```python
# >>> params["attn.b_o"] = np.array([10.0, 20.0])  # now the attention adds (10, 20) at each position
# >>> out, cache = block(x, params, n_heads=1, dropout=0.5, rng=np.random.default_rng(0))
# >>> out - x
# array([[[20.,  0.],
#         [ 0.,  0.]]])
# >>> del params["attn.b_o"]
#
# ```
#
# One of the four values was kept, and divided by 1 - p = 0.5. The output of ffn is 0 here, but the next draw from `rng`
# drops some of its values, too.
#
# ### The cache
#
# Three entries of the cache have fixed names, because later assignments and plots use them:
#
# ```python
# >>> cache["weights"].shape, cache["after_attention"].shape, cache["after_ffn"].shape
# ((1, 1, 2, 2), (1, 2, 2), (1, 2, 2))
#
# ```

# %%
def block(x, params, n_heads, mask=None, norm="pre", activation="gelu", dropout=0.0, rng=None):
    """Apply one transformer block: attention and a feed-forward network on a residual stream.

        norm="pre":     a = x + attention(ln1(x))         y = a + ffn(ln2(a))       (Radford et al. 2019, section 2.3)
        norm="post":    a = ln1(x + attention(x))         y = ln2(a + ffn(a))       (Vaswani et al. 2017, section 3.1)

    In training, with `rng`, the outputs of attention and ffn go through `ffn.dropout` before they are added.

    Args:
        x: the residual stream, (..., T, D).
        params: `ln1.gamma`, `ln1.beta`, `ln2.gamma`, `ln2.beta`, each (D,); the parameters of `multihead_attention` as
            `attn.W_qkv` (D, 3D), `attn.b_qkv` (3D,), `attn.W_o` (D, D), `attn.b_o` (D,); those of `ffn` as `ffn.W_1`
            (D, F), `ffn.b_1` (F,), `ffn.W_2` (F, D), `ffn.b_2` (D,). The biases `b_...` may be absent.
        n_heads: number of heads H; D is a multiple of it.
        mask: boolean, broadcastable to (..., H, T, T), e.g. (T, T) or (B, 1, T, T); True where the query may attend to
            the key. A query that may attend to no key gets 0 from its heads. None: no mask.
        norm: "pre" or "post".
        activation: "gelu" (the tanh form) or "relu".
        dropout: the probability p of `ffn.dropout`, 0 ≤ p < 1.
        rng: a `numpy.random.Generator` that `ffn.dropout` draws from, first for the attention, then for ffn. None:
            nothing is dropped.

    Returns:
        out: (..., T, D), in the dtype of `x` and the parameters.
        cache: dict for `block_backward`, with any entries that you need and these:
            `weights`, the attention weights, (..., H, T, T);
            `after_attention`, the stream after the first step (a above), (..., T, D);
            `after_ffn`, the stream after the second step (y above, the output), (..., T, D).

    Raises:
        ValueError: if `norm` is neither "pre" nor "post", or `activation` neither "gelu" nor "relu", or if
            `dropout` is not in [0, 1).
    """
    raise NotImplementedError("blocks.block")


# %% [markdown]
# ## `block_backward`
#
# *45 min, needs pen and paper*
#
# Only the plus sign is new. Look at one step of the pre-norm form with plain numbers:
#
# $$y = a + f(a)$$
#
# The number a is used *twice*: as the first term, and by the branch f. If a rises by h, the first term makes y rise by
# h, and the second by $f'(a)\, h$. So the plus sign passes dy to *both* of its terms unchanged. One copy stays on the
# stream. The other goes back through the branch, which multiplies it by $f'(a)$. Where the branch left the stream, the
# two meet again and are *added*.
#
# ```text
#     forward      a ──┬────────────── + ── y            backward      da <── + <────────────┬── dy
#                      └──> ln ──> f ──┘                                      └── ln <── f <──┘
# ```
#
# With vectors, "times $f'(a)$" becomes a call to each backward function of the branch, the last part first. Write down
# the backward pass of the second step (from dy to da), and then that of the first (from da to dx). In the post-norm
# form $y = \mathrm{ln}(a + f(a))$, the sum is *inside* the norm. So which backward function comes first there, and what
# is copied: dy, or what this function returns?
#
# ![One block as a graph: forward, the stream splits before each branch and is added after it; backward, each plus
# copies the gradient to both.](figures/block-graph.svg)
#
# If you forget one of the two copies, the loss may still fall, only more slowly.
#
# On the way back through a branch with dropout, `dropout_backward` comes first, with the mask of the forward pass. Keep
# both masks in the cache. The gradient that stays on the stream is not masked.
#
# In the example above, nothing came through the branches, so nothing goes back through them. Only the copy on the
# stream is left:
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
    """Return the gradients of `block`.

    Args:
        dout: gradient with respect to the output, (..., T, D).
        cache: what `block` returned. It may be used again, with the same result.

    Returns:
        dx: gradient with respect to `x`, (..., T, D).
        grads: dict with the same keys and shapes as `params`.
        All in the dtype of the inputs of `block`.
    """
    raise NotImplementedError("blocks.block_backward")


# %% [markdown]
# ## On paper
#
# 1. Let the stream be a single number, and each branch a factor: $a = x + 2x$, then $y = a + 3a$. Compute dy/dx from
#    the formula for y, and then backwards, step by step, with the two copies at each plus sign.
# 2. Multiply out the dy/dx of question 1 for two branches with factors p and q: $(1 + p)(1 + q)$. There are four terms,
#    one for each path from x to y. Which paths are they? How many paths are there in a model of 12 blocks?
# 3. Someone has written the backward pass as $da = \mathrm{ln}_2^{backward}(\mathrm{ffn}^{backward}(dy))$, without the
#    copy on the stream. At the start of training, `ffn.W_2` is small. What is wrong with the gradients of the lower
#    blocks?

# %% [markdown]
# ## Answers on paper
#
# **1. It is 12.** y is 4a and a is 3x. Backwards: dy = 1 goes both along the stream and through the branch, so da = 1 +
# 3 = 4, and dx = 4 + 2 · 4 = 12. The branch of the first step gets 4, not 1.
#
# **2. 1, p, q and pq.** The paths lead past both branches, through the first only, through the second only, and through
# both. Twelve blocks have 24 branches, each taken or not: about 17 million paths. Along the one past all branches, the
# gradient reaches the bottom unchanged.
#
# ```python
# >>> 2**24
# 16777216
#
# ```
#
# **3. They are much too small.** Only the paths through *all* of the feed-forward networks are left, and each
# multiplies the gradient by something small. The lower blocks then hardly learn. (He et al. 2016 found that plain
# networks without such connections train worse the deeper they are.)

# %% [markdown]
# ## What could go wrong
#
# A block has few lines and many ways to connect them wrongly. The report uses the same words.
#
# - `block`: **x was not added to the output of the attention.** Each step only adds to the stream. Without the sums,
#   deep networks hardly train.
# - `block`: **the sum after the attention went through dropout, not the output of the attention.** The stream keeps its
#   values. Only what a step adds to it is dropped.
# - `block_backward`: **the gradient did not go past the feed-forward network along the stream.** The stream was used
#   twice: by the step, and in the sum. The two gradients are added.
# - `block_backward`: **with "pre", the attention got dout instead of the gradient of the stream.** The output of the
#   attention also went through the feed-forward network, so its gradient has two parts.
# - `block_backward`: **with "pre", dout was added at the end instead of the gradient of the stream.** x also reaches
#   the output past the attention and then through the feed-forward network.

# %% [markdown]
# ## Try it
#
# Here are the eight vectors again, in a stack of random blocks: pre-norm, post-norm, and without the two sums, so that
# each step *replaces* the stream. Attention averages, and averages make vectors alike.
#
# **Guess first.** In each of the three forms, how much do the vectors still differ, relative to their length, after 1,
# 4, 16 and 32 blocks?
#
# Run it: `headway experiment blocks`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    import numpy as np

    D, n_heads = 32, 4
    shapes = {"attn.W_qkv": (D, 3 * D), "attn.W_o": (D, D), "ffn.W_1": (D, 4 * D), "ffn.W_2": (4 * D, D)}
    norms = {f"ln{i}.gamma": np.ones(D) for i in (1, 2)} | {f"ln{i}.beta": np.zeros(D) for i in (1, 2)}

    def replace(x, params):  # a block without "x +"
        x, _ = multihead_attention(layernorm(x, **subset(params, "ln1.")), subset(params, "attn."), n_heads)
        return ffn(layernorm(x, **subset(params, "ln2.")), subset(params, "ffn."))[0]

    def stack(form, depth, size=1.0):  # `size` scales the matrices that write into the stream
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
# Without the sums, all positions have nearly the same vector after four blocks. (Dong, Cordonnier and Loukas 2021 prove
# this for attention alone, and that a feed-forward network can slow it down.) The sums preserve the differences, most
# of all in the pre-norm form, where nothing rescales the stream. In the post-norm form each norm shrinks the older
# contributions, and 16 of these random blocks are enough to lose them.
#
# 1. How long is the stream at the top of 32 blocks, compared with its start, with "pre" and with "post"? Why does a
#    pre-norm stack need one last norm?
# 2. Before training, the authors of GPT-2 divide the matrices that write into the stream, `attn.W_o` and `ffn.W_2`, by
#    the root of the number of additions: √64 for 32 blocks. What happens to the differences and to the length?

# %% [markdown]
# ## Answers
#
# **1. It grows with every sum in the pre-norm form.** In the post-norm form it cannot grow: a vector of 32 entries with
# variance 1 has the length √32, and eight of them together √256 = 16. The layer after the stack should not get larger
# inputs from a deeper stack, hence the last norm.
#
# ```python
# >>> for form in ("pre", "post"):
# ...     print(form, [round(float(np.linalg.norm(stack(form, depth)))) for depth in (0, 1, 8, 32)])
# pre [16, 21, 42, 83]
# post [16, 16, 16, 16]
#
# ```
#
# **2. Both change far less.** All 64 contributions together are now about as large as one was before. The next
# assignment does the same.
#
# ```python
# >>> x = stack("pre", 32, size=1 / 8)
# >>> print(f"{differences(x):.2f}", round(float(np.linalg.norm(x))))
# 0.90 20
#
# ```

# %% [markdown]
# ## Try it: the tape checks your block
#
# In `gradients` you wrote a tape that finds the gradients of any computation made of seven operations. These are enough
# for a block: $1/\sqrt{v}$ is $e^{-\frac12 \log v}$. The tape cannot transpose, but `rows @ (k_d * eye)` puts the
# column k_d into every row. So your tape, which knows nothing of attention, can check the backward pass that you
# derived by hand, just as `headway check` does with PyTorch.
#
# **Guess first.** A pre-norm block with one head, a causal mask and GELU: how many entries does its tape have? And how
# closely will its gradients agree with those of `block_backward`?
#
# Run it: `headway experiment blocks tape`, or the next cell of the notebook.

# %%
if __name__ == "__main__" and "tape" in sys.argv:
    import numpy as np
    from gradients import tape_gradients

    T, D, F = 3, 4, 8
    rng = np.random.default_rng(0)
    shapes = {"x": (T, D), "dout": (T, D), "W_q": (D, D), "W_k": (D, D), "W_v": (D, D), "attn.W_o": (D, D)}
    shapes |= {"ffn.W_1": (D, F), "ffn.W_2": (F, D)}
    shapes |= {f"ln{i}.{name}": (D,) for i in (1, 2) for name in ("gamma", "beta")}
    arrays = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    arrays |= {"mean": np.full((D, D), 1 / D), "rows": np.ones((T, T)), "eye": np.eye(T)}
    arrays |= {f"column {d}": np.eye(D)[:, [d]] for d in range(D)}
    arrays |= {"hide": np.where(np.tri(T), 0.0, -1e9), "1/√D": np.array(D**-0.5), "ε": np.array(1e-5)}
    arrays |= {"√(2/π)": np.array((2 / np.pi) ** 0.5)} | {str(c): np.array(c) for c in (-1.0, -0.5, 0.5, 1.0, 0.044715)}
    number = {name: i for i, name in enumerate(arrays)}
    tape = []

    def do(op, *arguments):  # write an entry, and return the number of its result
        tape.append((op, tuple(number.get(a, a) for a in arguments)))
        return len(arrays) + len(tape) - 1

    def norm(x, name):
        c = do("add", x, do("mul", "-1.0", do("matmul", x, "mean")))
        variance = do("matmul", do("mul", c, c), "mean")
        scale = do("exp", do("mul", "-0.5", do("log", do("add", variance, "ε"))))  # 1 / √(variance + ε)
        return do("add", do("mul", do("mul", c, scale), f"{name}.gamma"), f"{name}.beta")

    def attend(x):
        q, k, v = (do("matmul", x, name) for name in ("W_q", "W_k", "W_v"))
        scores = "hide"
        for d in range(D):
            q_d, k_d = do("matmul", q, f"column {d}"), do("matmul", k, f"column {d}")  # (T, 1) each
            product = do("mul", q_d, do("matmul", "rows", do("mul", k_d, "eye")))  # (T, T)
            scores = do("add", scores, do("mul", "1/√D", product))
        e = do("exp", scores)
        weights = do("mul", e, do("exp", do("mul", "-1.0", do("log", do("matmul", e, "rows")))))
        return do("matmul", do("matmul", weights, v), "attn.W_o")

    def feed_forward(x):
        z = do("matmul", x, "ffn.W_1")
        cube = do("mul", "0.044715", do("mul", z, do("mul", z, z)))
        gate = do("add", "1.0", do("tanh", do("mul", "√(2/π)", do("add", z, cube))))
        return do("matmul", do("mul", do("mul", "0.5", z), gate), "ffn.W_2")

    a = do("add", "x", attend(norm("x", "ln1")))
    do("sum", do("mul", "dout", do("add", a, feed_forward(norm(a, "ln2")))))
    found = dict(zip(arrays, tape_gradients(tape, list(arrays.values())), strict=True))
    found["attn.W_qkv"] = np.hstack([found[name] for name in ("W_q", "W_k", "W_v")])

    W_qkv = np.hstack([arrays[name] for name in ("W_q", "W_k", "W_v")])
    params = {"attn.W_qkv": W_qkv} | {name: arrays[name] for name in shapes if "." in name}
    _, cache = block(arrays["x"], params, 1, mask=np.tri(T, dtype=bool))
    dx, grads = block_backward(arrays["dout"], cache)
    print(f"{len(tape)} entries")
    for name, gradient in ({"x": dx} | grads).items():
        print(f"{name:11} largest {abs(gradient).max():5.2f}", abs(found[name] - gradient).max() < 1e-12)


# %% [markdown]
# ## What came out: the tape checks your block
#
# ```text
# 78 entries
# x           largest 36.51 True
# attn.W_qkv  largest 14.21 True
# attn.W_o    largest 12.05 True
# ffn.W_1     largest  4.25 True
# ffn.W_2     largest 13.36 True
# ln1.gamma   largest  5.72 True
# ln1.beta    largest  9.99 True
# ln2.gamma   largest  3.71 True
# ln2.beta    largest  6.58 True
# ```
#
# They agree to twelve digits, yet share no formula: the tape has no rule for a softmax, a norm or attention. If
# `block_backward` forgets a copy on the stream, the lines even show which one. Without the copy at the first plus sign,
# only `x` is False. Without the one at the second, so is everything that belongs to attention and to the first norm.
#
# The tape visits every small operation, so it takes several times as long as your formulas. This is why people derive
# them by hand, and why libraries merge ("fuse") many small operations into one.

# %% [markdown]
# ## In your own GPT
#
# After you have trained your GPT (`headway train`, in the assignment `training`), watch its stream:
# `headway plot residual-norms` and `headway plot residual-stream`.
#
# In a small model trained on names, the variance of the stream grows with nearly every step. Attention adds far less
# than the feed-forward network, but what it adds is the only information from other positions.
#
# ![The variance of the residual stream after each step, before and after training, and the variance of what attention
# and the feed-forward network add.](figures/stream-variance.svg)
