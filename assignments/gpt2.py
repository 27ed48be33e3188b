"""GPT-2: a published checkpoint in your own code, from its configuration to the next token."""

# %% [markdown]
# # GPT-2: your code runs a published model
#
# *Assignment 17 of 21 · 3 functions · about 1 h 30 min to write them*
#
# There is a file on the internet that begins with the names of 160 arrays, such as `h.0.attn.c_attn.weight`, (768,
# 2304). No parameter of your GPT has such a name. Yet each of the 124,439,808 parameters in the file has its place in
# your model, and with them, your code writes English.
#
# The file is a checkpoint, the saved parameters of a model: the smallest of the four sizes of GPT-2 (Radford et al.
# 2019). This model has the architecture of your GPT: learned positions, pre-norm blocks, GELU in its tanh form, a tied
# head. Three functions are missing: one reads the settings, one gives the parameters your names, and one computes the
# next token fast enough.
#
# ```text
#     config.json ────────────> gpt2_config ──> config ┐
#     model.safetensors ──────> gpt2_params ──> params ┼─> last_logits ─> next_token_probs ─> sample ┐
#     vocab.json, merges.txt ─> bpe_encode ───> ids ───┘       ^                                     │
#                                                              └──── one new id, and kv <────────────┘
# ```
#
# ![A map of the whole model. Marked: everything from the ids to the scores, whose parameters now come from a
# file.](figures/map-gpt2.svg)
#
# ## Four files
#
# The examples of this lesson use a tiny random model in the same format. If you want the real one, download four files
# of `openai-community/gpt2` from the Hugging Face hub into a folder `gpt2` beside this file. (The long number is the
# version that this lesson was checked with.)
#
# ```bash
# mkdir gpt2
# cd gpt2
# from=https://huggingface.co/openai-community/gpt2/resolve/607a30d783dfa663caf39e06633721c8d4cfcd7e
# for file in config.json model.safetensors vocab.json merges.txt; do curl -LO $from/$file; done
# sha256sum *
# ```
#
# The last command prints these checksums (on macOS, the command is `shasum -a 256 *`):
#
# | file | bytes | SHA-256 |
# |---|---|---|
# | `config.json` | 665 | `0daed7749b4f02b8f76240d5444551d7b08712dab4d0adb8239c56ba823bb7b4` |
# | `model.safetensors` | 548,105,171 | `248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707` |
# | `vocab.json` | 1,042,301 | `196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783` |
# | `merges.txt` | 456,318 | `1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5` |
#
# - `config.json` has the settings: a dictionary, as JSON.
# - `model.safetensors` has the parameters. The format holds names, shapes and numbers, and nothing that could be
#   executed. (Loading a `.bin` file, a Python pickle, can run any code.)
# - `vocab.json` and `merges.txt` belong to the tokenizer of the assignment `bpe`.

# %%
import json
import math
from pathlib import Path

import numpy as np
from attention import attention, causal_mask
from blocks import subset
from embeddings import embed
from ffn import ffn, linear
from gpt import GPTConfig
from layernorm import layernorm
from multihead import merge_heads, split_heads

# %% [markdown]
# ## Three given functions
#
# `read_safetensors` reads the length of a header, then the header, which is JSON, and then the numbers of all tensors,
# one after another. `gpt2_shapes` lists the tensors of a GPT-2 with their shapes. With it you can make a tiny
# checkpoint, or count the parameters of the real one without downloading it. `check_gpt2_settings` belongs to the next
# section.
#
# ```python
# >>> gpt2_small = {
# ...     "model_type": "gpt2", "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05, "vocab_size": 50257,
# ...     "n_positions": 1024, "n_ctx": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12, "resid_pdrop": 0.1,
# ... }  # part of config.json
# >>> shapes = gpt2_shapes(gpt2_small)
# >>> len(shapes), sum(math.prod(shape) for shape in shapes.values())
# (148, 124439808)
# >>> for name in ("wte.weight", "h.0.attn.c_attn.weight", "h.0.attn.c_attn.bias", "h.11.mlp.c_proj.weight"):
# ...     print(f"{name:24}{shapes[name]}")
# wte.weight              (50257, 768)
# h.0.attn.c_attn.weight  (768, 2304)
# h.0.attn.c_attn.bias    (2304,)
# h.11.mlp.c_proj.weight  (3072, 768)
#
# ```

