"""Short: the merged matrix, the log of a sum of exponentials, and one array for the whole text."""

import numpy as np
from softmax import softmax


def chat_example(turns, special):
    user, assistant, end = (special[name] for name in ("user", "assistant", "end"))
    if not turns or any(np.isin([*q, *a], [user, assistant, end]).any() for q, a in turns): raise ValueError("not allowed")
    both = np.array([pair for q, a in turns for pair in [(user, 0), *((t, 0) for t in q), (assistant, 0), *((t, 1) for t in a), (end, 1)]], np.int64)
    return both[:-1, 0], both[1:, 0], both[1:, 1] == 1


def answer_loss(logits, targets, mask):
    if not mask.any(): raise ValueError("no target")
    d, p = np.zeros_like(logits), softmax(logits[mask])
    z, onehot = logits[mask].astype(float), np.eye(logits.shape[-1], dtype=logits.dtype)[targets[mask]]
    d[mask] = (p - onehot) / logits.dtype.type(len(p))
    return float(np.mean(np.logaddexp.reduce(z, axis=-1) - (z * onehot).sum(-1))), d


def lora_linear(x, W, A, B, alpha):
    merged = W + A @ (B * (alpha / len(B)))
    return np.einsum("...d,df->...f", x, merged), (x, A, B, merged, alpha / len(B))


def lora_linear_backward(dout, cache):
    x, A, B, merged, s = cache
    dW = s * np.einsum("nd,nf->df", x.reshape(-1, x.shape[-1]), dout.reshape(-1, dout.shape[-1]))
    return np.einsum("...f,df->...d", dout, merged), dW @ B.T, A.T @ dW


def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta=0.1):
    m = beta * (chosen - rejected - ref_chosen + ref_rejected)
    d = beta * softmax(np.stack([0 * m, m]), axis=0)[0] / len(m)
    return float(np.mean(np.maximum(-m, 0) + np.log1p(np.exp(-abs(m))))), -d, d
