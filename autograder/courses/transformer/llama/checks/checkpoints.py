"""Checks of what is read from a Hugging Face checkpoint: the configuration and the parameters."""

from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Config
from autograder.courses.transformer.llama.checks._models import small_config
from autograder.engine.comparison.compare import EXACT
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
CONFIG, PARAMS = "llama.llama_config", "llama.llama_params"

SIZES = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "max_position_embeddings",
)
# As version 4 of transformers writes it, and with settings that change nothing here.
SETTINGS: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.1,
    "bos_token_id": 1,
    "head_dim": 8,
    "hidden_act": "silu",
    "initializer_range": 0.03,
    "mlp_bias": False,
    "model_type": "llama",
    "num_key_value_heads": 2,
    "pretraining_tp": 1,
    "rms_norm_eps": 2e-5,
    "rope_scaling": None,
    "rope_theta": 500000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "use_cache": True,
}


def _sizes(draw: RandomInputs) -> dict[str, int]:
    """Return sizes that are all different, with 6, 12 or 18 heads of 8 features."""
    heads = 6 * int(draw.integers(low=1, high=4))
    ranges = ((400, 1000), (150, 300), (1, 6), (300, 400))
    vocab, inner, layers, positions = (int(draw.integers(low=low, high=high)) for low, high in ranges)
    return dict(zip(SIZES, (vocab, 8 * heads, inner, layers, heads, positions), strict=True))


def _older(draw: RandomInputs, **changes: Any) -> dict[str, Any]:
    """Return the contents of a config.json as version 4 of transformers writes it; a key that is ... is left out."""
    contents = {**SETTINGS, **_sizes(draw), **changes}
    return {name: value for name, value in contents.items() if value is not ...}


def _newer(draw: RandomInputs, **changes: Any) -> dict[str, Any]:
    """Return the contents of a config.json as version 5 of transformers writes it."""
    rotation = {"rope_theta": 1000.0 * int(draw.integers(low=5, high=90)), "rope_type": "default"}
    newer = {"rope_theta": ..., "rope_scaling": ..., "rope_parameters": rotation, "tie_word_embeddings": False}
    return _older(draw, **{**newer, **changes})


@graded(CONFIG, points=2)
def test_config(agree: Agree, draw: RandomInputs) -> None:
    """A file with all settings, as older versions of transformers write it"""
    agree(_older(draw))
    agree(_older(draw, num_key_value_heads=3, num_hidden_layers=1, tie_word_embeddings=False))


@graded(CONFIG)
def test_config_rope_parameters(agree: Agree, draw: RandomInputs) -> None:
    """The base in rope_parameters, as version 5 of transformers writes it"""
    agree(_newer(draw))
    agree(_newer(draw, rope_parameters={"rope_type": "default", "rope_theta": 1e6}))


@graded(CONFIG)
def test_config_defaults(agree: Agree, draw: RandomInputs) -> None:
    """Settings that are missing, or None"""
    required = {"model_type": "llama", **_sizes(draw)}
    agree(required)
    defaults = ("num_key_value_heads", "rms_norm_eps", "tie_word_embeddings", "rope_theta")
    for name in (*defaults, "head_dim", "rope_scaling", "rope_parameters"):
        agree(_older(draw, **{name: None}))
    for name in defaults:
        agree(_older(draw, **{name: ...}))


@graded(CONFIG)
def test_config_default_rotation(agree: Agree, draw: RandomInputs) -> None:
    """A rope_scaling of the default kind; rope_parameters without a base"""
    agree(_older(draw, rope_scaling={"rope_type": "default"}))
    agree(_older(draw, rope_scaling={"type": "default"}))
    agree(_older(draw, rope_parameters={"rope_type": "default"}))


@graded(CONFIG, points=0.5)
def test_config_scaled_rotation(agree: Agree, draw: RandomInputs) -> None:
    """Angles that are scaled as in Llama 3"""
    scaling = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    for factor, length in ((8.0, 8192), (32.0, 64)):
        scaling |= {"factor": factor, "original_max_position_embeddings": length}
        agree(_older(draw, rope_scaling=scaling))
        agree(_newer(draw, rope_parameters=scaling | {"rope_theta": 1000.0 * int(draw.integers(low=5, high=90))}))


@graded(CONFIG)
def test_config_unsupported(refuses: Refuses, draw: RandomInputs) -> None:
    """Settings that this model cannot have, and missing sizes, each with its name or kind in the message"""
    for name, value in (
        ("model_type", "mistral"),
        ("model_type", ...),
        ("hidden_act", "gelu"),
        ("attention_bias", True),
        ("mlp_bias", True),
        ("head_dim", 16),
        *((size, ...) for size in SIZES),
    ):
        refuses(_older(draw, **{name: value}), about=name)
    for kind in ("llama3", "linear"):  # The first lacks three of its numbers.
        refuses(
            _older(draw, rope_scaling={"rope_type" if kind == "llama3" else "type": kind, "factor": 8.0}), about=kind
        )
    refuses(_newer(draw, rope_parameters={"rope_theta": 1e4, "rope_type": "yarn", "factor": 4.0}), about="yarn")


