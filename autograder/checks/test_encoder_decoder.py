"""Checks of assignment 12: the encoder–decoder."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from autograder.compare import Tolerance, compare_value
from autograder.curriculum import TRANSFORMER
from autograder.draw import Array, Draw
from autograder.errors import Mismatch
from autograder.fixtures import Agree, Compare, Unmodified
from autograder.frames import Config
from autograder.proxies import Cache, Student
from autograder.reference import Reference

graded = pytest.mark.graded
FLOAT32 = np.float32
D, F, VS, VT = 6, 7, 9, 8
BIASES = ("b_qkv", "b_o", "b_1", "b_2")
NEVER = -1  # a token that no model writes

# Where the numbers of a vector happen to be nearly equal, a layer norm enlarges what float32 rounds off, and there are
# several in a row. What is to be seen here is the dtype; the values are judged in float64.
FLOAT32_TOLERANCE = Tolerance(relative=1e-3, floor=1e-4)

ENCODER_STAGES = ("weights", "after_attention", "after_ffn")
DECODER_STAGES = ("weights", "source_weights", "after_attention", "after_source_attention", "after_ffn")

# Real tokens of two sources of 5 and of two targets of 4.
SOURCE_MASK = np.array([[True, True, True, False, False], [True, True, True, True, False]])
TARGET_MASK = np.array([[True, True, True, False], [True, False, True, True]])
# The second text is nothing but padding.
NO_SOURCE = np.array([[True, True, False, True, True], [False] * 5])


def _layer(*parts: str, d: int = D) -> dict[str, tuple[int, ...]]:
    """Shapes of the parameters of one block: attentions and "ffn", each with its layer norm."""
    shapes: dict[str, tuple[int, ...]] = {}
    for number, part in enumerate(parts, 1):
        if part == "ffn":
            shapes |= {"ffn.W_1": (d, F), "ffn.b_1": (F,), "ffn.W_2": (F, d), "ffn.b_2": (d,)}
        else:
            shapes |= {f"{part}.W_qkv": (d, 3 * d), f"{part}.b_qkv": (3 * d,)}
            shapes |= {f"{part}.W_o": (d, d), f"{part}.b_o": (d,)}
        shapes |= {f"ln{number}.gamma": (d,), f"ln{number}.beta": (d,)}
    return shapes


ENCODER, DECODER = _layer("attn", "ffn"), _layer("attn", "source_attn", "ffn")


def _draw(
    draw: Draw, shapes: dict[str, tuple[int, ...]], without: tuple[str, ...] = (), dtype: Any = np.float64
) -> dict[str, Array]:
    """Random parameters, none of them near its usual first value; some biases may be absent."""
    kept = {name: shape for name, shape in shapes.items() if name.rpartition(".")[2] not in without}
    params = {name: draw.normal(*shape, scale=0.5, dtype=dtype) for name, shape in kept.items()}
    for name in params:
        if name.endswith("gamma"):
            params[name] += FLOAT32(1.5)
    return params


def _model(
    draw: Draw,
    n_layers: int = 1,
    n_heads: int = 2,
    *,
    d: int = D,
    without: tuple[str, ...] = (),
    dtype: Any = np.float64,
) -> tuple[dict[str, Array], Config]:
    """Random parameters of a whole model, and its configuration."""
    shapes: dict[str, tuple[int, ...]] = {"W_source": (VS, d), "W_target": (VT, d)}
    for stack, parts in (("encoder", ["attn", "ffn"]), ("decoder", ["attn", "source_attn", "ffn"])):
        for i in range(n_layers):
            shapes |= {f"{stack}.{i}.{name}": shape for name, shape in _layer(*parts, d=d).items()}
    shapes["W_head"] = (d, VT)
    fields = {"vocab_source": VS, "vocab_target": VT, "n_layers": n_layers, "n_heads": n_heads, "d_model": d, "d_ff": F}
    config = Config("encoder_decoder", "TransformerConfig", {**fields, "bias": not without})
    return _draw(draw, shapes, without, dtype), config


def _small(draw: Draw, **options: Any) -> tuple[dict[str, Array], Config]:
    """A narrower model, where its parameters or their gradients are among the answers that are kept."""
    return _model(draw, d=4, **options)


def _texts(draw: Draw) -> tuple[Array, Array]:
    """Two sources of 5 tokens and two targets of 4."""
    return draw.integers(2, 5, high=VS), draw.integers(2, 4, high=VT)


class Stages:
    """Calls a function of the student and compares named entries of its cache with PyTorch's."""

    def __init__(self, student: Student, reference: Reference) -> None:
        self.student, self.reference = student, reference

    def __call__(self, name: str, entries: list[str], *args: Any, **kwargs: Any) -> None:
        """`args` and `kwargs` are those of the function."""
        cache = self.cache(name, *args, **kwargs)
        _, expected = self.reference.call("encoder_decoder", name, args, kwargs)
        function = TRANSFORMER.functions[f"encoder_decoder.{name}"]
        for entry in entries:
            axes = ("batch", "head", "query", "key") if "weights" in entry else ("batch", "position", "d_model")
            compare_value(cache[entry], expected[entry], f'cache["{entry}"]', axes, function)

    def cache(self, name: str, *args: Any, **kwargs: Any) -> Cache:
        """The cache of the student's function, which stays in the student's process."""
        value = self.student.call(f"encoder_decoder.{name}", args, kwargs)
        if not isinstance(value, tuple) or len(value) != 2:
            outputs = TRANSFORMER.functions[f"encoder_decoder.{name}"].outputs
            raise Mismatch(f"{name} must return a tuple ({', '.join(output.name for output in outputs)})")
        cache: Cache = value[1]
        return cache


