"""Assignment 9: the GPT, from token ids to a loss and the gradient of every parameter."""

# %% [markdown]
# # GPT: a stack of blocks that predicts the next token
#
# You have a tokenizer, embeddings, blocks and a loss. Now you combine them into one model. A GPT reads T tokens and
# predicts, at *every* position, which token comes next (Radford et al. 2018, section 3.1; the form built here is
# GPT-2's, Radford et al. 2019, section 2.3):
#
# ```text
#     ids (B, T)
#       ── embed ───────────────>  x (B, T, D)       which token, and at which position
#       ── block 0, block 1, … ─>  x (B, T, D)       the residual stream, with a causal mask
#       ── layer norm ──────────>  x (B, T, D)       the stream has grown: a final norm
#       ── times W_head ────────>  logits (B, T, V)  a score for every token of the vocabulary
# ```
#
# The last step is the **output head**: a linear layer without bias, `W_head` (D, V). (It has nothing to do with the
# heads of attention.)
#
# Because of the causal mask, the scores at position t depend on the tokens 0 to t only. So one text of T tokens gives T
# exercises: "given the first, what is the second?", "given the first two, what is the third?" and so on. All of them
# are computed at the same time. The recurrent networks that came before had to read one token after the other.
#
# ## Which GPT?
#
# Models with this structure differ in small ways. The table lists what varies here; everything else is fixed.
#
# | field of the configuration | choices | used by |
# |---|---|---|
# | `activation` | `"gelu"`, in the tanh form; `"relu"` | GPT-2; the first transformer |
# | `tied` | `True`: the output head *is* the token table; `False`: its own matrix | GPT-2; Llama 2 |
# | `bias` | `True`: linear layers have biases; `False`: they do not | GPT-2; nanoGPT's option, Llama |
#
# **Tied or untied?** The token table `W_tok` (V, D) has one vector for each token, and `W_head` (D, V) has one column
# for each token. Both represent a token as D numbers, one for the input and the other for the output. Press and Wolf
# (2017) use the same parameters for both, a **tied head**: the scores are then the dot products of the final vector
# with every row of the token table. That saves V · D parameters: 39 million for the smallest GPT-2, which has 124
# million. The backward pass needs more care: the table is used at both ends, so its gradient is the sum of two parts.

# %%
import functools
import math
from dataclasses import dataclass

import numpy as np
from attention import causal_mask
from blocks import block, block_backward, prefixed, subset
from embeddings import embed, embed_tokens_backward
from layernorm import layernorm, layernorm_backward
from softmax import cross_entropy, cross_entropy_backward

# %% [markdown]
# ## `GPTConfig`
#
# This class is given. It holds the settings that fix the shape of a model. The defaults are GPT-2's choices, at a size
# that trains on any laptop. A configuration cannot be changed after it is created, so it always fits its model.
#
# ```python
# >>> config = GPTConfig(vocab_size=27, block_size=8, d_model=16)
# >>> config.d_ff  # four times d_model, as it was not given
# 64
#
# ```


# %%
@dataclass(frozen=True)
class GPTConfig:
    """Given: the shape of a GPT.

    Attributes:
        vocab_size: V, the number of different tokens.
        block_size: the number of learned positions, and so of the tokens that the model can read at once.
        n_layers: the number of blocks.
        n_heads: H, the number of heads in each block, a divisor of D.
        d_model: D, the width of the residual stream.
        d_ff: F, the width inside the feed-forward network. None stands for 4 D, and is replaced by that number.
        activation: "gelu" (the tanh form) or "relu".
        tied: whether the head is the transposed token table (True) or a separate matrix (False).
        bias: whether the linear layers have biases. Layer norms always have their beta, and the head has no bias.
        init_std: the standard deviation of the initial matrices. GPT and GPT-2 use 0.02, at a width of 768 or more;
            a model of width 64 or 16 usually learns faster from a larger one, such as 0.08.
    """

    vocab_size: int
    block_size: int
    n_layers: int = 4
    n_heads: int = 4
    d_model: int = 64
    d_ff: int | None = None
    activation: str = "gelu"
    tied: bool = True
    bias: bool = True
    init_std: float = 0.02

    def __post_init__(self):
        """Fill in `d_ff` and raise ValueError for settings that cannot work."""
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        for name in ("vocab_size", "block_size", "n_layers", "n_heads", "d_model", "d_ff"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.d_model % self.n_heads != 0:
            raise ValueError(f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})")
        if self.activation not in ("gelu", "relu"):
            raise ValueError(f'activation must be "gelu" or "relu", got {self.activation!r}')


