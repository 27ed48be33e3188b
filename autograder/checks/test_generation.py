"""Checks of assignment 11: generation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.compare import describe_type, shape_text
from autograder.draw import Array, Draw
from autograder.errors import Mismatch
from autograder.fixtures import Agree, Compare, Unmodified
from autograder.frames import Config, Rng
from autograder.proxies import Student
from autograder.reference import Reference

graded = pytest.mark.graded
FLOAT32 = np.float32
INFINITY = float("inf")


def _config(**fields: Any) -> Config:
    """A small model; all fields are given, defaults are the student's side's."""
    sizes = {"vocab_size": 17, "block_size": 6, "n_layers": 2, "n_heads": 2, "d_model": 8, "d_ff": 5}
    return Config("gpt", "GPTConfig", {**sizes, "activation": "gelu", "tied": False, "bias": True, **fields})


def _params(draw: Draw, config: Config, head: float = 1.0) -> dict[str, Array]:
    """Random parameters, large enough that the positions and the whole context matter."""
    d, f, vocabulary = config.d_model, config.d_ff, config.vocab_size
    shapes: dict[str, tuple[int, ...]] = {"W_tok": (vocabulary, d), "W_pos": (config.block_size, d)}
    for i in range(config.n_layers):
        layer = {"ln1.gamma": (d,), "ln1.beta": (d,), "attn.W_qkv": (d, 3 * d), "attn.b_qkv": (3 * d,)}
        layer |= {"attn.W_o": (d, d), "attn.b_o": (d,), "ln2.gamma": (d,), "ln2.beta": (d,)}
        layer |= {"ffn.W_1": (d, f), "ffn.b_1": (f,), "ffn.W_2": (f, d), "ffn.b_2": (d,)}
        shapes |= {f"blocks.{i}.{name}": shape for name, shape in layer.items() if config.bias or ".b_" not in name}
    shapes |= {"ln_f.gamma": (d,), "ln_f.beta": (d,)}
    # A greedy text shows no small differences. So: hidden numbers where GELU and ReLU differ, with weight; and small
    # betas, for a large one at the end makes the same token the most probable everywhere.
    scales = {"W_1": 0.25, "b_1": 0.25, "W_2": 4.0, "eta": 0.25}
    params = {name: draw.normal(*shape, scale=scales.get(name[-3:], 1.0)) for name, shape in shapes.items()}
    if not config.tied:
        params["W_head"] = draw.normal(d, vocabulary, scale=head)
    return params


def _prompts(draw: Draw, config: Config, *shape: int) -> Array:
    return draw.integers(*shape, high=config.vocab_size)


def _tokens(actual: Any, shape: tuple[int, ...], vocabulary: int, name: str = "ids") -> Array:
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


def _frequencies(tokens: Array, probs: Array, what: str = "") -> None:
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


@graded("generation.next_token_probs")
def test_plain(agree: Agree, draw: Draw) -> None:
    """The softmax of every row; no batch axis, and two"""
    for shape in ((3, 7), (5,), (2, 3, 7), (1,)):
        agree(draw.normal(*shape, scale=2))


@graded("generation.next_token_probs")
def test_temperature(agree: Agree, draw: Draw) -> None:
    """Temperatures below and above 1, and next to 0"""
    logits = draw.normal(3, 8, scale=2)
    for temperature in (0.5, 3.0, 2, 2.0**-10):
        agree(logits, temperature)


@graded("generation.next_token_probs")
def test_greedy(agree: Agree, draw: Draw) -> None:
    """Temperature 0: all on the largest score, of equal ones on the first"""
    agree(draw.normal(3, 8, scale=2), temperature=0)
    agree(draw.normal(2, 3, 8), temperature=0.0, top_k=3, top_p=0.5)
    agree(np.array([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0], [-1000.0, 0.0, -1000.0, 0.0]]), temperature=0)


@graded("generation.next_token_probs")
def test_top_k(agree: Agree, draw: Draw) -> None:
    """Top-k: exactly k are kept and scaled to sum 1"""
    for k in (1, 3, 7):
        agree(draw.normal(3, 8, scale=2), top_k=k)
    agree(draw.normal(2, 3, 8), temperature=2.0, top_k=4)


@graded("generation.next_token_probs")
def test_top_k_ties(agree: Agree, draw: Draw) -> None:
    """Top-k with equal scores: the lower index comes first"""
    agree(np.zeros(5), top_k=2)
    agree(draw.integers(4, 60, high=4).astype(np.float64), top_k=20)
    agree(np.array([[1.0, 2.0, 2.0, 2.0, 0.0], [2.0, 1.0, 1.0, 2.0, 1.0]]), temperature=0.5, top_k=3)


@graded("generation.next_token_probs")
def test_top_k_all(agree: Agree, draw: Draw) -> None:
    """As many as there are, and more"""
    for k in (8, 9, 1000):
        agree(draw.normal(3, 8), top_k=k)


@graded("generation.next_token_probs", points=2)
def test_top_p(agree: Agree, draw: Draw) -> None:
    """Top-p: the token that crosses the line stays"""
    logits = draw.normal(6, 9, scale=2)
    for p in (0.2, 0.5, 0.8, 0.95):
        agree(logits, top_p=p)
    agree(draw.normal(2, 3, 9), top_p=0.6)


@graded("generation.next_token_probs")
def test_top_p_edges(agree: Agree, draw: Draw) -> None:
    """A tiny p keeps one token, 1 keeps all"""
    agree(draw.normal(4, 7), top_p=2.0**-20)
    agree(draw.normal(4, 7, scale=8), top_p=1.0)
    agree(draw.normal(4, 7, scale=8), top_p=1)


@graded("generation.next_token_probs")
def test_top_p_ties(agree: Agree) -> None:
    """Top-p with equal scores; a sum that is exactly p is enough"""
    agree(np.zeros((2, 4)), top_p=0.5)
    agree(np.zeros(8), top_p=0.3)
    agree(np.array([0.0, 2.0, 0.0, 2.0, 0.0]), top_p=0.9)


@graded("generation.next_token_probs")
def test_all_together(agree: Agree, draw: Draw) -> None:
    """Temperature, then top-k, then top-p of what is left"""
    logits = draw.normal(8, 9, scale=2)
    agree(logits, 0.5, 4, 0.8)
    agree(logits, 4.0, 3, 0.65)
    agree(logits, 4.0, None, 0.65)
    # 0.25 each: of the three that are left, two have 2/3, which is more than 0.6.
    agree(np.zeros(4), top_k=3, top_p=0.6)


@graded("generation.next_token_probs")
def test_extreme_scores(agree: Agree) -> None:
    """Scores of ±1000, and of -inf"""
    logits = np.array([[1000.0, 0.0, -1000.0, 999.0], [-1000.0, -1001.0, -1000.5, -INFINITY]])
    for options in ({}, {"temperature": 0}, {"temperature": 0.01}, {"top_k": 2}, {"top_p": 0.9}):
        agree(logits, **options)
    masked = np.array([[1.0, -INFINITY, 0.5, -INFINITY, 2.0]])
    agree(masked, top_k=4)
    agree(masked, top_p=0.9)


@graded("generation.next_token_probs")
def test_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, integers become float64"""
    logits = np.array([[0.5, 2.0, -1.0, 0.25, 1.5]], FLOAT32)
    integers = draw.integers(3, 6, low=-3, high=4)
    for options in ({}, {"temperature": 0}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.6}):
        agree(logits, **options)
        agree(integers, **options)


