"""GPT-2: a published checkpoint in your own code, from its configuration to the next token."""

# %% [markdown]
# # GPT-2: your code runs a published model

# %%
import numpy as np
from attention import attention, causal_mask
from blocks import subset
from embeddings import embed, sinusoidal_positions
from ffn import ffn, linear
from gpt import GPTConfig
from layernorm import layernorm
from multihead import merge_heads, split_heads

# %% [markdown]
# ## `gpt2_config`


# %%
def gpt2_config(hf_config):
    """Return the configuration of a GPT-2 checkpoint as a `GPTConfig`.

        vocab_size = vocab_size      block_size = n_positions    n_layers = n_layer    n_heads = n_head
        d_model = n_embd             d_ff = n_inner              tied = tie_word_embeddings
        activation = "gelu" for "gelu_new" and "gelu_pytorch_tanh", "relu" for "relu"

    Everything else is as in GPT-2, the default of `GPTConfig`; the dropout is 0. Keys that are not mentioned here have
    no effect.

    Args:
        hf_config: the dictionary in config.json. The five sizes `vocab_size`, `n_positions`, `n_layer`, `n_head` and
            `n_embd` must be there. If `n_inner` is missing or None, it is 4 `n_embd`. Other keys that are missing have
            the values of GPT-2: "gelu_new" and a tied head, and the settings listed under "Raises".

    Returns:
        A `GPTConfig`.

    Raises:
        ValueError: if a size is missing, with its name in the message. Also for a setting that this GPT cannot
            have, with the key and the value in the message: a `model_type` other than "gpt2"; another
            `activation_function`, such as "gelu", the exact form; a `layer_norm_epsilon` other than 1e-5;
            `scale_attn_weights` other than True; `scale_attn_by_inverse_layer_idx` or `add_cross_attention` other than
            False.
    """
    missing = [name for name in ("vocab_size", "n_positions", "n_layer", "n_head", "n_embd") if name not in hf_config]
    if missing:
        raise ValueError(f"the configuration has no {', '.join(missing)}")
    activations = {"gelu_new": "gelu", "gelu_pytorch_tanh": "gelu", "relu": "relu"}
    supported = {  # the first value is that of a missing key
        "model_type": ("gpt2",),
        "activation_function": tuple(activations),
        "layer_norm_epsilon": (1e-5,),
        "scale_attn_weights": (True,),
        "scale_attn_by_inverse_layer_idx": (False,),
        "add_cross_attention": (False,),
    }
    for key, values in supported.items():
        value = hf_config.get(key, values[0])
        if value not in values:
            raise ValueError(f"{key} is {value!r}, but this GPT needs {' or '.join(map(repr, values))}")
    return GPTConfig(
        vocab_size=hf_config["vocab_size"],
        block_size=hf_config["n_positions"],
        n_layers=hf_config["n_layer"],
        n_heads=hf_config["n_head"],
        d_model=hf_config["n_embd"],
        d_ff=hf_config.get("n_inner"),
        activation=activations[hf_config.get("activation_function", "gelu_new")],
        tied=hf_config.get("tie_word_embeddings", True),
    )


# %% [markdown]
# ## `gpt2_params`


