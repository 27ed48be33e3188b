"""One file, no parts: forward and backward written with einsum, the loss as logsumexp minus the right score."""

import math
from dataclasses import dataclass

import numpy as np

EPS = 1e-5
C = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class GPTConfig:
    vocab_size: int
    block_size: int
    n_layers: int = 4
    n_heads: int = 4
    d_model: int = 64
    d_ff: int | None = None
    activation: str = "gelu"
    tied: bool = True
    bias: object = True
    init_std: float = 0.02
    norm: str = "pre"
    positions: str = "learned"
    dropout: float = 0.0

    def __post_init__(self):
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        if isinstance(self.bias, bool):
            object.__setattr__(self, "bias", "b_qkv b_o b_1 b_2" * self.bias)


def init_gpt(config, rng):
    D, F, V = config.d_model, config.d_ff, config.vocab_size
    shapes = {"W_tok": (V, D)}
    if config.positions == "learned":
        shapes["W_pos"] = (config.block_size, D)
    for i in range(config.n_layers):
        for name, shape in (
            ("ln1.gamma", D),
            ("ln1.beta", D),
            ("attn.W_qkv", (D, 3 * D)),
            ("attn.b_qkv", 3 * D),
            ("attn.W_o", (D, D)),
            ("attn.b_o", D),
            ("ln2.gamma", D),
            ("ln2.beta", D),
            ("ffn.W_1", (D, F)),
            ("ffn.b_1", F),
            ("ffn.W_2", (F, D)),
            ("ffn.b_2", D),
        ):
            if ".b_" not in name or name.split(".")[1] in config.bias:
                shapes[f"blocks.{i}.{name}"] = shape
    if config.norm == "pre":
        shapes |= {"ln_f.gamma": D, "ln_f.beta": D}
    if not config.tied:
        shapes["W_head"] = (D, V)
    if "b_head" in config.bias:
        shapes["b_head"] = V
    params = {}
    for name, shape in shapes.items():
        if name.endswith("gamma"):
            params[name] = np.ones(shape, np.float32)
        elif isinstance(shape, int):
            params[name] = np.zeros(shape, np.float32)
        else:
            std = config.init_std * ((2 * config.n_layers) ** -0.5 if name.endswith(("W_o", "W_2")) else 1)
            params[name] = (std * rng.standard_normal(shape)).astype(np.float32)
    return params


def count_parameters(params):
    return int(sum(np.prod(p.shape) for p in params.values()))


def _norm(x, g, b):
    D = x.shape[-1]
    centred = x - np.einsum("...d->...", x)[..., None] / D
    rstd = 1 / np.sqrt(np.einsum("...d,...d->...", centred, centred)[..., None] / D + EPS)
    hat = centred * rstd
    return hat * g + b, (hat, rstd)


def _norm_back(dout, hat, rstd, g):
    D = hat.shape[-1]
    flat, flat_hat = dout.reshape(-1, D), hat.reshape(-1, D)
    dhat = dout * g
    along = np.einsum("...d,...d->...", dhat, hat)[..., None] / D
    dx = (dhat - dhat.sum(-1, keepdims=True) / D - hat * along) * rstd
    return dx, np.einsum("nd,nd->d", flat, flat_hat), np.einsum("nd->d", flat)


def _act(h, kind):
    return np.maximum(h, 0) if kind == "relu" else 0.5 * h * (1 + np.tanh(C * (h + 0.044715 * h * h * h)))


def _act_back(h, kind):
    if kind == "relu":
        return (h > 0).astype(h.dtype)
    t = np.tanh(C * (h + 0.044715 * h * h * h))
    return 0.5 * (1 + t) + 0.5 * h * (1 - t * t) * C * (1 + 3 * 0.044715 * h * h)


def _positions(T, D, dtype):
    angles = np.einsum("t,d->td", np.arange(T), 10000.0 ** (-np.arange(0, D, 2) / D))
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(T, -1)[:, :D].astype(dtype)


