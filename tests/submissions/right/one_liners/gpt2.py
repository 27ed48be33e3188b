"""As short as it goes; the cache is the text itself, which is computed again."""

import numpy as np
from gpt import GPTConfig, gpt

_SIZES = {"vocab_size": "vocab_size", "block_size": "n_positions", "n_layers": "n_layer", "n_heads": "n_head", "d_model": "n_embd"}
_FIXED = {"model_type": "gpt2", "layer_norm_epsilon": 1e-5, "scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}
_ACTIVATIONS = {"gelu_new": "gelu", "gelu_pytorch_tanh": "gelu", "relu": "relu"}
_IN_BLOCK = dict(zip("ln_1.weight ln_1.bias attn.c_attn.weight attn.c_attn.bias attn.c_proj.weight attn.c_proj.bias ln_2.weight ln_2.bias mlp.c_fc.weight mlp.c_fc.bias mlp.c_proj.weight mlp.c_proj.bias".split(), "ln1.gamma ln1.beta attn.W_qkv attn.b_qkv attn.W_o attn.b_o ln2.gamma ln2.beta ffn.W_1 ffn.b_1 ffn.W_2 ffn.b_2".split()))


def gpt2_config(hf_config):
    bad = [k for k in _SIZES.values() if k not in hf_config] + [f"{k} {hf_config[k]}" for k, v in _FIXED.items() if hf_config.get(k, v) != v] + [f"activation_function {a}" for a in [hf_config.get("activation_function", "gelu_new")] if a not in _ACTIVATIONS]
    if bad: raise ValueError(bad)
    return GPTConfig(**{ours: hf_config[theirs] for ours, theirs in _SIZES.items()}, d_ff=hf_config.get("n_inner"), activation=_ACTIVATIONS[hf_config.get("activation_function", "gelu_new")], tied=hf_config.get("tie_word_embeddings", True))


def gpt2_params(tensors):
    t = {k.removeprefix("transformer."): v for k, v in tensors.items() if not k.endswith((".attn.bias", ".attn.masked_bias")) and k != "lm_head.weight"}
    names = {"wte.weight": "W_tok", "wpe.weight": "W_pos", "ln_f.weight": "ln_f.gamma", "ln_f.bias": "ln_f.beta"} | {f"h.{i}.{k}": f"blocks.{i}.{v}" for i in range(max([0, *(int(k.split(".")[1]) for k in t if k[:2] == "h.")]) + 1) for k, v in _IN_BLOCK.items()}
    if t.keys() ^ names.keys(): raise ValueError(sorted(t.keys() ^ names.keys()))
    return {names[k]: v for k, v in t.items()} | {"W_head": h.T for h in [tensors.get("lm_head.weight")] if h is not None and (h != t["wte.weight"]).any()}


def last_logits(ids, params, config, kv=None):
    if np.shape(ids)[-1] == 0: raise ValueError("empty")
    text = np.asarray(ids) if kv is None else np.concatenate([kv, ids], axis=-1)
    return gpt(text, params, config)[0][..., -1, :], text
