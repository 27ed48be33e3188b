"""Checks of texts generated with a key/value cache."""

import numpy as np
import pytest

from autograder.courses.transformer.generation.checks._texts import (
    draw_params,
    draw_prompts,
    drawn_text,
    require_draws,
    require_tokens,
    small_config,
)
from autograder.engine.fixtures import Agree, Compare, Unmodified
from autograder.engine.inputs import RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import StudentCode

graded = pytest.mark.graded


@graded("generation.generate_cached", points=2)
def test_cached_window(agree: Agree, draw: RandomInputs) -> None:
    """Greedy, beyond the block size: the window moves, and all positions change"""
    config = small_config()
    params = draw_params(draw, config)
    agree(draw_prompts(draw, config, 12, 4), params, config, 9, draw.rng(), temperature=0)
    for length in (5, 6, 9):
        agree(draw_prompts(draw, config, 8, length), params, config, 4, draw.rng(), temperature=0)


@graded("generation.generate_cached")
def test_cached_variants(agree: Agree, draw: RandomInputs) -> None:
    """A tied head, ReLU, no biases; one block and one head, three"""
    shapes = ({"n_layers": 1, "n_heads": 1}, {"n_layers": 3, "n_heads": 4})
    for fields in ({"tied": True}, {"activation": "relu", "bias": False}, *shapes):
        config = small_config(**fields)
        agree(draw_prompts(draw, config, 20, 3), draw_params(draw, config), config, 6, draw.rng(), temperature=0)


@graded("generation.generate_cached", points=0.5)
def test_cached_forms(agree: Agree, draw: RandomInputs) -> None:
    """Post-norm; sinusoidal positions; a head with a bias; nothing is dropped"""
    for fields in (
        {"norm": "post"},
        {"positions": "sinusoidal", "dropout": 0.5},
        {"bias": "b_o b_1 b_2 b_head", "tied": True},
    ):
        config = small_config(**fields)
        agree(draw_prompts(draw, config, 20, 3), draw_params(draw, config), config, 6, draw.rng(), temperature=0)


@graded("generation.generate_cached")
def test_cached_prompts(agree: Agree, draw: RandomInputs) -> None:
    """A single token, a single text, no batch axis, two; no new token"""
    config = small_config()
    params = draw_params(draw, config)
    for shape in ((4, 1), (1, 3), (5,), (2, 3, 4)):
        agree(draw_prompts(draw, config, *shape), params, config, 4, draw.rng(), temperature=0)
    agree(draw_prompts(draw, config, 2, 3).astype(np.int32), params, config, 1, draw.rng(), temperature=0)
    agree(draw_prompts(draw, config, 2, 9), params, config, 0, draw.rng(), temperature=0)
    agree(draw_prompts(draw, config, 2, 3).astype(np.int32), params, config, 0, draw.rng(), temperature=0)


@graded("generation.generate_cached", points=2)
def test_same_tokens(student: StudentCode, compare: Compare, reference: Reference, draw: RandomInputs) -> None:
    """The same tokens as `generate`, drawn with the same generator, within the block size and beyond"""
    config = small_config(block_size=9)
    params = draw_params(draw, config, 0.25)
    everything = {"temperature": 3.0, "top_k": 7, "top_p": 0.6}
    for options in (everything, {}, {"temperature": 3.0}, {"temperature": 4.0, "top_k": 5}, {"top_p": 0.75}):
        prompts, rng = draw_prompts(draw, config, 8, 3), draw.rng()
        ids = student.generation.generate_cached(prompts, params, config, 9, rng, **options)
        require_tokens(ids, (8, 12), config.vocab_size)
        compare(ids, drawn_text(reference, prompts, params, config, 9, rng, **options))


@graded("generation.generate_cached")
def test_cached_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The prompt and the parameters are not changed"""
    config = small_config()
    params = draw_params(draw, config)
    unmodified(draw_prompts(draw, config, 2, 3), params, config, 5, draw.rng())
    unmodified(draw_prompts(draw, config, 2, 3), params, config, 0, draw.rng())


@graded("generation.generate_cached", points=0.25, alone=False)
def test_cached_greedy_draws(student: StudentCode, draw: RandomInputs) -> None:
    """`sample` is called with temperature 0, too"""
    config = small_config()
    prompts, params = draw_prompts(draw, config, 3, 4), draw_params(draw, config)
    require_draws(student.generation.generate_cached, prompts, params, config)
