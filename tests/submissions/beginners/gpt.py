"""Beginners' wrong versions of assignment 9; each docstring lists the mistakes that the report should name."""

import math
import numpy as np
from layernorm import layernorm
from softmax import softmax, cross_entropy, cross_entropy_backward
from embeddings import embed, embed_tokens
from attention import causal_mask

solution_gpt_loss = gpt_loss


def _gpt_variant(ids, params, config, variant=""):
    T = np.shape(ids)[-1]
    x = embed(ids, params["W_tok"], params["W_pos"][:T], *( [math.sqrt(config.d_model)] if variant == "scale" else []))
    c = {"embedded": x}
    m = causal_mask(T)
    if variant == "mask_inv": m = ~m
    if variant == "mask_triu": m = np.triu(np.ones((T, T), bool))
    if variant == "mask_strict": m = np.tril(np.ones((T, T), bool), -1)
    for i in range(config.n_layers - (variant == "one_less")):
        x, bc = block(x, subset(params, f"blocks.{i}."), 1 if variant == "one_head" else config.n_heads, m, norm="post" if variant == "post" else "pre", activation="gelu" if variant == "gelu" else config.activation)
        c |= {f"blocks.{i}.{stage}": bc[stage] for stage in ("weights", "after_attention", "after_ffn")}
        if variant == "ln_each": x = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])
        if variant == "res_each": x = x + c["embedded"]
    f = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])
    c["final_norm"] = x if variant == "unnormed" else f
    head = params["W_tok"].T if config.tied else params["W_head"]
    if variant == "last": f = f[..., -1, :]
    l = f @ head
    if variant == "div": l = l / math.sqrt(config.d_model)
    return l, c


def gpt__scale(ids, params, config):
    """scaled"""
    return _gpt_variant(ids, params, config, "scale")


def gpt__mask_strict(ids, params, config):
    """not-itself"""
    return _gpt_variant(ids, params, config, "mask_strict")


def gpt__one_less(ids, params, config):
    """last-block-missing"""
    return _gpt_variant(ids, params, config, "one_less")


def gpt__post(ids, params, config):
    """post-norm"""
    return _gpt_variant(ids, params, config, "post")


def gpt__gelu(ids, params, config):
    """activation-ignored"""
    return _gpt_variant(ids, params, config, "gelu")


def gpt__norm_in_the_loop(ids, params, config):
    """norm-after-every-block-too"""
    return _gpt_variant(ids, params, config, "ln_each")


def gpt__stage_before_the_norm(ids, params, config):
    """final-norm-before-norm"""
    return _gpt_variant(ids, params, config, "unnormed")


def gpt__no_check_of_ids(ids, params, config):
    """negative-ids-accepted"""
    if ids.shape[-1] > config.block_size:
        raise ValueError("the text is too long")
    x = params["W_tok"][ids] + params["W_pos"][:ids.shape[-1]]
    cache = {"embedded": x}
    for layer in range(config.n_layers):
        x, entry = block(x, subset(params, f"blocks.{layer}."), config.n_heads, causal_mask(ids.shape[-1]), activation=config.activation)
        for stage in ("weights", "after_attention", "after_ffn"):
            cache[f"blocks.{layer}.{stage}"] = entry[stage]
    cache["final_norm"] = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])
    return cache["final_norm"] @ (params["W_tok"].T if config.tied else params["W_head"]), cache


def _start(config, rng, std=None, reduced=("W_o", "W_2"), beta=("ln1.", "ln2."), dtype=np.float32):
    std, params, D, F = std or config.init_std, {}, config.d_model, config.d_ff
    def draw(name, *shape):
        size = std / np.sqrt(2 * config.n_layers) if name in reduced else std
        return (rng.standard_normal(shape) * size).astype(np.float32)
    params["W_tok"] = draw("", config.vocab_size, D)
    params["W_pos"] = draw("", config.block_size, D)
    for layer in range(config.n_layers):
        for norm in ("ln1.", "ln2."):
            params[f"blocks.{layer}.{norm}gamma"] = np.ones(D, dtype)
            if config.bias or norm in beta:
                params[f"blocks.{layer}.{norm}beta"] = np.zeros(D, dtype)
        for part, name, shape in (("attn", "qkv", (D, 3 * D)), ("attn", "o", (D, D)), ("ffn", "1", (D, F)), ("ffn", "2", (F, D))):
            params[f"blocks.{layer}.{part}.W_{name}"] = draw(f"W_{name}", *shape)
            if config.bias:
                params[f"blocks.{layer}.{part}.b_{name}"] = np.zeros(shape[1], dtype)
    params |= {"ln_f.gamma": np.ones(D, dtype), "ln_f.beta": np.zeros(D, dtype)}
    if not config.tied:
        params["W_head"] = draw("", D, config.vocab_size)
    return params


