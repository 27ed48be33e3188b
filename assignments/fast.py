"""The same function, faster: attention in blocks, int8 weights, and a small model that drafts."""

# %% [markdown]
# # The same function, faster
#
# *Assignment 21 of 21 · 5 functions · about 2 h 30 min to write them*
#
# Let your `attention` read 4,096 tokens with one head of K = 64, in float32. Queries, keys, values and output take 1 MB
# each. But while the function runs, it needs about 220 MB more, and four times that for a text twice as long. The
# result is right. The memory is full of scores and weights that nobody asked for. At the end of this lesson, your code
# computes the same numbers with about 2 MB more, and in less time.
#
# In `gpt2` you saw that reading memory takes the time, not the arithmetic. So this lesson is about what your code reads
# and stores. There are three places where it does too much:
#
# ```text
#     too much                                instead                                the result
#     (T, S) scores, and as many weights      blocks of keys and a running softmax   the same
#     4 bytes for each parameter              1 byte, and a scale for each column    almost the same
#     all parameters, read for one token      a small model drafts, yours checks     just as likely
# ```
#
# ![A map of the whole model. Marked: the attention in each head, the feed-forward network, and the loop that draws the
# next token.](figures/map-fast.svg)

# %%
import math
import sys
import tracemalloc

import numpy as np
from generation import next_token_probs, sample
from gpt import gpt

# %% [markdown]
# ## Two given tools
#
# `peak_megabytes` measures what a function needs besides its arguments. Here it repeats the number from the top of the
# lesson:
#
# ```python
# >>> from attention import attention, causal_mask
# >>> q, k, v = np.random.default_rng(0).normal(size=(3, 4096, 64)).astype(np.float32)
# >>> def at_once(q, k, v):
# ...     return attention(q, k, v, causal_mask(len(q)))[0]
# >>> round(peak_megabytes(at_once, q, k, v), -1)  # to tens
# 220.0
#
# ```
#
# `Blocks` reads keys and values piece by piece, always into the same memory. A GPU does that, too: it copies each block
# into a memory that is fast, but only large enough for one or two. So what you need from a block, you must compute
# before you ask for the next one:
#
# ```python
# >>> kept = list(Blocks(np.arange(6.0)[:, None], np.zeros((6, 1)), 2))  # the keys 0 to 5, two at a time
# >>> [k_block.ravel().tolist() for k_block, _ in kept]  # too late: the last block is everywhere
# [[4.0, 5.0], [4.0, 5.0], [4.0, 5.0]]
#
# ```

# %%
def peak_megabytes(function, *args):
    """Given: return how many megabytes (10⁶ bytes) a call needs at most at one time, its result included."""
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


class Blocks:
    """Given: keys (..., S, K) and values (..., S, Kᵥ) as pairs of blocks, read into the same memory one after another.

    A loop over it yields the first `size` keys and values, then the next ones; the last block may be smaller. Each
    block overwrites the one before.
    """

    def __init__(self, k, v, size):
        self.k, self.v, self.size = k, v, size

    def __iter__(self):
        memory = [np.empty_like(x[..., : self.size, :]) for x in (self.k, self.v)]
        for start in range(0, self.k.shape[-2], self.size):
            blocks = [x[..., start : start + self.size, :] for x in (self.k, self.v)]
            views = [room[..., : block.shape[-2], :] for room, block in zip(memory, blocks, strict=True)]
            for view, block in zip(views, blocks, strict=True):
                np.copyto(view, block)
            yield tuple(views)


