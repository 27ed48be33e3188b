"""PyTorch's answers for `llama_layers`: complex numbers, `F.silu`, `F.linear`, `torch.softmax`, autograd."""

from typing import Any

import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

Params = dict[str, Tensor]


def _rope(x: Tensor, positions: Tensor, base: Any) -> Tensor:
    """Multiply complex numbers, of which the first half of `x` is the real part, by numbers of length 1."""
    size = x.shape[-1]
    if size % 2:
        raise ValueError(f"the entries are rotated in pairs, but a vector has {size} of them")
    exponents = torch.arange(0, size, 2, dtype=torch.float64) / -size
    rates = torch.as_tensor(base, dtype=torch.float64)
    if rates.ndim == 0:
        rates = torch.pow(rates, exponents)
    angles = torch.outer(torch.as_tensor(positions).double(), rates)  # (T, K/2)
    pairs = torch.complex(*x.chunk(2, dim=-1)) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], dim=-1)


@in_torch
def rope(x: Tensor, positions: Tensor, base: Any = 10000.0) -> Tensor:
    """`torch.polar` times `torch.complex`."""
    return _rope(as_float(x), positions, base)


@in_torch
def rope_backward(dout: Tensor, positions: Tensor, base: Any = 10000.0) -> Tensor:
    """Autograd through `rope`."""
    x = leaf(torch.zeros_like(dout))
    return torch.autograd.grad(_rope(x, positions, base), x, as_float(dout))[0]


@in_torch
def silu(x: Tensor) -> Tensor:
    """`F.silu`."""
    return F.silu(as_float(x))


@in_torch
def silu_backward(dout: Tensor, x: Tensor) -> Tensor:
    """Autograd through `F.silu`."""
    x = leaf(x)
    return torch.autograd.grad(F.silu(x), x, as_float(dout))[0]


def gated_network(x: Tensor, params: Params) -> Tensor:
    """`F.linear` and `F.silu`."""
    hidden = F.silu(F.linear(x, params["W_gate"].T)) * F.linear(x, params["W_up"].T)
    return F.linear(hidden, params["W_down"].T)


@in_torch
def swiglu(x: Tensor, params: Params) -> tuple[Tensor, dict[str, Any]]:
    """`F.linear` and `F.silu`."""
    out = gated_network(as_float(x), {name: as_float(value) for name, value in params.items()})
    return out, {"inputs": {"x": x, "params": params}}


@in_torch
def swiglu_backward(dout: Tensor, cache: dict[str, Any]) -> tuple[Tensor, Params]:
    """Autograd through `swiglu`."""
    x = leaf(cache["inputs"]["x"])
    params = {name: leaf(value) for name, value in cache["inputs"]["params"].items()}
    dx, *grads = torch.autograd.grad(gated_network(x, params), (x, *params.values()), as_float(dout))
    return dx, dict(zip(params, grads, strict=True))


def grouped_heads(
    x: Tensor, params: Params, n_heads: int, n_kv_heads: int, mask: Tensor | None, positions: Tensor | None, base: Any
) -> tuple[Tensor, Tensor]:
    """Return the output and the weights; a query that may attend to nothing gets weights 0."""
    length, d_model = x.shape[-2:]
    if d_model % n_heads or n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads do not fit a width of {d_model} and {n_kv_heads} heads of keys and values")
    positions = torch.arange(length) if positions is None else positions
    q, k, v = (F.linear(x, params[name].T) for name in ("W_q", "W_k", "W_v"))
    q = _rope(q.unflatten(-1, (n_heads, -1)).transpose(-2, -3), positions, base)
    k = _rope(k.unflatten(-1, (n_kv_heads, -1)).transpose(-2, -3), positions, base)
    v = v.unflatten(-1, (n_kv_heads, -1)).transpose(-2, -3)
    k, v = (shared.repeat_interleave(n_heads // n_kv_heads, dim=-3) for shared in (k, v))
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if mask is None:
        mask = torch.ones(length, length, dtype=torch.bool)
    mask = mask.broadcast_to(scores.shape)
    # Such a query may attend to everything here, and its weights are replaced by 0: there is no nan in the gradient.
    sees_something = mask.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~mask & sees_something, -torch.inf), dim=-1) * sees_something
    merged = (weights @ v).transpose(-2, -3).flatten(-2)
    return F.linear(merged, params["W_o"].T), weights


@in_torch
def grouped_query_attention(
    x: Tensor,
    params: Params,
    n_heads: int,
    n_kv_heads: int,
    mask: Tensor | None = None,
    positions: Tensor | None = None,
    base: Any = 10000.0,
) -> tuple[Tensor, dict[str, Any]]:
    """`Tensor.repeat_interleave` of the keys and values, and `torch.softmax`."""
    floats = {name: as_float(value) for name, value in params.items()}
    options = (n_heads, n_kv_heads, mask, positions, base)
    out, weights = grouped_heads(as_float(x), floats, *options)
    return out, {"weights": weights, "inputs": {"x": x, "params": params, "options": options}}


@in_torch
def grouped_query_attention_backward(dout: Tensor, cache: dict[str, Any]) -> tuple[Tensor, Params]:
    """Autograd through `grouped_query_attention`."""
    inputs = cache["inputs"]
    x, params = leaf(inputs["x"]), {name: leaf(value) for name, value in inputs["params"].items()}
    out, _ = grouped_heads(x, params, *inputs["options"])
    dx, *grads = torch.autograd.grad(out, (x, *params.values()), as_float(dout))
    return dx, dict(zip(params, grads, strict=True))