# %%
def read_safetensors(path):
    """Given: return the tensors of a safetensors file, a dictionary of arrays."""
    dtypes = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "U8": "|u1", "BOOL": "|b1"}
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        tensors = {}
        for name, entry in header.items():
            file.seek(8 + length + entry["data_offsets"][0])
            numbers = np.fromfile(file, dtypes[entry["dtype"]], math.prod(entry["shape"]))
            tensors[name] = numbers.reshape(entry["shape"])
    return tensors


def gpt2_shapes(hf_config):
    """Given: return the shape of each tensor of a GPT-2 with these settings; without a separate head."""
    d, f = hf_config["n_embd"], hf_config.get("n_inner") or 4 * hf_config["n_embd"]
    layer = {"ln_1": (d,), "attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d)}
    layer |= {"ln_2": (d,), "mlp.c_fc": (d, f), "mlp.c_proj": (f, d)}
    shapes = {"wte.weight": (hf_config["vocab_size"], d), "wpe.weight": (hf_config["n_positions"], d)}
    for i in range(hf_config["n_layer"]):
        for name, shape in layer.items():
            shapes |= {f"h.{i}.{name}.weight": shape, f"h.{i}.{name}.bias": shape[-1:]}
    return shapes | {"ln_f.weight": (d,), "ln_f.bias": (d,)}


def check_gpt2_settings(hf_config):
    """Given: raise ValueError if a size is missing, or if a setting asks for what this GPT cannot compute."""
    missing = [name for name in ("vocab_size", "n_positions", "n_layer", "n_head", "n_embd") if name not in hf_config]
    if missing:
        raise ValueError(f"the configuration has no {', '.join(missing)}")
    supported = {  # the first value is that of a missing key
        "model_type": ("gpt2",),
        "activation_function": ("gelu_new", "gelu_pytorch_tanh", "relu"),
        "layer_norm_epsilon": (1e-5,),
        "scale_attn_weights": (True,),
        "scale_attn_by_inverse_layer_idx": (False,),
        "add_cross_attention": (False,),
    }
    for key, values in supported.items():
        value = hf_config.get(key, values[0])
        if value not in values:
            raise ValueError(f"{key} is {value!r}, but this GPT needs {' or '.join(map(repr, values))}")


# %% [markdown]
# ## `gpt2_config`
#
# *10 min, straightforward*
#
# The settings in config.json have other names than yours, but the same meaning: `n_embd` is D, `n_positions` is the
# block size. Most other keys have no effect on the scores. (`n_ctx`, an older name for `n_positions`, is missing from
# newer files.)
#
# A few keys *do* change the computation: a checkpoint may ask for the exact GELU, or for another eps in its norms. Your
# GPT cannot compute these, but it would run all the same, with wrong scores. `check_gpt2_settings` raises an error that
# names the key and the value. Call it first; then only the translation is left to write.
#
# ```python
# >>> config = gpt2_config(gpt2_small)
# >>> config.block_size, config.d_model, config.d_ff, config.activation, config.tied
# (1024, 768, 3072, 'gelu', True)
# >>> try:
# ...     gpt2_config(gpt2_small | {"activation_function": "gelu"})
# ... except ValueError as error:
# ...     print("activation_function" in str(error))
# True
#
# ```

# %%
def gpt2_config(hf_config):
    """Return the configuration of a GPT-2 checkpoint as a `GPTConfig`.

        vocab_size = vocab_size      block_size = n_positions    n_layers = n_layer    n_heads = n_head
        d_model = n_embd             d_ff = n_inner              tied = tie_word_embeddings
        activation = "gelu" for "gelu_new" and "gelu_pytorch_tanh", "relu" for "relu"

    Everything else is as in GPT-2, the default of `GPTConfig`; the dropout is 0. Keys that are not mentioned here have
    no effect.

    Args:
        hf_config: the dictionary in config.json. If `n_inner` is missing or None, it is 4 `n_embd`. A missing
            `activation_function` is "gelu_new", and without `tie_word_embeddings` the head is tied.

    Returns:
        A `GPTConfig`.

    Raises:
        ValueError: where `check_gpt2_settings` raises it: if a size is missing, or for a setting that this GPT cannot
            have.
    """
    raise NotImplementedError("gpt2.gpt2_config")


# %% [markdown]
# ## `gpt2_params`
#
# *30 min, needs some thought*
#
# Give each tensor its name in your model:
#
# ![Each tensor of a GPT-2 checkpoint with its shape, and the parameter of the course that it becomes: two tables,
# twelve tensors in each block, and the final norm. A separate head and stored masks are special
# cases.](figures/checkpoint-tensors.svg)
#
# Five details matter:
#
# - **The prefix.** `transformers` saves a language model as `transformer.h.0…` and `lm_head.weight`. In the file on the
#   hub, the names have no prefix. Accept both.
# - **No transposes.** A linear layer of PyTorch stores its matrix as (out, in). GPT-2's code has a layer called Conv1D
#   instead, which stores (in, out), as you do. Only `lm_head.weight` comes from an ordinary linear layer, (V, D).
# - **The order of the columns.** `c_attn` holds queries, keys and values side by side, exactly as your `W_qkv` does.
# - **Buffers.** Old versions of `transformers` saved the causal mask of each block, `h.0.attn.bias`, and a large
#   negative number, `h.0.attn.masked_bias`. Such an array, which belongs to a model without being a parameter, is
#   called a **buffer**. Leave these out. (`h.0.attn.c_attn.bias` is not a buffer.)
# - **The head.** If `lm_head.weight` is there and equal to `wte.weight`, the head is tied, and there is no `W_head`.
#
# Try it with a tiny checkpoint:
#
# ```python
# >>> tiny = {"model_type": "gpt2", "vocab_size": 50, "n_positions": 32, "n_layer": 2, "n_head": 4, "n_embd": 16}
# >>> rng = np.random.default_rng(0)
# >>> tensors = {name: rng.normal(scale=0.3, size=shape) for name, shape in gpt2_shapes(tiny).items()}
# >>> params = gpt2_params(tensors)
# >>> [name for name in params if name.startswith("blocks.1.attn")]
# ['blocks.1.attn.W_qkv', 'blocks.1.attn.b_qkv', 'blocks.1.attn.W_o', 'blocks.1.attn.b_o']
# >>> params["W_tok"] is tensors["wte.weight"]  # the same array under another name: nothing was copied
# True
# >>> from gpt import init_gpt
# >>> params.keys() == init_gpt(gpt2_config(tiny), rng).keys()
# True
#
# ```
#
# A file may be incomplete, or belong to another model. So every tensor that you need must be there, and every tensor
# that is there must be needed.
#
# ```python
# >>> try:
# ...     gpt2_params({"wte.weight": tensors["wte.weight"], "score.weight": np.ones(3)})
# ... except ValueError as error:
# ...     print("wpe.weight" in str(error), "score.weight" in str(error))
# True True
#
# ```

# %%


def gpt2_params(tensors):
    """Return the parameters of a GPT-2 checkpoint under the names of `init_gpt`.

        wte.weight (V, D)                     W_tok        wpe.weight (block_size, D)          W_pos
        h.{i}.ln_1.weight, .bias (D,)         blocks.{i}.ln1.gamma, .beta
        h.{i}.attn.c_attn.weight (D, 3D), .bias (3D,)      blocks.{i}.attn.W_qkv, .b_qkv
        h.{i}.attn.c_proj.weight (D, D), .bias (D,)        blocks.{i}.attn.W_o, .b_o
        h.{i}.ln_2.weight, .bias (D,)         blocks.{i}.ln2.gamma, .beta
        h.{i}.mlp.c_fc.weight (D, F), .bias (F,)           blocks.{i}.ffn.W_1, .b_1
        h.{i}.mlp.c_proj.weight (F, D), .bias (D,)         blocks.{i}.ffn.W_2, .b_2
        ln_f.weight, .bias (D,)               ln_f.gamma, .beta
        lm_head.weight (V, D)                 W_head (D, V), its transpose, unless it equals wte.weight: no W_head then

    Args:
        tensors: dictionary of the arrays in the checkpoint. Each name may begin with `transformer.` or not.
            `lm_head.weight` may be absent. The buffers `h.{i}.attn.bias` and `h.{i}.attn.masked_bias` are left out.

    Returns:
        A dictionary of arrays, in the dtypes of the checkpoint.

    Raises:
        ValueError: if a tensor is missing, or if there is one that a GPT-2 does not have. The message has their
            names, or the first few of many. A GPT-2 has at least one block, and its blocks are numbered without gaps.
    """
    raise NotImplementedError("gpt2.gpt2_params")


# %% [markdown]
# ## `last_logits`
#
# *50 min, needs some thought*
#
# The parameters fit `gpt` and `generate_cached`, which returns a finished text. But a program that prints each token as
# it comes, or that goes on after you have typed another line, must be able to stop between two tokens and continue
# later. So take the heart of `generate_cached` out of its loop: new tokens and the cache `kv` go in, the scores of the
# next token and the new `kv` come out.
#
# ```python
# >>> ids, config = np.array([[7, 3, 9, 9, 1, 4]]), gpt2_config(tiny)
# >>> _, kv = last_logits(ids[:, :3], params, config)  # the prompt: three tokens at once
# >>> _, kv = last_logits(ids[:, 3:4], params, config, kv)  # one more
# >>> logits, kv = last_logits(ids[:, 4:], params, config, kv)  # two more
# >>> logits.shape
# (1, 50)
# >>> from gpt import gpt
# >>> bool(np.allclose(logits, gpt(ids, params, config)[0][:, -1], rtol=0, atol=1e-12))  # all six at once
# True
#
# ```
#
# Think about these before you write:
#
# - **Positions.** With S tokens in the cache, the first new token stands at position S.
# - **The mask.** Several new tokens need one, in the first call and in later ones: with three tokens in the cache and
#   two new ones, the first new token attends to four keys and the second to five.
# - **The cache.** Each block has its own keys and values. Make arrays for all `block_size` positions in the first call
#   and write into them. Appending would copy the whole cache for every token.
# - **The head.** Only the last position goes through it. For a prompt of 1,000 tokens, the other 999 rows of scores
#   would be 50 million numbers for nothing.
#
# The only option of your GPT that matters here is `tied`: GPT-2 is pre-norm, with learned positions and all biases.
#
# When the window is full, `last_logits` raises ValueError. The caller then stops, or starts again with part of the text
# and an empty cache.

# %%


def last_logits(ids, params, config, kv=None):
    """Return the scores for the token after the last one, and a key/value cache for the next call.

    Calls in sequence give the same scores as one call with all the tokens.

    Args:
        ids: token ids, (B, T) with T ≥ 1: those that come after the tokens in the cache. Any number of leading axes,
            the same in every call.
        params: dictionary of the parameters, as `gpt2_params` returns it.
        config: a `GPTConfig`, as `gpt2_config` returns it: pre-norm, with learned positions and all biases except in
            the head, which may be tied or not.
        kv: the key/value cache that the last call returned for the tokens so far. None: there are none so far.

    Returns:
        logits: the scores at the last position, (B, V), in the dtype of the parameters.
        kv: keys and values of all tokens so far; its form is up to you. It may be the one that was passed in, which
            must not be used again.

    Raises:
        ValueError: if T is 0, if more than `config.block_size` tokens would be in the cache, or if an id is negative
            or not below V.
    """
    raise NotImplementedError("gpt2.last_logits")


# %% [markdown]
# ## What is read for each token?
#
# To compute one token, the machine must read every parameter that takes part, and all stored keys and values. In
# `generation`, you counted half an operation per byte. So what limits the speed is not the arithmetic but the **memory
# bandwidth**, the number of bytes the machine can read per second. How many bytes does a token need?
#
# ```python
# >>> def read(*parts):  # bytes of float32 parameters with one of these texts in their names
# ...     return 4 * sum(math.prod(shape) for name, shape in shapes.items() if any(part in name for part in parts))
# >>> f"{read('.attn.'):,} {read('.mlp.'):,} {read('ln_'):,} {read('wte.'):,}"
# '113,393,664 226,676,736 153,600 154,389,504'
# >>> f"{4 * 124_439_808 - read('wpe.'):,}"  # of the table of positions, one row is read: 3 KB
# '494,613,504'
# >>> 2 * 12 * 768 * 4  # a key and a value in each of 12 blocks, for each token in the cache
# 73728
#
# ```
#
# ![The bytes that GPT-2 small reads for one token. Parameters: 113 MB attention, 227 MB feed-forward networks, 154 MB
# head. Keys and values: none at first, 75 MB with a full window.](figures/bytes-per-token.svg)
#
# That is about half a gigabyte per token, so a machine that reads 20 GB per second cannot compute more than 40 tokens
# per second, whatever its processor can do. Even a full cache adds only 15 percent.
#
# What helps? A prompt of T tokens reads the parameters once for all T, and a batch reads them once for all its texts.
# And numbers of 2 bytes, or of 4 bits, are read faster than those of 4 bytes. (NumPy has no fast products for them.)

# %% [markdown]
# ## In your own GPT, and in the real one
#
# Every block adds to the same residual stream, and the head reads it after the last one. What would the model predict
# if it ended earlier? Apply the final norm and the head to the stream after each block: this is called the **logit
# lens**. `headway plot logit-lens` shows the most likely token after each block, at every position, for the GPT that
# you trained. To see the real model, import it with `headway import-model gpt2`, and add
# `--checkpoint gpt2.safetensors --text "The capital of France is"`.

# %% [markdown]
# ## On paper
#
# 1. The four matrices of a block have 12 D² entries, with F = 4 D. How many bytes do those of all 12 blocks of GPT-2
#    small take in float32? What share of the 494.6 MB is that?
# 2. There are S tokens in the cache and T new ones. What shape does the mask have, and how many of its entries are
#    True? Check your formula with S = 3 and T = 2, and with S = 0.
# 3. A machine reads 25 GB per second. At most how many tokens per second can it compute for one text with an empty
#    cache? And how many for a batch of 8 texts with 1,000 tokens each in the cache? (A step then reads the parameters
#    once and eight caches, and computes eight tokens.)

# %% [markdown]
# ## Answers on paper
#
# **1. 340 MB, 69 percent.** Nearly all of the rest is the head.
#
# ```python
# >>> 4 * 12 * 12 * 768**2, round(4 * 12 * 12 * 768**2 / 494_613_504, 2)
# (339738624, 0.69)
#
# ```
#
# **2. It is (T, S + T), with T S + T (T + 1) / 2 entries that are True.** The rectangle of the old keys, on the left,
# is all True; in the square on the right, a triangle is.
#
# ```python
# >>> causal_mask(2, 5).astype(int)
# array([[1, 1, 1, 1, 0],
#        [1, 1, 1, 1, 1]])
# >>> all(causal_mask(T, S + T).sum() == T * S + T * (T + 1) // 2 for S in range(5) for T in range(1, 5))
# True
#
# ```
#
# **3. 50 tokens per second, and 184.** The batch reads 1,084 MB for each step, which is 23 steps of eight tokens. The
# cache now makes up more than half of that.
#
# ```python
# >>> per_step = 494_613_504 + 8 * 1000 * 73_728
# >>> int(25e9 / 494_613_504), int(25e9 / per_step * 8)
# (50, 184)
#
# ```

# %% [markdown]
# ## What could go wrong
#
# If a check fails, look for your mistake here. The report uses the same words.
#
# - `gpt2_config`: **settings that this GPT cannot have were accepted.** The model would run, with wrong scores, and
#   nothing would say so.
# - `gpt2_params`: **names that begin with `transformer.` were not recognized.** transformers saves a language model
#   with this prefix, and the file on the hub does not have it.
# - `gpt2_params`: **every name that ends with attn.bias was left out, and with it h.{i}.attn.c_attn.bias.** c_attn.bias
#   is the bias of queries, keys and values. Only attn.bias is a buffer.
# - `gpt2_params`: **the matrices of the blocks were transposed.** A linear layer of PyTorch stores (out, in), but GPT-2
#   has the layer Conv1D, which stores (in, out) as you do.
# - `gpt2_params`: **the numbers of the blocks were compared as text, where "9" comes after "11".** With more than ten
#   blocks, the last ones are lost.
# - `last_logits`: **the new tokens were embedded as if they stood at position 0.** The tokens in the cache come before
#   them.
# - `last_logits`: **several new tokens after others attended to each other without a mask.** The first of them must not
#   attend to the second. With one new token at a time, the mistake does not show.

# %% [markdown]
# ## Try it
#
# Let a tiny random checkpoint write 20 tokens, greedily and with the cache. Then do it again with three that were read
# wrongly.
#
# **Guess first.** Which of the three raises an exception? How many of the 20 tokens will be the same as before?
#
# If there is a folder `gpt2` with the four files, the real model continues a sentence as well. Once it is imported,
# `headway generate gpt2.safetensors --prompt "Hello"` writes longer texts with your functions, token by token.
#
# Run it: `headway experiment gpt2`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    tiny = {"model_type": "gpt2", "vocab_size": 50, "n_positions": 32, "n_layer": 2, "n_head": 4, "n_embd": 16}
    rng = np.random.default_rng(0)
    right = {key: rng.normal(scale=0.1 if "bias" in key else 0.5, size=n) for key, n in gpt2_shapes(tiny).items()}

    def write(tensors, hf_config, ids, n_new):
        params, config, kv, text = gpt2_params(tensors), gpt2_config(hf_config), None, []
        for _ in range(n_new):
            logits, kv = last_logits([ids], params, config, kv)
            ids = [int(logits[0].argmax())]
            text += ids
        return text

    def exchanged(first, second):
        swap = {first: second, second: first}
        return {name: right[".".join(swap.get(part, part) for part in name.split("."))] for name in right}

    print(expected := write(right, tiny, [7, 3, 9], 20))
    transposed = {name: tensor.T if "attn.c_proj.weight" in name else tensor for name, tensor in right.items()}
    for wrong in (transposed, exchanged("ln_1", "ln_2"), exchanged("0", "1")):
        print(np.equal(expected, write(wrong, tiny, [7, 3, 9], 20)).sum(), "of 20 tokens are the same")
    if (folder := Path("gpt2")).is_dir():
        from bpe import bpe_decode, bpe_encode

        settings, vocab = (json.loads((folder / name).read_text("utf-8")) for name in ("config.json", "vocab.json"))
        merges = [tuple(line.split(" ")) for line in (folder / "merges.txt").read_text("utf-8").split("\n")[1:-1]]
        ids = bpe_encode("A transformer is", vocab, merges).tolist()
        print(bpe_decode(ids + write(read_safetensors(folder / "model.safetensors"), settings, ids, 30), vocab))


# %% [markdown]
# ## What came out
#
# ```text
# [23, 32, 47, 32, 47, 47, 47, 32, 47, 47, 32, 45, 7, 15, 47, 45, 23, 47, 47, 32]
# 0 of 20 tokens are the same
# 0 of 20 tokens are the same
# 0 of 20 tokens are the same
# ```
#
# No exception: the output matrix of attention is square, the two norms of a block have the same shapes, and so do all
# blocks. With a trained model, a bad mistake spoils the text, but a small one, such as the other form of GELU, does
# not. So compare *numbers* with an implementation that you trust, as the checks do.
#
# 1. Which tensors of GPT-2 small could be transposed without an exception?
# 2. The window of the tiny model has 32 positions. What happens if you let it write 31 tokens after the prompt of
#    three?
# 3. GPT-2 has four sizes: D = 768, 1,024, 1,280 and 1,600, with 12, 24, 36 and 48 blocks (Radford et al. 2019, table
#    2). How many parameters do they have, with the same vocabulary and the same 1,024 positions?

# %% [markdown]
# ## Answers
#
# **1. The output matrix of attention, in each of the 12 blocks.** All other matrices have axes of different lengths.
#
# ```python
# >>> gpt2_small = {"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12}
# >>> square = {name for name, shape in gpt2_shapes(gpt2_small).items() if len(shape) == 2 and shape[0] == shape[1]}
# >>> len(square), sorted({name.split(".", 2)[2] for name in square})
# (12, ['attn.c_proj.weight'])
#
# ```
#
# **2. The last call raises ValueError.** Token 30 is computed from the prompt and 29 new tokens, 32 tokens in all. For
# token 31, there is no position left.
#
# ```python
# >>> len(write(right, tiny, [7, 3, 9], 30))
# 30
# >>> write(right, tiny, [7, 3, 9], 31)
# Traceback (most recent call last):
#     ...
# ValueError: 33 tokens do not fit into the block size of 32
#
# ```
#
# **3. 124, 355, 774 and 1,558 million.** (The paper's table has slightly smaller numbers.) In float32, the largest one
# takes 6.2 GB.
#
# ```python
# >>> for d, layers in ((768, 12), (1024, 24), (1280, 36), (1600, 48)):
# ...     sizes = gpt2_small | {"n_embd": d, "n_layer": layers}
# ...     print(f"{sum(math.prod(shape) for shape in gpt2_shapes(sizes).values()):,}")
# 124,439,808
# 354,823,168
# 774,030,080
# 1,557,611,200
#
# ```

# %% [markdown]
# ## Going faster
#
# Nearly all of the time should go into the products with the matrices, which read the bytes that you have counted. In
# the solution, about nine tenths do, for one text and one thread at the size of GPT-2 small. These numbers are from one
# machine; measure yours:
#
# - **The cache in fixed arrays.** With 1,000 tokens in the cache, appending with `np.concatenate` took longer than all
#   matrix products together.
# - **The head for one position.** For a prompt of 1,000 tokens, the scores of all positions took 70 times as long as
#   those of the last one.
# - **float32.** In float64, the products took nearly twice as long.
# - **The order of the table.** The head multiplies the table (V, D) by one vector. NumPy read 17 GB per second when the
#   numbers of one feature lay side by side in memory, and 11 GB when those of one token did, as in the checkpoint. So
#   `headway import-model` stores the table transposed, as (D, V), and gives your functions the transpose of that.
