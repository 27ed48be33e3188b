"""Short: each cache holds a function that goes back."""

import re
from dataclasses import dataclass

import numpy as np
from attention import attention
from embeddings import embed_tokens, embed_tokens_backward
from generation import next_token_probs, sample
from layernorm import rmsnorm, rmsnorm_backward
from llama_layers import grouped_query_attention, grouped_query_attention_backward, rope, swiglu, swiglu_backward
from multihead import merge_heads, split_heads

_of = lambda params, prefix: {k.removeprefix(prefix): v for k, v in params.items() if k.startswith(prefix)}
_named = lambda prefix, grads: {prefix + k: v for k, v in grads.items()}
_out = lambda params, config: params["W_tok"].T if config.tied else params["W_head"]
_STAGES = "weights", "after_attention", "after_ffn"


@dataclass(frozen=True)
class LlamaConfig:
    vocab_size: int; block_size: int; n_layers: int = 4; n_heads: int = 4; n_kv_heads: int = 2; d_model: int = 64
    d_ff: int | None = None; rope_base: float = 1e4; norm_eps: float = 1e-5; tied: bool = False; init_std: float = 0.02


def llama_block(x, params, config, mask=None):
    gain = [(params[f"norm{i}.gamma"], config.norm_eps) for i in (1, 2)]
    o, attn = grouped_query_attention(rmsnorm(x, *gain[0]), _of(params, "attn."), config.n_heads, config.n_kv_heads, mask, None, config.rope_base)
    f, ffn = swiglu(rmsnorm(a := x + o, *gain[1]), _of(params, "ffn."))
    return a + f, dict(zip(_STAGES, (attn["weights"], a, a + f))) | {"back": (attn, ffn, (x, *gain[0]), (a, *gain[1]))}


def llama_block_backward(dout, cache):
    attn, ffn, one, two = cache["back"]
    d, dffn = swiglu_backward(dout, ffn)
    d, dtwo = rmsnorm_backward(d, *two)
    e, dattn = grouped_query_attention_backward(s := dout + d, attn)
    e, done = rmsnorm_backward(e, *one)
    return s + e, {"norm1.gamma": done, "norm2.gamma": dtwo, **_named("attn.", dattn), **_named("ffn.", dffn)}


def llama(ids, params, config):
    if np.shape(ids)[-1] > config.block_size: raise ValueError("T")
    x, caches, stages = embed_tokens(ids, params["W_tok"]), [], {}
    start = x
    for i in range(config.n_layers):
        x, c = llama_block(x, _of(params, f"blocks.{i}."), config, np.tri(x.shape[-2], dtype=bool))
        caches, stages = [*caches, c], stages | {f"blocks.{i}.{s}": c[s] for s in _STAGES}
    y = rmsnorm(x, params["norm_f.gamma"], config.norm_eps)
    return y @ _out(params, config), {"embedded": start, **stages, "final_norm": y, "back": (ids, params, config, caches, x, y)}


def llama_backward(dlogits, cache):
    ids, params, config, caches, x, y = cache["back"]
    dhead = y.reshape(-1, config.d_model).T @ dlogits.reshape(-1, config.vocab_size)
    d, dgamma = rmsnorm_backward(dlogits @ _out(params, config).T, x, params["norm_f.gamma"], config.norm_eps)
    grads = {"norm_f.gamma": dgamma} | ({} if config.tied else {"W_head": dhead})
    for i in range(config.n_layers)[::-1]:
        d, g = llama_block_backward(d, caches[i])
        grads |= _named(f"blocks.{i}.", g)
    return grads | {"W_tok": embed_tokens_backward(d, ids, config.vocab_size) + (dhead.T if config.tied else 0)}