@graded(CONFIG)
def test_config_input_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The dictionary is not changed"""
    unmodified(_newer(draw))


def _tensors(
    draw: RandomInputs, config: Config | None = None, dtype: Any = np.float32, prefix: str = "model."
) -> dict[str, Array]:
    """Return random tensors of a checkpoint, as Hugging Face names and stores them."""
    config = config or small_config()
    d, f, narrow = config.d_model, config.d_ff, config.d_model // config.n_heads * config.n_kv_heads
    layer = {
        "input_layernorm": (d,),
        "self_attn.q_proj": (d, d),
        "self_attn.k_proj": (narrow, d),
        "self_attn.v_proj": (narrow, d),
        "self_attn.o_proj": (d, d),
        "post_attention_layernorm": (d,),
        "mlp.gate_proj": (f, d),
        "mlp.up_proj": (f, d),
        "mlp.down_proj": (d, f),
    }
    shapes: dict[str, tuple[int, ...]] = {"embed_tokens": (config.vocab_size, d), "norm": (d,)}
    for i in range(config.n_layers):
        shapes |= {f"layers.{i}.{name}": shape for name, shape in layer.items()}
    tensors = {f"{prefix}{name}.weight": draw.normal(*shape, dtype=dtype) for name, shape in shapes.items()}
    if not config.tied:
        tensors["lm_head.weight"] = draw.normal(config.vocab_size, d, dtype=dtype)
    return tensors


def _as_bf16(tensors: dict[str, Array]) -> dict[str, Array]:
    """Return the upper 16 bits of each number."""
    return {name: (value.view(np.uint32) >> 16).astype(np.uint16) for name, value in tensors.items()}


@graded(PARAMS, points=2)
def test_params(agree: Agree, draw: RandomInputs) -> None:
    """Names and transposed matrices: one layer, two layers"""
    agree(_tensors(draw, small_config(n_layers=1)), tolerance=EXACT)
    agree(_tensors(draw), tolerance=EXACT)


@graded(PARAMS)
def test_params_prefix(agree: Agree, draw: RandomInputs) -> None:
    """Without the prefix `model.`"""
    agree(_tensors(draw, prefix=""), tolerance=EXACT)


@graded(PARAMS)
def test_params_tied(agree: Agree, draw: RandomInputs) -> None:
    """Without lm_head.weight: no W_head"""
    for prefix in ("model.", ""):
        agree(_tensors(draw, small_config(tied=True), prefix=prefix), tolerance=EXACT)


@graded(PARAMS)
def test_params_layers(agree: Agree, draw: RandomInputs) -> None:
    """Twelve layers; the tensors in another order"""
    config = small_config(n_layers=12, n_heads=2, n_kv_heads=1, d_model=4, d_ff=3, vocab_size=5)
    tensors = _tensors(draw, config)
    agree(tensors, tolerance=EXACT)
    agree(dict(sorted(tensors.items())), tolerance=EXACT)


@graded(PARAMS)
def test_params_bf16(agree: Agree, draw: RandomInputs) -> None:
    """BF16 numbers, as uint16"""
    agree(_as_bf16(_tensors(draw)), tolerance=EXACT)
    agree(_tensors(draw) | _as_bf16({"model.norm.weight": draw.normal(16, dtype=np.float32)}), tolerance=EXACT)


@graded(PARAMS)
def test_params_bf16_range(agree: Agree, draw: RandomInputs) -> None:
    """BF16: the largest, the smallest, both zeros and both infinities"""
    special = [0x7F7F, 0xFF7F, 0x0080, 0x0001, 0x8001, 0x0000, 0x8000, 0x7F80, 0xFF80, 0x3F80, 0xBF80]
    tensors = _tensors(draw)
    tensors["model.norm.weight"] = np.resize(np.array(special, dtype=np.uint16), 16)
    agree(tensors, tolerance=EXACT)


@graded(PARAMS)
def test_params_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float64 and float16 are kept"""
    for dtype in (np.float64, np.float16):
        agree({name: value.astype(dtype) for name, value in _tensors(draw).items()}, tolerance=EXACT)


@graded(PARAMS)
def test_params_rotation_tables(agree: Agree, draw: RandomInputs) -> None:
    """The tables rotary_emb.inv_freq are ignored"""
    for prefix in ("model.", ""):
        tables = (f"{prefix}layers.{i}.self_attn.rotary_emb.inv_freq" for i in range(2))
        extra = {name: draw.normal(2, dtype=np.float32) for name in (*tables, f"{prefix}rotary_emb.inv_freq")}
        agree(_tensors(draw, prefix=prefix) | extra, tolerance=EXACT)


@graded(PARAMS)
def test_params_missing(refuses: Refuses, draw: RandomInputs) -> None:
    """A tensor is missing: its name is in the message"""
    tensors = _tensors(draw)
    for name in tensors:
        if name != "lm_head.weight" and not name.startswith("model.layers.0"):
            kept = {other: value for other, value in tensors.items() if other != name}
            refuses(kept, about=name.removeprefix("model."))
    without_layer = {name: value for name, value in tensors.items() if not name.startswith("model.layers.0")}
    refuses(without_layer, about="layers.")
    refuses({}, about="weight")


@graded(PARAMS)
def test_params_unknown(refuses: Refuses, draw: RandomInputs) -> None:
    """An unknown tensor: its name is in the message"""
    tensors, extra = _tensors(draw), draw.normal(16, dtype=np.float32)
    for name in ("layers.0.self_attn.q_norm.weight", "embed_positions.weight"):
        refuses(tensors | {f"model.{name}": extra}, about=name)


@graded(PARAMS, points=0.25)
def test_params_biases(refuses: Refuses, draw: RandomInputs) -> None:
    """A bias, which Llama does not have: its name is in the message"""
    name = "layers.1.self_attn.q_proj.bias"
    refuses(_tensors(draw) | {f"model.{name}": draw.normal(16, dtype=np.float32)}, about=name)


@graded(PARAMS)
def test_params_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The tensors are not changed"""
    tensors = _tensors(draw)
    unmodified(tensors)
    unmodified(_as_bf16(tensors))
