"""PyTorch's answers for `embeddings`: `F.one_hot`, `F.embedding` and the position table of the 2017 paper."""

import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf


@in_torch
def one_hot(ids: Tensor, vocab_size: int) -> Tensor:
    """`F.one_hot`."""
    return as_float(F.one_hot(ids, vocab_size))


@in_torch
def embed_tokens(ids: Tensor, W_tok: Tensor) -> Tensor:
    """`F.embedding`."""
    return F.embedding(ids, as_float(W_tok))


@in_torch
def embed_tokens_backward(dout: Tensor, ids: Tensor, vocab_size: int) -> Tensor:
    """Autograd through `F.embedding`; the gradient does not depend on the table, so zeros will do."""
    W_tok = leaf(torch.zeros(vocab_size, dout.shape[-1]))
    F.embedding(ids, W_tok).backward(as_float(dout))
    assert W_tok.grad is not None
    return W_tok.grad


@in_torch
def sinusoidal_positions(length: int, d_model: int) -> Tensor:
    """The formula of Vaswani et al. (2017, section 3.5), column by column: `torch.sin` and `torch.cos`."""
    positions = torch.arange(length, dtype=torch.float64)
    columns = []
    for column in range(d_model):
        i, is_cosine = divmod(column, 2)
        angle = positions / 10000.0 ** (2 * i / d_model)
        columns.append(torch.cos(angle) if is_cosine else torch.sin(angle))
    return torch.stack(columns, dim=1)


@in_torch
def embed(ids: Tensor, W_tok: Tensor, W_pos: Tensor, scale: float = 1.0) -> Tensor:
    """`F.embedding` twice: of the ids, and of the positions 0, 1, 2, …"""
    positions = torch.arange(ids.shape[-1])
    return F.embedding(ids, as_float(W_tok)) * scale + F.embedding(positions, as_float(W_pos))
