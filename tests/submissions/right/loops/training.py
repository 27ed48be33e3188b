"""Array by array and batch by batch, with the corrections folded into the step size."""

import math

import numpy as np
from gpt import gpt, gpt_loss


def adamw_step(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    new = {"step": 1, "m": {}, "v": {}}
    if state:
        new["step"] = state["step"] + 1
    t = new["step"]
    result = {}
    for name in params:
        gradient = np.array(grads[name])
        m = np.zeros_like(gradient) if not state else state["m"][name].copy()
        v = np.zeros_like(gradient) if not state else state["v"][name].copy()
        m += (gradient - m) * (1 - betas[0])
        v += (gradient * gradient - v) * (1 - betas[1])
        p = params[name].copy()
        p -= lr * weight_decay * p
        size = lr * math.sqrt(1 - betas[1] ** t) / (1 - betas[0] ** t)
        p -= size * m / (np.sqrt(v) + eps * math.sqrt(1 - betas[1] ** t))
        result[name], new["m"][name], new["v"][name] = p, m, v
    return result, new


def clip_grad_norm(grads, max_norm):
    squares = 0.0
    for name in grads:
        for number in grads[name].ravel():
            squares += float(number) ** 2
    norm = math.sqrt(squares)
    clipped = {}
    for name in grads:
        clipped[name] = grads[name].copy()
        if norm > max_norm:
            clipped[name] *= max_norm / (norm + 1e-6)
    return clipped, norm


def learning_rate(step, max_lr, min_lr, warmup_steps, total_steps):
    if step < 0 or warmup_steps < 0 or warmup_steps > total_steps:
        raise ValueError("impossible")
    if step < warmup_steps:
        lr = 0.0
        for _ in range(step + 1):
            lr += max_lr / warmup_steps
        return lr
    if step >= total_steps:
        return min_lr
    done = (step - warmup_steps) / (total_steps - warmup_steps)
    return min_lr + (max_lr - min_lr) * math.cos(math.pi * done / 2) ** 2


def train_step(params, state, x, y, config, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None):
    loss, grads = gpt_loss(x, y, params, config, rng)
    if max_norm is not None:
        grads, _ = clip_grad_norm(grads, max_norm)
    params, state = adamw_step(params, grads, state, lr, betas, eps, weight_decay)
    return loss, params, state


def estimate_loss(params, config, batches):
    losses = []
    for x, y in batches:
        logits, _ = gpt(x, params, config)
        for row, target in zip(logits.reshape(-1, logits.shape[-1]), np.ravel(y)):
            top = row.max()
            losses.append(float(top - row[target] + np.log(np.exp(row - top).sum())))
    if not losses:
        raise ValueError("nothing to look at")
    return math.fsum(losses) / len(losses)


def train(params, config, batches, lr, state=None, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None):
    rates = iter(lr) if hasattr(lr, "__iter__") else None
    losses, state = [], state or {}
    for x, y in batches:
        try:
            rate = lr if rates is None else next(rates)
        except StopIteration:
            break
        loss, params, state = train_step(params, state, x, y, config, float(rate), betas, eps, weight_decay, max_norm, rng)
        losses.append(loss)
    return params, state, losses