def llama_config(hf_config):
    c = {k: v for k, v in hf_config.items() if v is not None}
    try: v, t, l, h, d, f = [c[k] for k in ("vocab_size", "max_position_embeddings", "num_hidden_layers", "num_attention_heads", "hidden_size", "intermediate_size")]
    except KeyError as e: raise ValueError(f"missing: {e}") from None
    r, s = c.get("rope_parameters", {}), c.get("rope_scaling", {})
    have = {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "head_dim": d // h, **c, "rope_parameters": r.get("rope_type", r.get("type", "default")), "rope_scaling": s.get("rope_type", s.get("type", "default"))}
    if scale := next((a for a in (r, s) if a.get("rope_type") == "llama3" and "low_freq_factor" in a), None): have |= {"rope_parameters": "default", "rope_scaling": "default"}
    want = {"model_type": "llama", "hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "head_dim": d // h, "rope_parameters": "default", "rope_scaling": "default"}
    if bad := {k: have.get(k) for k, w in want.items() if have.get(k) != w}: raise ValueError(str(bad))
    base = r.get("rope_theta", c.get("rope_theta", 1e4))
    if scale:
        speed, low, high = base ** (-np.arange(0, d // h, 2) / (d // h)), scale["low_freq_factor"], scale["high_freq_factor"]
        base = tuple((speed * np.interp(speed * scale["original_max_position_embeddings"] / (2 * np.pi), [low, high], [1 / scale["factor"], 1])).tolist())
    return LlamaConfig(v, t, l, h, c.get("num_key_value_heads", h), d, f, base, c.get("rms_norm_eps", 1e-6), c.get("tie_word_embeddings", False))


def llama_params(tensors):
    t = {re.sub(r"^model\.", "", k): v for k, v in tensors.items() if not k.endswith(".inv_freq")}
    each = {"input_layernorm": "norm1.gamma", "post_attention_layernorm": "norm2.gamma"} | {f"self_attn.{n}_proj": f"attn.W_{n}" for n in "qkvo"} | {f"mlp.{n}_proj": f"ffn.W_{n}" for n in ("gate", "up", "down")}
    n = len({m[1] for k in t if (m := re.match(r"layers\.(\d+)\.", k))}) or 1
    names = {"embed_tokens.weight": "W_tok", "norm.weight": "norm_f.gamma"} | {f"layers.{i}.{k}.weight": f"blocks.{i}.{v}" for i in range(n) for k, v in each.items()} | ({"lm_head.weight": "W_head"} if "lm_head.weight" in t else {})
    if odd := set(names) ^ set(t): raise ValueError(" ".join(odd))
    wide = lambda v: np.left_shift(v, 16, dtype=np.uint32).view(np.float32) if v.dtype == np.uint16 else v
    return {o: wide(t[k]) if o == "W_tok" else wide(t[k]).T for k, o in names.items()}


def generate_llama(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    ids, H, G, kept = np.array(ids, np.int64), config.n_heads, config.n_kv_heads, None
    if ids.shape[-1] == 0 or n_new < 0: raise ValueError("prompt, n_new")
    for _ in range(n_new):
        if kept is None or kept[0][0].shape[-2] == config.block_size: kept = [(np.zeros((*ids.shape[:-1], G, 0, config.d_model // H), params["W_tok"].dtype),) * 2] * config.n_layers
        done = kept[0][0].shape[-2]
        x = embed_tokens(ids[..., -config.block_size :][..., done:] if done == 0 else ids[..., -1:], params["W_tok"])
        at, new = np.arange(done, done + x.shape[-2]), []
        for i, (ks, vs) in enumerate(kept):
            p = _of(params, f"blocks.{i}.")
            y = rmsnorm(x, p["norm1.gamma"], config.norm_eps)
            q, k, v = (split_heads(y @ p["attn.W_" + n], m) for n, m in zip("qkv", (H, G, G)))
            new.append((ks := np.concatenate([ks, rope(k, at, config.rope_base)], -2), vs := np.concatenate([vs, v], -2)))
            order = np.arange(H) // (H // G)
            x = x + merge_heads(attention(rope(q, at, config.rope_base), ks[..., order, :, :], vs[..., order, :, :], at[:, None] >= np.arange(ks.shape[-2]))[0]) @ p["attn.W_o"]
            x = x + swiglu(rmsnorm(x, p["norm2.gamma"], config.norm_eps), _of(p, "ffn."))[0]
        kept, scores = new, rmsnorm(x[..., -1, :], params["norm_f.gamma"], config.norm_eps) @ _out(params, config)
        ids = np.concatenate([ids, sample(next_token_probs(scores, temperature, top_k, top_p), rng)[..., None]], -1)
    return ids
