"""An artificial language whose entropy is known exactly: a lower bound for the loss of a trained model.

For real text that bound is unknown. Here it can be computed, because a small state machine (`_rules`) writes the text:

- A word has one to four syllables. A syllable is an opening consonant, a vowel, and sometimes a closing consonant.
- Opening consonants are the hard `p t k` and the soft `d v m l`; closing consonants are `n r s`. After a closing
  consonant the next syllable opens with a hard one.
- Vowel harmony, as in Finnish or Turkish: the first vowel of a word is any of `a o u e i y`; the others are from the
  same group, back `a o u` or front `e i y`.
- The more syllables a word has, the more likely it ends; four is the maximum.
- A sentence ends only after a word that ends in `n`: three times out of four, with a full stop and a new line.

So a sample is easy to judge by eye, and a model has to look back up to 12 characters.

A seed gives the same text on every platform and with every version of NumPy: it uses only the raw 64-bit integers of
PCG64, which NumPy guarantees to be stable (NEP 19), and all probabilities are multiples of 1/64, so that the top six
bits of an integer choose a character without rounding.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

HARD, SOFT, CLOSING = "ptk", "dvml", "nrs"
BACK, FRONT = "aou", "eiy"
ALPHABET = "".join(sorted("\n ." + HARD + SOFT + BACK + FRONT + CLOSING))

_BITS = 6  # all probabilities are multiples of 2⁻⁶


class _State(NamedTuple):
    """A state of the machine. Fields that do not affect what follows keep their default."""

    after: str = "space"  # "space", "opening", "vowel", "closing" or "stop"
    syllable: int = 0  # number of the syllable in the word, from 1
    vowels: str = ""  # the group of the word's vowels; "" before the first
    letter: str = ""  # "hard" or "soft" after an opening consonant, the consonant itself after a closing one


_BEGIN = _State()


class _Move(NamedTuple):
    """A possible transition: with probability weight / 64, write `char` and go to `target`."""

    char: str
    weight: int
    target: _State


def _rules(state: _State) -> Iterator[_Move]:
    """Yield the possible moves in a state. Their weights add up to 64."""
    after, syllable, vowels, letter = state
    if after == "space":
        yield from _opening(state, hard=[10, 9, 9], soft=[9, 8, 10, 9])
    elif after == "opening":
        weights = {"hard": {BACK: [20, 8, 4], FRONT: [18, 8, 6]}, "soft": {BACK: [6, 20, 6], FRONT: [4, 20, 8]}}[letter]
        for group in [vowels] if vowels else [BACK, FRONT]:
            for char, weight in zip(group, weights[group], strict=True):
                yield _Move(char, weight * 2 if vowels else weight, _State("vowel", syllable, group))
    elif after == "vowel":
        ends = [0, 6, 16, 32, 48][syllable]
        closes = [0, 18, 16, 16, 16][syllable]
        yield _Move(" ", ends, _BEGIN)
        for char, weight in zip(CLOSING, [closes - 8, 4, 4], strict=True):
            yield _Move(char, weight, _State("closing", syllable, vowels, char))
        continues = 64 - ends - closes
        hard = [continues // 8] * 3
        yield from _opening(state, hard, soft=_shares(continues - sum(hard), 4))
    elif after == "closing":
        continues = [0, 32, 24, 12, 0][syllable]
        ends = 64 - continues
        if letter == "n":
            yield _Move(".", ends * 3 // 4, _State("stop"))
            ends -= ends * 3 // 4
        yield _Move(" ", ends, _BEGIN)
        yield from _opening(state, hard=_shares(continues, 3), soft=[0, 0, 0, 0])
    else:
        yield _Move("\n", 64, _BEGIN)


def _opening(state: _State, hard: list[int], soft: list[int]) -> Iterator[_Move]:
    for kind, letters, weights in (("hard", HARD, hard), ("soft", SOFT, soft)):
        for char, weight in zip(letters, weights, strict=True):
            if weight:
                yield _Move(char, weight, _State("opening", state.syllable + 1, state.vowels, kind))


def _shares(total: int, parts: int) -> list[int]:
    """Split `total` into `parts` integers that differ by at most 1, the larger ones first."""
    return [total // parts + (part < total % parts) for part in range(parts)]


class _Machine(NamedTuple):
    """The machine as tables. States are numbered; 0 is the beginning of a sentence or word."""

    moves: list[dict[str, tuple[int, int]]]  # for each state: character -> (weight, next state)
    matrices: Floats  # (C, S, S): the probability of writing character c and going from state s to state s'
    stationary: Floats  # (S,): the fraction of time spent in each state


@cache
def _machine() -> _Machine:
    numbers = {_BEGIN: 0}
    queue = [_BEGIN]
    moves: list[dict[str, tuple[int, int]]] = []
    for state in queue:  # the loop appends to the queue
        choices: dict[str, tuple[int, int]] = {}
        for char, weight, target in _rules(state):
            if target not in numbers:
                numbers[target] = len(queue)
                queue.append(target)
            choices[char] = (weight, numbers[target])
        moves.append(choices)

    matrices = np.zeros((len(ALPHABET), len(queue), len(queue)))
    for number, choices in enumerate(moves):
        for char, (weight, target_number) in choices.items():
            matrices[ALPHABET.index(char), number, target_number] = weight / 2**_BITS

    # π P = π has no unique solution; adding Σ π = 1 to every equation makes it unique.
    balance = np.eye(len(queue)) - matrices.sum(axis=0) + 1.0
    stationary = np.linalg.solve(balance.T, np.ones(len(queue)))
    return _Machine(moves, matrices, stationary)


def text(length: int, seed: int = 0) -> str:
    """Return `length` characters of the language. The text begins with a sentence and may end anywhere."""
    if length < 0:
        raise ValueError(f"length must not be negative, got {length}")
    # For each state, 64 equally likely outcomes: a character with weight w occurs w times.
    outcomes = [
        [(char, target) for char, (weight, target) in choices.items() for _ in range(weight)]
        for choices in _machine().moves
    ]
    bits = np.random.PCG64(seed).random_raw(length) >> np.uint64(64 - _BITS)
    chars = []
    state = 0
    for draw in bits.tolist():
        char, state = outcomes[state][draw]
        chars.append(char)
    return "".join(chars)


def entropy_per_character(context: int | None = None) -> float:
    """Return the entropy of the language in nats per character: the smallest possible expected loss.

        h = Σ_s π(s) H(s),    H(s) = -Σ_c p(c | s) log p(c | s),    π P = π,  Σ_s π(s) = 1

    The text from the beginning of a word determines the state s of the machine, a Markov chain with transition matrix P
    and stationary distribution π, so h is the mean of the entropies of the states (Shannon 1948, section 7; Cover and
    Thomas, 2nd ed., theorem 4.2.4).

    This holds for a model that has read the text from its beginning. A model trained on windows of T characters has
    little context at the beginning of each window. Its smallest possible expected loss, averaged over the T predictions
    of a window that starts anywhere in a long text, is slightly higher:

        h_T = (1/T) Σ_{t=1..T} H(X_{t+1} | X_1 ... X_t)         (h_T decreases to h: Cover and Thomas, theorem 4.2.2)

    It is exact, too: the sum runs over all possible windows, where windows that imply the same distribution over the
    states of the machine are merged. The `context` is T, the block size of the model, at least 1; None for h.
    """
    machine = _machine()
    if context is None:
        return float(machine.stationary @ _entropy(machine.matrices.sum(axis=2).T))
    if context < 1:
        raise ValueError(f"context must be at least 1, got {context}")
    beliefs = machine.stationary[None]  # (N, S): distributions over states
    chances = np.ones(1)  # (N,): their probabilities
    total = 0.0
    for step in range(context + 1):
        following = np.stack([beliefs @ matrix for matrix in machine.matrices], axis=1)  # (N, C, S)
        probabilities = following.sum(axis=2)  # (N, C)
        if step > 0:
            total += float(chances @ _entropy(probabilities))
        possible = probabilities > 0
        beliefs = following[possible] / probabilities[possible][:, None]
        chances = (chances[:, None] * probabilities)[possible]
        _, first, same = np.unique(beliefs.round(12), axis=0, return_index=True, return_inverse=True)
        beliefs = beliefs[first]
        chances = np.bincount(same.reshape(-1), weights=chances).astype(np.float64)
    return total / context


def _entropy(probabilities: Floats) -> Floats:
    """Return -Σ p log p along the last axis, in nats; 0 log 0 is 0."""
    logs = np.log(probabilities, where=probabilities > 0, out=np.zeros_like(probabilities))
    entropy: Floats = -(probabilities * logs).sum(axis=-1)
    return entropy
