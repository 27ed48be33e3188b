"""Models, texts and masks for the checks of `encoder_decoder`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.core.wire_format import Config
from autograder.engine.comparison.compare import Tolerance
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference

D, F, VS, VT = 6, 7, 9, 8
BIASES = ("b_qkv", "b_o", "b_1", "b_2")

# If the entries of a vector are nearly equal, a layer norm amplifies the rounding errors of float32, and there are
# several norms in a row. These checks are about the dtype; the values are checked in float64.
FLOAT32_TOLERANCE = Tolerance(relative=1e-3, floor=1e-4)

# The real tokens of two sources of 5 tokens and of two targets of 4.
SOURCE_MASK = np.array([[True, True, True, False, False], [True, True, True, True, False]])
TARGET_MASK = np.array([[True, True, True, False], [True, False, True, True]])
# The second text consists of padding only.
NO_SOURCE = np.array([[True, True, False, True, True], [False] * 5])

NEVER = -1  # a token that no model writes


def layer_shapes(*parts: str, d: int = D) -> dict[str, tuple[int, ...]]:
    """Return the parameter shapes of one block: attentions and "ffn", each with its layer norm."""
    shapes: dict[str, tuple[int, ...]] = {}
    for number, part in enumerate(parts, 1):
        if part == "ffn":
            shapes |= {"ffn.W_1": (d, F), "ffn.b_1": (F,), "ffn.W_2": (F, d), "ffn.b_2": (d,)}
        else:
            shapes |= {f"{part}.W_qkv": (d, 3 * d), f"{part}.b_qkv": (3 * d,)}
            shapes |= {f"{part}.W_o": (d, d), f"{part}.b_o": (d,)}
        shapes |= {f"ln{number}.gamma": (d,), f"ln{number}.beta": (d,)}
    return shapes


ENCODER, DECODER = layer_shapes("attn", "ffn"), layer_shapes("attn", "source_attn", "ffn")


def draw_params(
    draw: RandomInputs, shapes: dict[str, tuple[int, ...]], without: tuple[str, ...] = (), dtype: Any = np.float64
) -> dict[str, Array]:
    """Return random parameters, none near its usual initial value; some biases may be absent."""
    kept = {name: shape for name, shape in shapes.items() if name.rpartition(".")[2] not in without}
    params = {name: draw.normal(*shape, scale=0.5, dtype=dtype) for name, shape in kept.items()}
    for name in params:
        if name.endswith("gamma"):
            params[name] += np.float32(1.5)
    return params


def draw_model(
    draw: RandomInputs,
    n_layers: int = 1,
    n_heads: int = 2,
    *,
    d: int = D,
    without: tuple[str, ...] = (),
    dtype: Any = np.float64,
    **options: Any,
) -> tuple[dict[str, Array], Config]:
    """Return random parameters of a whole model, and its configuration; `options` may be norm and head_bias."""
    shapes: dict[str, tuple[int, ...]] = {"W_source": (VS, d), "W_target": (VT, d)}
    for stack, parts in (("encoder", ["attn", "ffn"]), ("decoder", ["attn", "source_attn", "ffn"])):
        for i in range(n_layers):
            shapes |= {f"{stack}.{i}.{name}": shape for name, shape in layer_shapes(*parts, d=d).items()}
    if options.get("norm") == "pre":
        shapes |= {f"{stack}.ln_f.{name}": (d,) for stack in ("encoder", "decoder") for name in ("gamma", "beta")}
    shapes["W_head"] = (d, VT)
    if options.get("head_bias"):
        shapes["b_head"] = (VT,)
    fields = {"vocab_source": VS, "vocab_target": VT, "n_layers": n_layers, "n_heads": n_heads, "d_model": d, "d_ff": F}
    config = Config("encoder_decoder", "TransformerConfig", {**fields, "bias": not without, **options})
    return draw_params(draw, shapes, without, dtype), config


def draw_small_model(draw: RandomInputs, **options: Any) -> tuple[dict[str, Array], Config]:
    """Return a narrower model, for checks whose parameters or gradients are stored in the memo."""
    return draw_model(draw, d=4, **options)


def draw_texts(draw: RandomInputs) -> tuple[Array, Array]:
    """Return two sources of 5 tokens and two targets of 4."""
    return draw.integers(2, 5, high=VS), draw.integers(2, 4, high=VT)


@dataclass(frozen=True)
class Writer:
    """A model that ends three texts after three different numbers of tokens."""

    source: Array
    params: dict[str, Array]
    config: Config
    end: int
    lengths: list[int]


def draw_writer(draw: RandomInputs, reference: Reference) -> Writer:
    """Draw models until one is suitable, as about every second is. The lengths are between 1 and 6."""
    for _ in range(40):
        params, config = draw_model(draw)
        for name in params:
            if ".ln" in name and name.endswith("beta"):
                params[name] *= 0.25  # a large last beta would make one token the most probable everywhere
        source = draw.integers(12, 5, high=VS)
        ids = reference.encoder_decoder.greedy_decode(source, params, config, 1, NEVER, 6)
        for end in range(VT):
            rows = {row.tolist().index(end): i for i, row in enumerate(ids) if end in row}
            firsts = sorted(rows, reverse=True)
            if len(rows) >= 3:
                firsts = [firsts[1], firsts[0], firsts[-1]]
                return Writer(source[[rows[n] for n in firsts]], params, config, end, [n + 1 for n in firsts])
    raise AssertionError("none of 40 models was suitable")
