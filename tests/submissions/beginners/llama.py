"""Wrong answers to `llama` as beginners write them; the docstring is what the report should call them."""

import numpy as np
from attention import causal_mask
from blocks import prefixed
from embeddings import embed_tokens, embed_tokens_backward
from generation import next_token_probs, sample
from layernorm import rmsnorm, rmsnorm_backward
from llama import llama_block_backward, llama_config, llama_params
from llama_layers import grouped_query_attention, grouped_query_attention_backward, swiglu, swiglu_backward

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

@variants(
    no_skip=("no-first-residual", "return d + stream", "return d"),
    eps_forgotten=("eps-ignored", '*cache["norm2"]', '*cache["norm2"][:2]', '*cache["norm1"]', '*cache["norm1"][:2]'),
)
def llama_block_backward__right(dout, cache):
    """base"""
    g = {}
    d, ffn = swiglu_backward(dout, cache["ffn"])
    d, g["norm2.gamma"] = rmsnorm_backward(d, *cache["norm2"])
    stream = d + dout
    d, attn = grouped_query_attention_backward(stream, cache["attn"])
    d, g["norm1.gamma"] = rmsnorm_backward(d, *cache["norm1"])
    return d + stream, g | prefixed(attn, "attn.") | prefixed(ffn, "ffn.")

@variants(
    one_set_of_parameters=("block-0-everywhere", 'f"blocks.{i}."), config', '"blocks.0."), config'),
    sees_everything=("no-mask", "config, causal_mask(x.shape[-2])", "config"),
)
def llama__right(ids, params, config):
    """base"""
    if np.shape(ids)[-1] > config.block_size:
        raise ValueError("too many tokens")
    x = embed_tokens(ids, params["W_tok"])
    stages = {"embedded": x}
    for i in range(config.n_layers):
        x, c = _steps(x, _parts(params, f"blocks.{i}."), config, causal_mask(x.shape[-2]))
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

@variants(
    head_only=("tied-head-only", "head: table", "head: head"),
)
def llama_backward__table_once(dlogits, cache):
    """tied-table-only"""
    return _back(dlogits, cache, lambda table, head: table, embed_tokens_backward)

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

def llama_config__brackets(hf_config):
    """settings-not-checked scaling-ignored"""
    c = {k: v for k, v in hf_config.items() if v is not None}
    rotation, heads = c.get("rope_parameters", {}), c["num_attention_heads"]
    return LlamaConfig(
        c["vocab_size"], c["max_position_embeddings"], c["num_hidden_layers"], heads, c.get("num_key_value_heads", heads),
        c["hidden_size"], c["intermediate_size"], rotation.get("rope_theta", c.get("rope_theta", 10000.0)),
        c.get("rms_norm_eps", 1e-6), c.get("tie_word_embeddings", False),
    )

def llama_config__heads(hf_config):
    """n_heads-for-keys"""
    return _solution_llama_config({k: v for k, v in hf_config.items() if k != "num_key_value_heads"})

_solution_llama_config = llama_config
_solution_llama_params = llama_params

def llama_params__as_stored(tensors):
    """not-transposed"""
    return {k: v if k == "W_tok" else v.T for k, v in _solution_llama_params(tensors).items()}

@variants(
    astype=("bf16-as-integers", 'v.view("float16").astype', "v.astype"),
)
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
    kv, seen = None, 0
    for _ in range(n_new):
        if seen == 0 or (seen == config.block_size and wrong != "window"):
            kv, seen, new = None, 0, ids[..., : config.block_size] if wrong == "first" else ids[..., -config.block_size :]
        else:
            new = ids[..., -1:]
        logits, kept = last_logits(new, params, config, kv)
        kv = None if wrong == "lost" else kept
        seen += new.shape[-1]
        options = () if wrong == "options" else (top_k, top_p)
        ids = np.concatenate([ids, sample(next_token_probs(logits, temperature, *options), rng)[..., None]], axis=-1)
    return ids

@variants(
    beginning=("first-tokens", "lost", "first"),
    options=("temperature-only", "lost", "options"),
    window=("window-not-handled", "lost", "window"),
)
def generate_llama__lost(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """kv-lost"""
    return _write(ids, params, config, n_new, rng, temperature, top_k, top_p, "lost")
