"""PyTorch's answers for `encoder_decoder`: `nn.TransformerEncoderLayer`, `nn.TransformerDecoderLayer` and autograd."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

from autograder.courses.transformer.embeddings.reference import sinusoidal_positions
from autograder.engine.reference.torch_bridge import Tensor, as_float, in_torch, leaf

Params = dict[str, Tensor]

_EPS = 1e-5
_OUR_ATTENTION = ("W_qkv", "b_qkv", "W_o", "b_o")
_THEIR_ATTENTION = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")


def _layer(
    x: Tensor,
    params: Params,
    n_heads: int,
    mask: Tensor | None,
    memory: Tensor | None,
    source_mask: Tensor | None,
    norm: str,
) -> dict[str, Tensor]:
    """The named stages of one block; with a memory it is a block of the decoder. `after_ffn` is the output."""
    if norm not in ("pre", "post"):
        raise ValueError(f"norm must be pre or post, got {norm!r}")

    def before(x: Tensor, number: int) -> Tensor:
        return _norm(x, params, number) if norm == "pre" else x

    def after(x: Tensor, number: int) -> Tensor:
        return _norm(x, params, number) if norm == "post" else x

    normed = before(x, 1)
    attended, weights = _attention(normed, normed, params, "attn", n_heads, mask)
    stages = {"weights": weights, "after_attention": after(x + attended, 1)}
    stream = stages["after_attention"]
    if memory is not None:
        attended, stages["source_weights"] = _attention(
            before(stream, 2), memory, params, "source_attn", n_heads, source_mask
        )
        stream = stages["after_source_attention"] = after(stream + attended, 2)
    last = 2 if memory is None else 3
    hidden = F.relu(F.linear(before(stream, last), params["ffn.W_1"].T, params.get("ffn.b_1")))
    thought = F.linear(hidden, params["ffn.W_2"].T, params.get("ffn.b_2"))
    stages["after_ffn"] = after(stream + thought, last)

    # PyTorch's layers show nothing but their output. The stages are put together from its functions; the output is the
    # layer's own, and must agree. Only for a query that may look at nothing the layer is not asked: before PyTorch 2.5
    # its answer was nan, and ours is 0.
    if all(each is None or bool(each.any(dim=-1).all()) for each in (mask, source_mask)):
        out = _torch_layer(x, params, n_heads, mask, memory, source_mask, norm)
        torch.testing.assert_close(out, stages["after_ffn"], rtol=1e-9, atol=1e-9)
        stages["after_ffn"] = out
    return stages


def _attention(
    x: Tensor, source: Tensor, params: Params, part: str, n_heads: int, mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Self or cross attention and its weights, from `F.linear` and `torch.softmax`."""
    W_qkv, b_qkv = params[f"{part}.W_qkv"], params.get(f"{part}.b_qkv")
    biases = (None, None, None) if b_qkv is None else b_qkv.chunk(3)
    inputs = (x, source, source)
    projected = (F.linear(of, W.T, b) for of, W, b in zip(inputs, W_qkv.chunk(3, dim=1), biases, strict=True))
    q, k, v = (each.unflatten(-1, (n_heads, -1)).transpose(-2, -3) for each in projected)  # (..., H, T or S, K)
    scores = q @ k.mT * q.shape[-1] ** -0.5
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        # A query that may look at nothing would get nan, in its gradients too. Let it look at everything, and then make
        # 0 of what it saw.
        sees_something = mask.any(dim=-1, keepdim=True)
        weights = torch.softmax(scores.masked_fill(~mask & sees_something, -torch.inf), dim=-1) * sees_something
    merged = (weights @ v).transpose(-2, -3).flatten(-2)
    return F.linear(merged, params[f"{part}.W_o"].T, params.get(f"{part}.b_o")), weights


def _norm(x: Tensor, params: Params, number: int) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], params[f"ln{number}.gamma"], params[f"ln{number}.beta"], _EPS)