# %% [markdown]
# ## `init_gpt`
#
# Which values should the parameters have before training? Not zero: features that start with the same values get the
# same gradients and stay the same forever. Not large values either: the first scores would be confidently wrong. The
# first GPT drew its matrices from a normal distribution with the small standard deviation 0.02 (Radford et al. 2018,
# section 4.1), so that the first scores are almost equal and the first loss is close to log V. The code of GPT-2 does
# the same. (It draws the table of positions with 0.01; many other implementations, and this course, use the same number
# for all matrices, `init_std`.)
#
# Two matrices of each block are special. Every block adds to the residual stream twice, so there are 2L additions on
# the way through L blocks (`n_layers`), and the variance of the stream grows with each. The matrices that *write* into
# the stream, `attn.W_o` and `ffn.W_2`, start smaller by the factor $1/\sqrt{2L}$ (Radford et al. 2019, section 2.3,
# with N = 2L), so that the sum of all 2L contributions is about as large as a single one without the factor. Below, L =
# 2, and 0.02 becomes 0.01.
#
# ```python
# >>> config = GPTConfig(vocab_size=27, block_size=8, n_layers=2, n_heads=2, d_model=16, tied=False)
# >>> params = init_gpt(config, np.random.default_rng(0))
# >>> for name in list(params)[:8]:
# ...     print(f"{name:20} {params[name].shape!s:9} std {params[name].std():.3f}")
# W_tok                (27, 16)  std 0.020
# W_pos                (8, 16)   std 0.020
# blocks.0.ln1.gamma   (16,)     std 0.000
# blocks.0.ln1.beta    (16,)     std 0.000
# blocks.0.attn.W_qkv  (16, 48)  std 0.019
# blocks.0.attn.b_qkv  (48,)     std 0.000
# blocks.0.attn.W_o    (16, 16)  std 0.010
# blocks.0.attn.b_o    (16,)     std 0.000
#
# ```


# %%
def init_gpt(config, rng):
    """Return the parameters of an untrained GPT (Radford et al. 2018, section 4.1; Radford et al. 2019, section 2.3).

    The names, for blocks i = 0 … n_layers - 1:

        W_tok (V, D)  W_pos (block_size, D)
        blocks.{i}. ln1.gamma (D,)      ln1.beta (D,)
                    attn.W_qkv (D, 3D)  attn.b_qkv (3D,)  attn.W_o (D, D)  attn.b_o (D,)
                    ln2.gamma (D,)      ln2.beta (D,)
                    ffn.W_1 (D, F)      ffn.b_1 (F,)      ffn.W_2 (F, D)   ffn.b_2 (D,)
        ln_f.gamma (D,)  ln_f.beta (D,)  W_head (D, V)

    - every W is normal with mean 0 and standard deviation `config.init_std` (0.02 by default), except that
    - `attn.W_o` and `ffn.W_2` have the standard deviation `config.init_std` / √(2 n_layers);
    - every gamma is 1, every beta and every bias b is 0.

    Args:
        config: a `GPTConfig`. With `config.tied` there is no `W_head`; without `config.bias` there are no `b_qkv`,
            `b_o`, `b_1`, `b_2` (the betas stay).
        rng: a `numpy.random.Generator`.

    Returns:
        A dictionary of float32 arrays. The same generator state gives the same parameters.
    """
    d, f = config.d_model, config.d_ff

    def normal(*shape, std=config.init_std):
        return rng.normal(0.0, std, shape).astype(np.float32)

    def ones(*shape):
        return np.ones(shape, dtype=np.float32)

    def zeros(*shape):
        return np.zeros(shape, dtype=np.float32)

    residual_std = config.init_std / math.sqrt(2 * config.n_layers)
    params = {"W_tok": normal(config.vocab_size, d), "W_pos": normal(config.block_size, d)}
    for i in range(config.n_layers):
        layer = {
            "ln1.gamma": ones(d),
            "ln1.beta": zeros(d),
            "attn.W_qkv": normal(d, 3 * d),
            "attn.b_qkv": zeros(3 * d),
            "attn.W_o": normal(d, d, std=residual_std),
            "attn.b_o": zeros(d),
            "ln2.gamma": ones(d),
            "ln2.beta": zeros(d),
            "ffn.W_1": normal(d, f),
            "ffn.b_1": zeros(f),
            "ffn.W_2": normal(f, d, std=residual_std),
            "ffn.b_2": zeros(d),
        }
        if not config.bias:
            layer = {name: value for name, value in layer.items() if ".b_" not in name}
        params |= prefixed(layer, f"blocks.{i}.")
    params |= {"ln_f.gamma": ones(d), "ln_f.beta": zeros(d)}
    if not config.tied:
        params["W_head"] = normal(d, config.vocab_size)
    return params


