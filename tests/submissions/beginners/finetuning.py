"""Wrong answers to `finetuning` as beginners write them; the docstring is what the report should call them."""

import numpy as np
from softmax import log_softmax, softmax


@variants(
    all_count=("questions-count", "mask += [0] * (len(q) + 2) + [1]", "mask += [1] * (len(q) + 2) + [1]",
               "mask[:-1]", "mask[1:]"),
    assistant_too=("assistant-counted", "[0] * (len(q) + 2)", "[0] * (len(q) + 1) + [1]", "mask[:-1]", "mask[1:]"),
    never_ends=("end-not-counted", "[1] * (len(a) + 1)", "[1] * len(a) + [0]", "mask[:-1]", "mask[1:]"),
    same=("targets-not-shifted", "text[1:]", "text[:-1]", "mask[:-1]", "mask[1:]"),
    trusting=("special-accepted", "if s in q or s in a:", "if s is None:", "mask[:-1]", "mask[1:]"),
)  # fmt: skip
def chat_example__late_mask(turns, special):
    """mask-not-shifted"""
    if len(turns) == 0:
        raise ValueError("no turns")
    text, mask = [], []
    for q, a in turns:
        q, a = list(q), list(a)
        for s in special.values():
            if s in q or s in a:
                raise ValueError("special token")
        text += [special["user"]] + q + [special["assistant"]] + a + [special["end"]]
        mask += [0] * (len(q) + 2) + [1] * (len(a) + 1)
    text, mask = np.array(text, dtype=np.int64), np.array(mask, dtype=bool)
    return text[:-1], text[1:], mask[:-1]


@variants(
    unmasked=("gradient-not-masked", "d * mask[..., None] / mask.size", "d / mask.sum()", "/ mask.size", "/ mask.sum()"),
    no_n=("gradient-not-divided", "d * mask[..., None] / mask.size", "d * mask[..., None]", "/ mask.size", "/ mask.sum()"),
    sign=("loss-negated", "-(chosen", "(chosen", "d * mask[..., None] / mask.size",
          "d * mask[..., None] / mask.sum()", "/ mask.size", "/ mask.sum()"),
)  # fmt: skip
def answer_loss__all_positions(logits, targets, mask):
    """divided-by-all"""
    if not mask.any():
        raise ValueError("nothing to learn")
    safe = np.where(mask, targets, 0)
    chosen = np.take_along_axis(log_softmax(logits), safe[..., None], axis=-1)[..., 0]
    loss = -(chosen * mask).sum() / mask.size
    d = softmax(logits) - np.eye(logits.shape[-1])[safe]
    return float(loss), (d * mask[..., None] / mask.size).astype(logits.dtype)


@variants(
    all_scaled=("everything-scaled", "np.dot(x, W) + alpha * np.dot(np.dot(x, A), B)",
                "alpha / A.shape[1] * (np.dot(x, W) + np.dot(np.dot(x, A), B))"),
    alone=("W-left-out", "np.dot(x, W) + alpha", "alpha / A.shape[1]"),
    wrong_side=("divided-by-D", "alpha *", "alpha / len(A) *"),
)  # fmt: skip
def lora_linear__any_r(x, W, A, B, alpha):
    """not-divided-by-r"""
    return np.dot(x, W) + alpha * np.dot(np.dot(x, A), B), (x, W, A, B, alpha)


@variants(
    only_W=("dx-without-A-and-B", "s * dout @ B.T @ A.T", "dout @ W.T"),
    unscaled=("dB-not-scaled", "s * dout @ B.T @ A.T", "dout @ W.T + s * dout @ B.T @ A.T", "dB = s * ", "dB = "),
    forgot=("dA-not-scaled", "s * dout @ B.T @ A.T", "dout @ W.T + s * dout @ B.T @ A.T", "dA = s * ", "dA = "),
)
def lora_linear_backward__frozen(dout, cache):
    """dx-without-W"""
    x, narrow, W, A, B, s = cache
    dx = s * dout @ B.T @ A.T
    x, narrow, d = (z.reshape(-1, z.shape[-1]) for z in (x, narrow, dout))
    dA = s * x.T @ (d @ B.T)
    dB = s * narrow.T @ d
    return dx, dA, dB


@variants(
    naive=("overflow", "chosen - rejected", "chosen - rejected - ref_chosen + ref_rejected",
           "np.logaddexp(0, -m)", "-np.log(1 / (1 + np.exp(-m)))", "np.exp(-np.logaddexp(0, m))", "1 / (1 + np.exp(m))"),
    other_side=("sigmoid-of-m", "chosen - rejected", "chosen - rejected - ref_chosen + ref_rejected",
                "np.logaddexp(0, m))", "np.logaddexp(0, -m))"),
    no_chain=("beta-not-in-gradient", "chosen - rejected", "chosen - rejected - ref_chosen + ref_rejected", "beta * np.exp", "np.exp"),
    upside_down=("gradients-exchanged", "chosen - rejected", "chosen - rejected - ref_chosen + ref_rejected", "-g, g", "g, -g"),
)  # fmt: skip
def dpo_loss__no_reference(chosen, rejected, ref_chosen, ref_rejected, beta=0.1):
    """reference-ignored"""
    m = beta * (chosen - rejected)
    g = beta * np.exp(-np.logaddexp(0, m)) / len(m)
    return float(np.mean(np.logaddexp(0, -m))), -g, g
