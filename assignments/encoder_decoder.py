"""Assignment 12: the encoder–decoder of 2017, the first transformer, from blocks to greedy decoding."""

# %% [markdown]
# # The encoder–decoder: read one text, write another
#
# *Assignment 12 of 12 · 6 functions · about 2 h 20 min · bonus: 1 more, 1 h*
#
# A GPT continues a text. The first transformer (Vaswani et al. 2017) did something else: it *translated*. It reads a
# whole text in one language, the *source*, and writes a text in another, the *target*, one token at a time. For that it
# has two stacks of blocks:
#
# - the **encoder** reads the source. Nothing has to be hidden from it, because the whole source is there from the
#   beginning: every position looks at every other. What comes out is the memory, one vector for each source token;
# - the **decoder** writes the target. It must not see its own future, so its self attention is causal, as in a GPT. And
#   each of its blocks has a second attention, the **source attention**, with which it looks things up in the memory. It
#   is the cross attention that you wrote in assignment 5 and have not needed so far.
#
# ```text
#     source (B, S)                      target (B, T)
#         │ embed                            │ embed
#         ▼                                  ▼
#     self attention ─ ln1               causal self attention ─ ln1
#     feed-forward   ─ ln2               source attention      ─ ln2  <── memory (B, S, D),
#         │    × n_layers                feed-forward          ─ ln3      the same for all blocks
#         ▼                                  │    × n_layers
#     memory (B, S, D)                       ▼ output head, log-softmax
#                                        log_probs (B, T, Vt)
# ```
#
# You own nearly all of it. New are the three-step block of the decoder, the masks for two texts, and the way back
# through both stacks.
#
# What is different from the GPT of assignment 9, all as in the paper:
#
# | | here | the GPT |
# |---|---|---|
# | layer norm | after each addition (post-norm, section 3.1) | before each branch (pre-norm) |
# | activation | ReLU (section 3.3) | GELU |
# | positions | sines and cosines, not learned (section 3.5) | a learned table |
# | token vectors | times √D (section 3.4) | as they are |
# | after the last block | nothing | one more layer norm |
# | output | log-probabilities | scores |
#
# Four things differ from the paper. There is no dropout, so that everything can be computed exactly. The norms use
# $\epsilon = 10^{-5}$. Attention may have biases, which the paper has in the feed-forward network only (sections 3.2.2
# and 3.3). And the two tables and the output head are matrices of their own; the paper uses one matrix for
# all three, which needs a vocabulary that both languages share (section 3.4).
#
# Letters: S source tokens, T target tokens, Vs and Vt tokens in the two vocabularies; all others as before.

# %%
import math
from dataclasses import dataclass

import numpy as np
from attention import causal_mask, padding_mask
from blocks import block, block_backward, prefixed, subset
from embeddings import embed, embed_tokens_backward, sinusoidal_positions
from ffn import ffn, ffn_backward, linear, linear_backward
from layernorm import layernorm, layernorm_backward
from multihead import multihead_attention, multihead_attention_backward
from softmax import as_float, log_softmax

# %% [markdown]
# ## `TransformerConfig` and `init_transformer`
#
# Both given. The paper's model has 6 layers, 8 heads, D = 512 and F = 2048; the defaults are smaller. The paper does
# not say how training starts. Here every matrix is drawn so that it neither enlarges nor shrinks what goes through it
# (LeCun et al. 1998, section 4.6), and the token vectors so that they are about as large as the position vectors once
# they have been multiplied by √D.
#
# ```python
# >>> config = TransformerConfig(vocab_source=11, vocab_target=12, n_layers=1, n_heads=2, d_model=8)
# >>> params = init_transformer(config, np.random.default_rng(0))
# >>> for name in subset(params, "decoder.0.source_attn."):
# ...     print(name, params["decoder.0.source_attn." + name].shape)
# W_qkv (8, 24)
# b_qkv (24,)
# W_o (8, 8)
# b_o (8,)
# >>> params["W_source"].shape, params["W_target"].shape, params["W_head"].shape
# ((11, 8), (12, 8), (8, 12))
#
# ```

