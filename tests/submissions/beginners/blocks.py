"""Wrong answers to `blocks` as beginners write them; the docstring is what the report should call them."""

import numpy as np
from softmax import as_float

_solution_block_backward = block_backward

def _b(x, params, n_heads, mask=None, norm="pre", activation="gelu", v="", dropout=0.0, rng=None):
    if norm not in ("pre", "post"): raise ValueError(norm)
    x = as_float(x)
    l1, l2, at, ff = subset(params, "ln1."), subset(params, "ln2."), subset(params, "attn."), subset(params, "ffn.")

    def attend(*given):
        o, c = multihead_attention(*given)
        return apply_dropout(o, dropout, rng, rng is not None)[0], c

    def feed(*given):
        return apply_dropout(ffn(*given)[0], dropout, rng, rng is not None)

    if norm == "pre":
        h = layernorm(x, **l1)
        o, c = attend(h, at, n_heads, mask)
        a = x + o
        f, _ = feed(layernorm(a, **l2), ff, activation)
        if v == "copied_line": f, _ = feed(layernorm(a, l2["gamma"], l1["beta"]), ff, activation)
        if v == "parallel": f, _ = feed(layernorm(x, **l2), ff, activation)
        if v == "ffn_first":
            f, _ = feed(layernorm(x, **l2), ff, activation); a = x + f
            f, c = attend(layernorm(a, **l1), at, n_heads, mask)
        if v == "cross": o, c = attend(h, at, n_heads, mask, x); a = x + o; f, _ = feed(layernorm(a, **l2), ff, activation)
        y = a + f
        if v == "add_x": y = x + a + f
    else:
        o, c = attend(x, at, n_heads, mask)
        a = layernorm(x + o, **l1)
        y = layernorm(a + feed(a, ff, activation)[0], **l2)
        if v == "post_norm_x": y = layernorm(x + feed(a, ff, activation)[0], **l2)
        if v == "post_missing_last": y = a + feed(a, ff, activation)[0]
    return y, {"weights": c["weights"], "after_attention": a, "after_ffn": y}

@variants(
    parallel=("steps-in-parallel-with-pre", "ffn_first", "parallel"), cross=("keys-not-normed", "ffn_first", "cross"),
    add_x=("x-added-twice", "ffn_first", "add_x"),
    post_x=("second-residual-from-x-with-post", "ffn_first", "post_norm_x"),
    post_last=("second-norm-unused-with-post", "ffn_first", "post_missing_last"),
    copied_line=("other-beta-ln2-with-pre", "ffn_first", "copied_line"),
)
def block__ffn_first(x, params, n_heads, mask=None, norm="pre", activation="gelu", dropout=0.0, rng=None):
    """feed-forward-first"""
    return _b(x, params, n_heads, mask, norm, activation, "ffn_first", dropout, rng)

def block__only_out(x, params, n_heads, mask=None, norm="pre", activation="gelu", dropout=0.0, rng=None):
    """only-out"""
    return _b(x, params, n_heads, mask, norm, activation, "", dropout, rng)[0]

def block__two_slips(x, params, n_heads, mask=None, norm="pre", activation="gelu", dropout=0.0, rng=None):
    """mask-ignored-with-post cached-ffn-alone"""
    out, cache = _b(x, params, n_heads, mask if norm == "pre" else None, norm, activation, "", dropout, rng)
    return out, dict(cache, after_ffn=out - cache["after_attention"] if norm == "pre" else out)

def block__mean_weights(x, params, n_heads, mask=None, norm="pre", activation="gelu", dropout=0.0, rng=None):
    """weights-averaged"""
    out, cache = _b(x, params, n_heads, mask, norm, activation, "", dropout, rng)
    return out, dict(cache, weights=sum(cache["weights"][..., h, :, :] for h in range(n_heads)) / n_heads)

def block_backward__x_for_sum(dout, cache):
    """norm-input-without-branch-ln1"""
    if cache["norm"] == "post":
        cache = dict(cache, ln1=(cache["attn"]["x"], cache["ln1"][1]))
    return _solution_block_backward(dout, cache)
