"""PyTorch's answers for `multihead`: `F.multi_head_attention_forward`, which `nn.MultiheadAttention` calls."""

from typing import Any

import torch
import torch.nn.functional as F

from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

Params = dict[str, Tensor]


@in_torch
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """`Tensor.reshape` of the last axis, then `Tensor.movedim`."""
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError(f"a width of {x.shape[-1]} cannot be divided into {n_heads} heads of the same size")
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).movedim(-2, -3)


@in_torch
def merge_heads(x: Tensor) -> Tensor:
    """`Tensor.movedim`, then `Tensor.flatten` of the last two axes."""
    return x.movedim(-3, -2).flatten(-2)


def _multihead(
    x: Tensor, params: Params, n_heads: int, mask: Tensor | None, memory: Tensor | None
) -> tuple[Tensor, Tensor]:
    """`F.multi_head_attention_forward`, with the last matrix left to `F.linear`.

    A query that may look at nothing would make nan of all the heads it meets in the last matrix, and of the gradients.
    So it may look at everything here, and what it saw is replaced by 0 before the heads are mixed.
    """
    *batch, length, d_model = x.shape
    source = x if memory is None else memory
    n_keys, full_shape = source.shape[-2], (*batch, n_heads, length, source.shape[-2])
    if mask is None:
        mask = torch.ones(length, n_keys, dtype=torch.bool)
    mask = mask.broadcast_to(full_shape).reshape(-1, length, n_keys)  # (B H, T, S)
    sees_something = mask.any(dim=-1, keepdim=True)  # (B H, T, 1)

    query = x.reshape(-1, length, d_model).transpose(0, 1)  # (T, B, D), as PyTorch wants it
    key = query if memory is None else memory.reshape(-1, n_keys, d_model).transpose(0, 1)
    merged, weights = F.multi_head_attention_forward(
        query,
        key,
        key,
        embed_dim_to_check=d_model,
        num_heads=n_heads,
        in_proj_weight=params["W_qkv"].T,
        in_proj_bias=params.get("b_qkv"),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=torch.eye(d_model, dtype=x.dtype),
        out_proj_bias=None,
        training=False,
        need_weights=True,
        attn_mask=~(mask | ~sees_something),  # True: must not look
        average_attn_weights=False,
    )
    assert weights is not None  # (B, H, T, S)
    sees_something = sees_something.reshape(-1, n_heads, length, 1)
    weights = weights * sees_something
    heads = merged.transpose(0, 1).unflatten(-1, (n_heads, -1)) * sees_something.transpose(1, 2)  # (B, T, H, K)
    out = F.linear(heads.flatten(-2), params["W_o"].T, params.get("b_o"))
    return out.reshape(x.shape), weights.reshape(full_shape)


@in_torch
def multihead_attention(
    x: Tensor, params: Params, n_heads: int, mask: Tensor | None = None, memory: Tensor | None = None
) -> tuple[Tensor, dict[str, Any]]:
    """`F.multi_head_attention_forward`, for self attention and for cross attention."""
    floats = {name: as_float(param) for name, param in params.items()}
    out, weights = _multihead(as_float(x), floats, n_heads, mask, None if memory is None else as_float(memory))
    inputs = {"x": x, "params": params, "n_heads": n_heads, "mask": mask, "memory": memory}
    return out, {"weights": weights, "inputs": inputs}


@in_torch
def multihead_attention_backward(dout: Tensor, cache: dict[str, Any]) -> Any:
    """Autograd through `F.multi_head_attention_forward`: (dx, grads), and dmemory for cross attention."""
    inputs = cache["inputs"]
    x, params = leaf(inputs["x"]), {name: leaf(param) for name, param in inputs["params"].items()}
    memory = None if inputs["memory"] is None else leaf(inputs["memory"])
    out, _ = _multihead(x, params, inputs["n_heads"], inputs["mask"], memory)
    out.backward(as_float(dout))
    grads = {name: param.grad for name, param in params.items()}
    return (x.grad, grads) if memory is None else (x.grad, grads, memory.grad)