# %% [markdown]
# ## `online_softmax_step`
#
# *30 min, needs some thought*
#
# For each query, attention needs two sums: that of the exponentials, and that of the values times the exponentials.
# Both can be added up block by block. The obstacle is the largest score, which is subtracted first: it is not known
# before all scores have been read.
#
# So subtract the largest score *so far* (Milakov and Gimelshein 2018). For each query, keep three things: this
# `maximum`, the `total` of exp(score - maximum), and `weighted`, the sum of the same exponentials times the values. If
# a block contains a larger score, everything so far was computed with the wrong maximum. One factor corrects it:
#
# $$e^{score - new} = e^{score - old} \cdot e^{old - new}$$
#
# ![Four scores in two blocks. After the first block, the maximum is log 2 and the total 1.5. The second block raises
# the maximum to log 8, the old total is multiplied by 2/8, and the new total is 1.875.](figures/online-softmax.svg)
#
# In the example, the exponentials are 1 and 2 in the first block, 8 and 4 in the second:
#
# ```python
# >>> scores, values = np.log([[1.0, 2.0, 8.0, 4.0]]), np.array([[10.0], [20.0], [30.0], [40.0]])
# >>> state = online_softmax_step(-np.inf, 0.0, 0.0, scores[:, :2], values[:2])
# >>> state[1].round(4)  # 1/2 + 2/2
# array([1.5])
# >>> maximum, total, weighted = online_softmax_step(*state, scores[:, 2:], values[2:])
# >>> total.round(4)  # 1.5 · 2/8 + 8/8 + 4/8
# array([1.875])
# >>> (weighted / total[:, None]).round(4)  # (1 · 10 + 2 · 20 + 8 · 30 + 4 · 40) / 15
# array([[30.]])
#
# ```
#
# Before the first block, the maximum is -∞, and the factor is exp(-∞) = 0. But a query may attend to no key of the
# first block: then the new maximum is -∞, too, and -∞ - (-∞) is nan. Subtract 0 instead. All exponentials of that block
# are 0 in any case.

# %%
def online_softmax_step(maximum, total, weighted, scores, v):
    """Add a block of keys to a running softmax (Milakov and Gimelshein 2018).

        new = max(maximum, largest of the scores)
        total = e^(maximum - new) total + Σ_j e^(scores_j - new)
        weighted = e^(maximum - new) weighted + Σ_j e^(scores_j - new) v_j

    Args:
        maximum: the largest score of each query so far, (..., T), or the number -inf if there was no block yet.
        total: the sum of the exponentials so far, (..., T), or the number 0.0.
        weighted: the sum of the exponentials times the values so far, (..., T, Kᵥ), or the number 0.0.
        scores: the scores of a block of S ≥ 1 keys, (..., T, S); -inf where a query may not attend to a key.
        v: the values of these keys, (..., S, Kᵥ), with the batch axes of `scores`.

    Returns:
        maximum: (..., T), -inf for a query that may not attend to any key so far.
        total: (..., T), 0 for such a query.
        weighted: (..., T, Kᵥ), 0 for such a query.
        All in the dtype of the inputs. Large scores do not overflow.
    """
    raise NotImplementedError("fast.online_softmax_step")


# %% [markdown]
# ## `blocked_attention`
#
# *45 min, needs pen and paper*
#
# Now compute the scores of one block of keys at a time, and pass them on. After the last block, `weighted` divided by
# `total` is the output of attention. The full (T, S) arrays never exist. This is the forward pass of FlashAttention
# (Dao et al. 2022), which is exact: only the order of the sums is different.
#
# The causal mask is made block by block, too. The first query stands at the position `start`; the keys begin at
# position 0. A block that begins after the last query is masked for all of them, so it does not have to be read:
#
# ![Four blocks of queries and four blocks of keys. Below the diagonal, blocks are computed without a mask; on it, with
# one; above it, they are not read at all.](figures/attention-blocks.svg)
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> q, k, v = rng.normal(size=(3, 4096, 64)).astype(np.float32)
# >>> out = blocked_attention(q[:100], Blocks(k, v, 32), start=0)  # the first 100 queries; the fifth block is not read
# >>> bool(np.allclose(out, at_once(q[:100], k[:100], v[:100]), rtol=0, atol=1e-5))
# True
#
# ```
#
# If the queries also come in blocks, the memory does not depend on the length of the text at all, except for the
# result:
#
# ```python
# >>> def in_blocks(q, k, v, size=128):
# ...     starts = range(0, len(q), size)
# ...     return np.concatenate([blocked_attention(q[i : i + size], Blocks(k, v, size), i) for i in starts])
# >>> round(peak_megabytes(in_blocks, q, k, v))  # 1 MB of it is the output, and 1 MB the parts of which it is made
# 2
#
# ```
#
# For a backward pass, the weights are missing. FlashAttention keeps only `maximum` and `total` and computes the weights
# again, block by block: more arithmetic, but less to read.

