"""An optimizer object that owns its arrays and works in place on them, like PyTorch's; the functions wrap it."""

import copy
import math
from itertools import cycle

import numpy as np
from gpt import gpt, gpt_loss
from softmax import log_softmax


class AdamW:
    def __init__(self, params, state, betas, eps, weight_decay):
        self.params = copy.deepcopy(params)
        self.betas, self.eps, self.weight_decay = betas, eps, weight_decay
        state = copy.deepcopy(state) if state else {}
        self.t = state.get("step", 0)
        self.m = state.get("m") or {name: np.zeros_like(p) for name, p in params.items()}
        self.v = state.get("v") or {name: np.zeros_like(p) for name, p in params.items()}

    def step(self, grads, lr):
        self.t += 1
        b1, b2 = (float(b) for b in self.betas)
        for name, p in self.params.items():
            g, m, v = grads[name], self.m[name], self.v[name]
            p *= 1 - float(lr) * self.weight_decay
            m *= b1
            m += (1 - b1) * g
            v *= b2
            v += (1 - b2) * np.square(g)
            p -= float(lr) * (m / (1 - b1**self.t)) / (np.sqrt(v / (1 - b2**self.t)) + self.eps)

    @property
    def state(self):
        return {"step": self.t, "m": self.m, "v": self.v} if self.t else {}


class Trainer:
    def __init__(self, params, state, config, max_norm, *options):
        self.optimizer, self.config, self.max_norm = AdamW(params, state, *options), config, max_norm

    def step(self, x, y, lr):
        loss, grads = gpt_loss(x, y, self.optimizer.params, self.config)
        if self.max_norm is not None:
            grads = clip_grad_norm(grads, self.max_norm)[0]
        self.optimizer.step(grads, lr)
        return loss


def adamw_step(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    optimizer = AdamW(params, state, betas, eps, weight_decay)
    optimizer.step(grads, lr)
    return optimizer.params, optimizer.state


def clip_grad_norm(grads, max_norm):
    norm = float(np.linalg.norm([np.linalg.norm(g) for g in grads.values()]))
    factor = min(1.0, max_norm / (norm + 1e-6))
    return {name: factor * g for name, g in grads.items()}, norm


class Schedule:
    def __init__(self, max_lr, min_lr, warmup_steps, total_steps):
        if not 0 <= warmup_steps <= total_steps:
            raise ValueError("warm-up")
        self.high, self.low, self.warm, self.total = max_lr, min_lr, warmup_steps, total_steps

    def __getitem__(self, step):
        if step < 0:
            raise ValueError("negative step")
        if step < self.warm:
            return self.high * ((step + 1) / self.warm)
        share = min(1.0, (step - self.warm) / max(1, self.total - self.warm)) if step < self.total else 1.0
        return 0.5 * (self.high + self.low) + 0.5 * (self.high - self.low) * math.cos(math.pi * share)


def learning_rate(step, max_lr, min_lr, warmup_steps, total_steps):
    return Schedule(max_lr, min_lr, warmup_steps, total_steps)[step]


def train_step(params, state, x, y, config, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None):
    trainer = Trainer(params, state, config, max_norm, betas, eps, weight_decay)
    loss = trainer.step(x, y, lr)
    return loss, trainer.optimizer.params, trainer.optimizer.state


class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, values):
        self.total, self.count = self.total + float(values.sum(dtype=float)), self.count + values.size

    def __float__(self):
        if not self.count:
            raise ValueError("the mean of nothing")
        return self.total / self.count


def estimate_loss(params, config, batches):
    mean = Mean()
    for x, y in batches:
        mean.add(-np.take_along_axis(log_softmax(gpt(x, params, config)[0]), np.asarray(y)[..., None], -1))
    return float(mean)


def train(params, config, batches, lr, state=None, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None):
    trainer = Trainer(params, state, config, max_norm, betas, eps, weight_decay)
    rates = lr if np.ndim(lr) else cycle([lr])
    losses = [trainer.step(x, y, rate) for rate, (x, y) in zip(rates, batches)]
    return trainer.optimizer.params, trainer.optimizer.state, losses
