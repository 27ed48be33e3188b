"""What the plots that need no trained model show, as numbers from the student's functions.

Matplotlib draws them for `headway plot` (`workspace.plots`), and `workspace.page_plots` describes them for a page.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.courses.transformer.attention.figures import LENGTH, WIDTH, example
from autograder.drawing.function_caller import Array, FunctionCaller, NotDrawable, drawable
from autograder.errors import UsageError

TEXT = "hello world, hello there"
LONGEST_TEXT = 80
SCORES = np.array([1.0, 2.0, 3.0, 2.5, -0.5])
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 10.0)
LARGEST_SCORES = np.concatenate([np.arange(0.0, 120.0, 2.0), np.arange(120.0, 1001.0, 8.0)])
NORM_WIDTH = 24
VECTOR_KINDS = ("small", "large", "shifted", "one outlier")
POSITIONS, POSITION_WIDTH = 64, 48
WAVES = (0, 8, 16, 24)  # even columns: sines
WARMUPS = (10, 50, 0)
STEPS, LARGEST_RATE = 200, 1e-3


@dataclass(frozen=True)
class TokenIds:
    """A text and its token ids."""

    text: str
    vocabulary: dict[str, int]  # in the order of the list of characters
    ids: Array


def token_ids(functions: FunctionCaller, text: str | None = None) -> TokenIds:
    """Return the id of every character of a text, in the order of the text."""
    text = TEXT if text is None else text
    if not 1 <= len(text) <= LONGEST_TEXT:
        raise UsageError(f"the text has {len(text)} characters; give 1 to {LONGEST_TEXT}: --text TEXT")
    chars, stoi = _vocabulary(functions.values("tokenizer.build_vocab", 3, text))
    ids = functions.array("tokenizer.encode", (len(text),), text, stoi)
    return TokenIds(text, {char: stoi[char] for char in chars}, ids)


def _vocabulary(values: tuple[Any, ...]) -> tuple[list[str], dict[str, int]]:
    chars, stoi, _ = values
    lists = isinstance(chars, list) and len(chars) > 0 and isinstance(stoi, dict)
    known = lists and all(isinstance(char, str) and len(char) == 1 and type(stoi.get(char)) is int for char in chars)
    if not known or not all(0 <= stoi[char] < 1_000_000 for char in chars):
        name = "tokenizer.build_vocab"
        raise NotDrawable(name, f"{name} did not return a list of characters and their ids")
    return chars, stoi


def temperatures(functions: FunctionCaller) -> list[Array]:
    """Return the probabilities of one row of scores for each temperature."""
    return [
        functions.array("softmax.softmax", SCORES.shape, SCORES, temperature=temperature)
        for temperature in TEMPERATURES
    ]


@dataclass(frozen=True)
class NaiveSoftmax:
    """The probability of the largest score by the naive formula."""

    dtype: str
    probs: Array  # nan from `end` on
    end: float  # the score from which on exp overflows


def overflow(functions: FunctionCaller) -> tuple[Array, list[NaiveSoftmax]]:
    """Return the probability of the largest of the scores (s, s - 1, s - 2) for increasing s, and by naive formulas."""
    rows = LARGEST_SCORES[:, None] - np.arange(3.0)  # (N, 3)
    yours = functions.array("softmax.softmax", rows.shape, rows)[:, 0]
    naive = []
    for dtype in (np.float64, np.float32):
        with np.errstate(over="ignore", invalid="ignore"):  # the plot shows this overflow
            powers = np.exp(rows.astype(dtype))
            probs = powers[:, 0] / powers.sum(axis=-1)
        naive.append(NaiveSoftmax(np.dtype(dtype).name, probs, float(np.log(np.finfo(dtype).max))))
    return yours, naive


def vectors() -> Array:
    """Return four vectors that need normalizing for different reasons, (4, D)."""
    x = np.random.default_rng(6).normal(size=(len(VECTOR_KINDS), NORM_WIDTH))
    x *= np.array([0.3, 4.0, 1.0, 1.0])[:, None]
    x[2] += 8.0
    x[3, 5] = 12.0
    return x


def layernorm(functions: FunctionCaller) -> tuple[Array, Array]:
    """Return the vectors before and after layer norm."""
    x = vectors()
    return x, functions.array("layernorm.layernorm", x.shape, x, np.ones(NORM_WIDTH), np.zeros(NORM_WIDTH))


@dataclass(frozen=True)
class Activation:
    """An activation function and its derivative."""

    label: str
    values: Array
    slopes: Array


def activations(functions: FunctionCaller) -> tuple[Array, list[Activation]]:
    """Return where ReLU and GELU are computed, and both: slopes are gradients for an upstream gradient of 1."""
    x = np.linspace(-4.0, 4.0, 401)
    computed = []
    for label, name in (("ReLU", "relu"), ("GELU", "gelu")):
        values = functions.array(f"ffn.{name}", x.shape, x)
        slopes = functions.array(f"ffn.{name}_backward", x.shape, np.ones_like(x), x)
        computed.append(Activation(label, values, slopes))
    return x, computed


def positions(functions: FunctionCaller) -> Array:
    """Return the table of sinusoidal positions, (T, D)."""
    shape = (POSITIONS, POSITION_WIDTH)
    return functions.array("embeddings.sinusoidal_positions", shape, *shape)


@dataclass(frozen=True)
class AttentionSteps:
    """Attention of the example, step by step."""

    scores: Array  # (T, T)
    masked: Array  # (T, T), -inf where a query may not attend
    weights: Array  # (T, T)
    out: Array  # (T, d_v)


def attention(functions: FunctionCaller) -> AttentionSteps:
    """Return scores, masked scores, weights and output of the example."""
    q, k, v = example()
    mask = functions.array("attention.causal_mask", (LENGTH, LENGTH), LENGTH)
    values = functions.values("attention.attention", 2, q, k, v, mask=mask.astype(bool))
    out = drawable(values[0], (LENGTH, WIDTH), "attention.attention")
    weights = drawable(values[1], (LENGTH, LENGTH), "attention.attention")
    scores = q @ k.T / math.sqrt(WIDTH)
    return AttentionSteps(scores, np.where(mask > 0, scores, -np.inf), weights, out)


def learning_rates(functions: FunctionCaller) -> list[Array]:
    """Return the learning rate of every step, and of a few more, for each length of the warm-up."""
    rates = [
        [
            functions.array("training.learning_rate", (), step, LARGEST_RATE, LARGEST_RATE / 10, warmup, STEPS)
            for step in range(STEPS + 20)
        ]
        for warmup in WARMUPS
    ]
    return [np.array(row) for row in rates]


def score_labels(scores: Sequence[float]) -> list[str]:
    """Return the scores as axis labels."""
    return [f"{score:g}".replace("-", "−") for score in scores]
