"""The encoder–decoder of 2017, the first transformer, from blocks to greedy decoding."""

# %% [markdown]
# # The encoder–decoder: read one text, write another
#
# *Assignment 15 of 21 · 6 functions · about 2 h 20 min to write them · bonus: 1 more, 1 h*
#
# A small model writes five tokens backwards. Told the correct tokens so far, it gets 76% of the next ones right; left
# to itself, 66%. Yet the share of texts without a single mistake is 16% in both tests. Why must those two be equal?
#
# A model like this works with two texts. The first transformer (Vaswani et al. 2017) was built to *translate*: it reads
# a whole text in one language, the *source*, and writes one in another, the *target*, token by token. It has two stacks
# of blocks:
#
# - The **encoder** reads the source, which is known from the start, so every position attends to every other. Its
#   output is the *memory*, one vector for each source token.
# - The **decoder** writes the target. Its self attention is causal, as in a GPT. But each of its blocks has a second
#   attention, the **source attention** (the cross attention of the assignment `multihead`), whose keys and values come
#   from the memory.
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
# ![A map of the model: the encoder on the left makes the memory, which every block of the decoder on the right
# reads.](figures/map-encoder-decoder.svg)
#
# Only the three-step block of the decoder, the masks for two texts, and the backward pass through both stacks are new.
#
# The model follows the paper where your GPT does not:
#
# | | here | the GPT |
# |---|---|---|
# | layer norm | after each addition (post-norm, section 3.1) | before each branch (pre-norm) |
# | activation | ReLU (section 3.3) | GELU |
# | positions | sines and cosines, not learned (section 3.5) | a learned table |
# | token vectors | times √D (section 3.4) | not scaled |
# | after the last block | nothing | one more layer norm |
# | output | log-probabilities | scores |
#
# With `norm="pre"`, the norms come before each branch, and one more after each stack. Unlike the paper's, the model has
# no dropout, and separate matrices for the two tables and the head. (The paper uses one for all three, section 3.4.)
#
# The letters: S source tokens, T target tokens, Vs and Vt tokens in the two vocabularies; all others as before.

# %%
import math
import sys
from dataclasses import dataclass

import numpy as np
from attention import causal_mask, padding_mask
from blocks import block, block_backward, prefixed, subset
from embeddings import embed, embed_tokens_backward, sinusoidal_positions
from ffn import ffn, ffn_backward, linear, linear_backward
from layernorm import layernorm, layernorm_backward
from multihead import multihead_attention, multihead_attention_backward
from softmax import log_softmax

# %% [markdown]
# ## `TransformerConfig` and `init_transformer`
#
# Both are given. The paper's model has 6 layers, 8 heads, D = 512 and F = 2048. The paper does not say how its
# parameters start. Here, every matrix is drawn so that its outputs are about as large as its inputs (LeCun et al. 1998,
# section 4.6), and the token vectors so that, multiplied by √D, they are about as large as the position vectors.
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
        d_ff: F, the width inside the feed-forward networks. None stands for 4 D, and is replaced by that number.
        bias: whether the linear layers have biases. Layer norms always have their beta.
        norm: "post" or "pre", as in `block`. With "pre", each stack has one more layer norm at its end.
        head_bias: whether the head has a bias.
    """

    vocab_source: int
    vocab_target: int
    n_layers: int = 2
    n_heads: int = 4
    d_model: int = 64
    d_ff: int | None = None
    bias: bool = True
    norm: str = "post"
    head_bias: bool = False

    def __post_init__(self):
        """Fill in `d_ff` and raise ValueError for settings that cannot work."""
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        for name in ("vocab_source", "vocab_target", "n_layers", "n_heads", "d_model", "d_ff"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.d_model % self.n_heads != 0:
            raise ValueError(f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})")
        if self.norm not in ("pre", "post"):
            raise ValueError(f'norm must be "pre" or "post", got {self.norm!r}')


def init_transformer(config, rng):
    """Given: return the parameters of an untrained encoder–decoder.

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
        encoder.ln_f.gamma (D,)  encoder.ln_f.beta (D,)  decoder.ln_f.gamma (D,)  decoder.ln_f.beta (D,)
        W_head (D, Vt)  b_head (Vt,)

    Every W is normal with mean 0; the standard deviation is 1 / √D for the two tables and 1 / √(number of rows) for the
    others. Every gamma is 1, every beta and every bias b is 0.

    Args:
        config: a `TransformerConfig`. Without `config.bias` there are no `b_qkv`, `b_o`, `b_1`, `b_2`; without
            `config.head_bias` there is no `b_head`; only with pre-norm is there a norm `ln_f` after each stack.
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
    if config.norm == "pre":
        for stack in ("encoder", "decoder"):
            params |= {f"{stack}.ln_f.gamma": vector(d, 1.0), f"{stack}.ln_f.beta": vector(d)}
    params["W_head"] = matrix(d, config.vocab_target)
    if config.head_bias:
        params["b_head"] = vector(config.vocab_target)
    return params


