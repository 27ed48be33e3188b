"""Checks of generated texts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Rng
from autograder.courses.transformer.checks.generation._texts import (
    draw_params,
    draw_prompts,
    require_frequencies,
    require_tokens,
    small_config,
)
from autograder.engine.fixtures import Agree, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded


def _check_randomness(draw: RandomInputs, generate: Callable[..., Any]) -> None:
    """Raise Mismatch unless texts start with the prompt and depend only on the state of the generator."""
    config = small_config()
    prompts, params, rng = draw_prompts(draw, config, 6, 3), draw_params(draw, config, 0.25), draw.rng()

    def texts(rng: Rng) -> Array:
        return require_tokens(generate(prompts, params, config, 8, rng, temperature=4.0), (6, 11), config.vocab_size)

    first, again, other = texts(rng), texts(rng), texts(draw.rng())
    if (first[:, :3] != prompts).any():
        raise Mismatch("the text must begin with the prompt")
    if (first != again).any():
        raise Mismatch("a generator in the same state must give the same text")
    if (first == other).all():
        raise Mismatch("the text does not depend on the generator that is passed in")


@graded("generation.generate", "generation.generate_cached", points=2)
def test_greedy_text(agree: Agree, draw: RandomInputs) -> None:
    """Greedy, while the text fits into the block size"""
    config = small_config(block_size=12)
    agree(draw_prompts(draw, config, 12, 3), draw_params(draw, config), config, 9, draw.rng(), temperature=0)


@graded("generation.generate", points=2)
def test_window(agree: Agree, draw: RandomInputs) -> None:
    """Greedy, beyond the block size: the last tokens are the context"""
    config = small_config()
    params = draw_params(draw, config)
    agree(draw_prompts(draw, config, 12, 4), params, config, 8, draw.rng(), temperature=0)
    agree(draw_prompts(draw, config, 12, 9), params, config, 4, draw.rng(), temperature=0)


@graded("generation.generate")
def test_variants(agree: Agree, draw: RandomInputs) -> None:
    """A tied head, ReLU, no biases"""
    for fields in ({"tied": True}, {"activation": "relu", "bias": False}):
        config = small_config(**fields)
        agree(draw_prompts(draw, config, 20, 3), draw_params(draw, config), config, 6, draw.rng(), temperature=0.0)


@graded("generation.generate")
def test_prompts(agree: Agree, draw: RandomInputs) -> None:
    """A single token, a single text, no batch axis, two; int32"""
    config = small_config()
    params = draw_params(draw, config)
    for shape in ((4, 1), (1, 3), (5,), (2, 3, 4)):
        agree(draw_prompts(draw, config, *shape), params, config, 4, draw.rng(), temperature=0)
    agree(draw_prompts(draw, config, 2, 3).astype(np.int32), params, config, 3, draw.rng(), temperature=0)


@graded("generation.generate")
def test_nothing_new(agree: Agree, draw: RandomInputs) -> None:
    """No new tokens, and one"""
    config = small_config()
    params = draw_params(draw, config)
    for n_new in (0, 1):
        agree(draw_prompts(draw, config, 3, 4), params, config, n_new, draw.rng(), temperature=0)


@graded("generation.generate")
def test_one_choice(agree: Agree, draw: RandomInputs) -> None:
    """top_k = 1 leaves one choice"""
    config = small_config()
    agree(draw_prompts(draw, config, 4, 3), draw_params(draw, config), config, 5, draw.rng(), 2.0, 1)


@graded("generation.generate", points=2)
def test_options(student: StudentCode, reference: Reference, draw: RandomInputs) -> None:
    """Temperature, top_k and top_p; each text is drawn independently"""
    config = small_config(n_layers=1)
    prompt, params = draw_prompts(draw, config, 1, 4), draw_params(draw, config, 0.5)
    logits = reference.gpt.gpt(prompt, params, config)[0][0, -1]
    for options in ({}, {"temperature": 0.5}, {"temperature": 4.0, "top_k": 3}, {"temperature": 2.0, "top_p": 0.75}):
        value = student.generation.generate(np.tile(prompt, (500, 1)), params, config, 1, draw.rng(), **options)
        ids = require_tokens(value, (500, 5), config.vocab_size)
        probs = reference.generation.next_token_probs(logits, **options)
        shown = ", ".join(f"{name} {value}" for name, value in options.items())
        require_frequencies(ids[:, -1], probs, f" (first new token, {shown or 'default options'})")


@graded("generation.generate")
def test_text_generator(student: StudentCode, draw: RandomInputs) -> None:
    """The same generator state gives the same text; another state gives another text"""
    _check_randomness(draw, student.generation.generate)


@graded("generation.generate")
def test_text_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The prompt and the parameters are not changed"""
    config = small_config()
    params = draw_params(draw, config)
    unmodified(draw_prompts(draw, config, 2, 3), params, config, 5, draw.rng())
    unmodified(draw_prompts(draw, config, 2, 3), params, config, 0, draw.rng())
