"""PyTorch's answers for `gpt`: a GPT of PyTorch's own functions, and its gradients by autograd."""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from autograder.core.wire_format import Rng
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

Params = dict[str, Tensor]


Generator = np.random.Generator


def generator_of(rng: Rng | Generator | None) -> Generator | None:
    """The generator that a marker stands for; a generator stands for itself, in its present state."""
    return np.random.default_rng(rng.seed) if isinstance(rng, Rng) else rng


def forward(
    ids: Tensor, params: Params, config: Any, rng: Rng | Generator | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """The scores and the named stages: `F.embedding`, `F.layer_norm`, `F.scaled_dot_product_attention`, `F.linear`.

    A head without its own matrix is tied, a bias that is not among the parameters is none.
    """
    generator = generator_of(rng)
    p = getattr(config, "dropout", 0.0)
    post = getattr(config, "norm", "pre") == "post"

    def drop(x: Tensor) -> Tensor:  # with the draws of NumPy's generator: PyTorch's own generator draws others
        if generator is None or p == 0:
            return x
        return x * torch.from_numpy(generator.random(x.shape) >= p) / (1 - p)

    length = ids.shape[-1]
    if length > config.block_size:
        raise ValueError(f"{length} tokens do not fit into the block size of {config.block_size}")
    learned = getattr(config, "positions", "learned") == "learned"
    positions = params["W_pos"][:length] if learned else _sinusoids(length, params["W_tok"].shape[1])
    x = drop(F.embedding(ids, params["W_tok"]) + positions)
    stages = {"embedded": x}
    for i in range(_n_layers(params)):
        layer = {name.removeprefix(f"blocks.{i}."): p for name, p in params.items() if name.startswith(f"blocks.{i}.")}
        attended, stages[f"blocks.{i}.weights"] = _attention(
            x if post else _norm(x, layer, "ln1"), layer, getattr(config, "n_heads", 4)
        )
        x = x + drop(attended)
        x = _norm(x, layer, "ln1") if post else x
        stages[f"blocks.{i}.after_attention"] = x
        x = x + drop(_ffn(x if post else _norm(x, layer, "ln2"), layer, getattr(config, "activation", "gelu")))
        x = _norm(x, layer, "ln2") if post else x
        stages[f"blocks.{i}.after_ffn"] = x
    stages["final_norm"] = x if post else _norm(x, params, "ln_f")
    head = params["W_head"].T if "W_head" in params else params["W_tok"]  # (V, D), as F.linear wants it
    return F.linear(stages["final_norm"], head, params.get("b_head")), stages


def _sinusoids(length: int, d_model: int) -> Tensor:
    angles = torch.arange(length, dtype=torch.float64)[:, None] * torch.exp(
        torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model)
    )
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]


def loss_of(ids: Tensor, targets: Tensor, params: Params, config: Any, rng: Rng | Generator | None = None) -> Tensor:
    """`F.cross_entropy` of the scores, a tensor that can be differentiated."""
    logits, _ = forward(ids, params, config, rng)
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())


def _n_layers(params: Params) -> int:
    return len({name.split(".")[1] for name in params if name.startswith("blocks.")})


def _norm(x: Tensor, params: Params, name: str) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], params[f"{name}.gamma"], params[f"{name}.beta"], eps=1e-5)


def _attention(x: Tensor, layer: Params, n_heads: int) -> tuple[Tensor, Tensor]:
    qkv = F.linear(x, layer["attn.W_qkv"].T, layer.get("attn.b_qkv"))
    q, k, v = (part.unflatten(-1, (n_heads, -1)).transpose(-2, -3) for part in qkv.chunk(3, dim=-1))  # (..., H, T, K)
    heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    out = F.linear(heads.transpose(-2, -3).flatten(-2), layer["attn.W_o"].T, layer.get("attn.b_o"))
    # F.scaled_dot_product_attention keeps its weights to itself: values that are unit vectors show them.
    eye = torch.eye(x.shape[-2], dtype=x.dtype).expand(*q.shape[:-2], -1, -1)
    with torch.no_grad():
        weights = F.scaled_dot_product_attention(q, k, eye, is_causal=True)
    return out, weights


def _ffn(x: Tensor, layer: Params, activation: str) -> Tensor:
    hidden = F.linear(x, layer["ffn.W_1"].T, layer.get("ffn.b_1"))
    hidden = F.gelu(hidden, approximate="tanh") if activation == "gelu" else F.relu(hidden)
    return F.linear(hidden, layer["ffn.W_2"].T, layer.get("ffn.b_2"))


@in_torch
def count_parameters(params: Params) -> int:
    """`Tensor.numel`, added up."""
    return sum(param.numel() for param in params.values())


@in_torch
def gpt(ids: Tensor, params: Params, config: Any, rng: Rng | None = None) -> tuple[Tensor, dict[str, Tensor]]:
    """`F.scaled_dot_product_attention` and its neighbors; the cache has the named stages."""
    return forward(ids, {name: as_float(param) for name, param in params.items()}, config, rng)


@in_torch
def gpt_loss(ids: Tensor, targets: Tensor, params: Params, config: Any, rng: Rng | None = None) -> tuple[float, Params]:
    """Autograd through `F.cross_entropy` of the GPT."""
    leaves = {name: leaf(param) for name, param in params.items()}
    loss = loss_of(ids, targets, leaves, config, rng)
    grads = torch.autograd.grad(loss, list(leaves.values()))
    return float(loss.detach()), dict(zip(leaves, grads, strict=True))