@graded("generation.next_token_probs")
def test_probs_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The scores are left as they were"""
    for options in ({}, {"temperature": 0}, {"temperature": 0.5, "top_k": 3, "top_p": 0.5}):
        unmodified(draw.normal(3, 6), **options)


@graded("generation.sample", points=2)
def test_frequencies(student: Student, draw: Draw) -> None:
    """Every token as often as its probability says, those of probability 0 never"""
    for probs in (np.array([0.5, 0.0, 0.3, 0.2]), np.array([0.0, 0.1, 0.0, 0.9, 0.0]), np.full(3, 0.25)):
        tokens = student.generation.sample(np.tile(probs, (2000, 1)), draw.rng())
        _frequencies(_tokens(tokens, (2000,), len(probs)), probs)


@graded("generation.sample")
def test_rows(student: Student, draw: Draw) -> None:
    """Every row from its own probabilities; no batch axis, and two"""
    certain = draw.integers(5, 7, high=6)
    tokens = student.generation.sample((certain[..., None] == np.arange(6)) * 1.0, draw.rng())
    if (_tokens(tokens, (5, 7), 6) != certain).any():
        raise Mismatch("a token of probability 1 was not drawn")
    alone = student.generation.sample(np.array([0.0, 0.0, 1.0]), draw.rng())
    if _tokens(alone, (), 3) != 2:
        raise Mismatch("a token of probability 1 was not drawn")


@graded("generation.sample")
def test_independent(student: Student, draw: Draw) -> None:
    """A draw of its own for each row"""
    tokens = _tokens(student.generation.sample(np.full((40, 50, 8), 0.125), draw.rng()), (40, 50), 8)
    for rows in (tokens, tokens.T):
        if len(np.unique(rows, axis=0)) < len(rows):  # two rows of 40 numbers are never the same by chance
            raise Mismatch("rows with the same probabilities always get the same tokens")


@graded("generation.sample")
def test_sums(student: Student, draw: Draw) -> None:
    """Rows that do not add up to exactly 1; float32"""
    for probs in (np.array([0.25, 0.5, 0.0]), np.array([0.75, 1.5, 0.0, 1.0, 0.0])):
        tokens = student.generation.sample(np.tile(probs, (2000, 1)), draw.rng())
        _frequencies(_tokens(tokens, (2000,), len(probs)), probs)
    thirds = np.tile(np.array([1 / 3, 1 / 7, 11 / 21, 0.0], FLOAT32), (2000, 1))
    _frequencies(_tokens(student.generation.sample(thirds, draw.rng()), (2000,), 4), thirds[0].astype(float))


@graded("generation.sample")
def test_generator(student: Student, draw: Draw) -> None:
    """The randomness is the generator's"""
    probs, rng = np.full((60, 8), 0.125), draw.rng()
    first, again, other = (_tokens(student.generation.sample(probs, r), (60,), 8) for r in (rng, rng, draw.rng()))
    if (first != again).any():
        raise Mismatch("a generator in the same state must give the same tokens")
    if (first == other).all():
        raise Mismatch("the tokens do not depend on the generator that is passed in")


