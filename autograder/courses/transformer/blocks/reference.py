"""PyTorch's answers for `blocks`: `nn.TransformerEncoderLayer` and its gradients."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

from autograder.core.wire_format import Rng
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

_EPS = 1e-5
_ACTIVATIONS: dict[str, nn.Module] = {"gelu": nn.GELU(approximate="tanh"), "relu": nn.ReLU()}

# PyTorch's name, ours, and whether PyTorch stores the transpose.
_NAMES = (
    ("norm1.weight", "ln1.gamma", False),
    ("norm1.bias", "ln1.beta", False),
    ("self_attn.in_proj_weight", "attn.W_qkv", True),
    ("self_attn.in_proj_bias", "attn.b_qkv", False),
    ("self_attn.out_proj.weight", "attn.W_o", True),
    ("self_attn.out_proj.bias", "attn.b_o", False),
    ("norm2.weight", "ln2.gamma", False),
    ("norm2.bias", "ln2.beta", False),
    ("linear1.weight", "ffn.W_1", True),
    ("linear1.bias", "ffn.b_1", False),
    ("linear2.weight", "ffn.W_2", True),
    ("linear2.bias", "ffn.b_2", False),
)


def _encoder_layer(
    x: Tensor, params: dict[str, Tensor], n_heads: int, mask: Tensor | None, norm: str, activation: str
) -> Tensor:
    """`nn.TransformerEncoderLayer`, with our weights in place of its own."""
    *batch, length, d_model = x.shape
    layer = nn.TransformerEncoderLayer(
        d_model,
        n_heads,
        params["ffn.W_1"].shape[1],
        dropout=0.0,
        activation=_ACTIVATIONS[activation],
        layer_norm_eps=_EPS,
        batch_first=True,
        norm_first=norm == "pre",
        device="meta",  # its own weights are never used: nothing is allocated, nothing random is drawn
        dtype=torch.float64,
    ).train()  # in eval mode it may take its fused "fast path", which knows fewer kinds of mask
    state = {}
    for torch_name, name, transposed in _NAMES:
        value = params.get(name)
        if value is None:  # a bias that is absent
            value = x.new_zeros(layer.get_parameter(torch_name).shape)
        state[torch_name] = value.T if transposed else value
    blocked = None
    if mask is not None:  # (batch * heads, T, T), and True means the opposite: this key may not be looked at
        blocked = ~mask.broadcast_to(*batch, n_heads, length, length).reshape(-1, length, length)
    x_3d = x.reshape(-1, length, d_model)
    out: Tensor = functional_call(layer, state, (x_3d,), {"src_mask": blocked}, strict=True)
    return out.reshape(x.shape)


def _attention(x: Tensor, params: dict[str, Tensor], n_heads: int, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Self attention and its weights, from `F.linear` and `torch.softmax`."""
    qkv = F.linear(x, params["attn.W_qkv"].T, params.get("attn.b_qkv"))
    q, k, v = (part.unflatten(-1, (n_heads, -1)).transpose(-2, -3) for part in qkv.chunk(3, dim=-1))
    scores = q @ k.mT * q.shape[-1] ** -0.5
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        # A query that may look at nothing would get nan, in its gradients too. Let it look at everything, and then make
        # 0 of what it saw.
        sees_something = mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~mask & sees_something, -torch.inf)
        weights = torch.softmax(scores, dim=-1) * sees_something
    merged = (weights @ v).transpose(-2, -3).flatten(-2)
    return F.linear(merged, params["attn.W_o"].T, params.get("attn.b_o")), weights


def _dropout(x: Tensor, p: float, generator: np.random.Generator | None) -> Tensor:
    """Inverted dropout with the draws of NumPy's generator: PyTorch's own generator draws others."""
    if generator is None or p == 0:
        return x
    return x * torch.from_numpy(generator.random(x.shape) >= p) / (1 - p)


def _block(
    x: Tensor,
    params: dict[str, Tensor],
    n_heads: int,
    mask: Tensor | None,
    norm: str,
    activation: str,
    dropout: float,
    rng: Rng | None,
) -> dict[str, Tensor]:
    """The named entries of the cache; `after_ffn` is the output."""
    generator = None if rng is None else np.random.default_rng(rng.seed)
    if norm not in ("pre", "post"):
        raise ValueError(f"norm must be pre or post, got {norm!r}")
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(_ACTIVATIONS)}, got {activation!r}")

    def ln(name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], params[f"{name}.gamma"], params[f"{name}.beta"], _EPS)

    def ffn(x: Tensor) -> Tensor:
        hidden = F.linear(x, params["ffn.W_1"].T, params.get("ffn.b_1"))
        return F.linear(_ACTIVATIONS[activation](hidden), params["ffn.W_2"].T, params.get("ffn.b_2"))

    # The layer shows neither its weights nor its middle: those are put together from PyTorch's functions.
    attended, weights = _attention(ln("ln1", x) if norm == "pre" else x, params, n_heads, mask)
    attended = _dropout(attended, dropout, generator)
    if norm == "pre":
        after_attention = x + attended
        after_ffn = after_attention + _dropout(ffn(ln("ln2", after_attention)), dropout, generator)
    else:
        after_attention = ln("ln1", x + attended)
        after_ffn = ln("ln2", after_attention + _dropout(ffn(after_attention), dropout, generator))

    # The output is the layer's own, and must agree. It is not asked for a query that may look at nothing (before
    # PyTorch 2.5 its answer was nan, and ours is 0), nor with dropout (it drops the weights and hidden values, too).
    dropped = generator is not None and dropout > 0
    if not dropped and (mask is None or bool(mask.any(dim=-1).all())):
        out = _encoder_layer(x, params, n_heads, mask, norm, activation)
        torch.testing.assert_close(out, after_ffn, rtol=1e-9, atol=1e-9)
        after_ffn = out
    return {"weights": weights, "after_attention": after_attention, "after_ffn": after_ffn}


@in_torch
def block(
    x: Tensor,
    params: dict[str, Tensor],
    n_heads: int,
    mask: Tensor | None = None,
    norm: str = "pre",
    activation: str = "gelu",
    dropout: float = 0.0,
    rng: Rng | None = None,
) -> tuple[Tensor, dict[str, Any]]:
    """`nn.TransformerEncoderLayer`, with `norm_first=True` for "pre"."""
    floats = {name: as_float(value) for name, value in params.items()}
    named = _block(as_float(x), floats, n_heads, mask, norm, activation, dropout, rng)
    inputs = {
        "x": x,
        "params": params,
        "n_heads": n_heads,
        "mask": mask,
        "norm": norm,
        "activation": activation,
        "dropout": dropout,
        "rng": rng,
    }
    return named["after_ffn"], {**named, "inputs": inputs}


@in_torch
def block_backward(dout: Tensor, cache: dict[str, Any]) -> tuple[Tensor, dict[str, Tensor]]:
    """Autograd through `nn.TransformerEncoderLayer`."""
    inputs = dict(cache["inputs"])
    x = leaf(inputs.pop("x"))
    params = {name: leaf(value) for name, value in inputs.pop("params").items()}
    out = _block(x, params, **inputs)["after_ffn"]
    dx, *grads = torch.autograd.grad(out, (x, *params.values()), as_float(dout))
    return dx, dict(zip(params, grads, strict=True))
