"""PyTorch's answers for `llama`: its layers, `F.rms_norm`, `F.embedding` and autograd."""

import math
import re
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from autograder.core.wire_format import Config
from autograder.courses.transformer.common.reference import greedy_generation, last_logits_of
from autograder.courses.transformer.llama_layers.reference import gated_network, grouped_heads
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

Params = dict[str, Tensor]


def _block(x: Tensor, layer: Params, config: Any, mask: Tensor | None) -> dict[str, Tensor]:
    """The named entries of the cache; `after_ffn` is the output."""
    eps = config.norm_eps
    attended, weights = grouped_heads(
        F.rms_norm(x, x.shape[-1:], layer["norm1.gamma"], eps),
        _part(layer, "attn."),
        config.n_heads,
        config.n_kv_heads,
        mask,
        None,
        config.rope_base,
    )
    after_attention = x + attended
    normed = F.rms_norm(after_attention, x.shape[-1:], layer["norm2.gamma"], eps)
    after_ffn = after_attention + gated_network(normed, _part(layer, "ffn."))
    return {"weights": weights, "after_attention": after_attention, "after_ffn": after_ffn}


def _part(params: Params, prefix: str) -> Params:
    return {name.removeprefix(prefix): param for name, param in params.items() if name.startswith(prefix)}


@in_torch
def llama_block(x: Tensor, params: Params, config: Any, mask: Tensor | None = None) -> tuple[Tensor, dict[str, Any]]:
    """`F.rms_norm`, `F.scaled_dot_product_attention`, `F.silu` and sums."""
    named = _block(as_float(x), {name: as_float(p) for name, p in params.items()}, config, mask)
    inputs = {"x": x, "params": params, "config": config, "mask": mask}
    return named["after_ffn"], {**named, "inputs": inputs}


@in_torch
def llama_block_backward(dout: Tensor, cache: dict[str, Any]) -> tuple[Tensor, Params]:
    """Autograd through the block."""
    inputs = cache["inputs"]
    x = leaf(inputs["x"])
    params = {name: leaf(value) for name, value in inputs["params"].items()}
    out = _block(x, params, inputs["config"], inputs["mask"])["after_ffn"]
    dx, *grads = torch.autograd.grad(out, (x, *params.values()), as_float(dout))
    return dx, dict(zip(params, grads, strict=True))


def forward(ids: Tensor, params: Params, config: Any) -> tuple[Tensor, dict[str, Tensor]]:
    """The scores and the named stages."""
    length = ids.shape[-1]
    if length > config.block_size:
        raise ValueError(f"{length} tokens do not fit into the block size of {config.block_size}")
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    x = F.embedding(ids, params["W_tok"])
    stages = {"embedded": x}
    for i in range(config.n_layers):
        named = _block(x, _part(params, f"blocks.{i}."), config, mask)
        stages |= {f"blocks.{i}.{name}": value for name, value in named.items()}
        x = named["after_ffn"]
    stages["final_norm"] = F.rms_norm(x, x.shape[-1:], params["norm_f.gamma"], config.norm_eps)
    head = params["W_tok"] if config.tied else params["W_head"].T  # (V, D), as F.linear wants it
    return F.linear(stages["final_norm"], head), stages


@in_torch
def llama(ids: Tensor, params: Params, config: Any) -> tuple[Tensor, dict[str, Any]]:
    """The parts one after the other; the cache has the named stages."""
    logits, stages = forward(ids, {name: as_float(param) for name, param in params.items()}, config)
    return logits, {**stages, "inputs": {"ids": ids, "params": params, "config": config}}


@in_torch
def llama_backward(dlogits: Tensor, cache: dict[str, Any]) -> Params:
    """Autograd through the model."""
    inputs = cache["inputs"]
    leaves = {name: leaf(param) for name, param in inputs["params"].items()}
    logits, _ = forward(inputs["ids"], leaves, inputs["config"])
    grads = torch.autograd.grad(logits, list(leaves.values()), as_float(dlogits))
    return dict(zip(leaves, grads, strict=True))


def _scaled(base: float, hf_config: dict[str, Any]) -> float | tuple[float, ...]:
    """`_compute_llama3_parameters` of `transformers`, in float64."""
    scaling = hf_config.get("rope_parameters") or hf_config.get("rope_scaling") or {}
    if scaling.get("rope_type") != "llama3":
        return base
    size = hf_config["hidden_size"] // hf_config["num_attention_heads"]
    angles = []
    for i in range(0, size, 2):
        angle = base ** (-i / size)
        length = 2 * math.pi / angle  # of a full turn, in tokens
        original = scaling["original_max_position_embeddings"]
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        if length > original / low:
            angle /= scaling["factor"]
        elif length > original / high:
            smooth = (original / length - low) / (high - low)
            angle = (1 - smooth) * angle / scaling["factor"] + smooth * angle
        angles.append(angle)
    return tuple(angles)


def llama_config(hf_config: dict[str, Any]) -> Config:
    """The fields as `transformers` reads them; its defaults where a setting is missing."""
    sizes = {name: hf_config[name] for name in ("vocab_size", "hidden_size", "intermediate_size")}
    heads = hf_config["num_attention_heads"]
    rotation = hf_config.get("rope_parameters") or {}
    fields = {
        "vocab_size": sizes["vocab_size"],
        "block_size": hf_config["max_position_embeddings"],
        "n_layers": hf_config["num_hidden_layers"],
        "n_heads": heads,
        "n_kv_heads": hf_config.get("num_key_value_heads") or heads,
        "d_model": sizes["hidden_size"],
        "d_ff": sizes["intermediate_size"],
        "rope_base": _scaled(rotation.get("rope_theta") or hf_config.get("rope_theta") or 10000.0, hf_config),
        "norm_eps": 1e-6 if hf_config.get("rms_norm_eps") is None else hf_config["rms_norm_eps"],
        "tied": bool(hf_config.get("tie_word_embeddings")),
    }
    return Config("llama", "LlamaConfig", fields)


def llama_params(tensors: dict[str, Any]) -> dict[str, Any]:
    """PyTorch's own bfloat16, and `Tensor.T`."""
    ours = {
        "input_layernorm": "norm1.gamma",
        "post_attention_layernorm": "norm2.gamma",
        **{f"self_attn.{name}_proj": f"attn.W_{name}" for name in "qkvo"},
        **{f"mlp.{name}_proj": f"ffn.W_{name}" for name in ("gate", "up", "down")},
        "embed_tokens": "W_tok",
        "norm": "norm_f.gamma",
        "lm_head": "W_head",
    }
    params = {}
    for name, array in tensors.items():
        if name.endswith("rotary_emb.inv_freq"):
            continue
        place = re.fullmatch(r"(?:model\.)?(?:layers\.(\d+)\.)?(.+)\.weight", name)
        assert place is not None, name
        number, part = place.groups()
        if array.dtype == np.uint16:
            tensor = torch.from_numpy(array.view(np.int16)).view(torch.bfloat16).float()
        else:
            tensor = torch.from_numpy(array)
        is_linear = tensor.ndim == 2 and part != "embed_tokens"
        params[(f"blocks.{number}." if number else "") + ours[part]] = (tensor.T if is_linear else tensor).numpy()
    return params


last_logits = last_logits_of(forward)
generate_llama = greedy_generation(forward)