# %%
@dataclass(frozen=True)
class TransformerConfig:
    """Given: the shape of an encoder–decoder.

    Attributes:
        vocab_source: Vs, the number of different source tokens.
        vocab_target: Vt, the number of different target tokens.
        n_layers: the number of blocks in the encoder, and again in the decoder.
        n_heads: H, the number of heads in each attention, a divisor of D.
        d_model: D, the width of both residual streams.
        d_ff: F, the width inside the feed-forward networks. None stands for 4 D; reading it gives the number.
        bias: whether the linear layers have biases. Layer norms always have their beta, and the head has no bias.
    """

    vocab_source: int
    vocab_target: int
    n_layers: int = 2
    n_heads: int = 4
    d_model: int = 64
    d_ff: int | None = None
    bias: bool = True

    def __post_init__(self):
        """Fill in `d_ff`, and refuse what cannot work."""
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        for name in ("vocab_source", "vocab_target", "n_layers", "n_heads", "d_model", "d_ff"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.d_model % self.n_heads != 0:
            raise ValueError(f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})")


def init_transformer(config, rng):
    """Given: parameters of an untrained encoder–decoder.

    The names, in this order, for i = 0 … n_layers - 1:

        W_source (Vs, D)  W_target (Vt, D)
        encoder.{i}. attn.W_qkv (D, 3D)         attn.b_qkv (3D,)         attn.W_o (D, D)         attn.b_o (D,)
                     ln1.gamma (D,)             ln1.beta (D,)
                     ffn.W_1 (D, F)             ffn.b_1 (F,)             ffn.W_2 (F, D)          ffn.b_2 (D,)
                     ln2.gamma (D,)             ln2.beta (D,)
        decoder.{i}. attn.W_qkv (D, 3D)         attn.b_qkv (3D,)         attn.W_o (D, D)         attn.b_o (D,)
                     ln1.gamma (D,)             ln1.beta (D,)
                     source_attn.W_qkv (D, 3D)  source_attn.b_qkv (3D,)  source_attn.W_o (D, D)  source_attn.b_o (D,)
                     ln2.gamma (D,)             ln2.beta (D,)
                     ffn.W_1 (D, F)             ffn.b_1 (F,)             ffn.W_2 (F, D)          ffn.b_2 (D,)
                     ln3.gamma (D,)             ln3.beta (D,)
        W_head (D, Vt)

    Every W is normal with mean 0; the standard deviation is 1 / √D for the two tables and 1 / √(number of rows) for the
    others. Every gamma is 1, every beta and every bias b is 0.

    Args:
        config: a `TransformerConfig`. Without `config.bias` there are no `b_qkv`, `b_o`, `b_1`, `b_2`.
        rng: a `numpy.random.Generator`.

    Returns:
        A dictionary of float32 arrays. The same generator state gives the same parameters.
    """
    d, f = config.d_model, config.d_ff

    def matrix(n_in, n_out):
        return rng.normal(0.0, 1 / math.sqrt(n_in), (n_in, n_out)).astype(np.float32)

    def table(vocab_size):
        return rng.normal(0.0, 1 / math.sqrt(d), (vocab_size, d)).astype(np.float32)

    def vector(size, value=0.0):
        return np.full(size, value, dtype=np.float32)

    def layer(*parts):
        params = {}
        for number, part in enumerate(parts, 1):
            if part == "ffn":
                params |= {"ffn.W_1": matrix(d, f), "ffn.b_1": vector(f), "ffn.W_2": matrix(f, d), "ffn.b_2": vector(d)}
            else:
                params |= {f"{part}.W_qkv": matrix(d, 3 * d), f"{part}.b_qkv": vector(3 * d)}
                params |= {f"{part}.W_o": matrix(d, d), f"{part}.b_o": vector(d)}
            params |= {f"ln{number}.gamma": vector(d, 1.0), f"ln{number}.beta": vector(d)}
        return {name: value for name, value in params.items() if config.bias or ".b_" not in name}

    params = {"W_source": table(config.vocab_source), "W_target": table(config.vocab_target)}
    for i in range(config.n_layers):
        params |= prefixed(layer("attn", "ffn"), f"encoder.{i}.")
    for i in range(config.n_layers):
        params |= prefixed(layer("attn", "source_attn", "ffn"), f"decoder.{i}.")
    params["W_head"] = matrix(d, config.vocab_target)
    return params


