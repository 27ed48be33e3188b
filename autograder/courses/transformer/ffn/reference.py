"""PyTorch's answers for `ffn`: `F.relu`, `F.gelu`, `F.linear` and their gradients."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf


def _gelu(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"gelu": _gelu, "relu": F.relu}


@in_torch
def relu(x: Tensor) -> Tensor:
    """`F.relu`."""
    return F.relu(as_float(x))


@in_torch
def relu_backward(dout: Tensor, x: Tensor) -> Tensor:
    """Autograd through `F.relu`."""
    x = leaf(x)
    return torch.autograd.grad(F.relu(x), x, as_float(dout))[0]


@in_torch
def gelu(x: Tensor) -> Tensor:
    """`F.gelu` with `approximate="tanh"`."""
    return _gelu(as_float(x))


@in_torch
def gelu_backward(dout: Tensor, x: Tensor) -> Tensor:
    """Autograd through `F.gelu` with `approximate="tanh"`."""
    x = leaf(x)
    return torch.autograd.grad(_gelu(x), x, as_float(dout))[0]


def _linear(x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    return F.linear(x, W.T, b)


@in_torch
def linear(x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    """`F.linear` with the weights transposed: PyTorch stores them (out, in)."""
    return _linear(as_float(x), as_float(W), None if b is None else as_float(b))


@in_torch
def linear_backward(dout: Tensor, x: Tensor, W: Tensor) -> tuple[Tensor, ...]:
    """Autograd through `F.linear`."""
    x, W = leaf(x), leaf(W)
    b = leaf(torch.zeros(W.shape[1]))
    return torch.autograd.grad(_linear(x, W, b), (x, W, b), as_float(dout))


@in_torch
def dropout_backward(dout: Tensor, mask: Tensor) -> Tensor:
    """Autograd through the product with a given mask."""
    x = leaf(torch.zeros_like(mask))
    return torch.autograd.grad(x * as_float(mask), x, as_float(dout))[0]


def _ffn(x: Tensor, params: dict[str, Tensor], activation: str) -> Tensor:
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(_ACTIVATIONS)}, got {activation!r}")
    hidden = _linear(x, params["W_1"], params.get("b_1"))
    return _linear(_ACTIVATIONS[activation](hidden), params["W_2"], params.get("b_2"))


@in_torch
def ffn(x: Tensor, params: dict[str, Tensor], activation: str = "gelu") -> tuple[Tensor, dict[str, Any]]:
    """`F.linear`, `F.gelu` or `F.relu`, `F.linear`."""
    out = _ffn(as_float(x), {name: as_float(value) for name, value in params.items()}, activation)
    return out, {"inputs": {"x": x, "params": params, "activation": activation}}


@in_torch
def ffn_backward(dout: Tensor, cache: dict[str, Any]) -> tuple[Tensor, dict[str, Tensor]]:
    """Autograd through `ffn`."""
    inputs = cache["inputs"]
    x = leaf(inputs["x"])
    params = {name: leaf(value) for name, value in inputs["params"].items()}
    dx, *grads = torch.autograd.grad(_ffn(x, params, inputs["activation"]), (x, *params.values()), as_float(dout))
    return dx, dict(zip(params, grads, strict=True))
