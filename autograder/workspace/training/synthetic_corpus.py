"""A made-up language whose entropy is known exactly: a floor to measure the loss of a trained model against.

No model can have a smaller expected loss than the entropy of the language. For real text nobody knows that number. Here
it can be computed, because the language is written by a small machine whose rules are all in `_rules`:

- A word has one to four syllables. A syllable is an opening consonant, a vowel, and sometimes a closing consonant.
- Opening consonants are the hard `p t k` and the soft `d v m l`; closing ones are `n r s` and no others. After a
  closing consonant the next syllable opens hard.
- Vowel harmony, as in Finnish or Turkish: the first vowel of a word is any of `a o u e i y`; the others stay in its
  group, back `a o u` or front `e i y`.
- The more syllables a word has, the sooner it ends; after the fourth it must.
- A sentence ends only after a word that ends in `n`: there, three times out of four, with a full stop and a new line.

So the eye can judge a sample, and a model has something to look back for: the group of the vowels, and how many
syllables the word has so far, up to 12 characters.

How the entropy is known
    The machine is a Markov chain on 48 states: where in the syllable, which vowels, which syllable of the word. In a
    given state a character can lead to one next state only. So nothing is hidden: whoever has read the text from the
    beginning of a word knows the state. For such a source Shannon (1948, section 7) gives the entropy per character as
    the mean of the entropies of the states; Cover and Thomas (2nd ed., section 4.2, theorem 4.2.4) prove it:

        h = Σ_s π(s) H(s),    H(s) = -Σ_c p(c | s) log p(c | s),    π P = π,  Σ_s π(s) = 1

    P holds the transition probabilities, π is the stationary distribution: one linear system, no sampling.

The text of a seed is the same on every platform and with every version of NumPy: it needs only the raw 64-bit integers
of PCG64, which NumPy keeps stable (NEP 19), and every probability is a whole number of 64ths, so that the top six bits
of an integer choose a character without any rounding.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

HARD = "ptk"
SOFT = "dvml"
BACK = "aou"
FRONT = "eiy"
CLOSING = "nrs"
ALPHABET = "".join(sorted("\n ." + HARD + SOFT + BACK + FRONT + CLOSING))

_BITS = 6  # every probability is a whole number of 2⁻⁶


class _State(NamedTuple):
    """What the machine remembers. Fields that make no difference for what follows keep their default."""

    after: str = "space"  # "space", "opening", "vowel", "closing" or "stop"
    syllable: int = 0  # which syllable of the word, from 1
    vowels: str = ""  # the group that the word has chosen, or "" before its first vowel
    letter: str = ""  # "hard" or "soft" after an opening consonant, the consonant itself after a closing one


_BEGIN = _State()


class _Move(NamedTuple):
    """One thing the machine may do next: with probability weight / 64 write `char` and go to `target`."""

    char: str
    weight: int
    target: _State


def _rules(state: _State) -> Iterator[_Move]:
    """The grammar: everything that may follow in a state. The weights of a state add up to 64."""
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
        goes_on = 64 - ends - closes
        hard = [goes_on // 8] * 3
        yield from _opening(state, hard, soft=_shares(goes_on - sum(hard), 4))
    elif after == "closing":
        goes_on = [0, 32, 24, 12, 0][syllable]
        ends = 64 - goes_on
        if letter == "n":
            yield _Move(".", ends * 3 // 4, _State("stop"))
            ends -= ends * 3 // 4
        yield _Move(" ", ends, _BEGIN)
        yield from _opening(state, hard=_shares(goes_on, 3), soft=[0, 0, 0, 0])
    else:
        yield _Move("\n", 64, _BEGIN)


def _opening(state: _State, hard: list[int], soft: list[int]) -> Iterator[_Move]:
    for kind, letters, weights in (("hard", HARD, hard), ("soft", SOFT, soft)):
        for char, weight in zip(letters, weights, strict=True):
            if weight:
                yield _Move(char, weight, _State("opening", state.syllable + 1, state.vowels, kind))


def _shares(total: int, parts: int) -> list[int]:
    """`total` in `parts` whole numbers as equal as can be, the larger ones first."""
    return [total // parts + (part < total % parts) for part in range(parts)]


class _Machine(NamedTuple):
    """The grammar written out. States are numbers, and state 0 is the beginning of a sentence or of a word."""

    moves: list[dict[str, tuple[int, int]]]  # for each state: character -> (weight, next state)
    matrices: Floats  # (C, S, S): the probability of writing character c and going from state s to state s'
    stationary: Floats  # (S,): the share of time spent in each state


@cache
def _machine() -> _Machine:
    numbers = {_BEGIN: 0}
    queue = [_BEGIN]
    moves: list[dict[str, tuple[int, int]]] = []
    for state in queue:  # grows while it is walked through
        options: dict[str, tuple[int, int]] = {}
        for char, weight, target in _rules(state):
            if target not in numbers:
                numbers[target] = len(queue)
                queue.append(target)
            options[char] = (weight, numbers[target])
        moves.append(options)

    matrices = np.zeros((len(ALPHABET), len(queue), len(queue)))
    for number, options in enumerate(moves):
        for char, (weight, target_number) in options.items():
            matrices[ALPHABET.index(char), number, target_number] = weight / 2**_BITS

    # π P = π is one equation too few; Σ π = 1 is added to each of them, which makes the solution unique.
    balance = np.eye(len(queue)) - matrices.sum(axis=0) + 1.0
    stationary = np.linalg.solve(balance.T, np.ones(len(queue)))
    return _Machine(moves, matrices, stationary)


def text(length: int, seed: int = 0) -> str:
    """The first `length` characters that the language writes with this seed: it begins a sentence and ends anywhere.

    Raises:
        ValueError: if `length` is negative.
    """
    if length < 0:
        raise ValueError(f"length must not be negative, got {length}")
    # For each state, the 64 equally likely outcomes: a character with weight w comes w times.
    outcomes = [
        [(char, target) for char, (weight, target) in options.items() for _ in range(weight)]
        for options in _machine().moves
    ]
    bits = np.random.PCG64(seed).random_raw(length) >> np.uint64(64 - _BITS)
    written = []
    state = 0
    for draw in bits.tolist():
        char, state = outcomes[state][draw]
        written.append(char)
    return "".join(written)


def entropy_per_character(context: int | None = None) -> float:
    """The entropy of the language in nats per character: the smallest expected loss that any model can have.

        h = Σ_s π(s) H(s)                                       (Shannon 1948, section 7; Cover and Thomas, section 4.2)

    That is for a model that knows the text from its beginning. A model that is trained on windows of T characters has
    to answer the first questions of each window knowing very little. The smallest expected loss of such a model, as the
    mean over the T questions of a window that starts anywhere in a long text, is a little higher:

        h_T = (1/T) Σ_{t=1..T} H(X_{t+1} | X_1 ... X_t)         (h_T falls towards h: Cover and Thomas, theorem 4.2.2)

    It is exact too: the sum goes over all windows that the language can write, where windows that leave the same belief
    about the state of the machine are counted together.

    Args:
        context: T, the block size of the model. Without it the result is h.

    Raises:
        ValueError: if `context` is smaller than 1.
    """
    machine = _machine()
    if context is None:
        return float(machine.stationary @ _entropy(machine.matrices.sum(axis=2).T))
    if context < 1:
        raise ValueError(f"context must be at least 1, got {context}")
    beliefs, chances = machine.stationary[None], np.ones(1)  # (N, S): where the machine may be, (N,): how often
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


def surprisal(sample: str) -> Floats:
    """Minus the log-probability of every character, (T,), in nats, of a text that starts with a word or a sentence.

    Its mean over a long text of the language is the entropy. Where a text breaks the rules it is infinite, and the
    machine begins a new word after the next space or new line; up to there the following characters are infinite too.
    """
    moves = _machine().moves
    surprises: Floats = np.full(len(sample), np.inf)
    state: int | None = 0
    for position, char in enumerate(sample):
        weight, following = moves[state].get(char, (0, None)) if state is not None else (0, None)
        if weight:
            surprises[position] = _BITS * np.log(2.0) - np.log(weight)
        state = 0 if following is None and char in " \n" else following
    return surprises


def _entropy(probabilities: Floats) -> Floats:
    """-Σ p log p along the last axis, in nats; 0 log 0 is 0."""
    logs = np.log(probabilities, where=probabilities > 0, out=np.zeros_like(probabilities))
    entropy: Floats = -(probabilities * logs).sum(axis=-1)
    return entropy
