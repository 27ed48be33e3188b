"""Random parameters and token ids of small models."""

from typing import Any

import numpy as np

from autograder.core.wire_format import Config
from autograder.engine.inputs import Array, RandomInputs


def draw_params(
    draw: RandomInputs, shapes: dict[str, tuple[int, ...]], dtype: Any = np.float64, scale: float = 0.5
) -> dict[str, Array]:
    """Return random parameters of these shapes, none of them near its usual initial value."""
    params = {name: draw.normal(*shape, scale=scale, dtype=dtype) for name, shape in shapes.items()}
    for name in params:
        if name.endswith("gamma"):
            params[name] += np.float32(1.5)
    return params


def draw_ids(draw: RandomInputs, config: Config, *shape: int) -> Array:
    """Return random token ids."""
    return draw.integers(*shape, high=config.vocab_size)
