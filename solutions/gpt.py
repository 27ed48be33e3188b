"""Assignment 9: the GPT, from token ids to a loss and the gradient of every parameter."""

# %% [markdown]
# # GPT: a stack of blocks that predicts the next token
#
# A tokenizer, embeddings, blocks, a loss: everything is there. Now it becomes one model. A GPT reads T tokens and says,
# at *every* position, which token it expects next (Radford et al. 2018, section 3.1; the form built here is GPT-2's,
# Radford et al. 2019, section 2.3):
#
# ```text
#     ids (B, T)
#       ── embed ───────────────>  x (B, T, D)       what stands here, and where it stands
#       ── block 0, block 1, … ─>  x (B, T, D)       the residual stream; nobody looks ahead
#       ── layer norm ──────────>  x (B, T, D)       the stream has grown: one last norm
#       ── times W_head ────────>  logits (B, T, V)  a score for every token of the vocabulary
# ```
#
# The last step is the **output head**: a linear layer without bias, `W_head` (D, V). (It has nothing to do with the
# heads of attention.)
#
# Because of the causal mask, the scores at position t depend on the tokens 0 to t only. So one text of T tokens is T
# exercises: "given the first, what is the second?", "given the first two, what is the third?" and so on. All of them
# are computed at the same time, and that is why transformers train so much faster than the networks that came before:
# those had to read one token after the other.
#
# ## Which GPT?
#
# Models with the same outline differ in small ways. This is what varies here; all else is fixed.
#
# | in the configuration | choices | who |
# |---|---|---|
# | `activation` | `"gelu"`, in the tanh form; `"relu"` | GPT-2; the first transformer |
# | `tied` | `True`: the output head *is* the token table; `False`: its own matrix | GPT-2; Llama 2 |
# | `bias` | `True`: linear layers have biases; `False`: they do not | GPT-2; nanoGPT's option, Llama |
#
# **Tied or untied?** The token table `W_tok` (V, D) has one vector for each token, and `W_head` (D, V) has one column
# for each token. Both say what a token *means* as D numbers, one for reading and the other for writing. Press and Wolf
# (2017) use the same numbers for both, a **tied head**: the scores are then the dot products of the final vector with
# every row of the token table. That saves V · D parameters: 39 million for the smallest GPT-2, which has 124 million.
# The price is care on the way back: the same numbers are used at both ends, so their gradient has two parts, which are
# added.

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
# The numbers that fix the shape of a model, given. The defaults are GPT-2's choices at a size that trains on any
# laptop. A configuration cannot be changed once it is made, so that a model and its configuration stay together.
#
# ```python
# >>> config = GPTConfig(vocab_size=27, block_size=8, d_model=16)
# >>> config.d_ff  # not given, so four times d_model
# 64
#
# ```


