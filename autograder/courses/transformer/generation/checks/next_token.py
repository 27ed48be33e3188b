"""Checks of the probabilities of the next token, and of drawing from them."""

import numpy as np
import pytest

from autograder.courses.transformer.generation.checks._texts import hit_tokens, require_frequencies, require_tokens
from autograder.engine.fixtures import Agree, Compare, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded
FLOAT32 = np.float32
INFINITY = float("inf")


@graded("generation.next_token_probs")
def test_plain(agree: Agree, draw: RandomInputs) -> None:
    """The softmax of every row; no batch axis, and two"""
    for shape in ((3, 7), (5,), (2, 3, 7), (1,)):
        agree(draw.normal(*shape, scale=2))


@graded("generation.next_token_probs")
def test_temperature(agree: Agree, draw: RandomInputs) -> None:
    """Temperatures below and above 1, and close to 0"""
    logits = draw.normal(3, 8, scale=2)
    for temperature in (0.5, 3.0, 2, 2.0**-10):
        agree(logits, temperature)


@graded("generation.next_token_probs")
def test_greedy(agree: Agree, draw: RandomInputs) -> None:
    """Temperature 0: all probability on the largest score, the first of equal ones"""
    agree(draw.normal(3, 8, scale=2), temperature=0)
    agree(draw.normal(2, 3, 8), temperature=0.0, top_k=3, top_p=0.5)
    agree(np.array([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0], [-1000.0, 0.0, -1000.0, 0.0]]), temperature=0)


@graded("generation.next_token_probs")
def test_top_k(agree: Agree, draw: RandomInputs) -> None:
    """Top-k: exactly k are kept and rescaled to sum to 1"""
    for k in (1, 3, 7):
        agree(draw.normal(3, 8, scale=2), top_k=k)
    agree(draw.normal(2, 3, 8), temperature=2.0, top_k=4)


@graded("generation.next_token_probs")
def test_top_k_ties(agree: Agree, draw: RandomInputs) -> None:
    """Top-k with equal scores: the lower index comes first"""
    agree(np.zeros(5), top_k=2)
    agree(draw.integers(4, 60, high=4).astype(np.float64), top_k=20)
    agree(np.array([[1.0, 2.0, 2.0, 2.0, 0.0], [2.0, 1.0, 1.0, 2.0, 1.0]]), temperature=0.5, top_k=3)


@graded("generation.next_token_probs")
def test_top_k_all(agree: Agree, draw: RandomInputs) -> None:
    """top_k equal to the size of the vocabulary, and larger"""
    for k in (8, 9, 1000):
        agree(draw.normal(3, 8), top_k=k)


@graded("generation.next_token_probs", points=2)
def test_top_p(agree: Agree, draw: RandomInputs) -> None:
    """Top-p: the token that crosses the threshold is kept"""
    logits = draw.normal(6, 9, scale=2)
    for p in (0.2, 0.5, 0.8, 0.95):
        agree(logits, top_p=p)
    agree(draw.normal(2, 3, 9), top_p=0.6)


@graded("generation.next_token_probs")
def test_top_p_edges(agree: Agree, draw: RandomInputs) -> None:
    """A tiny p keeps one token, 1 keeps all"""
    agree(draw.normal(4, 7), top_p=2.0**-20)
    agree(draw.normal(4, 7, scale=8), top_p=1.0)
    agree(draw.normal(4, 7, scale=8), top_p=1)


@graded("generation.next_token_probs")
def test_top_p_ties(agree: Agree, draw: RandomInputs) -> None:
    """Top-p with equal scores; a sum of exactly p is enough"""
    agree(np.zeros((2, 4)), top_p=0.5)
    agree(np.zeros(8), top_p=0.3)
    agree(np.array([0.0, 2.0, 0.0, 2.0, 0.0]), top_p=0.9)
    agree(
        draw.integers(4, 60, high=4).astype(np.float64), top_p=0.4
    )  # NumPy's default sort is not stable from 17 entries on


