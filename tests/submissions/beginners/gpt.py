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
        if variant == "ln_each": x = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])
        if variant == "res_each": x = x + c["embedded"]
    f = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])
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


def count_parameters__len(params):
    """arrays-counted"""
    return len(params)


def count_parameters__bytes(params):
    """bytes"""
    return sum(v.nbytes for v in params.values())
