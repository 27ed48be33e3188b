"""PyTorch's answers for `gpt2`: the names of a checkpoint, and the GPT of `gpt` on all tokens, without a cache."""

from typing import Any

import numpy as np

from autograder.core.wire_format import Config
from autograder.courses.transformer.gpt.reference import Params, forward
from autograder.engine.inputs import Array
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch

# The modules of a block in transformers' GPT2Block, and the course's names of their weights and biases.
MODULES = {
    "ln_1": ("ln1.gamma", "ln1.beta"),
    "attn.c_attn": ("attn.W_qkv", "attn.b_qkv"),
    "attn.c_proj": ("attn.W_o", "attn.b_o"),
    "ln_2": ("ln2.gamma", "ln2.beta"),
    "mlp.c_fc": ("ffn.W_1", "ffn.b_1"),
    "mlp.c_proj": ("ffn.W_2", "ffn.b_2"),
}
OUTSIDE = {"wte.weight": "W_tok", "wpe.weight": "W_pos", "ln_f.weight": "ln_f.gamma", "ln_f.bias": "ln_f.beta"}


def gpt2_config(hf_config: dict[str, Any]) -> Config:
    """The fields of `GPTConfig` that follow from a configuration that it can have."""
    d_model, activation = hf_config["n_embd"], hf_config.get("activation_function", "gelu_new")
    fields = {
        "vocab_size": hf_config["vocab_size"],
        "block_size": hf_config["n_positions"],
        "n_layers": hf_config["n_layer"],
        "n_heads": hf_config["n_head"],
        "d_model": d_model,
        "d_ff": 4 * d_model if hf_config.get("n_inner") is None else hf_config["n_inner"],
        "activation": "relu" if activation == "relu" else "gelu",
        "tied": hf_config.get("tie_word_embeddings", True),
    }
    same = {"norm": "pre", "positions": "learned", "dropout": 0.0, "bias": "b_qkv b_o b_1 b_2"}
    return Config("gpt", "GPTConfig", {**fields, **same})


def gpt2_params(tensors: dict[str, Array]) -> dict[str, Array]:
    """The arrays of a checkpoint under the names of `init_gpt`, each found by its own name."""
    params: dict[str, Array] = {}
    for full_name, tensor in tensors.items():
        name = full_name.removeprefix("transformer.")
        if name in OUTSIDE:
            params[OUTSIDE[name]] = tensor
        elif name.startswith("h.") and (module := name.split(".", 2)[2].rpartition("."))[0] in MODULES:
            number, is_bias = name.split(".")[1], module[2] == "bias"
            params[f"blocks.{number}.{MODULES[module[0]][is_bias]}"] = tensor
    head = tensors.get("lm_head.weight")
    if head is not None and not np.array_equal(head, params["W_tok"]):
        params["W_head"] = np.ascontiguousarray(head.T)
    return params


@in_torch
def last_logits(ids: Tensor, params: Params, config: Any) -> tuple[Tensor, dict[str, Tensor]]:
    """The scores of the last position, from all the tokens so far."""
    logits, _ = forward(ids, {name: as_float(param) for name, param in params.items()}, config)
    return logits[..., -1, :], {}
