"""The model with `np.einsum`, and one-hot vectors in place of the table."""

import re
from dataclasses import dataclass

import numpy as np
from attention import causal_mask
from generation import next_token_probs, sample
from llama_layers import grouped_query_attention, grouped_query_attention_backward, rope, swiglu, swiglu_backward


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


def _under(params, prefix):
    return {k[len(prefix) :]: v for k, v in params.items() if k.startswith(prefix)}


def _rms(x, gamma, eps):
    return np.einsum("...d,...,d->...d", x, 1 / np.sqrt(np.einsum("...d,...d->...", x, x) / x.shape[-1] + x.dtype.type(eps)), gamma)


def _rms_back(g, x, gamma, eps):
    scale = 1 / np.sqrt(np.einsum("...d,...d->...", x, x) / x.shape[-1] + x.dtype.type(eps))
    inner = np.einsum("...d,...d,d->...", g, x, gamma) / x.shape[-1]
    dx = np.einsum("...,...d,d->...d", scale, g, gamma) - np.einsum("...,...,...d->...d", inner, scale**3, x)
    flat = x.reshape(-1, x.shape[-1])
    return dx, np.einsum("nd,nd,n->d", g.reshape(flat.shape), flat, scale.reshape(-1))


def llama_block(x, params, config, mask=None):
    x, eps = np.asarray(x), config.norm_eps
    attn_out, attn = grouped_query_attention(
        _rms(x, params["norm1.gamma"], eps), _under(params, "attn."), config.n_heads, config.n_kv_heads, mask,
        base=config.rope_base,
    )  # fmt: skip
    a = x + attn_out
    f, ffn = swiglu(_rms(a, params["norm2.gamma"], eps), _under(params, "ffn."))
    kept = {"x": x, "params": params, "eps": eps, "attn": attn, "ffn": ffn}
    return a + f, {"weights": attn["weights"], "after_attention": a, "after_ffn": a + f, **kept}


def llama_block_backward(dout, cache):
    p, eps, grads = cache["params"], cache["eps"], {}
    d, ffn = swiglu_backward(dout, cache["ffn"])
    d, grads["norm2.gamma"] = _rms_back(d, cache["after_attention"], p["norm2.gamma"], eps)
    d = d + dout
    back, attn = grouped_query_attention_backward(d, cache["attn"])
    back, grads["norm1.gamma"] = _rms_back(back, cache["x"], p["norm1.gamma"], eps)
    return d + back, grads | {f"attn.{k}": v for k, v in attn.items()} | {f"ffn.{k}": v for k, v in ffn.items()}


def _one_hot(ids, config, dtype):
    ids = np.asarray(ids)
    if ids.size and not (0 <= ids.min() and ids.max() < config.vocab_size):
        raise ValueError("ids")
    return (ids[..., None] == np.arange(config.vocab_size)).astype(dtype)


def llama(ids, params, config):
    hot = _one_hot(ids, config, params["W_tok"].dtype)
    if hot.shape[-2] > config.block_size:
        raise ValueError("length")
    x = np.einsum("...v,vd->...d", hot, params["W_tok"])
    cache = {"embedded": x, "hot": hot, "params": params, "config": config, "caches": []}
    for i in range(config.n_layers):
        x, c = llama_block(x, _under(params, f"blocks.{i}."), config, causal_mask(hot.shape[-2]))
        cache["caches"].append(c)
        cache |= {f"blocks.{i}.{k}": c[k] for k in ("weights", "after_attention", "after_ffn")}
    cache["top"], final = x, _rms(x, params["norm_f.gamma"], config.norm_eps)
    how, head = ("...d,vd->...v", params["W_tok"]) if config.tied else ("...d,dv->...v", params["W_head"])
    return np.einsum(how, final, head), cache | {"final_norm": final}


def llama_backward(dlogits, cache):
    p, config, final, hot = cache["params"], cache["config"], cache["final_norm"], cache["hot"]
    table = p["W_tok"] if config.tied else p["W_head"].T
    dtable = np.einsum("nv,nd->vd", dlogits.reshape(-1, config.vocab_size), final.reshape(-1, config.d_model))
    dfinal = np.einsum("...v,vd->...d", dlogits, table)
    dx, dgamma = _rms_back(dfinal, cache["top"], p["norm_f.gamma"], config.norm_eps)
    grads = {"norm_f.gamma": dgamma}
    for i, c in reversed(list(enumerate(cache["caches"]))):
        dx, found = llama_block_backward(dx, c)
        grads |= {f"blocks.{i}.{k}": v for k, v in found.items()}
    grads["W_tok"] = np.einsum("nv,nd->vd", hot.reshape(-1, config.vocab_size), dx.reshape(-1, config.d_model))
    if config.tied:
        return grads | {"W_tok": grads["W_tok"] + dtable}
    return grads | {"W_head": dtable.T}


