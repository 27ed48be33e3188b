"""The GPT, from token ids to a loss and the gradient of every parameter."""

# %% [markdown]
# # GPT: a stack of blocks that predicts the next token
#
# *Assignment 12 of 21 · 4 functions · about 1 h 55 min to write them*
#
# Three names, written by the model of this assignment:
#
# ```text
# .q.pywdh    .gusv.wk    .axn.sn.
# ```
#
# Noise: the model has learned nothing yet. But it is complete, and training will only change its numbers.
#
# You have already written all of its parts. A GPT reads T tokens and predicts, at *every* position, which token comes
# next (Radford et al. 2018, section 3.1; the form built here is GPT-2's, Radford et al. 2019, section 2.3):
#
# ```text
#     ids (B, T)
#       ── embed ───────────────>  x (B, T, D)       which token, and at which position
#       ── block 0, block 1, … ─>  x (B, T, D)       the residual stream, with a causal mask
#       ── layer norm ──────────>  x (B, T, D)       the stream has grown: a final norm
#       ── times W_head ────────>  logits (B, T, V)  a score for every token of the vocabulary
# ```
#
# ![A map of the whole model. Marked: everything from the ids to the scores.](figures/map-gpt.svg)
#
# The last step is the **output head**, a linear layer. (It has nothing to do with the heads of attention.)
#
# Because of the causal mask, the scores at position t depend only on tokens 0 to t. So one text of T tokens gives T
# exercises at once: "given the first, what is the second?", "given the first two, what is the third?" and so on.
#
# Training on a large text in this way is called *pretraining*; *fine-tuning* continues from there with labeled examples
# of one task (Radford et al. 2018, sections 3.1 and 3.2). This course pretrains.
#
# ## Which GPT?
#
# Models with this structure differ in small ways:
#
# | field of the configuration | choices | used by |
# |---|---|---|
# | `activation` | `"gelu"`, in the tanh form; `"relu"` | GPT-2; the first transformer |
# | `tied` | `True`: the output head *is* the token table; `False`: its own matrix | GPT-2; Llama 2 |
# | `bias` | `True`: all linear layers of the blocks have biases; `False`: none; or the names of some | GPT-2; Llama |
# | `norm` | `"pre"`; `"post"`, without a final norm, as each block ends with one | GPT-2; GPT-1 |
# | `positions` | `"learned"`: a table; `"sinusoidal"`: sines and cosines | GPT-2; the first transformer |
# | `dropout` | in training, the probability that a value is dropped | 0.1: GPT-1 and GPT-2; 0: Llama |
#
# The defaults are GPT-2's. Write your functions for these first. Add the last three rows, and single biases such as
# `b_head`, once the first checks pass.
#
# **Tied or untied?** The token table `W_tok` (V, D) and the head `W_head` (D, V) both have D numbers for each token.
# Press and Wolf (2017) use the same parameters for both, a **tied head**: the scores are then the dot products of the
# final vector with every row of the token table. That saves V · D parameters: 39 million for the smallest GPT-2, which
# has 124 million. The backward pass needs more care, because the table is used at both ends.

# %%
import functools
import math
from dataclasses import dataclass

import numpy as np
from attention import causal_mask
from blocks import block, block_backward, prefixed, subset
from embeddings import embed, embed_tokens_backward, sinusoidal_positions
from ffn import dropout, dropout_backward
from layernorm import layernorm, layernorm_backward
from softmax import cross_entropy, cross_entropy_backward

