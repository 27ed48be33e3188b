"""PyTorch's answers for `layernorm`: `F.layer_norm`, `F.rms_norm` and their gradients."""

import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf


@in_torch
def layernorm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    """`F.layer_norm` over the last axis."""
    return F.layer_norm(as_float(x), x.shape[-1:], as_float(gamma), as_float(beta), eps)


@in_torch
def layernorm_backward(dout: Tensor, x: Tensor, gamma: Tensor, eps: float = 1e-5) -> tuple[Tensor, ...]:
    """Autograd through `F.layer_norm`."""
    x, gamma = leaf(x), leaf(gamma)
    beta = leaf(torch.zeros_like(gamma))
    out = F.layer_norm(x, x.shape[-1:], gamma, beta, eps)
    return torch.autograd.grad(out, (x, gamma, beta), as_float(dout))


@in_torch
def rmsnorm(x: Tensor, gamma: Tensor, eps: float = 1e-5) -> Tensor:
    """`F.rms_norm` over the last axis."""
    return F.rms_norm(as_float(x), x.shape[-1:], as_float(gamma), eps)


@in_torch
def rmsnorm_backward(dout: Tensor, x: Tensor, gamma: Tensor, eps: float = 1e-5) -> tuple[Tensor, ...]:
    """Autograd through `F.rms_norm`."""
    x, gamma = leaf(x), leaf(gamma)
    out = F.rms_norm(x, x.shape[-1:], gamma, eps)
    return torch.autograd.grad(out, (x, gamma), as_float(dout))