def llama_config(hf_config):
    class Settings(dict):
        def __missing__(self, key):
            return None

    s = Settings(hf_config)
    sizes = "vocab_size max_position_embeddings num_hidden_layers num_attention_heads hidden_size intermediate_size"
    if lost := [k for k in sizes.split() if s[k] is None]:
        raise ValueError(f"absent: {lost}")
    turn, scaling = Settings(s["rope_parameters"] or {}), Settings(s["rope_scaling"] or {})
    wrong = {
        "model_type": s["model_type"] != "llama",
        "hidden_act": s["hidden_act"] not in (None, "silu"),
        "attention_bias": bool(s["attention_bias"]),
        "mlp_bias": bool(s["mlp_bias"]),
        "head_dim": s["head_dim"] not in (None, s["hidden_size"] // s["num_attention_heads"]),
        "rope_parameters": (turn["rope_type"] or turn["type"] or "default") != "default",
        "rope_scaling": (scaling["rope_type"] or scaling["type"] or "default") != "default",
    }
    if any(wrong.values()):
        raise ValueError("; ".join(f"{k} = {s[k]!r}" for k in wrong if wrong[k]))
    heads, theta = s["num_attention_heads"], turn["rope_theta"] or s["rope_theta"] or 10000.0
    eps = 1e-6 if s["rms_norm_eps"] is None else s["rms_norm_eps"]
    return LlamaConfig(
        s["vocab_size"], s["max_position_embeddings"], s["num_hidden_layers"], heads,
        s["num_key_value_heads"] or heads, s["hidden_size"], s["intermediate_size"], theta, eps,
        bool(s["tie_word_embeddings"]),
    )  # fmt: skip


_PARTS = {"input_layernorm": "norm1.gamma", "post_attention_layernorm": "norm2.gamma"}
_PARTS |= {f"self_attn.{n}_proj": f"attn.W_{n}" for n in "qkvo"}
_PARTS |= {f"mlp.{n}_proj": f"ffn.W_{n}" for n in ("gate", "up", "down")}
_OUTSIDE = {"embed_tokens": "W_tok", "norm": "norm_f.gamma", "lm_head": "W_head"}


def llama_params(tensors):
    found, strange = {}, []
    for name, value in tensors.items():
        if "rotary_emb.inv_freq" in name:
            continue
        m = re.fullmatch(r"(?:model\.)?(?:layers\.(\d+)\.(.+)|(\w+))\.weight", name)
        ours = None
        if m and m[1]:
            ours = _PARTS.get(m[2]) and f"blocks.{m[1]}.{_PARTS[m[2]]}"
        elif m:
            ours = _OUTSIDE.get(m[3])
        if ours is None:
            strange.append(name)
            continue
        if value.dtype == np.uint16:
            value = np.frombuffer((np.asarray(value, np.uint32) * np.uint32(65536)).tobytes(), np.float32).reshape(value.shape)
        found[ours] = value if ours == "W_tok" or value.ndim < 2 else np.einsum("oi->io", value)
    if strange:
        raise ValueError(f"unknown: {strange}")
    count = 1 + max([int(k.split(".")[1]) for k in found if k.startswith("blocks.")], default=0)
    wanted = {f"blocks.{i}.{v}": f"layers.{i}.{k}.weight" for i in range(count) for k, v in _PARTS.items()}
    wanted |= {"W_tok": "embed_tokens.weight", "norm_f.gamma": "norm.weight"}
    if lost := [theirs for ours, theirs in wanted.items() if ours not in found]:
        raise ValueError(f"absent: {lost}")
    return found


def _last_scores(new, start, kept, params, config):
    x = np.einsum("...v,vd->...d", _one_hot(new, config, params["W_tok"].dtype), params["W_tok"])
    n, size = x.shape[-2], config.d_model // config.n_heads
    places = np.arange(start, start + n)
    mask = places[:, None] >= np.arange(start + n)
    for i in range(config.n_layers):
        p = _under(params, f"blocks.{i}.")
        y = _rms(x, p["norm1.gamma"], config.norm_eps)
        q = np.einsum("...td,dhk->...htk", y, p["attn.W_q"].reshape(-1, config.n_heads, size))
        k, v = (np.einsum("...td,dgk->...gtk", y, p[f"attn.W_{c}"].reshape(-1, config.n_kv_heads, size)) for c in "kv")
        q, k = rope(q, places, config.rope_base), rope(k, places, config.rope_base)
        if i in kept:
            k, v = np.concatenate([kept[i][0], k], axis=-2), np.concatenate([kept[i][1], v], axis=-2)
        kept[i] = k, v
        grouped = q.reshape(*q.shape[:-3], config.n_kv_heads, -1, n, size)
        scores = np.einsum("...gjtk,...gsk->...gjts", grouped, k) / np.sqrt(x.dtype.type(size))
        scores = np.where(mask, scores, -np.inf)
        w = np.exp(scores - scores.max(axis=-1, keepdims=True))
        w = w / w.sum(axis=-1, keepdims=True)
        heads = np.einsum("...gjts,...gsk->...gjtk", w, v).reshape(q.shape)
        x = x + np.einsum("...htk,hkd->...td", heads, p["attn.W_o"].reshape(config.n_heads, size, -1))
        x = x + swiglu(_rms(x, p["norm2.gamma"], config.norm_eps), _under(p, "ffn."))[0]
    final = _rms(x[..., -1, :], params["norm_f.gamma"], config.norm_eps)
    return np.einsum("...d,dv->...v", final, params["W_tok"].T if config.tied else params["W_head"])


def generate_llama(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    text = np.array(ids, dtype=np.int64)
    if not text.shape[-1] or n_new < 0:
        raise ValueError("prompt or n_new")
    kept, start = {}, 0
    for _ in range(n_new):
        if start in (0, config.block_size):
            kept, start, new = {}, 0, text[..., -config.block_size :]
        else:
            new = text[..., -1:]
        logits = _last_scores(new, start, kept, params, config)
        start += new.shape[-1]
        drawn = sample(next_token_probs(logits, temperature, top_k, top_p), rng)
        text = np.append(text, np.expand_dims(drawn, -1), axis=-1)
    return text
