"""One token and one row after another; the state is written down as Python lists."""

import math

import numpy as np


def chat_example(turns, special):
    text, counts = [], []
    for question, answer in turns:
        if set(special.values()) & {int(token) for token in (*question, *answer)}:
            raise ValueError("there is a special token in the text")
        for token in [special["user"], *question, special["assistant"]]:
            text.append(int(token))
            counts.append(False)
        for token in [*answer, special["end"]]:
            text.append(int(token))
            counts.append(True)
    if len(turns) == 0:
        raise ValueError("nothing was said")
    x, targets, mask = [], [], []
    for i in range(1, len(text)):
        x.append(text[i - 1])
        targets.append(text[i])
        mask.append(counts[i])
    return np.array(x, np.int64), np.array(targets, np.int64), np.array(mask, bool)


def answer_loss(logits, targets, mask):
    loss, n = 0.0, 0
    dlogits = np.zeros_like(logits)
    for place in np.ndindex(mask.shape):
        if mask[place]:
            row = logits[place] - logits[place].max()
            exps = np.exp(row)
            total = exps.sum()
            target = targets[place]
            loss += math.log(total) - float(row[target])
            dlogits[place] = exps / total
            dlogits[(*place, target)] -= 1
            n += 1
    if n == 0:
        raise ValueError("nothing counts")
    return loss / n, dlogits / dlogits.dtype.type(n)


def lora_linear(x, W, A, B, alpha):
    factor = x.dtype.type(alpha / len(B))
    rows = x.reshape(-1, x.shape[-1])
    out = np.empty((len(rows), W.shape[1]), x.dtype)
    for i in range(len(rows)):
        out[i] = np.dot(rows[i], W) + factor * np.dot(np.dot(rows[i], A), B)
    return out.reshape(*x.shape[:-1], W.shape[1]), {"x": x, "W": W, "A": A, "B": B, "factor": factor}


def lora_linear_backward(dout, cache):
    A, B, W, factor = cache["A"], cache["B"], cache["W"], cache["factor"]
    rows = cache["x"].reshape(-1, len(A))
    douts = dout.reshape(-1, W.shape[1])
    dx, dA, dB = np.empty_like(rows), np.zeros_like(A), np.zeros_like(B)
    for i in range(len(rows)):
        down = factor * np.dot(B, douts[i])
        dA += np.outer(rows[i], down)
        dB += factor * np.outer(np.dot(rows[i], A), douts[i])
        dx[i] = np.dot(W, douts[i]) + np.dot(A, down)
    return dx.reshape(cache["x"].shape), dA, dB


def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta=0.1):
    n, loss = len(chosen), 0.0
    dchosen, drejected = np.zeros_like(chosen), np.zeros_like(rejected)
    for i in range(n):
        m = beta * (float(chosen[i]) - float(ref_chosen[i]) - float(rejected[i]) + float(ref_rejected[i]))
        small = math.exp(-abs(m))
        loss += max(-m, 0.0) + math.log1p(small)
        other_side = small / (1 + small) if m > 0 else 1 / (1 + small)
        dchosen[i] = -beta * other_side / n
        drejected[i] = beta * other_side / n
    return loss / n, dchosen, drejected
