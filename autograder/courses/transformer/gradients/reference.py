"""PyTorch's answers for `gradients`: central differences in float64, and autograd."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from autograder.core.wire_format import FunctionOf
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

_FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum(w * x**2)": lambda w, x: (w * x**2).sum(),
    "sum(w * sin(x))": lambda w, x: (w * torch.sin(x)).sum(),
    "sum(w * x)**3": lambda w, x: (w * x).sum() ** 3,
}
_OPERATIONS: dict[str, Callable[..., Tensor]] = {
    "add": torch.add,
    "mul": torch.mul,
    "matmul": torch.matmul,
    "tanh": torch.tanh,
    "exp": torch.exp,
    "log": torch.log,
    "sum": torch.sum,
}
_Tape = list[tuple[str, tuple[int, ...]]]


def numerical_gradient(f: FunctionOf, x: Any, eps: float = 1e-6) -> Any:
    """Central differences of the function on tensors. The result is float64, whatever the dtype of `x`."""
    weights, point = (torch.tensor(np.asarray(values, np.float64)) for values in (f.weights, x))
    steps = eps * torch.eye(point.numel(), dtype=torch.float64).reshape(-1, *point.shape)
    function = _FUNCTIONS[f.kind]
    quotients = [(function(weights, point + step) - function(weights, point - step)) / (2 * eps) for step in steps]
    return torch.stack(quotients).reshape(point.shape).numpy()


@in_torch
def sum_to_shape(grad: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Autograd through `torch.broadcast_to`."""
    x = leaf(torch.zeros(shape))
    torch.broadcast_to(x, grad.shape).backward(as_float(grad))
    assert x.grad is not None
    return x.grad


@in_torch
def matmul_backward(dout: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Autograd through `torch.matmul`."""
    left, right = leaf(a), leaf(b)
    torch.matmul(left, right).backward(as_float(dout))
    assert left.grad is not None
    assert right.grad is not None
    return left.grad, right.grad


@in_torch
def tape_values(tape: _Tape, inputs: list[Tensor]) -> list[Tensor]:
    """The values of the tape, computed by PyTorch's operations of the same names."""
    return _values(tape, [as_float(x) for x in inputs])


@in_torch
def tape_gradients(tape: _Tape, inputs: list[Tensor]) -> list[Tensor]:
    """`torch.autograd.grad` of the tape's last value."""
    leaves = [leaf(x) for x in inputs]
    gradients = torch.autograd.grad(_values(tape, leaves)[-1], leaves, allow_unused=True)
    return [
        torch.zeros_like(x) if gradient is None else gradient for gradient, x in zip(gradients, leaves, strict=True)
    ]


def _values(tape: _Tape, inputs: list[Tensor]) -> list[Tensor]:
    values = list(inputs)
    for op, arguments in tape:
        values.append(_OPERATIONS[op](*(values[i] for i in arguments)))
    return values