# %%
def blocked_attention(q, blocks, start=None):
    """Compute attention with one block of keys and values at a time (Dao et al. 2022, algorithm 1).

        out = softmax(q kᵀ / √K) v, without the (T, S) scores of all blocks together

    Args:
        q: queries, (..., T, K).
        blocks: an iterable of pairs (keys, values), (..., S, K) and (..., S, Kᵥ), with the batch axes of `q`. S may
            differ between blocks. Each pair is gone once the next one is read: it may be in the same memory. The
            blocks are read once.
        start: None, or the position of the first query, ≥ 0. With a position, attention is causal: the query at
            position `start` + t attends to the keys at positions 0 to `start` + t, and no block is read if all of its
            keys come after the last query. None: every query attends to every key.

    Returns:
        out: (..., T, Kᵥ), in the dtype of the inputs: the output of `attention`, but for rounding.
    """
    raise NotImplementedError("fast.blocked_attention")


# %% [markdown]
# ## `quantize`
#
# *25 min, straightforward*
#
# A float32 parameter takes 4 bytes. An int8 takes one, and can be any integer from -128 to 127. To **quantize** a
# matrix, choose a scale, store the nearest integers, and multiply by the scale when you need the numbers. The scale is
# as small as possible: the largest entry becomes 127 or -127.
#
# One scale for the whole matrix would depend on its largest entry alone. If that is 100 times as large as the others,
# they all become 1, 0 or -1. So each *column* gets a scale of its own, as in LLM.int8() (Dettmers et al. 2022, section
# 3.1). Why columns? In x W, a column makes one output, so its scale can be applied once, after the sum. (PyTorch stores
# matrices as (out, in). There it is a scale for each row.)
#
# ```python
# >>> W = np.array([[31.75, 0.0, 0.25], [-0.625, 0.0, 0.9921875], [0.875, 0.0, -0.5]])
# >>> W8, scales = quantize(W)
# >>> W8  # -0.625 / 0.25 is -2.5, halfway between -3 and -2: the even one is taken
# array([[127,   0,  32],
#        [ -2,   0, 127],
#        [  4,   0, -64]], dtype=int8)
# >>> scales
# array([0.25     , 1.       , 0.0078125])
#
# ```
#
# A column of zeros, such as one that training never reached, has no largest entry to divide by. Its scale is 1.

# %%
def quantize(W):
    """Quantize a matrix to int8, with one scale for each column (Dettmers et al. 2022, section 3.1).

        scales_j = max_i |W_ij| / 127,    W8_ij = W_ij / scales_j, rounded

    Args:
        W: a matrix of floats, (in, out).

    Returns:
        W8: int8, (in, out), from -127 to 127; a number halfway between two integers is rounded to the even one.
        scales: (out,), in the dtype of `W`. The scale of a column of zeros is 1.
    """
    raise NotImplementedError("fast.quantize")


# %% [markdown]
# ## `int8_linear`
#
# *10 min, straightforward*
#
# Use the integers as they are: multiply x with `W8`, and scale the outputs. Scaling the matrix first would make all of
# its floats again, which is what you wanted to avoid.
#
# ```python
# >>> x = np.array([[1.0, 2.0, -1.0]])
# >>> int8_linear(x, W8, scales).round(4)
# array([[29.75  ,  0.    ,  2.7344]])
# >>> (x @ W).round(4)  # the first output has an error of 0.125, half of its scale
# array([[29.625 ,  0.    ,  2.7344]])
#
# ```
#
# In NumPy, this saves memory, but no time: it has no product of floats and int8, so it converts the matrix first. A
# library with such a product reads a quarter of the bytes. (LLM.int8() also quantizes x, so that it can multiply
# integers. It leaves out the few features of x that are much larger than the others.)

