"""Assignment 11: generation, from the scores of the last position to text, with and without a key/value cache."""

# %% [markdown]
# # Generation: let it talk
#
# Your GPT is trained. It answers one question, "which token comes next?", and so far nobody has let it speak. Ask,
# append the answer, ask again. That is all there is to writing text:
#
# ```text
#     ids ──> gpt ──> logits of the LAST position ──> probabilities ──> one token ──> append ──┐
#      ^                                                                                       │
#      └───────────────────────────────────────────────────────────────────────────────────────┘
# ```
#
# Two things are missing. How is one token chosen from the scores? And how is the same text not read from its beginning
# again for every new token?

# %%
import numpy as np
from attention import attention, causal_mask
from blocks import subset
from embeddings import embed
from ffn import ffn, linear
from gpt import gpt
from layernorm import layernorm
from multihead import merge_heads, split_heads
from softmax import as_float, softmax

# %% [markdown]
# ## `next_token_probs`
#
# Always taking the most probable token, **greedy decoding**, sounds reasonable and makes dull text, which soon goes
# round in circles (Holtzman et al. 2020, section 4). Drawing from all probabilities makes lively text, but thousands of
# improbable tokens have a good chance together, and one that does not fit spoils everything after it. In between are
# three controls:
#
# - the temperature, which you know from softmax. Below 1 the probable becomes more probable. Dividing by 0 is
#   impossible, but its limit is clear, so 0 stands for greedy: all the probability on the largest score.
# - **top-k** keeps the k most probable tokens (Fan, Lewis and Dauphin 2018, section 5.4).
# - **top-p**, or *nucleus* sampling (Holtzman et al. 2020, section 3.1), keeps as many as it takes: the smallest set of
#   most probable tokens whose probabilities add up to at least p. Few if the model is sure, many if it is not.
#
# What is not kept gets probability 0, and the rest is scaled so that the sum is 1 again.
#
# ```python
# >>> logits = np.log([0.5, 0.3, 0.15, 0.05])
# >>> next_token_probs(logits, temperature=0.5).round(4)
# array([0.6849, 0.2466, 0.0616, 0.0068])
# >>> next_token_probs(logits, temperature=0).round(4)
# array([1., 0., 0., 0.])
# >>> next_token_probs(logits, top_k=2).round(4)
# array([0.625, 0.375, 0.   , 0.   ])
# >>> next_token_probs(logits, top_p=0.9).round(4)
# array([0.5263, 0.3158, 0.1579, 0.    ])
#
# ```
#
# In the last line 0.5 + 0.3 is not yet 0.9. The third token *crosses* the line, and it stays: without it the set would
# not have the mass that was asked for. Dropping it is a common mistake, and so is dropping the first token when it
# alone has more than p.
#
# **Ties.** What if the k-th and the next token have the same score? Libraries disagree. Keeping everything that is at
# least as large as the k-th score keeps too many: all of them, if the model has no preference. Here exactly k are kept,
# and of equal scores the one with the lower index comes first. (A *stable* sort does that. Sorting in ascending order
# and turning the result round does not.)
#
# ```python
# >>> next_token_probs(np.zeros(5), top_k=2)
# array([0.5, 0.5, 0. , 0. , 0. ])
#
# ```
#
# **Order.** First the temperature, then top-k, then top-p on what top-k has left, scaled to sum 1:
#
# ```python
# >>> next_token_probs(logits, top_k=3, top_p=0.8).round(4)  # 0.5263 + 0.3158 is at least 0.8
# array([0.625, 0.375, 0.   , 0.   ])
#
# ```


