"""Checks of `bigram`: generation, the loss, steps, and the training loop."""

from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Rng
from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.common.checks.losses import compare_losses
from autograder.courses.transformer.generation.checks._texts import hit_tokens, require_frequencies, require_tokens
from autograder.engine.comparison.compare import TOLERANCES, Tolerance, describe_type, require_python
from autograder.engine.fixtures import Agree, Compare, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded
FLOAT32 = np.float32
TRAIN = TRANSFORMER.functions["bigram.train_bigram"]
FLOAT64_LOSS = Tolerance(relative=1e-9, floor=1e-12)
FLOAT32_LOSS = TOLERANCES[np.dtype(FLOAT32)]


def _texts(student: StudentCode, W: Array, n_new: int, *rngs: Rng, start: int = 0) -> tuple[Array, ...]:
    """Return one text for each generator, checked to have the right form and to begin with `start`."""
    texts = []
    for rng in rngs:
        ids = require_tokens(student.bigram.generate_bigram(W, start, n_new, rng), (n_new + 1,), len(W))
        if ids[0] != start:
            raise Mismatch(f"ids begins with {ids[0]}, expected the first token, {start}")
        texts.append(ids)
    return tuple(texts)


@graded("bigram.generate_bigram")
def test_certain_text(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """Scores that leave one choice only, up to ±1000: a cycle through all tokens"""
    order = np.argsort(draw.uniform(9)).astype(np.int64)
    W = np.full((9, 9), -1000.0)
    W[order, np.roll(order, -1)] = 1000.0
    (ids,) = _texts(student, W, 20, draw.rng(), start=int(order[2]))
    compare(ids, np.resize(np.roll(order, -2), 21))


@graded("bigram.generate_bigram", points=2)
def test_frequencies(student: StudentCode, reference: Reference, draw: RandomInputs) -> None:
    """Every token in proportion to its probability after the one before"""
    W = draw.normal(4, 4)
    probs = reference.softmax.softmax(W)
    (ids,) = _texts(student, W, 6000, draw.rng(), start=2)
    for token in range(4):
        require_frequencies(ids[1:][ids[:-1] == token], probs[token], f", after token {token}")


# Random tokens satisfy this check, too.
@graded("bigram.generate_bigram", alone=False)
def test_generator(student: StudentCode, draw: RandomInputs) -> None:
    """All randomness comes from the generator"""
    rng = draw.rng()
    first, again, other = _texts(student, draw.normal(8, 8), 60, rng, rng, draw.rng(), start=3)
    if (first != again).any():
        raise Mismatch("a generator in the same state must give the same tokens")
    if (first == other).all():
        raise Mismatch("the tokens do not depend on the generator that is passed in")


@graded("bigram.generate_bigram", alone=False)
def test_nothing_new(student: StudentCode, draw: RandomInputs) -> None:
    """No new token: only the first one is returned; a single new token"""
    _texts(student, draw.normal(5, 5), 0, draw.rng(), start=4)
    _texts(student, draw.normal(5, 5), 1, draw.rng(), start=0)


@graded("bigram.generate_bigram", points=0.25)
def test_draw(student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs) -> None:
    """Each new token uses one number of `rng.random()`, in order"""
    for size, scale in ((9, 1.0), (3, 0.25), (6, 3.0)):
        W, rng = draw.normal(size, size, scale=scale), draw.rng()
        (ids,) = _texts(student, W, 40, rng, start=size - 1)
        expected, probs = [size - 1], reference.softmax.softmax(W)
        for u in np.random.default_rng(rng.seed).random(40):
            expected.append(int(hit_tokens(probs[expected[-1]], np.asarray(u))))
        compare(ids, np.array(expected, np.int64))


@graded("bigram.generate_bigram")
def test_generate_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The table is not changed"""
    unmodified(draw.normal(4, 4), 1, 5, draw.rng())


@graded("bigram.generate_bigram", points=0.25)
def test_start_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a first token that is too large"""
    for start in (6, 4):
        refuses(draw.normal(4, 4), start, 2, draw.rng())
        refuses(draw.normal(4, 4), start, 0, draw.rng())


@graded("bigram.generate_bigram", points=0.25)
def test_negative_start_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a negative first token"""
    refuses(draw.normal(4, 4), -1, 2, draw.rng())


@graded("bigram.generate_bigram", points=0.25)
def test_negative_length_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a negative number of new tokens"""
    refuses(draw.normal(4, 4), 0, -1, draw.rng())


@graded("bigram.bigram_loss", points=2)
def test_loss(agree: Agree, draw: RandomInputs) -> None:
    """A batch of pairs, with tokens that do not occur"""
    agree(np.array([3, 0, 2], np.int64), np.array([1, 0, 4], np.int64), draw.normal(5, 5))
    agree(draw.integers(1, high=6), draw.integers(1, high=6), draw.normal(6, 6))


@graded("bigram.bigram_loss", points=2)
def test_loss_repeated(agree: Agree, draw: RandomInputs) -> None:
    """Tokens that occur several times: all their pairs add to the gradient"""
    agree(np.array([2, 0, 2, 2], np.int64), np.array([1, 0, 1, 3], np.int64), draw.normal(4, 4))
    agree(draw.integers(30, high=5), draw.integers(30, high=5), draw.normal(5, 5))


@graded("bigram.bigram_loss")
def test_loss_shapes(agree: Agree, draw: RandomInputs) -> None:
    """Ids of two and three axes"""
    agree(draw.integers(2, 3, high=7), draw.integers(2, 3, high=7), draw.normal(7, 7))
    agree(draw.integers(3, 1, 4, high=5), draw.integers(3, 1, 4, high=5), draw.normal(5, 5))


@graded("bigram.bigram_loss")
def test_loss_extreme(agree: Agree, draw: RandomInputs) -> None:
    """Scores of ±1000: nothing overflows"""
    W = np.array([[1000.0, 0.0, -1000.0], [0.0, 0.0, 900.0], [-1000.0, -1000.0, -999.0]])
    agree(np.array([0, 1, 2, 0], np.int64), np.array([2, 0, 1, 0], np.int64), W)
    agree(draw.integers(6, high=4), draw.integers(6, high=4), draw.uniform(4, 4, low=-1000.0, high=1000.0))


@graded("bigram.bigram_loss")
def test_loss_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.integers(8, high=4), draw.integers(8, high=4), draw.normal(4, 4, dtype=FLOAT32), tolerance=FLOAT32_LOSS)