# %% [markdown]
# ## `encoder_block`
#
# *20 min, needs a thought*
#
# You wrote it in assignment 8. A block of the 2017 encoder is the post-norm block with ReLU:
#
# $$a = \mathrm{ln}_1(x + \mathrm{attention}(x)) \qquad y = \mathrm{ln}_2(a + \mathrm{ffn}(a))$$
#
# Two positions, one head, and a feed-forward network of zeros. The first position looks at the second as well, a
# little: in an encoder nothing is hidden.
#
# ```python
# >>> params = {f"ln{n}.gamma": np.ones(2) for n in (1, 2)} | {f"ln{n}.beta": np.zeros(2) for n in (1, 2)}
# >>> params |= {"attn.W_qkv": np.tile(np.eye(2), 3), "attn.W_o": np.eye(2)}
# >>> params |= {"ffn.W_1": np.zeros((2, 3)), "ffn.W_2": np.zeros((3, 2))}
# >>> out, cache = encoder_block(np.array([[1.0, -1.0], [-1.0, 1.0]]), params, n_heads=1)
# >>> cache["weights"].round(3)
# array([[[0.944, 0.056],
#         [0.056, 0.944]]])
# >>> out.round(3)
# array([[ 1., -1.],
#        [-1.,  1.]])
#
# ```
#
# Much code that calls itself the 2017 transformer has the norm somewhere else. The well-known Annotated Transformer
# normalizes *before* each branch, and PyTorch's `nn.Transformer` puts an additional layer norm behind each stack.
# Neither is in the paper.

# %%
def encoder_block(x, params, n_heads, mask=None):
    """One block of the encoder: self attention and a feed-forward network, post-norm.

        a = ln1(x + attention(x))                       (Vaswani et al. 2017, section 3.1)
        y = ln2(a + ffn(a)),    ffn with ReLU

    Args:
        x: the residual stream, (..., S, D). Integers are computed in float64.
        params: `attn.W_qkv` (D, 3D), `attn.b_qkv` (3D,), `attn.W_o` (D, D), `attn.b_o` (D,); `ffn.W_1` (D, F),
            `ffn.b_1` (F,), `ffn.W_2` (F, D), `ffn.b_2` (D,); `ln1.gamma`, `ln1.beta`, `ln2.gamma`, `ln2.beta`, each
            (D,). The biases `b_...` may be absent.
        n_heads: number of heads H; D is a multiple of it.
        mask: boolean, broadcastable to (..., H, S, S), such as (B, 1, 1, S); True where the query may look at the key.
            None: everybody sees everything.

    Returns:
        out: (..., S, D), same dtype as `x`.
        cache: dictionary with what you like and these entries:
            `weights`, the attention weights, (..., H, S, S);
            `after_attention`, the stream after the first step (a above), (..., S, D);
            `after_ffn`, the stream after the second step (y above, the output), (..., S, D).
    """
    raise NotImplementedError("encoder_decoder.encoder_block")


# %% [markdown]
# ## `decoder_block`
#
# *35 min, needs paper*
#
# Three steps, each of them added to the stream and normalized (Vaswani et al. 2017, section 3.1):
#
# $$a = \mathrm{ln}_1(x + \mathrm{attention}(x)) \qquad
#   b = \mathrm{ln}_2(a + \mathrm{attention}(a, memory)) \qquad
#   y = \mathrm{ln}_3(b + \mathrm{ffn}(b))$$
#
# In the source attention the queries come from the decoder, and the keys and the values from the memory: "where in the
# source is what I need for my next word?" Its weights are (..., H, T, S), a row for each target position and a column
# for each source position. In a translation they show which word was made from which, like the alignments of Bahdanau
# et al. (2015, section 5.2.1), whose attention was the model for this one.
#
# A block with two positions, a memory of three, and one head. Only the source attention does anything; the other two
# steps add 0.
#
# ```python
# >>> params = {f"ln{n}.gamma": np.ones(2) for n in (1, 2, 3)} | {f"ln{n}.beta": np.zeros(2) for n in (1, 2, 3)}
# >>> params |= {"attn.W_qkv": np.zeros((2, 6)), "attn.W_o": np.zeros((2, 2))}
# >>> params |= {"source_attn.W_qkv": np.tile(np.eye(2), 3), "source_attn.W_o": np.eye(2)}
# >>> params |= {"ffn.W_1": np.zeros((2, 3)), "ffn.W_2": np.zeros((3, 2))}
# >>> x = np.array([[1.0, -1.0], [-1.0, 1.0]])  # T = 2 target positions, D = 2
# >>> memory = np.array([[2.0, 0.0], [0.0, 2.0], [0.0, 9.0]])  # S = 3 source positions
# >>> out, cache = decoder_block(x, memory, params, n_heads=1, source_mask=np.array([True, True, False]))
# >>> cache["source_weights"].round(3)
# array([[[0.944, 0.056, 0.   ],
#         [0.056, 0.944, 0.   ]]])
#
# ```
#
# The first position finds the first source token, the second one the second. The third token is padding. It would have
# drawn the second position away, had the mask not kept it out:
#
# ```python
# >>> out, cache = decoder_block(x, memory, params, n_heads=1)
# >>> cache["source_weights"].round(3)
# array([[[0.944, 0.056, 0.   ],
#         [0.   , 0.007, 0.993]]])
#
# ```
#
# There are two masks, for two texts: `target_mask` for what target positions see of each other, and `source_mask` for
# what they see of the source. The block uses both as they are. That a target must not see its own future is seen to
# further up, in `decode`.