# %%
def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    """Probabilities that the next token is drawn from: temperature, then top-k, then top-p (Holtzman et al. 2020).

        probs = softmax(logits / temperature), without all but the top k, and without the tail beyond the mass p

    Args:
        logits: scores, (..., V), any number of leading axes.
        temperature: ≥ 0; 0 puts all the probability on the largest score, of equal ones on that with the lowest index.
        top_k: keep exactly this many of the most probable tokens, at least 1; of equal ones the lower index comes
            first. None, or V or more: keep all.
        top_p: keep the smallest set of most probable tokens whose probabilities, after top-k and scaled to sum 1, add
            up to at least this, 0 < top_p ≤ 1; the token that crosses the line stays, and of equal ones the lower
            index comes first. None or 1: keep all.

    Returns:
        Probabilities, (..., V), same dtype as `logits` (float64 for integers); each row sums to 1.

    Raises:
        ValueError: if `temperature` is negative, `top_k` is less than 1, or `top_p` is not in (0, 1].
    """
    if not temperature >= 0:
        raise ValueError(f"temperature must not be negative, got {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, got {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be in (0, 1], got {top_p}")
    logits = as_float(logits)
    if temperature == 0:
        probs = np.zeros_like(logits)
        np.put_along_axis(probs, logits.argmax(axis=-1, keepdims=True), 1.0, axis=-1)
        return probs

    probs = softmax(logits, temperature=temperature)  # (..., V)
    order = np.argsort(-logits, axis=-1, kind="stable")  # most probable first, of equal ones the lower index
    ranked = np.take_along_axis(probs, order, axis=-1)  # (..., V), sorted
    if top_k is not None:
        ranked[..., top_k:] = 0.0
        ranked /= ranked.sum(axis=-1, keepdims=True)
    if top_p is not None and top_p < 1:
        mass = np.cumsum(ranked, axis=-1, dtype=np.float64)
        ranked[..., 1:][mass[..., :-1] >= top_p] = 0.0  # the tokens before it are enough
        ranked /= ranked.sum(axis=-1, keepdims=True)
    np.put_along_axis(probs, order, ranked, axis=-1)
    return probs


# %% [markdown]
# ## `sample`
#
# Probabilities are not a token yet. To draw one, put them end to end on a line from 0 to 1, throw a dart u at the line,
# and see in which stretch it lands. In other words, take the first token whose *cumulative* probability is larger than
# u.
#
# ```python
# >>> np.cumsum([0.5, 0.25, 0.0, 0.25])
# array([0.5 , 0.75, 0.75, 1.  ])
#
# ```
#
# A dart at 0.6 hits token 1; no dart can hit token 2. In floating point the last sum may be 0.9999999 instead of 1, and
# a dart beyond it would hit nothing. Throw at a line that is exactly as long as the sum: then there is always a token,
# and never one of probability 0.
#
# ```python
# >>> probs = np.tile([0.5, 0.25, 0.0, 0.25], (10_000, 1))
# >>> tokens = sample(probs, np.random.default_rng(0))
# >>> np.bincount(tokens, minlength=4) / 10_000
# array([0.499 , 0.2505, 0.    , 0.2505])
#
# ```


# %%
def sample(probs, rng):
    """Draw one token from each row of probabilities: the inverse of the cumulative distribution.

        token = min { i : Σ_{j ≤ i} probs_j > u · Σ_j probs_j },    u = rng.random(), one for each row

    Args:
        probs: probabilities, (..., V); rows need not sum to exactly 1.
        rng: a `numpy.random.Generator`. `rng.random(shape)` is called once, with the leading axes as shape; so one
            number is used for each row, in order, even if only one token is possible.

    Returns:
        Token ids, (...), int64. A token of probability 0 is never drawn.

    Raises:
        ValueError: if a row has no positive sum (all zeros, or nan).
    """
    cumulative = np.cumsum(probs, axis=-1, dtype=np.float64)  # (..., V)
    total = cumulative[..., -1:]  # (..., 1)
    if not (total > 0).all():
        raise ValueError("a row of probabilities adds up to 0 or is nan")
    u = rng.random(cumulative.shape[:-1])[..., None]  # (..., 1), in [0, 1)
    return (cumulative <= u * total).sum(axis=-1, dtype=np.int64)  # how many tokens end at or before the dart


