"""Beginners' wrong versions of `training`; each docstring lists the mistakes that the report should name."""

import math
import numpy as np

def _adam(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, variant=""):
    t = state.get("step", 0) + 1
    b1, b2 = betas
    P, M, V = {}, {}, {}
    for n, p in params.items():
        g = grads[n]
        m = b1 * (state["m"][n] if state else 0) + (1 - b1) * g
        v = b2 * (state["v"][n] if state else 0) + (1 - b2) * g * g
        if variant == "v_first": v = b2 * (state["v"][n] if state else 0) + (1 - b2) * g
        if variant == "m2": v = b2 * (state["v"][n] if state else 0) + (1 - b2) * m * m
        if variant == "swap_weights": m = (1 - b1) * (state["m"][n] if state else 0) + b1 * g; v = (1 - b2) * (state["v"][n] if state else 0) + b2 * g * g
        if variant == "sum": m = b1 * (state["m"][n] if state else 0) + g; v = b2 * (state["v"][n] if state else 0) + g * g
        mh, vh = m / (1 - b1**t), v / (1 - b2**t)
        if variant == "store_hat": m, v = mh, vh
        if variant == "beta_t": mh, vh = m / (1 - b1 * t), v / (1 - b2 * t)
        d = np.sqrt(vh) + eps
        if variant == "no_sqrt": d = vh + eps
        if variant == "no_eps": d = np.sqrt(vh)
        if variant == "abs": d = np.sqrt(np.abs(vh) + eps)
        q = p * (1 - lr * weight_decay) - lr * mh / d
        if variant == "plus": q = p * (1 - lr * weight_decay) + lr * mh / d
        if variant == "decay_plus": q = p * (1 + lr * weight_decay) - lr * mh / d
        if variant == "no_decay": q = p - lr * mh / d
        if variant == "no_decay_1d" and p.ndim < 2: q = p - lr * mh / d
        if variant == "g": q = p * (1 - lr * weight_decay) - lr * g / d
        P[n], M[n], V[n] = q.astype(p.dtype), m.astype(p.dtype), v.astype(p.dtype)
    return P, {"step": t, "m": M, "v": V}

def _clip(grads, max_norm, tiny, cond=True):
    norm = math.sqrt(sum(float((g.astype(float)**2).sum()) for g in grads.values()))
    s = max_norm / (norm + tiny) if norm + tiny else 1
    if cond and s >= 1: return dict(grads), norm
    return {n: (g * s).astype(g.dtype) for n, g in grads.items()}, norm