# %% [markdown]
# ## `GPTConfig`
#
# This class is given. A configuration cannot be changed after it is created, so it always fits its model.
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
        block_size: the number of positions, and so of the tokens that the model can read at once.
        n_layers: the number of blocks.
        n_heads: H, the number of heads in each block, a divisor of D.
        d_model: D, the width of the residual stream.
        d_ff: F, the width inside the feed-forward network. None stands for 4 D, and is replaced by that number.
        activation: "gelu" (the tanh form) or "relu".
        tied: whether the head is the transposed token table (True) or a separate matrix (False).
        bias: which linear layers have biases. True: all those in the blocks, False: none, or the names of the biases,
            such as "b_o b_head". True and False are replaced by such a text, too. Layer norms always have their beta.
        init_std: the standard deviation of the initial matrices. GPT and GPT-2 use 0.02, at a width of 768 or more;
            a model of width 64 or 16 usually learns faster from a larger one, such as 0.08.
        norm: "pre" or "post", as in `block`. Only a model with "pre" has a layer norm after the last block.
        positions: "learned" (the table W_pos) or "sinusoidal" (sines and cosines, which have no parameters).
        dropout: the probability of dropping a value in training, 0 ≤ dropout < 1.
    """

    vocab_size: int
    block_size: int
    n_layers: int = 4
    n_heads: int = 4
    d_model: int = 64
    d_ff: int | None = None
    activation: str = "gelu"
    tied: bool = True
    bias: bool | str = True
    init_std: float = 0.02
    norm: str = "pre"
    positions: str = "learned"
    dropout: float = 0.0

    def __post_init__(self):
        """Fill in what is None, and raise ValueError for settings that cannot work."""
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        in_blocks = "b_qkv b_o b_1 b_2"
        names = self.bias.replace(",", " ") if isinstance(self.bias, str) else in_blocks * self.bias
        object.__setattr__(self, "bias", names)
        if not {*in_blocks.split(), "b_head"}.issuperset(names.split()):
            raise ValueError(f"bias must be True, False, or names of biases such as b_o and b_head, got {names!r}")
        for name in ("vocab_size", "block_size", "n_layers", "n_heads", "d_model", "d_ff"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.d_model % self.n_heads != 0:
            raise ValueError(f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})")
        if self.activation not in ("gelu", "relu"):
            raise ValueError(f'activation must be "gelu" or "relu", got {self.activation!r}')
        if self.norm not in ("pre", "post"):
            raise ValueError(f'norm must be "pre" or "post", got {self.norm!r}')
        if self.positions not in ("learned", "sinusoidal"):
            raise ValueError(f'positions must be "learned" or "sinusoidal", got {self.positions!r}')
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be in [0, 1), got {self.dropout}")


# %% [markdown]
# ## `init_gpt`
#
# *25 min, needs some thought*
#
# What values should the parameters have before training? Not zero: features that start with the same values get the
# same gradients and stay the same forever. Not large values either: the first scores would be confidently wrong. The
# first GPT drew its matrices from a normal distribution with the standard deviation 0.02 (Radford et al. 2018, section
# 4.1), so that the first scores are almost equal and the first loss is close to log V. (GPT-2's code draws the position
# table with 0.01; this course uses one number, `init_std`, for all matrices.)
#
# Every block adds to the residual stream twice, so `n_layers` blocks add to it 2 · `n_layers` times, and its variance
# grows each time. So the two matrices of each block that *write* into the stream, `attn.W_o` and `ffn.W_2`, start
# smaller: they are divided by the root of the number of additions (Radford et al. 2019, section 2.3). Then the sum of
# all contributions is about as large as a single one would be without the division. Below, two blocks add four times,
# and 0.02 becomes 0.01.
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
        ln_f.gamma (D,)  ln_f.beta (D,)  W_head (D, V)  b_head (V,)

    - every W is normal with mean 0 and standard deviation `config.init_std` (0.02 by default), except that
    - `attn.W_o` and `ffn.W_2` have the standard deviation `config.init_std` / √(2 n_layers);
    - every gamma is 1, every beta and every bias b is 0.

    Args:
        config: a `GPTConfig`. With `config.tied` there is no `W_head`. Of the biases `b_…` there are only those whose
            names are in `config.bias` (the betas stay). With sinusoidal positions there is no `W_pos`, and with
            post-norm no `ln_f`.
        rng: a `numpy.random.Generator`.

    Returns:
        A dictionary of float32 arrays. The same generator state gives the same parameters.
    """
    raise NotImplementedError("gpt.init_gpt")


# %% [markdown]
# ## `count_parameters`
#
# *5 min, straightforward*
#
# The size of a model is the number of its parameters. A tied head adds none.
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
    raise NotImplementedError("gpt.count_parameters")


