"""PyTorch's answers for `bigram`: `F.cross_entropy`, autograd and `torch.optim.SGD`.

`generate_bigram` draws random numbers and has no reference. `train_bigram` has one for given batches: PyTorch's random
numbers are not NumPy's.
"""

import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf


def _loss(ids: Tensor, targets: Tensor, table: Tensor) -> Tensor:
    return F.cross_entropy(F.embedding(ids.flatten(), table), targets.flatten())


@in_torch
def bigram_loss(ids: Tensor, targets: Tensor, W: Tensor) -> tuple[float, Tensor]:
    """Autograd through `F.embedding` and `F.cross_entropy`."""
    table = leaf(W)
    loss = _loss(ids, targets, table)
    loss.backward()
    assert table.grad is not None
    return float(loss.detach()), table.grad


@in_torch
def sgd_step(W: Tensor, dW: Tensor, lr: float) -> Tensor:
    """One step of `torch.optim.SGD`."""
    param = leaf(W)
    param.grad = as_float(dW)
    torch.optim.SGD([param], lr=lr).step()
    return param


@in_torch
def train_on_batches(ids: Tensor, vocab_size: int, lr: float, places: Tensor) -> tuple[Tensor, list[float]]:
    """The usual PyTorch loop; `places` (steps, B) are the positions of the current tokens of every batch."""
    table = torch.zeros(vocab_size, vocab_size, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([table], lr=lr)
    losses = []
    for batch in places:
        optimizer.zero_grad()
        loss = _loss(ids[batch], ids[batch + 1], table)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return table, losses