@pytest.fixture(scope="session")
def stages(student: Student, reference: Reference) -> Stages:
    """`stages("encode", ["source_embedded", …], source, params, config, …)`."""
    return Stages(student, reference)


class Backward:
    """Runs both backward passes, each on the cache of its own forward pass, and compares."""

    def __init__(self, stages: Stages, compare: Compare) -> None:
        self.stages, self.compare = stages, compare

    def __call__(self, dlog_probs: Array, *args: Any, tolerance: Tolerance | None = None) -> None:
        """`args` are those of `transformer`."""
        cache = self.stages.cache("transformer", *args)
        actual = self.stages.student.encoder_decoder.transformer_backward(dlog_probs, cache)
        self.compare(actual, self.expected(dlog_probs, *args), tolerance=tolerance)

    def expected(self, dlog_probs: Array, *args: Any) -> Any:
        """PyTorch's gradients."""
        _, cache = self.stages.reference.encoder_decoder.transformer(*args)
        return self.stages.reference.encoder_decoder.transformer_backward(dlog_probs, cache)


@pytest.fixture(scope="session")
def backward(stages: Stages, compare: Compare) -> Backward:
    """`backward(dlog_probs, source, target, params, config, …)`."""
    return Backward(stages, compare)


@dataclass(frozen=True)
class Writer:
    """A model that ends three texts after three different numbers of tokens."""

    source: Array
    params: dict[str, Array]
    config: Config
    end: int
    lengths: list[int]


def _writer(draw: Draw, reference: Reference) -> Writer:
    """Draw models until one fits: about every second does. The lengths are 1 to 6, shortest text last."""
    for _ in range(40):
        params, config = _model(draw)
        for name in params:
            if ".ln" in name and name.endswith("beta"):
                params[name] *= 0.25  # a large last beta makes one token the most probable one everywhere
        source = draw.integers(12, 5, high=VS)
        ids = reference.encoder_decoder.greedy_decode(source, params, config, 1, NEVER, 6)
        for end in range(VT):
            rows = {row.tolist().index(end): i for i, row in enumerate(ids) if end in row}
            firsts = sorted(rows, reverse=True)
            if len(rows) >= 3:
                firsts = [firsts[1], firsts[0], firsts[-1]]
                return Writer(source[[rows[n] for n in firsts]], params, config, end, [n + 1 for n in firsts])
    raise AssertionError("no model among 40")