# %% [markdown]
# ## `encoder_block`
#
# *20 min, needs some thought*
#
# You wrote this block in the assignment `blocks`. In the 2017 encoder, it is the post-norm block with ReLU:
#
# $$a = \mathrm{ln}_1(x + \mathrm{attention}(x)) \qquad y = \mathrm{ln}_2(a + \mathrm{ffn}(a))$$
#
# The example has two positions, one head, and a feed-forward network of zeros. The first position also attends to the
# second, a little: an encoder has no causal mask.
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
# PyTorch's `nn.Transformer` adds a layer norm after each stack. The paper has none there.

# %%
def encoder_block(x, params, n_heads, mask=None, norm="post"):
    """Apply one block of the encoder: self attention and a feed-forward network, with ReLU.

        norm="post":    a = ln1(x + attention(x))         y = ln2(a + ffn(a))       (Vaswani et al. 2017, section 3.1)
        norm="pre":     a = x + attention(ln1(x))         y = a + ffn(ln2(a))

    Args:
        x: the residual stream, (..., S, D).
        params: `attn.W_qkv` (D, 3D), `attn.b_qkv` (3D,), `attn.W_o` (D, D), `attn.b_o` (D,); `ffn.W_1` (D, F),
            `ffn.b_1` (F,), `ffn.W_2` (F, D), `ffn.b_2` (D,); `ln1.gamma`, `ln1.beta`, `ln2.gamma`, `ln2.beta`, each
            (D,). The biases `b_...` may be absent.
        n_heads: number of heads H; D is a multiple of it.
        mask: boolean, broadcastable to (..., H, S, S), such as (B, 1, 1, S); True where the query may attend to the
            key. None: every query attends to every key.
        norm: "post" or "pre".

    Returns:
        out: (..., S, D), in the dtype of `x` and the parameters.
        cache: dictionary with what you like and these entries:
            `weights`, the attention weights, (..., H, S, S);
            `after_attention`, the stream after the first step (a above), (..., S, D);
            `after_ffn`, the stream after the second step (y above, the output), (..., S, D).

    Raises:
        ValueError: if `norm` is neither "post" nor "pre".
    """
    raise NotImplementedError("encoder_decoder.encoder_block")


# %% [markdown]
# ## `decoder_block`
#
# *35 min, needs some thought*
#
# A decoder block has three steps. The output of each is added to the stream, and the sum is normalized (Vaswani et al.
# 2017, section 3.1):
#
# $$a = \mathrm{ln}_1(x + \mathrm{attention}(x)) \qquad
#   b = \mathrm{ln}_2(a + \mathrm{attention}(a, memory)) \qquad
#   y = \mathrm{ln}_3(b + \mathrm{ffn}(b))$$
#
# In the source attention, the queries come from the decoder, and the keys and values from the memory: each target
# position looks for the source tokens that it needs for its next word. The weights are (..., H, T, S), a row for each
# target position and a column for each source position. Bahdanau et al. (2015, section 5.2.1) plotted such weights. For
# *zone*, their model looked at the last word of "European Economic Area", in French *zone économique européenne*,
# and jumped over the other two.
#
# In this block, only the source attention has an effect; the other steps add 0.
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
# The first position attends mostly to the first source token, the second to the second. The third token is padding.
# Without the mask, the second position attends to it:
#
# ```python
# >>> out, cache = decoder_block(x, memory, params, n_heads=1)
# >>> cache["source_weights"].round(3)
# array([[[0.944, 0.056, 0.   ],
#         [0.   , 0.007, 0.993]]])
#
# ```
#
# The block uses `target_mask` and `source_mask` unchanged. The causal mask is created in `decode`.

