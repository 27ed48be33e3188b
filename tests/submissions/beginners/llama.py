"""Wrong answers to `llama` as beginners write them; the docstring is what the report should call them."""

import math

import numpy as np
from attention import attention, attention_backward, causal_mask
from blocks import prefixed
from embeddings import embed_tokens, embed_tokens_backward
from ffn import linear_backward
from generation import next_token_probs, sample
from layernorm import rmsnorm, rmsnorm_backward
from llama import (
    grouped_query_attention,
    grouped_query_attention_backward,
    llama_block_backward,
    llama_config,
    llama_params,
    rope,
    rope_backward,
    silu,
    silu_backward,
    swiglu,
    swiglu_backward,
)
from multihead import merge_heads, split_heads
from softmax import as_float

def _rotate_half(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)

def _table(positions, K, base, dtype):
    inv_freq = 1.0 / (base ** (np.arange(0, K, 2) / K))
    freqs = np.outer(positions, inv_freq)
    emb = np.concatenate([freqs, freqs], axis=-1)
    return np.cos(emb).astype(dtype), np.sin(emb).astype(dtype)

def rope__odd_accepted(x, positions, base=10000.0):
    """effect-error-not-raised"""
    x = as_float(x)
    cos, sin = _table(positions, x.shape[-1], base, x.dtype)
    return x * cos + _rotate_half(x) * sin

def rope__interleaved(x, positions, base=10000.0):
    """interleaved"""
    x = as_float(x)
    K = x.shape[-1]
    if K % 2:
        raise ValueError("odd")
    angles = np.outer(positions, base ** (-np.arange(0, K, 2) / K))
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    out = np.empty_like(x)
    out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return out

def rope__table_of_interleaved(x, positions, base=10000.0):
    """angles-of-interleaved"""
    x = as_float(x)
    K = x.shape[-1]
    if K % 2:
        raise ValueError("odd")
    angles = np.repeat(np.outer(positions, base ** (-np.arange(0, K, 2) / K)), 2, axis=-1)
    return x * np.cos(angles).astype(x.dtype) + _rotate_half(x) * np.sin(angles).astype(x.dtype)

@variants(
    half_with_minus_below=("reversed", "x[..., :half]", "-x[..., :half]"),
)
def rope__half_without_minus(x, positions, base=10000.0):
    """minus-missing"""
    x = as_float(x)
    if x.shape[-1] % 2:
        raise ValueError("odd")
    cos, sin = _table(positions, x.shape[-1], base, x.dtype)
    half = x.shape[-1] // 2
    return x * cos + np.concatenate([x[..., half:], x[..., :half]], axis=-1) * sin

