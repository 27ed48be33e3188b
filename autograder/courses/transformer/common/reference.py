"""Generation without a cache, for any model that predicts the next token."""

from collections.abc import Callable
from typing import Any

import torch

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch

Params = dict[str, Tensor]
Forward = Callable[[Tensor, Params, Any], tuple[Tensor, object]]


def last_logits_of(forward: Forward) -> Callable[..., Any]:
    """Return a function that gives the scores for the token after the last position, without the large cache."""

    @in_torch
    def last_logits(ids: Tensor, params: Params, config: Any) -> Tensor:
        logits, _ = forward(ids, {name: as_float(param) for name, param in params.items()}, config)
        return logits[..., -1, :]

    return last_logits


def greedy_generation(forward: Forward) -> Callable[..., Any]:
    """Return a function that generates with `torch.argmax`: only what leaves nothing to chance can be compared."""

    @in_torch
    def generate(
        ids: Tensor,
        params: Params,
        config: Any,
        n_new: int,
        rng: object = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
    ) -> Tensor:
        if temperature != 0 and top_k != 1:
            message = "PyTorch draws other random numbers than NumPy: only temperature=0 or top_k=1 has a reference"
            raise ValueError(message)
        floats = {name: as_float(param) for name, param in params.items()}
        for _ in range(n_new):
            logits, _ = forward(ids[..., -config.block_size :], floats, config)
            ids = torch.cat([ids, logits[..., -1, :].argmax(dim=-1, keepdim=True)], dim=-1)
        return ids

    return generate