# %% [markdown]
# ## `count_parameters`
#
# The size of a model is the number of its trainable parameters. A tied head adds none: it is the token table, which is
# already counted.
#
# ```python
# >>> count_parameters(params)  # the two blocks of 16 features from above
# 7584
#
# ```
#
# As a rule of thumb, a block with F = 4 D has 12 D² parameters: 3 D² for queries, keys and values, D² for the output of
# attention, and 8 D² for the feed-forward network. Here, two blocks have 2 · 12 · 16² = 6,144; the rest are the tables,
# the output head, the biases and the norms.


# %%
def count_parameters(params):
    """Return the number of trainable parameters: the sum of the sizes of all arrays.

    Args:
        params: a dictionary of arrays.

    Returns:
        A Python int.
    """
    return sum(int(np.size(value)) for value in params.values())


# %% [markdown]
# ## `gpt`
#
# The forward pass follows the diagram at the top: `embed`, one `block` after the other (pre-norm, with the causal
# mask), `layernorm`, and the product with the output head. `subset` from assignment 8 selects the parameters of each
# part.
#
# An untrained model predicts nothing: all its scores are nearly the same.
#
# ```python
# >>> ids = np.array([[5, 13, 13, 1]])  # (B, T) = (1, 4), like the name "emma" with a = 1, b = 2, …
# >>> logits, cache = gpt(ids, params, config)
# >>> logits.shape
# (1, 4, 27)
# >>> bool(np.abs(logits).max() < 0.5)
# True
#
# ```
#
# The cache stores the intermediate stages under names, so that you can plot them and compare them with another
# implementation: look for the mistake just before the first stage that differs.
#
# ```python
# >>> [name for name in cache if name.startswith("blocks.0.")]
# ['blocks.0.weights', 'blocks.0.after_attention', 'blocks.0.after_ffn']
# >>> cache["blocks.0.weights"][0, 0].round(2)  # the first head of the first text: no position looks ahead
# array([[1.  , 0.  , 0.  , 0.  ],
#        [0.5 , 0.5 , 0.  , 0.  ],
#        [0.33, 0.33, 0.33, 0.  ],
#        [0.25, 0.25, 0.25, 0.25]], dtype=float32)
#
# ```
#
# This is the causal average of assignment 4: each position of an untrained GPT attends to itself and to all earlier
# ones about equally.


# %%
def _head(params, config):
    """Return the output head, (D, V): the transposed token table if the head is tied."""
    return params["W_tok"].T if config.tied else params["W_head"]


