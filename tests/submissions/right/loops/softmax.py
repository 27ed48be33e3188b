"""One row at a time, with plain sums; float32 rows are summed in float64."""

import math

import numpy as np


def _rows(x, axis):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    return moved.reshape(-1, moved.shape[-1]), moved.shape, x.dtype


def _back(rows, shape, dtype, axis):
    return np.moveaxis(np.array(rows, dtype=dtype).reshape(shape), -1, axis)


def softmax(x, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError("the temperature has to be larger than 0")
    rows, shape, dtype = _rows(x, axis)
    out = []
    for row in rows.tolist():
        top = max(row)
        powers = [math.exp((value - top) / temperature) for value in row]
        total = math.fsum(powers)
        out.append([power / total for power in powers])
    return _back(out, shape, dtype, axis)


def log_softmax(x, axis=-1):
    rows, shape, dtype = _rows(x, axis)
    out = []
    for row in rows.tolist():
        top = max(row)
        log_total = math.log(math.fsum(math.exp(value - top) for value in row))
        out.append([value - top - log_total for value in row])
    return _back(out, shape, dtype, axis)


def cross_entropy(logits, targets):
    rows, _, _ = _rows(logits, -1)
    total = 0.0
    for row, target in zip(rows, np.asarray(targets).reshape(-1), strict=True):
        total -= float(log_softmax(row.astype(np.float64))[target])
    return total / len(rows)


def softmax_backward(dout, probs, axis=-1):
    p, shape, dtype = _rows(probs, axis)
    d, _, _ = _rows(dout, axis)
    out = []
    for p_row, d_row in zip(p.tolist(), d.tolist(), strict=True):
        mean = math.fsum(a * b for a, b in zip(p_row, d_row, strict=True))
        out.append([a * (b - mean) for a, b in zip(p_row, d_row, strict=True)])
    return _back(out, shape, dtype, axis)


def cross_entropy_backward(logits, targets):
    probs = softmax(logits)
    flat = probs.reshape(-1, probs.shape[-1])
    for row, target in zip(flat, np.asarray(targets).reshape(-1), strict=True):
        row[target] -= 1
    return (flat / len(flat)).reshape(probs.shape).astype(probs.dtype)
