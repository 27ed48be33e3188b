"""PyTorch's answers for `attention`: `torch.cumsum`, `torch.tril`, `F.scaled_dot_product_attention`, autograd."""

import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf


@in_torch
def causal_average_matmul(x: Tensor) -> Tensor:
    """`torch.cumsum` divided by the number of positions so far."""
    counts = torch.arange(1, x.shape[-2] + 1).unsqueeze(-1)
    return torch.cumsum(as_float(x), dim=-2) / counts


@in_torch
def causal_mask(n_queries: int, n_keys: int | None = None) -> Tensor:
    """`torch.tril` of ones, aligned to the lower right corner as in `torch.nn.attention.bias.causal_lower_right`."""
    n_keys = n_queries if n_keys is None else n_keys
    if n_queries > n_keys:
        raise ValueError(f"{n_queries} queries cannot be the last positions of only {n_keys} keys")
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(diagonal=n_keys - n_queries)


@in_torch
def padding_mask(keep: Tensor) -> Tensor:
    """`Tensor.unsqueeze`, twice."""
    return keep.bool().unsqueeze(-2).unsqueeze(-2)


@in_torch
def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """`F.scaled_dot_product_attention`; the weights are what it makes of the values 1, one key at a time."""
    q, k, v = as_float(q), as_float(k), as_float(v)
    n_queries, n_keys = q.shape[-2], k.shape[-2]
    if mask is not None:
        mask = mask.broadcast_to(*q.shape[:-2], n_queries, n_keys)
    one_key_each = torch.eye(n_keys, dtype=q.dtype).expand(*k.shape[:-2], n_keys, n_keys)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    weights = F.scaled_dot_product_attention(q, k, one_key_each, attn_mask=mask)
    if mask is not None:
        # A query that may look at nothing: softmax of a row of -inf, nan in some of PyTorch's kernels and 0 in others.
        sees_nothing = ~mask.any(dim=-1, keepdim=True)
        out = torch.where(sees_nothing, torch.nan_to_num(out), out)
        weights = torch.where(sees_nothing, torch.nan_to_num(weights), weights)
    return out, weights


@in_torch
def attention_backward(dout: Tensor, q: Tensor, k: Tensor, v: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Autograd through `torch.softmax` of q kᵀ / √K, shifted so that the result is exactly `weights`."""
    q, k, v = leaf(q), leaf(k), leaf(v)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    # The mask is not among the arguments, but log(weights) is as good as masked scores: -inf where the mask was False.
    # The difference next to it is 0, and lets the gradient through. A query that saw nothing has no logarithms to
    # offer; its output was the constant 0, so that whatever arrives there goes nowhere.
    sees_nothing = ~weights.any(dim=-1, keepdim=True)
    log_weights = torch.log(as_float(weights)).masked_fill(sees_nothing, 0.0)
    out = torch.softmax(log_weights + (scores - scores.detach()), dim=-1) @ v
    out.backward(as_float(dout).masked_fill(sees_nothing, 0.0))
    assert q.grad is not None and k.grad is not None and v.grad is not None
    return q.grad, k.grad, v.grad
