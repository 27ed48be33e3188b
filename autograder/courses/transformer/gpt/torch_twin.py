"""A GPT of this course as an `nn.Module`: the same parameters, the same scores.

    from gpt import GPTConfig
    from autograder.courses.transformer.gpt.torch_twin import load_into_torch
    from autograder.models.training.checkpoint import load

    run = load(Path("model.safetensors"))
    config = GPTConfig(vocab_size=len(run.chars), **run.settings.model)
    model = load_into_torch(run.params, config)
    logits = model(torch.tensor([[0, 5, 13]]))

docs/same_model_in_pytorch.md puts the parts of this module beside the functions of the course.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn


def bias_names(bias: bool | str) -> str:
    """Return the names of the biases, also for True and False in a preset."""
    return bias if isinstance(bias, str) else "b_qkv b_o b_1 b_2" * bias


class Block(nn.Module):
    """`blocks.block`."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        d = config.d_model
        self.n_heads, self.post_norm = config.n_heads, config.norm == "post"
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        biases = bias_names(config.bias)
        self.qkv = nn.Linear(d, 3 * d, bias="b_qkv" in biases)
        self.o = nn.Linear(d, d, bias="b_o" in biases)
        self.fc1 = nn.Linear(d, config.d_ff, bias="b_1" in biases)
        self.fc2 = nn.Linear(config.d_ff, d, bias="b_2" in biases)
        self.activation = nn.GELU(approximate="tanh") if config.activation == "gelu" else nn.ReLU()
        self.dropout1, self.dropout2 = nn.Dropout(config.dropout), nn.Dropout(config.dropout)

    def attention(self, x: Tensor) -> Tensor:
        """`multihead.multihead_attention` with a causal mask."""
        q, k, v = (part.unflatten(-1, (self.n_heads, -1)).transpose(-2, -3) for part in self.qkv(x).chunk(3, dim=-1))
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(heads.transpose(-2, -3).flatten(-2))  # type: ignore[no-any-return]

    def ffn(self, x: Tensor) -> Tensor:
        """`ffn.ffn`."""
        return self.fc2(self.activation(self.fc1(x)))  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        """Return the residual stream after the block."""
        if self.post_norm:
            x = self.ln1(x + self.dropout1(self.attention(x)))
            x = self.ln2(x + self.dropout2(self.ffn(x)))
        else:
            x = x + self.dropout1(self.attention(self.ln1(x)))
            x = x + self.dropout2(self.ffn(self.ln2(x)))
        return x


class GPT(nn.Module):
    """`gpt.gpt`."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.tok = nn.Embedding(config.vocab_size, config.d_model)
        if config.positions == "learned":
            self.pos = nn.Parameter(torch.empty(config.block_size, config.d_model))
        else:
            self.register_buffer("pos", sinusoids(config.block_size, config.d_model))
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.ln_f = nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()
        self.head = nn.Linear(config.d_model, config.vocab_size, bias="b_head" in bias_names(config.bias))
        if config.tied:
            self.head.weight = self.tok.weight

    def forward(self, ids: Tensor) -> Tensor:
        """Return the scores for the next token at every position, (..., T, V)."""
        x = self.dropout(self.tok(ids) + self.pos[: ids.shape[-1]])
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))  # type: ignore[no-any-return]


def sinusoids(length: int, d_model: int) -> Tensor:
    """Return `embeddings.sinusoidal_positions(length, d_model)`, in float64."""
    rates = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]


# Parts of our names, and of PyTorch's.
_NAMES = {"W_tok": "tok.weight", "W_pos": "pos", "W_head": "head.weight", "b_head": "head.bias"}
_NAMES |= {".gamma": ".weight", ".beta": ".bias", "attn.W_qkv": "qkv.weight", "attn.b_qkv": "qkv.bias"}
_NAMES |= {"attn.W_o": "o.weight", "attn.b_o": "o.bias", "ffn.W_1": "fc1.weight", "ffn.b_1": "fc1.bias"}
_NAMES |= {"ffn.W_2": "fc2.weight", "ffn.b_2": "fc2.bias"}


def torch_name(name: str) -> str:
    """Return PyTorch's name of one of our parameters."""
    for ours, theirs in _NAMES.items():
        name = name.replace(ours, theirs)
    return name


def load_into_torch(params: dict[str, Any], config: Any) -> GPT:
    """Return an `nn.Module` with these parameters (NumPy arrays, of any floating-point dtype).

    `config` is a `GPTConfig`. The module is in training mode, in which it drops values if `config.dropout` is not 0.
    """
    model = GPT(config).to(torch.from_numpy(params["W_tok"]).dtype)
    missing = dict(model.named_parameters())
    with torch.no_grad():
        for name, value in params.items():
            is_matrix = "W_" in name and name not in ("W_tok", "W_pos")  # nn.Linear stores (out, in)
            missing.pop(torch_name(name)).copy_(torch.from_numpy(value.T if is_matrix else value))
    if missing:
        raise ValueError(f"params has no value for {', '.join(missing)}")
    return model
