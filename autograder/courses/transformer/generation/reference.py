"""PyTorch's answers for `generation`: `torch.softmax` and `torch.sort`, and greedy generation, which is not random."""

import torch
import torch.nn.functional as F

from autograder.courses.transformer.common.reference import greedy_generation, last_logits_of
from autograder.courses.transformer.gpt.reference import forward
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch


@in_torch
def next_token_probs(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """`torch.softmax` of the scores that are left when the others are filled with -inf."""
    return _next_token_probs(as_float(logits), temperature, top_k, top_p)


def _next_token_probs(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    if temperature < 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("temperature must not be negative, top_k at least 1, top_p in (0, 1]")
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits)
    scores = logits / temperature
    # torch.topk promises nothing about ties; a stable sort puts the lower index first. The unscaled scores are sorted:
    # a high temperature could round two of them to the same number.
    order = torch.sort(logits, dim=-1, descending=True, stable=True).indices
    ranked = scores.gather(-1, order)
    if top_k is not None:
        ranked[..., top_k:] = -torch.inf
    if top_p is not None and top_p < 1:
        mass = torch.softmax(ranked, dim=-1).cumsum(dim=-1)
        ranked[..., 1:] = ranked[..., 1:].masked_fill(mass[..., :-1] >= top_p, -torch.inf)
    return torch.softmax(torch.full_like(scores, -torch.inf).scatter(-1, order, ranked), dim=-1)


last_logits = last_logits_of(forward)
generate = greedy_generation(forward)
generate_cached = generate