# %%
def decoder_block(x, memory, params, n_heads, target_mask=None, source_mask=None):
    """One block of the decoder: self attention, source attention and a feed-forward network, post-norm.

        a = ln1(x + attention(x))                       (Vaswani et al. 2017, sections 3.1 and 3.2.3)
        b = ln2(a + attention(a, memory))               queries from a, keys and values from the memory
        y = ln3(b + ffn(b)),    ffn with ReLU

    Args:
        x: the residual stream, (..., T, D). Integers are computed in float64.
        memory: the encoder's output, (..., S, D), with the batch axes of `x`.
        params: those of the self attention, `attn.W_qkv` (D, 3D), `attn.b_qkv` (3D,), `attn.W_o` (D, D), `attn.b_o`
            (D,); the same of the source attention, `source_attn.W_qkv` … `source_attn.b_o`; `ffn.W_1` (D, F),
            `ffn.b_1` (F,), `ffn.W_2` (F, D), `ffn.b_2` (D,); `ln1.gamma`, `ln1.beta`, and so on to `ln3.beta`, each
            (D,). The biases `b_...` may be absent.
        n_heads: number of heads H; D is a multiple of it.
        target_mask: boolean, broadcastable to (..., H, T, T), for the self attention; True where the query may look at
            the key. None: everybody sees everything, the future too. It is used as it is.
        source_mask: boolean, broadcastable to (..., H, T, S), such as (B, 1, 1, S), for the source attention. None:
            everybody sees the whole memory.

    Returns:
        out: (..., T, D), same dtype as `x`.
        cache: dictionary with what you like and these entries:
            `weights`, the weights of the self attention, (..., H, T, T);
            `source_weights`, those of the source attention, (..., H, T, S);
            `after_attention`, `after_source_attention` and `after_ffn`, the stream after each step (a, b and y above),
            each (..., T, D).
    """
    raise NotImplementedError("encoder_decoder.decoder_block")


# %% [markdown]
# ## `encode`
#
# *20 min, needs a thought*
#
# The blocks are there; now the stacks. The encoder: token vectors times √D plus the sines and cosines, and then one
# block after the other.
#
# Why times √D? The paper does not say. With tables drawn at the usual small size, each number of a token vector is
# about $1/\sqrt{D}$, and the numbers of a position vector lie between -1 and 1: without the factor, a token would
# hardly be heard over its position. It has nothing to do with the √K of attention, which *divides*, and by the root of
# the size of a head.
#
# The texts of a batch have different lengths, so the short ones are padded, and `source_mask` says which tokens are
# real: True for a token, False for padding, one for each, (B, S). `padding_mask` brings it into the form that attention
# needs. (PyTorch's `src_key_padding_mask` is the opposite: True for padding.)
#
# The mask hides the padding from all *others*. The padding positions themselves are still computed, and their rows of
# the memory mean nothing; nobody may look at them later either. So what a text becomes does not depend on how far it
# was padded:
#
# ```python
# >>> config = TransformerConfig(vocab_source=11, vocab_target=12, n_layers=2, n_heads=2, d_model=8)
# >>> params = init_transformer(config, np.random.default_rng(0))
# >>> alone, cache = encode(np.array([[3, 1, 4]]), params, config)
# >>> source = np.array([[3, 1, 4, 0, 0]])  # 0 is the padding
# >>> memory, cache = encode(source, params, config, source_mask=source != 0)
# >>> memory.shape
# (1, 5, 8)
# >>> bool(np.abs(memory[:, :3] - alone).max() < 1e-5)
# True
# >>> bool(np.abs(encode(source, params, config)[0][:, :3] - alone).max() < 1e-5)  # without the mask
# False
#
# ```

