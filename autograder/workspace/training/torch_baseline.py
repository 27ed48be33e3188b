"""Train a GPT in eager PyTorch: the baseline that `headway bench` compares a student's speed with.

`headway bench` starts `python -m autograder.workspace.training.torch_baseline FILE`. The process reads numbers of
steps, one per line, trains that many steps, and answers with a line of JSON: the seconds taken and the losses.
"""

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np


def torch_trainer(
    params: dict[str, Any],
    config: Any,
    batches: Iterable[Any],
    lr: float,
    *,
    fused: bool = False,
    compiled: bool = False,
) -> Callable[[int], list[float]]:
    """Return a function that trains an `nn.Module` from these parameters and returns the loss of each step."""
    import torch
    import torch.nn.functional as F  # noqa: N812

    torch.set_num_threads(1)
    model: Any = torch_gpt(params, config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, fused=fused or None)
    if compiled:
        model = torch.compile(model)
    endless = ((torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches)

    def run(steps: int) -> list[float]:
        losses = []
        for x, y in itertools.islice(endless, steps):
            logits = model(x)
            loss = F.cross_entropy(logits.view(-1, config.vocab_size), y.view(-1))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    return run


def torch_gpt(params: dict[str, Any], config: Any) -> Any:
    """Return a GPT written the usual way in PyTorch, with the given parameters."""
    import torch
    import torch.nn.functional as F  # noqa: N812
    from torch import nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            d = config.d_model
            self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.qkv, self.o = nn.Linear(d, 3 * d, bias=config.bias), nn.Linear(d, d, bias=config.bias)
            self.fc1 = nn.Linear(d, config.d_ff, bias=config.bias)
            self.fc2 = nn.Linear(config.d_ff, d, bias=config.bias)

        def forward(self, x: Any) -> Any:
            b, t, d = x.shape
            q, k, v = self.qkv(self.ln1(x)).split(d, dim=2)
            q, k, v = (part.view(b, t, config.n_heads, d // config.n_heads).transpose(1, 2) for part in (q, k, v))
            heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.o(heads.transpose(1, 2).contiguous().view(b, t, d))
            return x + self.fc2(F.gelu(self.fc1(self.ln2(x)), approximate="tanh"))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tok = nn.Embedding(config.vocab_size, config.d_model)
            self.pos = nn.Embedding(config.block_size, config.d_model)
            self.blocks = nn.ModuleList(Block() for _ in range(config.n_layers))
            self.ln_f = nn.LayerNorm(config.d_model)
            self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
            if config.tied:
                self.head.weight = self.tok.weight

        def forward(self, ids: Any) -> Any:
            x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
            for block in self.blocks:
                x = block(x)
            return self.head(self.ln_f(x))

    names = {"W_tok": "tok.weight", "W_pos": "pos.weight", "W_head": "head.weight"}
    parts = {"ln1.": "ln1.", "ln2.": "ln2.", "ln_f.": "ln_f.", "gamma": "weight", "beta": "bias"}
    parts |= {"attn.W_qkv": "qkv.weight", "attn.b_qkv": "qkv.bias", "attn.W_o": "o.weight", "attn.b_o": "o.bias"}
    parts |= {"ffn.W_1": "fc1.weight", "ffn.b_1": "fc1.bias", "ffn.W_2": "fc2.weight", "ffn.b_2": "fc2.bias"}
    model = GPT()
    unset = dict(model.named_parameters())
    with torch.no_grad():
        for name, value in params.items():
            torch_name = names.get(name, name)
            if name not in names:
                for part, torch_part in parts.items():
                    torch_name = torch_name.replace(part, torch_part)
            transposed = "W_" in name and name not in ("W_tok", "W_pos")  # nn.Linear stores (out, in)
            unset.pop(torch_name).copy_(torch.from_numpy(value.T if transposed else value))
    assert not unset, f"parameters without a value: {list(unset)}"
    return model


def batches(ids: Any, settings: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the batches of the student's run: step i samples with a generator seeded by (seed, i)."""
    length = settings["model"]["block_size"]
    for number in itertools.count():
        rng = np.random.default_rng((settings["seed"], number))
        starts = rng.integers(0, len(ids) - length, settings["batch_size"])
        windows = ids[starts[:, None] + np.arange(length + 1)]
        yield windows[:, :-1].copy(), windows[:, 1:].copy()


def main(path: Path) -> None:
    """Train as requested on standard input until it ends."""
    with np.load(path, allow_pickle=False) as stored:
        params = {name.removeprefix("params."): stored[name] for name in stored.files if name.startswith("params.")}
        settings = json.loads(str(stored["settings"]))
        drawn = batches(stored["ids"], settings)
    model = {"activation": "gelu", "bias": True, "tied": True, **settings["model"]}
    config = SimpleNamespace(vocab_size=len(params["W_tok"]), d_ff=4 * model["d_model"], **model)
    run = torch_trainer(params, config, drawn, settings["lr"])
    for line in sys.stdin:
        started = time.perf_counter()
        losses = run(int(line))
        print(json.dumps([time.perf_counter() - started, losses]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
