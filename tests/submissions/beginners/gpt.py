"""Beginners' wrong versions of `gpt`; each docstring lists the mistakes that the report should name."""

import math
import numpy as np
from layernorm import layernorm
from softmax import softmax, cross_entropy, cross_entropy_backward
from embeddings import embed, embed_tokens
from attention import causal_mask

solution_gpt_loss = gpt_loss

def _gpt_variant(ids, params, config, variant="", rng=None):
    T = np.shape(ids)[-1]
    positions = _positions(params, config)[:T]
    if variant == "any_ids" and T <= config.block_size: x = params["W_tok"][ids] + positions
    else: x = embed(ids, params["W_tok"], positions, *([math.sqrt(config.d_model)] if variant == "scale" else []))
    x, kept = dropout(x, config.dropout, rng, rng is not None)
    c = {"embedded": x}
    m = causal_mask(T)
    if variant == "mask_strict": m = np.tril(np.ones((T, T), bool), -1)
    for i in range(config.n_layers - (variant == "one_less")):
        x, bc = block(x, subset(params, f"blocks.{i}."), config.n_heads, m, norm="post" if variant == "post" else config.norm, activation="gelu" if variant == "gelu" else config.activation, dropout=config.dropout, rng=rng)
        c |= {f"blocks.{i}.{stage}": bc[stage] for stage in ("weights", "after_attention", "after_ffn")}
        if variant == "ln_each" and config.norm == "pre": x = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])
    f = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"]) if config.norm == "pre" else x
    c["final_norm"] = x if variant == "unnormed" else f
    head = params["W_tok"].T if config.tied else params["W_head"]
    l = f @ head
    if "b_head" in config.bias: l = l + params["b_head"]
    return l, c

@variants(
    mask_strict=("not-itself", '"scale"', '"mask_strict"'), one_less=("last-block-missing", '"scale"', '"one_less"'),
    post=("post-norm", '"scale"', '"post"'), gelu=("activation-ignored", '"scale"', '"gelu"'),
    norm_in_the_loop=("norm-after-every-block-too", '"scale"', '"ln_each"'),
    stage_before_the_norm=("final-norm-before-norm", '"scale"', '"unnormed"'),
    no_check_of_ids=("negative-ids-accepted", '"scale"', '"any_ids"'),
)
def gpt__scale(ids, params, config, rng=None):
    """scaled"""
    return _gpt_variant(ids, params, config, "scale", rng)

def _start(config, rng, std=None, reduced=("W_o", "W_2"), beta=("ln1.", "ln2."), dtype=np.float32):
    std, params, D, F = std or config.init_std, {}, config.d_model, config.d_ff
    def draw(name, *shape):
        size = std / np.sqrt(2 * config.n_layers) if name in reduced else std
        return (rng.standard_normal(shape) * size).astype(np.float32)
    params["W_tok"] = draw("", config.vocab_size, D)
    if config.positions == "learned": params["W_pos"] = draw("", config.block_size, D)
    for layer in range(config.n_layers):
        for norm in ("ln1.", "ln2."):
            params[f"blocks.{layer}.{norm}gamma"] = np.ones(D, dtype)
            if config.bias or norm in beta:
                params[f"blocks.{layer}.{norm}beta"] = np.zeros(D, dtype)
        for part, name, shape in (("attn", "qkv", (D, 3 * D)), ("attn", "o", (D, D)), ("ffn", "1", (D, F)), ("ffn", "2", (F, D))):
            params[f"blocks.{layer}.{part}.W_{name}"] = draw(f"W_{name}", *shape)
            if f"b_{name}" in config.bias:
                params[f"blocks.{layer}.{part}.b_{name}"] = np.zeros(shape[1], dtype)
    if config.norm == "pre": params |= {"ln_f.gamma": np.ones(D, dtype), "ln_f.beta": np.zeros(D, dtype)}
    if not config.tied:
        params["W_head"] = draw("", D, config.vocab_size)
    if "b_head" in config.bias: params["b_head"] = np.zeros(config.vocab_size, dtype)
    return params

