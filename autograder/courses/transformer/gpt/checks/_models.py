"""Small models and their parameters, for the checks of `gpt`."""

from typing import Any

import numpy as np

from autograder.core.wire_format import Config
from autograder.courses.transformer.common.checks.draws import draw_ids, draw_params
from autograder.courses.transformer.common.checks.shapes import gpt_shapes
from autograder.engine.fixtures import Refuses
from autograder.engine.inputs import Array, RandomInputs


def small_config(**fields: Any) -> Config:
    """Return a small configuration with axes of different sizes. Students may change the defaults of these fields."""
    sizes = {"vocab_size": 11, "block_size": 7, "n_layers": 2, "n_heads": 2, "d_model": 6, "d_ff": 9}
    return Config("gpt", "GPTConfig", {**sizes, "activation": "gelu", "tied": True, "bias": True, **fields})


def tiny_config(**fields: Any) -> Config:
    """Return a configuration with one block and four features."""
    return small_config(**{"vocab_size": 5, "block_size": 4, "n_layers": 1, "d_model": 4, "d_ff": 3, **fields})


def draw_gpt(draw: RandomInputs, config: Config, dtype: Any = np.float64) -> dict[str, Array]:
    """Return the parameters of a random GPT."""
    return draw_params(draw, gpt_shapes(config), dtype)


def refuse_documented(refuses: Refuses, draw: RandomInputs, *, with_targets: bool = False) -> None:
    """Provoke each documented error of `gpt` or `gpt_loss`."""
    # With a block size of 1, the row of W_pos fits any number of tokens, and only an explicit check notices.
    short, config = tiny_config(block_size=1), tiny_config()
    too_long = draw_ids(draw, short, 2, 2)
    negative, too_large = draw_ids(draw, config, 2, 3), draw_ids(draw, config, 2, 3)
    negative[1, 2], too_large[0, 1] = -1, config.vocab_size
    for ids, settings in ((too_long, short), (negative, config), (too_large, config)):
        targets = (draw_ids(draw, settings, *ids.shape),) if with_targets else ()
        refuses(ids, *targets, draw_gpt(draw, settings), settings)
    # Sines and cosines exist for any number of positions: there, too, only an explicit check notices.
    endless = tiny_config(positions="sinusoidal")
    targets = (draw_ids(draw, endless, 2, 5),) if with_targets else ()
    refuses(draw_ids(draw, endless, 2, 5), *targets, draw_gpt(draw, endless), endless)
