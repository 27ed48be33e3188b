"""Small models, prompts, and what drawn tokens must be, for the checks of assignment 11."""

from typing import Any

import numpy as np

from autograder.core.wire_format import Config
from autograder.courses.transformer.checks._shapes import gpt_shapes
from autograder.engine.comparison.compare import describe_type, shape_text
from autograder.engine.inputs import Array, RandomInputs
from autograder.errors import Mismatch


def small_config(**fields: Any) -> Config:
    """A small model; every field is set, because defaults belong to the student's code."""
    sizes = {"vocab_size": 17, "block_size": 6, "n_layers": 2, "n_heads": 2, "d_model": 8, "d_ff": 5}
    return Config("gpt", "GPTConfig", {**sizes, "activation": "gelu", "tied": False, "bias": True, **fields})


def draw_params(draw: RandomInputs, config: Config, head: float = 1.0) -> dict[str, Array]:
    """Random parameters, large enough that the positions and the whole context matter."""
    # A greedy text shows no small differences. So: hidden numbers where GELU and ReLU differ, with weight; and small
    # betas, for a large one at the end makes the same token the most probable everywhere.
    scales = {"W_1": 0.25, "b_1": 0.25, "W_2": 4.0, "beta": 0.25, "W_head": head}
    return {
        name: draw.normal(*shape, scale=scales.get(name.rpartition(".")[2], 1.0))
        for name, shape in gpt_shapes(config).items()
    }


def draw_prompts(draw: RandomInputs, config: Config, *shape: int) -> Array:
    return draw.integers(*shape, high=config.vocab_size)


def require_tokens(actual: Any, shape: tuple[int, ...], vocabulary: int, name: str = "ids") -> Array:
    """Token ids of this shape, int64, each in the vocabulary."""
    if not isinstance(actual, (np.ndarray, np.generic)) and not (shape == () and type(actual) is int):
        raise Mismatch(f"{name} must be a NumPy array, not {describe_type(actual)}")
    tokens = np.asarray(actual)
    if tokens.shape != shape:
        raise Mismatch(f"{name} has shape {shape_text(tokens.shape)}, expected {shape_text(shape)}")
    if tokens.dtype != np.int64:
        raise Mismatch(f"{name} has dtype {tokens.dtype}, expected int64")
    if tokens.size and (tokens.min() < 0 or tokens.max() >= vocabulary):
        raise Mismatch(f"{name} has entries outside of 0 … {vocabulary - 1}")
    return tokens


def require_frequencies(tokens: Array, probs: Array, what: str = "") -> None:
    """Whether tokens (N,) are drawn with these probabilities (V,).

    Allowed are six standard deviations and a little: a right answer goes beyond once in hundreds of millions of runs.
    """
    expected = probs / probs.sum()
    counts = np.bincount(tokens.ravel(), minlength=len(expected))
    if (counts[expected == 0] > 0).any():
        token = int(np.flatnonzero((expected == 0) & (counts > 0))[0])
        raise Mismatch(f"token {token} has probability 0 and was drawn{what}")
    allowed = 6 * np.sqrt(tokens.size * expected * (1 - expected)) + 4
    excess = np.abs(counts - tokens.size * expected) - allowed
    if (excess > 0).any():
        token = int(excess.argmax())
        share = counts[token] / tokens.size
        raise Mismatch(
            f"token {token} has probability {expected[token]:.3f} and was drawn in {share:.3f} of {tokens.size} "
            f"rows{what}"
        )