# %%
def int8_linear(x, W8, scales):
    """Multiply by a quantized matrix: x times W8, each output scaled.

        y_j = scales_j Σ_i x_i W8_ij

    Args:
        x: floats, (..., in).
        W8: int8, (in, out), as `quantize` returns it.
        scales: (out,), of the dtype of `x`.

    Returns:
        y: (..., out), in the dtype of `x`.
    """
    raise NotImplementedError("fast.int8_linear")


# %% [markdown]
# ## `accept_draft`
#
# *40 min, needs some thought*
#
# To compute one token, a machine reads all parameters. To compute five positions of a prompt, it reads them once, too.
# If only the next five tokens were known! A small model can guess them. The large model then checks all guesses in one
# pass. This is **speculative decoding** (Leviathan et al. 2023, Chen et al. 2023).
#
# Say the small model gives a token the probability q, and the large one gives it p. If p ≥ q, keep the drafted token.
# Otherwise keep it with probability p/q. If it is not kept, draw another from what the small model has missed: the
# probabilities max(0, p - q), scaled to sum 1. Later tokens of the draft are thrown away, because they continue a text
# that is no longer there. If the whole draft is kept, the large model has already computed one more row: draw a token
# from it. So each round gives at least one token.
#
# ![Bars for three tokens. The part that p and q share is kept; where p is larger, the missing part is filled by the
# second draw; where q is larger, the excess is rejected.](figures/speculative.svg)
#
# The result is not merely similar: each token has exactly the probability p. A token is drafted and kept with
# probability min(p, q). The rest of the probability goes where p is larger:
#
# ```python
# >>> p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
# >>> kept, missed = np.minimum(p, q), np.maximum(p - q, 0)
# >>> (kept + (1 - kept.sum()) * missed / missed.sum()).round(4)
# array([0.5, 0.3, 0.2])
# >>> rng = np.random.default_rng(0)
# >>> drafts = sample(np.tile(q, (10_000, 1)), rng)
# >>> tokens = [accept_draft([token], [q], [p, p], rng)[0] for token in drafts]
# >>> np.bincount(tokens) / 10_000  # the first of the two tokens, or the only one
# array([0.5077, 0.2941, 0.1982])
#
# ```

# %%
def accept_draft(tokens, draft_probs, target_probs, rng):
    """Keep the beginning of a draft, and add one token (Leviathan et al. 2023, algorithm 1).

    For each token x of the draft in order, with the probabilities q of the small model and p of the large one: it is
    kept if u q(x) < p(x), with u = rng.random(). Where a token is not kept, the draft ends, and a token drawn from
    max(0, p - q), scaled to sum 1, takes its place. If all are kept, a token drawn from the last row of `target_probs`
    is added.

    Args:
        tokens: the draft, n ≥ 0 token ids; each has a positive probability q.
        draft_probs: for each token of the draft, the probabilities q that it was drawn from, (n, V).
        target_probs: the large model's probabilities p at the same n positions and at the next one, (n + 1, V).
        rng: a `numpy.random.Generator`. `rng.random()` is called once for each token of the draft that is looked at,
            and then `sample` once.

    Returns:
        Token ids, int64, the tokens that were kept and one more: 1 to n + 1 of them.

    Raises:
        ValueError: if `target_probs` does not have exactly one row more than there are tokens in the draft.
    """
    raise NotImplementedError("fast.accept_draft")


# %% [markdown]
# ## `generate_speculative`
#
# The loop is given. In each round, the small model drafts `n_draft` tokens, one at a time, and the large one reads the
# whole text once. Greedy decoding needs no case of its own. With temperature 0, all of the probability is on one token,
# so a token is kept if and only if the large model would have taken it, too.