# %%
@dataclass(frozen=True)
class GPTConfig:
    """Given: the shape of a GPT.

    Attributes:
        vocab_size: V, the number of different tokens.
        block_size: the longest text the model can look at: the number of learned positions.
        n_layers: the number of blocks.
        n_heads: H, the number of heads in each block, a divisor of D.
        d_model: D, the width of the residual stream.
        d_ff: F, the width inside the feed-forward network. None stands for 4 D; reading it gives the number.
        activation: "gelu" (the tanh form) or "relu".
        tied: whether the head is the transposed token table (True), or a matrix of its own (False).
        bias: whether the linear layers have biases. Layer norms always have their beta, and the head has no bias.
        init_std: the standard deviation of the first weights. 0.02 is GPT-2's, at a width of 768; a model of width 64
            or 16 learns sooner from larger ones, such as 0.08.
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
        """Fill in `d_ff`, and refuse what cannot work."""
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
# Where does training start? Not at zero: features that start with the same numbers get the same gradients, and stay
# the same for ever. Not at large numbers either: the first scores would be confidently wrong. GPT-2 draws its matrices
# from a normal distribution with the small standard deviation 0.02, so that the first scores are almost equal and the
# first loss is close to log V. (Its own code draws the table of positions with 0.01; most others, and we, do not.)
#
# One thing is special. Every block adds to the residual stream twice, so 2L sums are taken on the way through L blocks
# (`n_layers`), and the variance of the stream grows with each. The matrices that *write* into the stream, `attn.W_o`
# and `ffn.W_2`, start smaller by the factor $1/\sqrt{2L}$ (Radford et al. 2019, section 2.3), and the sum of all 2L
# contributions has the size of one. Below, L = 2, and 0.02 becomes 0.01.
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
    """Parameters of an untrained GPT, drawn like GPT-2's (Radford et al. 2019, section 2.3).

    The names, in this order, for blocks i = 0 … n_layers - 1:

        W_tok (V, D)  W_pos (block_size, D)
        blocks.{i}. ln1.gamma (D,)      ln1.beta (D,)
                    attn.W_qkv (D, 3D)  attn.b_qkv (3D,)  attn.W_o (D, D)  attn.b_o (D,)
                    ln2.gamma (D,)      ln2.beta (D,)
                    ffn.W_1 (D, F)      ffn.b_1 (F,)      ffn.W_2 (F, D)   ffn.b_2 (D,)
        ln_f.gamma (D,)  ln_f.beta (D,)  W_head (D, V)

    - every W is normal with mean 0 and standard deviation `config.init_std`, 0.02 unless said otherwise, except
    - `attn.W_o` and `ffn.W_2`: standard deviation `config.init_std` / √(2 n_layers);
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
# How large is a model? The number of numbers that training can change. A tied head is counted once: it is not a
# parameter of its own.
#
# ```python
# >>> count_parameters(params)  # the two blocks of 16 features from above
# 7584
#
# ```
#
# A rule of thumb: a block has 12 D² parameters, 3 D² for queries, keys and values, D² for the output of attention and 8
# D² for the feed-forward network. Above: 2 · 12 · 16² = 6,144; the rest are tables, output head, biases and norms.


# %%
def count_parameters(params):
    """The number of trainable numbers: the sizes of all arrays, added up.

    Args:
        params: a dictionary of arrays.

    Returns:
        A Python int.
    """
    return sum(int(np.size(value)) for value in params.values())


# %% [markdown]
# ## `gpt`
#
# The forward pass is the picture from the top, in five lines: `embed`, one `block` after the other (pre-norm, with the
# causal mask), `layernorm`, and the product with the output head. `subset` from assignment 8 gives each part its own
# parameters.
#
# A new model knows nothing, and all its scores are nearly the same:
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
# The cache names the stages on the way, so that they can be plotted, and compared with another implementation: the
# first stage that differs is where the mistake is.
#
# ```python
# >>> [name for name in cache if name.startswith("blocks.0.")]
# ['blocks.0.weights', 'blocks.0.after_attention', 'blocks.0.after_ffn']
# >>> cache["blocks.0.weights"][0, 0].round(2)  # the first head of the first text: nobody looks ahead
# array([[1.  , 0.  , 0.  , 0.  ],
#        [0.5 , 0.5 , 0.  , 0.  ],
#        [0.33, 0.33, 0.33, 0.  ],
#        [0.25, 0.25, 0.25, 0.25]], dtype=float32)
#
# ```
#
# You know this table: the causal average of assignment 4. An untrained GPT has no opinion yet about whom to look at.


# %%
def _head(params, config):
    """The matrix (D, V) that turns vectors into scores: the token table, transposed, if the head is tied."""
    return params["W_tok"].T if config.tied else params["W_head"]


