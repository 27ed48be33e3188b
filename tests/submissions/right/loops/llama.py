"""One text after the other, block by block."""

from dataclasses import dataclass

import numpy as np
from generation import next_token_probs, sample
from layernorm import rmsnorm, rmsnorm_backward
from llama_layers import grouped_query_attention, grouped_query_attention_backward, swiglu, swiglu_backward


@dataclass(frozen=True)
class LlamaConfig:
    vocab_size: int
    block_size: int
    n_layers: int = 4
    n_heads: int = 4
    n_kv_heads: int = 2
    d_model: int = 64
    d_ff: int | None = None
    rope_base: float = 10000.0
    norm_eps: float = 1e-5
    tied: bool = False
    init_std: float = 0.02


def _block_part(params, first):
    part = {}
    for name in params:
        if name.startswith(first):
            part[name[len(first) :]] = params[name]
    return part


def _one_block(x, params, config, mask):
    eps = config.norm_eps
    rows = []
    for row in x:
        rows.append(rmsnorm(row, params["norm1.gamma"], eps))
    attended, attn = grouped_query_attention(
        np.stack(rows),
        _block_part(params, "attn."),
        config.n_heads,
        config.n_kv_heads,
        mask,
        np.arange(len(x)),
        config.rope_base,
    )
    middle, out, ffns = np.empty_like(attended), np.empty_like(attended), []
    for t in range(len(x)):
        middle[t] = x[t] + attended[t]
        added, ffn = swiglu(rmsnorm(middle[t], params["norm2.gamma"], eps), _block_part(params, "ffn."))
        ffns.append(ffn)
        out[t] = middle[t] + added
    return out, middle, attn, ffns


def llama_block(x, params, config, mask=None):
    x = np.asarray(x)
    *batch, length, width = x.shape
    texts = x.reshape(-1, length, width)
    masks = [None] * len(texts)
    if mask is not None:
        masks = np.broadcast_to(mask, (*batch, config.n_heads, length, length))
        masks = masks.reshape(-1, config.n_heads, length, length)
    runs = []
    for text, one in zip(texts, masks):
        runs.append(_one_block(text, params, config, one))
    out = np.stack([run[0] for run in runs]).reshape(x.shape)
    cache = {
        "weights": np.stack([run[2]["weights"] for run in runs]).reshape(*batch, config.n_heads, length, length),
        "after_attention": np.stack([run[1] for run in runs]).reshape(x.shape),
        "after_ffn": out,
        "texts": texts,
        "runs": runs,
        "params": params,
        "eps": config.norm_eps,
    }
    return out, cache


def _one_block_backward(dout, x, run, params, eps, total):
    _, middle, attn, ffns = run
    dmiddle = np.empty_like(dout)
    for t in range(len(dout)):
        back, grads = swiglu_backward(dout[t], ffns[t])
        back, total["norm2.gamma"][t] = rmsnorm_backward(back, middle[t], params["norm2.gamma"], eps)
        dmiddle[t] = dout[t] + back
        for name in grads:
            total["ffn." + name] = total["ffn." + name] + grads[name]
    back, grads = grouped_query_attention_backward(dmiddle, attn)
    for name in grads:
        total["attn." + name] = total["attn." + name] + grads[name]
    dx = np.empty_like(dout)
    for t in range(len(dout)):
        dnormed, total["norm1.gamma"][t] = rmsnorm_backward(back[t], x[t], params["norm1.gamma"], eps)
        dx[t] = dmiddle[t] + dnormed
    return dx


def llama_block_backward(dout, cache):
    params = cache["params"]
    sums = {name: np.zeros_like(params[name]) for name in params}
    dx = []
    for d, x, run in zip(dout.reshape(cache["texts"].shape), cache["texts"], cache["runs"]):
        total = {name: np.zeros_like(params[name]) for name in params}
        for name in ("norm1.gamma", "norm2.gamma"):
            total[name] = np.zeros_like(d)
        dx.append(_one_block_backward(d, x, run, params, cache["eps"], total))
        for name in params:
            sums[name] += total[name].sum(axis=0) if "gamma" in name else total[name]
    return np.stack(dx).reshape(dout.shape), sums


def llama(ids, params, config):
    ids = np.asarray(ids)
    if ids.shape[-1] > config.block_size:
        raise ValueError("too long")
    x = np.empty((*ids.shape, config.d_model), dtype=params["W_tok"].dtype)
    for place in np.ndindex(ids.shape):
        if not 0 <= ids[place] < config.vocab_size:
            raise ValueError("no such id")
        x[place] = params["W_tok"][ids[place]]
    see = np.zeros((ids.shape[-1], ids.shape[-1]), dtype=bool)
    for t in range(len(see)):
        see[t, : t + 1] = True
    cache = {"embedded": x, "blocks": [], "ids": ids, "params": params, "config": config}
    for i in range(config.n_layers):
        x, one = llama_block(x, _block_part(params, f"blocks.{i}."), config, see)
        cache["blocks"].append(one)
        for stage in ("weights", "after_attention", "after_ffn"):
            cache[f"blocks.{i}.{stage}"] = one[stage]
    cache["final_norm"] = rmsnorm(x, params["norm_f.gamma"], config.norm_eps)
    logits = np.empty((*ids.shape, config.vocab_size), dtype=x.dtype)
    for v in range(config.vocab_size):
        column = params["W_tok"][v] if config.tied else params["W_head"][:, v]
        logits[..., v] = (cache["final_norm"] * column).sum(axis=-1)
    return logits, cache