# %%
def generate_speculative(ids, draft, target, n_new, n_draft, rng, temperature=1.0):
    """Given: append `n_new` tokens of the model `target` to one text, with drafts of `n_draft` tokens by `draft`.

    `ids` (T,) is the prompt, T ≥ 1, and each model is a pair (params, config) of `gpt`; all T + n_new tokens must fit
    into its block size. Returns the text, (T + n_new,), and how often the target was called.
    """

    def probs(ids, model):
        return next_token_probs(gpt(ids, *model)[0], temperature)  # (T, V)

    ids, n_rounds = np.array(ids, dtype=np.int64), 0
    end = len(ids) + n_new
    while len(ids) < end:
        text, draft_probs = ids, []
        for _ in range(min(n_draft, end - len(ids) - 1)):  # One token comes from the target.
            draft_probs.append(probs(text, draft)[-1])
            text = np.append(text, sample(draft_probs[-1], rng))
        target_probs = probs(text, target)[len(ids) - 1 :]  # (n + 1, V)
        ids = np.append(ids, accept_draft(text[len(ids) :], draft_probs, target_probs, rng))
        n_rounds += 1
    return ids, n_rounds


# %% [markdown]
# ## On paper
#
# 1. Twelve heads read 8,192 tokens in float32. How many bytes do the scores take? How many in blocks of 128 queries
#    and 128 keys, one head after another?
# 2. GPT-2 small reads 494.6 MB for a token. What about int8, at 20 GB per second: how many tokens per second, at most?
# 3. Each token of a draft is kept with probability 0.8, whatever came before. How many tokens does a round with a
#    draft of four give on average?

# %% [markdown]
# ## Answers on paper
#
# **1. 3.2 GB, and 65,536 bytes.** The second number does not depend on the length of the text.
#
# ```python
# >>> 12 * 8192**2 * 4, 128**2 * 4
# (3221225472, 65536)
#
# ```
#
# **2. 161 instead of 40.** The scales, one for each column, hardly matter.
#
# ```python
# >>> int(20e9 / (494.6e6 / 4)), int(20e9 / 494.6e6)
# (161, 40)
#
# ```
#
# **3. 3.36.** The first token comes in any case, the second if the first of the draft is kept, and so on: 1 + 0.8 +
# 0.8² + 0.8³ + 0.8⁴.
#
# ```python
# >>> round(sum(0.8**i for i in range(5)), 2)
# 3.36
#
# ```

# %% [markdown]
# ## What could go wrong
#
# Look here for your mistake if a check fails. The report uses the same words.
#
# - `online_softmax_step`: **the weighted values so far were not corrected when the maximum grew.** They contain the
#   same exponentials as the total, so they need the same factor.
# - `online_softmax_step`: **a query that may attend to no key so far got nan.** Its maximum is -inf, and -inf - (-inf)
#   is nan. One nan spoils all later sums.
# - `blocked_attention`: **all blocks were collected before the first was used.** Each block overwrites the one before,
#   so that what you have collected is the last block, again and again.
# - `blocked_attention`: **start = 0 was treated like None, so that attention was not causal.** In Python, 0 counts as
#   false. Ask whether start is None.
# - `quantize`: **the largest entry became 128, which does not fit into int8.** int8 ends at 127. One more is -128: the
#   largest parameter changes its sign.
# - `accept_draft`: **the token in place of a rejected one was drawn from the large model's probabilities.** Tokens
#   where p is small were already kept often enough. Only what the draft has missed is left: max(0, p - q).

# %% [markdown]
# ## Try it
#
# Train a small GPT on texts with 16 different tokens. After 11 of the tokens, the next one depends only on the last
# token, and after the other 5, on the last two. One token in ten is random. Then store all matrices with fewer and
# fewer bits, with a scale for each column or one for the whole matrix, and measure the loss on new text. With 4 bits,
# the largest integer is 7, with 3 bits 3, and with 2 bits 1.
#
# **Guess first.** How much does the loss grow with 8 bits? Where does a scale for each column begin to matter?
#
# Run it: `headway experiment fast`, or the next cell of the notebook. It takes about ten seconds.