def gpt(ids, params, config):
    """Scores for the next token at every position (Radford et al. 2019, section 2.3).

        x = W_tok[ids] + W_pos[:T]
        x = block(x) for every block, pre-norm, with the causal mask
        logits = layernorm(x) W_head,    with W_head = W_tokᵀ if the head is tied

    Args:
        ids: integers, (B, T), each in [0, V), with T at most `config.block_size`. Any number of leading axes.
        params: dictionary of parameters; for names and shapes see `init_gpt`.
        config: a `GPTConfig`.

    Returns:
        logits: (B, T, V), in the dtype of the parameters. The scores at position t depend on ids[..., : t + 1] only.
        cache: dictionary with what the backward pass needs, and these entries:
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
# Scores alone teach nothing. The loss is the cross-entropy of all B · T predictions, and its gradient goes back the way
# that the forward pass came. You have every step already; what is new is how they join:
#
# 1. the scores: `cross_entropy_backward`;
# 2. the output head: one product for the gradient of the matrix, one for the final vectors;
# 3. the last layer norm;
# 4. the blocks, *last one first*, each with its own cache; put the name of the block in front of its gradients;
# 5. the embedding: what arrives at each place belongs to the row of `W_tok` that was looked up there, and to the row of
#    `W_pos` of that position. All B texts use the same positions: their gradients are summed. Rows of `W_pos` that a
#    short text did not reach get 0.
#
# With a tied head, `W_tok` was used twice and its gradient is the *sum* of the parts from steps 2 and 5. In step 2 the
# table stands transposed, and so does its gradient.
#
# Is the first loss right? An untrained model gives all tokens about the same probability 1/V, and the loss is about log
# V = log 27 = 3.2958. A first loss far above it means that the scores start too large; one far *below* it means that
# the model sees what it should predict, and there is a mistake in the mask or in the targets.
#
# ```python
# >>> targets = np.array([[13, 13, 1, 0]])  # at each position, the token that comes next
# >>> loss, grads = gpt_loss(ids, targets, params, config)
# >>> abs(loss - math.log(27)) < 0.1
# True
# >>> list(grads) == list(params)
# True
#
# ```
#
# And is the gradient right? Move one number a little and watch the loss, as in assignment 2 (use float64; in float32
# the difference drowns in rounding).
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
    """Mean cross-entropy of the predictions, and its gradient with respect to every parameter.

        loss = cross_entropy(gpt(ids), targets)

    Args:
        ids: integers, (B, T), each in [0, V), with T at most `config.block_size`. Any number of leading axes.
        targets: integers, same shape as `ids`: the token that comes next at each position.
        params: dictionary of parameters; for names and shapes see `init_gpt`.
        config: a `GPTConfig`.

    Returns:
        loss: the mean over all B T positions, a Python float.
        grads: dictionary with the same keys, shapes and dtype as `params`, in the same order. With a tied head the
            gradient of `W_tok` is the sum of its part as a table and its part as a head. Rows of `W_pos` beyond T
            are 0.

    Raises:
        ValueError: if T is larger than `config.block_size`, or if an id is negative or not below V.
    """
    return _on_one_page(ids, targets, params, config)


def _from_parts(ids, targets, params, config):
    """`gpt_loss`, put together from the earlier assignments: what the lesson describes.

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
    grads["W_pos"][:length] = dx.reshape(-1, length, dx.shape[-1]).sum(axis=0)  # (T, D), added up over the batch
    grads["W_tok"] = embed_tokens_backward(dx, ids, config.vocab_size)
    if config.tied:
        grads["W_tok"] += dhead.T
    else:
        grads["W_head"] = dhead
    return loss, {name: grads[name] for name in params}


# %% [markdown]
# ## The same on one page
#
# Putting `gpt_loss` together from the parts is what this assignment asks for, and it is good enough for everything that
# follows. The solution has a second version, and that is the one it trains with. It computes the same formulas in the
# same order; what it leaves out is everything that makes the parts comfortable:
#
# - every array stays a matrix of N = B · T rows, and is only seen as (B, H, T, K) inside attention;
# - nothing is checked, converted or looked up twice, and no function is called for less than three lines;
# - what the way back needs, such as the normalized vectors, is kept and not computed again;
# - a number that only the next line needs is overwritten in place.
#
# That makes a training step 1.6 times as fast with 16 features, where nearly all of the time goes into calling
# functions, 1.1 times with 64 features, and 1.05 times with 128: matrix products take the same time in both. The two
# are tested against each other. First make it right, then make it fast, and keep the version that you understand.


# %%
@functools.cache
def _ones(shape, dtype, value=1.0):
    """A vector of ones, made once. To multiply by it is the fastest way to add up rows or columns."""
    return np.full(shape, value, dtype=dtype)


