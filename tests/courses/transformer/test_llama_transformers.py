"""The reference and the official solution of `llama` agree with `transformers.LlamaForCausalLM` on tiny random models.

Whatever the dtype of a model, `transformers` computes norms, angles and attention weights in float32. For the
comparison in float64, this precision is replaced by float64 in its module; the formulas stay its own.
"""

import json
from importlib.util import find_spec

import numpy as np
import pytest
from support.built_in import solution_module
from support.lazy_module import LazyModule, torch

from autograder.core.wire_format import Config

reference = LazyModule("autograder.courses.transformer.llama.reference")
pytestmark = [
    pytest.mark.slow,
    # It is imported when a test needs it: that takes seconds.
    pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed"),
]

BLOCK_SIZE = 32
SHAPES = {
    "groups": {"num_attention_heads": 4, "num_key_value_heads": 2},
    "one_key_head": {"num_attention_heads": 4, "num_key_value_heads": 1, "rms_norm_eps": 1e-6},
    "own_keys": {"num_attention_heads": 2, "num_key_value_heads": 2, "tie_word_embeddings": True},
    "base": {"num_attention_heads": 6, "num_key_value_heads": 3, "hidden_size": 36, "rope_theta": 500_000.0},
}


class WithFloat64:
    """The module torch, with float64 under the names of float32."""

    def __getattr__(self, name):
        return getattr(torch, "float64" if name in ("float", "float32") else name)


def make_model(name, dtype, monkeypatch, seed=0):
    """Return a tiny model of transformers, all of whose parameters are random."""
    import transformers
    from transformers.models.llama import modeling_llama

    if dtype == "float64":
        monkeypatch.setattr(modeling_llama, "torch", WithFloat64())
    fields = {"hidden_size": 32, **SHAPES[name]}
    rotation = {"rope_theta": fields.pop("rope_theta", 10_000.0), "rope_type": "default"}
    sizes = {"vocab_size": 53, "intermediate_size": 44, "num_hidden_layers": 3, "max_position_embeddings": BLOCK_SIZE}
    options = {"bos_token_id": None, "eos_token_id": None, "attn_implementation": "eager"}
    config = transformers.LlamaConfig(rope_parameters=rotation, **sizes, **options, **fields)
    model = transformers.LlamaForCausalLM(config).to(getattr(torch, dtype)).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype) * 0.15)
            if parameter.ndim == 1:
                parameter += 1.0
    return model


def tensors_of(model):
    """Return the tensors of a model as arrays, as a checkpoint has them: without a tied head."""
    tied = model.config.tie_word_embeddings
    state = {name: value.numpy() for name, value in model.state_dict().items()}
    return {name: value for name, value in state.items() if not (tied and name == "lm_head.weight")}


def settings_of(model):
    """Return what transformers writes to config.json."""
    return json.loads(model.config.to_json_string())


def ours(model):
    """Return the solution's configuration and parameters of a model, and the configuration for the reference."""
    solution = solution_module("llama")
    config = solution.llama_config(settings_of(model))
    return config, solution.llama_params(tensors_of(model)), Config("llama", "LlamaConfig", vars(config))


def draw_ids(*shape):
    return np.random.default_rng(1).integers(0, 53, shape)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SHAPES)
def test_logits_equal_those_of_transformers(name, dtype, monkeypatch):
    model = make_model(name, dtype, monkeypatch)
    config, params, fields = ours(model)
    ids = draw_ids(3, BLOCK_SIZE)
    with torch.no_grad():
        expected = model(torch.from_numpy(ids)).logits.numpy()
    assert expected.std() > 0.3
    for logits in (reference.llama(ids, params, fields)[0], solution_module("llama").llama(ids, params, config)[0]):
        assert logits.dtype == expected.dtype
        assert np.abs(logits - expected).max() <= (1e-12 if dtype == "float64" else 1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_gradients_equal_those_of_transformers(name, monkeypatch):
    model, solution = make_model(name, "float64", monkeypatch), solution_module("llama")
    config, params, fields = ours(model)
    ids, dlogits = draw_ids(2, 9), np.random.default_rng(2).normal(size=(2, 9, 53))
    model(torch.from_numpy(ids)).logits.backward(torch.from_numpy(dlogits))
    expected = solution.llama_params({name: p.grad.numpy() for name, p in model.named_parameters()})
    for module, settings in ((reference, fields), (solution, config)):
        grads = module.llama_backward(dlogits, module.llama(ids, params, settings)[1])
        assert grads.keys() == expected.keys()
        for key, value in grads.items():
            assert np.abs(value - expected[key]).max() <= 1e-12 * np.abs(expected[key]).max(), key


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SHAPES)
def test_greedy_continuation_equals_that_of_transformers(name, dtype, monkeypatch):
    model = make_model(name, dtype, monkeypatch)
    config, params, fields = ours(model)
    prompts, n_new = draw_ids(6, 5), BLOCK_SIZE - 5
    given = torch.from_numpy(prompts)
    mask = torch.ones_like(given)
    written = model.generate(given, attention_mask=mask, do_sample=False, max_new_tokens=n_new, pad_token_id=0).numpy()
    assert len(np.unique(written[:, 5:])) > 10
    rng = np.random.default_rng(0)
    solution = solution_module("llama").generate_llama
    assert (solution(prompts, params, config, n_new, rng, temperature=0) == written).all()
    assert (reference.generate_llama(prompts, params, fields, n_new, temperature=0) == written).all()


@pytest.mark.parametrize("name", SHAPES)
def test_config_is_read_as_transformers_reads_it(name, monkeypatch):
    import transformers

    model = make_model(name, "float32", monkeypatch)
    settings = settings_of(model)
    config = solution_module("llama").llama_config(settings)
    assert reference.llama_config(settings).fields.items() <= vars(config).items()
    assert (config.n_heads, config.n_kv_heads) == (model.config.num_attention_heads, model.config.num_key_value_heads)
    assert config.rope_base == SHAPES[name].get("rope_theta", 10_000.0)
    assert config.norm_eps == model.config.rms_norm_eps and config.tied == model.config.tie_word_embeddings
    defaults = transformers.LlamaConfig()
    sizes = {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"}
    few = {key: settings[key] for key in sizes | {"model_type", "max_position_embeddings"}}
    assert solution_module("llama").llama_config(few).norm_eps == defaults.rms_norm_eps
    assert solution_module("llama").llama_config(few).tied == defaults.tie_word_embeddings


def test_bf16_checkpoint_gives_the_scores_of_the_rounded_model(monkeypatch):
    rounded = make_model("groups", "float32", monkeypatch).to(torch.bfloat16)
    bits = {name: value.view(torch.int16).numpy().view(np.uint16) for name, value in rounded.state_dict().items()}
    params = solution_module("llama").llama_params(bits)
    expected = reference.llama_params(tensors_of(rounded.to(torch.float32)))
    assert {str(value.dtype) for value in params.values()} == {"float32"}
    assert all(np.array_equal(params[name], expected[name]) for name in expected)