def gpt(ids, params, config):
    """Compute the scores for the next token at every position (Radford et al. 2019, section 2.3).

        x = W_tok[ids] + W_pos[:T]
        x = block(x) for every block, pre-norm, with the causal mask
        logits = layernorm(x) W_head,    with W_head = W_tokᵀ if the head is tied

    Args:
        ids: integers, (B, T), each in [0, V), with T at most `config.block_size`. Any number of leading axes.
        params: dictionary of parameters; for names and shapes see `init_gpt`.
        config: a `GPTConfig`.

    Returns:
        logits: (B, T, V), in the dtype of the parameters. The scores at position t depend on ids[..., : t + 1] only.
        cache: dictionary with the values that the backward pass needs, and these entries:
            `embedded`, the residual stream before the first block, (B, T, D);
            `blocks.{i}.weights`, the attention weights of block i, (B, H, T, T);
            `blocks.{i}.after_attention` and `blocks.{i}.after_ffn`, the stream after its two steps, (B, T, D);
            `final_norm`, the stream after the last layer norm, (B, T, D).

    Raises:
        ValueError: if T is larger than `config.block_size`, or if an id is negative or not below V.
    """
    length = np.shape(ids)[-1]
    if length > config.block_size:
        raise ValueError(f"{length} tokens do not fit into the block size of {config.block_size}")
    mask = causal_mask(length)
    x = embed(ids, params["W_tok"], params["W_pos"])  # (B, T, D)
    cache = {"embedded": x}
    block_caches = []
    for i in range(config.n_layers):
        x, block_cache = block(x, subset(params, f"blocks.{i}."), config.n_heads, mask, "pre", config.activation)
        block_caches.append(block_cache)
        for stage in ("weights", "after_attention", "after_ffn"):
            cache[f"blocks.{i}.{stage}"] = block_cache[stage]
    final = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])  # (B, T, D)
    rows = final.reshape(-1, final.shape[-1])  # (N, D) with N = B T: one large product, not B small ones
    logits = (rows @ _head(params, config)).reshape(*np.shape(ids), -1)  # (B, T, V)
    cache |= {"final_norm": final, "ids": ids, "block_caches": block_caches}
    return logits, cache


# %% [markdown]
# ## `gpt_loss`
#
# The loss is the mean cross-entropy of all B · T predictions. Its gradient passes back through the model in reverse
# order. You have written the backward pass of every part; now you connect them:
#
# 1. the scores: `cross_entropy_backward`;
# 2. the output head: one product for the gradient of the matrix, one for that of the final vectors;
# 3. the last layer norm;
# 4. the blocks, *last one first*, each with its own cache; put the block's prefix in front of the names of its
#    gradients;
# 5. the embedding: the gradient at each position belongs to the row of `W_tok` that was looked up there, and to that
#    position's row of `W_pos`. All B texts use the same positions: their gradients are summed. Rows of `W_pos` that a
#    short text does not reach have gradient 0.
#
# With a tied head, `W_tok` is used twice, and its gradient is the *sum* of the parts from steps 2 and 5. In step 2 the
# table is transposed, and so is its gradient.
#
# Is the first loss right? An untrained model gives all tokens about the same probability, 1/V, so the loss is about log
# V = log 27 = 3.2958. A first loss far above it suggests that the scores start too large. If the loss later falls far
# *below* what you expect of the text, the model can probably read the tokens it should predict: look for a mistake in
# the mask, the targets or the heads. The next assignment has a test for that.
#
# ```python
# >>> targets = np.array([[13, 13, 1, 0]])  # at each position, the token that comes next
# >>> loss, grads = gpt_loss(ids, targets, params, config)
# >>> abs(loss - math.log(27)) < 0.1
# True
# >>> grads.keys() == params.keys()
# True
#
# ```
#
# Is the gradient right, too? Change one parameter a little and observe the loss, as in assignment 2. Use float64: in
# float32, the difference is lost in rounding.
#
# ```python
# >>> params = {name: value.astype(np.float64) for name, value in params.items()}
# >>> loss, grads = gpt_loss(ids, targets, params, config)
# >>> moved = dict(params, W_pos=params["W_pos"].copy())
# >>> moved["W_pos"][2, 7] += 1e-6
# >>> slope = (gpt_loss(ids, targets, moved, config)[0] - loss) / 1e-6
# >>> bool(abs(slope - grads["W_pos"][2, 7]) < 1e-7)
# True
#
# ```


# %%
def gpt_loss(ids, targets, params, config):
    """Compute the mean cross-entropy of the predictions and its gradient with respect to every parameter.

        loss = cross_entropy(gpt(ids), targets)

    Args:
        ids: integers, (B, T), each in [0, V), with T at most `config.block_size`. Any number of leading axes.
        targets: integers, same shape as `ids`: the token that comes next at each position.
        params: dictionary of parameters; for names and shapes see `init_gpt`.
        config: a `GPTConfig`.

    Returns:
        loss: the mean over all B T positions, a Python float.
        grads: dictionary with the same keys, shapes and dtype as `params`. With a tied head the gradient of
            `W_tok` is the sum of its part as a table and its part as a head. Rows of `W_pos` beyond T are 0.

    Raises:
        ValueError: if T is larger than `config.block_size`, or if an id is negative or not below V.
    """
    return _on_one_page(ids, targets, params, config)


