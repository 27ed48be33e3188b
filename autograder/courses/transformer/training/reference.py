"""PyTorch's answers for `training`: `torch.optim.AdamW`, `clip_grad_norm_`, its schedulers, and a whole loop."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, LRScheduler, SequentialLR

from autograder.core.wire_format import Rng
from autograder.courses.transformer.gpt.reference import Params, forward, generator_of, loss_of
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

State = dict[str, Any]
Batches = Iterable[tuple[Tensor, Tensor]]


class _Trainer:
    """`torch.optim.AdamW` over named leaves, set up from our form of the state and read out into it."""

    def __init__(
        self, params: Params, state: State | None, betas: tuple[float, float], eps: float, weight_decay: float
    ) -> None:
        self.params = {name: leaf(param) for name, param in params.items()}
        self.state = state or {}
        self.optimizer = torch.optim.AdamW(
            self.params.values(), lr=0.0, betas=(betas[0], betas[1]), eps=eps, weight_decay=weight_decay
        )
        if self.state:
            for name, param in self.params.items():
                self.optimizer.state[param] = {
                    "step": torch.tensor(float(self.state["step"])),
                    "exp_avg": as_float(self.state["m"][name]).clone(),
                    "exp_avg_sq": as_float(self.state["v"][name]).clone(),
                }

    def step(self, grads: Params, lr: float, max_norm: float | None = None) -> None:
        for name, param in self.params.items():
            param.grad = as_float(grads[name]).clone()
        if max_norm is not None:
            clip_grad_norm_(list(self.params.values()), max_norm)
        for group in self.optimizer.param_groups:
            group["lr"] = float(lr)
        self.optimizer.step()
        states = {name: self.optimizer.state[param] for name, param in self.params.items()}
        self.state = {
            "step": int(next(iter(states.values()))["step"]),
            "m": {name: state["exp_avg"] for name, state in states.items()},
            "v": {name: state["exp_avg_sq"] for name, state in states.items()},
        }

    def train_step(
        self, x: Tensor, y: Tensor, config: Any, lr: float, max_norm: float | None, rng: np.random.Generator | None
    ) -> float:
        loss = loss_of(x, y, self.params, config, rng)
        grads = torch.autograd.grad(loss, list(self.params.values()))
        self.step(dict(zip(self.params, grads, strict=True)), lr, max_norm)
        return float(loss.detach())


@in_torch
def adamw_step(
    params: Params,
    grads: Params,
    state: State,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> tuple[Params, State]:
    """One step of `torch.optim.AdamW`, its state filled in before and read out afterwards."""
    trainer = _Trainer(params, state, betas, eps, weight_decay)
    trainer.step(grads, lr)
    return trainer.params, trainer.state


@in_torch
def clip_grad_norm(grads: Params, max_norm: float) -> tuple[Params, float]:
    """`torch.nn.utils.clip_grad_norm_`."""
    leaves = {name: torch.zeros_like(as_float(grad), requires_grad=True) for name, grad in grads.items()}
    for name, grad in grads.items():
        leaves[name].grad = as_float(grad).clone()
    norm = clip_grad_norm_(list(leaves.values()), max_norm)
    return {name: _grad(param) for name, param in leaves.items()}, float(norm)


def _grad(param: Tensor) -> Tensor:
    assert param.grad is not None
    return param.grad


def learning_rate(step: int, max_lr: float, min_lr: float, warmup_steps: int, total_steps: int) -> float:
    """`LinearLR`, then `CosineAnnealingLR`, joined by `SequentialLR`."""
    if step < 0 or not 0 <= warmup_steps <= total_steps:
        raise ValueError("the steps must not be negative, and the warm-up not be longer than the whole")
    if step >= total_steps:
        return float(min_lr)  # CosineAnnealingLR would go up again
    optimizer = torch.optim.SGD([torch.zeros(())], lr=max_lr)
    parts: list[LRScheduler] = []
    if warmup_steps > 0:
        parts.append(LinearLR(optimizer, 1 / warmup_steps, 1.0, total_iters=warmup_steps - 1))
    if warmup_steps < total_steps:
        parts.append(CosineAnnealingLR(optimizer, total_steps - warmup_steps, eta_min=min_lr))
    scheduler = SequentialLR(optimizer, parts, [warmup_steps]) if len(parts) == 2 else parts[0]
    for _ in range(step):
        optimizer.step()
        scheduler.step()
    return float(optimizer.param_groups[0]["lr"])


@in_torch
def train_step(
    params: Params,
    state: State,
    x: Tensor,
    y: Tensor,
    config: Any,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
    max_norm: float | None = None,
    rng: Rng | None = None,
) -> tuple[float, Params, State]:
    """Autograd, `clip_grad_norm_` and `torch.optim.AdamW`."""
    trainer = _Trainer(params, state, betas, eps, weight_decay)
    loss = trainer.train_step(x, y, config, lr, max_norm, generator_of(rng))
    return loss, trainer.params, trainer.state


@in_torch
def estimate_loss(params: Params, config: Any, batches: Batches) -> float:
    """`F.cross_entropy` of all tokens of all batches at once."""
    floats = {name: as_float(param) for name, param in params.items()}
    logits, targets = [], []
    for x, y in batches:
        logits.append(forward(x, floats, config)[0].flatten(0, -2))
        targets.append(y.flatten())
    if not targets:
        raise ValueError("there must be at least one batch")
    return float(torch.nn.functional.cross_entropy(torch.cat(logits), torch.cat(targets)))


@in_torch
def train(
    params: Params,
    config: Any,
    batches: Batches,
    lr: Any,
    state: State | None = None,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
    max_norm: float | None = None,
    rng: Rng | None = None,
) -> tuple[Params, State, list[float]]:
    """The usual PyTorch loop: autograd, `clip_grad_norm_`, one and the same `torch.optim.AdamW` throughout."""
    trainer = _Trainer(params, state, betas, eps, weight_decay)
    batches = list(batches)
    rates = [lr] * len(batches) if np.ndim(lr) == 0 else list(lr)
    generator = generator_of(rng)
    losses = [
        trainer.train_step(x, y, config, float(rate), max_norm, generator)
        for rate, (x, y) in zip(rates, batches, strict=False)
    ]
    return trainer.params, trainer.state, losses


def train_losses(*args: Any, **kwargs: Any) -> list[float]:
    """What `train` gives, without the parameters and the state: a hundred numbers to be kept instead of 40,000."""
    losses: list[float] = train(*args, **kwargs)[2]
    return losses