# %%
if __name__ == "__main__":
    from gpt import GPTConfig, init_gpt
    from softmax import cross_entropy
    from training import train

    table = np.random.default_rng(0).integers(16, size=(16, 16))
    table[:11] = table[:11, :1]  # After these, the next token does not depend on the one before.

    def texts(rng, size):
        text = list(rng.integers(16, size=(2, size)))
        while len(text) < 25:
            text.append(np.where(rng.random(size) < 0.9, table[text[-1], text[-2]], rng.integers(16, size=size)))
        text = np.stack(text, axis=1)
        return text[:, :-1], text[:, 1:]

    config = GPTConfig(16, 24, n_layers=2, n_heads=2, d_model=32)
    batches = (texts(np.random.default_rng(step), 16) for step in range(400))
    params = {name: p.astype(float) for name, p in init_gpt(config, np.random.default_rng(1)).items()}
    params, _, _ = train(params, config, batches, lr=0.005)
    ids, targets = texts(np.random.default_rng(1000), 500)
    print(f"not rounded: {cross_entropy(gpt(ids, params, config)[0], targets):.2f}")
    for bits in (8, 4, 3, 2):
        for axis, where in ((0, "each column"), (None, "each matrix")):
            largest = {n: np.abs(W).max(axis=axis, keepdims=True) for n, W in params.items() if W.ndim == 2}
            scales = {n: value / (2 ** (bits - 1) - 1) for n, value in largest.items()}
            stored = {n: np.rint(params[n] / scale) * scale for n, scale in scales.items()}
            loss = cross_entropy(gpt(ids, params | stored, config)[0], targets)
            print(f"{bits} bits, a scale for {where}: {loss:.2f}")


# %% [markdown]
# ## What came out
#
# ```text
# not rounded: 0.76
# 8 bits, a scale for each column: 0.76
# 8 bits, a scale for each matrix: 0.76
# 4 bits, a scale for each column: 0.76
# 4 bits, a scale for each matrix: 0.77
# 3 bits, a scale for each column: 0.85
# 3 bits, a scale for each matrix: 0.95
# 2 bits, a scale for each column: 1.58
# 2 bits, a scale for each matrix: 2.77
# ```
#
# With 8 bits, the loss stays the same to two digits. With 2 bits, each parameter is -1, 0 or 1 times its scale, and
# with one scale for each matrix, the model is no better than guessing, at log 16 = 2.77. (Training amplifies how a
# processor rounds, so your numbers may differ: another one began at 0.81, and ended at 2.88. This is one small model.
# In models with billions of parameters, a few features of x become so large that more is needed: see Dettmers et al.
# 2022.)
#
# 1. How many bytes do the matrices take as float32, and how many as int8 with their scales?
# 2. Suppose that one entry of each matrix were 100 times as large as all others. If only the others are rounded, what
#    would the loss be with 8 bits and one scale for each matrix?

# %% [markdown]
# ## Answers
#
# **1. 103,424 and 28,416.** The scales are 2,560 of the bytes: in larger matrices, their share is smaller.
#
# ```python
# >>> matrices = {name: W for name, W in params.items() if W.ndim == 2}
# >>> sum(4 * W.size for W in matrices.values()), sum(W.size + 4 * W.shape[1] for W in matrices.values())
# (103424, 28416)
#
# ```
#
# **2. About 2.** (2.11, and 1.79 on another processor.) With a scale for each column, the others are rounded more
# coarsely in one column only, and the loss hardly changes.
#
# ```python
# >>> for axis in (0, None):
# ...     stored = dict(params)
# ...     for name, W in matrices.items():
# ...         W = W.copy()
# ...         W[0, 0] = 100 * np.abs(W).max()
# ...         scale = np.abs(W).max(axis=axis, keepdims=True) / 127
# ...         stored[name] = np.rint(W / scale) * scale
# ...         stored[name][0, 0] = params[name][0, 0]  # The large entry itself is not rounded.
# ...     print(bool(cross_entropy(gpt(ids, stored, config)[0], targets) > 1.5))
# False
# True
#
# ```

# %% [markdown]
# ## Try it: a small model drafts
#
# Train the same model again, and a second one on the same texts: one block, one head, 8 features, a hundredth of the
# parameters. Then let the large one write 120 tokens, alone and with drafts of different lengths.
#
# **Guess first.** How many rounds do 120 tokens take with drafts of four? Can a longer draft make it slower?
#
# Run it: `headway experiment fast draft`, or the next cell of the notebook. It takes about 20 seconds. It also prints
# how many times as fast each text was written, which is not shown below because it differs from machine to machine.