@variants(
    m_squared=("average-squared", "v_first", "m2"),
    swap_weights=("shares-exchanged", "v_first", "swap_weights"),
    sum=("added-in-full", "v_first", "sum"),
    store_hat=("corrected-averages-kept", "v_first", "store_hat"),
    beta_times_t=("beta-times-step", "v_first", "beta_t"),
    no_sqrt=("no-root", "v_first", "no_sqrt"),
    no_eps=("no-eps", "v_first", "no_eps"),
    ascent=("uphill", "v_first", "plus"),
    no_decay=("no-decay", "v_first", "no_decay"),
    no_decay_1d=("matrices-decay-only", "v_first", "no_decay_1d"),
    g=("gradient-for-average", "v_first", "g"),
    decay_plus=("decay-grows", "v_first", "decay_plus"),
    eps_in_root_abs=("eps-inside-root", "v_first", "abs"),
)
def adamw_step__v_of_g(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    """gradient-not-squared"""
    return _adam(params, grads, state, lr, betas, eps, weight_decay, "v_first")

def adamw_step__state_in_place(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    """state-in-place"""
    P, s = _adam(params, grads, state, lr, betas, eps, weight_decay)
    state.update(s)
    return P, state

def _check(step, warmup_steps, total_steps):
    if step < 0 or warmup_steps < 0 or warmup_steps > total_steps:
        raise ValueError("bad steps")

@variants(
    tiny8=("another-small-number", "max_norm, 0", "max_norm, 1e-8"),
    only_grads=("norm-not-returned", "(grads, max_norm, 0)", "(grads, max_norm, 1e-6)[0]"),
)
def clip_grad_norm__no_tiny(grads, max_norm):
    """no-small-number"""
    return _clip(grads, max_norm, 0)

@variants(
    max_abs=("largest-number", "sum(np.sum(g**2)", "max(np.abs(g).max()"),
    div0=("no-small-number no-small-number-at-0", "float(sum", "np.sqrt(sum", "(norm + 1e-6)", "norm"),
)
def clip_grad_norm__squared(grads, max_norm):
    """no-root"""
    norm = float(sum(np.sum(g**2) for g in grads.values()))
    s = min(1, max_norm / (norm + 1e-6))
    return {n: g * s for n, g in grads.items()}, norm

@variants(
    no_plus_one=("warm-up-from-0", "max_lr * (step + 1)", "max_lr * step"),
    warm_from_min=("warm-up-from-min", "return max_lr * (step", "return min_lr + (max_lr - min_lr) * (step"),
    nanogpt=("warm-up-one-longer", "/ warmup_steps", "/ (warmup_steps + 1)"),
    zero_warmup=(
        "warm-up-of-0", "if step < warmup_steps: return max_lr * (step + 1) / warmup_steps",
        "rate = max_lr * (step + 1) / warmup_steps\n    if step < warmup_steps: return rate",
    ),
    total_minus_one=("ends-one-step-early", "(total_steps - warmup_steps)", "max(1, total_steps - warmup_steps - 1)"),
    minus_min=("amplitude-not-reduced", "0.5 * (max_lr - min_lr)", "0.5 * max_lr"),
    no_half=("no-half", "0.5 * (max_lr", "(max_lr"),
    linear=("straight-line", "0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * p))", "(1 - p) * (max_lr - min_lr)"),
    after_the_end_only=("zero-length-decay", "step >= total_steps", "step > total_steps"),
    no_error=("negative-step-accepted", "_check(step, warmup_steps, total_steps)\n    ", ""),
    total_after_warmup=(
        "total-without-warm-up", "if step >= total_steps: return min_lr\n    ", "",
        "(step - warmup_steps) / (total_steps - warmup_steps)", "min(1.0, (step - warmup_steps) / total_steps)",
    ),
)
def learning_rate__right(step, max_lr, min_lr, warmup_steps, total_steps):
    """base"""
    _check(step, warmup_steps, total_steps)
    if step < warmup_steps: return max_lr * (step + 1) / warmup_steps
    if step >= total_steps: return min_lr
    p = (step - warmup_steps) / (total_steps - warmup_steps)
    return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * p))

def train_step__clip_after(params, state, x, y, config, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None):
    """parameters-clipped"""
    loss, grads = gpt_loss(x, y, params, config, rng)
    params, state = adamw_step(params, grads, state, lr, betas, eps, weight_decay)
    if max_norm is not None: params, _ = clip_grad_norm(params, max_norm)
    return loss, params, state

@variants(
    options_dropped=("options-dropped", "lr, betas, eps, weight_decay)", "lr)"),
    eps_lost=("eps-dropped", "betas, eps, weight_decay)", "betas, weight_decay=weight_decay)"),
    clip_tuple=("clip-not-unpacked", "grads, _ = clip", "grads = clip"),
    if_max_norm=("limit-of-0-ignored", "if max_norm is not None", "if max_norm"),
    x_for_y=("answers-are-questions", "gpt_loss(x, y,", "gpt_loss(x, x,"),
    y_shifted=("shifted-again", "gpt_loss(x, y,", "gpt_loss(x[:, :-1], y[:, 1:],"),
)
def train_step__right(params, state, x, y, config, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None):
    """base"""
    loss, grads = gpt_loss(x, y, params, config, rng)
    if max_norm is not None: grads, _ = clip_grad_norm(grads, max_norm)
    params, state = adamw_step(params, grads, state, lr, betas, eps, weight_decay)
    return loss, params, state