def _forward(ids, params, config, rng):
    """On (B, T) only; everything that the way back needs is put on a tape."""
    B, T = ids.shape
    D, H = config.d_model, config.n_heads
    K = D // H
    if T > config.block_size:
        raise ValueError(f"too long: {T} > {config.block_size}")
    if ids.size and (ids.min() < 0 or ids.max() >= config.vocab_size):
        raise ValueError("unknown id")
    x = np.einsum("btv,vd->btd", (ids[..., None] == np.arange(config.vocab_size)).astype(params["W_tok"].dtype), params["W_tok"])
    x = x + (params["W_pos"][:T] if "W_pos" in params else _positions(T, D, x.dtype))

    def kept():
        if rng is None or config.dropout == 0:
            return np.ones_like(x)
        return (rng.random(x.shape) >= config.dropout).astype(x.dtype) / x.dtype.type(1 - config.dropout)

    def normed(x, name, p, where):
        return _norm(x, p[name + ".gamma"], p[name + ".beta"]) if config.norm == where else (x, None)

    first = kept()
    x = x * first
    cache, tape = {"embedded": x}, []
    future = np.triu(np.ones((T, T), bool), 1)
    for i in range(config.n_layers):
        p = {k.split(".", 2)[2]: v for k, v in params.items() if k.split(".")[:2] == ["blocks", str(i)]}
        a, n1 = normed(x, "ln1", p, "pre")
        qkv = np.einsum("btd,dcf->cbtf", a, p["attn.W_qkv"].reshape(D, 3, D))
        if "attn.b_qkv" in p:
            qkv = qkv + p["attn.b_qkv"].reshape(3, 1, 1, D)
        q, k, v = qkv.reshape(3, B, T, H, K)
        scores = np.einsum("bthk,bshk->bhts", q, k) / math.sqrt(K)
        scores[:, :, future] = -np.inf
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        w = scores / scores.sum(-1, keepdims=True)
        o = np.einsum("bhts,bshk->bthk", w, v)
        k1 = kept()
        y = x + k1 * (np.einsum("bthk,hkd->btd", o, p["attn.W_o"].reshape(H, K, D)) + p.get("attn.b_o", 0))
        y, m1 = normed(y, "ln1", p, "post")
        m, n2 = normed(y, "ln2", p, "pre")
        h = np.einsum("btd,df->btf", m, p["ffn.W_1"]) + p.get("ffn.b_1", 0)
        k2 = kept()
        z = y + k2 * (np.einsum("btf,fd->btd", _act(h, config.activation), p["ffn.W_2"]) + p.get("ffn.b_2", 0))
        z, m2 = normed(z, "ln2", p, "post")
        cache |= {f"blocks.{i}.weights": w, f"blocks.{i}.after_attention": y, f"blocks.{i}.after_ffn": z}
        tape.append((p, a, n1 or m1, q, k, v, w, o, m, n2 or m2, h, k1, k2))
        x = z
    final, nf = normed(x, "ln_f", params, "pre")
    cache["final_norm"] = final
    logits = np.einsum("btd,vd->btv", final, params["W_tok"] if config.tied else params["W_head"].T)
    return logits + params.get("b_head", 0), cache, tape, (nf, first)


def gpt(ids, params, config, rng=None):
    ids = np.asarray(ids)
    logits, cache, _, _ = _forward(ids.reshape(-1, ids.shape[-1]), params, config, rng)
    shaped = {name: value.reshape(*ids.shape[:-1], *value.shape[1:]) for name, value in cache.items()}
    return logits.reshape(*ids.shape, -1), shaped