def _torch_layer(
    x: Tensor,
    params: Params,
    n_heads: int,
    mask: Tensor | None,
    memory: Tensor | None,
    source_mask: Tensor | None,
    norm: str,
) -> Tensor:
    """`nn.TransformerEncoderLayer` or `nn.TransformerDecoderLayer`, with our weights in place of its own."""
    *batch, length, d_model = x.shape
    names = dict(zip(_THEIR_ATTENTION, _OUR_ATTENTION, strict=True))
    torch_names = {f"self_attn.{theirs}": f"attn.{ours}" for theirs, ours in names.items()}
    if memory is not None:
        torch_names |= {f"multihead_attn.{theirs}": f"source_attn.{ours}" for theirs, ours in names.items()}
    for i in (1, 2):
        torch_names |= {f"linear{i}.weight": f"ffn.W_{i}", f"linear{i}.bias": f"ffn.b_{i}"}
    for i in (1, 2) if memory is None else (1, 2, 3):
        torch_names |= {f"norm{i}.weight": f"ln{i}.gamma", f"norm{i}.bias": f"ln{i}.beta"}

    layer_type = nn.TransformerEncoderLayer if memory is None else nn.TransformerDecoderLayer
    layer = layer_type(
        d_model,
        n_heads,
        params["ffn.W_1"].shape[1],
        dropout=0.0,
        activation="relu",
        layer_norm_eps=_EPS,
        batch_first=True,
        norm_first=norm == "pre",
        device="meta",  # its own weights are never used: nothing is allocated, nothing random is drawn
        dtype=torch.float64,
    ).train()  # in eval mode it may take its fused "fast path", which knows fewer kinds of mask
    state = {}
    for theirs, ours in torch_names.items():
        value = params.get(ours)
        if value is None:  # a bias that is absent
            value = x.new_zeros(layer.get_parameter(theirs).shape)
        state[theirs] = value.T if value.ndim == 2 else value  # PyTorch stores (out, in)

    def blocked(mask: Tensor | None, n_keys: int) -> Tensor | None:
        """(batch * heads, T, keys), and True means the opposite: this key may not be looked at."""
        return None if mask is None else ~mask.broadcast_to(*batch, n_heads, length, n_keys).reshape(-1, length, n_keys)

    args, masks = [x.reshape(-1, length, d_model)], {}
    if memory is None:
        masks["src_mask"] = blocked(mask, length)
    else:
        n_keys = memory.shape[-2]
        args.append(memory.reshape(-1, n_keys, d_model))
        masks |= {"tgt_mask": blocked(mask, length), "memory_mask": blocked(source_mask, n_keys)}
    out: Tensor = functional_call(layer, state, tuple(args), masks, strict=True)
    return out.reshape(x.shape)


def _floats(params: Params) -> Params:
    return {name: as_float(value) for name, value in params.items()}


def _subset(params: Params, prefix: str) -> Params:
    return {name.removeprefix(prefix): value for name, value in params.items() if name.startswith(prefix)}


def _n_layers(params: Params, stack: str) -> int:
    return len({name.split(".")[1] for name in params if name.startswith(f"{stack}.")} - {"ln_f"})


def _padding_mask(keep: Tensor | None) -> Tensor | None:
    return None if keep is None else keep.bool()[..., None, None, :]


def _embed(ids: Tensor, table: Tensor) -> Tensor:
    d_model = table.shape[1]
    positions = torch.from_numpy(sinusoidal_positions(ids.shape[-1], d_model))
    return F.embedding(ids, table) * math.sqrt(d_model) + positions


def _last_norm(x: Tensor, params: Params, stack: str) -> Tensor:
    """The layer norm after a stack, if there is one."""
    gamma, beta = (params.get(f"{stack}.ln_f.{name}") for name in ("gamma", "beta"))
    return x if gamma is None else F.layer_norm(x, x.shape[-1:], gamma, beta, _EPS)


def _encode(source: Tensor, params: Params, n_heads: int, source_mask: Tensor | None) -> dict[str, Tensor]:
    """The named stages, and the memory."""
    norm = "pre" if "encoder.ln_f.gamma" in params else "post"
    x = _embed(source, params["W_source"])
    stages = {"source_embedded": x}
    for i in range(_n_layers(params, "encoder")):
        layer = _layer(x, _subset(params, f"encoder.{i}."), n_heads, _padding_mask(source_mask), None, None, norm)
        stages |= {f"encoder.{i}.{name}": stage for name, stage in layer.items()}
        x = layer["after_ffn"]
    return stages | {"memory": _last_norm(x, params, "encoder")}


def _decode(
    target: Tensor, memory: Tensor, params: Params, n_heads: int, target_mask: Tensor | None, source_mask: Tensor | None
) -> dict[str, Tensor]:
    """The named stages, and the log-probabilities."""
    mask = torch.ones(target.shape[-1], target.shape[-1], dtype=torch.bool).tril()
    keep = _padding_mask(target_mask)
    if keep is not None:
        mask = mask & keep
    x = _embed(target, params["W_target"])
    stages = {"target_embedded": x}
    norm = "pre" if "decoder.ln_f.gamma" in params else "post"
    for i in range(_n_layers(params, "decoder")):
        layer = _layer(x, _subset(params, f"decoder.{i}."), n_heads, mask, memory, _padding_mask(source_mask), norm)
        stages |= {f"decoder.{i}.{name}": stage for name, stage in layer.items()}
        x = layer["after_ffn"]
    scores = F.linear(_last_norm(x, params, "decoder"), params["W_head"].T, params.get("b_head"))
    return stages | {"log_probs": F.log_softmax(scores, dim=-1)}


