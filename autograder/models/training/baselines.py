"""Losses to compare a model's with: a uniform guess, counting pairs of characters, the entropy of the language."""

import math

import numpy as np

from autograder.core.text import clean
from autograder.courses.transformer.training.settings import TrainingSettings
from autograder.models.training.datasets import TRAIN_FRACTION


def baselines(settings: TrainingSettings, text: str) -> dict[str, float]:
    """Return what each baseline is called, and its loss in nats per character."""
    size = len(set(text))
    losses = {f"uniform guess: log {size}": math.log(size)}
    if settings.kind != "encoder-decoder":  # which learns to copy: how common a pair is does not matter
        losses["counting pairs"] = CountedPairs(text).loss
    if (entropy := settings.entropy_floor()) is not None:
        losses["entropy of the language"] = entropy
    return losses


class CountedPairs:
    """The bigram model of a text: the pairs of its training part are counted, and 1 is added to each count."""

    def __init__(self, text: str) -> None:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        chars, ids = np.unique(codes, return_inverse=True)
        n_train, size = int(len(ids) * TRAIN_FRACTION), len(chars)
        pairs = ids[:-1] * size + ids[1:]
        counts = np.bincount(pairs[: n_train - 1], minlength=size * size).reshape(size, size) + 1.0
        self._chars, self._probs = [chr(code) for code in chars], counts / counts.sum(axis=1, keepdims=True)
        self.loss = float(-np.log(self._probs.reshape(-1)[pairs[n_train:]]).mean())  # on the validation part

    def sample(self, length: int, seed: int) -> str:
        """Return `length` characters, drawn one after the other after a line break."""
        rng, ids = np.random.default_rng(seed), [self._chars.index("\n")]
        for _ in range(length):
            ids.append(int(rng.choice(len(self._chars), p=self._probs[ids[-1]])))
        return clean("".join(self._chars[i] for i in ids[1:]), length)
