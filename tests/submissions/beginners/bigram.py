"""Wrong answers to `bigram` as beginners write them; each docstring lists the mistakes that the report should name."""

import numpy as np

from softmax import cross_entropy, cross_entropy_backward, log_softmax, softmax

def generate_bigram__argmax(W, start, n_new, rng):
    """greedy"""
    if not 0 <= start < len(W) or n_new < 0:
        raise ValueError
    out = [start]
    for _ in range(n_new):
        out.append(int(np.argmax(W[out[-1]])))
    return np.array(out)

def bigram_loss__assigned(ids, targets, W):
    """last-pair-only"""
    logits = W[ids]
    grad = np.zeros_like(W)
    grad[ids] += cross_entropy_backward(logits, targets)
    return cross_entropy(logits, targets), grad

def bigram_loss__forgot_the_mean(ids, targets, W):
    """gradient-not-divided"""
    x, y = np.ravel(ids), np.ravel(targets)
    grad = np.zeros_like(W)
    for i, j in zip(x, y):
        grad[i] += softmax(W[i])
        grad[i, j] -= 1
    return cross_entropy(W[x], y), grad

def bigram_loss__only_softmax(ids, targets, W):
    """target-not-subtracted"""
    p = softmax(W[ids])
    dW = np.zeros_like(W)
    np.add.at(dW, ids, p / W.dtype.type(np.size(ids)))
    return cross_entropy(W[ids], targets), dW

def bigram_loss__row_mean(ids, targets, W):
    """mean-of-a-token"""
    ids, targets = ids.ravel(), targets.ravel()
    dW = np.zeros_like(W)
    d = cross_entropy_backward(W[ids], targets)
    for token in set(ids.tolist()):
        dW[token] = d[ids == token].mean(axis=0)
    return cross_entropy(W[ids], targets), dW

def bigram_loss__log_of_softmax(ids, targets, W):
    """logarithm-of-a-probability"""
    p = softmax(W[ids])
    dW = np.zeros_like(W)
    np.add.at(dW, ids, cross_entropy_backward(W[ids], targets))
    with np.errstate(divide="ignore"):
        return float(-np.log(np.take_along_axis(p, targets[..., None], axis=-1)).mean()), dW

@variants(
    in_place=("in-place", "return W + lr * dW", "W -= lr * dW\n    return W"),
)
def sgd_step__plus(W, dW, lr):
    """uphill"""
    return W + lr * dW

@variants(
    torch_habit=("step-not-kept", "W = sgd_step", "sgd_step"),
    batch_outside=(
        "same-batch", "for _ in range(steps):\n        i = rng.integers(0, len(ids) - 1, size=batch_size)",
        "i = rng.integers(0, len(ids) - 1, size=batch_size)\n    for _ in range(steps):",
    ),
    random_start=(
        "starts-from-random", "np.zeros((vocab_size, vocab_size))", "rng.normal(size=(vocab_size, vocab_size))",
    ),
    last_place_missing=("last-place-never-drawn", "len(ids) - 1", "max(len(ids) - 2, 1)"),
)
def train_bigram__right(ids, vocab_size, steps, lr, batch_size, rng):
    """base"""
    W = np.zeros((vocab_size, vocab_size))
    losses = []
    for _ in range(steps):
        i = rng.integers(0, len(ids) - 1, size=batch_size)
        loss, dW = bigram_loss(ids[i], ids[i + 1], W)
        W = sgd_step(W, dW, lr)
        losses.append(loss)
    return W, losses

def train_bigram__numpy_losses(ids, vocab_size, steps, lr, batch_size, rng):
    """losses-as-array"""
    W, losses = np.zeros((vocab_size, vocab_size)), np.zeros(steps)
    for step in range(steps):
        i = rng.integers(0, len(ids) - 1, size=batch_size)
        losses[step], dW = bigram_loss(ids[i], ids[i + 1], W)
        W = sgd_step(W, dW, lr)
    return W, losses