# %%
def _first_few(names):
    """Return the first five names as text, and the number of the others."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more if names else "none"


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
    tensors = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    numbers = [name.split(".")[1] for name in tensors if name.startswith("h.")]
    n_layers = 1 + max((int(number) for number in numbers if number.isdecimal()), default=0)
    names = {"W_tok": "wte.weight", "W_pos": "wpe.weight", "ln_f.gamma": "ln_f.weight", "ln_f.beta": "ln_f.bias"}
    ignored = {"lm_head.weight"}
    for i in range(n_layers):
        names[f"blocks.{i}.ln1.gamma"] = f"h.{i}.ln_1.weight"
        names[f"blocks.{i}.ln1.beta"] = f"h.{i}.ln_1.bias"
        names[f"blocks.{i}.attn.W_qkv"] = f"h.{i}.attn.c_attn.weight"
        names[f"blocks.{i}.attn.b_qkv"] = f"h.{i}.attn.c_attn.bias"
        names[f"blocks.{i}.attn.W_o"] = f"h.{i}.attn.c_proj.weight"
        names[f"blocks.{i}.attn.b_o"] = f"h.{i}.attn.c_proj.bias"
        names[f"blocks.{i}.ln2.gamma"] = f"h.{i}.ln_2.weight"
        names[f"blocks.{i}.ln2.beta"] = f"h.{i}.ln_2.bias"
        names[f"blocks.{i}.ffn.W_1"] = f"h.{i}.mlp.c_fc.weight"
        names[f"blocks.{i}.ffn.b_1"] = f"h.{i}.mlp.c_fc.bias"
        names[f"blocks.{i}.ffn.W_2"] = f"h.{i}.mlp.c_proj.weight"
        names[f"blocks.{i}.ffn.b_2"] = f"h.{i}.mlp.c_proj.bias"
        ignored |= {f"h.{i}.attn.bias", f"h.{i}.attn.masked_bias"}
    missing = [name for name in names.values() if name not in tensors]
    unknown = sorted(tensors.keys() - ignored - set(names.values()))
    if missing or unknown:
        raise ValueError(f"missing tensors: {_first_few(missing)}; unknown tensors: {_first_few(unknown)}")
    params = {ours: tensors[theirs] for ours, theirs in names.items()}
    head = tensors.get("lm_head.weight")
    if head is not None and not np.array_equal(head, params["W_tok"]):
        params["W_head"] = head.T
    return params


# %% [markdown]
# ## `last_logits`


# %%
def _empty_cache(batch, params, config):
    """Return a cache without tokens, with room for the keys and values of `block_size` positions in every block."""
    shape = (config.n_layers, *batch, config.n_heads, config.block_size, config.d_model // config.n_heads)
    dtype = params["W_tok"].dtype
    return {"length": 0, "keys": np.empty(shape, dtype), "values": np.empty(shape, dtype)}  # (L, B, H, block_size, K)


def last_logits(ids, params, config, cache=None):
    """Return the scores for the token after the last one, and a key/value cache for the next call.

    Calls in sequence give the same scores as one call with all the tokens.

    Args:
        ids: token ids, (B, T) with T ≥ 1: those that come after the tokens in the cache. Any number of leading axes,
            the same in every call.
        params: dictionary of the GPT's parameters.
        config: a `GPTConfig`, with any options that `gpt` has; nothing is dropped.
        cache: the cache that the last call returned for the tokens so far. None: there are none so far.

    Returns:
        logits: the scores at the last position, (B, V), in the dtype of the parameters.
        cache: keys and values of all tokens so far; its form is up to you. It may be the one that was passed in, which
            must not be used again.

    Raises:
        ValueError: if T is 0, if more than `config.block_size` tokens would be in the cache, or if an id is negative
            or not below V.
    """
    ids = np.asarray(ids)
    if cache is None:
        cache = _empty_cache(ids.shape[:-1], params, config)
    start, keys, values = cache["length"], cache["keys"], cache["values"]
    end = start + ids.shape[-1]  # S, the number of tokens so far
    if start == end:
        raise ValueError("there must be at least one new token")
    if end > config.block_size:
        raise ValueError(f"{end} tokens do not fit into the block size of {config.block_size}")
    mask = causal_mask(end - start, end)  # (T, S)
    if config.positions == "learned":
        positions = params["W_pos"]  # (block_size, D)
    else:
        positions = sinusoidal_positions(end, config.d_model).astype(params["W_tok"].dtype)  # (S, D)
    x = embed(ids, params["W_tok"], positions[start:])  # (B, T, D)
    pre = config.norm == "pre"
    for i in range(config.n_layers):
        layer = subset(params, f"blocks.{i}.")
        ln1, ln2 = subset(layer, "ln1."), subset(layer, "ln2.")
        normed = layernorm(x, **ln1) if pre else x
        qkv = linear(normed, layer["attn.W_qkv"], layer.get("attn.b_qkv"))  # (B, T, 3D)
        q, k, v = (split_heads(part, config.n_heads) for part in np.split(qkv, 3, axis=-1))  # (B, H, T, K)
        keys[i, ..., start:end, :] = k
        values[i, ..., start:end, :] = v
        heads, _ = attention(q, keys[i, ..., :end, :], values[i, ..., :end, :], mask)  # (B, H, T, K)
        x = x + linear(merge_heads(heads), layer["attn.W_o"], layer.get("attn.b_o"))
        x = x if pre else layernorm(x, **ln1)
        normed = layernorm(x, **ln2) if pre else x
        x = x + ffn(normed, subset(layer, "ffn."), config.activation)[0]
        x = x if pre else layernorm(x, **ln2)
    last = x[..., -1, :]  # (B, D)
    if pre:
        last = layernorm(last, **subset(params, "ln_f."))
    logits = linear(last, params["W_tok"].T if config.tied else params["W_head"], params.get("b_head"))  # (B, V)
    return logits, {"length": end, "keys": keys, "values": values}