@graded("bigram.bigram_loss", points=0.25)
def test_loss_type(agree: Agree, draw: RandomInputs) -> None:
    """The loss is a Python float"""
    value = agree(draw.integers(3, high=4), draw.integers(3, high=4), draw.normal(4, 4))
    require_python(value[0], float, "the loss")


@graded("bigram.bigram_loss")
def test_loss_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The ids, the targets and the table are not changed"""
    unmodified(draw.integers(6, high=4), draw.integers(6, high=4), draw.normal(4, 4))


@graded("bigram.sgd_step")
def test_step(agree: Agree, draw: RandomInputs) -> None:
    """A table of scores, small and large learning rates"""
    W, dW = draw.normal(5, 5), draw.normal(5, 5)
    for lr in (12.5, 1.0, 0.1):
        agree(W, dW, lr)


@graded("bigram.sgd_step")
def test_step_shapes(agree: Agree, draw: RandomInputs) -> None:
    """Arrays of one and three axes"""
    agree(draw.normal(4), draw.normal(4), 1.5)
    agree(draw.normal(2, 3, 4), draw.normal(2, 3, 4), 2.25)


@graded("bigram.sgd_step")
def test_step_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(3, 4, dtype=FLOAT32), draw.normal(3, 4, dtype=FLOAT32), 1.3)


@graded("bigram.sgd_step")
def test_step_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The parameters and the gradient are not changed"""
    unmodified(draw.normal(3, 3), draw.normal(3, 3), 0.5)


def _train(student: StudentCode, *args: Any) -> tuple[Any, Any]:
    """Return what `train_bigram` returned. Raise Mismatch if it is not a tuple of two."""
    value = student.bigram.train_bigram(*args)
    if not isinstance(value, tuple) or len(value) != 2:
        raise Mismatch(f"train_bigram must return a tuple (W, losses), not {describe_type(value)}")
    return value


class DocumentedRun:
    """Calls `train_bigram` and PyTorch's loop with the draws that the docstring fixes, and compares the results."""

    def __init__(self, student: StudentCode, reference: Reference, compare: Compare) -> None:
        self.student, self.reference, self.compare = student, reference, compare

    def __call__(self, ids: Array, vocab_size: int, steps: int, lr: float, batch_size: int, rng: Rng) -> Any:
        """Return the losses of the student's run."""
        W, losses = _train(self.student, ids, vocab_size, steps, lr, batch_size, rng)
        generator = np.random.default_rng(rng.seed)
        places = np.zeros((steps, batch_size), dtype=np.int64)
        for step in range(steps):
            places[step] = generator.integers(len(ids) - 1, size=batch_size)
        expected, expected_losses = self.reference.bigram.train_on_batches(ids, vocab_size, lr, places)
        compare_losses(losses, expected_losses, FLOAT64_LOSS, TRAIN)
        self.compare((W, losses)[:1], (expected,))
        return losses


