"""PyTorch's answers for `softmax`: `torch.softmax`, `torch.log_softmax`, `F.cross_entropy` and their gradients."""

import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf


@in_torch
def softmax(x: Tensor, axis: int = -1, temperature: float = 1.0) -> Tensor:
    """`torch.softmax` of the scores divided by the temperature."""
    return torch.softmax(as_float(x) / temperature, dim=axis)


@in_torch
def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """`torch.log_softmax`."""
    return torch.log_softmax(as_float(x), dim=axis)


def _cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


@in_torch
def cross_entropy(logits: Tensor, targets: Tensor) -> float:
    """`F.cross_entropy` with its default reduction, the mean."""
    return float(_cross_entropy(as_float(logits), targets))


@in_torch
def softmax_backward(dout: Tensor, probs: Tensor, axis: int = -1) -> Tensor:
    """Autograd through `torch.softmax`: log(probs) are scores whose softmax is `probs`."""
    x = leaf(torch.log(as_float(probs)))
    torch.softmax(x, dim=axis).backward(as_float(dout))
    assert x.grad is not None
    return x.grad


@in_torch
def cross_entropy_backward(logits: Tensor, targets: Tensor) -> Tensor:
    """Autograd through `F.cross_entropy`."""
    x = leaf(logits)
    _cross_entropy(x, targets).backward()
    assert x.grad is not None
    return x.grad
