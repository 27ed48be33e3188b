"""Small Llamas for the checks: configurations and the shapes of their parameters."""

from typing import Any

from autograder.core.wire_format import Config


def small_config(**fields: Any) -> Config:
    """Return a small configuration. Every field is set, and eps and base are not the usual ones."""
    sizes = {"vocab_size": 11, "block_size": 7, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "d_model": 16, "d_ff": 9}
    return Config("llama", "LlamaConfig", {**sizes, "rope_base": 50.0, "norm_eps": 0.3, "tied": False, **fields})


def block_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Return the parameter shapes of a block."""
    d, f = config.d_model, config.d_ff
    narrow = d // config.n_heads * config.n_kv_heads
    return {
        "norm1.gamma": (d,),
        "attn.W_q": (d, d),
        "attn.W_k": (d, narrow),
        "attn.W_v": (d, narrow),
        "attn.W_o": (d, d),
        "norm2.gamma": (d,),
        "ffn.W_gate": (d, f),
        "ffn.W_up": (d, f),
        "ffn.W_down": (f, d),
    }


def llama_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Return the parameter shapes of a model."""
    shapes: dict[str, tuple[int, ...]] = {"W_tok": (config.vocab_size, config.d_model)}
    for i in range(config.n_layers):
        shapes |= {f"blocks.{i}.{name}": shape for name, shape in block_shapes(config).items()}
    shapes["norm_f.gamma"] = (config.d_model,)
    return shapes if config.tied else {**shapes, "W_head": (config.d_model, config.vocab_size)}
