"""Generation, from the scores of the last position to text, with and without a key/value cache."""

# %% [markdown]
# # Generation: from predictions to text
#
# *Assignment 14 of 21 · 4 functions · about 2 h 5 min to write them*
#
# A small GPT has learned the docstrings of this file. Let it always append the character that it finds most probable,
# and it writes:
#
# ```text
# e the the the the the the the the the the the the
# ```
#
# Draw each character from its probabilities instead, and the same model writes `mexitiuerrrat img.e to sotsburers`.
# Nobody wants to read either. The loop is the same in both cases: predict, choose a token, append it, repeat.
#
# ```text
#     ids ──> gpt ──> logits of the LAST position ──> probabilities ──> one token ──> append ──┐
#      ^                                                                                       │
#      └───────────────────────────────────────────────────────────────────────────────────────┘
# ```
#
# ![A map of the whole model. Marked: drawing the next token and appending it to the text.](figures/map-generation.svg)
#
# So how should each token be chosen? And how do you avoid processing the whole text again for every new token?

# %%
import numpy as np
from attention import attention, causal_mask
from blocks import subset
from embeddings import embed, sinusoidal_positions
from ffn import ffn, linear
from gpt import gpt
from layernorm import layernorm
from multihead import merge_heads, split_heads
from softmax import as_float, softmax

# %% [markdown]
# ## `next_token_probs`
#
# *40 min, needs some thought*
#
# Always taking the most probable token is called **greedy decoding**. Long texts made this way often repeat themselves
# (Holtzman et al. 2020, table 1). Drawing from all probabilities gives more varied text, but together, thousands of
# improbable tokens have a large probability, and a single misfit can spoil everything after it. Three controls lie in
# between:
#
# - The temperature, which you know from softmax. Below 1, probable tokens become more probable. At its limit, 0, all of
#   the probability goes to the largest score: greedy decoding.
# - **top-k** keeps the k most probable tokens (Fan, Lewis and Dauphin 2018, section 5.4).
# - **top-p**, or *nucleus* sampling (Holtzman et al. 2020, section 3.1), keeps the smallest set of most probable tokens
#   whose probabilities add up to at least p. The set is small if the model is certain, and large if it is not.
#
# All other tokens get probability 0, and the kept ones are rescaled so that they add up to 1.
#
# ![The probabilities of eight tokens under three temperatures, top-k with k = 3, top-p with p = 0.9, and temperature
# 0.](figures/sampling.svg)
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
# In the last line, 0.5 + 0.3 is not yet 0.9. The third token *crosses* the threshold, and it is kept: without it, the
# sum would be less than p. The first token is kept even when it alone has more than p.
#
# **Ties.** What if the k-th token and the next have the same score? Here, exactly k are kept, and among equal scores
# the lower index comes first. (A *stable* sort keeps equal entries in order: `np.argsort(-x, axis=-1, kind="stable")`
# goes from large to small. Reversing an ascending sort does not. `np.put_along_axis` writes what you computed for the
# sorted row back into its places.)
#
# ```python
# >>> next_token_probs(np.zeros(5), top_k=2)
# array([0.5, 0.5, 0. , 0. , 0. ])
#
# ```
#
# **Order.** First the temperature, then top-k, then top-p on the tokens that top-k kept, rescaled to sum 1:
#
# ```python
# >>> next_token_probs(logits, top_k=3, top_p=0.8).round(4)  # 0.5263 + 0.3158 is at least 0.8
# array([0.625, 0.375, 0.   , 0.   ])
#
# ```

# %%
def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    """Return the probabilities of the next token: temperature, then top-k, then top-p (Holtzman et al. 2020).

        probs = softmax(logits / temperature), without all but the top k, and without the tail beyond the mass p

    Args:
        logits: scores, (..., V), any number of leading axes.
        temperature: ≥ 0; 0 puts all of the probability on the largest score, of equal ones on that with the lowest
            index.
        top_k: keep exactly this many of the most probable tokens, at least 1; of equal ones the lower index comes
            first. None, or V or more: keep all.
        top_p: keep the smallest set of most probable tokens whose probabilities, after top-k and rescaled to sum 1,
            add up to at least this, 0 < top_p ≤ 1; the token that crosses the threshold is kept, and equal ones are
            ranked as in `top_k`. None or 1: keep all.

    Returns:
        Probabilities, (..., V), same dtype as `logits` (float64 for integers); each row sums to 1.

    Raises:
        ValueError: if `temperature` is negative, `top_k` is less than 1, or `top_p` is not in (0, 1].
    """
    raise NotImplementedError("generation.next_token_probs")


