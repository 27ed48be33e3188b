"""Checks of generated texts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Rng
from autograder.courses.transformer.generation.checks._texts import (
    draw_params,
    draw_prompts,
    drawn_text,
    require_draws,
    require_frequencies,
    require_tokens,
    small_config,
)
from autograder.engine.fixtures import Agree, Compare, Refuses, Unmodified
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
    for n_new in (3, 0):
        agree(draw_prompts(draw, config, 2, 3).astype(np.int32), params, config, n_new, draw.rng(), temperature=0)


@graded("generation.generate")
def test_nothing_new(agree: Agree, draw: RandomInputs) -> None:
    """No new tokens, and one, after short and long prompts"""
    config = small_config()
    params = draw_params(draw, config)
    for n_new in (0, 1):
        agree(draw_prompts(draw, config, 3, 4), params, config, n_new, draw.rng(), temperature=0)
    agree(draw_prompts(draw, config, 3, 9), params, config, 1, draw.rng(), temperature=0)


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
    logits = reference.generation.last_logits(prompt, params, config)[0]
    for options in ({}, {"temperature": 0.5}, {"temperature": 4.0, "top_k": 3}, {"temperature": 2.0, "top_p": 0.75}):
        value = student.generation.generate(np.tile(prompt, (500, 1)), params, config, 1, draw.rng(), **options)
        ids = require_tokens(value, (500, 5), config.vocab_size)
        probs = reference.generation.next_token_probs(logits, **options)
        shown = ", ".join(f"{name} {value}" for name, value in options.items())
        require_frequencies(ids[:, -1], probs, f" (first new token, {shown or 'default options'})")


# Random tokens satisfy this check, too.
@graded("generation.generate", alone=False)
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


@graded("generation.generate", points=0.25)
def test_drawn_text(student: StudentCode, compare: Compare, reference: Reference, draw: RandomInputs) -> None:
    """Every new token is drawn by one call of `sample`, within the block size and beyond"""
    config = small_config()
    params = draw_params(draw, config, 0.25)
    everything = {"temperature": 3.0, "top_k": 7, "top_p": 0.6}
    for options in (everything, {}, {"top_p": 0.75}, {"temperature": 3.0, "top_k": 5}):
        prompts, rng = draw_prompts(draw, config, 8, 3), draw.rng()
        ids = student.generation.generate(prompts, params, config, 6, rng, **options)
        require_tokens(ids, (8, 9), config.vocab_size)
        compare(ids, drawn_text(reference, prompts, params, config, 6, rng, **options))


@graded("generation.generate", points=0.25, alone=False)
def test_greedy_draws(student: StudentCode, draw: RandomInputs) -> None:
    """`sample` is called with temperature 0, too"""
    config = small_config()
    require_draws(student.generation.generate, draw_prompts(draw, config, 3, 4), draw_params(draw, config), config)


@graded("generation.generate", "generation.generate_cached", points=0.25)
def test_negative_number_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: n_new is negative"""
    config = small_config()
    params = draw_params(draw, config)
    for n_new in (-1, -3):
        refuses(draw_prompts(draw, config, 2, 3), params, config, n_new, draw.rng())


@graded("generation.generate", "generation.generate_cached", points=0.25)
def test_empty_prompt_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: the prompt is empty"""
    config = small_config()
    params = draw_params(draw, config)
    for n_new in (2, 0):
        refuses(draw_prompts(draw, config, 2, 0), params, config, n_new, draw.rng())


@graded("generation.generate", points=0.25)
def test_ids_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The error of `gpt` for ids outside the vocabulary is not caught"""
    config = small_config()
    params, prompts = draw_params(draw, config), draw_prompts(draw, config, 2, 3)
    for token in (config.vocab_size, -1):
        outside = prompts.copy()
        outside[1, 2] = token
        refuses(outside, params, config, 2, draw.rng())


@graded("generation.generate", "generation.generate_cached", points=0.25)
def test_options_error(refuses: Refuses, draw: RandomInputs) -> None:
    """The errors of `next_token_probs` are not caught"""
    config = small_config()
    params, prompts = draw_params(draw, config), draw_prompts(draw, config, 2, 3)
    for options in ({"temperature": -1.0}, {"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.5}):
        refuses(prompts, params, config, 1, draw.rng(), **options)
