"""Beginners' wrong versions of `encoder_decoder`; each docstring lists the mistakes that the report should name."""

import math
import numpy as np
from softmax import as_float, softmax, log_softmax
from layernorm import layernorm
from multihead import multihead_attention
from ffn import ffn
from attention import causal_mask, padding_mask
from embeddings import embed, sinusoidal_positions

_solution_greedy_decode = greedy_decode

def _decoder_block_variant(x, memory, params, n_heads, tm, sm, variant="", norm="post"):
    if norm not in ("pre", "post"): raise ValueError(norm)
    x = as_float(x)
    l1, l2, l3 = (subset(params, f"ln{i}.") for i in (1, 2, 3))
    if variant == "ln_order": l3 = l2
    pre = norm == "pre" or variant == "pre"
    n1 = lambda v: v if variant == "no_norm1" else layernorm(v, **l1)
    n3 = lambda v: v if variant == "no_last_norm" else layernorm(v, **l3)
    a, c1 = multihead_attention(n1(x) if pre else x, subset(params, "attn."), n_heads, sm if variant == "swap_masks" else tm)
    s1 = x + a if pre else n1(x + a)
    q = layernorm(s1, **l2) if pre else s1
    b, c2 = multihead_attention(q, subset(params, "source_attn."), n_heads, tm if variant == "swap_masks" else sm, memory)
    s2 = s1 + b if pre else layernorm(s1 + b, **l2)
    f, _ = ffn(n3(s2) if pre else s2, subset(params, "ffn."), "relu")
    y = s2 + f if pre else n3(s2 + f)
    return y, {"weights": c1["weights"], "source_weights": c2["weights"], "after_attention": s1, "after_source_attention": s2, "after_ffn": y}

def _encode_variant(source, params, config, source_mask=None, variant=""):
    m = None if source_mask is None else padding_mask(source_mask)
    t = params["W_source"]; D = config.d_model; T = np.shape(source)[-1]
    pos = sinusoidal_positions(T, D).astype(t.dtype)
    if variant == "pos1": pos = sinusoidal_positions(T + 1, D)[1:].astype(t.dtype)
    if variant == "divided": x = embed(source, t, pos, 1 / math.sqrt(D))
    else: x = embed(source, t, pos, math.sqrt(D))
    cache = {"source_embedded": x}
    rng = range(config.n_layers)
    for i in (reversed(rng) if variant == "reversed" else rng):
        x, c = encoder_block(x, subset(params, f"decoder.{i}." if variant == "decoder_params" else f"encoder.{i}."), config.n_heads, m, config.norm)
        for s in ("weights", "after_attention", "after_ffn"): cache[f"encoder.{i}.{s}"] = c[s]
    if config.norm == "pre": x = layernorm(x, **subset(params, "encoder.ln_f."))
    return x, cache

def _decode_with(target, memory, params, config, target_mask, source_mask, m):
    if target_mask is not None: m = m & padding_mask(target_mask)
    if source_mask is not None: source_mask = padding_mask(source_mask)
    t = params["W_target"]; D = config.d_model
    x = embed(target, t, sinusoidal_positions(np.shape(target)[-1], D).astype(t.dtype), math.sqrt(D))
    cache = {"target_embedded": x}
    for i in range(config.n_layers):
        x, c = decoder_block(x, memory, subset(params, f"decoder.{i}."), config.n_heads, m, source_mask, config.norm)
        for s in ("weights", "source_weights", "after_attention", "after_source_attention", "after_ffn"): cache[f"decoder.{i}.{s}"] = c[s]
    if config.norm == "pre": x = layernorm(x, **subset(params, "decoder.ln_f."))
    return log_softmax(x @ params["W_head"] + params.get("b_head", 0)), cache

@variants(
    no_last_norm=("last-norm-missing", '"pre",', '"no_last_norm",'),
    no_norm1=("first-norm-missing", '"pre",', '"no_norm1",'), ln2_twice=("ln3-other-norm-2", '"pre",', '"ln_order",'),
    masks_exchanged=("masks-exchanged", '"pre",', '"swap_masks",'),
)
def decoder_block__pre(x, memory, params, n_heads, target_mask=None, source_mask=None, norm="post"):
    """norms-before"""
    return _decoder_block_variant(x, memory, params, n_heads, target_mask, source_mask, "pre", norm)

@variants(
    divided=("divided", '"pos1"', '"divided"'), reversed=("blocks-reversed", '"pos1"', '"reversed"'),
    decoder_params=("decoder-blocks", '"pos1"', '"decoder_params"'),
)
def encode__pos_from_one(source, params, config, source_mask=None):
    """positions-from-one"""
    return _encode_variant(source, params, config, source_mask, "pos1")

def greedy_decode__keeps_source(source, params, config, start, end, max_length, source_mask=None):
    """end-not-returned"""
    out = _solution_greedy_decode(source, params, config, start, end, max_length, source_mask)
    keep = ~(out == end).all(axis=tuple(range(out.ndim - 1)))
    return out[..., keep]

def greedy_decode__scores_first_axis(source, params, config, start, end, max_length, source_mask=None):
    """int32"""
    return _solution_greedy_decode(source, params, config, start, end, max_length, source_mask).astype(np.int32)

def decode__mask_T(target, memory, params, config, target_mask=None, source_mask=None):
    """upper-triangle"""
    return _decode_with(target, memory, params, config, target_mask, source_mask, np.triu(np.ones((np.shape(target)[-1],) * 2, bool)))

def decode__mask_on_rows(target, memory, params, config, target_mask=None, source_mask=None):
    """target-mask-on-queries"""
    allowed = np.tril(np.ones((np.shape(target)[-1],) * 2, bool))
    if target_mask is not None:
        allowed = allowed & np.asarray(target_mask)[..., None, :, None]
    return _decode_with(target, memory, params, config, None, source_mask, allowed)

def greedy_decode__board(source, params, config, start, end, max_length, source_mask=None):
    """last-is-end-and-never-stops"""
    memory, _ = encode(source, params, config, source_mask)
    board = np.full((*source.shape[:-1], max_length + 1), end, dtype=np.int64)
    board[..., 0] = start
    still_open = np.ones(source.shape[:-1], dtype=bool)
    n = 0
    while n < max_length - 1 and still_open.any():
        log_probs, _ = decode(board[..., : n + 1], memory, params, config, source_mask=source_mask)
        n += 1
        board[..., n] = np.where(still_open, log_probs[..., -1, :].argmax(axis=-1), end)
        still_open = still_open & (board[..., n] != end)
    return board[..., 1:]