@graded("generation.sample")
def test_sample_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The probabilities are left as they were"""
    unmodified(np.full((3, 4), 0.25), draw.rng())
    unmodified(np.array([0.5, 0.0, 0.5]), draw.rng())


@graded("generation.generate", points=2)
def test_greedy_text(agree: Agree, draw: Draw) -> None:
    """Greedy, as long as everything fits"""
    config = _config(block_size=12)
    agree(_prompts(draw, config, 12, 3), _params(draw, config), config, 9, draw.rng(), temperature=0)


@graded("generation.generate", points=2)
def test_window(agree: Agree, draw: Draw) -> None:
    """Greedy, beyond the block size: the last tokens are the context"""
    config = _config()
    params = _params(draw, config)
    agree(_prompts(draw, config, 12, 4), params, config, 8, draw.rng(), temperature=0)
    agree(_prompts(draw, config, 12, 9), params, config, 4, draw.rng(), temperature=0)


@graded("generation.generate")
def test_variants(agree: Agree, draw: Draw) -> None:
    """A tied head, ReLU, no biases"""
    for fields in ({"tied": True}, {"activation": "relu", "bias": False}):
        config = _config(**fields)
        agree(_prompts(draw, config, 20, 3), _params(draw, config), config, 6, draw.rng(), temperature=0.0)


@graded("generation.generate")
def test_prompts(agree: Agree, draw: Draw) -> None:
    """A single token, a single text, no batch axis, two; int32"""
    config = _config()
    params = _params(draw, config)
    for shape in ((4, 1), (1, 3), (5,), (2, 3, 4)):
        agree(_prompts(draw, config, *shape), params, config, 4, draw.rng(), temperature=0)
    agree(_prompts(draw, config, 2, 3).astype(np.int32), params, config, 3, draw.rng(), temperature=0)


@graded("generation.generate")
def test_nothing_new(agree: Agree, draw: Draw) -> None:
    """No new token, and one"""
    config = _config()
    params = _params(draw, config)
    for n_new in (0, 1):
        agree(_prompts(draw, config, 3, 4), params, config, n_new, draw.rng(), temperature=0)


@graded("generation.generate")
def test_one_choice(agree: Agree, draw: Draw) -> None:
    """top_k = 1 leaves one choice"""
    config = _config()
    agree(_prompts(draw, config, 4, 3), _params(draw, config), config, 5, draw.rng(), 2.0, 1)


@graded("generation.generate", points=2)
def test_options(student: Student, reference: Reference, draw: Draw) -> None:
    """Temperature, top_k and top_p decide what is drawn; each text draws for itself"""
    config = _config(n_layers=1)
    prompt, params = _prompts(draw, config, 1, 4), _params(draw, config, 0.5)
    logits = reference.gpt.gpt(prompt, params, config)[0][0, -1]
    for options in ({}, {"temperature": 0.5}, {"temperature": 4.0, "top_k": 3}, {"temperature": 2.0, "top_p": 0.75}):
        value = student.generation.generate(np.tile(prompt, (500, 1)), params, config, 1, draw.rng(), **options)
        ids = _tokens(value, (500, 5), config.vocab_size)
        probs = reference.generation.next_token_probs(logits, **options)
        told = ", ".join(f"{name} {value}" for name, value in options.items())
        _frequencies(ids[:, -1], probs, f" (first new token, {told or 'default options'})")


def _random_texts(draw: Draw, generate: Callable[..., Any]) -> None:
    """Whether texts depend on the generator's state and on nothing else, and keep the prompt."""
    config = _config()
    prompts, params, rng = _prompts(draw, config, 6, 3), _params(draw, config, 0.25), draw.rng()

    def texts(rng: Rng) -> Array:
        return _tokens(generate(prompts, params, config, 8, rng, temperature=4.0), (6, 11), config.vocab_size)

    first, again, other = texts(rng), texts(rng), texts(draw.rng())
    if (first[:, :3] != prompts).any():
        raise Mismatch("the text must begin with the prompt")
    if (first != again).any():
        raise Mismatch("a generator in the same state must give the same text")
    if (first == other).all():
        raise Mismatch("the text does not depend on the generator that is passed in")