# %%
def decoder_block(x, memory, params, n_heads, target_mask=None, source_mask=None, norm="post"):
    """Apply one block of the decoder: self attention, source attention and a feed-forward network.

        a = ln1(x + attention(x))                       (Vaswani et al. 2017, sections 3.1 and 3.2.3)
        b = ln2(a + attention(a, memory))               queries from a, keys and values from the memory
        y = ln3(b + ffn(b)),    ffn with ReLU

    With norm="pre", each norm is on the branch instead, and the memory is read as it is:

        a = x + attention(ln1(x))       b = a + attention(ln2(a), memory)       y = b + ffn(ln3(b))

    Args:
        x: the residual stream, (..., T, D).
        memory: the encoder's output, (..., S, D), with the batch axes of `x`.
        params: for the self attention, `attn.W_qkv` (D, 3D), `attn.b_qkv` (3D,), `attn.W_o` (D, D), `attn.b_o` (D,);
            the same for the source attention, `source_attn.W_qkv` … `source_attn.b_o`; `ffn.W_1` (D, F),
            `ffn.b_1` (F,), `ffn.W_2` (F, D), `ffn.b_2` (D,); `ln1.gamma`, `ln1.beta`, and so on to `ln3.beta`, each
            (D,). The biases `b_...` may be absent.
        n_heads: number of heads H; D is a multiple of it.
        target_mask: boolean, broadcastable to (..., H, T, T), for the self attention; True where the query may attend
            to the key. None: every query attends to every key, later ones included.
        source_mask: boolean, broadcastable to (..., H, T, S), such as (B, 1, 1, S), for the source attention. None:
            every query attends to the whole memory.
        norm: "post" or "pre".

    Returns:
        out: (..., T, D), in the dtype of `x` and the parameters.
        cache: dictionary with what you like and these entries:
            `weights`, the weights of the self attention, (..., H, T, T);
            `source_weights`, those of the source attention, (..., H, T, S);
            `after_attention`, `after_source_attention` and `after_ffn`, the stream after each step (a, b and y above),
            each (..., T, D).

    Raises:
        ValueError: if `norm` is neither "post" nor "pre".
    """
    raise NotImplementedError("encoder_decoder.decoder_block")


