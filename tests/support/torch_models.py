"""Models of PyTorch's own modules and functions, with which ours are compared."""

import torch
from torch import nn

from autograder.courses.transformer.gpt.torch_twin import sinusoids


class Drawn(nn.Module):
    """Dropout with the draws of NumPy's generator."""

    def __init__(self, p, rng):
        super().__init__()
        self.p, self.rng = p, rng

    def forward(self, x):
        return x * torch.from_numpy(self.rng.random(x.shape) >= self.p) / (1 - self.p)


class Annotated(nn.Module):
    """The encoder–decoder of the preset, of PyTorch's own layers."""

    def __init__(self, config):
        super().__init__()
        sizes = (config.d_model, config.n_heads, config.d_ff)
        options = {"dropout": 0.0, "activation": "relu", "batch_first": True, "norm_first": config.norm == "pre"}
        encoder, decoder = nn.TransformerEncoderLayer(*sizes, **options), nn.TransformerDecoderLayer(*sizes, **options)
        norms = nn.LayerNorm(config.d_model), nn.LayerNorm(config.d_model)
        self.encoder = nn.TransformerEncoder(encoder, config.n_layers, norms[0], enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(decoder, config.n_layers, norms[1])
        self.W_source = nn.Embedding(config.vocab_source, config.d_model)
        self.W_target = nn.Embedding(config.vocab_target, config.d_model)
        self.head = nn.Linear(config.d_model, config.vocab_target)

    def forward(self, source, target):
        d, length = self.head.in_features, source.shape[1]
        positions, hidden = sinusoids(length, d), torch.ones(length, length).triu(1).bool()
        memory = self.encoder(self.W_source(source) * d**0.5 + positions)
        return self.head(self.decoder(self.W_target(target) * d**0.5 + positions, memory, tgt_mask=hidden))


class Llama(nn.Module):
    """The Llama of the preset, of PyTorch's own functions."""

    def __init__(self, config, params):
        super().__init__()
        self.config = config
        tensors = {name.replace(".", "/"): torch.from_numpy(value.copy()) for name, value in params.items()}
        self.params = nn.ParameterDict({name: nn.Parameter(tensor) for name, tensor in tensors.items()})

    def norm(self, x, name):
        return nn.functional.rms_norm(x, x.shape[-1:], self.params[f"{name}/gamma"], self.config.norm_eps)

    def rotated(self, x):
        half = x.shape[-1] // 2
        rates = self.config.rope_base ** -(torch.arange(half, dtype=torch.float64) / half)
        angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64), rates)
        turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
        return torch.cat([turned.real, turned.imag], dim=-1)

    def forward(self, ids):
        p, config = self.params, self.config
        x = p["W_tok"][ids]
        for i in range(config.n_layers):
            attn, ffn, y = f"blocks/{i}/attn", f"blocks/{i}/ffn", self.norm(x, f"blocks/{i}/norm1")
            q, k, v = (
                (y @ p[f"{attn}/W_{name}"]).unflatten(-1, (heads, -1)).transpose(1, 2)
                for name, heads in (("q", config.n_heads), ("k", config.n_kv_heads), ("v", config.n_kv_heads))
            )
            q, k = self.rotated(q), self.rotated(k)
            heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            x = x + heads.transpose(1, 2).flatten(-2) @ p[f"{attn}/W_o"]
            y = self.norm(x, f"blocks/{i}/norm2")
            x = x + (nn.functional.silu(y @ p[f"{ffn}/W_gate"]) * (y @ p[f"{ffn}/W_up"])) @ p[f"{ffn}/W_down"]
        return self.norm(x, "norm_f") @ p["W_tok"].T