def llama_backward(dlogits, cache):
    ids, params, config = cache["ids"], cache["params"], cache["config"]
    grads = {name: np.zeros_like(params[name]) for name in params}
    final, dfinal = cache["final_norm"], np.zeros_like(cache["final_norm"])
    for v in range(config.vocab_size):
        d = dlogits[..., v, None]
        gradient = (final * d).reshape(-1, config.d_model).sum(axis=0)
        if config.tied:
            dfinal += d * params["W_tok"][v]
            grads["W_tok"][v] += gradient
        else:
            dfinal += d * params["W_head"][:, v]
            grads["W_head"][:, v] = gradient
    last = cache["blocks"][-1]["after_ffn"]
    dx, grads["norm_f.gamma"] = rmsnorm_backward(dfinal, last, params["norm_f.gamma"], config.norm_eps)
    for i in range(config.n_layers - 1, -1, -1):
        dx, found = llama_block_backward(dx, cache["blocks"][i])
        for name in found:
            grads[f"blocks.{i}.{name}"] = found[name]
    for place in np.ndindex(ids.shape):
        grads["W_tok"][ids[place]] += dx[place]
    return grads


def llama_config(hf_config):
    given = {name: value for name, value in hf_config.items() if value is not None}
    values = {}
    for ours, theirs in [
        ("vocab_size", "vocab_size"),
        ("block_size", "max_position_embeddings"),
        ("n_layers", "num_hidden_layers"),
        ("n_heads", "num_attention_heads"),
        ("d_model", "hidden_size"),
        ("d_ff", "intermediate_size"),
    ]:
        if theirs not in given:
            raise ValueError(f"there is no {theirs}")
        values[ours] = given[theirs]
    size = values["d_model"] // values["n_heads"]
    if given.get("model_type") != "llama":
        raise ValueError(f"model_type {given.get('model_type')}")
    for name, allowed in [("hidden_act", "silu"), ("attention_bias", False), ("mlp_bias", False), ("head_dim", size)]:
        if given.get(name, allowed) != allowed:
            raise ValueError(f"{name} {given[name]}")
    base, scaling = given.get("rope_theta", 10000.0), None
    for name in ("rope_scaling", "rope_parameters"):
        rope = given.get(name, {})
        base = rope.get("rope_theta", base)
        kinds = {rope[key] for key in ("rope_type", "type") if key in rope}
        if kinds == {"llama3"} and "low_freq_factor" in rope:
            scaling = rope
        elif not kinds <= {"default"}:
            raise ValueError(f"{name}: {kinds} without all of its numbers")
    if scaling is not None:
        base = scaled(base, size, scaling)
    values["n_kv_heads"] = given.get("num_key_value_heads", values["n_heads"])
    values["norm_eps"] = given.get("rms_norm_eps", 1e-6)
    return LlamaConfig(rope_base=base, tied=given.get("tie_word_embeddings", False), **values)


def scaled(base, size, scaling):
    speeds = []
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    for i in range(size // 2):
        speed = 1 / base ** (2 * i / size)
        turns = speed * scaling["original_max_position_embeddings"] / (2 * np.pi)
        if turns < low:
            speed = speed / scaling["factor"]
        elif turns < high:
            kept = (turns - low) / (high - low)
            speed = speed * (kept + (1 - kept) / scaling["factor"])
        speeds.append(float(speed))
    return tuple(speeds)


def _names_here(tensors):
    """The names here of all tensors of the blocks that the file begins, by the names there."""
    names = {"embed_tokens": "W_tok", "norm": "norm_f.gamma"}
    blocks = [int(name.split(".")[1]) for name in tensors if name.startswith("layers.")]
    for i in range(max(blocks, default=0) + 1):
        names[f"layers.{i}.input_layernorm"] = f"blocks.{i}.norm1.gamma"
        names[f"layers.{i}.post_attention_layernorm"] = f"blocks.{i}.norm2.gamma"
        for layer, part, letters in [("self_attn", "attn", "q k v o"), ("mlp", "ffn", "gate up down")]:
            for letter in letters.split():
                names[f"layers.{i}.{layer}.{letter}_proj"] = f"blocks.{i}.{part}.W_{letter}"
    return {f"{theirs}.weight": ours for theirs, ours in names.items()}


def llama_params(tensors):
    tensors = {name.removeprefix("model."): tensors[name] for name in tensors if not name.endswith("inv_freq")}
    names, params = _names_here(tensors), {}
    for theirs in names:
        if theirs not in tensors:
            raise ValueError(f"there is no {theirs}")
    names["lm_head.weight"] = "W_head"
    for theirs, tensor in tensors.items():
        if theirs not in names:
            raise ValueError(f"what is {theirs}?")
        array = np.asarray(tensor)
        if array.dtype == np.uint16:
            halves = np.zeros((*array.shape, 2), dtype="<u2")
            halves[..., 1] = array
            array = halves.view("<f4")[..., 0]
        if names[theirs] != "W_tok" and array.ndim == 2:
            columns = np.empty(array.shape[::-1], dtype=array.dtype)
            for i in range(len(array)):
                columns[:, i] = array[i]
            array = columns
        params[names[theirs]] = array
    return params


def generate_llama(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    ids = np.asarray(ids)
    if ids.shape[-1] == 0 or n_new < 0:
        raise ValueError("nothing to do")
    out = np.zeros((*ids.shape[:-1], ids.shape[-1] + n_new), dtype=np.int64)
    out[..., : ids.shape[-1]] = ids
    for end in range(ids.shape[-1], out.shape[-1]):
        logits, _ = llama(out[..., max(0, end - config.block_size) : end], params, config)
        out[..., end] = sample(next_token_probs(logits[..., -1, :], temperature, top_k, top_p), rng)
    return out