def gpt_loss(ids, targets, params, config, rng=None):
    ids = np.asarray(ids).reshape(-1, np.shape(ids)[-1])
    targets = np.asarray(targets).reshape(ids.shape)
    logits, cache, tape, (nf, first) = _forward(ids, params, config, rng)
    post = config.norm == "post"
    B, T, V = logits.shape
    D, H = config.d_model, config.n_heads
    K = D // H
    right = (targets[..., None] == np.arange(V)).astype(logits.dtype)
    top = logits.max(-1, keepdims=True)
    lse = top + np.log(np.exp(logits - top).sum(-1, keepdims=True))
    loss = float((lse[..., 0] - np.einsum("btv,btv->bt", logits, right)).sum() / (B * T))
    d = (np.exp(logits - lse) - right) / (B * T)
    head = params["W_tok"] if config.tied else params["W_head"].T
    dhead = np.einsum("btv,btd->vd", d, cache["final_norm"])
    g = {}
    dx = np.einsum("btv,vd->btd", d, head)
    if "b_head" in config.bias:
        g["b_head"] = np.einsum("btv->v", d)
    if not post:
        dx, g["ln_f.gamma"], g["ln_f.beta"] = _norm_back(dx, *nf, params["ln_f.gamma"])
    for i in range(config.n_layers - 1, -1, -1):
        p, a, n1, q, k, v, w, o, m, n2, h, k1, k2 = tape[i]
        e = {}
        if post:
            dx, e["ln2.gamma"], e["ln2.beta"] = _norm_back(dx, *n2, p["ln2.gamma"])
        db = dx * k2
        e["ffn.b_2"] = np.einsum("btd->d", db)
        e["ffn.W_2"] = np.einsum("btf,btd->fd", _act(h, config.activation), db)
        dh = np.einsum("btd,fd->btf", db, p["ffn.W_2"]) * _act_back(h, config.activation)
        e["ffn.b_1"] = np.einsum("btf->f", dh)
        e["ffn.W_1"] = np.einsum("btd,btf->df", m, dh)
        dm = np.einsum("btf,df->btd", dh, p["ffn.W_1"])
        if not post:
            dm, e["ln2.gamma"], e["ln2.beta"] = _norm_back(dm, *n2, p["ln2.gamma"])
        dx = dx + dm
        if post:
            dx, e["ln1.gamma"], e["ln1.beta"] = _norm_back(dx, *n1, p["ln1.gamma"])
        db = dx * k1
        e["attn.b_o"] = np.einsum("btd->d", db)
        e["attn.W_o"] = np.einsum("bthk,btd->hkd", o, db).reshape(D, D)
        do = np.einsum("btd,hkd->bthk", db, p["attn.W_o"].reshape(H, K, D))
        dw = np.einsum("bthk,bshk->bhts", do, v)
        ds = w * (dw - np.einsum("bhts,bhts->bht", dw, w)[..., None]) / math.sqrt(K)
        dqkv = np.stack(
            [
                np.einsum("bhts,bshk->bthk", ds, k),
                np.einsum("bhts,bthk->bshk", ds, q),
                np.einsum("bhts,bthk->bshk", w, do),
            ]
        ).reshape(3, B, T, D)
        e["attn.b_qkv"] = np.einsum("cbtf->cf", dqkv).reshape(-1)
        e["attn.W_qkv"] = np.einsum("btd,cbtf->dcf", a, dqkv).reshape(D, 3 * D)
        da = np.einsum("cbtf,dcf->btd", dqkv, p["attn.W_qkv"].reshape(D, 3, D))
        if not post:
            da, e["ln1.gamma"], e["ln1.beta"] = _norm_back(da, *n1, p["ln1.gamma"])
        dx = dx + da
        g |= {f"blocks.{i}.{name}": value for name, value in e.items() if name in p}
    dx = dx * first
    places = (ids[..., None] == np.arange(V)).astype(dx.dtype)
    g["W_tok"] = np.einsum("btv,btd->vd", places, dx) + (dhead if config.tied else 0)
    if "W_pos" in params:
        g["W_pos"] = np.zeros_like(params["W_pos"])
        g["W_pos"][:T] = np.einsum("btd->td", dx)
    if not config.tied:
        g["W_head"] = dhead.T
    return loss, g
