"""PyTorch's answers for `llama`: complex numbers for the rotation, `F.silu`, `F.linear`, `torch.softmax`, autograd."""

import re
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from autograder.core.wire_format import Config
from autograder.courses.transformer.common.reference import greedy_generation, last_logits_of
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

Params = dict[str, Tensor]


def _rope(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """Multiply complex numbers, of which the first half of `x` is the real part, by numbers of length 1."""
    size = x.shape[-1]
    if size % 2:
        raise ValueError(f"the entries are rotated in pairs, but a vector has {size} of them")
    exponents = torch.arange(0, size, 2, dtype=torch.float64) / -size
    rates = torch.pow(torch.tensor(float(base), dtype=torch.float64), exponents)
    angles = torch.outer(torch.as_tensor(positions).double(), rates)  # (T, K/2)
    pairs = torch.complex(*x.chunk(2, dim=-1)) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], dim=-1)


@in_torch
def rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """`torch.polar` times `torch.complex`."""
    return _rope(as_float(x), positions, base)


@in_torch
def rope_backward(dout: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Autograd through `rope`."""
    x = leaf(torch.zeros_like(dout))
    return torch.autograd.grad(_rope(x, positions, base), x, as_float(dout))[0]


@in_torch
def silu(x: Tensor) -> Tensor:
    """`F.silu`."""
    return F.silu(as_float(x))


@in_torch
def silu_backward(dout: Tensor, x: Tensor) -> Tensor:
    """Autograd through `F.silu`."""
    x = leaf(x)
    return torch.autograd.grad(F.silu(x), x, as_float(dout))[0]


def _swiglu(x: Tensor, params: Params) -> Tensor:
    hidden = F.silu(F.linear(x, params["W_gate"].T)) * F.linear(x, params["W_up"].T)
    return F.linear(hidden, params["W_down"].T)


@in_torch
def swiglu(x: Tensor, params: Params) -> tuple[Tensor, dict[str, Any]]:
    """`F.linear` and `F.silu`."""
    out = _swiglu(as_float(x), {name: as_float(value) for name, value in params.items()})
    return out, {"inputs": {"x": x, "params": params}}


@in_torch
def swiglu_backward(dout: Tensor, cache: dict[str, Any]) -> tuple[Tensor, Params]:
    """Autograd through `swiglu`."""
    x = leaf(cache["inputs"]["x"])
    params = {name: leaf(value) for name, value in cache["inputs"]["params"].items()}
    dx, *grads = torch.autograd.grad(_swiglu(x, params), (x, *params.values()), as_float(dout))
    return dx, dict(zip(params, grads, strict=True))


def _grouped_query_attention(
    x: Tensor,
    params: Params,
    n_heads: int,
    n_kv_heads: int,
    mask: Tensor | None,
    positions: Tensor | None,
    base: float,
) -> tuple[Tensor, Tensor]:
    """Return the output and the weights; a query that may attend to nothing gets weights 0."""
    length, d_model = x.shape[-2:]
    if d_model % n_heads or n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads do not fit a width of {d_model} and {n_kv_heads} heads of keys and values")
    positions = torch.arange(length) if positions is None else positions
    q, k, v = (F.linear(x, params[name].T) for name in ("W_q", "W_k", "W_v"))
    q = _rope(q.unflatten(-1, (n_heads, -1)).transpose(-2, -3), positions, base)
    k = _rope(k.unflatten(-1, (n_kv_heads, -1)).transpose(-2, -3), positions, base)
    v = v.unflatten(-1, (n_kv_heads, -1)).transpose(-2, -3)
    k, v = (shared.repeat_interleave(n_heads // n_kv_heads, dim=-3) for shared in (k, v))
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if mask is None:
        mask = torch.ones(length, length, dtype=torch.bool)
    mask = mask.broadcast_to(scores.shape)
    # Such a query may attend to everything here, and its weights are replaced by 0: there is no nan in the gradient.
    sees_something = mask.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~mask & sees_something, -torch.inf), dim=-1) * sees_something
    merged = (weights @ v).transpose(-2, -3).flatten(-2)
    return F.linear(merged, params["W_o"].T), weights


@in_torch
def grouped_query_attention(
    x: Tensor,
    params: Params,
    n_heads: int,
    n_kv_heads: int,
    mask: Tensor | None = None,
    positions: Tensor | None = None,
    base: float = 10000.0,
) -> tuple[Tensor, dict[str, Any]]:
    """`Tensor.repeat_interleave` of the keys and values, and `torch.softmax`."""
    floats = {name: as_float(value) for name, value in params.items()}
    options = (n_heads, n_kv_heads, mask, positions, base)
    out, weights = _grouped_query_attention(as_float(x), floats, *options)
    return out, {"weights": weights, "inputs": {"x": x, "params": params, "options": options}}


@in_torch
def grouped_query_attention_backward(dout: Tensor, cache: dict[str, Any]) -> tuple[Tensor, Params]:
    """Autograd through `grouped_query_attention`."""
    inputs = cache["inputs"]
    x, params = leaf(inputs["x"]), {name: leaf(value) for name, value in inputs["params"].items()}
    out, _ = _grouped_query_attention(x, params, *inputs["options"])
    dx, *grads = torch.autograd.grad(out, (x, *params.values()), as_float(dout))
    return dx, dict(zip(params, grads, strict=True))


# The model.


def _block(x: Tensor, layer: Params, config: Any, mask: Tensor | None) -> dict[str, Tensor]:
    """The named entries of the cache; `after_ffn` is the output."""
    eps = config.norm_eps
    attended, weights = _grouped_query_attention(
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
    after_ffn = after_attention + _swiglu(normed, _part(layer, "ffn."))
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
        "rope_base": rotation.get("rope_theta") or hf_config.get("rope_theta") or 10000.0,
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