@graded("encoder_decoder.encoder_block", points=2)
def test_encoder_block(agree: Agree, draw: Draw) -> None:
    """The norm after each step, ReLU inside"""
    x, params = draw.normal(2, 5, D), _draw(draw, ENCODER)
    agree(x, params, 2)
    agree(x, params, 3, None)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_masks(agree: Agree, draw: Draw) -> None:
    """A padding mask, one for each query, one for each head; a text that is all padding"""
    x, params = draw.normal(2, 5, D), _draw(draw, ENCODER)
    agree(x, params, 2, SOURCE_MASK[:, None, None, :])
    agree(x, params, 2, mask=np.tri(5, k=1, dtype=bool))
    agree(x, params, 2, mask=draw.booleans(2, 2, 5, 5) | np.eye(5, dtype=bool))
    agree(x, params, 2, mask=NO_SOURCE[:, None, None, :])


@graded("encoder_decoder.encoder_block")
def test_encoder_block_axes(agree: Agree, draw: Draw) -> None:
    """2-D and 4-D x, a single token, a single head"""
    params = _draw(draw, ENCODER)
    agree(draw.normal(5, D), params, 2)
    agree(draw.normal(2, 3, 4, D), params, 3)
    agree(draw.normal(1, 1, D), params, 1)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_biases_absent(agree: Agree, draw: Draw) -> None:
    """Without biases"""
    agree(draw.normal(2, 5, D), _draw(draw, ENCODER, without=BIASES), 2)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, integers become float64"""
    agree(draw.normal(2, 5, D, dtype=FLOAT32), _draw(draw, ENCODER, dtype=FLOAT32), 2, tolerance=FLOAT32_TOLERANCE)
    agree(draw.integers(2, 5, D, low=-3, high=4), _draw(draw, ENCODER), 2)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_stages(stages: Stages, draw: Draw) -> None:
    """The cache names the weights and the stream after each step"""
    x, params = draw.normal(2, 5, D), _draw(draw, ENCODER)
    stages("encoder_block", [*ENCODER_STAGES], x, params, 2, mask=SOURCE_MASK[:, None, None, :])


@graded("encoder_decoder.encoder_block")
def test_encoder_block_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The inputs are left as they were"""
    unmodified(draw.normal(2, 5, D), _draw(draw, ENCODER), 2, mask=NO_SOURCE[:, None, None, :])


@graded("encoder_decoder.decoder_block", points=2)
def test_decoder_block(agree: Agree, draw: Draw) -> None:
    """Three steps, the norm after each; longer and shorter memories"""
    x, params = draw.normal(2, 4, D), _draw(draw, DECODER)
    agree(x, draw.normal(2, 5, D), params, 2)
    agree(x, draw.normal(2, 3, D), params, 3)
    agree(x, draw.normal(2, 4, D), params, 2, None, None)


@graded("encoder_decoder.decoder_block", points=2)
def test_decoder_block_masks(agree: Agree, draw: Draw) -> None:
    """One mask for the target, another one for the source"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), _draw(draw, DECODER)
    agree(x, memory, params, 2, np.tri(4, dtype=bool), SOURCE_MASK[:, None, None, :])
    agree(x, memory, params, 2, target_mask=np.tri(4, dtype=bool) & TARGET_MASK[:, None, None, :])
    agree(x, memory, params, 2, source_mask=draw.booleans(2, 2, 4, 5) | np.eye(4, 5, dtype=bool))
    agree(x, draw.normal(2, 4, D), params, 2, np.tri(4, dtype=bool), TARGET_MASK[:, None, None, :])


@graded("encoder_decoder.decoder_block")
def test_decoder_block_sees_nothing(agree: Agree, draw: Draw) -> None:
    """Targets that see nothing of each other, and nothing of the source"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), _draw(draw, DECODER)
    agree(x, memory, params, 2, target_mask=np.tri(4, k=-1, dtype=bool), source_mask=NO_SOURCE[:, None, None, :])