@pytest.fixture(scope="session")
def documented_run(student: StudentCode, reference: Reference, compare: Compare) -> DocumentedRun:
    """Return a function that compares a run with PyTorch's."""
    return DocumentedRun(student, reference, compare)


@graded("bigram.train_bigram", points=2)
def test_same_pair(documented_run: DocumentedRun, draw: RandomInputs) -> None:
    """A text of one pair only, so that every draw gives the same batch"""
    rate, other_rate = draw.uniform(2, low=0.25, high=2.0).tolist()
    documented_run(np.full(9, 1, np.int64), 3, 6, rate, 4, draw.rng())
    documented_run(np.array([2, 0], np.int64), 4, 5, other_rate, 3, draw.rng())


# The logarithm of the counts satisfies this check without a single step.
@graded("bigram.train_bigram", points=2, alone=False)
def test_arrives_at_the_counts(student: StudentCode, reference: Reference, draw: RandomInputs) -> None:
    """After 400 steps the table predicts nearly what the counts do"""
    # Most tokens are followed by the next one, so that the table of zeros is far from the counts.
    ids = np.where(draw.booleans(60, true=0.3), draw.integers(60, high=3), np.arange(60) % 3)
    counted = reference.counting.bigram_counts(ids, 3, k=0.0)
    W, _ = _train(student, ids, 3, 400, 0.5, 256, draw.rng())
    if not isinstance(W, np.ndarray) or W.shape != (3, 3) or W.dtype != np.float64:
        text = f"an array of {W.dtype}, {W.shape}" if isinstance(W, np.ndarray) else describe_type(W)
        raise Mismatch(f"W must be an array of float64, (3, 3), not {text}")
    # Not with `reference.softmax`: the memo has no answer for a table whose last bits depend on the student's code.
    with np.errstate(all="ignore"):
        odds = np.exp(W - W.max(axis=-1, keepdims=True))
        apart = float(np.abs(odds / odds.sum(axis=-1, keepdims=True) - counted).max())
    # Over 300 random texts, the largest distance of the official table was 0.03.
    if not apart < 0.1:
        raise Mismatch(
            f"after 400 steps, a probability of the learned table is {apart:.2f} away from that of the counts"
        )


@graded("bigram.train_bigram", points=2)
def test_steps(documented_run: DocumentedRun, draw: RandomInputs) -> None:
    """The loss of each of 30 steps, and the table, for the documented draws"""
    documented_run(draw.integers(50, high=6), 6, 30, 3.0, 8, draw.rng())
    documented_run(draw.integers(20, high=4), 7, 12, 0.5, 1, draw.rng())


# Losses that only the generator makes satisfy this check, too.
@graded("bigram.train_bigram", alone=False)
def test_run_generator(student: StudentCode, draw: RandomInputs) -> None:
    """All randomness comes from the generator"""
    ids, rng = draw.integers(80, high=9), draw.rng()
    first, again, other = (_train(student, ids, 9, 5, 1.0, 6, generator)[1] for generator in (rng, rng, draw.rng()))
    if not np.array_equal(first, again):
        raise Mismatch("a generator in the same state must give the same losses")
    if np.array_equal(first, other):
        raise Mismatch("the losses do not depend on the generator that is passed in")


@graded("bigram.train_bigram", points=0.25)
def test_no_steps(documented_run: DocumentedRun, draw: RandomInputs) -> None:
    """No step: a table of zeros and no losses; a single step"""
    documented_run(draw.integers(10, high=4), 4, 1, 1.0, 5, draw.rng())
    documented_run(draw.integers(10, high=4), 5, 0, 1.0, 5, draw.rng())


@graded("bigram.train_bigram", points=0.25)
def test_run_losses_type(documented_run: DocumentedRun, draw: RandomInputs) -> None:
    """The losses are Python floats"""
    for loss in documented_run(draw.integers(12, high=4), 4, 3, 1.0, 4, draw.rng()):
        require_python(loss, float, "each loss")


@graded("bigram.train_bigram")
def test_run_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The text is not changed"""
    unmodified(draw.integers(15, high=4), 4, 3, 1.0, 4, draw.rng())
