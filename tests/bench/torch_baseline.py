"""Train a GPT in PyTorch, from the parameters and on the batches of a run of the course's code."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np


def torch_trainer(
    params: dict[str, Any], config: Any, batches: Iterable[Any], lr: float, *, fused: bool = False,
    compiled: bool = False,
) -> Callable[[int], list[float]]:  # fmt: skip
    """Return a function that trains an `nn.Module` from these parameters and returns the loss of each step."""
    import torch
    import torch.nn.functional as F  # noqa: N812

    from autograder.courses.transformer.gpt.torch_twin import load_into_torch

    torch.set_num_threads(1)
    model: Any = load_into_torch(params, config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, fused=fused or None)
    if compiled:
        model = torch.compile(model)
    endless = ((torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches)

    def run(steps: int) -> list[float]:
        losses = []
        for x, y in itertools.islice(endless, steps):
            logits = model(x)
            loss = F.cross_entropy(logits.view(-1, config.vocab_size), y.view(-1))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    return run


def batches(ids: Any, settings: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the batches of the student's run: step i samples with a generator seeded by (seed, i)."""
    length = settings["model"]["block_size"]
    for number in itertools.count():
        rng = np.random.default_rng((settings["seed"], number))
        starts = rng.integers(0, len(ids) - length, settings["batch_size"])
        windows = ids[starts[:, None] + np.arange(length + 1)]
        yield windows[:, :-1].copy(), windows[:, 1:].copy()
