"""Llama: the block and the model made of its layers, the files of a published one, and its texts."""

# %% [markdown]
# # Llama: the model, and the files of a published one
#
# *Assignment 19 of 21 · 7 functions · about 2 h 50 min to write them*
#
# A small Llama has been trained. On new text, its loss is 0.63. It is saved, and then loaded by a program that swaps
# `W_gate` and `W_up`. All shapes fit, so there is no error, and the model still writes. Its loss is now 0.69, but
# nobody who has not seen the 0.63 can tell. At the end of this lesson, you will make this mistake and others on
# purpose. First, build the model from the layers that you wrote:
#
# ```text
#     ids (B, T)
#       ── rows of W_tok ───────>  x (B, T, D)       which token; nothing about its position
#       ── block 0, block 1, … ─>  x (B, T, D)       each rotates its queries and keys
#       ── rmsnorm ─────────────>  x (B, T, D)       norm_f
#       ── times W_head ────────>  logits (B, T, V)  or times the transposed W_tok
# ```
#
# ![A map of the whole model. Marked: the embeddings, which lose their positions, the norms, both halves of the block,
# and in each head the rotation of queries and keys, and the G heads of k and v.](figures/map-llama.svg)

# %%
import math
import sys
from dataclasses import dataclass

import numpy as np
from attention import attention, causal_mask
from blocks import prefixed, subset
from embeddings import embed_tokens, embed_tokens_backward
from ffn import linear, linear_backward
from generation import next_token_probs, sample
from layernorm import rmsnorm, rmsnorm_backward
from llama_layers import grouped_query_attention, grouped_query_attention_backward, rope, swiglu, swiglu_backward
from multihead import merge_heads, split_heads

# %% [markdown]
# ## From GPT-2 to Llama: what changed and why
#
# The residual stream, pre-norm blocks, the causal mask, the loss, training and sampling stay the same. This is the
# whole difference between GPT-2 (Radford et al. 2019) and Llama (Touvron et al. 2023, section 2.2):
#
# | GPT-2 | Llama | why |
# |---|---|---|
# | learned positions, added once | rotations, in every block | scores depend on distances (Su et al. 2021) |
# | layer norm | RMS norm, without beta | less to compute, as good (Zhang and Sennrich 2019) |
# | GELU, F = 4 D | SwiGLU, F about 8/3 D | a lower loss (Shazeer 2020) |
# | biases in a block's linear layers | none | more stable training (Chowdhery et al. 2022, section 2) |
# | H heads of keys and values | G, in larger models fewer than H | less to keep (Ainslie et al. 2023) |
# | a tied head | a separate one, except in small models such as Llama 3.2 1B | the papers do not say |
#
# ## `LlamaConfig` and `init_llama`
#
# Both are given. Queries, keys and values have their own matrices, as those of the keys and values are narrower.
#
# ```python
# >>> config = LlamaConfig(vocab_size=27, block_size=8, n_layers=2, n_heads=4, n_kv_heads=2, d_model=16)
# >>> config.d_ff  # 8/3 of 16, rounded up to a multiple of 8
# 48
# >>> params = init_llama(config, np.random.default_rng(0))
# >>> for name in list(params)[:10]:
# ...     print(f"{name:20} {params[name].shape}")
# W_tok                (27, 16)
# blocks.0.norm1.gamma (16,)
# blocks.0.attn.W_q    (16, 16)
# blocks.0.attn.W_k    (16, 8)
# blocks.0.attn.W_v    (16, 8)
# blocks.0.attn.W_o    (16, 16)
# blocks.0.norm2.gamma (16,)
# blocks.0.ffn.W_gate  (16, 48)
# blocks.0.ffn.W_up    (16, 48)
# blocks.0.ffn.W_down  (48, 16)
#
# ```