# %%


def encode(source, params, config, source_mask=None):
    """The encoder: from source tokens to the memory (Vaswani et al. 2017, section 3.1).

        x = √D W_source[source] + sinusoidal_positions(S, D)
        x = encoder_block(x) for encoder.0, encoder.1, …

    Args:
        source: integers, (B, S), each in [0, Vs). Any number of leading axes, also none.
        params: dictionary of parameters; for names and shapes see `init_transformer`.
        config: a `TransformerConfig`.
        source_mask: boolean, the shape of `source`, True for a real token and False for padding, at which no position
            looks. None: all are real.

    Returns:
        memory: (B, S, D), in the dtype of the parameters. There is no layer norm after the last block.
        cache: dictionary with what you like and these entries:
            `source_embedded`, the residual stream before the first block, (B, S, D);
            `encoder.{i}.weights`, (B, H, S, S), `encoder.{i}.after_attention` and `encoder.{i}.after_ffn`, (B, S, D):
            the named entries of the cache of `encoder_block`, for each block.

    Raises:
        ValueError: if an id is negative or not below Vs.
    """
    raise NotImplementedError("encoder_decoder.encode")


# %% [markdown]
# ## `decode`
#
# *25 min, needs a thought*
#
# The decoder's stack, and then the head: a matrix without bias makes a score for every token of the target vocabulary,
# and log-softmax makes log-probabilities of the scores.
#
# All blocks look at the *same* memory, the output of the *last* encoder block; block i of the decoder does not look
# at block i of the encoder. And the self attention needs two masks at once: nobody looks ahead, and nobody looks at
# padding. Both must allow it, so they are combined with `&`; the causal one is there even if no `target_mask` is given.
#
# ```python
# >>> target = np.array([[1, 7, 5]])
# >>> log_probs, cache = decode(target, alone, params, config)
# >>> log_probs.shape
# (1, 3, 12)
# >>> bool(np.allclose(np.exp(log_probs).sum(axis=-1), 1.0, atol=1e-5))
# True
# >>> other, cache = decode(np.array([[1, 7, 11]]), alone, params, config)  # only the last token is another one
# >>> np.array_equal(log_probs[:, :2], other[:, :2]), np.array_equal(log_probs[:, 2], other[:, 2])
# (True, False)
#
# ```
#
# Log-probabilities go into a loss that only picks out the right one, like PyTorch's `nn.NLLLoss`. A loss called
# *cross-entropy* takes scores and does the log-softmax itself. Giving it log-probabilities does no harm, because
# log-softmax changes nothing the second time; giving it *probabilities* does, and is a frequent mistake.

# %%
def decode(target, memory, params, config, target_mask=None, source_mask=None):
    """The decoder: log-probabilities of the next target token at every position (Vaswani et al. 2017, section 3.1).

        x = √D W_target[target] + sinusoidal_positions(T, D)
        x = decoder_block(x, memory) for decoder.0, decoder.1, …, always with the causal mask
        log_probs = log_softmax(x W_head)

    Args:
        target: integers, (B, T), each in [0, Vt): what has been written so far, with the start token in front. Any
            number of leading axes, also none.
        memory: what `encode` returned, (B, S, D).
        params: dictionary of parameters; for names and shapes see `init_transformer`.
        config: a `TransformerConfig`.
        target_mask: boolean, the shape of `target`, True for a real token and False for padding. A position looks at
            those that are real *and* not after itself. None: all are real.
        source_mask: boolean, (B, S), as `encode` was given it. None: all are real.

    Returns:
        log_probs: (B, T, Vt), in the dtype of the parameters. Those at position t depend on target[..., : t + 1] only.
        cache: dictionary with what you like and these entries:
            `target_embedded`, the residual stream before the first block, (B, T, D);
            `decoder.{i}.weights`, (B, H, T, T), `decoder.{i}.source_weights`, (B, H, T, S),
            `decoder.{i}.after_attention`, `decoder.{i}.after_source_attention` and `decoder.{i}.after_ffn`, (B, T, D):
            the named entries of the cache of `decoder_block`, for each block.

    Raises:
        ValueError: if an id is negative or not below Vt.
    """
    raise NotImplementedError("encoder_decoder.decode")