@graded("encoder_decoder.decoder_block")
def test_decoder_block_axes(agree: Agree, draw: Draw) -> None:
    """2-D and 4-D x, a single token, a memory of one, a single head"""
    params = _draw(draw, DECODER)
    agree(draw.normal(4, D), draw.normal(5, D), params, 2, target_mask=np.tri(4, dtype=bool))
    agree(draw.normal(2, 3, 4, D), draw.normal(2, 3, 5, D), params, 3)
    agree(draw.normal(1, 1, D), draw.normal(1, 1, D), params, 1)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_biases_absent(agree: Agree, draw: Draw) -> None:
    """Without biases, and without some of them"""
    x, memory = draw.normal(2, 4, D), draw.normal(2, 5, D)
    agree(x, memory, _draw(draw, DECODER, without=BIASES), 2)
    agree(x, memory, _draw(draw, DECODER, without=("b_o", "b_1")), 2)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, integers become float64"""
    x, memory = draw.normal(2, 4, D, dtype=FLOAT32), draw.normal(2, 5, D, dtype=FLOAT32)
    masks = {"target_mask": np.tri(4, dtype=bool), "source_mask": SOURCE_MASK[:, None, None, :]}
    agree(x, memory, _draw(draw, DECODER, dtype=FLOAT32), 2, **masks, tolerance=FLOAT32_TOLERANCE)
    x, memory = draw.integers(2, 4, D, low=-3, high=4), draw.integers(2, 5, D, low=-3, high=4)
    agree(x, memory, _draw(draw, DECODER), 2)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_stages(stages: Stages, draw: Draw) -> None:
    """The cache names both weights and the stream after each step"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), _draw(draw, DECODER)
    stages("decoder_block", [*DECODER_STAGES], x, memory, params, 2, np.tri(4, dtype=bool), SOURCE_MASK[:, None, None])