def _from_parts(ids, targets, params, config):
    """Compute `gpt_loss` with the functions of the earlier assignments, as the lesson describes.

    >>> config = GPTConfig(vocab_size=5, block_size=4, n_layers=2, n_heads=2, d_model=8)
    >>> params = init_gpt(config, np.random.default_rng(0))
    >>> ids, targets = np.array([[0, 1, 2]]), np.array([[1, 2, 3]])
    >>> loss, grads = _from_parts(ids, targets, params, config)
    >>> same_loss, same_grads = _on_one_page(ids, targets, params, config)
    >>> abs(loss - same_loss) < 1e-6 and all(np.allclose(grads[name], same_grads[name], atol=1e-6) for name in params)
    True
    """
    logits, cache = gpt(ids, params, config)
    loss = cross_entropy(logits, targets)

    dlogits = cross_entropy_backward(logits, targets)
    dlogits = dlogits.reshape(-1, dlogits.shape[-1])  # (N, V)
    final = cache["final_norm"]  # (B, T, D)
    dhead = final.reshape(-1, final.shape[-1]).T @ dlogits  # (D, V)
    dfinal = (dlogits @ _head(params, config).T).reshape(final.shape)  # (B, T, D)

    grads = {}
    before_norm = cache[f"blocks.{config.n_layers - 1}.after_ffn"]
    dx, grads["ln_f.gamma"], grads["ln_f.beta"] = layernorm_backward(dfinal, before_norm, params["ln_f.gamma"])
    for i in reversed(range(config.n_layers)):
        dx, block_grads = block_backward(dx, cache["block_caches"][i])
        grads |= prefixed(block_grads, f"blocks.{i}.")

    length = dx.shape[-2]
    grads["W_pos"] = np.zeros_like(params["W_pos"])
    grads["W_pos"][:length] = dx.reshape(-1, length, dx.shape[-1]).sum(axis=0)  # (T, D), summed over the batch
    grads["W_tok"] = embed_tokens_backward(dx, ids, config.vocab_size)
    if config.tied:
        grads["W_tok"] += dhead.T
    else:
        grads["W_head"] = dhead
    return loss, grads


# %% [markdown]
# ## Going faster
#
# This section is optional. This assignment asks for `gpt_loss` built from the parts, and that version is good enough
# for everything that follows. The solution also has a second version, `_on_one_page`, which it uses for training. It
# computes the same formulas in the same order, with less overhead:
#
# - every array stays a matrix of N = B · T rows, and is viewed as (B, H, T, K) only inside attention;
# - nothing is checked or converted twice, and there are few function calls;
# - values that the backward pass needs, such as the normalized vectors, are kept and not computed again;
# - an array that only the next line needs is overwritten in place.
#
# This helps most with few features, such as 16, where nearly all of the time goes into function calls, and hardly with
# many: matrix products take the same time in both versions. By how much depends on your machine: measure it. The two
# versions are tested against each other. Make your code correct first, then fast, and keep the version that you
# understand.


# %%
@functools.cache
def _ones(shape, dtype, value=1.0):
    """Return an array filled with `value`, cached. A product with it is a fast way to sum rows or columns."""
    return np.full(shape, value, dtype=dtype)


@functools.cache
def _fill(length, dtype):
    """Return the causal mask as a term to add to the scores, (T, T), cached: 0 where it is True, -inf elsewhere."""
    return np.where(causal_mask(length), 0.0, -np.inf).astype(dtype)


def _linear(x, params, W, b):
    out = x @ params[W]  # (N, D_in) @ (D_in, D_out)
    if b in params:
        out += params[b]
    return out


def _linear_backward(dout, x, params, grads, W, b):
    grads[W] = x.T @ dout
    if b in params:
        grads[b] = _ones(len(dout), dout.dtype) @ dout
    return dout @ params[W].T


def _norm(x, params, name):
    d = x.shape[1]
    normalized = x - x @ _ones((d, 1), x.dtype, 1 / d)  # (N, D) - (N, 1)
    std = np.sqrt(np.vecdot(normalized, normalized) / d + 1e-5)[:, None]  # (N, 1)
    normalized /= std
    out = normalized * params[name + ".gamma"]
    out += params[name + ".beta"]
    return out, (normalized, std)