# %% [markdown]
# ## `transformer`
#
# *10 min, straightforward*
#
# Both stacks, one after the other: what is computed in a training step.
#
# In training the right translation is known, and all its positions are computed at once. The decoder gets the target
# *moved to the right by one*, with a start token in front, and has to answer with the target and an end token. Whatever
# it answers, its next question begins with the *right* words: that is called **teacher forcing**. If the task is to
# write "abc" backwards:
#
# | the decoder sees | start | c | b | a |
# |---|---|---|---|---|
# | it should answer | c | b | a | end |
#
# (Section 3.1: "the output embeddings are offset by one position".) If the target is not moved, the answer to each
# question stands in the question. The loss then falls to almost 0 very quickly, and the model can do nothing.
#
# ```python
# >>> source, target = np.array([[3, 1, 4]]), np.array([[1, 4, 1, 3]])  # 1 is the start token
# >>> log_probs, cache = transformer(source, target, params, config)
# >>> log_probs.shape  # (B, T, Vt)
# (1, 4, 12)
# >>> answer = np.array([[4, 1, 3, 2]])  # 2 is the end token
# >>> round(float(-np.take_along_axis(log_probs, answer[..., None], axis=-1).mean()), 1)  # the first loss
# 3.2
#
# ```

# %%
def transformer(source, target, params, config, source_mask=None, target_mask=None):
    """The whole model: log-probabilities of the target tokens, given the source (Vaswani et al. 2017, figure 1).

        log_probs = decode(target, encode(source))

    Args:
        source: integers, (B, S), each in [0, Vs). Any number of leading axes, also none.
        target: integers, (B, T), each in [0, Vt), with the start token in front.
        params: dictionary of parameters; for names and shapes see `init_transformer`.
        config: a `TransformerConfig`.
        source_mask: boolean, (B, S), True for a real token and False for padding. Encoder and decoder both use it.
            None: all are real.
        target_mask: boolean, (B, T), the same for the target; the causal mask is always there besides. None: all are
            real.

    Returns:
        log_probs: (B, T, Vt), in the dtype of the parameters: at position t, for the token that comes after
            target[..., : t + 1].
        cache: dictionary with what you like, the named entries of the caches of `encode` and of `decode`, and `memory`,
            the encoder's output, (B, S, D).

    Raises:
        ValueError: if an id is negative or too large for its vocabulary.
    """
    raise NotImplementedError("encoder_decoder.transformer")


# %% [markdown]
# ## `greedy_decode`
#
# *30 min, needs a thought*
#
# In use nobody knows the target; the model writes it, token by token. Read the source once. Start with the start token,
# ask for the log-probabilities after the *last* position, append the most probable token, and ask again, until the
# token that means "end" comes or there is no more room.
#
# This is the greedy decoding of the last assignment. For translating it is less dull than for telling stories, because
# the source leaves little choice. Still, the best *text* may begin with a second-best token: the paper looks for it
# with a **beam search**, which keeps the four best beginnings at every step (section 6.1).
#
# The texts of a batch end at different times. One that has ended gets the end token again and again, until all have
# ended.
#
# ```python
# >>> source = np.array([[3, 1, 4], [1, 5, 9]])
# >>> ids = greedy_decode(source, params, config, start=1, end=2, max_length=4)  # an untrained model: any tokens
# >>> ids.shape[0], bool(ids.shape[1] <= 4)
# (2, True)
#
# ```
#
# To see it work, give this model a task. *Reverse a sequence* is the simplest one for which it has to look at the right
# place of the source each time; in the experiment at the end, a model with two layers and D = 32 learns it from 200
# batches of random examples, within seconds.
#
# Every step here computes all earlier positions anew. The keys and values could be kept instead, those of the memory
# from the first step on: the key/value cache of assignment 11.

# %%
def greedy_decode(source, params, config, start, end, max_length, source_mask=None):
    """Write the target token by token, each time the most probable one.

        next = argmax decode([start, …], encode(source))[..., -1, :]

    Args:
        source: integers, (B, S), each in [0, Vs). Any number of leading axes, also none.
        params: dictionary of parameters; for names and shapes see `init_transformer`.
        config: a `TransformerConfig`.
        start: the target token that every target begins with.
        end: the target token that ends it.
        max_length: the largest number of tokens to write, the end token included.
        source_mask: boolean, (B, S), True for a real token and False for padding. None: all are real.

    Returns:
        The tokens that were written, (B, N), int64, without the start token. A row that has written `end` is filled up
        with `end`; N is the number of tokens of the longest row, its `end` included, and at most `max_length`. Of
        several tokens with the same probability the one with the lowest id is taken.

    Raises:
        ValueError: if a source id is negative or not below Vs.
    """
    raise NotImplementedError("encoder_decoder.greedy_decode")