# %% [markdown]
# ## `encode`
#
# *20 min, needs some thought*
#
# Why are the token vectors multiplied by √D? The paper does not say. The entries of the tables are usually drawn with a
# size of about $1/\sqrt{D}$, and those of a position vector lie between -1 and 1: without the factor, the position
# would outweigh the token. (The factor has nothing to do with the √K of attention, which *divides*.)
#
# The texts of a batch have different lengths, so the short ones are padded. `source_mask`, (B, S), is True for a token
# and False for padding. `padding_mask` brings it into the form that attention needs. (PyTorch's `src_key_padding_mask`
# is the opposite: True for padding.)
#
# ![The masks of the three attentions: the encoder's hides padding, the decoder's own hides later tokens, and source
# attention hides padding.](figures/source-masks.svg)
#
# No position may attend to padding. The padding positions are still computed, but their rows of the memory mean
# nothing, so the decoder must not attend to them either. Then the result for a text does not depend on its padding:
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
    """Apply the encoder to source tokens and return the memory (Vaswani et al. 2017, section 3.1).

        x = √D W_source[source] + sinusoidal_positions(S, D)
        x = encoder_block(x) for encoder.0, encoder.1, …, with `config.norm`
        memory = x with post-norm, layernorm(x) with pre-norm (`encoder.ln_f`)

    Args:
        source: integers, (B, S), each in [0, Vs). Any number of leading axes, or none.
        params: dictionary with the names and shapes of `init_transformer`.
        config: a `TransformerConfig`.
        source_mask: boolean, (B, S), for a source of that shape: True for a real token and False for padding, to which
            no position attends. None: all are real.

    Returns:
        memory: (B, S, D), in the dtype of the parameters.
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
# *25 min, needs some thought*
#
# After the decoder's last block comes the head: a matrix computes a score for every token of the target vocabulary, and
# log-softmax turns the scores into log-probabilities.
#
# All blocks attend to the *same* memory, the output of the *last* encoder block. The self attention needs two masks at
# once, against later tokens and against padding. Both must allow a key, so combine them with `&`. The causal one is
# needed even if no `target_mask` is given.
#
# ```python
# >>> target = np.array([[1, 7, 5]])
# >>> log_probs, cache = decode(target, alone, params, config)
# >>> log_probs.shape
# (1, 3, 12)
# >>> bool(np.allclose(np.exp(log_probs).sum(axis=-1), 1.0, atol=1e-5))
# True
# >>> other, cache = decode(np.array([[1, 7, 11]]), alone, params, config)  # only the last token differs
# >>> np.array_equal(log_probs[:, :2], other[:, :2]), np.array_equal(log_probs[:, 2], other[:, 2])
# (True, False)
#
# ```
#
# A loss like PyTorch's `nn.NLLLoss` takes log-probabilities and only picks out the correct one. A loss called
# *cross-entropy* takes scores and applies log-softmax itself. Giving it *probabilities* is a common mistake.

# %%
def decode(target, memory, params, config, target_mask=None, source_mask=None):
    """Apply the decoder and return log-probabilities of the next target token (Vaswani et al. 2017, section 3.1).

        x = √D W_target[target] + sinusoidal_positions(T, D)
        x = decoder_block(x, memory) for decoder.0, decoder.1, …, with `config.norm`, always with the causal mask
        log_probs = log_softmax(x W_head + b_head), with layernorm(x) in place of x with pre-norm (`decoder.ln_f`)

    Only with `config.head_bias` is there a `b_head`.

    Args:
        target: integers, (B, T), each in [0, Vt): the text written so far, with the start token in front. Any
            number of leading axes, or none.
        memory: what `encode` returned, (B, S, D), with the leading axes of `target`.
        params: dictionary with the names and shapes of `init_transformer`.
        config: a `TransformerConfig`.
        target_mask: boolean, (B, T), for a target of that shape: True for a real token and False for padding. A
            position attends to tokens that are real *and* not after itself. None: every target token is real.
        source_mask: boolean, (B, S), the mask that was passed to `encode`. None: every source token is real.

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
# In training, the correct translation is known, and all its positions are computed at once. The decoder gets the target
# *shifted to the right by one*, with a start token in front (section 3.1), and should predict the target and an end
# token. Whatever it predicts at one position, its input at the next is the *correct* token: this is called **teacher
# forcing**. To write "abc" backwards:
#
# | the decoder reads | start | c | b | a |
# |---|---|---|---|---|
# | it should predict | c | b | a | end |
#
# Without the shift, each position can read the token that it should predict. The loss then falls to almost 0 very
# quickly, and the model learns nothing useful.
#
# The first loss is above log 12 = 2.5, because the first scores are not equal: they are about 1 in size.
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
    """Apply the whole model: log-probabilities of the target, given the source (Vaswani et al. 2017, figure 1).

        log_probs = decode(target, encode(source))

    Args:
        source: integers, (B, S), each in [0, Vs). Any number of leading axes, or none.
        target: integers, (B, T), with the leading axes of `source`, each in [0, Vt), with the start token in front.
        params: dictionary with the names and shapes of `init_transformer`.
        config: a `TransformerConfig`.
        source_mask: boolean, (B, S), True for a real token and False for padding. Encoder and decoder both use it.
            None: every source token is real.
        target_mask: boolean, (B, T), the same for the target, in addition to the causal mask. None: every target token
            is real.

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
# *30 min, needs some thought*
#
# When the model is used, nobody knows the target: the model has to write it. Encode the source once. Begin with the
# start token, compute the log-probabilities at the *last* position, append the most probable token, and repeat until
# the model writes the end token or the text has `max_length` tokens.
#
# Taking the best token works better for translation than for stories, because the source leaves less choice. Still, the
# most probable *text* may begin with a second-best token. The paper looks for that text with a **beam search**, which
# keeps the four best partial texts at every step (section 6.1).
#
# The texts of a batch end at different times. A text that has ended gets the end token at every step until all have
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
# Every step computes all earlier positions again. A key/value cache, as in `generation`, would save that work.

# %%
def greedy_decode(source, params, config, start, end, max_length, source_mask=None):
    """Write the target token by token, always taking the most probable one.

        next = argmax decode([start, …], encode(source))[..., -1, :]

    Args:
        source: integers, (B, S), each in [0, Vs). Any number of leading axes, or none.
        params: dictionary with the names and shapes of `init_transformer`.
        config: a `TransformerConfig`.
        start: the target token that every target begins with.
        end: the target token that ends a target.
        max_length: the largest number of tokens to write, the end token included.
        source_mask: boolean, (B, S), True for a real token and False for padding. None: all are real.

    Returns:
        The tokens that were written, (B, T), int64, without the start token. A row in which `end` was written is filled
        with `end`; T is the number of tokens of the longest row, its `end` included, and at most `max_length`. Of
        several tokens with the same probability the one with the lowest id is taken.

    Raises:
        ValueError: if a source id is negative or not below Vs.
    """
    raise NotImplementedError("encoder_decoder.greedy_decode")


# %% [markdown]
# ## Bonus: `transformer_backward`
#
# *1 h, needs pen and paper*
#
# The backward pass starts at the end, with the log-softmax, which is easier than softmax. For one row of scores z,
#
# $$y_i = z_i - \log \sum_j e^{z_j}$$
#
# Where is the score $z_k$? In $y_k$, as the first term, with the factor 1. And through the logarithm, it is in *every*
# $y_i$: the derivative of log(a) is 1/a, so the factor is $-e^{z_k} / \sum_j e^{z_j}$. You know this fraction, and you
# have its logarithm in the cache. Multiply each factor by its upstream gradient $dy_i$ and add over i.
#
# Then come the decoder's blocks, last one first. Their steps have the form $\mathrm{ln}(a + f(a))$, which you know from
# `blocks`. But the source attention has two inputs, the stream and the memory, so the block returns two gradients. That
# of its stream goes to the block before it. Where does that of the memory go?
#
# ```text
#     memory ──┬───────────────┬──────────── … ──┐       one memory, used by every block
#              ▼               ▼                 ▼
#     x ── block 0 ─────── block 1 ───────── … block L−1 ── y
# ```
#
# The memory is one array that is used L times, so you know what happens to its L gradients. The result is the upstream
# gradient of the encoder's last block, and the only gradient that reaches the encoder.
#
# Last come the tables. The forward pass multiplies the token vectors by √D: what does a constant factor do to a
# gradient?
#
# With pre-norm, go through the last norm of a stack first. The gradient of the head's bias, if it has one, is the sum
# over all positions.
#
# For the mean loss over N target tokens, `dlog_probs` is -1/N at the correct token of each position, and 0 everywhere
# else, including all entries at padding positions.
#
# ```python
# >>> source, target, answer = np.array([[3, 1, 4]]), np.array([[1, 7, 5]]), np.array([[7, 5, 2]])
# >>> params = {name: value.astype(np.float64) for name, value in params.items()}
# >>> log_probs, cache = transformer(source, target, params, config)
# >>> loss = -np.take_along_axis(log_probs, answer[..., None], axis=-1).mean()
# >>> grads = transformer_backward(-np.eye(12)[answer] / answer.size, cache)
# >>> sorted(grads) == sorted(params)
# True
#
# ```
#
# Check it: change one parameter a little, and compare the slope of the loss with the gradient:
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
    """Return the gradient of `transformer` with respect to every parameter.

    Args:
        dlog_probs: gradient with respect to `log_probs`, (B, T, Vt), with their leading axes.
        cache: what `transformer` returned. It may be used again, with the same result.

    Returns:
        grads: dL/dp for every parameter p: a dictionary with the same keys, shapes and dtype as the parameters.
    """
    raise NotImplementedError("encoder_decoder.transformer_backward")


# %% [markdown]
# ## On paper
#
# 1. A row of log-probabilities belongs to the probabilities (½, ¼, ¼). The loss is minus the first of the three, so
#    `dlog_probs` is (−1, 0, 0). What is the gradient of the scores? Where have you seen it before?
# 2. A decoder has 6 blocks. How many gradients are added up for the memory, and how many for the output of decoder
#    block 0? (Count the uses in the forward pass.)

# %% [markdown]
# ## Answers on paper
#
# **1. (−½, ¼, ¼).** The direct factor gives (−1, 0, 0). The sum of `dlog_probs` is −1, and through the logarithm each
# score gets minus its probability times this sum, (½, ¼, ¼). Together they are prediction minus truth, the gradient of
# the cross-entropy.
#
# ```python
# >>> from softmax import cross_entropy_backward
# >>> cross_entropy_backward(np.log([[0.5, 0.25, 0.25]]), np.array([0])).round(6)
# array([[-0.5 ,  0.25,  0.25]])
#
# ```
#
# **2. Six for the memory.** The output of decoder block 0 is used only by block 1, but twice: as the stream, and as the
# input of the branch of self attention. Those are two gradients, one for each side of the plus sign.

# %% [markdown]
# ## What could go wrong
#
# Three of these mistakes show up only when texts of different lengths share a batch. The report uses the same words.
#
# - `decoder_block`: **the second attention attended to the target itself, not to the memory.** The decoder then gets no
#   information about the source.
# - `decoder_block`: **the source mask was not used in the second attention.** The decoder then attends to the padding
#   of short sources.
# - `decode`: **with a target mask, the causal mask was not used.** Both masks must allow a key: a position attends to
#   real tokens that do not come after it.
# - `greedy_decode`: **the loop stopped as soon as one text of the batch had ended.** The other texts are then cut off.
# - `transformer_backward`: **the encoder got the memory's gradient from one decoder block only.** All blocks attend to
#   the same memory, so their gradients add up.

# %% [markdown]
# ## Try it
#
# Train the model to write five tokens backwards, and stop after 80 batches, when it has learned only part of the task.
# Test it on 200 new texts in two ways: with teacher forcing, and free, where its input is what it has written itself.
# (This needs the bonus function, `transformer_backward`. Without it, try question 2.)
#
# **Guess first.** In which test does it get more *tokens* right? And in which more *whole texts*?
#
# Run it: `headway experiment encoder_decoder`, or the next cell of the notebook.

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

    def evaluate(params, config):  # for each token, whether it is right: forced and free
        source, target, answer = batch(np.random.default_rng(1), 200)
        log_probs, cache = transformer(source, target, params, config)
        written = greedy_decode(source, params, config, start, end, max_length=6)
        written = np.pad(written, ((0, 0), (0, 6 - written.shape[1])), constant_values=end)
        return log_probs.argmax(axis=-1) == answer, written == answer, cache

    for name, right in zip(("forced", "free"), evaluate(*learn(steps=80)), strict=False):
        print(f"{name:6}   tokens {right.mean():.0%}   whole texts {right.all(axis=1).mean():.0%}")


# %% [markdown]
# ## What came out
#
# ```text
# forced   tokens 76%   whole texts 16%
# free     tokens 66%   whole texts 16%
# ```
#
# With teacher forcing, a mistake costs one token. A model that writes freely has to continue after its own mistakes,
# and training showed it no such texts. But the number of correct whole texts must be the same: until the first mistake,
# the inputs are the same. So counting tokens with teacher forcing, as the training loss does, is too optimistic.
#
# 1. How good is the model after 200 batches? Which source position does it attend to for each of the six predictions?
#    Print the mean of `cache["decoder.1.source_weights"]` over texts and heads.
# 2. Padding must make no difference. Give an untrained model the source `[[3, 1, 4]]`, then padded to
#    `[[3, 1, 4, 0, 0]]`, once with the mask and once without. By how much do the log-probabilities differ?

# %% [markdown]
# ## Answers
#
# **1. It makes no mistakes on these texts.** It attends mostly to the last source token first, then to the
# second-to-last, and so on.
#
# ```python
# >>> forced, free, cache = evaluate(*learn(steps=200))
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
# **2. Not at all with the mask, and by a lot without.** The wrong result looks just as reasonable as the correct one,
# so a missing mask is hard to notice.
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

# %% [markdown]
# ## Try it: label smoothing
#
# Should a model be certain? The paper trains its model not to be (section 5.4). With **label smoothing**, the target of
# each position is not one token with probability 1, but a mixture: 0.9 for the correct token, and 0.1 spread evenly
# over the vocabulary (Szegedy et al. 2016, section 7). The row of `dlog_probs` is minus this mixture, divided by the
# number of targets. Here are the targets c, b, a and end, for a vocabulary of five tokens:
#
# ![The targets of c, b, a and end as rows of two tables. Plain: 1.00 for the correct token and 0.00 for the others.
# Smoothed: 0.92 and 0.02.](figures/label-smoothing.svg)
#
# Train the model of the first experiment on 200 batches, with the plain targets and with the mixture.
#
# **Guess first.** How large does the probability of the correct token become in each run? Which run has the lower loss
# on new texts, and which gets more tokens right?
#
# Run it: `headway experiment encoder_decoder smoothing`.

# %%
if __name__ == "__main__" and "smoothing" in sys.argv:
    from training import adamw_step

    def batch(rng, size):  # write five tokens backwards, as in the first experiment
        source = rng.integers(3, 11, size=(size, 5))
        answer = np.concatenate([source[:, ::-1], np.full((size, 1), 2)], axis=1)
        return source, np.concatenate([np.full((size, 1), 1), answer[:, :-1]], axis=1), answer

    def learn(smoothing):
        rng = np.random.default_rng(0)
        config = TransformerConfig(vocab_source=11, vocab_target=11, n_layers=2, n_heads=2, d_model=32)
        params, state = {n: p.astype(np.float64) for n, p in init_transformer(config, rng).items()}, {}
        for _ in range(200):
            source, target, answer = batch(rng, 32)
            _, cache = transformer(source, target, params, config)
            mixture = (1 - smoothing) * np.eye(11)[answer] + smoothing / 11  # (B, T, Vt), rows of sum 1
            grads = transformer_backward(-mixture / answer.size, cache)
            params, state = adamw_step(params, grads, state, lr=3e-3)
        source, target, answer = batch(np.random.default_rng(1), 200)
        log_probs, _ = transformer(source, target, params, config)
        correct = np.take_along_axis(log_probs, answer[..., None], axis=-1)
        return (log_probs.argmax(axis=-1) == answer).mean(), -correct.mean(), np.median(np.exp(correct))

    for smoothing in (0.0, 0.1):
        right, loss, probability = learn(smoothing)
        print(f"smoothing {smoothing}: right {right:.0%}, loss {loss:.2f}, typical probability {probability:.2f}")


# %% [markdown]
# ## What came out: label smoothing
#
# ```text
# smoothing 0.0: right 100%, loss 0.00, typical probability 1.00
# smoothing 0.1: right 100%, loss 0.10, typical probability 0.91
# ```
#
# Both have learned the task. The first is certain. The second gives the correct token the probability that the mixture
# asks for: 0.9, plus its share of the rest, 0.1 / 11, which makes 0.91. Its loss is close to −log 0.91 = 0.10 and
# cannot get much lower. The paper reports the same effect, a *worse* loss but better translations. Reversing has one
# correct answer, so there is nothing to gain here. But a sentence has several good translations, so it helps if a
# second word keeps a little probability.

# %% [markdown]
# ## In your own GPT
#
# `headway train --preset annotated` trains your encoder–decoder to copy ten digits, the first task of The Annotated
# Transformer, a well-known commentary. It needs `transformer_backward`, the bonus.