# %% [markdown]
# ## `generate`
#
# Now the loop from the top. It starts with a **prompt**, the text to go on from. Three things to mind:
#
# - Only the *last* position's scores say something about the new token. The others are about tokens that are already
#   there.
# - What the model looks at when it answers is its **context**, and it has positions for `block_size` tokens only. If
#   the text is longer, *crop* it: look at its *last* `block_size` tokens. The result is still the whole text.
# - All texts of the batch grow together, each with a token of its own.
#
# A model that has learned the alphabet by heart (this takes a second):
#
# ```python
# >>> from gpt import GPTConfig, init_gpt
# >>> from training import train
# >>> config = GPTConfig(vocab_size=26, block_size=8, n_layers=2, n_heads=2, d_model=16)
# >>> starts = np.random.default_rng(1).integers(0, 26, size=(300, 16, 1))  # 300 batches of 16 texts
# >>> batches = [((start + np.arange(8)) % 26, (start + np.arange(1, 9)) % 26) for start in starts]
# >>> params, _, losses = train(init_gpt(config, np.random.default_rng(0)), config, batches, lr=0.01)
# >>> prompt = np.array([[7, 8, 9], [23, 24, 25]])  # "hij" and "xyz"
# >>> ids = generate(prompt, params, config, 12, np.random.default_rng(0), temperature=0)
# >>> for row in ids:
# ...     print("".join(chr(ord("a") + i) for i in row))
# hijklmnopqrstuv
# xyzabcdefghijkl
#
# ```


# %%
def _choose(logits, rng, temperature, top_k, top_p):
    """One new token for each text, as a column that can be appended: (..., V) -> (..., 1)."""
    return sample(next_token_probs(logits, temperature, top_k, top_p), rng)[..., None]


def _check_prompt(ids, n_new):
    """The prompt as a new int64 array."""
    ids = np.array(ids, dtype=np.int64)
    if ids.shape[-1] < 1:
        raise ValueError("the prompt must have at least one token")
    if n_new < 0:
        raise ValueError(f"n_new must not be negative, got {n_new}")
    return ids


