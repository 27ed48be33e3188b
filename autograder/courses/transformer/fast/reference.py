"""PyTorch's answers for `fast`: `F.scaled_dot_product_attention`, `torch.exp`, `torch.round`, and sums."""

from itertools import cycle, islice
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from autograder.core.wire_format import Config, GeneratorOf, Rng
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch


@in_torch
def online_softmax_step(
    maximum: Any, total: Any, weighted: Any, scores: Tensor, v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The sums so far are the weight and the value of one more key, whose score is the maximum so far."""
    scores, queries = as_float(scores), scores.shape[:-1]
    before = torch.as_tensor(maximum).double().expand(queries)
    sum_before = torch.as_tensor(total).double().expand(queries)
    values_before = torch.as_tensor(weighted).double().expand(*queries, v.shape[-1])
    new = torch.maximum(before, scores.amax(dim=-1))
    exps = torch.nan_to_num(torch.exp(scores - new.unsqueeze(-1)))  # A query without keys has nan: -inf minus -inf.
    factor = torch.nan_to_num(torch.exp(before - new))
    return new, factor * sum_before + exps.sum(dim=-1), factor.unsqueeze(-1) * values_before + exps @ as_float(v)


@in_torch
def blocked_attention(q: Tensor, blocks: Config | GeneratorOf, start: int | None = None) -> Tensor:
    """`F.scaled_dot_product_attention` with all keys at once."""
    n_queries = q.shape[-2]
    if isinstance(blocks, Config):
        k, v = (torch.from_numpy(x).double() for x in (blocks.k, blocks.v))
    else:
        items = [pair for pair in blocks.items if pair]  # A check puts () where nothing may be read.
        pairs = islice(cycle(items), max(len(items), n_queries + (start or 0)))
        k, v = (torch.cat([torch.from_numpy(x).double() for x in side], -2) for side in zip(*pairs, strict=True))
    mask = None
    if start is not None:
        k, v = (x[..., : start + n_queries, :] for x in (k, v))
        mask = torch.arange(k.shape[-2]) <= torch.arange(start, start + n_queries).unsqueeze(-1)
    return F.scaled_dot_product_attention(as_float(q), k, v, attn_mask=mask)


def quantize(W: Any) -> tuple[Any, Any]:
    """`torch.round`, which rounds half to even, of the matrix in float64."""
    matrix = torch.from_numpy(W).double()
    scales = matrix.abs().amax(dim=0) / 127
    scales = torch.where(scales > 0, scales, torch.ones_like(scales))
    W8 = torch.round(matrix / scales).to(torch.int8)
    return W8.numpy(), scales.numpy().astype(W.dtype)


@in_torch
def int8_linear(x: Tensor, W8: Tensor, scales: Tensor) -> Tensor:
    """`torch.matmul` with the matrix of floats."""
    return as_float(x) @ (as_float(W8) * as_float(scales))


def accept_draft(tokens: Any, draft_probs: Any, target_probs: Any, rng: Rng) -> Any:
    """The rule for one token after another, with NumPy's random numbers."""
    if len(target_probs) != len(tokens) + 1:
        raise ValueError("target_probs must have one row more than there are tokens")
    numbers, ids = np.random.default_rng(rng.seed), [int(token) for token in tokens]
    for i, token in enumerate(ids):
        p, q = (torch.from_numpy(np.asarray(probs[i])).double() for probs in (target_probs, draft_probs))
        if numbers.random() >= float(p[token] / q[token]):
            return np.array([*ids[:i], _hit(torch.relu(p - q), numbers.random())], np.int64)
    last = torch.from_numpy(np.asarray(target_probs[-1])).double()
    return np.array([*ids, _hit(last, numbers.random())], np.int64)


def _hit(weights: Tensor, number: float) -> int:
    """Return the first token whose cumulative sum is larger than this part of the whole sum."""
    ends = torch.cumsum(weights, dim=0)
    return int((ends > number * ends[-1]).nonzero()[0])