def _norm_backward(dout, saved, params, grads, name):
    normalized, std = saved
    n, d = dout.shape
    gamma = params[name + ".gamma"]
    gamma_over_d = (gamma / d)[:, None]  # (D, 1)
    product = dout * normalized
    grads[name + ".gamma"] = _ones(n, dout.dtype) @ product
    grads[name + ".beta"] = _ones(n, dout.dtype) @ dout
    dx = dout * gamma
    dx -= dout @ gamma_over_d
    np.multiply(normalized, product @ gamma_over_d, out=product)
    dx -= product
    dx /= std
    return dx


def _attention(qkv, shape):
    batch, length, n_heads, head_size = shape
    q, k, v = qkv.reshape(batch, length, 3, n_heads, head_size).transpose(2, 0, 3, 1, 4)  # each (B, H, T, K), views
    weights = q @ k.swapaxes(-1, -2)  # (B, H, T, T)
    weights *= 1 / math.sqrt(head_size)
    weights += _fill(length, qkv.dtype)
    rows = weights.reshape(-1, length)  # softmax of every row, in place
    rows -= rows[np.arange(len(rows)), rows.argmax(axis=1)][:, None]
    np.exp(rows, out=rows)
    rows /= rows @ _ones((length, 1), rows.dtype)
    heads = np.empty((batch, length, n_heads, head_size), dtype=qkv.dtype)
    np.matmul(weights, v, out=heads.swapaxes(1, 2))
    return heads.reshape(len(qkv), -1), (q, k, v, weights)  # (N, D)


def _attention_backward(dout, saved, shape):
    q, k, v, weights = saved
    batch, length, n_heads, head_size = shape
    dheads = dout.reshape(shape).swapaxes(1, 2)  # (B, H, T, K)
    dqkv = np.empty((batch, length, 3, n_heads, head_size), dtype=dout.dtype)
    dq, dk, dv = dqkv.transpose(2, 0, 3, 1, 4)  # views: writing into them fills dqkv
    np.matmul(weights.swapaxes(-1, -2), dheads, out=dv)
    dscores = dheads @ v.swapaxes(-1, -2)  # (B, H, T, T), at first with respect to the weights
    dscores *= weights
    rows, weight_rows = dscores.reshape(-1, length), weights.reshape(-1, length)
    rows -= weight_rows * (rows @ _ones((length, 1), rows.dtype))
    dscores *= 1 / math.sqrt(head_size)
    np.matmul(dscores, k, out=dq)
    np.matmul(dscores.swapaxes(-1, -2), q, out=dk)
    return dqkv.reshape(len(dout), -1)  # (N, 3D)


_SLOPE, _CUBIC = 2 * math.sqrt(2 / math.pi), 2 * math.sqrt(2 / math.pi) * 0.044715  # 2u = _SLOPE x + _CUBIC x³


def _activate(x, activation):
    if activation == "relu":
        gate = x > 0
        return x * gate, gate
    gate = x * x
    gate *= -_CUBIC
    gate -= _SLOPE
    gate *= x  # -2u
    with np.errstate(over="ignore"):  # where the gate is 0, exp may overflow to infinity
        np.exp(gate, out=gate)
    gate += 1
    np.reciprocal(gate, out=gate)
    return x * gate, gate


def _activate_backward(dout, x, active, gate, activation):
    if activation == "relu":
        return dout * gate
    dx = x * x
    dx *= 3 * _CUBIC
    dx += _SLOPE  # d(2u)/dx
    dx *= active
    dx *= 1 - gate
    dx += gate
    dx *= dout
    return dx


