"""The models of all presets train like their PyTorch twins, step by step; trained parameters give the same scores."""

import dataclasses
import itertools
import re
import sys

import numpy as np
import pytest
import torch
from support.paths import ROOT
from torch import nn

from autograder.courses.transformer import TRANSFORMER
from autograder.sandbox.child.training import LlamaRun
from autograder.workspace.torch_twin import load_into_torch, sinusoids
from autograder.workspace.training.presets import PRESETS
from autograder.workspace.training.torch_baseline import batches, torch_trainer

PAGE = ROOT / "docs" / "same_model_in_pytorch.md"
MODELS = [name for name, preset in PRESETS.items() if preset.kind == "gpt"]
STEPS = 4


@pytest.fixture
def official(monkeypatch):
    """Return a function that imports an official module; nothing stays imported."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(ROOT / "solutions")
    yield __import__
    for name in set(sys.modules) - before:
        if name in TRANSFORMER.modules:
            del sys.modules[name]


def start(official, preset, **changes):
    """Return the preset's model in float64: its parameters, its configuration and its batches."""
    gpt = official("gpt")
    fields = {**PRESETS[preset].model, "n_layers": 2, "vocab_size": 11, **changes}
    config = gpt.GPTConfig(**fields)
    params = {name: p.astype(np.float64) for name, p in gpt.init_gpt(config, np.random.default_rng(1)).items()}
    ids = np.random.default_rng(2).integers(0, config.vocab_size, 500)
    return params, config, batches(ids, {"model": fields, "batch_size": 3, "seed": 0})


@pytest.mark.parametrize("preset", MODELS)
def test_preset_trains_like_its_twin(official, preset):
    params, config, drawn = start(official, preset, dropout=0.0)
    taken = list(itertools.islice(drawn, STEPS))
    expected = torch_trainer(params, config, taken, 1e-2)(STEPS)
    _, _, losses = official("training").train(params, config, taken, 1e-2)
    assert len(set(losses)) == STEPS
    assert losses == pytest.approx(expected, abs=1e-9)


class Drawn(nn.Module):
    """Dropout with the draws of NumPy's generator."""

    def __init__(self, p, rng):
        super().__init__()
        self.p, self.rng = p, rng

    def forward(self, x):
        return x * torch.from_numpy(self.rng.random(x.shape) >= self.p) / (1 - self.p)


def with_drawn_masks(module, rng):
    """Replace all dropout of a module, in place, and return the module."""
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Dropout):
            setattr(module, name, Drawn(child.p, rng))
        else:
            with_drawn_masks(child, rng)
    return module


@pytest.mark.parametrize("preset", ["dropout", "post-norm"])
def test_preset_with_dropout_trains_like_its_twin(official, preset, monkeypatch):
    params, config, drawn = start(official, preset, dropout=0.1)
    taken, rng = list(itertools.islice(drawn, STEPS)), np.random.default_rng(3)
    twin = "autograder.workspace.torch_twin.load_into_torch"
    monkeypatch.setattr(twin, lambda *given: with_drawn_masks(load_into_torch(*given), rng))
    expected = torch_trainer(params, config, taken, 1e-2)(STEPS)
    train = official("training").train
    _, _, losses = train(params, config, taken, 1e-2, rng=np.random.default_rng(3))
    assert losses == pytest.approx(expected, abs=1e-9)
    _, _, without = train(params, config, taken, 1e-2)
    assert losses != pytest.approx(without, abs=1e-3)


@pytest.mark.parametrize("preset", MODELS)
def test_load_into_torch_gives_the_same_scores(official, preset):
    params, config, drawn = start(official, preset)
    params, _, _ = official("training").train(params, config, itertools.islice(drawn, 2), 1e-2)
    ids, _ = next(drawn)
    logits, _ = official("gpt").gpt(ids, params, config)
    model = load_into_torch(params, config).eval()
    assert np.abs(model(torch.from_numpy(ids)).detach().numpy() - logits).max() <= 1e-12
    assert sum(p.numel() for p in model.parameters()) == official("gpt").count_parameters(params)


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


def annotated_name(name):
    """Return PyTorch's name of one of our parameters."""
    for ours, theirs in {
        "source_attn.": "multihead_attn.",
        ".attn.": ".self_attn.",
        "W_qkv": "in_proj_weight",
        ".ln_f.": ".norm.",
        "b_qkv": "in_proj_bias",
        "W_o": "out_proj.weight",
        "b_o": "out_proj.bias",
        "W_head": "head.weight",
        "ffn.W_": "linear",
        "ffn.b_": "linear_bias",
        "b_head": "head.bias",
        ".ln": ".norm",
        "gamma": "weight",
        "beta": "bias",
    }.items():
        name = name.replace(ours, theirs)
    name = re.sub(r"(coder)\.(\d)", r"\1.layers.\2", name)
    name = re.sub(r"linear_bias(\d)", r"linear\1.bias", name)
    return name + ".weight" * name.endswith(("linear1", "linear2", "W_source", "W_target"))