# %% [markdown]
# ## `sample`
#
# *15 min, needs some thought*
#
# Put the probabilities end to end on a line from 0 to 1, throw a dart at a random point u of the line, and see which
# stretch it lands in. In other words, take the first token whose *cumulative* probability is larger than u.
#
# ```python
# >>> np.cumsum([0.5, 0.25, 0.0, 0.25])
# array([0.5 , 0.75, 0.75, 1.  ])
#
# ```
#
# A dart at 0.6 hits token 1; no dart can hit token 2. In floating point, the last sum may be 0.9999999 instead of 1,
# and a dart beyond it would hit nothing. So throw at a line exactly as long as the sum.
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
        probs: probabilities, (..., V); rows need not add up to exactly 1.
        rng: a `numpy.random.Generator`. `rng.random(shape)` is called once, with the leading axes as shape, so that
            each row uses one number, in order, even if only one token is possible.

    Returns:
        Token ids, (...), int64. A token of probability 0 is never drawn.

    Raises:
        ValueError: if a row has no positive sum (all zeros, or nan).
    """
    raise NotImplementedError("generation.sample")


# %% [markdown]
# ## `generate`
#
# *20 min, needs some thought*
#
# Now write the loop from the top. It starts with a **prompt**, the text that the model continues. Three details matter:
#
# - Only the scores of the *last* position predict the new token.
# - The tokens that the model reads are its **context**, and it has positions for only `block_size` of them. If the text
#   is longer, *crop* it: pass only its *last* `block_size` tokens to the model. The result is still the whole text.
# - All texts of the batch grow together, each by its own new token.
#
# The example trains a model on the alphabet:
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


def generate(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """Append `n_new` tokens to each text, one at a time, each drawn from the model's prediction.

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
        The prompts with the new tokens, (B, T + n_new), int64. `ids` is not modified.

    Raises:
        ValueError: if T is 0 or `n_new` is negative, and where `gpt` and `next_token_probs` raise it.
    """
    raise NotImplementedError("generation.generate")


# %% [markdown]
# ## `generate_cached`
#
# *50 min, needs some thought*
#
# To append the 200th token, `generate` computes 199 positions, and to append the 201st, it computes the same 199 again,
# plus one more. The causal mask makes that unnecessary: no position attends to later ones, so nothing about the first
# 199 has changed.
#
# What does the new position need from the old ones? In each block, it needs their *keys* and *values*, and nothing
# else. Store these: they are the **key/value cache**, `kv` for short. (The `cache` of a forward pass is something else:
# it serves the backward pass.) A new token is then a text of length 1, whose single query attends to all the stored
# keys and to its own:
#
# ```text
#     x (B, 1, D) ──> q, k, v, each (B, H, 1, K)
#                        k and v go into the cache, which then holds S keys (B, H, S, K) and S values
#                     q attends to all S of them
# ```
#
# ![The keys and values computed at each of five steps: without a cache all of them every time, with a cache only the
# newest.](figures/kv-cache.svg)
#
# Everything else works on each position separately. A token now costs as much as one position, plus attention over S
# keys; before, it cost as much as S positions.
#
# Four details are easy to get wrong:
#
# - The new token stands at position S - 1, not at 0: it needs *its* row of `W_pos`.
# - The steps are those of `block` and `gpt`, with all options of the configuration except dropout.
# - A prompt of several tokens is processed at once, so its queries must not attend to later positions. For this,
#   `causal_mask` takes `n_queries` and `n_keys`: the queries belong to the *last* of the keys.
# - **The cache is of no use once the window moves.** Beyond `block_size` tokens, the first one is dropped and all
#   others move up by one position. Their position vectors change, and with them *every* key and value in every block.
#   So from then on, the cache must be filled again from the cropped text for every token, and no time is saved. (Models
#   with *relative* positions, such as the rotations of Su et al. 2021, have this problem, too: from the second block
#   on, the stored keys and values contain what was read from the dropped token. Xiao et al. 2023 drop old keys all the
#   same, and found that the text stays good only if the keys of the first few tokens are kept.)
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
# To be exact, the scores are the same up to rounding. Very rarely, a dart lands so close to a border that rounding
# decides.

# %%


def generate_cached(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """Generate the same tokens as `generate`, with a key/value cache.

    Beyond `config.block_size` tokens, the window moves with every token, and all positions change: the cache is then
    filled again from the cropped text.

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
        The prompts with the new tokens, (B, T + n_new), int64: what `generate` returns for a generator in the same
        state, unless a choice is so close that the rounding of the scores decides. `ids` is not modified.

    Raises:
        ValueError: if T is 0 or `n_new` is negative, and where `next_token_probs` raises it.
    """
    raise NotImplementedError("generation.generate_cached")


# %% [markdown]
# ## What does a token cost?
#
# Multiplying a row by a matrix takes one multiplication and one addition for each entry of the matrix. So *each entry
# of a matrix costs two operations per token*. In each block, attention adds two operations for each of the D entries of
# every stored key (the scores), and two for those of every stored value (the average).
#
# ```python
# >>> def operations(config, n_keys):  # of one new token that attends to n_keys positions
# ...     D, F, V = config.d_model, config.d_ff, config.vocab_size
# ...     matrices = config.n_layers * (3 * D * D + D * D + 2 * D * F) + D * V  # W_qkv, W_o, W_1 and W_2; the head
# ...     return 2 * matrices + config.n_layers * 4 * D * n_keys
# >>> small_gpt2 = GPTConfig(vocab_size=50_257, block_size=1024, n_layers=12, n_heads=12, d_model=768)
# >>> operations(small_gpt2, n_keys=1), operations(small_gpt2, n_keys=1024)
# (247100928, 284812800)
#
# ```
#
# So a token of the smallest GPT-2 costs about 0.25 billion operations, and attention is a small part of that, even over
# the whole context. (In training, the backward pass takes about twice as many as the forward pass, as each product has
# two gradients.)
#
# The cache costs memory: one key and one value of D entries, per block and position. With 4 bytes for each number:
#
# ```python
# >>> def cache_bytes(config, n_keys):
# ...     return config.n_layers * 2 * config.d_model * n_keys * 4
# >>> cache_bytes(small_gpt2, 1024) / 2**20  # in MiB
# 72.0
#
# ```
#
# To compute one token, the machine also has to *read* every parameter and the whole cache once. How many operations is
# that per byte?
#
# ```python
# >>> parameter_bytes = 4 * 124_000_000
# >>> round(operations(small_gpt2, 1024) / (parameter_bytes + cache_bytes(small_gpt2, 1024)), 2)
# 0.5
#
# ```
#
# Processors can do many operations in the time they take to read one byte. So a model that writes a single text mostly
# waits for memory. A batch helps, because each parameter is read once for all of its texts, but every text needs its
# own cache.

# %% [markdown]
# ## On paper
#
# 1. The probabilities of four tokens are ½, ¼, ⅛ and ⅛. What are they at temperature ½? (Dividing the logarithms by ½
#    squares the probabilities, before they are rescaled.)
# 2. Which of these always give the same result as temperature 0, if no two scores are equal: `top_k=1`, `top_p=0.01`,
#    `temperature=0.01`?
# 3. A model has 32 blocks and D = 4,096, and stores each number in 2 bytes. How large is the key/value cache of one
#    text of 4,096 tokens? How large is it if groups of four heads share their keys and values?

# %% [markdown]
# ## Answers on paper
#
# **1. They are 16/22, 4/22, 1/22 and 1/22.** The squares are ¼, 1/16, 1/64 and 1/64, and their sum is 22/64.
#
# ```python
# >>> (22 * next_token_probs(np.log([0.5, 0.25, 0.125, 0.125]), temperature=0.5)).round(6)
# array([16.,  4.,  1.,  1.])
#
# ```
#
# **2. Only the first one.** With `top_p=0.01`, the smallest set that reaches 0.01 is usually the most probable token
# alone, but not if more than a hundred tokens are about equally likely. A small temperature leaves a little probability
# to scores that are very close to the largest.
#
# ```python
# >>> nearly_equal = np.linspace(0, 1e-3, 1000)
# >>> for control in ({"top_k": 1}, {"top_p": 0.01}, {"temperature": 0.01}):
# ...     print(int((next_token_probs(nearly_equal, **control) > 0).sum()))
# 1
# 10
# 1000
#
# ```
#
# **3. It is 2 GiB, and 0.5 GiB with shared keys and values.** That is why many newer models let several heads share
# them.
#
# ```python
# >>> 32 * 2 * 4096 * 4096 * 2 / 2**30
# 2.0
#
# ```

# %% [markdown]
# ## What could go wrong
#
# The report uses these words when it recognizes a mistake:
#
# - `next_token_probs`: **the scores were multiplied by the temperature.** A low temperature should make the most
#   probable token even more probable. Here it does the opposite.
# - `next_token_probs`: **top-k kept more than k tokens where scores are equal.** The condition "at least as large as
#   the k-th score" keeps all of the equal scores. Exactly k should be kept.
# - `next_token_probs`: **the token that crosses the threshold of top-p was dropped.** Without it, the probabilities of
#   the kept tokens add up to less than p.
# - `generate_cached`: **every new token was embedded as if it stood at position 0.** The new token is passed in as a
#   text of length 1, but its position is after all the tokens in the cache.
# - `generate_cached`: **the positions of the prompt attended to later positions.** A single new token needs no mask,
#   but a prompt is processed with several queries at once.

# %% [markdown]
# ## Try it
#
# Here is the very small model from the opening (one block, a context of 8 characters). It learns the docstrings of this
# file, and continues "the ", greedily and at three temperatures.
#
# **Guess first.** Each text of 304 characters contains 297 pieces of eight. How many *different* pieces will each of
# the four texts have? And which would you rather read?
#
# Run it: `headway experiment generation`, or the next cell of the notebook.

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
#   0:   4 different pieces … e the the the the the the the the the the the the
# 0.5: 240 different pieces … heperat the the the the top_probi. the an the atur
# 1.0: 297 different pieces … mexitiuerrrat img.e to sotsburers, set_keen in ver
# 2.0: 297 different pieces … heypalv)[slat. in h ss0_q}p:xxhoxese<in g(alge:ses
# ```
#
# Each character of the greedy text is the most probable one, but real text is not like that. At temperatures 1 and 2,
# no piece occurs twice, but many of the words do not exist. Temperature 0.5 lies in between. Top-k and top-p cut off
# the improbable tail without changing the proportions of the rest.
#
# How many choices does a distribution offer? You know the perplexity of a text from `counting`. That of a distribution
# is exp(−Σ p log p): 26 equally likely tokens give 26, a certain one gives 1.
#
# 1. Could the greedy text have left its cycle later on?
# 2. For one row of random scores, what is the perplexity at temperatures from 0 to 10? And how many tokens do `top_k=8`
#    and `top_p=0.9` keep of that row, and of `5 * logits`, where the model is more certain?
# 3. `generate` computes its whole context again for every token. To write 255 tokens after a first one, in a context of
#    256, how many positions is that, and how many with the cache?

# %% [markdown]
# ## Answers
#
# **1. No.** The next character depends only on the last eight. Once the same eight occur again, the same continuation
# follows. (A longer context makes such cycles rarer, not impossible.)
#
# ```python
# >>> written = write(temperature=0)
# >>> again = written.rfind(written[-8:], 0, -1)  # where the last eight occurred before
# >>> period = len(written) - 8 - again
# >>> written[-period:] == written[-2 * period : -period], written[-period:]
# (True, 'the ')
#
# ```
#
# **2. From 1 to nearly 26.** At temperature 1 it is 11.4. Top-k keeps the same number of tokens whether or not the
# model is certain; top-p adapts.
#
# ```python
# >>> logits = np.random.default_rng(0).normal(scale=2.0, size=26)
# >>> def perplexity(probs):
# ...     kept = probs[probs > 0]
# ...     return round(float(np.exp(-(kept * np.log(kept)).sum())), 1)
# >>> [perplexity(next_token_probs(logits, temperature=t)) for t in (0, 0.5, 1.0, 2.0, 10.0)]
# [1.0, 5.0, 11.4, 19.7, 25.7]
# >>> for scores in (logits, 5 * logits):
# ...     print([int((next_token_probs(scores, **control) > 0).sum()) for control in ({"top_k": 8}, {"top_p": 0.9})])
# [8, 11]
# [8, 2]
#
# ```
#
# **3. 32,640 and 255.** That is 128 times as many. (For a small model, the times differ far less: a NumPy call takes
# about as long for one position as for a few.)
#
# ```python
# >>> sum(range(1, 256)), 255
# (32640, 255)
#
# ```

# %% [markdown]
# ## In your own GPT
#
# `headway generate CHECKPOINT` generates text with the GPT that you have trained.