# %% [markdown]
# ## `gpt`
#
# *35 min, needs some thought*
#
# The forward pass follows the diagram at the top. `subset` from `blocks` selects the parameters of each part. For
# sinusoidal positions, `sinusoidal_positions` replaces `W_pos`: convert it to the dtype of the parameters.
#
# The token vectors are not multiplied by √D here: the learned table of positions starts as small as the token table, so
# neither outweighs the other.
#
# In training, `gpt` gets a random generator, `rng`. Dropout then comes after the embedding and, inside `block`, after
# both steps of each block, all with the same generator.
#
# Before training, all scores are nearly the same:
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
# With a tied head, the highest of them is usually an echo, that of the token just read: the stream is still mostly this
# token's vector, and few other rows of the token table match it as well.
#
# ```python
# >>> tied = GPTConfig(vocab_size=27, block_size=8, n_layers=2, n_heads=2, d_model=16)
# >>> rng = np.random.default_rng(0)
# >>> random = rng.integers(27, size=(1000, 8))
# >>> for settings in (tied, config):
# ...     scores, _ = gpt(random, init_gpt(settings, rng), settings)
# ...     print(settings.tied, (scores.argmax(axis=-1) == random).mean().round(2))
# True 0.84
# False 0.02
#
# ```
#
# The cache stores the intermediate stages under names, so that you can plot or compare them.
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
# This is almost the causal average of `attention`.
#
# Here is how the three names at the top were written. Start with ".", and draw each next token from the probabilities
# of the last position:
#
# ```python
# >>> from softmax import softmax
# >>> rng, texts = np.random.default_rng(0), np.zeros((3, 1), dtype=int)
# >>> for _ in range(7):
# ...     scores = gpt(texts, params, config)[0][:, -1]  # (3, V)
# ...     drawn = [rng.choice(27, p=softmax(row.astype(np.float64))) for row in scores]
# ...     texts = np.column_stack([texts, drawn])
# >>> ["".join(".abcdefghijklmnopqrstuvwxyz"[i] for i in text) for text in texts]
# ['.q.pywdh', '.gusv.wk', '.axn.sn.']
#
# ```
#
# Every letter is about equally likely. The model in the picture starts from larger numbers, with standard deviation
# 0.08, as `headway train` does, so it prefers some letters before it has learned anything. Below it is the same model
# after 2,000 steps of training:
#
# ![The probabilities of the next character after mar, and a sample of text, before and after training. Before: random
# letters. After: names.](figures/untrained-output.svg)
#
# ### Do the texts of a batch see each other?
#
# No. Replace one text of a batch, and compare the scores of the other bit by bit:
#
# ```python
# >>> batch = np.array([[5, 13, 13, 1], [15, 12, 9, 22]])
# >>> changed = np.array([[5, 13, 13, 1], [7, 7, 7, 7]])
# >>> before, after = gpt(batch, params, config)[0], gpt(changed, params, config)[0]
# >>> np.array_equal(before[0], after[0]), np.array_equal(before[1], after[1])
# (True, False)
#
# ```
#
# Texts meet only in the loss, a mean over all of them, and in the gradients, which are sums.

# %%


