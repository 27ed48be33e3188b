"""As few lines as possible."""

from itertools import repeat
from math import cos, pi

import numpy as np
from gpt import gpt, gpt_loss
from softmax import cross_entropy


def adamw_step(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    (b1, b2), t, lr = betas, state.get("step", 0) + 1, float(lr)
    average = lambda key, b, new: {k: b * state[key][k] + (1 - b) * x if state else (1 - b) * x for k, x in new.items()}
    m, v = average("m", b1, grads), average("v", b2, {k: g**2 for k, g in grads.items()})
    step = lambda k: lr * (m[k] / (1 - b1**t)) / ((v[k] / (1 - b2**t)) ** 0.5 + eps)
    return {k: p - lr * weight_decay * p - step(k) for k, p in params.items()}, {"step": t, "m": m, "v": v}


def clip_grad_norm(grads, max_norm):
    norm = float(np.linalg.norm(np.concatenate([g.ravel() for g in grads.values()])))
    return {k: g * min(1, max_norm / (norm + 1e-6)) for k, g in grads.items()}, norm


def learning_rate(step, max_lr, min_lr, warmup_steps, total_steps):
    if min(step, warmup_steps, total_steps - warmup_steps) < 0:
        raise ValueError
    if step < warmup_steps or step >= total_steps:
        return max_lr * (step + 1) / warmup_steps if step < warmup_steps else min_lr
    return min_lr + (max_lr - min_lr) / 2 * (1 + cos(pi * (step - warmup_steps) / (total_steps - warmup_steps)))


def train_step(params, state, x, y, config, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None):
    params, state, (loss,) = train(params, config, [(x, y)], [lr], state, betas, eps, weight_decay, max_norm, rng)
    return loss, params, state


def estimate_loss(params, config, batches):
    if not (pairs := [(cross_entropy(gpt(x, params, config)[0], y), np.size(y)) for x, y in batches]):
        raise ValueError
    return float(np.average([loss for loss, _ in pairs], weights=[n for _, n in pairs]))


def train(params, config, batches, lr, state=None, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None):
    losses, state = [], state or {}
    for (x, y), rate in zip(batches, lr if np.iterable(lr) else repeat(lr)):
        loss, grads = gpt_loss(x, y, params, config, rng)
        losses.append(loss)
        clipped = clip_grad_norm(grads, np.inf if max_norm is None else max_norm)[0]
        params, state = adamw_step(params, clipped, state, rate, betas, eps, weight_decay)
    return params, state, losses
