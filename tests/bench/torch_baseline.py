"""Train a GPT in eager PyTorch: the baseline that `headway bench` compares a student's speed with.

`headway bench` starts `python -m autograder.models.training.torch_baseline FILE`. The process reads numbers of
steps, one per line, trains that many steps, and answers with a line of JSON: the seconds taken and the losses.
"""

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

# The defaults of `GPTConfig`.
DEFAULTS = {"activation": "gelu", "tied": True, "bias": True}
DEFAULTS |= {"norm": "pre", "positions": "learned", "dropout": 0.0}


def torch_trainer(
    params: dict[str, Any],
    config: Any,
    batches: Iterable[Any],
    lr: float,
    *,
    fused: bool = False,
    compiled: bool = False,
) -> Callable[[int], list[float]]:
    """Return a function that trains an `nn.Module` from these parameters and returns the loss of each step."""
    import torch
    import torch.nn.functional as F  # noqa: N812

    from autograder.models.torch_twin import load_into_torch

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


def main(path: Path) -> None:
    """Train as requested on standard input until it ends."""
    with np.load(path, allow_pickle=False) as stored:
        params = {name.removeprefix("params."): stored[name] for name in stored.files if name.startswith("params.")}
        settings = json.loads(str(stored["settings"]))
        drawn = batches(stored["ids"], settings)
    model = {**DEFAULTS, "d_ff": 4 * settings["model"]["d_model"], **settings["model"]}
    config = SimpleNamespace(vocab_size=len(params["W_tok"]), **model)
    run = torch_trainer(params, config, drawn, settings["lr"])
    for line in sys.stdin:
        started = time.perf_counter()
        losses = run(int(line))
        print(json.dumps([time.perf_counter() - started, losses]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
