"""Beginners' wrong versions of `gpt2`; each docstring lists the mistakes that the report should name."""

import numpy as np
from attention import attention, causal_mask
from blocks import block, subset
from ffn import ffn, linear
from gpt import GPTConfig
from layernorm import layernorm
from multihead import merge_heads, split_heads

def _checked(c):
    for key in ("vocab_size", "n_positions", "n_layer", "n_head", "n_embd"):
        if c.get(key) is None: raise ValueError(f"{key} is missing in config.json")
    if c.get("activation_function", "gelu_new") not in ("gelu_new", "gelu_pytorch_tanh", "relu"):
        raise ValueError(f"activation_function {c['activation_function']} is unknown")
    fixed = {"model_type": "gpt2", "layer_norm_epsilon": 1e-5, "scale_attn_weights": True,
             "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}
    for key in fixed:
        if c.get(key, fixed[key]) != fixed[key]: raise ValueError(f"bad {key}: {c[key]}")

@variants(
    old_key=("block-size-from-n_ctx", 'c["n_positions"]', 'c.get("n_ctx", c["n_positions"])'),
    four_times=("n_inner-ignored", 'c.get("n_inner")', 'c["n_embd"] * 4'),
    brackets=("n_inner-required", 'c.get("n_inner")', 'c["n_inner"]'),
    tied=("always-tied", ', tied=c.get("tie_word_embeddings", True)', ""),
    with_dropout=("dropout-from-the-file", ', tied=', ', dropout=c.get("resid_pdrop", 0.0), tied='),
    heads_twice=("n_layers-from-n_head", 'c["n_layer"]', 'c["n_head"]'),
)
def gpt2_config__right(hf_config):
    """base"""
    c = hf_config
    _checked(c)
    act = "relu" if c.get("activation_function") == "relu" else "gelu"
    return GPTConfig(vocab_size=c["vocab_size"], block_size=c["n_positions"], n_layers=c["n_layer"], n_heads=c["n_head"],
                     d_model=c["n_embd"], d_ff=c.get("n_inner"), activation=act, tied=c.get("tie_word_embeddings", True))

def _map(t, blocks=None):
    one = {"ln_1.weight": "ln1.gamma", "ln_1.bias": "ln1.beta", "attn.c_attn.weight": "attn.W_qkv", "attn.c_attn.bias": "attn.b_qkv",
           "attn.c_proj.weight": "attn.W_o", "attn.c_proj.bias": "attn.b_o", "ln_2.weight": "ln2.gamma", "ln_2.bias": "ln2.beta",
           "mlp.c_fc.weight": "ffn.W_1", "mlp.c_fc.bias": "ffn.b_1", "mlp.c_proj.weight": "ffn.W_2", "mlp.c_proj.bias": "ffn.b_2"}
    all = {"wte.weight": "W_tok", "wpe.weight": "W_pos", "ln_f.weight": "ln_f.gamma", "ln_f.bias": "ln_f.beta"}
    if blocks is None: blocks = max([int(n.split(".")[1]) for n in t if n.startswith("h.")] + [0]) + 1
    for i in range(blocks):
        for n in one: all[f"h.{i}.{n}"] = f"blocks.{i}.{one[n]}"
    return all

def _read(tensors, change=lambda name, x: x, blocks=None, ignore=lambda n: n.endswith((".attn.bias", ".attn.masked_bias"))):
    t = {n.replace("transformer.", ""): x for n, x in tensors.items()}
    all = _map(t, blocks)
    for n in all:
        if n not in t: raise ValueError(f"{n} is missing")
    for n in t:
        if n not in all and n != "lm_head.weight" and not ignore(n): raise ValueError(f"{n} is not known")
    p = {all[n]: change(n, t[n]) for n in all}
    if "lm_head.weight" in t and not np.array_equal(t["lm_head.weight"], t["wte.weight"]): p["W_head"] = t["lm_head.weight"].T
    return p

@variants(
    like_linear=("all-transposed", '"attn.c_proj" in n', 'n.startswith("h.") and x.ndim == 2'),
    no_masks=("-", 'lambda n, x: x.T if "attn.c_proj" in n else x', 'ignore=lambda n: n.endswith(".attn.bias")'),
    half_checked=("unknown-ignored", 'lambda n, x: x.T if "attn.c_proj" in n else x', "ignore=lambda n: True"),
)
def gpt2_params__square(tensors):
    """W_o-transposed"""
    return _read(tensors, lambda n, x: x.T if "attn.c_proj" in n else x)

def gpt2_params__swapped_norms(tensors):
    """norms-exchanged"""
    t = {n.replace("ln_1", "LN").replace("ln_2", "ln_1").replace("LN", "ln_2") if ".h." in "." + n else n: x for n, x in tensors.items()}
    return _read(t)

def gpt2_params__kvq(tensors):
    """values-first"""
    def change(n, x):
        if "c_attn" not in n: return x
        q, k, v = np.split(x, 3, axis=-1)
        return np.concatenate([v, q, k], axis=-1)
    return _read(tensors, change)

def gpt2_params__wrong_biases(tensors):
    """ffn-biases-exchanged"""
    p = _read(tensors)
    for n in list(p):
        if n.endswith("ffn.b_1"):
            m = n.replace("b_1", "b_2"); p[n], p[m] = p[m], p[n]
    return p

def gpt2_params__with_masks(tensors):
    """buffers-kept"""
    p = _read(tensors)
    for n, x in tensors.items():
        n = n.replace("transformer.", "")
        if n.endswith(".attn.bias") or n.endswith("masked_bias"): p[n.replace("h.", "blocks.")] = x
    return p

def gpt2_params__head_as_it_is(tensors):
    """head-not-transposed"""
    p = _read(tensors)
    if "W_head" in p: p["W_head"] = p["W_head"].T
    return p

def gpt2_params__head_kept(tensors):
    """head-always-kept"""
    p = _read(tensors)
    if "lm_head.weight" in tensors: p["W_head"] = tensors["lm_head.weight"].T
    return p

def gpt2_params__double(tensors):
    """converted-to-float64"""
    return {n: x.astype(float) for n, x in _read(tensors).items()}

def _step(x, p, i, c, kv, mask):
    b = subset(p, f"blocks.{i}.")
    h = layernorm(x, **subset(b, "ln1."))
    q, k, v = (split_heads(part, c.n_heads) for part in np.split(linear(h, b["attn.W_qkv"], b["attn.b_qkv"]), 3, -1))
    if kv["k"][i] is not None: k, v = np.concatenate([kv["k"][i], k], -2), np.concatenate([kv["v"][i], v], -2)
    kv["k"][i], kv["v"][i] = k, v
    o, _ = attention(q, k, v, mask)
    x = x + linear(merge_heads(o), b["attn.W_o"], b["attn.b_o"])
    return x + ffn(layernorm(x, **subset(b, "ln2.")), subset(b, "ffn."), c.activation)[0]

def _run(ids, p, c, kv, variant=""):
    ids = np.asarray(ids)
    T = ids.shape[-1]
    if kv is None: kv = {"n": 0, "k": [None] * c.n_layers, "v": [None] * c.n_layers}
    n = kv["n"]
    if T == 0 or n + T > c.block_size: raise ValueError("wrong number of tokens")
    if (ids < 0).any() or (ids >= c.vocab_size).any(): raise ValueError("no such token")
    at = {"start": 0, "less": max(n - 1, 0)}.get(variant, n)
    x = p["W_tok"][ids] + p["W_pos"][at : at + T]
    mask = causal_mask(T, n + T)
    if variant == "nomask": mask = None
    if variant == "latermask" and n: mask = None
    if variant == "square": mask = np.tri(T, n + T, dtype=bool)
    for i in range(c.n_layers):
        x = _step(x, p, 0 if variant == "block0" else i, c, kv, mask) if variant != "block0" else _step(x, {k.replace("blocks.0.", f"blocks.{i}."): v for k, v in p.items() if "blocks" not in k or "blocks.0." in k}, i, c, kv, mask)
    kv["n"] = n + T
    if variant == "first": x = x[..., 0, :]
    elif variant == "mean": x = x.mean(-2)
    elif variant != "all": x = x[..., -1, :]
    if variant != "nonorm": x = layernorm(x, **subset(p, "ln_f."))
    return linear(x, p["W_tok"].T if c.tied else p["W_head"], None), kv

@variants(
    one_less=("position-one-too-low", '"start"', '"less"'),
    no_mask=("mask-missing", '"start"', '"nomask"'),
    mask_only_at_first=("mask-missing-after-the-first-call", '"start"', '"latermask"'),
    tri=("mask-from-the-first-key", '"start"', '"square"'),
    everything=("all-positions", '"start"', '"all"'),
    first=("first-position", '"start"', '"first"'),
    average=("mean-of-positions", '"start"', '"mean"'),
    no_final_norm=("final-norm-missing", '"start"', '"nonorm"'),
    block_0=("same-block-parameters", '"start"', '"block0"'),
    new_text=("cache-ignored no-cache-returned old-cache-returned", 'kv, "start"', "None"),
)
def last_logits__from_0(ids, params, config, kv=None):
    """position-restarts"""
    return _run(ids, params, config, kv, "start")

def last_logits__softmaxed(ids, params, config, kv=None):
    """probabilities"""
    z, kv = _run(ids, params, config, kv)
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True), kv
