"""PyTorch's answers for assignment 9: a GPT of PyTorch's own functions, and its gradients by autograd."""

from typing import Any

import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

Params = dict[str, Tensor]


def forward(ids: Tensor, params: Params, config: Any) -> tuple[Tensor, dict[str, Tensor]]:
    """The scores and the named stages: `F.embedding`, `F.layer_norm`, `F.scaled_dot_product_attention`, `F.linear`.

    A head without its own matrix is tied, a bias that is not among the parameters is none.
    """
    length = ids.shape[-1]
    if length > config.block_size:
        raise ValueError(f"{length} tokens do not fit into the block size of {config.block_size}")
    x = F.embedding(ids, params["W_tok"]) + params["W_pos"][:length]
    stages = {"embedded": x}
    for i in range(_n_layers(params)):
        layer = {name.removeprefix(f"blocks.{i}."): p for name, p in params.items() if name.startswith(f"blocks.{i}.")}
        attended, stages[f"blocks.{i}.weights"] = _attention(
            _norm(x, layer, "ln1"), layer, getattr(config, "n_heads", 4)
        )
        x = x + attended
        stages[f"blocks.{i}.after_attention"] = x
        x = x + _ffn(_norm(x, layer, "ln2"), layer, getattr(config, "activation", "gelu"))
        stages[f"blocks.{i}.after_ffn"] = x
    stages["final_norm"] = _norm(x, params, "ln_f")
    head = params["W_head"].T if "W_head" in params else params["W_tok"]  # (V, D), as F.linear wants it
    return F.linear(stages["final_norm"], head), stages


def loss_of(ids: Tensor, targets: Tensor, params: Params, config: Any) -> Tensor:
    """`F.cross_entropy` of the scores, a tensor that can be differentiated."""
    logits, _ = forward(ids, params, config)
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
def gpt(ids: Tensor, params: Params, config: Any) -> tuple[Tensor, dict[str, Tensor]]:
    """`F.scaled_dot_product_attention` and its neighbours, pre-norm; the cache has the named stages."""
    return forward(ids, {name: as_float(param) for name, param in params.items()}, config)


@in_torch
def gpt_loss(ids: Tensor, targets: Tensor, params: Params, config: Any) -> tuple[float, Params]:
    """Autograd through `F.cross_entropy` of the GPT."""
    leaves = {name: leaf(param) for name, param in params.items()}
    loss = loss_of(ids, targets, leaves, config)
    grads = torch.autograd.grad(loss, list(leaves.values()))
    return float(loss.detach()), dict(zip(leaves, grads, strict=True))
