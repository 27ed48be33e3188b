"""The models of all presets train like their PyTorch twins, step by step; trained parameters give the same scores."""

import dataclasses
import itertools
import re

import numpy as np
import pytest
from support.commands import succeed
from support.lazy_module import LazyModule, torch
from support.paths import ROOT

from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.training.settings import PRESETS
from autograder.sandbox.child.training import LlamaRun

twins = LazyModule("support.torch_models")
torch_twin = LazyModule("autograder.courses.transformer.gpt.torch_twin")
torch_baseline = LazyModule("bench.torch_baseline")
PAGE = ROOT / "docs" / "same_model_in_pytorch.md"
MODELS = [name for name, preset in PRESETS.items() if preset.kind == "gpt"]
STEPS = 4


def start(official, preset, **changes):
    """Return the preset's model in float64: its parameters, its configuration and its batches."""
    gpt = official("gpt")
    fields = {**PRESETS[preset].model, "n_layers": 2, "vocab_size": 11, **changes}
    config = gpt.GPTConfig(**fields)
    params = {name: p.astype(np.float64) for name, p in gpt.init_gpt(config, np.random.default_rng(1)).items()}
    ids = np.random.default_rng(2).integers(0, config.vocab_size, 500)
    return params, config, torch_baseline.batches(ids, {"model": fields, "batch_size": 3, "seed": 0})


@pytest.mark.slow
@pytest.mark.parametrize("preset", MODELS)
def test_preset_trains_like_its_twin(official, preset):
    params, config, drawn = start(official, preset, dropout=0.0)
    taken = list(itertools.islice(drawn, STEPS))
    expected = torch_baseline.torch_trainer(params, config, taken, 1e-2)(STEPS)
    _, _, losses = official("training").train(params, config, taken, 1e-2)
    assert len(set(losses)) == STEPS and losses == pytest.approx(expected, abs=1e-9)


def with_drawn_masks(module, rng):
    """Replace all dropout of a module, in place, and return the module."""
    for name, child in list(module.named_children()):
        if isinstance(child, torch.nn.Dropout):
            setattr(module, name, twins.Drawn(child.p, rng))
        else:
            with_drawn_masks(child, rng)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["dropout", "post-norm"])
def test_preset_with_dropout_trains_like_its_twin(official, preset, monkeypatch):
    params, config, drawn = start(official, preset, dropout=0.1)
    taken, rng = list(itertools.islice(drawn, STEPS)), np.random.default_rng(3)
    load = torch_twin.load_into_torch
    twin = "autograder.courses.transformer.gpt.torch_twin.load_into_torch"
    monkeypatch.setattr(twin, lambda *given: with_drawn_masks(load(*given), rng))
    expected = torch_baseline.torch_trainer(params, config, taken, 1e-2)(STEPS)
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
    model = torch_twin.load_into_torch(params, config).eval()
    assert np.abs(model(torch.from_numpy(ids)).detach().numpy() - logits).max() <= 1e-12
    assert sum(p.numel() for p in model.parameters()) == official("gpt").count_parameters(params)


def annotated_name(name):
    """Return PyTorch's name of one of our parameters."""
    for ours, theirs in {
        "source_attn.": "multihead_attn.", ".attn.": ".self_attn.", "W_qkv": "in_proj_weight", ".ln_f.": ".norm.",
        "b_qkv": "in_proj_bias", "W_o": "out_proj.weight", "b_o": "out_proj.bias", "W_head": "head.weight",
        "ffn.W_": "linear", "ffn.b_": "linear_bias", "b_head": "head.bias", ".ln": ".norm", "gamma": "weight",
        "beta": "bias",
    }.items():  # fmt: skip
        name = name.replace(ours, theirs)
    name = re.sub(r"(coder)\.(\d)", r"\1.layers.\2", name)
    name = re.sub(r"linear_bias(\d)", r"linear\1.bias", name)
    return name + ".weight" * name.endswith(("linear1", "linear2", "W_source", "W_target"))


@pytest.mark.slow
def test_annotated_trains_like_its_twin(official):
    module, adamw_step = official("encoder_decoder"), official("training").adamw_step
    fields = {name: value for name, value in PRESETS["annotated"].model.items() if name != "block_size"}
    config = module.TransformerConfig(vocab_source=10, vocab_target=11, **fields)
    initial = module.init_transformer(config, np.random.default_rng(1))
    params, state = {name: value.astype(np.float64) for name, value in initial.items()}, {}
    twin = twins.Annotated(config).double().train()
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
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), torch.from_numpy(source).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    assert losses == pytest.approx(expected, abs=1e-9) and len(set(losses)) == STEPS


@pytest.mark.slow
def test_llama_trains_like_its_twin(official, official_submission):
    text, preset = "anna\nemma\nolivia\nnoah\nliam\n" * 20, PRESETS["llama"]
    request = {"text": text, "chars": None, "batch_size": 3, "seed": 0, "model": {**preset.model, "n_layers": 2}}
    run = LlamaRun(official_submission, {**request, "params": None, "state": None})
    run.params = {name: value.astype(np.float64) for name, value in run.params.items()}
    twin = twins.Llama(run.config, run.params)
    optimizer, expected = torch.optim.AdamW(twin.parameters(), lr=1e-2, weight_decay=0.01), []
    for number in range(STEPS):
        x, y = (torch.from_numpy(ids) for ids in run.batch(run.train_ids, 3, 0, number))
        loss = torch.nn.functional.cross_entropy(twin(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    losses = run.steps({"first": 0, "count": STEPS, "lr": 1e-2, "schedule": "constant", "total": STEPS})
    assert losses == pytest.approx(expected, abs=1e-9) and len(set(losses)) == STEPS


def test_llama_has_the_size_of_the_gpt_on_names(official):
    gpt, llama = PRESETS["names"], PRESETS["llama"]
    shared = ("data", "batch_size", "lr", "steps", "prompt")
    assert [getattr(gpt, name) for name in shared] == [getattr(llama, name) for name in shared]
    assert {name: value for name, value in llama.model.items() if name not in ("n_kv_heads", "tied")} == gpt.model
    kinds, counts = (("gpt", "GPTConfig", "init_gpt", gpt), ("llama", "LlamaConfig", "init_llama", llama)), []
    for module, config, init, preset in kinds:
        functions = official(module)
        made = getattr(functions, config)(vocab_size=27, **preset.model)
        counts.append(official("gpt").count_parameters(getattr(functions, init)(made, np.random.default_rng(0))))
    assert 0.9 < counts[1] / counts[0] < 1


def test_load_into_torch_names_missing_parameters(official):
    params, config, _ = start(official, "names")
    with pytest.raises(ValueError, match=r"head\.bias"):
        torch_twin.load_into_torch(params, dataclasses.replace(config, bias=f"{config.bias} b_head"))


def test_page_lists_every_function_that_has_a_call():
    listed = set(re.findall(r"`(\w+\.\w+)`", PAGE.read_text("utf-8")))
    missing = {f.qualified for f in TRANSFORMER.functions.values() if f.torch} - listed
    assert missing == set(), "add a row to docs/same_model_in_pytorch.md"


@pytest.mark.slow
def test_page_script_finds_the_same_scores(official, tmp_path, monkeypatch, capsys):
    succeed("train", "--solution", "--preset", "lecture", "--data", "names", "--steps", "3", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    official("gpt")
    (script,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    exec(script, {})
    assert "largest difference" in capsys.readouterr().out