# %%
@dataclass(frozen=True)
class LlamaConfig:
    """Given: the shape of a Llama.

    Attributes:
        vocab_size: V, the number of different tokens.
        block_size: the longest text, in tokens, that the model reads at once.
        n_layers: the number of blocks.
        n_heads: H, the number of heads of the queries, a divisor of D.
        n_kv_heads: G, the number of heads of the keys and values, a divisor of H.
        d_model: D, the width of the residual stream; D / H must be even.
        d_ff: F, the width inside the feed-forward network. None stands for 8/3 D, rounded up to a multiple of 8, and
            is replaced by that number.
        rope_base: the base of `rope`, or the K/2 angles themselves.
        norm_eps: the eps of all norms.
        tied: whether the head is the transposed token table (True) or a separate matrix (False).
        init_std: the standard deviation of the initial matrices.
    """

    vocab_size: int
    block_size: int
    n_layers: int = 4
    n_heads: int = 4
    n_kv_heads: int = 2
    d_model: int = 64
    d_ff: int | None = None
    rope_base: float | tuple[float, ...] = 10000.0
    norm_eps: float = 1e-5
    tied: bool = False
    init_std: float = 0.02

    def __post_init__(self):
        """Fill in d_ff, and raise ValueError for settings that cannot work."""
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 8 * math.ceil(self.d_model / 3))
        for name in ("vocab_size", "block_size", "n_layers", "n_heads", "n_kv_heads", "d_model", "d_ff"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.d_model % (2 * self.n_heads) != 0:
            raise ValueError(f"d_model ({self.d_model}) must be an even multiple of n_heads ({self.n_heads})")
        if self.n_heads % self.n_kv_heads != 0:
            raise ValueError(f"n_heads ({self.n_heads}) must be a multiple of n_kv_heads ({self.n_kv_heads})")


def init_llama(config, rng):
    """Given: return the parameters of an untrained Llama, a dictionary of float32 arrays.

    The names, for blocks i = 0 … n_layers - 1, with K = D / H:

        W_tok (V, D)
        blocks.{i}. norm1.gamma (D,)
                    attn.W_q (D, H K)   attn.W_k (D, G K)  attn.W_v (D, G K)  attn.W_o (H K, D)
                    norm2.gamma (D,)
                    ffn.W_gate (D, F)   ffn.W_up (D, F)    ffn.W_down (F, D)
        norm_f.gamma (D,)  W_head (D, V), unless the head is tied

    As in `init_gpt`, the matrices are normal with the standard deviation `config.init_std`; those that write into the
    residual stream, `attn.W_o` and `ffn.W_down`, are smaller by √(2 n_layers). Every gamma is 1.
    """
    d, f = config.d_model, config.d_ff
    narrow = config.n_kv_heads * (d // config.n_heads)  # G K

    def normal(*shape, std=config.init_std):
        return rng.normal(0.0, std, shape).astype(np.float32)

    residual_std = config.init_std / math.sqrt(2 * config.n_layers)
    params = {"W_tok": normal(config.vocab_size, d)}
    for i in range(config.n_layers):
        layer = {
            "norm1.gamma": np.ones(d, dtype=np.float32),
            "attn.W_q": normal(d, d),
            "attn.W_k": normal(d, narrow),
            "attn.W_v": normal(d, narrow),
            "attn.W_o": normal(d, d, std=residual_std),
            "norm2.gamma": np.ones(d, dtype=np.float32),
            "ffn.W_gate": normal(d, f),
            "ffn.W_up": normal(d, f),
            "ffn.W_down": normal(f, d, std=residual_std),
        }
        params |= prefixed(layer, f"blocks.{i}.")
    params["norm_f.gamma"] = np.ones(d, dtype=np.float32)
    if not config.tied:
        params["W_head"] = normal(d, config.vocab_size)
    return params


# %% [markdown]
# ## `llama_block`
#
# *20 min, straightforward*
#
# This is the pre-norm block of the assignment `blocks` with the new layers:
#
# ```text
#     x ──┬─────────────────────────────────────────> + ──┬─────────────────────> + ──> y
#         └──> norm1 ──> grouped_query_attention ─────┘   └──> norm2 ──> swiglu ──┘
# ```
#
# The eps of both norms comes from the configuration, because some models were trained with 1e-5, others with 1e-6. So
# does the base of the rotation. The positions are 0 to T − 1, the default of `grouped_query_attention`.
#
# If `W_down` is 0, the block adds only what the attention returns, and a single token attends to itself:
#
# ```python
# >>> config = LlamaConfig(vocab_size=3, block_size=4, n_layers=1, n_heads=1, n_kv_heads=1, d_model=2, d_ff=2)
# >>> block_params = {f"attn.{name}": np.eye(2) for name in ("W_q", "W_k", "W_v", "W_o")}
# >>> block_params |= {"ffn.W_gate": np.eye(2), "ffn.W_up": np.eye(2), "ffn.W_down": np.zeros((2, 2))}
# >>> block_params |= {"norm1.gamma": np.ones(2), "norm2.gamma": np.ones(2)}
# >>> x = np.array([[3.0, 4.0]])
# >>> out, cache = llama_block(x, block_params, config)
# >>> (out - x).round(4)  # 3 and 4, divided by the root of their mean square, √12.5
# array([[0.8485, 1.1314]])
#
# ```

# %%
def llama_block(x, params, config, mask=None):
    """Apply one block of Llama: attention and a feed-forward network on a residual stream (Touvron et al. 2023).

        a = x + grouped_query_attention(rmsnorm(x, gamma_1))
        y = a + swiglu(rmsnorm(a, gamma_2))

    Args:
        x: the residual stream, (..., T, D), at the positions 0 to T - 1.
        params: `norm1.gamma` and `norm2.gamma`, each (D,); the parameters of `grouped_query_attention` as `attn.W_q`
            (D, H K), `attn.W_k` (D, G K), `attn.W_v` (D, G K), `attn.W_o` (H K, D); those of `swiglu` as `ffn.W_gate`
            (D, F), `ffn.W_up` (D, F), `ffn.W_down` (F, D).
        config: a `LlamaConfig`, of which `n_heads`, `n_kv_heads`, `rope_base` and `norm_eps` are used.
        mask: boolean, broadcastable to (..., H, T, T), e.g. (T, T) or (B, 1, T, T); True where the query may attend to
            the key. None: no mask.

    Returns:
        out: (..., T, D), in the dtype of `x` and the parameters.
        cache: dict for `llama_block_backward`, with any entries that you need and these:
            `weights`, the attention weights, (..., H, T, T);
            `after_attention`, the stream after the first step (a above), (..., T, D);
            `after_ffn`, the stream after the second step (y above, the output), (..., T, D).
    """
    raise NotImplementedError("llama.llama_block")


# %% [markdown]
# ## `llama_block_backward`
#
# *30 min, needs some thought*
#
# Follow the graph backwards. Write dx, da and dy for the gradients with respect to x, a and y; dy arrives. The second
# step is $y = a + \mathrm{swiglu}(\mathrm{rmsnorm}(a, \gamma_2))$, in which a is used twice, so da has two terms:
#
# $$da = dy + \mathrm{rmsnorm}^{backward}_{\gamma_2}(\mathrm{swiglu}^{backward}(dy))$$
#
# The first step has the same form, with *both* terms of da in place of dy:
#
# $$dx = da + \mathrm{rmsnorm}^{backward}_{\gamma_1}(\mathrm{attention}^{backward}(da))$$
#
# `rmsnorm_backward` needs the input of the norm, its gamma and the same eps. Collect the gradients of the parameters
# under the names that they have in `params`.
#
# In the example above, the feed-forward network passes nothing back, because its last matrix is 0. But the gradient of
# that matrix is not 0.
#
# ```python
# >>> dx, grads = llama_block_backward(np.array([[1.0, -1.0]]), cache)
# >>> dx.round(4)  # (1, -1) from the stream, and the rest through the attention
# array([[ 1.3168, -1.2376]])
# >>> grads["norm1.gamma"].round(4), grads["norm2.gamma"]
# (array([ 0.8485, -1.1314]), array([0., 0.]))
# >>> bool(np.abs(grads["ffn.W_down"]).min() > 0.1)
# True
#
# ```

# %%
def llama_block_backward(dout, cache):
    """Return the gradients of `llama_block`.

    Args:
        dout: gradient with respect to the output, (..., T, D).
        cache: what `llama_block` returned. It may be used again, with the same result.

    Returns:
        dx: gradient with respect to `x`, (..., T, D).
        grads: dict with the same keys and shapes as `params`.
        All in the dtype of the inputs of `llama_block`.
    """
    raise NotImplementedError("llama.llama_block_backward")


# %% [markdown]
# ## `llama`
#
# *25 min, straightforward*
#
# Compare the diagram above with `gpt`. No table of positions is added. Without the rotations, a single block could not
# tell "ab?" from "ba?", because the last query would see the same keys and values, in another order. With them, it can.
#
# ```python
# >>> config = LlamaConfig(vocab_size=3, block_size=8, n_layers=1, init_std=0.5)
# >>> params = init_llama(config, np.random.default_rng(0))
# >>> logits, cache = llama(np.array([[0, 1, 2], [1, 0, 2]]), params, config)
# >>> logits.shape
# (2, 3, 3)
# >>> bool(np.abs(logits[0, -1] - logits[1, -1]).max() > 0.01)
# True
# >>> [name for name in cache if name.startswith("blocks.0.")]
# ['blocks.0.weights', 'blocks.0.after_attention', 'blocks.0.after_ffn']
#
# ```
#
# No table ends, yet `llama` refuses texts longer than `block_size`: the model was never trained on larger distances.

# %%
def llama(ids, params, config):
    """Compute the scores for the next token at every position (Touvron et al. 2023, section 2.2).

        x = W_tok[ids]
        x = llama_block(x) for every block, with the causal mask
        logits = rmsnorm(x, gamma_f) W_head,    with W_head = W_tokᵀ if the head is tied

    Args:
        ids: integers, (B, T), each in [0, V), with T at most `config.block_size`. Any number of leading axes.
        params: dictionary of parameters; for names and shapes see `init_llama`.
        config: a `LlamaConfig`.

    Returns:
        logits: (B, T, V), in the dtype of the parameters. The scores at position t depend on ids[..., : t + 1] only.
        cache: dictionary with the values that `llama_backward` needs, and these entries:
            `embedded`, the residual stream before the first block, (B, T, D);
            `blocks.{i}.weights`, the attention weights of block i, (B, H, T, T);
            `blocks.{i}.after_attention` and `blocks.{i}.after_ffn`, the stream after its two steps, (B, T, D);
            `final_norm`, the stream after the last norm, (B, T, D).

    Raises:
        ValueError: if T is larger than `config.block_size`, or if an id is negative or not below V.
    """
    raise NotImplementedError("llama.llama")


# %% [markdown]
# ## `llama_backward`
#
# *35 min, needs some thought*
#
# `dlogits` comes from `cross_entropy_backward`. The rest is the second half of `gpt_loss`:
#
# 1. the output head, a product: one gradient for the matrix, one for the final vectors;
# 2. the last norm;
# 3. the blocks, last one first, each with its own cache;
# 4. the token table.
#
# With a tied head, the table was used twice, so its two gradients are added.
#
# ```python
# >>> from softmax import cross_entropy, cross_entropy_backward
# >>> ids, targets = np.array([[0, 1, 2]]), np.array([[1, 2, 0]])
# >>> params = {name: value.astype(np.float64) for name, value in params.items()}
# >>> logits, cache = llama(ids, params, config)
# >>> grads = llama_backward(cross_entropy_backward(logits, targets), cache)
# >>> def loss_with(W_k):
# ...     return cross_entropy(llama(ids, params | {"blocks.0.attn.W_k": W_k}, config)[0], targets)
# >>> W_k, step = params["blocks.0.attn.W_k"], np.zeros((64, 32))
# >>> step[5, 7] = 1e-5
# >>> slope = (loss_with(W_k + step) - loss_with(W_k - step)) / 2e-5
# >>> bool(abs(slope - grads["blocks.0.attn.W_k"][5, 7]) < 1e-9)
# True
#
# ```

# %%
def llama_backward(dlogits, cache):
    """Return the gradient of every parameter of `llama`.

    Args:
        dlogits: gradient with respect to the logits, (B, T, V), with the leading axes of the ids, e.g. from
            `cross_entropy_backward`.
        cache: what `llama` returned. It may be used again, with the same result.

    Returns:
        A dictionary with the same keys, shapes and dtype as `params`. With a tied head, the gradient of `W_tok` is the
        sum of that of the table at the beginning and that of the head at the end.
    """
    raise NotImplementedError("llama.llama_backward")


# %% [markdown]
# ## `llama_config`
#
# *10 min, straightforward*
#
# A trained model is distributed as a folder of files. Its `config.json` is a dictionary of settings under the names
# that Hugging Face's library `transformers` uses. Your model has other names for the same things:
#
# | `config.json` | here | if it is missing |
# |---|---|---|
# | `vocab_size` | `vocab_size` | ValueError |
# | `max_position_embeddings` | `block_size` | ValueError |
# | `num_hidden_layers` | `n_layers` | ValueError |
# | `num_attention_heads` | `n_heads` | ValueError |
# | `num_key_value_heads` | `n_kv_heads` | as many as `num_attention_heads` |
# | `hidden_size` | `d_model` | ValueError |
# | `intermediate_size` | `d_ff` | ValueError |
# | `rms_norm_eps` | `norm_eps` | 1e-6 |
# | `rope_theta` | `rope_base` | 10000 |
# | `tie_word_embeddings` | `tied` | False |
#
# Version 5 of `transformers` stores the base of the rotation in a dictionary of its own, `rope_parameters`. Older files
# have `rope_theta` at the top.
#
# Many models are called Llama but differ a little. If you load a model whose angles are scaled for longer texts, and do
# not scale them, it still writes, just a little worse. So the safe answer to such a setting is an error, which
# `check_llama_settings` raises. Call it first.
#
# One kind of scaling is supported, that of Llama 3.1 and later, `llama3` (`_compute_llama3_parameters` in
# `transformers`). They were trained on long texts after a start with 8,192 tokens. Pairs that turn often within this
# length stay as they are; pairs that turn less than once become 8 times as slow, so that in a longer text they reach no
# angle that is new to the model; in between, the change is gradual. `scaled_base` computes this: it takes the base and
# the dictionary of the file, and returns the base, or the scaled angles in its place.
#
# ```python
# >>> small = {"model_type": "llama", "vocab_size": 100, "max_position_embeddings": 64, "num_hidden_layers": 2}
# >>> small |= {"num_attention_heads": 4, "hidden_size": 32, "intermediate_size": 80, "rms_norm_eps": 1e-6}
# >>> config = llama_config(small)
# >>> config.n_kv_heads, config.norm_eps, config.tied
# (4, 1e-06, False)
# >>> llama_config(small | {"hidden_act": "gelu"})
# Traceback (most recent call last):
# ValueError: hidden_act is 'gelu', but this Llama needs 'silu'
# >>> scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
# >>> scaling |= {"original_max_position_embeddings": 32}
# >>> [round(angle, 4) for angle in llama_config(small | {"rope_scaling": scaling}).rope_base]
# [1.0, 0.0125, 0.0013, 0.0001]
#
# ```

# %%
def check_llama_settings(hf_config):
    """Given: raise ValueError if a size is missing, or if a setting asks for what this Llama cannot compute."""
    sizes = ["vocab_size", "max_position_embeddings", "num_hidden_layers", "num_attention_heads"]
    missing = [name for name in (*sizes, "hidden_size", "intermediate_size") if hf_config.get(name) is None]
    if missing:
        raise ValueError(f"the configuration has no {', '.join(missing)}")
    supported = {"model_type": "llama", "hidden_act": "silu", "attention_bias": False, "mlp_bias": False}
    supported["head_dim"] = hf_config["hidden_size"] // hf_config["num_attention_heads"]
    for name, needed in supported.items():
        value = hf_config.get(name)
        if value != needed and (value is not None or name == "model_type"):
            raise ValueError(f"{name} is {value!r}, but this Llama needs {needed!r}")
    for name in ("rope_parameters", "rope_scaling"):
        rotation = hf_config.get(name) or {}
        if not isinstance(rotation, dict):
            raise ValueError(f"{name} is {rotation!r}, but it must be a dictionary")
        kind = rotation.get("rope_type") or rotation.get("type") or "default"
        if kind not in ("default", "llama3"):
            raise ValueError(f"{name} asks for angles of the kind {kind!r}, but this Llama does not scale them so")
        if kind == "llama3":
            factor, low, high, length = (rotation.get(setting) for setting in SCALING_SETTINGS)
            numbers = all(
                type(number) in (int, float) and 0 < number < math.inf for number in (factor, low, high, length)
            )
            if not numbers or high <= low:
                raise ValueError(
                    f"{name} of the kind 'llama3' needs the positive numbers {', '.join(SCALING_SETTINGS)}"
                )


SCALING_SETTINGS = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")


def scaled_base(base, hf_config):
    """Given: return the base, or the K/2 scaled angles per position if the file asks for Llama 3's scaling."""
    rotation = hf_config.get("rope_parameters") or hf_config.get("rope_scaling") or {}
    if (rotation.get("rope_type") or rotation.get("type")) != "llama3":
        return base
    factor, low, high, length = (rotation[setting] for setting in SCALING_SETTINGS)
    size = hf_config["hidden_size"] // hf_config["num_attention_heads"]  # K
    angles = base ** (-np.arange(0, size, 2) / size)  # (K/2,)
    turns = angles * length / (2 * np.pi)  # full turns within the original length
    kept = np.clip((turns - low) / (high - low), 0, 1)  # 1: the pair stays as it is; 0: it becomes slower by the factor
    return tuple((kept * angles + (1 - kept) * angles / factor).tolist())


def llama_config(hf_config):
    """Return the configuration that a Hugging Face `config.json` describes.

    Args:
        hf_config: the dictionary of a `config.json`. The sizes are `vocab_size`, `max_position_embeddings` (the block
            size), `num_hidden_layers`, `num_attention_heads`, `hidden_size` and `intermediate_size` (F).
            `num_key_value_heads` (by default as many as `num_attention_heads`), `rms_norm_eps` (default 1e-6),
            `tie_word_embeddings` (default False). The base of the rotation is `rope_theta`, in the dictionary
            `rope_parameters` or at the top (default 10000); it goes through `scaled_base`. A setting that is None
            counts as missing. All other settings are ignored.

    Returns:
        A `LlamaConfig`.

    Raises:
        ValueError: where `check_llama_settings` raises it: if a size is missing, or for a setting that this Llama
            cannot have.
    """
    raise NotImplementedError("llama.llama_config")


# %% [markdown]
# ## `llama_params`
#
# *30 min, needs some thought*
#
# The parameters come as a dictionary from names to arrays. Three things differ from yours.
#
# **Names.** Most begin with `model.`. `input_layernorm` and `post_attention_layernorm` are the two norms of a block:
# RMS norms, despite their names, and the second is not a post-norm but comes before the feed-forward network.
#
# | Hugging Face, after `model.` | here |
# |---|---|
# | `embed_tokens.weight` | `W_tok` |
# | `layers.{i}.input_layernorm.weight` | `blocks.{i}.norm1.gamma` |
# | `layers.{i}.self_attn.q_proj.weight`, `k_proj`, `v_proj`, `o_proj` | `blocks.{i}.attn.W_q`, `W_k`, `W_v`, `W_o` |
# | `layers.{i}.post_attention_layernorm.weight` | `blocks.{i}.norm2.gamma` |
# | `layers.{i}.mlp.gate_proj.weight`, `up_proj`, `down_proj` | `blocks.{i}.ffn.W_gate`, `W_up`, `W_down` |
# | `norm.weight` | `norm_f.gamma` |
# | `lm_head.weight`, never after `model.` | `W_head` |
#
# **Transposed matrices.** PyTorch's linear layer computes $x W^\top$ and stores W as (out, in). Yours computes $x W$
# with (in, out). All matrices have to be transposed except the token table, whose rows are looked up in both. `W_q` and
# `W_o` are square here: they fit either way, and nothing reports the mistake.
#
# **BF16.** A float32 has 32 bits: one for the sign, 8 for the exponent and 23 for the fraction. Most large models are
# stored in **bfloat16**, or BF16: the first 16 of these bits (Kalamkar et al. 2019). It has the range of float32, but
# only two to three digits.
#
# ![The 32 bits of π as a float32: 1 bit of the sign, 8 of the exponent, 23 of the fraction. Below, its BF16 number: the
# first 16 bits, with 7 of the fraction.](figures/bf16.svg)
#
# NumPy has no such dtype. So the arrays come as `uint16`: 16 bits each, without a meaning. To turn them into a float32,
# append 16 zeros. As an integer, the bits in the picture are 16,457. (The exponent is stored with 127 added to it, and
# of 1.57… only what follows the point.)
#
# ```python
# >>> bits = np.array([16457], dtype=np.uint16)
# >>> f"{bits[0]:016b}"
# '0100000001001001'
# >>> 2 ** (128 - 127) * (1 + 73 / 128)  # the exponent is 128, and the fraction 73
# 3.140625
# >>> (bits.astype(np.uint32) << 16).view(np.float32)
# array([3.140625], dtype=float32)
#
# ```
#
# `view` keeps the bits and changes what they mean. `astype` keeps the number and changes the bits: it would give
# 16457.0.
#
# A model with a tensor that you do not use, such as the bias of a query matrix, would compute something else. So an
# unknown tensor is an error. The only exceptions are the tables `rotary_emb.inv_freq` of older files. They hold
# base^(−2i/K), which you compute.
#
# Here is a checkpoint of a tiny tied model, with D = 4, F = 3, H = 2 and G = 1, in which all numbers are 1:
#
# ```python
# >>> shapes = {"input_layernorm": (4,), "post_attention_layernorm": (4,)}
# >>> shapes |= {f"self_attn.{name}_proj": (rows, 4) for name, rows in (("q", 4), ("k", 2), ("v", 2), ("o", 4))}
# >>> shapes |= {"mlp.gate_proj": (3, 4), "mlp.up_proj": (3, 4), "mlp.down_proj": (4, 3)}
# >>> tensors = {f"model.layers.0.{name}.weight": np.ones(shape) for name, shape in shapes.items()}
# >>> tensors |= {"model.embed_tokens.weight": np.ones((5, 4)), "model.norm.weight": np.ones(4)}
# >>> params = llama_params(tensors)
# >>> params["blocks.0.attn.W_k"].shape, params["blocks.0.ffn.W_down"].shape, "W_head" in params
# ((4, 2), (3, 4), False)
# >>> llama_params(tensors | {"model.layers.0.self_attn.q_proj.bias": np.ones(4)})
# Traceback (most recent call last):
# ValueError: unknown tensors: layers.0.self_attn.q_proj.bias
#
# ```

# %%


def llama_params(tensors):
    """Return the parameters of `llama` from the tensors of a Hugging Face checkpoint.

    Args:
        tensors: dictionary of arrays under Hugging Face's names: `embed_tokens.weight`, `norm.weight`, for each layer i
            `layers.{i}.` and `input_layernorm.weight`, `self_attn.q_proj.weight` (and `k_proj`, `v_proj`, `o_proj`),
            `post_attention_layernorm.weight`, `mlp.gate_proj.weight` (and `up_proj`, `down_proj`), each with or without
            the prefix `model.`; and `lm_head.weight`, unless the head is tied. The matrices are (out, in). Arrays of
            dtype uint16 hold the bits of BF16 numbers. Names that end with `rotary_emb.inv_freq` are ignored.

    Returns:
        Dictionary of arrays, with the names and shapes of `init_llama`: all matrices but `W_tok` are transposed. There
        is a `W_head` if there is an `lm_head.weight`. BF16 numbers become float32, without a change of their value;
        other arrays keep their dtype.

    Raises:
        ValueError: if tensors are missing or unknown, with the name of at least one of them in the message.
    """
    raise NotImplementedError("llama.llama_params")


# %% [markdown]
# ## `generate_llama`
#
# *20 min, straightforward*
#
# You have computed with stored keys and values in `generation` and in `gpt2`. So `last_logits` is given this time: it
# reads the new tokens and returns the scores after them, and `kv`, the keys and values of all tokens so far, for the
# next call. Read it before you go on. Three things are new:
#
# - The new tokens stand at the positions from `start` on, not from 0.
# - A key is rotated once, before it is stored, by the angle of its own position. There are only G heads of keys: that
#   is what grouped queries are for. And they need not be repeated: the queries that share keys become the rows of one
#   matrix.
# - The block size of a Llama can be 131,072. So there is no array for all positions: when the room is used up, larger
#   arrays replace it, with twice the room that is needed.
#
# What is left is the loop: the prompt first, then one token at a time. Beyond `block_size`, the window moves, and the
# cropped text is read anew, without `kv`. Is that necessary, when shifting all positions changes nothing? Yes: from the
# second block on, stored keys and values contain what was read from the dropped token.
#
# ```python
# >>> config = LlamaConfig(vocab_size=11, block_size=6, n_layers=2, d_model=16, init_std=0.5)
# >>> params = init_llama(config, np.random.default_rng(0))
# >>> generated = generate_llama(np.array([[1, 2, 3]]), params, config, 8, np.random.default_rng(0), temperature=0)
# >>> generated[0, 3:]
# array([5, 4, 1, 6, 3, 3, 3, 3])
# >>> ids = np.array([[1, 2, 3]])  # the same, and the whole window is read for every token
# >>> for _ in range(8):
# ...     new = llama(ids[:, -6:], params, config)[0][:, -1].argmax(axis=-1)
# ...     ids = np.column_stack([ids, new])
# >>> bool((ids == generated).all())
# True
#
# ```

# %%
def last_logits(ids, params, config, kv=None):
    """Given: return the scores for the token after `ids` (B, T), and the keys and values for the next call.

    `kv` is what the last call returned for the tokens before `ids`, or None if there are none: their number, and an
    array (n_layers, 2, B, G, room, K) with the keys, after their rotation, and the values of all blocks. A call writes
    into the array, so it can be used for one further call only.
    """
    heads, shared = config.n_heads, config.n_kv_heads  # H and G
    size = (config.n_layers, 2, *ids.shape[:-1], shared, 0, config.d_model // heads)
    start, stored = (0, np.empty(size, params["W_tok"].dtype)) if kv is None else kv
    end = start + ids.shape[-1]  # S
    if end > stored.shape[-2]:  # Make room for twice as many: larger arrays for each token would be copied each time.
        larger = np.empty((*stored.shape[:-2], 2 * end, stored.shape[-1]), stored.dtype)
        larger[..., :start, :] = stored[..., :start, :]
        stored = larger
    positions = np.arange(start, end)
    mask = np.tile(causal_mask(end - start, end), (heads // shared, 1))  # (H/G · T, S), for `rows` below
    x = embed_tokens(ids, params["W_tok"])
    for i in range(config.n_layers):
        layer = f"blocks.{i}."
        normed = rmsnorm(x, params[layer + "norm1.gamma"], config.norm_eps)
        qk = np.concatenate([normed @ params[layer + "attn.W_q"], normed @ params[layer + "attn.W_k"]], axis=-1)
        rotated = rope(split_heads(qk, heads + shared), positions, config.rope_base)  # (B, H + G, T, K)
        q, keys, values = rotated[..., :heads, :, :], stored[i, 0, ..., :end, :], stored[i, 1, ..., :end, :]
        keys[..., start:, :] = rotated[..., heads:, :, :]
        values[..., start:, :] = split_heads(normed @ params[layer + "attn.W_v"], shared)
        rows = q.reshape(*keys.shape[:-2], -1, keys.shape[-1])  # (B, G, H/G · T, K): queries that share keys, in one
        attended = attention(rows, keys, values, mask)[0].reshape(q.shape)  # matrix, so that no key is repeated
        x = x + merge_heads(attended) @ params[layer + "attn.W_o"]
        normed = rmsnorm(x, params[layer + "norm2.gamma"], config.norm_eps)
        x = x + swiglu(normed, {name: params[f"{layer}ffn.{name}"] for name in ("W_gate", "W_up", "W_down")})[0]
    last = rmsnorm(x[..., -1, :], params["norm_f.gamma"], config.norm_eps)  # (B, D): only the last position is needed
    return last @ (params["W_tok"].T if config.tied else params["W_head"]), (end, stored)


def generate_llama(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """Append `n_new` tokens to each text, one at a time, each drawn from the model's prediction.

    With `last_logits`, which is given. Beyond `config.block_size` tokens, the window moves with every token, and the
    whole cropped text is read again.

    Args:
        ids: the prompts, token ids, (B, T) with T ≥ 1; T may be larger than `config.block_size`. Any number of leading
            axes.
        params: dictionary of the Llama's parameters.
        config: a `LlamaConfig`.
        n_new: how many tokens to append to each text, ≥ 0.
        rng: a `numpy.random.Generator`; `sample` is called once per new token, with temperature 0 too.
        temperature: as in `next_token_probs`; 0 is greedy.
        top_k: as in `next_token_probs`.
        top_p: as in `next_token_probs`.

    Returns:
        The prompts with the new tokens, (B, T + n_new), int64: what the loop of `generate` returns with `llama` in
        place of `gpt`, unless a choice is so close that the rounding of the scores decides. `ids` is not modified.

    Raises:
        ValueError: if T is 0 or `n_new` is negative, and where `next_token_probs` raises it.
    """
    raise NotImplementedError("llama.generate_llama")


# %% [markdown]
# ## On paper
#
# 1. A block has D = 64, H = 4, G = 2 and F = 8/3 D, rounded up to a multiple of 8. How many parameters does it have?
#    How many does a block of GPT-2 have with D = 64?
# 2. What is the smallest BF16 number above 1? And which BF16 number does 1.01 become if the last 16 bits of its float32
#    are cut off?
# 3. In a checkpoint, `embed_tokens.weight` has the shape (32000, 2048), `self_attn.k_proj.weight` (256, 2048), and
#    `config.json` says that there are 32 heads. What are K and G, and by what factor does this G reduce the stored keys
#    and values?

# %% [markdown]
# ## Answers on paper
#
# **1. They have 46,208 and 49,984.** F is 176, the next multiple of 8 after 170.67. Attention has 12,288 parameters,
# SwiGLU 3 · 64 · 176 = 33,792, and the norms 128. GPT-2 has 49,152 in its matrices, 576 in biases, 256 in norms.
#
# ```python
# >>> from gpt import GPTConfig, count_parameters, init_gpt
# >>> models = [(init_llama, LlamaConfig(27, 8, n_layers=1)), (init_gpt, GPTConfig(27, 8, n_layers=1))]
# >>> for init, config in models:
# ...     count_parameters(subset(init(config, np.random.default_rng(0)), "blocks.0."))
# 46208
# 49984
#
# ```
#
# **2. It is 1 + 1/128 = 1.0078125, and 1.01 becomes the same.** The fraction has 7 bits. The next number is 1.015625.
#
# ```python
# >>> bits = (np.array([1.01], dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
# >>> (bits.astype(np.uint32) << 16).view(np.float32)
# array([1.0078125], dtype=float32)
#
# ```
#
# **3. K = 64 and G = 4; 8 times fewer.** K is D / H = 2048 / 32, and the 256 rows of `k_proj` are G heads of K rows.

# %% [markdown]
# ## What could go wrong
#
# Most mistakes in this assignment are silent: the shapes fit, and the model computes something else.
#
# - `llama_block`: **the second sum added x, not the stream after the attention.** The output of the attention is then
#   lost from the stream.
# - `llama_block_backward`: **the attention got dout instead of the gradient of the stream.** The output of the
#   attention also went through the feed-forward network, so its gradient has two parts.
# - `llama_backward`: **with a tied head, the gradient of W_tok left out the part from the head.** The table was used
#   twice: as the table at the beginning and as the head at the end.
# - `llama_params`: **the square matrices were not transposed.** They fit either way, and no shape shows the mistake.
# - `generate_llama`: **when the window moved, the oldest key was dropped and the others were reused.** From the second
#   block on, the stored keys and values contain what was read from the dropped token.

# %% [markdown]
# ## Try it
#
# Train a small Llama on texts with 8 different tokens: each depends on the two before it, through a table, and 10% are
# random. Then load its parameters with one mistake at a time, and measure the loss on new text.
#
# **Guess first.** BF16 keeps two to three digits of each parameter. How much does that change the loss? Which mistakes
# hardly change it, and which make it worse than guessing, at log 8 = 2.08?
#
# Run it: `headway experiment llama`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    from softmax import cross_entropy, cross_entropy_backward
    from training import adamw_step

    def texts(rng, size):
        text, table = list(rng.integers(8, size=(2, size))), np.random.default_rng(0).integers(8, size=(8, 8))
        while len(text) < 17:
            text.append(np.where(rng.random(size) < 0.9, table[text[-2], text[-1]], rng.integers(8, size=size)))
        return np.stack(text, axis=1)

    config = LlamaConfig(8, 16, n_layers=2, n_heads=2, n_kv_heads=2, d_model=16, norm_eps=1e-6, init_std=0.1)
    params, state = {n: p.astype(float) for n, p in init_llama(config, np.random.default_rng(0)).items()}, {}
    for text in (texts(np.random.default_rng(step), 16) for step in range(300)):
        logits, cache = llama(text[:, :-1], params, config)
        grads = llama_backward(cross_entropy_backward(logits, text[:, 1:]), cache)
        params, state = adamw_step(params, grads, state, 0.01)

    def swapped(a, b):
        return {name.replace(a, "?").replace(b, a).replace("?", b): value for name, value in params.items()}

    def loss_on_new_text(params, config):
        text = texts(np.random.default_rng(1000), 200)
        return round(float(cross_entropy(llama(text[:, :-1], params, config)[0], text[:, 1:])), 2)

    pairs = (("norm1", "norm2"), ("W_gate", "W_up"), ("W_k", "W_v"))
    read = {"as trained": params} | {f"{a} and {b} swapped": swapped(a, b) for a, b in pairs}
    read["BF16"] = {n: (p.astype(np.float32).view(np.uint32) >> 16 << 16).view(np.float32) for n, p in params.items()}
    read["W_q, W_o not transposed"] = {n: p.T if n[-3:] in ("W_q", "W_o") else p for n, p in params.items()}
    for what, wrong in read.items():
        print(f"{what:25} {loss_on_new_text(wrong, config):.2f}")


# %% [markdown]
# ## What came out
#
# ```text
# as trained                0.63
# norm1 and norm2 swapped   0.66
# W_gate and W_up swapped   0.69
# W_k and W_v swapped       2.32
# BF16                      0.63
# W_q, W_o not transposed   2.82
# ```
#
# BF16 halves the file, and costs nothing that two digits show. No mistake raises an error, and two of them cost only a
# few hundredths. You would not see that in the model's texts. So compare its logits with those of a program known to be
# right.
#
# 1. What is the loss with an eps of 1e-5, and with a base of 500,000? Which of the pairs does the base leave alone?
# 2. The columns of `W_q` and `W_k` are those of a model with interleaved pairs. What loss do you expect?

# %% [markdown]
# ## Answers
#
# **1. 0.63 and 0.66.** The mean squares are far larger than either eps. The first pair turns by one radian with any
# base.
#
# ```python
# >>> from dataclasses import replace
# >>> [loss_on_new_text(params, replace(config, **wrong)) for wrong in ({"norm_eps": 1e-5}, {"rope_base": 500_000.0})]
# [0.63, 0.66]
#
# ```
#
# **2. 2.26, worse than guessing.** Entries that belong to different speeds are turned together.
#
# ```python
# >>> order = [0, 2, 4, 6, 1, 3, 5, 7]  # what stood at the entries 2i and 2i + 1 is now at i and i + K/2
# >>> order += [8 + column for column in order]  # two heads of K = 8
# >>> loss_on_new_text({n: p[:, order] if n[-3:] in ("W_q", "W_k") else p for n, p in params.items()}, config)
# 2.26
#
# ```

# %% [markdown]
# ## Try it: Llama or GPT
#
# Train both models on the same batches: a GPT with the settings of GPT-2, but with a separate head, and a Llama with
# the same width and nearly as many parameters. The text is made like the one above, with 20 different tokens. Then let
# the Llama, which was trained on texts of 32 tokens, read longer ones, and measure the loss on the last eight tokens.
#
# **Guess first.** Which model learns faster, and why? What is the loss on the last eight tokens of 32, 48 and 64?
# (Guessing among 20 tokens costs log 20 = 3.00.)
#
# Run it: `headway experiment llama compare`, or the next cell of the notebook. It takes about 15 seconds.

# %%
if __name__ == "__main__" and "compare" in sys.argv:
    from dataclasses import replace

    from gpt import GPTConfig, count_parameters, gpt, gpt_loss, init_gpt
    from softmax import cross_entropy, cross_entropy_backward
    from training import adamw_step, learning_rate

    V, T, steps = 20, 32, 300
    table = np.random.default_rng(0).integers(V, size=(V, V))

    def batch(rng, size, length=T):
        text = list(rng.integers(V, size=(2, size)))
        for _ in range(length - 1):
            follows = rng.random(size) < 0.9
            text.append(np.where(follows, table[text[-2], text[-1]], rng.integers(V, size=size)))
        text = np.stack(text, axis=1)  # (B, length + 1)
        return text[:, :-1], text[:, 1:]

    def llama_loss(ids, targets, params, config):
        logits, cache = llama(ids, params, config)
        return cross_entropy(logits, targets), llama_backward(cross_entropy_backward(logits, targets), cache)

    def trained(name, config, init, loss_of, model):
        params = {name: value.astype(np.float64) for name, value in init(config, np.random.default_rng(0)).items()}
        rng, state, losses = np.random.default_rng(1), {}, []
        for step in range(steps):
            loss, grads = loss_of(*batch(rng, 16), params, config)
            params, state = adamw_step(params, grads, state, learning_rate(step, 0.01, 0.001, 30, steps))
            losses.append(loss)
        course = " ".join(f"{np.mean(losses[at : at + 50]):.2f}" for at in range(0, steps, 50))
        ids, targets = batch(np.random.default_rng(2), 200)
        new = cross_entropy(model(ids, params, config)[0], targets)
        print(f"{name:5} {count_parameters(params)} parameters   {course}   on new text {new:.2f}")
        return params

    sizes = {"vocab_size": V, "block_size": T, "n_layers": 2, "n_heads": 2, "d_model": 16, "tied": False}
    trained("GPT", GPTConfig(**sizes, init_std=0.1), init_gpt, gpt_loss, gpt)
    config = LlamaConfig(**sizes, init_std=0.1)
    params = trained("Llama", config, init_llama, llama_loss, llama)
    for length in (32, 48, 64):
        ids, targets = batch(np.random.default_rng(3), 200, length)
        logits, _ = llama(ids, params, replace(config, block_size=length))
        print(f"the last 8 of {length} tokens: {cross_entropy(logits[:, -8:], targets[:, -8:]):.2f}")


# %% [markdown]
# ## What came out: Llama or GPT
#
# ```text
# GPT   7744 parameters   2.47 1.96 1.65 1.44 1.33 1.23   on new text 1.26
# Llama 7376 parameters   2.34 1.65 1.34 1.15 1.05 0.96   on new text 0.98
# the last 8 of 32 tokens: 0.83
# the last 8 of 48 tokens: 2.99
# the last 8 of 64 tokens: 3.33
# ```
#
# The Llama learns faster here. "The token before this one" is the same rotation everywhere, so what its heads learn at
# one position holds at all others. The GPT has 32 position vectors, and for each of them, its heads have to learn which
# one comes before. (This is one text and one size, and other parts differ, too.)
#
# On longer texts, the loss jumps to that of guessing, and beyond: scores for a distance of 40 were never trained.
# (Large models are trained further on longer texts, often with a larger base or scaled angles, the `rope_scaling` of a
# `config.json`.)

# %% [markdown]
# ## In your own GPT
#
# `headway train` trains your GPT on names, and `headway train --preset llama` trains your Llama on the same batches.
# Width, depth and context are the same, and the Llama has 8% fewer parameters. In one run of 5,000 steps with the
# official solution, the loss on the validation text was 2.05 for the GPT and 2.04 for the Llama.
#
# Your functions also run models that others have trained. `headway import-model FOLDER` reads folders with files like
# those of SmolLM2-135M-Instruct or Llama 3.2 1B: `config.json`, `model.safetensors` and `tokenizer.json`. Then
# `headway generate llama.safetensors` writes with your code, and with a model that was trained to answer, you can talk:
# `headway chat llama.safetensors`.
