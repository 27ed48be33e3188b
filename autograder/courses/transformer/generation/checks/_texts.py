"""Small models, prompts and tests of drawn tokens, for the checks of `generation`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.core.wire_format import Config, Rng
from autograder.courses.transformer.common.checks.shapes import gpt_shapes
from autograder.engine.comparison.compare import describe_type
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference
from autograder.errors import Mismatch, Raised


def small_config(**fields: Any) -> Config:
    """Return a small configuration. Every field is set: students may change the defaults."""
    sizes = {"vocab_size": 17, "block_size": 6, "n_layers": 2, "n_heads": 2, "d_model": 8, "d_ff": 5}
    return Config("gpt", "GPTConfig", {**sizes, "activation": "gelu", "tied": False, "bias": True, **fields})


def draw_params(draw: RandomInputs, config: Config, head: float = 1.0) -> dict[str, Array]:
    """Return random parameters, large enough that the positions and the whole context matter."""
    # Small differences do not change a greedy text. So the hidden values are where GELU and ReLU differ, and W_2 is
    # large. The betas are small: a large final beta would make the same token the most probable everywhere.
    scales = {"W_1": 0.25, "b_1": 0.25, "W_2": 4.0, "beta": 0.25, "W_head": head}
    return {
        name: draw.normal(*shape, scale=scales.get(name.rpartition(".")[2], 1.0))
        for name, shape in gpt_shapes(config).items()
    }


def draw_prompts(draw: RandomInputs, config: Config, *shape: int) -> Array:
    return draw.integers(*shape, high=config.vocab_size)


def hit_tokens(probs: Array, numbers: Array) -> Array:
    """Return the tokens that the random numbers (...) hit in probabilities (..., V), as `sample` documents it."""
    ends = np.cumsum(probs, axis=-1, dtype=np.float64)
    return np.asarray((ends <= numbers[..., None] * ends[..., -1:]).sum(axis=-1, dtype=np.int64))


def drawn_text(
    reference: Reference, prompts: Array, params: dict[str, Array], config: Config, n_new: int, rng: Rng, **options: Any
) -> Array:
    """Return the text that `generate` documents, with PyTorch's probabilities and NumPy's random numbers."""
    generator, ids = np.random.default_rng(rng.seed), prompts
    for _ in range(n_new):
        logits = reference.generation.last_logits(ids[..., -config.block_size :], params, config)
        probs = reference.generation.next_token_probs(logits, **options)
        ids = np.concatenate([ids, hit_tokens(probs, generator.random(ids.shape[:-1]))[..., None]], axis=-1)
    return ids


def require_tokens(actual: Any, shape: tuple[int, ...], vocabulary: int, name: str = "ids") -> Array:
    """Return `actual` as an array. Raise Mismatch unless it holds int64 token ids of this shape and vocabulary."""
    if not isinstance(actual, (np.ndarray, np.generic)) and not (shape == () and type(actual) is int):
        raise Mismatch(f"{name} must be a NumPy array, not {describe_type(actual)}")
    tokens = np.asarray(actual)
    if tokens.shape != shape:
        raise Mismatch(f"{name} has shape {tokens.shape}, expected {shape}")
    if tokens.dtype != np.int64:
        raise Mismatch(f"{name} has dtype {tokens.dtype}, expected int64")
    if tokens.size and (tokens.min() < 0 or tokens.max() >= vocabulary):
        raise Mismatch(f"{name} has entries outside 0 … {vocabulary - 1}")
    return tokens


def require_frequencies(tokens: Array, probs: Array, context: str = "") -> None:
    """Raise Mismatch unless the frequencies of tokens (N,) fit these probabilities (V,).

    The tolerance is six standard deviations plus 4: correct code exceeds it once in hundreds of millions of runs.
    """
    expected = probs / probs.sum()
    counts = np.bincount(tokens.ravel(), minlength=len(expected))
    if (counts[expected == 0] > 0).any():
        token = int(np.flatnonzero((expected == 0) & (counts > 0))[0])
        raise Mismatch(f"token {token} has probability 0 but was drawn{context}")
    allowed = 6 * np.sqrt(tokens.size * expected * (1 - expected)) + 4
    excess = np.abs(counts - tokens.size * expected) - allowed
    if (excess > 0).any():
        token = int(np.argmax(excess))
        share = counts[token] / tokens.size
        raise Mismatch(
            f"token {token} has probability {expected[token]:.3f} but was drawn in {share:.3f} of {tokens.size} "
            f"rows{context}"
        )


def require_draws(generate: Callable[..., Any], prompts: Array, params: dict[str, Array], config: Config) -> None:
    """Raise Mismatch if a greedy text is generated without the generator: `sample` fails with a text in its place."""
    try:
        generate(prompts, params, config, 2, "no generator", temperature=0)
    except Raised as verdict:
        if verdict.exception.file_at_fault:  # The function has not run.
            raise
        return
    raise Mismatch(
        "rng was not used with temperature=0", help="call sample once per new token, whatever temperature is"
    )
