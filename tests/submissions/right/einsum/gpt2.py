"""Attention as einsum; the cache is a list of new arrays, and the mask comes from comparing positions."""

import numpy as np
from ffn import gelu, relu
from gpt import GPTConfig
from layernorm import layernorm
from softmax import softmax

_NAMES = [
    ("ln1.gamma", "ln_1.weight"), ("ln1.beta", "ln_1.bias"), ("attn.W_qkv", "attn.c_attn.weight"),
    ("attn.b_qkv", "attn.c_attn.bias"), ("attn.W_o", "attn.c_proj.weight"), ("attn.b_o", "attn.c_proj.bias"),
    ("ln2.gamma", "ln_2.weight"), ("ln2.beta", "ln_2.bias"), ("ffn.W_1", "mlp.c_fc.weight"),
    ("ffn.b_1", "mlp.c_fc.bias"), ("ffn.W_2", "mlp.c_proj.weight"), ("ffn.b_2", "mlp.c_proj.bias"),
]  # fmt: skip


def gpt2_config(hf_config):
    standard = dict(model_type="gpt2", activation_function="gelu_new", layer_norm_epsilon=1e-5, n_inner=None,
                    scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False,
                    tie_word_embeddings=True)  # fmt: skip
    found = standard | hf_config
    activation = {"gelu_new": "gelu", "gelu_pytorch_tanh": "gelu", "relu": "relu"}.get(found["activation_function"])
    if activation is None:
        raise ValueError(f"activation_function: {found['activation_function']}")
    for key in set(standard) - {"activation_function", "n_inner", "tie_word_embeddings"}:
        if found[key] != standard[key]:
            raise ValueError(f"{key}: {found[key]}")
    try:
        sizes = {ours: found[theirs] for ours, theirs in (
            ("vocab_size", "vocab_size"), ("block_size", "n_positions"), ("n_layers", "n_layer"), ("n_heads", "n_head"),
            ("d_model", "n_embd"))}  # fmt: skip
    except KeyError as error:
        raise ValueError(f"missing: {error}") from None
    return GPTConfig(**sizes, d_ff=found["n_inner"], activation=activation, tied=found["tie_word_embeddings"])


def gpt2_params(tensors):
    rest = {name.replace("transformer.", "", 1): value for name, value in tensors.items()}
    head = rest.pop("lm_head.weight", None)
    wanted = {"wte.weight": "W_tok", "wpe.weight": "W_pos", "ln_f.weight": "ln_f.gamma", "ln_f.bias": "ln_f.beta"}
    i = 0
    while i == 0 or any(name.startswith("h.") and int(name.split(".")[1]) >= i for name in rest):
        wanted |= {f"h.{i}.{theirs}": f"blocks.{i}.{ours}" for ours, theirs in _NAMES}
        for buffer in ("bias", "masked_bias"):
            rest.pop(f"h.{i}.attn.{buffer}", None)
        i += 1
    if wanted.keys() != rest.keys():
        raise ValueError(f"missing {sorted(wanted.keys() - rest.keys())}, too many {sorted(rest.keys() - wanted.keys())}")
    params = {wanted[name]: value for name, value in rest.items()}
    return params if head is None or np.array_equal(head, params["W_tok"]) else {**params, "W_head": head.transpose()}


def last_logits(ids, params, config, kv=None):
    ids = np.asarray(ids)
    T = ids.shape[-1]
    S = 0 if kv is None else kv[0][0].shape[-3]
    if T < 1 or S + T > config.block_size or ids.min() < 0 or ids.max() >= config.vocab_size:
        raise ValueError("the ids do not fit")
    x = params["W_tok"][ids] + params["W_pos"][S : S + T]
    seen = np.arange(S + T) <= np.arange(S, S + T)[:, None]  # (T, S + T)
    new = []
    for i in range(config.n_layers):
        p = {name[len(f"blocks.{i}.") :]: value for name, value in params.items() if name.startswith(f"blocks.{i}.")}
        one, two = (lambda x, n=n: layernorm(x, p[n + ".gamma"], p[n + ".beta"]) for n in ("ln1", "ln2"))
        y = np.einsum("...d,de->...e", one(x), p["attn.W_qkv"]) + p["attn.b_qkv"]
        q, k, v = np.moveaxis(y.reshape(*y.shape[:-1], 3, config.n_heads, -1), -3, 0)  # (..., T, H, K)
        if kv is not None:
            k, v = (np.concatenate([old, fresh], axis=-3) for old, fresh in zip(kv[i], (k, v)))
        new.append((k, v))
        z = np.einsum("...thk,...shk->...hts", q, k) / np.sqrt(q.shape[-1], dtype=q.dtype)
        w = softmax(np.where(seen, z, -np.inf).astype(q.dtype))
        x = x + np.einsum("...hts,...shk->...thk", w, v).reshape(x.shape) @ p["attn.W_o"] + p["attn.b_o"]
        h = two(x) @ p["ffn.W_1"] + p["ffn.b_1"]
        x = x + (gelu if config.activation == "gelu" else relu)(h) @ p["ffn.W_2"] + p["ffn.b_2"]
    x = layernorm(x[..., -1, :], params["ln_f.gamma"], params["ln_f.beta"])
    return np.einsum("...d,dv->...v", x, params.get("W_head", params["W_tok"].T)), new