def gpt(ids, params, config, rng=None):
    """Compute the scores for the next token at every position (Radford et al. 2019, section 2.3).

        x = W_tok[ids] + W_pos[:T]
        x = block(x) for every block, with the causal mask
        logits = layernorm(x) W_head,    with W_head = W_tokᵀ if the head is tied

    With `config.positions` "sinusoidal", the sines and cosines of `sinusoidal_positions` take the place of W_pos. With
    `config.norm` "post", there is no layer norm after the last block. With "b_head" in `config.bias`, b_head is added
    to the scores. In training, with `rng`, x goes through `ffn.dropout` with p = `config.dropout` before the first
    block, and every block gets `config.dropout` and `rng`.

    Args:
        ids: integers, (B, T), each in [0, V), with T at most `config.block_size`. Any number of leading axes.
        params: dictionary of parameters; for names and shapes see `init_gpt`.
        config: a `GPTConfig`.
        rng: a `numpy.random.Generator`, which all dropout draws from, in the order of the computation. None: nothing is
            dropped.

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
    raise NotImplementedError("gpt.gpt")


# %% [markdown]
# ## `gpt_loss`
#
# *50 min, needs pen and paper*
#
# The loss is the mean cross-entropy of all B · T predictions. You have the backward pass of every part; connect them in
# reverse order:
#
# 1. the scores: `cross_entropy_backward`;
# 2. the output head, a matrix product of (N, D) and (D, V): one gradient for the matrix, one for the final vectors;
# 3. the last layer norm;
# 4. the blocks, *last one first*, each with its own cache; put the block's prefix in front of the names of its
#    gradients;
# 5. the embedding: the gradient at each position belongs to the row of `W_tok` that was looked up there, and to that
#    position's row of `W_pos`. All B texts use the same positions: sum their gradients. Rows of `W_pos` that a short
#    text does not reach have gradient 0.
#
# **The tied table.** Which values of the forward pass use one entry of the table, $W_{tok}[v, d]$?
#
# ```text
#     at the beginning   x[n, d] = W_tok[ids[n], d] + …               for every n with ids[n] = v
#     at the end         logits[n, v] = Σ_d final[n, d] W_tok[v, d]   for every n, factor final[n, d]
# ```
#
# A value that is used twice gets two gradients. You compute the first one in step 5. Write down the second one:
# multiply the factor by its upstream gradient $dlogits[n, v]$, and add over n. As a matrix product, is it the gradient
# of `W_head` from step 2, or its transpose? And what must you do with the two gradients?
#
# Is the first loss right? An untrained model gives all tokens about the same probability, 1/V, so the loss is about log
# V = log 27 = 3.2958. A first loss far above that suggests that the scores start too large. If the loss later falls far
# *below* what you expect, the model can probably read what it should predict.
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
# Is the gradient right, too? Change one parameter a little, as in `gradients`. Use float64: in float32, the difference
# is lost in rounding.
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
def gpt_loss(ids, targets, params, config, rng=None):
    """Compute the mean cross-entropy of the predictions and its gradient with respect to every parameter.

        loss = cross_entropy(gpt(ids, params, config, rng), targets)

    Args:
        ids: integers, (B, T), each in [0, V), with T at most `config.block_size`. Any number of leading axes.
        targets: integers, same shape as `ids`: the token that comes next at each position.
        params: dictionary of parameters; for names and shapes see `init_gpt`.
        config: a `GPTConfig`.
        rng: a `numpy.random.Generator` for dropout, as in `gpt`. None: nothing is dropped.

    Returns:
        loss: the mean over all B T positions, a Python float.
        grads: dL/dp for every parameter p, where L is the loss: a dictionary with the same keys, shapes and dtype as
            `params`. Rows of `W_pos` beyond T are 0.

    Raises:
        ValueError: if T is larger than `config.block_size`, or if an id is negative or not below V.
    """
    raise NotImplementedError("gpt.gpt_loss")


# %% [markdown]
# ## On paper
#
# 1. A model has V = 3, D = 2 and a tied head. Its table is W_tok = [[1, 0], [0, 1], [2, 2]]. The text is the single
#    token 2, and the final vector is (1, −1). Compute the three scores. Then let dlogits be (0.5, −0.75, 0.25): what
#    does the head contribute to the gradient of W_tok?
# 2. In the same model, the gradient that arrives at the embedding is (3, 4). What is the gradient of W_tok, and which
#    of its rows would be 0 if the head were not tied?
# 3. An untrained model gives each of V tokens the same probability. What is its loss, for V = 27, for 65 different
#    characters, and for the 50,257 tokens of GPT-2? By how much does the loss change if V is doubled?

# %% [markdown]
# ## Answers on paper
#
# **1. The scores are 1, −1 and 0.** They are the products of (1, −1) with each row of the table. Row v of the gradient
# is dlogits[v] times the final vector: (0.5, −0.5), (−0.75, 0.75) and (0.25, −0.25). The head gives *every* token a
# gradient, even those that are not in the text.
#
# ```python
# >>> table, final, dlogits = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]), np.array([1.0, -1.0]), [0.5, -0.75, 0.25]
# >>> final @ table.T
# array([ 1., -1.,  0.])
# >>> np.outer(dlogits, final)
# array([[ 0.5 , -0.5 ],
#        [-0.75,  0.75],
#        [ 0.25, -0.25]])
#
# ```
#
# **2. Row 2 gets (3, 4) in addition.** It is (3.25, 3.75). The other rows stay as they are; with a separate head they
# would be 0, because those tokens were not looked up.
#
# **3. It is log V.** That is 3.30, 4.17 and 10.82. Doubling V adds log 2 = 0.69.
#
# ```python
# >>> [round(math.log(size), 2) for size in (27, 65, 50_257)], round(math.log(2), 2)
# ([3.3, 4.17, 10.82], 0.69)
#
# ```

# %% [markdown]
# ## What could go wrong
#
# These mistakes are easy to make, and the report names them in the same words.
#
# - `init_gpt`: **attn.W_o and ffn.W_2 have the same standard deviation as the other matrices.** These two matrices
#   write into the residual stream. Unless they start smaller, its variance grows with every block.
# - `gpt`: **there was no mask: every position attended to later positions.** In training, the model can then read the
#   token that it should predict, and the loss falls suspiciously low.
# - `gpt`: **the last layer norm is missing.** Pre-norm blocks never normalize the residual stream itself, so it grows
#   from block to block. The head needs a norm before it.
# - `gpt_loss`: **with a tied head, the gradient of W_tok contains only the part from the head.** The table was used
#   twice. The later assignment overwrote the part from the embedding.
# - `gpt_loss`: **where a token occurs several times, only one of its gradients was counted.** `grads[ids] += dx` writes
#   each row only once, even if ids lists it several times.

# %% [markdown]
# ## Try it
#
# Before you train a model on a large text, check that it can memorize a tiny one; if it cannot, there is a bug. Train a
# new model on two names: again and again, subtract a small multiple of its gradient from every parameter.
#
# **Guess first.** At what loss does training start, and how far can it fall? Once the model has learned both names, how
# probable does it find the correct character at each of the five positions?
#
# Run it: `headway experiment gpt`, or the next cell of the notebook.

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
# The loss starts near log 27 = 3.30. It does not fall to 0, although four of the five positions are certain. After the
# first ".", both "e" and "o" are correct, so the best prediction is ½ for each. That costs log 2 at one position of
# five, 0.14 on average, and the loss settles just above it.
#
# 1. Use the rate 0.03: what is the loss after 200 steps?
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
# **2. Far above log 27.** This model is confidently wrong: large parameters make large scores, and their softmax gives
# nearly all of the probability to one token.
#
# ```python
# >>> [round(learn(rate=0.0, steps=1, init_std=std)[0][0], 1) for std in (0.02, 0.1, 1.0)]
# [3.3, 3.4, 8.0]
#
# ```
#
# **3. No.** Within a single name, nothing is left to chance: no two positions have the same past and different targets.
# A model can memorize such a text, and its loss on it approaches 0. The entropy of the language limits the loss on
# *new* text; that is why you watch the validation loss.
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
# This is what your untrained GPT says after a newline; compare it with the table of zeros in `bigram`:
#
# ```python
# >>> from softmax import softmax
# >>> config = GPTConfig(vocab_size=27, block_size=8, n_layers=2, n_heads=2, d_model=16)
# >>> rng = np.random.default_rng(0)
# >>> params, ids = init_gpt(config, rng), [0]
# >>> for _ in range(40):
# ...     logits, _ = gpt(np.array([ids[-8:]]), params, config)
# ...     ids.append(int(rng.choice(27, p=softmax(logits[0, -1].astype(np.float64)))))
# >>> print(*"".join("\nabcdefghijklmnopqrstuvwxyz"[i] for i in ids).split())
# cftyjuspnarxejggqfmycrefauakptiuchaanhlo
#
# ```
#
# Once you have trained your GPT (`headway train`, in `training`), look inside: `headway plot attention-heads` and
# `headway plot gradient-norms`. `headway plot attention-viewer` writes a page in which you point at a character to see
# which positions each head attends to from there.

# %% [markdown]
# ## Going faster
#
# `gpt_loss` built from the parts is good enough for everything that follows. In the solution, it is the function
# `_from_parts`, the one to read. Training uses a second version, `_on_one_page`, with the same formulas and less
# overhead, for pre-norm models without dropout:
#
# - every array stays a matrix of N = B · T rows, and is viewed as (B, H, T, K) only inside attention;
# - there are few function calls, and nothing is checked, converted or computed twice;
# - an array that only the next line needs is overwritten in place.
#
# This helps most with few features, such as 16, where nearly all of the time goes into function calls.
