"""Small models and batches for the checks of `training`."""

from typing import Any

import numpy as np

from autograder.core.wire_format import Config
from autograder.courses.transformer.common.checks.shapes import gpt_shapes
from autograder.engine.inputs import Array, RandomInputs

FLOAT32 = np.float32
# The bias of the keys has no effect, so its gradient is 0 up to rounding. AdamW divides a gradient by its typical size
# plus eps: with the usual 1e-8, rounding errors would be visible. With this eps, or without biases, they are not.
LARGE_EPS = 2.0**-10


def small_config(**fields: Any) -> Config:
    """Return a configuration with one small block. Every field is set: students may change the defaults."""
    sizes = {"vocab_size": 7, "block_size": 5, "n_layers": 1, "n_heads": 2, "d_model": 4, "d_ff": 6}
    return Config("gpt", "GPTConfig", {**sizes, "activation": "gelu", "tied": True, "bias": True, **fields})


def draw_params(draw: RandomInputs, config: Config, dtype: Any = np.float64, scale: float = 0.5) -> dict[str, Array]:
    """Return random parameters of a GPT."""
    params = {name: draw.normal(*shape, scale=scale, dtype=dtype) for name, shape in gpt_shapes(config).items()}
    for name in params:
        if name.endswith("gamma"):
            params[name] += FLOAT32(1.0)
    return params


def draw_batches(draw: RandomInputs, config: Config, count: int, size: int) -> list[tuple[Array, Array]]:
    """Return batches of a periodic text with some noise, so that there is something to learn."""
    batches = []
    for _ in range(count):
        starts, noise = draw.integers(size, 1, high=config.vocab_size), draw.booleans(size, config.block_size + 1)
        text = (starts + np.arange(config.block_size + 1, dtype=np.int64) + noise) % config.vocab_size
        batches.append((text[:, :-1].copy(), text[:, 1:].copy()))
    return batches