def _on_one_page(ids, targets, params, config):
    """Compute `gpt_loss` faster, with the formulas of all parts on matrices of N = B T rows."""
    ids, targets = np.asarray(ids), np.asarray(targets).reshape(-1)
    length, d_model = ids.shape[-1], config.d_model
    if length > config.block_size:
        raise ValueError(f"{length} tokens do not fit into the block size of {config.block_size}")
    x = embed(ids, params["W_tok"], params["W_pos"]).reshape(-1, d_model)  # (N, D)
    shape = (len(x) // length, length, config.n_heads, d_model // config.n_heads)
    grads = {}

    saved = []
    for i in range(config.n_layers):
        b = f"blocks.{i}."
        attn_in, norm1 = _norm(x, params, b + "ln1")
        qkv = _linear(attn_in, params, b + "attn.W_qkv", b + "attn.b_qkv")  # (N, 3D)
        heads, attn = _attention(qkv, shape)
        x = x + _linear(heads, params, b + "attn.W_o", b + "attn.b_o")
        ffn_in, norm2 = _norm(x, params, b + "ln2")
        hidden = _linear(ffn_in, params, b + "ffn.W_1", b + "ffn.b_1")  # (N, F)
        active, gate = _activate(hidden, config.activation)
        x = x + _linear(active, params, b + "ffn.W_2", b + "ffn.b_2")
        saved.append((attn_in, norm1, heads, attn, ffn_in, norm2, hidden, active, gate))
    final, norm_f = _norm(x, params, "ln_f")

    head = _head(params, config)
    logits = final @ head  # (N, V)
    places = np.arange(len(logits))
    logits -= logits[places, logits.argmax(axis=1)][:, None]
    picked = logits[places, targets]
    dlogits = np.exp(logits, out=logits)
    total = dlogits @ _ones(dlogits.shape[1], dlogits.dtype)
    loss = float((np.log(total) - picked).mean())
    dlogits /= (total * len(total))[:, None]
    dlogits[places, targets] -= 1 / len(total)

    dhead = final.T @ dlogits  # (D, V)
    dx = _norm_backward(dlogits @ head.T, norm_f, params, grads, "ln_f")
    for i in reversed(range(config.n_layers)):
        b = f"blocks.{i}."
        attn_in, norm1, heads, attn, ffn_in, norm2, hidden, active, gate = saved[i]
        dactive = _linear_backward(dx, active, params, grads, b + "ffn.W_2", b + "ffn.b_2")
        dhidden = _activate_backward(dactive, hidden, active, gate, config.activation)
        dffn_in = _linear_backward(dhidden, ffn_in, params, grads, b + "ffn.W_1", b + "ffn.b_1")
        dx = dx + _norm_backward(dffn_in, norm2, params, grads, b + "ln2")
        dheads = _linear_backward(dx, heads, params, grads, b + "attn.W_o", b + "attn.b_o")
        dqkv = _attention_backward(dheads, attn, shape)
        dattn_in = _linear_backward(dqkv, attn_in, params, grads, b + "attn.W_qkv", b + "attn.b_qkv")
        dx = dx + _norm_backward(dattn_in, norm1, params, grads, b + "ln1")

    hot = (ids.reshape(-1, 1) == np.arange(config.vocab_size)).astype(dx.dtype)  # (N, V)
    grads["W_tok"] = hot.T @ dx
    if config.tied:
        grads["W_tok"] += dhead.T
    else:
        grads["W_head"] = dhead
    grads["W_pos"] = np.zeros_like(params["W_pos"])
    grads["W_pos"][:length] = dx.reshape(-1, length, d_model).sum(axis=0)  # (T, D)
    return loss, grads


# %% [markdown]
# ## What could go wrong
#
# These mistakes are easy to make here. Read them before you write the functions, and again when a check fails: the
# report uses the same words when it recognizes one.
#
# - `init_gpt`: **attn.W_o and ffn.W_2 have the same standard deviation as the other matrices.** These two matrices
#   write into the residual stream. Unless they start smaller, its variance grows with every block.
# - `gpt`: **there is no mask: every position attends to later positions.** In training, the model can then read the
#   token that it should predict, and the loss falls suspiciously low.
# - `gpt`: **the last layer norm is missing.** Pre-norm blocks never normalize the residual stream itself, so it grows
#   from block to block. The head needs a norm before it.
# - `gpt`: **every block was given the parameters of block 0.** The parameters of the other blocks then have no effect.
# - `gpt_loss`: **with a tied head, the gradient of W_tok contains only the part from the head.** The table was used
#   twice. The later assignment overwrote the part from the embedding.
# - `gpt_loss`: **with a tied head, the gradient of W_tok leaves out the part from the head.** The table was used
#   twice: as the table at the beginning and as the head at the end.
# - `gpt_loss`: **where a token occurs several times, only one of its gradients was counted.** `grads[ids] += dx` writes
#   each row only once, even if ids lists it several times.

# %% [markdown]
# ## Try it
#
# Subtract a small multiple of its gradient from every parameter, and the loss should fall. Before you train a model on
# a large text, check that it can memorize a tiny one; if it cannot, there is a bug. Train a new model on two names,
# with nothing but this rule.
#
# **Guess first.** At which loss does training start, and how far can it fall? And once the model has learned both
# names, which probability does it give to the correct character at each of the five positions?
#
# Run it: `python gpt.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    names = np.array([[0, 5, 13, 13, 1, 0], [0, 15, 12, 9, 22, 0]])  # .emma. and .oliv. with . = 0, a = 1, b = 2, …

    def learn(rate, steps, init_std=0.1, names=names):
        config = GPTConfig(vocab_size=27, block_size=5, n_layers=2, n_heads=2, d_model=16, init_std=init_std)
        params = {name: value.astype(np.float64) for name, value in init_gpt(config, np.random.default_rng(0)).items()}
        losses = []
        for _ in range(steps):
            loss, grads = gpt_loss(names[:, :-1], names[:, 1:], params, config)
            params = {name: value - rate * grads[name] for name, value in params.items()}
            losses.append(round(loss, 2))
        return losses, gpt(names[:, :-1], params, config)[0]

    losses, logits = learn(rate=0.3, steps=201)
    print("loss", losses[::50])
    for row, name in zip(logits, names, strict=True):
        print([f"{math.exp(-cross_entropy(row[t], name[t + 1])):.2f}" for t in range(5)])

# %% [markdown]
# ## What came out
#
# ```text
# loss [3.36, 0.16, 0.15, 0.14, 0.14]
# ['0.54', '1.00', '1.00', '0.99', '1.00']
# ['0.46', '1.00', '1.00', '1.00', '1.00']
# ```
#
# The loss starts near log 27 = 3.30, as it should. It does not fall to 0, although four of the five positions are
# certain. After the first ".", both "e" and "o" are correct, so the best prediction is ½ for each. That costs log 2 at
# one position of five, 0.14 on average, and the loss settles just above it. This is the entropy of the next token, from
# assignment 2.
#
# 1. Use the rate 0.03: what is the loss after 200 steps? The next assignment is about choosing the length of the steps,
#    and a different one for each parameter.
# 2. Start with parameters ten times as large, `init_std=1.0`. What is the first loss, and what does it show about the
#    model?
# 3. Does every text have such a lower limit? Train on one of the two names only, `names[:1]`.

# %% [markdown]
# ## Answers
#
# **1. It is still falling, more slowly.**
#
# ```python
# >>> losses, _ = learn(rate=0.03, steps=201)
# >>> losses[::50]
# [3.36, 0.81, 0.35, 0.24, 0.2]
#
# ```
#
# **2. Far above log 27.** A model that gives all tokens the same probability has a loss of 3.30. This one is
# confidently wrong: large parameters make large scores, and their softmax gives nearly all of the probability to one
# token.
#
# ```python
# >>> [round(learn(rate=0.0, steps=1, init_std=std)[0][0], 1) for std in (0.02, 0.1, 1.0)]
# [3.3, 3.4, 8.0]
#
# ```
#
# **3. No.** Within a single name, nothing is left to chance: no two positions have the same past and different targets.
# A model can memorize such a text, and its loss on it approaches 0. With a long text, a large enough model comes close
# to that: only the first positions of a window, which have a short past, still leave a choice. The entropy of the
# language limits the loss on *new* text; that is why you watch the validation loss.
#
# ```python
# >>> losses, _ = learn(rate=0.3, steps=201, names=names[:1])
# >>> losses[-1] < 0.02
# True
#
# ```

# %% [markdown]
# ## In your own GPT
#
# Once you have trained your GPT (`headway train`, assignment 10), plot this part of it: `headway plot attention-heads`
# and `headway plot gradient-norms`. `headway plot attention-viewer` writes a page for the browser: point at a character
# to see which positions each head of each block attends to from there.

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("attention-heads", globals())

# %% tags=["active-ipynb"]
# show("gradient-norms", globals())