def generate(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """Append `n_new` tokens to each text, one at a time, each drawn from what the model says about the next token.

        repeat n_new times:
            logits = gpt(last block_size tokens of ids)[last position]
            append sample(next_token_probs(logits, temperature, top_k, top_p), rng) to ids

    Args:
        ids: the prompts, token ids, (B, T) with T ≥ 1; T may be larger than `config.block_size`. Any number of leading
            axes.
        params: dictionary of the GPT's parameters.
        config: a `GPTConfig`.
        n_new: how many tokens to append to each text, ≥ 0.
        rng: a `numpy.random.Generator`; `sample` is called once per new token, with temperature 0 too.
        temperature: as in `next_token_probs`; 0 is greedy.
        top_k: as in `next_token_probs`.
        top_p: as in `next_token_probs`.

    Returns:
        The prompts and what follows, (B, T + n_new), int64. `ids` is not modified.

    Raises:
        ValueError: if T is 0 or `n_new` is negative, and where `gpt` and `next_token_probs` raise it.
    """
    ids = _check_prompt(ids, n_new)
    for _ in range(n_new):
        logits, _ = gpt(ids[..., -config.block_size :], params, config)
        new = _choose(logits[..., -1, :], rng, temperature, top_k, top_p)  # (B, 1)
        ids = np.concatenate([ids, new], axis=-1)
    return ids


# %% [markdown]
# ## `generate_cached`
#
# It talks, but slowly. To append the 200th token, `generate` computes 199 positions, and to append the 201st it
# computes the same 199 again, and one more. What a waste: nobody sees the future, so nothing about the first 199
# positions has changed.
#
# What does the new position need from the old ones? In each block, attention needs their *keys* and *values*, and
# nothing else. Keep those of every block: the **key/value cache**. Then a new token is a text of length 1, whose one
# query looks at all the keys that have been kept, and at its own:
#
# ```text
#     x (B, 1, D) ──> q, k, v, each (B, H, 1, K)
#                        k and v go into the cache, which then holds S keys (B, H, S, K) and S values
#                     q looks at all S of them
# ```
#
# All the rest (norms, feed-forward network, output head) works on each position by itself anyway. The cost of a token
# is now that of one position, plus attention over S keys; it was that of S positions.
#
# Three things go wrong here:
#
# - The new token stands at position S - 1, not at 0: it needs *its* row of `W_pos`.
# - A prompt of several tokens goes through at once, and then its queries may not look ahead. This is what
#   `causal_mask(n_queries, n_keys)` was made for: the queries are the *last* ones of the keys.
# - **The cache is of no use when the window moves.** Beyond `block_size` tokens the first one is dropped and all others
#   move up by one place. Their position vectors change, and with them *every* key and value in every block. To get
#   exactly the tokens of `generate`, the cache must be filled anew for the cropped text, for every token from then on,
#   and the gain is gone. (Keys of an old position, which would be quick, give another text. Models for long texts use
#   *relative* positions, such as the rotations of Su et al. 2021, to be able to drop the oldest key and keep the rest.)
#
# The new tokens are the same as without the cache:
#
# ```python
# >>> with_cache = generate_cached(prompt, params, config, 12, np.random.default_rng(5), temperature=2.0, top_k=20)
# >>> without = generate(prompt, params, config, 12, np.random.default_rng(5), temperature=2.0, top_k=20)
# >>> bool((with_cache == without).all())
# True
#
# ```
#
# The same scores up to rounding, to be exact: products of other shapes are added up in another order. In float32 a dart
# may land within a ten-millionth of a border, about once in a million tokens, or two scores be that close in greedy
# decoding.
#
# With 64 features and 4 layers, writing the 255 tokens that fill a context of 256 is about six times as fast with the
# cache, and the last token costs hardly more than the first.


# %%
def _empty_cache(batch, params, config):
    """For every block its parameters, and room for the keys and values of `block_size` positions."""
    head_size = config.d_model // config.n_heads
    shape = (*batch, config.n_heads, config.block_size, head_size)  # (B, H, block_size, K)
    dtype = as_float(params["W_tok"]).dtype
    cache = []
    for i in range(config.n_layers):
        layer = subset(params, f"blocks.{i}.")
        cache.append((layer, subset(layer, "ffn."), np.empty(shape, dtype), np.empty(shape, dtype)))
    return cache


def _next_logits(ids, start, cache, params, config):
    """Scores after `ids` (B, n), which stand at the positions from `start` on. Their keys and values join the cache."""
    end = start + ids.shape[-1]
    mask = None  # a single query is the last position and may look at all S = end keys
    if ids.shape[-1] > 1:
        mask = causal_mask(ids.shape[-1], end)  # (n, S)
    x = embed(ids, params["W_tok"], params["W_pos"][start:])  # (B, n, D)
    for layer, ffn_params, keys, values in cache:
        normed = layernorm(x, layer["ln1.gamma"], layer["ln1.beta"])
        qkv = linear(normed, layer["attn.W_qkv"], layer.get("attn.b_qkv"))  # (B, n, 3D)
        heads = split_heads(qkv, 3 * config.n_heads)  # (B, 3H, n, K): those of the queries, of the keys, of the values
        q, k, v = (heads[..., i * config.n_heads : (i + 1) * config.n_heads, :, :] for i in range(3))  # (B, H, n, K)
        keys[..., start:end, :] = k
        values[..., start:end, :] = v
        heads, _ = attention(q, keys[..., :end, :], values[..., :end, :], mask)  # (B, H, n, K)
        x = x + linear(merge_heads(heads), layer["attn.W_o"], layer.get("attn.b_o"))
        x = x + ffn(layernorm(x, layer["ln2.gamma"], layer["ln2.beta"]), ffn_params, config.activation)[0]
    last = layernorm(x[..., -1, :], params["ln_f.gamma"], params["ln_f.beta"])  # (B, D): only this one is needed
    return last @ (params["W_tok"].T if config.tied else params["W_head"])  # (B, V)


def generate_cached(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """What `generate` does, with a key/value cache: the same tokens, but old positions are not computed again.

    As long as the text fits into `config.block_size`, a new token costs the computation of one position, and attention
    over the keys kept so far: linear in the context. Beyond that the window moves with every token, and learned
    absolute positions with it: the cache is filled anew from the cropped text, and a token costs as much as in
    `generate`.

    Args:
        ids: the prompts, token ids, (B, T) with T ≥ 1; T may be larger than `config.block_size`. Any number of leading
            axes.
        params: dictionary of the GPT's parameters.
        config: a `GPTConfig`.
        n_new: how many tokens to append to each text, ≥ 0.
        rng: a `numpy.random.Generator`; `sample` is called once per new token, with temperature 0 too.
        temperature: as in `next_token_probs`; 0 is greedy.
        top_k: as in `next_token_probs`.
        top_p: as in `next_token_probs`.

    Returns:
        The prompts and what follows, (B, T + n_new), int64: what `generate` returns for a generator in the same state,
        unless a choice is so close that the rounding of the scores decides. `ids` is not modified.

    Raises:
        ValueError: if T is 0 or `n_new` is negative, and where `gpt` and `next_token_probs` raise it.
    """
    ids = _check_prompt(ids, n_new)
    cache, n_cached = _empty_cache(ids.shape[:-1], params, config), 0
    for _ in range(n_new):
        if n_cached == 0 or n_cached == config.block_size:  # at the start, and whenever the window has moved
            context, n_cached = ids[..., -config.block_size :], 0
        else:
            context = ids[..., -1:]  # (B, 1), the one token that is not in the cache yet
        logits = _next_logits(context, n_cached, cache, params, config)  # (B, V)
        n_cached += context.shape[-1]
        ids = np.concatenate([ids, _choose(logits, rng, temperature, top_k, top_p)], axis=-1)
    return ids


# %% [markdown]
# ## What could go wrong
#
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
#
# - `next_token_probs`: **the scores were multiplied by the temperature.** A low temperature should make the probable
#   more probable; here it makes everything alike.
# - `next_token_probs`: **more than k tokens are kept where scores are equal.** “At least as large as the k-th score”
#   keeps all of the equal ones; here exactly k are kept.
# - `next_token_probs`: **the token that crosses the line of top-p was dropped.** Without it the set does not have the
#   mass that was asked for.
# - `sample`: **the dart is thrown at a line of length 1, whatever the probabilities add up to.** If they add up to
#   less, it may hit nothing, and the token is one that does not exist.
# - `generate`: **the context is not cropped to block_size tokens.** There are no positions beyond block_size; longer
#   texts are refused.
# - `generate`: **the scores of the first position were used.** They say what follows the first token. What follows the
#   last one is said at the last position.
# - `generate_cached`: **every new token was embedded as if it stood at position 0.** It is a text of length 1, but its
#   place is after all the tokens in the cache.
# - `generate_cached`: **the positions of the prompt look ahead.** A single new token needs no mask, but a prompt goes
#   through with several queries at once.

# %% [markdown]
# ## Try it
#
# Let all eleven assignments work together. The text is at hand again: the docstrings of this file. A very small GPT
# (one block, a context of 8 characters) learns it for two seconds, and then goes on from "the ", greedily and at three
# temperatures.
#
# **Guess first.** 300 characters hold 297 pieces of eight. How many *different* ones does each of the four texts have?
# And which of the texts would you rather read?
#
# Run it: `python generation.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    from gpt import GPTConfig, init_gpt
    from tokenizer import build_vocab, decode, encode, get_batch
    from training import train

    text = " ".join(f"{next_token_probs.__doc__} {sample.__doc__} {generate.__doc__}".lower().split())
    chars, stoi, itos = build_vocab(text)
    config = GPTConfig(vocab_size=len(chars), block_size=8, n_layers=1, n_heads=2, d_model=32, init_std=0.08)
    rng = np.random.default_rng(0)
    params = {name: value.astype(np.float64) for name, value in init_gpt(config, rng).items()}
    batches = (get_batch(encode(text, stoi), 16, config.block_size, rng) for _ in range(300))
    params, _, losses = train(params, config, batches, lr=0.01)

    def write(**controls):
        return decode(generate(encode("the ", stoi), params, config, 300, np.random.default_rng(0), **controls), itos)

    for temperature in (0, 0.5, 1.0, 2.0):
        written = write(temperature=temperature)
        pieces = {written[i : i + 8] for i in range(len(written) - 7)}
        print(f"{temperature:3}: {len(pieces):3} different pieces … {written[-50:].strip()}")

# %% [markdown]
# ## What came out
#
# ```text
#   0:  22 different pieces … en toperand ton token toperand ton token toperand
# 0.5: 276 different pieces … rron the the ran t tokens: tonding ope than thopr
# 1.0: 297 different pieces … h xt prassinoken. m tof, wrixuors: satieg nen_nurn
# 2.0: 297 different pieces … ha≤e; t6err_z:, m`. rs,_ryr)·y.ftauofin f kchi>tlr
# ```
#
# Greedy decoding runs in a circle before long: each of its characters is the most probable one, and nobody writes like
# that. Warmer texts hardly repeat themselves, and pay for it with words that do not exist. Between the two there is
# something to choose, and what top-k and top-p do is to cut the improbable tail off without sharpening the rest.
#
# How many characters are in play when one is chosen? The **perplexity** of a distribution, exp(−Σ p log p), counts
# them: 26 equally likely tokens give 26, a certain one gives 1.
#
# 1. Could the greedy text have escaped from its circle later on?
# 2. For one row of random scores, how many tokens do temperatures from 0 to 10 leave in play? And how many do `top_k=8`
#    and `top_p=0.9` keep, of the same row and of `5 * logits`, a model that is sure of itself?
# 3. `generate` computes its whole context anew for every token. How many positions is that for 255 tokens after a first
#    one, in a context of 256, and how many with the cache?

# %% [markdown]
# ## Answers
#
# **1. Never.** The next character depends on the last eight alone. Once the same eight come again, so does everything
# that followed them. (A longer context makes the circles rarer, not impossible.)
#
# ```python
# >>> written = write(temperature=0)
# >>> again = written.rfind(written[-8:], 0, -1)  # where the last eight stood before
# >>> period = len(written) - 8 - again
# >>> written[-period:] == written[-2 * period : -period], written[-period:]
# (True, 'ton token toperand ')
#
# ```
#
# **2. From 1 to nearly all 26.** Without any control it is 11.4: softmax has made its choice before you make yours.
# Top-k keeps as many tokens when the model is sure as when it is not; top-p adapts.
#
# ```python
# >>> logits = np.random.default_rng(0).normal(scale=2.0, size=26)
# >>> def in_play(probs):
# ...     kept = probs[probs > 0]
# ...     return round(float(np.exp(-(kept * np.log(kept)).sum())), 1)
# >>> [in_play(next_token_probs(logits, temperature=t)) for t in (0, 0.5, 1.0, 2.0, 10.0)]
# [1.0, 5.0, 11.4, 19.7, 25.7]
# >>> for scores in (logits, 5 * logits):
# ...     print([int((next_token_probs(scores, **control) > 0).sum()) for control in ({"top_k": 8}, {"top_p": 0.9})])
# [8, 11]
# [8, 2]
#
# ```
#
# **3. 32,640 against 255.** It is 128 times as much; that the clock says six times is because a NumPy call costs the
# same for one position as for a few.
#
# ```python
# >>> sum(range(1, 256)), 255
# (32640, 255)
#
# ```

# %% [markdown]
# ## In your own GPT
#
# And `headway generate CHECKPOINT` lets the GPT that you have trained talk.