@variants(
    nothing=("effect", "len(y); n += len(y)", "y.size; n += y.size"),
    perplexity=("perplexity effect", "len(y); n += len(y)", "y.size; n += y.size", "t / n", "math.exp(t / n)"),
)
def estimate_loss__weighted_by_rows(params, config, batches):
    """texts-counted effect"""
    t = n = 0
    for x, y in batches:
        t += cross_entropy(gpt(x, params, config)[0], y) * len(y); n += len(y)
    return t / n

def estimate_loss__sum(params, config, batches):
    """sum-not-mean effect"""
    return sum(cross_entropy(gpt(x, params, config)[0], y) for x, y in batches)

def estimate_loss__last(params, config, batches):
    """last-batch-only effect"""
    for x, y in batches: loss = cross_entropy(gpt(x, params, config)[0], y)
    return loss

@variants(
    last_rate=("loss-after-the-step", "append(loss)", "append(gpt_loss(x, y, params, config, rng)[0])"),
    scalar_only=("one-rate-only", "lr if np.iterable(lr) else [lr]", "[lr]"),
    options_dropped=("options-and-norm-dropped", "r, betas, eps, weight_decay, max_norm,", "r,"),
    first_batch=("same-batch", "loss, params, state = ", "x, y = batches[0]\n        loss, params, state = "),
    list_of_batches=("batches-listed", "state or {}", "state or {}; batches = list(batches)"),
)
def train__right(params, config, batches, lr, state=None, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None):
    """base"""
    losses = []; state = state or {}
    rates = lr if np.iterable(lr) else [lr] * len(batches)
    for r, (x, y) in zip(rates, batches):
        loss, params, state = train_step(params, state, x, y, config, r, betas, eps, weight_decay, max_norm, rng=rng)
        losses.append(loss)
    return params, state, losses

def adamw_step__numpy_root(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    """all-float64"""
    t = state.get("step", 0) + 1
    first, second = np.power(betas, 1)
    new, m, v = {}, {}, {}
    for k in params:
        m[k] = first * state["m"][k] + (1 - first) * grads[k] if state else (1 - first) * grads[k]
        v[k] = second * state["v"][k] + (1 - second) * grads[k] ** 2 if state else (1 - second) * grads[k] ** 2
        new[k] = params[k] * (1 - lr * weight_decay) - lr * (m[k] / (1 - first**t)) / (np.sqrt(v[k] / (1 - second**t)) + eps)
    return new, {"step": t, "m": m, "v": v}

def adamw_step__averages_in_place(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    """averages-in-place"""
    m = dict(state["m"]) if state else {k: np.zeros_like(p) for k, p in params.items()}
    v = dict(state["v"]) if state else {k: np.zeros_like(p) for k, p in params.items()}
    t, new = state.get("step", 0) + 1, {}
    for k, g in grads.items():
        m[k] *= betas[0]
        m[k] += (1 - betas[0]) * g
        v[k] *= betas[1]
        v[k] += (1 - betas[1]) * g * g
        new[k] = params[k] - lr * weight_decay * params[k] - lr * (m[k] / (1 - betas[0]**t)) / (np.sqrt(v[k] / (1 - betas[1]**t)) + eps)
    return new, {"step": t, "m": m, "v": v}

def clip_grad_norm__loop_overwrites(grads, max_norm):
    """last-array-only"""
    for g in grads.values():
        norm = float(np.sqrt((g**2).sum()))
    return {k: g * min(1.0, max_norm / (norm + 1e-6)) for k, g in grads.items()}, norm

def estimate_loss__len(params, config, batches):
    """batches-counted"""
    if len(batches) == 0:
        raise ValueError("no batch")
    losses = [(cross_entropy(gpt(x, params, config)[0], y), y.size) for x, y in batches]
    return float(np.average([loss for loss, _ in losses], weights=[n for _, n in losses]))

def train__isinstance(params, config, batches, lr, state=None, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None):
    """lists-and-numbers-only"""
    losses, state = [], state or {}
    for i, (x, y) in enumerate(batches):
        if isinstance(lr, list) and i >= len(lr):
            break
        rate = lr[i] if isinstance(lr, list) else lr
        loss, params, state = train_step(params, state, x, y, config, rate, betas, eps, weight_decay, max_norm, rng=rng)
        losses.append(loss)
    return params, state, losses
