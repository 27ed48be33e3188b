"""Small random checkpoints with the names of GPT-2, for the checks of `gpt2`."""

from typing import Any

import numpy as np

from autograder.engine.inputs import Array, RandomInputs

MODULES = ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj")


def draw_sizes(draw: RandomInputs) -> dict[str, int]:
    """Return the sizes of a small model. They, and four times the width, are all different."""
    ranges = {"vocab_size": (200, 1000), "n_positions": (180, 200), "n_layer": (2, 5), "n_head": (5, 9)}
    sizes = {name: int(draw.integers(low=low, high=high)) for name, (low, high) in ranges.items()}
    return {**sizes, "n_embd": sizes["n_head"] * int(draw.integers(low=2, high=6))}


def settings(draw: RandomInputs, **keys: Any) -> dict[str, Any]:
    """Return the contents of a small config.json with drawn sizes; a key that is ... is left out."""
    sizes = draw_sizes(draw)
    contents = {"model_type": "gpt2", "activation_function": "gelu_new", **sizes, "layer_norm_epsilon": 1e-5, **keys}
    return {key: value for key, value in contents.items() if value is not ...}


def draw_tensors(
    draw: RandomInputs, n_layers: int = 2, d: int = 4, f: int = 6, vocab: int = 7, dtype: Any = np.float64
) -> dict[str, Array]:
    """Return the tensors of a random checkpoint without a prefix, buffers or head."""
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (vocab, d), "wpe.weight": (5, d)}
    outputs = (d, 3 * d, d, d, f, d)
    for i in range(n_layers):
        for module, width in zip(MODULES, outputs, strict=True):
            if not module.startswith("ln"):
                shapes[f"h.{i}.{module}.weight"] = (f if module == "mlp.c_proj" else d, width)
            else:
                shapes[f"h.{i}.{module}.weight"] = (d,)
            shapes[f"h.{i}.{module}.bias"] = (width,)
    shapes |= {"ln_f.weight": (d,), "ln_f.bias": (d,)}
    return {name: draw.normal(*shape, dtype=dtype) for name, shape in shapes.items()}


def prefixed(tensors: dict[str, Array]) -> dict[str, Array]:
    """Return the tensors with the names of a whole language model, as `transformers` saves it."""
    return {name if name == "lm_head.weight" else f"transformer.{name}": value for name, value in tensors.items()}


def mask_buffers(n_layers: int) -> dict[str, Array]:
    """Return the buffers that old versions of `transformers` saved: the causal mask, and a large negative number."""
    triangle, fill = np.tri(5, dtype=np.float32)[None, None], np.array(-1e4, np.float32)
    return {
        name: value
        for i in range(n_layers)
        for name, value in ((f"h.{i}.attn.bias", triangle), (f"h.{i}.attn.masked_bias", fill))
    }