def rope__i_over_k(x, positions, base=10000.0):
    """half-the-exponent"""
    x = as_float(x)
    K = x.shape[-1]
    if K % 2:
        raise ValueError("odd")
    angles = np.asarray(positions)[:, None] / base ** (np.arange(K // 2) / K)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    a, b = x[..., : K // 2], x[..., K // 2 :]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)

def rope__float64_and_arange(x, positions, base=10000.0):
    """positions-ignored"""
    K, T = x.shape[-1], x.shape[-2]
    if K % 2:
        raise ValueError("odd")
    x = as_float(x)
    cos, sin = _table(np.arange(T), K, base, x.dtype)
    return x * cos + _rotate_half(x) * sin

def rope__in_place(x, positions, base=10000.0):
    """rotated-with-new-first"""
    x = as_float(x)
    K = x.shape[-1]
    if K % 2:
        raise ValueError("odd")
    out = x.copy()
    cos, sin = _table(positions, K, base, x.dtype)
    cos, sin = cos[:, : K // 2], sin[:, : K // 2]
    out[..., : K // 2] = out[..., : K // 2] * cos - out[..., K // 2 :] * sin
    out[..., K // 2 :] = out[..., : K // 2] * sin + out[..., K // 2 :] * cos
    return out

def rope__constant_base(x, positions, base=10000.0):
    """base-ignored"""
    x = as_float(x)
    if x.shape[-1] % 2:
        raise ValueError("odd")
    cos, sin = _table(positions, x.shape[-1], 10000, x.dtype)
    return x * cos + _rotate_half(x) * sin

@variants(
    base_lost=("base-ignored", "(dout, positions, base)", "(dout, -np.asarray(positions))"),
    identity=("passed-through", "rope(dout, positions, base)", "dout.copy()"),
)
def rope_backward__forward(dout, positions, base=10000.0):
    """rotated-forward"""
    return rope(dout, positions, base)

def silu__overflow(x):
    """overflow"""
    x = as_float(x)
    return x * np.exp(x) / (1 + np.exp(x))

def silu__sigmoid(x):
    """sigmoid-alone"""
    return 1 / (1 + np.exp(-as_float(x)))

def silu__quick_gelu(x):
    """sigmoid-form-of-gelu"""
    x = as_float(x)
    return x / (1 + np.exp(-1.702 * x))

def silu_backward__product_rule_forgotten(dout, x):
    """gate-constant"""
    return dout / (1 + np.exp(-x))

def silu_backward__sigmoid(dout, x):
    """slope-of-sigmoid"""
    s = 1 / (1 + np.exp(-x))
    return dout * s * (1 - s)

def silu_backward__quotient_rule(dout, x):
    """overflow-of-both"""
    e = np.exp(-x)
    return dout * (1 / (1 + e) + x * e / (1 + e) ** 2)

def swiglu__exchanged(x, params):
    """gate-and-up-exchanged"""
    g, u = x @ params["W_gate"], x @ params["W_up"]
    return (g * silu(u)) @ params["W_down"], (x, params)

def swiglu__sigmoid_gate(x, params):
    """sigmoid"""
    g, u = x @ params["W_gate"], x @ params["W_up"]
    return (u / (1 + np.exp(-g))) @ params["W_down"], (x, params)

def swiglu__product_first(x, params):
    """silu-of-product"""
    return silu((x @ params["W_gate"]) * (x @ params["W_up"])) @ params["W_down"], (x, params)

def _swiglu_backward(dout, cache, up=True, opened=True, slope=True, ways=2):
    x, params = cache["x"], cache["params"]
    g, u = x @ params["W_gate"], x @ params["W_up"]
    h = silu(g) * u
    dh, dW_down, _ = linear_backward(dout, h, params["W_down"])
    ds = dh * u if up else dh
    dg = silu_backward(ds, g) if slope else ds
    du = dh * silu(g) if opened else dh
    dx, dW_gate, _ = linear_backward(dg, x, params["W_gate"])
    other, dW_up, _ = linear_backward(du, x, params["W_up"])
    return dx + other if ways == 2 else other, {"W_gate": dW_gate, "W_up": dW_up, "W_down": dW_down}

@variants(
    no_up=("gate-without-up", "slope=", "up="),
    no_gate=("up-without-gate", "slope=", "opened="),
    one_way=("dx-up-only", "slope=False", "ways=1"),
)
def swiglu_backward__no_slope(dout, cache):
    """silu-skipped"""
    return _swiglu_backward(dout, cache, slope=False)

def _gqa(x, params, H, G, mask, positions, base, tile=False, rotate_v=False, whole=False, scale=None):
    if x.shape[-1] % H or H % G:
        raise ValueError("heads")
    if positions is None:
        positions = np.arange(x.shape[-2])
    q, k, v = x @ params["W_q"], x @ params["W_k"], x @ params["W_v"]
    if whole:
        q, k = rope(q, positions, base), rope(k, positions, base)
    q, k, v = split_heads(q, H), split_heads(k, G), split_heads(v, G)
    if not whole:
        q, k = rope(q, positions, base), rope(k, positions, base)
    if rotate_v:
        v = rope(v, positions, base)
    if tile:
        k, v = (np.concatenate([a] * (H // G), axis=-3) for a in (k, v))
    else:
        k, v = (np.repeat(a, H // G, axis=-3) for a in (k, v))
    if scale is not None:
        q = q * scale
    heads, weights = attention(q, k, v, mask)
    return merge_heads(heads) @ params["W_o"], {"weights": weights}

@variants(
    values_too=("values-rotated", ", tile=", ", rotate_v="),
    before_split=("rotated-before-splitting", ", tile=", ", whole="),
    width=("scaled-by-width", "tile=True", "scale=1 / math.sqrt(n_heads)"),
    no_positions=("positions-ignored", "positions, base, tile=True", "None, base"),
    no_base=("base-ignored", "base, tile=True", "10000.0"),
)
def grouped_query_attention__tiled(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    """tiled"""
    return _gqa(x, params, n_heads, n_kv_heads, mask, positions, base, tile=True)

def grouped_query_attention__not_shared(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    """not-repeated"""
    if positions is None:
        positions = np.arange(x.shape[-2])
    q = rope(split_heads(x @ params["W_q"], n_heads), positions, base)
    k = rope(split_heads(x @ params["W_k"], n_kv_heads), positions, base)
    v = split_heads(x @ params["W_v"], n_kv_heads)
    if n_heads % n_kv_heads:
        raise ValueError("heads")
    heads, weights = attention(q, k, v, mask)
    return merge_heads(heads) @ params["W_o"], {"weights": weights}

def _gqa_backward(dout, cache, share="sum", back=rope_backward, values=False):
    x, params, q, k, v = cache["x"], cache["params"], cache["q"], cache["k"], cache["v"]
    H, G = q.shape[-3], k.shape[-3]
    K, V = np.repeat(k, H // G, axis=-3), np.repeat(v, H // G, axis=-3)
    dmerged, dW_o, _ = linear_backward(dout, cache["merged"], params["W_o"])
    dq, dk, dv = attention_backward(split_heads(dmerged, H), q, K, V, cache["weights"])

    def shared(d):
        groups = d.reshape(*d.shape[:-3], G, H // G, *d.shape[-2:])
        if share == "tile":
            return d.reshape(*d.shape[:-3], H // G, G, *d.shape[-2:]).sum(-4)
        return {"sum": groups.sum(-3), "mean": groups.mean(-3), "first": groups[..., 0, :, :]}[share]

    dk, dv = shared(dk), shared(dv)
    if back:
        dq, dk = back(dq, cache["positions"], cache["base"]), back(dk, cache["positions"], cache["base"])
    if values:
        dv = rope_backward(dv, cache["positions"], cache["base"])
    dx, grads = 0, {"W_o": dW_o}
    for name, d in (("W_q", dq), ("W_k", dk), ("W_v", dv)):
        part, grads[name], _ = linear_backward(merge_heads(d), x, params[name])
        dx = dx + part
    return dx, grads

@variants(
    first=("shared-first-of-group", '"mean"', '"first"'),
    tile=("shared-tiled", '"mean"', '"tile"'),
    not_turned=("rotation-forgotten", 'share="mean"', "back=None"),
    forward=("rotated-forward", 'share="mean"', "back=rope"),
    values_turned=("values-rotated", 'share="mean"', "values=True"),
)
def grouped_query_attention_backward__mean(dout, cache):
    """shared-averaged"""
    return _gqa_backward(dout, cache, share="mean")

def _parts(params, start):
    return {k.replace(start, "", 1): params[k] for k in params if k.startswith(start)}

def _steps(x, params, config, mask=None, first="norm1.gamma", second="norm2.gamma", eps=None, base=None):
    eps, base = eps or config.norm_eps, base or config.rope_base
    o, c1 = grouped_query_attention(rmsnorm(x, params[first], eps), _parts(params, "attn."), config.n_heads, config.n_kv_heads, mask, None, base)
    a = x + o
    f, c2 = swiglu(rmsnorm(a, params[second], eps), _parts(params, "ffn."))
    return a + f, {"weights": c1["weights"], "after_attention": a, "after_ffn": a + f}

@variants(
    no_eps=("eps-ignored", 'second="norm1.gamma"', "eps=1e-5"),
    eps_of_llama_2=("eps-fixed", 'second="norm1.gamma"', "eps=1e-6"),
    usual_base=("base-ignored", 'second="norm1.gamma"', "base=10000.0"),
    mask_forgotten=("mask-ignored", ', mask, second="norm1.gamma"', ""),
)
def llama_block__same_gamma(x, params, config, mask=None):
    """norm1-twice"""
    return _steps(x, params, config, mask, second="norm1.gamma")

def llama_block__post_norm(x, params, config, mask=None):
    """post-norm"""
    o, c = grouped_query_attention(x, _parts(params, "attn."), config.n_heads, config.n_kv_heads, mask, None, config.rope_base)
    a = rmsnorm(x + o, params["norm1.gamma"], config.norm_eps)
    f, _ = swiglu(a, _parts(params, "ffn."))
    y = rmsnorm(a + f, params["norm2.gamma"], config.norm_eps)
    return y, {"weights": c["weights"], "after_attention": a, "after_ffn": y}

def llama_block__overwritten(x, params, config, mask=None):
    """both-residuals-from-normed"""
    x = rmsnorm(x, params["norm1.gamma"], config.norm_eps)
    o, c = grouped_query_attention(x, _parts(params, "attn."), config.n_heads, config.n_kv_heads, mask, None, config.rope_base)
    x = x + o
    after = x
    x = rmsnorm(x, params["norm2.gamma"], config.norm_eps)
    x = x + swiglu(x, _parts(params, "ffn."))[0]
    return x, {"weights": c["weights"], "after_attention": after, "after_ffn": x}

def llama_block_backward__no_skip(dout, cache):
    """no-first-residual"""
    g = {}
    d, ffn = swiglu_backward(dout, cache["ffn"])
    d, g["norm2.gamma"] = rmsnorm_backward(d, *cache["norm2"])
    d = d + dout
    d, attn = grouped_query_attention_backward(d, cache["attn"])
    d, g["norm1.gamma"] = rmsnorm_backward(d, *cache["norm1"])
    for k in attn: g["attn." + k] = attn[k]
    for k in ffn: g["ffn." + k] = ffn[k]
    return d, g

def llama_block_backward__eps_forgotten(dout, cache):
    """eps-ignored"""
    g = {}
    d, ffn = swiglu_backward(dout, cache["ffn"])
    d, g["norm2.gamma"] = rmsnorm_backward(d, cache["norm2"][0], cache["norm2"][1])
    stream = d + dout
    d, attn = grouped_query_attention_backward(stream, cache["attn"])
    d, g["norm1.gamma"] = rmsnorm_backward(d, cache["norm1"][0], cache["norm1"][1])
    return d + stream, g | prefixed(attn, "attn.") | prefixed(ffn, "ffn.")

def llama__one_set_of_parameters(ids, params, config):
    """block-0-everywhere"""
    if len(np.shape(ids)) and np.shape(ids)[-1] > config.block_size:
        raise ValueError("too many tokens")
    x = embed_tokens(ids, params["W_tok"])
    stages = {"embedded": x}
    for i in range(config.n_layers):
        x, c = _steps(x, _parts(params, "blocks.0."), config, causal_mask(x.shape[-2]))
        for name in c:
            stages[f"blocks.{i}.{name}"] = c[name]
    stages["final_norm"] = rmsnorm(x, params["norm_f.gamma"], config.norm_eps)
    return stages["final_norm"] @ (params["W_tok"].T if config.tied else params["W_head"]), stages

def llama__sees_everything(ids, params, config):
    """no-mask"""
    if np.shape(ids)[-1] > config.block_size:
        raise ValueError("too many tokens")
    x = embed_tokens(ids, params["W_tok"])
    stages = {"embedded": x}
    for i in range(config.n_layers):
        x, c = _steps(x, _parts(params, f"blocks.{i}."), config)
        for name in c:
            stages[f"blocks.{i}.{name}"] = c[name]
    stages["final_norm"] = rmsnorm(x, params["norm_f.gamma"], config.norm_eps)
    return stages["final_norm"] @ (params["W_tok"].T if config.tied else params["W_head"]), stages

def _back(dlogits, cache, tied, first_table):
    ids, params, config = cache["ids"], cache["params"], cache["config"]
    head = params["W_tok"].T if config.tied else params["W_head"]
    final = cache["final_norm"]
    dhead = final.reshape(-1, final.shape[-1]).T @ dlogits.reshape(-1, dlogits.shape[-1])
    d, g = dlogits @ head.T, {}
    d, g["norm_f.gamma"] = rmsnorm_backward(d, cache["last"], params["norm_f.gamma"], config.norm_eps)
    for i in range(config.n_layers - 1, -1, -1):
        d, found = llama_block_backward(d, cache["block_caches"][i])
        for k in found: g[f"blocks.{i}.{k}"] = found[k]
    g["W_tok"] = first_table(d, ids, config.vocab_size)
    if config.tied:
        g["W_tok"] = tied(g["W_tok"], dhead.T)
    else:
        g["W_head"] = dhead
    return g

def llama_backward__table_once(dlogits, cache):
    """tied-table-only"""
    return _back(dlogits, cache, lambda table, head: table, embed_tokens_backward)

def llama_backward__head_only(dlogits, cache):
    """tied-head-only"""
    return _back(dlogits, cache, lambda table, head: head, embed_tokens_backward)

def llama_backward__plus_equals(dlogits, cache):
    """tokens-once"""

    def rows(d, ids, size):
        table = np.zeros((size, d.shape[-1]), dtype=d.dtype)
        table[ids] += d
        return table

    return _back(dlogits, cache, lambda table, head: table + head, rows)

def llama_config__top_only(hf_config):
    """base-at-the-top-only"""
    other = dict(hf_config, rope_theta=hf_config.get("rope_theta", 10000.0))
    if isinstance(other.get("rope_parameters"), dict):
        other["rope_parameters"] = {k: v for k, v in other["rope_parameters"].items() if k != "rope_theta"}
    return _solution_llama_config(other)

def llama_config__scaling_unseen(hf_config):
    """scaling-accepted"""
    return _solution_llama_config({k: v for k, v in hf_config.items() if k != "rope_scaling"})

def llama_config__heads(hf_config):
    """n_heads-for-keys"""
    return _solution_llama_config({k: v for k, v in hf_config.items() if k != "num_key_value_heads"})

_solution_llama_config = llama_config
_solution_llama_params = llama_params

def llama_params__as_stored(tensors):
    """not-transposed"""
    return {k: v if k == "W_tok" else v.T for k, v in _solution_llama_params(tensors).items()}

def llama_params__astype(tensors):
    """bf16-as-integers"""
    wide = {}
    for k, v in tensors.items():
        wide[k] = v.astype("float32") if v.dtype == "uint16" else v
    return _solution_llama_params(wide)

def llama_params__half(tensors):
    """bf16-as-float16"""
    return _solution_llama_params({k: v.view("float16").astype("float32") if v.dtype == "uint16" else v for k, v in tensors.items()})

def llama_params__with_prefix(tensors):
    """-"""
    for k in tensors:
        if not k.startswith("model.") and k != "lm_head.weight":
            raise ValueError("unknown tensor " + k)
    return _solution_llama_params(tensors)

def _write(ids, params, config, n_new, rng, temperature, top_k, top_p, wrong):
    ids = np.array(ids, dtype=np.int64)
    if ids.shape[-1] == 0: raise ValueError("empty")
    if n_new < 0: raise ValueError("negative")
    store, start = {}, 0
    for _ in range(n_new):
        if start in (0, config.block_size):
            store, start, new = {}, 0, ids[..., -config.block_size :]
        else:
            new = ids[..., -1:]
        x = params["W_tok"][new]
        where = np.arange(new.shape[-1]) + (0 if wrong == "restart" else start)
        for i in range(config.n_layers):
            p = _parts(params, f"blocks.{i}.")
            y = rmsnorm(x, p["norm1.gamma"], config.norm_eps)
            q = rope(split_heads(y @ p["attn.W_q"], config.n_heads), where, config.rope_base)
            k = split_heads(y @ p["attn.W_k"], config.n_kv_heads)
            v = split_heads(y @ p["attn.W_v"], config.n_kv_heads)
            k = rope(k, where, config.rope_base)
            if i in store:
                k, v = np.concatenate([store[i][0], k], axis=-2), np.concatenate([store[i][1], v], axis=-2)
            store[i] = k, v
            if wrong == "again":
                k = rope(k, np.arange(k.shape[-2]), config.rope_base)
            copies = config.n_heads // config.n_kv_heads
            if wrong == "tile":
                k, v = np.concatenate([k] * copies, axis=-3), np.concatenate([v] * copies, axis=-3)
            else:
                k, v = k.repeat(copies, axis=-3), v.repeat(copies, axis=-3)
            mask = None if wrong == "mask" else causal_mask(q.shape[-2], k.shape[-2])
            x = x + merge_heads(attention(q, k, v, mask)[0]) @ p["attn.W_o"]
            x = x + swiglu(rmsnorm(x, p["norm2.gamma"], config.norm_eps), _parts(p, "ffn."))[0]
        start += new.shape[-1]
        x = rmsnorm(x[..., -1, :], params["norm_f.gamma"], config.norm_eps)
        logits = x @ (params["W_tok"].T if config.tied else params["W_head"])
        drawn = sample(next_token_probs(logits, temperature, top_k, top_p), rng)
        ids = np.concatenate([ids, drawn[..., None]], axis=-1)
    return ids

@variants(
    rotated_again=("keys-rotated-twice", "restart", "again"),
    tiled=("heads-in-turn", "restart", "tile"),
    prompt_sees_all=("prompt-without-mask", "restart", "mask"),
)
def generate_llama__restart(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """position-restarts"""
    return _write(ids, params, config, n_new, rng, temperature, top_k, top_p, "restart")