# %% [markdown]
# ## Bonus: `transformer_backward`
#
# *1 h, needs paper*
#
# The way back, last thing first. The head ends in a log-softmax $y = \log\mathrm{softmax}(z)$, and it is simpler than
# the softmax:
#
# $$dz_i = dy_i - e^{y_i} \sum_j dy_j$$
#
# Then the decoder's blocks, the last one first. Each gives back two gradients: one with respect to its stream, which
# goes on to the block before it; and one with respect to the memory. All blocks looked at the same memory, so their
# gradients are *added up*, and the sum is what the encoder's last block gets. That is the only way by which the
# encoder learns anything at all.
#
# The token vectors were multiplied by √D, and so are their gradients on the way back into the tables. The sines and
# cosines are not learned and need none.
#
# For the mean loss over N target tokens, `dlog_probs` is -1/N at the right token of each position, and 0 everywhere
# else. At padding it is 0 altogether.
#
# ```python
# >>> source, target, answer = np.array([[3, 1, 4]]), np.array([[1, 7, 5]]), np.array([[7, 5, 2]])
# >>> params = {name: value.astype(np.float64) for name, value in params.items()}
# >>> log_probs, cache = transformer(source, target, params, config)
# >>> loss = -np.take_along_axis(log_probs, answer[..., None], axis=-1).mean()
# >>> grads = transformer_backward(-np.eye(12)[answer] / answer.size, cache)
# >>> list(grads) == list(params)
# True
#
# ```
#
# Is it right? Move one number a little, and compare:
#
# ```python
# >>> params["encoder.0.ffn.W_1"][2, 5] += 1e-6
# >>> log_probs, _ = transformer(source, target, params, config)
# >>> slope = (-np.take_along_axis(log_probs, answer[..., None], axis=-1).mean() - loss) / 1e-6
# >>> bool(abs(slope - grads["encoder.0.ffn.W_1"][2, 5]) < 1e-6)
# True
#
# ```

# %%


def transformer_backward(dlog_probs, cache):
    """Gradients of `transformer` with respect to every parameter.

        dscores = dlog_probs - exp(log_probs) Σ_j dlog_probs_j,    then the head, the decoder, the encoder, the tables

    Args:
        dlog_probs: gradient with respect to `log_probs`, (B, T, Vt).
        cache: what `transformer` returned. It is not changed: a second call gives the same answer.

    Returns:
        grads: dictionary with the same keys, shapes and dtype as the parameters, in the same order.
    """
    raise NotImplementedError("encoder_decoder.transformer_backward")


# %% [markdown]
# ## What could go wrong
#
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
#
# - `encoder_block`: **the norms stand before the steps, not after them.** The transformer of 2017 normalizes each sum;
#   "pre" came later.
# - `decoder_block`: **the second attention looks at the target itself, not at the memory.** The decoder then knows
#   nothing of the source; it can only make up likely texts.
# - `decoder_block`: **the source mask is not used in the second attention.** The decoder looks at the padding of short
#   sources.
# - `encode`: **the token vectors were not multiplied by √D.** Their entries are about 1/√D in size; without the factor
#   the positions drown them out.
# - `decode`: **with a target mask, the causal one is forgotten.** Both must allow it: a position looks at tokens that
#   are real and not after itself.
# - `decode`: **probabilities were returned instead of their logarithms.** A logarithm of a probability is negative
#   or 0.
# - `greedy_decode`: **it stops as soon as one text of the batch has ended.** The others are cut off in the middle.
# - `transformer_backward`: **the encoder gets the memory's gradient from one decoder block only.** All blocks looked at
#   the same memory; what they send back adds up.