@graded("generation.next_token_probs")
def test_all_together(agree: Agree, draw: RandomInputs) -> None:
    """Temperature, then top-k, then top-p of the rest"""
    logits = draw.normal(8, 9, scale=2)
    agree(logits, 0.5, 4, 0.8)
    agree(logits, 4.0, 3, 0.65)
    agree(logits, 4.0, None, 0.65)
    # All four have 0.25. Of the three that top-k keeps, two have 2/3 together, which is more than 0.6.
    agree(np.zeros(4), top_k=3, top_p=0.6)


@graded("generation.next_token_probs")
def test_extreme_scores(agree: Agree) -> None:
    """Scores of ±1000, and of -inf"""
    logits = np.array([[1000.0, 0.0, -1000.0, 999.0], [-1000.0, -1001.0, -1000.5, -INFINITY]])
    for options in ({}, {"temperature": 0}, {"temperature": 0.01}, {"top_k": 2}, {"top_p": 0.9}):
        agree(logits, **options)
    masked = np.array([[1.0, -INFINITY, 0.5, -INFINITY, 2.0]])
    agree(masked, top_k=4)
    agree(masked, top_p=0.9)


@graded("generation.next_token_probs")
def test_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    logits = np.array([[0.5, 2.0, -1.0, 0.25, 1.5]], FLOAT32)
    integers = draw.integers(3, 6, low=-3, high=4)
    for options in ({}, {"temperature": 0}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.6}):
        agree(logits, **options)
        agree(integers, **options)


@graded("generation.next_token_probs")
def test_probs_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The scores are not changed"""
    for options in ({}, {"temperature": 0}, {"temperature": 0.5, "top_k": 3, "top_p": 0.5}):
        unmodified(draw.normal(3, 6), **options)


@graded("generation.next_token_probs", points=0.25)
def test_temperature_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a negative temperature"""
    refuses(draw.normal(3, 6), -0.5)
    refuses(draw.normal(3, 6), -1.0, top_k=2)


@graded("generation.next_token_probs", points=0.25)
def test_top_k_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: top_k is less than 1, with temperature 0, too"""
    for temperature in (1.0, 0):
        for k in (-2, 0):
            refuses(draw.normal(3, 6), temperature, top_k=k)


@graded("generation.next_token_probs", points=0.25)
def test_top_p_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: top_p is 0 or less, with temperature 0, too"""
    for temperature in (1.0, 0):
        for p in (-0.5, 0.0):
            refuses(draw.normal(3, 6), temperature, top_p=p)