@graded("generation.generate")
def test_text_generator(student: Student, draw: Draw) -> None:
    """The same generator, the same text; another one, another text"""
    _random_texts(draw, student.generation.generate)


@graded("generation.generate")
def test_text_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The prompt and the parameters are left as they were"""
    config = _config()
    params = _params(draw, config)
    unmodified(_prompts(draw, config, 2, 3), params, config, 5, draw.rng())
    unmodified(_prompts(draw, config, 2, 3), params, config, 0, draw.rng())


def _same_as_without(
    student: Student,
    compare: Compare,
    prompts: Array,
    params: dict[str, Array],
    config: Config,
    *args: Any,
    **options: Any,
) -> None:
    """`generate_cached` against the student's own `generate`, drawn with generators in the same state."""
    expected = student.generation.generate(prompts, params, config, *args, **options)
    n_new = args[0]
    shape = (*prompts.shape[:-1], prompts.shape[-1] + n_new)
    expected = _tokens(expected, shape, config.vocab_size, "what generate returned")
    compare(student.generation.generate_cached(prompts, params, config, *args, **options), expected)


@graded("generation.generate_cached", points=2)
def test_cached_greedy(agree: Agree, draw: Draw) -> None:
    """Greedy, as long as everything fits"""
    config = _config(block_size=12)
    agree(_prompts(draw, config, 12, 3), _params(draw, config), config, 9, draw.rng(), temperature=0)


@graded("generation.generate_cached", points=2)
def test_cached_window(agree: Agree, draw: Draw) -> None:
    """Greedy, beyond the block size: the window moves, and the positions with it"""
    config = _config()
    params = _params(draw, config)
    agree(_prompts(draw, config, 12, 4), params, config, 9, draw.rng(), temperature=0)
    for length in (5, 6, 9):
        agree(_prompts(draw, config, 8, length), params, config, 4, draw.rng(), temperature=0)


@graded("generation.generate_cached")
def test_cached_variants(agree: Agree, draw: Draw) -> None:
    """A tied head, ReLU, no biases; one block and one head, three"""
    shapes = ({"n_layers": 1, "n_heads": 1}, {"n_layers": 3, "n_heads": 4})
    for fields in ({"tied": True}, {"activation": "relu", "bias": False}, *shapes):
        config = _config(**fields)
        agree(_prompts(draw, config, 20, 3), _params(draw, config), config, 6, draw.rng(), temperature=0)


@graded("generation.generate_cached")
def test_cached_prompts(agree: Agree, draw: Draw) -> None:
    """A single token, a single text, no batch axis, two; no new token"""
    config = _config()
    params = _params(draw, config)
    for shape in ((4, 1), (1, 3), (5,), (2, 3, 4)):
        agree(_prompts(draw, config, *shape), params, config, 4, draw.rng(), temperature=0)
    agree(_prompts(draw, config, 2, 3).astype(np.int32), params, config, 1, draw.rng(), temperature=0)
    agree(_prompts(draw, config, 2, 9), params, config, 0, draw.rng(), temperature=0)


@graded("generation.generate_cached", points=2)
def test_same_tokens(student: Student, compare: Compare, draw: Draw) -> None:
    """The tokens of your `generate`, drawn with the same generator"""
    config = _config(block_size=9)
    params = _params(draw, config, 0.25)
    for options in ({}, {"temperature": 3.0}, {"temperature": 4.0, "top_k": 5}, {"temperature": 3.0, "top_p": 0.75}):
        prompts = _prompts(draw, config, 8, 3)
        _same_as_without(student, compare, prompts, params, config, 9, draw.rng(), **options)


@graded("generation.generate_cached")
def test_cached_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The prompt and the parameters are left as they were"""
    config = _config()
    params = _params(draw, config)
    unmodified(_prompts(draw, config, 2, 3), params, config, 5, draw.rng())
    unmodified(_prompts(draw, config, 2, 3), params, config, 0, draw.rng())