@graded("encoder_decoder.decoder_block")
def test_decoder_block_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The inputs are left as they were"""
    masks = {"target_mask": np.tri(4, k=-1, dtype=bool), "source_mask": NO_SOURCE[:, None, None, :]}
    unmodified(draw.normal(2, 4, D), draw.normal(2, 5, D), _draw(draw, DECODER), 2, **masks)


@graded("encoder_decoder.encode", points=2)
def test_encode(agree: Agree, draw: Draw) -> None:
    """Two blocks on scaled token vectors plus positions"""
    params, config = _model(draw, n_layers=2)
    agree(_texts(draw)[0], params, config)


@graded("encoder_decoder.encode")
def test_encode_padding(agree: Agree, draw: Draw) -> None:
    """Padding is not looked at; a text may be all padding"""
    (params, config), (source, _) = _model(draw, n_layers=2, n_heads=3), _texts(draw)
    agree(source, params, config, SOURCE_MASK)
    agree(source, params, config, source_mask=NO_SOURCE)


@graded("encoder_decoder.encode")
def test_encode_axes(agree: Agree, draw: Draw) -> None:
    """One text, texts in two axes, a single token"""
    params, config = _model(draw)
    agree(draw.integers(5, high=VS), params, config, source_mask=SOURCE_MASK[0])
    agree(draw.integers(2, 3, 5, high=VS), params, config, source_mask=draw.booleans(2, 3, 5))
    agree(draw.integers(1, 1, high=VS), params, config)


@graded("encoder_decoder.encode")
def test_encode_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, without biases too"""
    source, _ = _texts(draw)
    for without in ((), BIASES):
        params, config = _model(draw, without=without, dtype=FLOAT32)
        agree(source, params, config, source_mask=SOURCE_MASK, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.encode")
def test_encode_stages(stages: Stages, draw: Draw) -> None:
    """The cache names the stages of every block"""
    (params, config), (source, _) = _model(draw, n_layers=2), _texts(draw)
    names = ["source_embedded", *(f"encoder.{i}.{name}" for i in range(2) for name in ENCODER_STAGES)]
    stages("encode", names, source, params, config, source_mask=SOURCE_MASK)


@graded("encoder_decoder.encode")
def test_encode_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The source, the parameters and the mask are left as they were"""
    params, config = _model(draw)
    unmodified(_texts(draw)[0], params, config, source_mask=NO_SOURCE)


@graded("encoder_decoder.decode", points=2)
def test_decode(agree: Agree, draw: Draw) -> None:
    """Two blocks that look at the same memory, and never ahead"""
    params, config = _model(draw, n_layers=2)
    agree(_texts(draw)[1], draw.normal(2, 5, D), params, config)


@graded("encoder_decoder.decode", points=2)
def test_decode_padding(agree: Agree, draw: Draw) -> None:
    """Padding in the target, in the source, in both"""
    (params, config), (_, target), memory = _model(draw, n_heads=3), _texts(draw), draw.normal(2, 5, D)
    agree(target, memory, params, config, TARGET_MASK)
    agree(target, memory, params, config, source_mask=SOURCE_MASK)
    agree(target, memory, params, config, TARGET_MASK, SOURCE_MASK)


@graded("encoder_decoder.decode")
def test_decode_sees_nothing(agree: Agree, draw: Draw) -> None:
    """Padding in front of the target, a source that is all padding"""
    (params, config), (_, target), memory = _model(draw), _texts(draw), draw.normal(2, 5, D)
    agree(target, memory, params, config, target_mask=~TARGET_MASK, source_mask=NO_SOURCE)


@graded("encoder_decoder.decode")
def test_decode_axes(agree: Agree, draw: Draw) -> None:
    """One text, texts in two axes, a single token"""
    params, config = _model(draw)
    masks = {"target_mask": TARGET_MASK[0], "source_mask": SOURCE_MASK[0]}
    agree(draw.integers(4, high=VT), draw.normal(5, D), params, config, **masks)
    masks = {"target_mask": draw.booleans(2, 3, 4), "source_mask": draw.booleans(2, 3, 5)}
    agree(draw.integers(2, 3, 4, high=VT), draw.normal(2, 3, 5, D), params, config, **masks)
    agree(draw.integers(1, 1, high=VT), draw.normal(1, 1, D), params, config)


@graded("encoder_decoder.decode")
def test_decode_large(agree: Agree, draw: Draw) -> None:
    """Scores in the thousands: no overflow, no log of 0"""
    (params, config), (_, target) = _model(draw), _texts(draw)
    params["W_head"] *= 1024
    agree(target, draw.normal(2, 5, D), params, config)


@graded("encoder_decoder.decode")
def test_decode_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, without biases too"""
    (_, target), memory = _texts(draw), draw.normal(2, 5, D, dtype=FLOAT32)
    for without in ((), BIASES):
        params, config = _model(draw, without=without, dtype=FLOAT32)
        agree(
            target,
            memory,
            params,
            config,
            target_mask=TARGET_MASK,
            source_mask=SOURCE_MASK,
            tolerance=FLOAT32_TOLERANCE,
        )


@graded("encoder_decoder.decode")
def test_decode_stages(stages: Stages, draw: Draw) -> None:
    """The cache names the stages of every block"""
    (params, config), (_, target) = _model(draw, n_layers=2), _texts(draw)
    names = ["target_embedded", *(f"decoder.{i}.{name}" for i in range(2) for name in DECODER_STAGES)]
    stages("decode", names, target, draw.normal(2, 5, D), params, config, TARGET_MASK, SOURCE_MASK)


@graded("encoder_decoder.decode")
def test_decode_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The inputs are left as they were"""
    (params, config), (_, target) = _model(draw), _texts(draw)
    unmodified(target, draw.normal(2, 5, D), params, config, target_mask=~TARGET_MASK, source_mask=NO_SOURCE)


@graded("encoder_decoder.transformer", points=2)
def test_transformer(agree: Agree, draw: Draw) -> None:
    """Both stacks, two blocks each"""
    agree(*_texts(draw), *_small(draw, n_layers=2))


@graded("encoder_decoder.transformer")
def test_transformer_padding(agree: Agree, draw: Draw) -> None:
    """Padding in the source and in the target, a source that is all padding"""
    (params, config), texts = _small(draw, n_heads=4), _texts(draw)
    agree(*texts, params, config, SOURCE_MASK, TARGET_MASK)
    agree(*texts, params, config, source_mask=NO_SOURCE)


@graded("encoder_decoder.transformer")
def test_transformer_axes(agree: Agree, draw: Draw) -> None:
    """One text, texts in two axes, a single token"""
    params, config = _small(draw)
    agree(draw.integers(5, high=VS), draw.integers(4, high=VT), params, config, SOURCE_MASK[0], TARGET_MASK[0])
    agree(draw.integers(2, 3, 4, high=VS), draw.integers(2, 3, 5, high=VT), params, config)
    agree(draw.integers(1, 1, high=VS), draw.integers(1, 1, high=VT), params, config)


@graded("encoder_decoder.transformer")
def test_transformer_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, without biases"""
    params, config = _small(draw, without=BIASES, dtype=FLOAT32)
    agree(*_texts(draw), params, config, SOURCE_MASK, TARGET_MASK, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.transformer")
def test_transformer_stages(stages: Stages, draw: Draw) -> None:
    """The cache names the stages of both stacks, and the memory"""
    names = ["source_embedded", *(f"encoder.0.{name}" for name in ENCODER_STAGES), "memory"]
    names += ["target_embedded", *(f"decoder.0.{name}" for name in DECODER_STAGES)]
    stages("transformer", names, *_texts(draw), *_small(draw), SOURCE_MASK, TARGET_MASK)


@graded("encoder_decoder.transformer")
def test_transformer_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The inputs are left as they were"""
    unmodified(*_texts(draw), *_small(draw), source_mask=NO_SOURCE, target_mask=~TARGET_MASK)


@graded("encoder_decoder.greedy_decode", points=2)
def test_greedy(agree: Agree, reference: Reference, draw: Draw) -> None:
    """Texts that end at different times: the ended ones are filled with the end token"""
    w = _writer(draw, reference)
    agree(w.source, w.params, w.config, 1, w.end, max(w.lengths) + 3)


@graded("encoder_decoder.greedy_decode")
def test_greedy_cut(agree: Agree, reference: Reference, draw: Draw) -> None:
    """No room for more: texts that have not ended are cut"""
    w = _writer(draw, reference)
    for max_length in (max(w.lengths), max(w.lengths) - 1, 1):
        agree(w.source, w.params, w.config, start=1, end=w.end, max_length=max_length)


@graded("encoder_decoder.greedy_decode")
def test_greedy_alone(agree: Agree, reference: Reference, draw: Draw) -> None:
    """A single text, in a batch of one and without a batch axis"""
    w = _writer(draw, reference)
    for row in w.source[:2]:
        agree(row[None], w.params, w.config, 1, w.end, 8)
        agree(row, w.params, w.config, 1, w.end, 8)


@graded("encoder_decoder.greedy_decode")
def test_greedy_two_blocks(agree: Agree, draw: Draw) -> None:
    """Two blocks, another start token, texts in two axes"""
    params, config = _model(draw, n_layers=2, n_heads=3)
    for start in (0, 5):
        agree(draw.integers(2, 3, 4, high=VS), params, config, start, 2, 6)


@graded("encoder_decoder.greedy_decode")
def test_greedy_padding(agree: Agree, draw: Draw) -> None:
    """Padding in the source is not looked at; a source may be all padding"""
    for _ in range(2):
        params, config = _model(draw)
        keep = draw.booleans(12, 5)
        keep[0] = False
        agree(draw.integers(12, 5, high=VS), params, config, 1, 0, 6, keep)


@graded("encoder_decoder.greedy_decode")
def test_greedy_ties(agree: Agree, draw: Draw) -> None:
    """Of equally probable tokens the first is taken"""
    (params, config), (source, _) = _model(draw), _texts(draw)
    params["W_head"] *= 0
    agree(source, params, config, 1, 3, 4)
    agree(source, params, config, 1, 0, 4)


@graded("encoder_decoder.greedy_decode")
def test_greedy_start_is_end(agree: Agree, draw: Draw) -> None:
    """The start token in front ends nothing, even if it is the end token"""
    params, config = _model(draw)
    source = draw.integers(8, 5, high=VS)
    agree(source, params, config, 2, 2, 5)


@graded("encoder_decoder.greedy_decode")
def test_greedy_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The source, the parameters and the mask are left as they were"""
    (params, config), (source, _) = _model(draw), _texts(draw)
    unmodified(source, params, config, 1, 2, 4, source_mask=SOURCE_MASK)


@graded("encoder_decoder.transformer_backward", points=2)
def test_gradient(backward: Backward, draw: Draw) -> None:
    """Two blocks in each stack"""
    backward(draw.normal(2, 4, VT), *_texts(draw), *_small(draw, n_layers=2))


@graded("encoder_decoder.transformer_backward")
def test_gradient_padding(backward: Backward, draw: Draw) -> None:
    """Padding in the source and in the target, a source that is all padding"""
    (params, config), texts = _small(draw, n_heads=4), _texts(draw)
    backward(draw.normal(2, 4, VT), *texts, params, config, SOURCE_MASK, TARGET_MASK)
    backward(draw.normal(2, 4, VT), *texts, params, config, NO_SOURCE, ~TARGET_MASK)


@graded("encoder_decoder.transformer_backward")
def test_gradient_axes(backward: Backward, draw: Draw) -> None:
    """One text, texts in two axes, a single token"""
    params, config = _small(draw)
    for batch, n_source, n_target in (((), 5, 4), ((2, 2), 3, 4), ((1,), 1, 1)):
        texts = draw.integers(*batch, n_source, high=VS), draw.integers(*batch, n_target, high=VT)
        backward(draw.normal(*batch, n_target, VT), *texts, params, config)


@graded("encoder_decoder.transformer_backward")
def test_gradient_biases_absent(backward: Backward, draw: Draw) -> None:
    """No bias, no gradient for it"""
    backward(draw.normal(2, 4, VT), *_texts(draw), *_small(draw, without=BIASES))


@graded("encoder_decoder.transformer_backward")
def test_gradient_repeated_tokens(backward: Backward, draw: Draw) -> None:
    """Tokens that come several times, and tokens that never come"""
    texts = draw.integers(2, 5, low=2, high=4), draw.integers(2, 4, low=5, high=7)
    backward(draw.normal(2, 4, VT), *texts, *_small(draw))


@graded("encoder_decoder.transformer_backward")
def test_gradient_float32(backward: Backward, draw: Draw) -> None:
    """float32 stays float32"""
    dlog_probs = draw.normal(2, 4, VT, dtype=FLOAT32)
    params, config = _small(draw, dtype=FLOAT32)
    backward(dlog_probs, *_texts(draw), params, config, SOURCE_MASK, TARGET_MASK, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.transformer_backward")
def test_gradient_twice(backward: Backward, stages: Stages, compare: Compare, draw: Draw) -> None:
    """Each cache remembers its own forward pass, for as often as it is asked"""
    texts, model, dlog_probs = _texts(draw), _small(draw), draw.normal(2, 4, VT)
    first = stages.cache("transformer", *texts, *model)
    second = stages.cache("transformer", *_texts(draw), *_small(draw, n_heads=4))
    expected = backward.expected(dlog_probs, *texts, *model)
    for cache in (first, second, first):
        actual = stages.student.encoder_decoder.transformer_backward(dlog_probs, cache)
        if cache is first:
            compare(actual, expected)


@graded("encoder_decoder.transformer_backward")
def test_gradient_inputs_kept(unmodified: Unmodified, stages: Stages, draw: Draw) -> None:
    """The gradient and the cache are left as they were"""
    cache = stages.cache("transformer", *_texts(draw), *_small(draw), NO_SOURCE, TARGET_MASK)
    unmodified(draw.normal(2, 4, VT), cache)
