"""Losses to compare a model's with: a uniform guess, counting pairs of characters, the entropy of the language."""

import math

import numpy as np

from autograder.models.training.settings import TrainingSettings
from autograder.models.training.text_files import TRAIN_FRACTION


def baselines(settings: TrainingSettings, text: str) -> dict[str, float]:
    """Return what each baseline is called, and its loss in nats per character."""
    size = len(set(text))
    losses = {f"uniform guess: log {size}": math.log(size)}
    if settings.kind != "encoder-decoder":  # which learns to copy: how common a pair is does not matter
        losses["counting pairs"] = counting_loss(text)
    if (entropy := settings.entropy_floor()) is not None:
        losses["entropy of the language"] = entropy
    return losses


def counting_loss(text: str) -> float:
    """Return the loss on the validation text of counting the pairs of the training text and adding 1 to each count."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    chars, ids = np.unique(codes, return_inverse=True)
    n_train, size = int(len(ids) * TRAIN_FRACTION), len(chars)
    pairs = ids[:-1] * size + ids[1:]
    counts = np.bincount(pairs[: n_train - 1], minlength=size * size).reshape(size, size) + 1.0
    log_probs = np.log(counts / counts.sum(axis=1, keepdims=True)).reshape(-1)
    return float(-log_probs[pairs[n_train:]].mean())