@graded("generation.next_token_probs", points=0.25)
def test_large_top_p_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: top_p is above 1, with temperature 0, too"""
    for temperature in (1.0, 0):
        refuses(draw.normal(3, 6), temperature, top_p=1.5)


@graded("generation.sample", points=2)
def test_frequencies(student: StudentCode, draw: RandomInputs) -> None:
    """Every token in proportion to its probability, those of probability 0 never"""
    for probs in (np.array([0.5, 0.0, 0.3, 0.2]), np.array([0.0, 0.1, 0.0, 0.9, 0.0]), np.full(3, 0.25)):
        tokens = student.generation.sample(np.tile(probs, (2000, 1)), draw.rng())
        require_frequencies(require_tokens(tokens, (2000,), len(probs)), probs)


@graded("generation.sample")
def test_rows(student: StudentCode, draw: RandomInputs) -> None:
    """Every row from its own probabilities; no batch axis, and two"""
    certain = draw.integers(5, 7, high=6)
    tokens = student.generation.sample((certain[..., None] == np.arange(6, dtype=np.int64)) * 1.0, draw.rng())
    if (require_tokens(tokens, (5, 7), 6) != certain).any():
        raise Mismatch("a token of probability 1 was not drawn")
    single = student.generation.sample(np.array([0.0, 0.0, 1.0]), draw.rng())
    if require_tokens(single, (), 3) != 2:
        raise Mismatch("a token of probability 1 was not drawn")


# Tokens that do not depend on the probabilities satisfy this check, too.
@graded("generation.sample", alone=False)
def test_independent(student: StudentCode, draw: RandomInputs) -> None:
    """A separate draw for each row"""
    tokens = require_tokens(student.generation.sample(np.full((40, 50, 8), 0.125), draw.rng()), (40, 50), 8)
    for rows in (tokens, tokens.T):
        if len(np.unique(rows, axis=0)) < len(rows):  # two rows of 40 tokens or more are never equal by chance
            raise Mismatch("rows with the same probabilities always get the same tokens")


@graded("generation.sample")
def test_sums(student: StudentCode, draw: RandomInputs) -> None:
    """Rows that do not sum to exactly 1; float32"""
    for probs in (np.array([0.25, 0.5, 0.0]), np.array([0.75, 1.5, 0.0, 1.0, 0.0])):
        tokens = student.generation.sample(np.tile(probs, (2000, 1)), draw.rng())
        require_frequencies(require_tokens(tokens, (2000,), len(probs)), probs)
    thirds = np.tile(np.array([1 / 3, 1 / 7, 11 / 21, 0.0], FLOAT32), (2000, 1))
    require_frequencies(
        require_tokens(student.generation.sample(thirds, draw.rng()), (2000,), 4), thirds[0].astype(float)
    )


# As in the check above, the probabilities do not matter.
@graded("generation.sample", alone=False)
def test_generator(student: StudentCode, draw: RandomInputs) -> None:
    """All randomness comes from the generator"""
    probs, rng = np.full((60, 8), 0.125), draw.rng()
    first, again, other = (
        require_tokens(student.generation.sample(probs, generator), (60,), 8) for generator in (rng, rng, draw.rng())
    )
    if (first != again).any():
        raise Mismatch("a generator in the same state must give the same tokens")
    if (first == other).all():
        raise Mismatch("the tokens do not depend on the generator that is passed in")


@graded("generation.sample")
def test_sample_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The probabilities are not changed"""
    unmodified(np.full((3, 4), 0.25), draw.rng())
    unmodified(np.array([0.5, 0.0, 0.5]), draw.rng())


@graded("generation.sample", points=0.25)
def test_draw(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """Each row uses one number of `rng.random(shape)`, in order"""
    certain = np.array([[0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])  # in turn with rows that leave a choice
    for probs in (np.tile(certain, (12, 1)), draw.uniform(3, 4, 6), draw.uniform(2, 3, 4, 5), draw.uniform(9)):
        rng = draw.rng()
        tokens = require_tokens(student.generation.sample(probs, rng), probs.shape[:-1], probs.shape[-1])
        compare(tokens, hit_tokens(probs, np.asarray(np.random.default_rng(rng.seed).random(probs.shape[:-1]))))


@graded("generation.sample", points=0.25, alone=False)
def test_borders(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """A dart on the border of two stretches hits the second one, or the next that is not empty"""
    rng = draw.rng()
    u = np.random.default_rng(rng.seed).random(8)
    rows = np.stack([u, 1 - u, np.zeros(8)], axis=-1)  # Each sum is exactly 1: u has at most 53 binary digits.
    for order in ((0, 1, 2), (0, 2, 1), (2, 0, 1)):
        tokens = require_tokens(student.generation.sample(rows[:, order], rng), (8,), 3)
        compare(tokens, np.full(8, order.index(1), np.int64))


@graded("generation.sample", points=0.25)
def test_zeros_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a row of zeros, alone or beside others"""
    refuses(np.zeros((2, 3)), draw.rng())
    refuses(np.zeros(3), draw.rng())
    refuses(np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 0.0]]), draw.rng())


@graded("generation.sample", points=0.25)
def test_nan_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a row with nan, alone or beside others"""
    refuses(np.array([[0.5, np.nan, 0.5], [np.nan, np.nan, np.nan]]), draw.rng())
    refuses(np.array([0.5, 0.5, np.nan]), draw.rng())
    refuses(np.array([[0.5, 0.25, 0.25], [0.5, 0.5, np.nan]]), draw.rng())