# %% [markdown]
# ## Try it
#
# Teach it something: to write five tokens backwards. After 80 batches (two seconds) it is halfway there. Examine it
# twice, on 200 new texts: with teacher forcing, as in training, where it gets the right beginning at every place; and
# writing by itself, where it gets what it has written. (It needs the bonus, `transformer_backward`. Without it,
# question 2 is for you.)
#
# **Guess first.** In which examination does it get more *tokens* right? And in which more *whole texts*?
#
# Run it: `python encoder_decoder.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    from training import adamw_step

    start, end = 1, 2

    def batch(rng, size):
        source = rng.integers(3, 11, size=(size, 5))
        answer = np.concatenate([source[:, ::-1], np.full((size, 1), end)], axis=1)  # (B, 6)
        return source, np.concatenate([np.full((size, 1), start), answer[:, :-1]], axis=1), answer

    def learn(steps):
        rng = np.random.default_rng(0)
        config = TransformerConfig(vocab_source=11, vocab_target=11, n_layers=2, n_heads=2, d_model=32)
        params, state = {n: p.astype(np.float64) for n, p in init_transformer(config, rng).items()}, {}
        for _ in range(steps):
            source, target, answer = batch(rng, 32)
            _, cache = transformer(source, target, params, config)
            grads = transformer_backward(-np.eye(11)[answer] / answer.size, cache)
            params, state = adamw_step(params, grads, state, lr=3e-3)
        return params, config

    def examine(params, config):  # for each token, whether it is right: forced and free
        source, target, answer = batch(np.random.default_rng(1), 200)
        log_probs, cache = transformer(source, target, params, config)
        written = greedy_decode(source, params, config, start, end, max_length=6)
        written = np.pad(written, ((0, 0), (0, 6 - written.shape[1])), constant_values=end)
        return log_probs.argmax(axis=-1) == answer, written == answer, cache

    for name, right in zip(("forced", "free"), examine(*learn(steps=80)), strict=False):
        print(f"{name:6}   tokens {right.mean():.0%}   whole texts {right.all(axis=1).mean():.0%}")


# %% [markdown]
# ## What came out
#
# ```text
# forced   tokens 76%   whole texts 16%
# free     tokens 66%   whole texts 16%
# ```
#
# With teacher forcing it gets more tokens right: there a mistake costs one token, but to a model that writes by itself
# it spoils what comes after, because nothing like its own mistakes was ever in its training. Whole texts are the same
# number, and must be: as long as there is no mistake, the writer sees exactly what it would have been given. The loss
# in training, and every examination with teacher forcing, flatters a model that will have to write.
#
# 1. How good is it after 200 batches? And at which source position does it look, for each of the six answers? Print the
#    mean of `cache["decoder.1.source_weights"]` over texts and heads.
# 2. Padding must make no difference. Give an untrained model the source `[[3, 1, 4]]`, then padded to `[[3, 1, 4, 0,
#    0]]`, once with the mask and once without. By how much do the log-probabilities differ?

# %% [markdown]
# ## Answers
#
# **1. It makes no mistake.** It looks at the last source token first, then at the last but one, and so on; that
# "backwards" has to do with positions nobody has told it.
#
# ```python
# >>> forced, free, cache = examine(*learn(steps=200))
# >>> print(f"{free.all(axis=1).mean():.0%}")
# 100%
# >>> cache["decoder.1.source_weights"].mean(axis=(0, 1)).round(1)
# array([[0. , 0. , 0. , 0.1, 0.9],
#        [0. , 0. , 0.1, 0.7, 0.2],
#        [0. , 0.1, 0.7, 0.2, 0. ],
#        [0.1, 0.7, 0.2, 0. , 0. ],
#        [0.8, 0.2, 0. , 0. , 0. ],
#        [1. , 0. , 0. , 0. , 0. ]])
#
# ```
#
# **2. Not at all with the mask, and by a lot without.** The careless answer looks just as reasonable, which is what
# makes a forgotten mask so hard to find.
#
# ```python
# >>> config = TransformerConfig(vocab_source=12, vocab_target=12, n_layers=2, n_heads=2, d_model=16)
# >>> params = init_transformer(config, np.random.default_rng(0))
# >>> padded, target = np.array([[3, 1, 4, 0, 0]]), np.array([[1, 7, 5]])  # 0 is the padding
# >>> right, _ = transformer(padded[:, :3], target, params, config)
# >>> for mask in (padded != 0, None):
# ...     log_probs, _ = transformer(padded, target, params, config, source_mask=mask)
# ...     print(np.abs(log_probs - right).max().round(2), log_probs.argmax(axis=-1))
# 0.0 [[ 9 11 10]]
# 0.47 [[ 9 11 11]]
#
# ```
