"""Name by name with regular expressions; one token at a time, with lists as a cache."""

import re

import numpy as np
from ffn import gelu
from gpt import GPTConfig
from layernorm import layernorm

_PARTS = {
    "ln_1": ("ln1.gamma", "ln1.beta"),
    "ln_2": ("ln2.gamma", "ln2.beta"),
    "attn.c_attn": ("attn.W_qkv", "attn.b_qkv"),
    "attn.c_proj": ("attn.W_o", "attn.b_o"),
    "mlp.c_fc": ("ffn.W_1", "ffn.b_1"),
    "mlp.c_proj": ("ffn.W_2", "ffn.b_2"),
}
_OUTSIDE = {"wte.weight": "W_tok", "wpe.weight": "W_pos", "ln_f.weight": "ln_f.gamma", "ln_f.bias": "ln_f.beta"}


def gpt2_config(hf_config):
    for size in ("vocab_size", "n_positions", "n_layer", "n_head", "n_embd"):
        if size not in hf_config:
            raise ValueError(f"{size} is missing in config.json")
    wanted = [
        ("model_type", "gpt2"),
        ("layer_norm_epsilon", 1e-5),
        ("scale_attn_weights", True),
        ("scale_attn_by_inverse_layer_idx", False),
        ("add_cross_attention", False),
    ]
    for key, value in wanted:
        if key in hf_config and hf_config[key] != value:
            raise ValueError(f"cannot run a model with {key} = {hf_config[key]}")
    name = hf_config.get("activation_function", "gelu_new")
    if name in ("gelu_new", "gelu_pytorch_tanh"):
        activation = "gelu"
    elif name == "relu":
        activation = "relu"
    else:
        raise ValueError(f"cannot run a model with activation_function = {name}")
    width = hf_config.get("n_inner")
    if width is None:
        width = 4 * hf_config["n_embd"]
    tied = True
    if "tie_word_embeddings" in hf_config:
        tied = hf_config["tie_word_embeddings"]
    return GPTConfig(
        hf_config["vocab_size"],
        hf_config["n_positions"],
        hf_config["n_layer"],
        hf_config["n_head"],
        hf_config["n_embd"],
        width,
        activation,
        tied,
    )


def gpt2_params(tensors):
    params, strange, blocks, head = {}, [], [], None
    for full, value in tensors.items():
        name = full[len("transformer.") :] if full.startswith("transformer.") else full
        found = re.fullmatch(r"h\.(\d+)\.(.+)\.(weight|bias)", name)
        buffer = re.fullmatch(r"h\.(\d+)\.attn\.(bias|masked_bias)", name)
        if name in _OUTSIDE:
            params[_OUTSIDE[name]] = value
        elif found and found[2] in _PARTS:
            params[f"blocks.{int(found[1])}.{_PARTS[found[2]][found[3] == 'bias']}"] = value
            blocks.append(int(found[1]))
        elif name == "lm_head.weight":
            head = value
        elif not buffer:
            strange.append(name)
    lost = [name for name, ours in _OUTSIDE.items() if ours not in params]
    for i in range(max(blocks, default=0) + 1):
        for part, names in _PARTS.items():
            for kind, ours in zip(("weight", "bias"), names):
                if f"blocks.{i}.{ours}" not in params:
                    lost.append(f"h.{i}.{part}.{kind}")
    if strange or lost:
        raise ValueError("not a GPT-2: " + "; ".join([f"no {name}" for name in lost] + [f"unknown {name}" for name in strange]))
    if head is not None and (head != params["W_tok"]).any():
        params["W_head"] = np.ascontiguousarray(head.T)
    return params


def _one(token, params, config, memory):
    """Put one token into the memory of one text and return its final vector."""
    x = params["W_tok"][token] + params["W_pos"][len(memory[0])]
    for i in range(config.n_layers):
        p = {name.split(".", 2)[2]: value for name, value in params.items() if name.startswith(f"blocks.{i}.")}

        def norm(x, name):
            return layernorm(x, p[f"{name}.gamma"], p[f"{name}.beta"])

        qkv = norm(x, "ln1") @ p["attn.W_qkv"] + p["attn.b_qkv"]
        q, k, v = qkv.reshape(3, config.n_heads, -1)
        memory[i].append((k, v))
        heads = []
        for h in range(config.n_heads):
            scores = np.array([k[h] @ q[h] for k, _ in memory[i]]) / np.sqrt(len(q[h]), dtype=x.dtype)
            weights = np.exp(scores - scores.max())
            weights /= weights.sum()
            heads.append(sum(w * v[h] for w, (_, v) in zip(weights, memory[i])))
        x = x + np.concatenate(heads) @ p["attn.W_o"] + p["attn.b_o"]
        hidden = norm(x, "ln2") @ p["ffn.W_1"] + p["ffn.b_1"]
        hidden = gelu(hidden) if config.activation == "gelu" else np.maximum(hidden, 0)
        x = x + hidden @ p["ffn.W_2"] + p["ffn.b_2"]
    return layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])


def last_logits(ids, params, config, kv=None):
    ids = np.asarray(ids)
    flat = ids.reshape(-1, ids.shape[-1]) if ids.size else ids.reshape(1, 0)
    if flat.shape[-1] == 0 or (flat < 0).any() or (flat >= config.vocab_size).any():
        raise ValueError("no tokens, or bad ones")
    if kv is None:
        kv = [[[] for _ in range(config.n_layers)] for _ in flat]
    if len(kv[0][0]) + flat.shape[-1] > config.block_size:
        raise ValueError("no room")
    rows = []
    for text, memory in zip(flat, kv):
        for token in text:
            last = _one(token, params, config, memory)
        rows.append(params["W_tok"] @ last if config.tied else last @ params["W_head"])
    return np.array(rows).reshape(*ids.shape[:-1], -1), kv