def test_annotated_trains_like_its_twin(official):
    module, adamw_step = official("encoder_decoder"), official("training").adamw_step
    fields = {name: value for name, value in PRESETS["annotated"].model.items() if name != "block_size"}
    config = module.TransformerConfig(vocab_source=10, vocab_target=11, **fields)
    initial = module.init_transformer(config, np.random.default_rng(1))
    params, state = {name: value.astype(np.float64) for name, value in initial.items()}, {}
    twin = Annotated(config).double().train()
    missing = dict(twin.named_parameters())
    with torch.no_grad():
        for name, value in params.items():
            is_matrix = value.ndim == 2 and name not in ("W_source", "W_target")
            missing.pop(annotated_name(name)).copy_(torch.from_numpy(value.T if is_matrix else value))
    assert not missing
    optimizer, rng = torch.optim.AdamW(twin.parameters(), lr=1e-2, weight_decay=0.01), np.random.default_rng(2)
    losses, expected = [], []
    for _ in range(STEPS):
        source = rng.integers(0, 10, (4, 6))
        target = np.concatenate([np.full((4, 1), 10), source[:, :-1]], axis=1)
        log_probs, cache = module.transformer(source, target, params, config)
        losses.append(-np.take_along_axis(log_probs, source[..., None], axis=-1).mean())
        grads = module.transformer_backward(-np.eye(11)[source] / source.size, cache)
        params, state = adamw_step(params, grads, state, 1e-2)

        scores = twin(torch.from_numpy(source), torch.from_numpy(target))
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), torch.from_numpy(source).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    assert losses == pytest.approx(expected, abs=1e-9)
    assert len(set(losses)) == STEPS


class Llama(nn.Module):
    """The Llama of the preset, of PyTorch's own functions."""

    def __init__(self, config, params):
        super().__init__()
        self.config = config
        self.params = nn.ParameterDict(
            {name.replace(".", "/"): nn.Parameter(torch.from_numpy(value.copy())) for name, value in params.items()}
        )

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
            heads = nn.functional.scaled_dot_product_attention(
                self.rotated(q), self.rotated(k), v, is_causal=True, enable_gqa=True
            )
            x = x + heads.transpose(1, 2).flatten(-2) @ p[f"{attn}/W_o"]
            y = self.norm(x, f"blocks/{i}/norm2")
            x = x + (nn.functional.silu(y @ p[f"{ffn}/W_gate"]) * (y @ p[f"{ffn}/W_up"])) @ p[f"{ffn}/W_down"]
        return self.norm(x, "norm_f") @ p["W_tok"].T


class TrainedInProcess:
    """What the code in the student's process has of a submission: its functions."""

    def __init__(self, official):
        self.official = official

    def function(self, module, name):
        return getattr(self.official(module), name)


def test_llama_trains_like_its_twin(official):
    text, preset = "anna\nemma\nolivia\nnoah\nliam\n" * 20, PRESETS["llama"]
    request = {"text": text, "chars": None, "batch_size": 3, "seed": 0, "model": {**preset.model, "n_layers": 2}}
    run = LlamaRun(TrainedInProcess(official), {**request, "params": None, "state": None})
    run.params = {name: value.astype(np.float64) for name, value in run.params.items()}
    twin = Llama(run.config, run.params)
    optimizer, expected = torch.optim.AdamW(twin.parameters(), lr=1e-2, weight_decay=0.01), []
    for number in range(STEPS):
        x, y = (torch.from_numpy(ids) for ids in run.batch(run.train_ids, 3, 0, number))
        loss = nn.functional.cross_entropy(twin(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    losses = run.steps({"first": 0, "count": STEPS, "lr": 1e-2, "schedule": "constant", "total": STEPS})
    assert losses == pytest.approx(expected, abs=1e-9)
    assert len(set(losses)) == STEPS


def test_llama_has_the_size_of_the_gpt_on_names(official):
    gpt, llama = PRESETS["names"], PRESETS["llama"]
    shared = ("data", "batch_size", "lr", "steps", "prompt")
    assert [getattr(gpt, name) for name in shared] == [getattr(llama, name) for name in shared]
    fields = {name: value for name, value in llama.model.items() if name not in ("n_kv_heads", "tied")}
    assert fields == gpt.model
    counts = []
    for module, config, init, preset in (
        ("gpt", "GPTConfig", "init_gpt", gpt),
        ("llama", "LlamaConfig", "init_llama", llama),
    ):
        functions = official(module)
        made = getattr(functions, config)(vocab_size=27, **preset.model)
        params = getattr(functions, init)(made, np.random.default_rng(0))
        counts.append(official("gpt").count_parameters(params))
    assert 0.93 < counts[1] / counts[0] < 1


def test_load_into_torch_names_missing_parameters(official):
    params, config, _ = start(official, "names")
    with pytest.raises(ValueError, match=r"head\.bias"):
        load_into_torch(params, dataclasses.replace(config, head_bias=True))


def test_page_lists_every_function_that_has_a_call():
    listed = set(re.findall(r"`(\w+\.\w+)`", PAGE.read_text("utf-8")))
    missing = {f.qualified for f in TRANSFORMER.functions.values() if f.torch} - listed
    assert missing == set(), "add a row to docs/same_model_in_pytorch.md"


@pytest.mark.slow
def test_page_script_finds_the_same_scores(official, tmp_path, monkeypatch, capsys):
    from support.commands import invoke

    done = invoke(
        *("train", "--solution", "--preset", "lecture", "--data", "given-names", "--steps", "3"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    official("gpt")
    (script,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    exec(script, {})
    assert "largest difference" in capsys.readouterr().out
