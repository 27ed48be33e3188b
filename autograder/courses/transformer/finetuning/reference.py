"""PyTorch's answers for `finetuning`: `F.cross_entropy`, `F.linear`, `F.logsigmoid` and their gradients."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf


def chat_example(turns: Any, special: dict[str, int]) -> tuple[Any, Any, Any]:
    """Mark the targets in the finished text: from each [assistant] to the next [user]."""
    if not turns:
        raise ValueError("there must be at least one turn")
    if set(special.values()) & {int(token) for turn in turns for part in turn for token in part}:
        raise ValueError("a question or an answer contains a special token")
    user, assistant, end = ([special[name]] for name in ("user", "assistant", "end"))
    parts = [part for question, answer in turns for part in (user, question, assistant, answer, end)]
    text = [int(token) for part in parts for token in part]
    mask, counts = [], False
    for token in text[:-1]:
        counts = [token] == assistant or (counts and [token] != end)
        mask.append(counts)
    return np.array(text[:-1], np.int64), np.array(text[1:], np.int64), np.array(mask)


@in_torch
def answer_loss(logits: Tensor, targets: Tensor, mask: Tensor) -> tuple[float, Tensor]:
    """`F.cross_entropy` with `ignore_index` where the mask is False, and autograd through it."""
    if not mask.any():
        raise ValueError("no target counts")
    x, ids = leaf(logits), torch.where(mask, targets, -100)
    loss = F.cross_entropy(x.reshape(-1, x.shape[-1]), ids.reshape(-1), ignore_index=-100)
    return float(loss.detach()), torch.autograd.grad(loss, x)[0]


def _lora(x: Tensor, W: Tensor, A: Tensor, B: Tensor, alpha: float) -> Tensor:
    """Apply one linear layer with the merged matrix."""
    return F.linear(x, (W + A @ B * (alpha / A.shape[1])).T)


@in_torch
def lora_linear(x: Tensor, W: Tensor, A: Tensor, B: Tensor, alpha: float) -> tuple[Tensor, dict[str, Any]]:
    """`F.linear` with the merged matrix."""
    y = _lora(as_float(x), as_float(W), as_float(A), as_float(B), alpha)
    return y, {"inputs": {"arrays": (x, W, A, B), "alpha": alpha}}


@in_torch
def lora_linear_backward(dout: Tensor, cache: dict[str, Any]) -> tuple[Tensor, ...]:
    """Autograd through `F.linear` with the merged matrix."""
    x, W, A, B = map(leaf, cache["inputs"]["arrays"])
    return torch.autograd.grad(_lora(x, W, A, B, cache["inputs"]["alpha"]), (x, A, B), as_float(dout))


@in_torch
def dpo_loss(
    chosen: Tensor, rejected: Tensor, ref_chosen: Tensor, ref_rejected: Tensor, beta: float = 0.1
) -> tuple[float, Tensor, Tensor]:
    """`F.logsigmoid` of the margins, and autograd through it."""
    c, r = leaf(chosen), leaf(rejected)
    loss = -F.logsigmoid(beta * (c - r - (as_float(ref_chosen) - as_float(ref_rejected)))).mean()
    dchosen, drejected = torch.autograd.grad(loss, (c, r))
    return float(loss.detach()), dchosen, drejected