@variants(
    first_matrix_of_each_part=("wrong-two-scaled", "std=0.02", 'reduced=("W_qkv", "W_1")'),
    only_attention_reduced=("only-attn.W_o-scaled", "std=0.02", 'reduced=("W_o",)'),
    no_beta=("betas-of-blocks-left-out", "std=0.02", "beta=()"),
    float64_vectors=("vectors-float64", "std=0.02", "dtype=np.float64"),
)
def init_gpt__fixed_size(config, rng):
    """init-std-ignored"""
    return _start(config, rng, std=0.02)

def gpt_loss__grads_times_B(ids, targets, params, config, rng=None):
    """gradients-not-divided"""
    loss, grads = solution_gpt_loss(ids, targets, params, config, rng)
    n = np.size(targets)
    return loss, {k: g * n for k, g in grads.items()}

def gpt_loss__shifted(ids, targets, params, config, rng=None):
    """shifted-again"""
    return solution_gpt_loss(ids[..., :-1], targets[..., 1:], params, config, rng)

def gpt_loss__pos_tok_swap(ids, targets, params, config, rng=None):
    """positions-without-gradient"""
    l, g = solution_gpt_loss(ids, targets, params, config, rng)
    if "W_pos" in g: g["W_pos"] = g["W_pos"] * 0
    return l, g

def _loss(ids, targets, params, config, variant, rng=None):
    logits, cache = gpt(ids, params, config, rng)
    d = cross_entropy_backward(logits, targets)
    final = cache["final_norm"]
    stream = final if variant == "after" else cache[f"blocks.{config.n_layers - 1}.after_ffn"]
    grads = {}
    head = np.einsum("nd,nv->dv", final.reshape(-1, config.d_model), d.reshape(-1, config.vocab_size))
    if "b_head" in config.bias: grads["b_head"] = d.reshape(-1, config.vocab_size).sum(0)
    d = d @ (params["W_tok"] if config.tied else params["W_head"].T)
    if config.norm == "pre":
        d, grads["ln_f.gamma"], grads["ln_f.beta"] = layernorm_backward(d, stream, params["ln_f.gamma"])
    for number, entry in enumerate(reversed(cache["block_caches"])):
        d, more = block_backward(d, entry)
        number = number if variant == "numbers" else config.n_layers - 1 - number
        grads |= {f"blocks.{number}.{name}": value for name, value in more.items()}
    d = dropout_backward(d, cache["embed_mask"])
    if variant == "zeros":
        grads["W_tok"] = np.zeros((config.vocab_size, config.d_model))
    else:
        grads["W_tok"] = np.zeros_like(params["W_tok"])
    np.add.at(grads["W_tok"], ids, d)
    if config.positions == "learned":
        grads["W_pos"] = np.zeros_like(params["W_pos"])
        grads["W_pos"][:ids.shape[-1]] += d.reshape(-1, *d.shape[-2:]).sum(0)
    if config.tied:
        grads["W_tok"] += head.T
    if not config.tied or variant == "both":
        grads["W_head"] = head
    return cross_entropy(logits, targets), grads

@variants(
    numbers_of_blocks=("blocks-named-in-forward-order", '"after"', '"numbers"'),
    np_zeros=("tokens-float64", '"after"', '"zeros"'), head_returned=("tied-head-returned-too", '"after"', '"both"'),
)
def gpt_loss__norm_of_its_output(ids, targets, params, config, rng=None):
    """last-norm-of-its-output"""
    return _loss(ids, targets, params, config, "after", rng)

@variants(
    numpy=("numpy-integer", "len(params)", "np.array([array.size for array in params.values()]).sum()"),
    no_vectors=("matrices-only", "len(params)", "sum(array.size for array in params.values() if array.ndim > 1)"),
    bytes=("bytes", "len(params)", "sum(v.nbytes for v in params.values())"),
)
def count_parameters__len(params):
    """arrays-counted"""
    return len(params)