def init_gpt__fixed_size(config, rng):
    """init-std-ignored"""
    return _start(config, rng, std=0.02)


def init_gpt__first_matrix_of_each_part(config, rng):
    """wrong-two-scaled"""
    return _start(config, rng, reduced=("W_qkv", "W_1"))


def init_gpt__only_attention_reduced(config, rng):
    """only-attn.W_o-scaled"""
    return _start(config, rng, reduced=("W_o",))


def init_gpt__no_beta(config, rng):
    """betas-of-blocks-left-out"""
    return _start(config, rng, beta=())


def init_gpt__float64_vectors(config, rng):
    """vectors-float64"""
    return _start(config, rng, dtype=np.float64)


def gpt_loss__grads_times_B(ids, targets, params, config):
    """gradients-not-divided"""
    loss, grads = solution_gpt_loss(ids, targets, params, config)
    n = np.size(targets)
    return loss, {k: g * n for k, g in grads.items()}


def gpt_loss__shifted(ids, targets, params, config):
    """shifted-again"""
    return solution_gpt_loss(ids[..., :-1], targets[..., 1:], params, config)


def gpt_loss__pos_tok_swap(ids, targets, params, config):
    """positions-without-gradient"""
    l, g = solution_gpt_loss(ids, targets, params, config)
    g["W_pos"] = g["W_pos"] * 0
    return l, g


def _loss(ids, targets, params, config, variant):
    logits, cache = gpt(ids, params, config)
    d = cross_entropy_backward(logits, targets)
    final = cache["final_norm"]
    stream = final if variant == "after" else cache[f"blocks.{config.n_layers - 1}.after_ffn"]
    grads = {}
    head = np.einsum("nd,nv->dv", final.reshape(-1, config.d_model), d.reshape(-1, config.vocab_size))
    d, grads["ln_f.gamma"], grads["ln_f.beta"] = layernorm_backward(
        d @ (params["W_tok"] if config.tied else params["W_head"].T), stream, params["ln_f.gamma"])
    for number, entry in enumerate(reversed(cache["block_caches"])):
        d, more = block_backward(d, entry)
        number = number if variant == "numbers" else config.n_layers - 1 - number
        grads |= {f"blocks.{number}.{name}": value for name, value in more.items()}
    if variant == "zeros":
        grads["W_tok"] = np.zeros((config.vocab_size, config.d_model))
    else:
        grads["W_tok"] = np.zeros_like(params["W_tok"])
    np.add.at(grads["W_tok"], ids, d)
    grads["W_pos"] = np.zeros_like(params["W_pos"])
    grads["W_pos"][:ids.shape[-1]] += d.reshape(-1, *d.shape[-2:]).sum(0)
    if config.tied:
        grads["W_tok"] += head.T
    if not config.tied or variant == "both":
        grads["W_head"] = head
    loss = cross_entropy(logits, targets)
    return (np.float64(loss) if variant == "numpy" else loss), grads


def gpt_loss__norm_of_its_output(ids, targets, params, config):
    """last-norm-of-its-output"""
    return _loss(ids, targets, params, config, "after")


def gpt_loss__numbers_of_blocks(ids, targets, params, config):
    """blocks-named-in-forward-order"""
    return _loss(ids, targets, params, config, "numbers")


def gpt_loss__np_zeros(ids, targets, params, config):
    """tokens-float64"""
    return _loss(ids, targets, params, config, "zeros")


def gpt_loss__head_returned(ids, targets, params, config):
    """tied-head-returned-too"""
    return _loss(ids, targets, params, config, "both")


def count_parameters__numpy(params):
    """numpy-integer"""
    return np.array([array.size for array in params.values()]).sum()


def count_parameters__no_vectors(params):
    """matrices-only"""
    return sum(array.size for array in params.values() if array.ndim > 1)


def count_parameters__len(params):
    """arrays-counted"""
    return len(params)


def count_parameters__bytes(params):
    """bytes"""
    return sum(v.nbytes for v in params.values())