@functools.cache
def _fill(length, dtype):
    """What the causal mask adds to the scores, (T, T): 0 where a query may look, -inf elsewhere. Made once."""
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
    dq, dk, dv = dqkv.transpose(2, 0, 3, 1, 4)  # views: what is written into them stands in dqkv
    np.matmul(weights.swapaxes(-1, -2), dheads, out=dv)
    dscores = dheads @ v.swapaxes(-1, -2)  # (B, H, T, T), first with respect to the weights
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
    with np.errstate(over="ignore"):  # where the gate is shut, exp may be infinite
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
    """`gpt_loss`, fast: the formulas of all the parts, on matrices of N = B T rows."""
    ids, targets = np.asarray(ids), np.asarray(targets).reshape(-1)
    length, d_model = ids.shape[-1], config.d_model
    if length > config.block_size:
        raise ValueError(f"{length} tokens do not fit into the block size of {config.block_size}")
    x = embed(ids, params["W_tok"], params["W_pos"]).reshape(-1, d_model)  # (N, D)
    shape = (len(x) // length, length, config.n_heads, d_model // config.n_heads)
    grads = dict.fromkeys(params)  # in the right order

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
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
#
# - `init_gpt`: **the matrices that write into the stream are as large as the others.** attn.W_o and ffn.W_2 start
#   smaller, or the stream grows with every block.
# - `gpt`: **there is no mask: every position sees the future.** In training, the model reads the token that it should
#   predict, and the loss falls suspiciously low.
# - `gpt`: **the last layer norm is missing.** In pre-norm blocks the stream is never normalized, and grows; the head
#   needs a norm before it.
# - `gpt`: **every block got the parameters of block 0.** The parameters of the other blocks have no influence on
#   anything.
# - `gpt_loss`: **with a tied head, the gradient of W_tok is that of the head only.** The table was used twice, and the
#   later assignment has overwritten the part from the embedding.
# - `gpt_loss`: **with a tied head, the gradient of W_tok lacks the part of the head.** The table was used twice: at the
#   beginning as a table, and at the end as a head.
# - `gpt_loss`: **where a token occurs twice, only one of its gradients is counted.** `grads[ids] += dx` reads, adds and
#   writes each row once, however often it is listed.

# %% [markdown]
# ## Try it
#
# A gradient is good for something at once: subtract a little of it from every parameter, and the loss has to fall.
# Before a model is trained on a large text, it should be able to learn a tiny one by heart; if it cannot, something is
# wrong. Teach an untrained model two names, by nothing but that.
#
# **Guess first.** With what loss does it start, and how far down can it go? And once it knows both names, which
# probability does it give to the right character, at each of the five places?
#
# Run it: `python gpt.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    names = np.array([[0, 5, 13, 13, 1, 0], [0, 15, 12, 9, 22, 0]])  # .emma. and .oliv. with . = 0, a = 1, b = 2, …

    def learn(rate, steps, init_std=0.1):
        config = GPTConfig(vocab_size=27, block_size=5, n_layers=2, n_heads=2, d_model=16, init_std=init_std)
        params = init_gpt(config, np.random.default_rng(0))
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
# It starts near log 27 = 3.30, as it should, and does not go to 0, although four of the five places are certain. After
# the first "." both "e" and "o" are right: the best that anybody can say there is ½ and ½. That costs log 2 at one
# place of five, 0.14 in the mean, and the loss comes to rest just above it. It is the entropy of what comes next, from
# assignment 2; every text has such a floor.
#
# 1. Steps of 0.03: where is the loss after 200 of them? How to choose the length of the steps, and differently for each
#    parameter, is the subject of the next assignment.
# 2. Start with parameters ten times as large, `init_std=1.0`. What is the first loss, and what does it say about the
#    model?

# %% [markdown]
# ## Answers
#
# **1. It is on its way, ten times as slowly.**
#
# ```python
# >>> losses, _ = learn(rate=0.03, steps=201)
# >>> losses[::50]
# [3.36, 0.81, 0.35, 0.24, 0.2]
#
# ```
#
# **2. Far above log 27.** A model that knows nothing has a loss of 3.30. This one knows nothing, and is sure of it:
# large parameters make large scores, and the softmax of those is nearly all or nothing.
#
# ```python
# >>> [learn(rate=0.0, steps=1, init_std=std)[0][0] for std in (0.02, 0.1, 1.0)]
# [3.3, 3.36, 7.96]
#
# ```

# %% [markdown]
# ## In your own GPT
#
# When your GPT is trained (`headway train`, assignment 10), look at this part at work: `headway plot attention-heads`
# and `headway plot gradient-norms`. And `headway plot attention-viewer` writes a page for the browser: point at a
# character, and see where each head of each block looks from there.

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("attention-heads", globals())

# %% tags=["active-ipynb"]
# show("gradient-norms", globals())