def _n_heads(config: Any) -> int:
    return int(getattr(config, "n_heads", 4))


@in_torch
def encoder_block(
    x: Tensor, params: Params, n_heads: int, mask: Tensor | None = None, norm: str = "post"
) -> tuple[Tensor, dict[str, Tensor]]:
    """`nn.TransformerEncoderLayer` with ReLU, and with `norm_first=True` for "pre"."""
    stages = _layer(as_float(x), _floats(params), n_heads, mask, None, None, norm)
    return stages["after_ffn"], stages


@in_torch
def decoder_block(
    x: Tensor,
    memory: Tensor,
    params: Params,
    n_heads: int,
    target_mask: Tensor | None = None,
    source_mask: Tensor | None = None,
    norm: str = "post",
) -> tuple[Tensor, dict[str, Tensor]]:
    """`nn.TransformerDecoderLayer` with ReLU, and with `norm_first=True` for "pre"."""
    stages = _layer(as_float(x), _floats(params), n_heads, target_mask, as_float(memory), source_mask, norm)
    return stages["after_ffn"], stages


@in_torch
def encode(
    source: Tensor, params: Params, config: Any, source_mask: Tensor | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """`F.embedding` times √D plus sines and cosines, then `nn.TransformerEncoderLayer`s."""
    stages = _encode(source, _floats(params), _n_heads(config), source_mask)
    return stages.pop("memory"), stages


@in_torch
def decode(
    target: Tensor,
    memory: Tensor,
    params: Params,
    config: Any,
    target_mask: Tensor | None = None,
    source_mask: Tensor | None = None,
) -> tuple[Tensor, dict[str, Tensor]]:
    """`F.embedding`, `nn.TransformerDecoderLayer`s with a causal mask, `F.linear`, `F.log_softmax`."""
    stages = _decode(target, as_float(memory), _floats(params), _n_heads(config), target_mask, source_mask)
    return stages.pop("log_probs"), stages


@in_torch
def transformer(
    source: Tensor,
    target: Tensor,
    params: Params,
    config: Any,
    source_mask: Tensor | None = None,
    target_mask: Tensor | None = None,
) -> tuple[Tensor, dict[str, Any]]:
    """`nn.TransformerEncoderLayer`s and `nn.TransformerDecoderLayer`s, as in `encode` and `decode`."""
    n_heads, floats = _n_heads(config), _floats(params)
    stages = _encode(source, floats, n_heads, source_mask)
    stages |= _decode(target, stages["memory"], floats, n_heads, target_mask, source_mask)
    inputs = {"source": source, "target": target, "params": params, "n_heads": n_heads}
    inputs |= {"source_mask": source_mask, "target_mask": target_mask}
    return stages.pop("log_probs"), {**stages, "inputs": inputs}


@in_torch
def transformer_backward(dlog_probs: Tensor, cache: dict[str, Any]) -> Params:
    """Autograd through `transformer`."""
    inputs = cache["inputs"]
    params = {name: leaf(value) for name, value in inputs["params"].items()}
    memory = _encode(inputs["source"], params, inputs["n_heads"], inputs["source_mask"])["memory"]
    masks = (inputs["target_mask"], inputs["source_mask"])
    log_probs = _decode(inputs["target"], memory, params, inputs["n_heads"], *masks)["log_probs"]
    grads = torch.autograd.grad(log_probs, list(params.values()), as_float(dlog_probs))
    return dict(zip(params, grads, strict=True))


@in_torch
def greedy_decode(
    source: Tensor,
    params: Params,
    config: Any,
    start: int,
    end: int,
    max_length: int,
    source_mask: Tensor | None = None,
) -> Tensor:
    """`torch.argmax` of the last position, again and again; it takes the first of equals."""
    floats, n_heads = _floats(params), _n_heads(config)
    memory = _encode(source, floats, n_heads, source_mask)["memory"]
    target = torch.full((*source.shape[:-1], 1), start)
    for _ in range(max_length):
        ended = (target[..., 1:] == end).any(dim=-1)
        if bool(ended.all()):
            break
        last = _decode(target, memory, floats, n_heads, None, source_mask)["log_probs"][..., -1, :]
        token = torch.where(ended, end, last.argmax(dim=-1))
        target = torch.cat([target, token[..., None]], dim=-1)
    return target[..., 1:]