# %%
if __name__ == "__main__" and "draft" in sys.argv:
    import time

    from generation import generate
    from gpt import GPTConfig, count_parameters, init_gpt
    from softmax import cross_entropy
    from training import train

    table = np.random.default_rng(0).integers(16, size=(16, 16))
    table[:11] = table[:11, :1]

    def texts(rng, size):
        text = list(rng.integers(16, size=(2, size)))
        while len(text) < 25:
            text.append(np.where(rng.random(size) < 0.9, table[text[-1], text[-2]], rng.integers(16, size=size)))
        text = np.stack(text, axis=1)
        return text[:, :-1], text[:, 1:]

    def trained(name, lr, **sizes):
        config = GPTConfig(16, 128, **sizes)
        batches = (texts(np.random.default_rng(step), 16) for step in range(200))
        params = {name: p.astype(float) for name, p in init_gpt(config, np.random.default_rng(1)).items()}
        params, _, _ = train(params, config, batches, lr=lr)
        ids, targets = texts(np.random.default_rng(1000), 500)
        loss = cross_entropy(gpt(ids, params, config)[0], targets)
        print(f"{name}: {count_parameters(params)} parameters, loss {loss:.2f}")
        return params, config

    def timed(write, *arguments):
        start = time.perf_counter()
        result = write(*arguments)
        return result, time.perf_counter() - start

    large = trained("large", 0.003, n_layers=4, n_heads=4, d_model=64)
    small = trained("small", 0.03, n_layers=1, n_heads=1, d_model=8)
    prompt, rng = np.array([1, 2]), np.random.default_rng
    for temperature in (1.0, 0.0):
        alone, before = timed(generate, prompt[None], *large, 120, rng(3), temperature)
        for n_draft in (1, 2, 4, 8, 16):
            arguments = prompt, small, large, 120, n_draft, rng(3), temperature
            (ids, n_rounds), after = timed(generate_speculative, *arguments)
            same = "the same text, " if (ids == alone[0]).all() else ""
            print(f"temperature {temperature}, drafts of {n_draft}: {same}{n_rounds} rounds")
            print(f"{before / after:.1f} times as fast", file=sys.stderr)


# %% [markdown]
# ## What came out: a small model drafts
#
# ```text
# large: 209280 parameters, loss 0.81
# small: 2040 parameters, loss 1.00
# temperature 1.0, drafts of 1: 65 rounds
# temperature 1.0, drafts of 2: 49 rounds
# temperature 1.0, drafts of 4: 37 rounds
# temperature 1.0, drafts of 8: 36 rounds
# temperature 1.0, drafts of 16: 26 rounds
# temperature 0.0, drafts of 1: the same text, 65 rounds
# temperature 0.0, drafts of 2: the same text, 53 rounds
# temperature 0.0, drafts of 4: the same text, 27 rounds
# temperature 0.0, drafts of 8: the same text, 26 rounds
# temperature 0.0, drafts of 16: the same text, 25 rounds
# ```
#
# With drafts of four, the large model is called 37 times for 120 tokens. The greedy text is the same, token by token.
# At temperature 1 it is another text, because the random numbers are used in another order, but one from the same
# distribution. Longer drafts save few rounds, since the end of a draft is rarely reached, and each of their tokens
# costs time.

# %% [markdown]
# ## Going faster
#
# These times are from one machine with one thread; measure yours:
#
# - **Attention in blocks of 128.** It took about a third of the time with 4,096 and with 8,192 tokens: nearly half
#   of the blocks are not computed, and a block is small enough for the cache of the processor. In blocks of 32, it took
#   1.4 times as long as all at once, because Python's loop takes time for each block.
# - **int8.** For a single row of x and a matrix (768, 3072), `int8_linear` took twice as long as `x @ W`, because NumPy
#   converts the matrix. For 256 rows, the difference was small.
# - **Drafts.** In the last experiment at temperature 1, drafts of four made the text 2 to 3 times as fast with five
#   different seeds, and drafts of 16 about 1.5 times. `generate_speculative` reads the whole text again in each round,
#   as `generate` does. With a cache there is less to gain in NumPy: through four blocks with D = 768, five positions
#   took more than twice as long as one.
