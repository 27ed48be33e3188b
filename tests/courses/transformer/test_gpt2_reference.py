"""The reference of `gpt2` against `transformers.GPT2LMHeadModel`, on tiny models whose parameters are all random."""

from importlib.util import find_spec

import numpy as np
import pytest
from support.built_in import instance_of, solution_module
from support.lazy_module import LazyModule, torch

reference = LazyModule("autograder.courses.transformer.gpt2.reference")
pytestmark = [
    pytest.mark.slow,
    # It is imported when a test needs it: that takes seconds.
    pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed"),
]

SIZES = {"vocab_size": 61, "n_positions": 24, "n_layer": 3, "n_head": 4, "n_embd": 20}
VARIANTS = (
    {},
    {"n_inner": 33, "activation_function": "gelu_pytorch_tanh"},
    {"activation_function": "relu", "tie_word_embeddings": False},
    {"n_layer": 1, "n_head": 1, "tie_word_embeddings": False, "n_inner": 8},
)


def model_of(dtype, **keys):
    """Return a random model in evaluation mode: no bias is 0, no gain is 1."""
    import transformers

    torch.manual_seed(sum(map(ord, str(keys))))
    config = transformers.GPT2Config(**{**SIZES, **keys}, attn_implementation="eager", bos_token_id=0, eos_token_id=0)
    model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model.eval().to(dtype)


def tensors_of(model):
    return {name: tensor.numpy() for name, tensor in model.state_dict().items()}


def draw_ids(shape):
    return np.random.default_rng(0).integers(0, SIZES["vocab_size"], shape)


@pytest.mark.parametrize("keys", VARIANTS, ids=str)
@pytest.mark.parametrize(("dtype", "allowed"), [("float64", 1e-12), ("float32", 1e-5)])
def test_reference_agrees_with_transformers(dtype, allowed, keys):
    model = model_of(getattr(torch, dtype), **keys)
    config = reference.gpt2_config(model.config.to_dict())
    params = reference.gpt2_params(tensors_of(model))
    assert ("W_head" in params) == (keys.get("tie_word_embeddings") is False)
    for length in (1, 7, 24):
        ids = draw_ids((3, length))
        with torch.no_grad():
            theirs = model(torch.tensor(ids)).logits[:, -1].numpy()
        ours, _ = reference.last_logits(ids, params, config)
        assert ours.dtype == theirs.dtype == dtype
        assert np.abs(ours - theirs).max() <= allowed


@pytest.mark.parametrize("keys", VARIANTS, ids=str)
@pytest.mark.parametrize(("dtype", "allowed"), [("float64", 1e-12), ("float32", 1e-5)])
def test_official_functions_continue_as_transformers_do(dtype, allowed, keys):
    """Greedy, with the cache, from the prompt to the end of the window; the scores agree at every step."""
    model, official = model_of(getattr(torch, dtype), **keys), solution_module("gpt2")
    config = official.gpt2_config(model.config.to_dict())
    params = official.gpt2_params(tensors_of(model))
    ids = draw_ids((2, 5))
    with torch.no_grad():
        options = {"max_new_tokens": 19, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
        theirs = model.generate(torch.tensor(ids), **options).numpy()
        scores = model(torch.tensor(theirs)).logits.numpy()
    kv, new = None, ids
    while ids.shape[-1] < 24:
        logits, kv = official.last_logits(new, params, config, kv)
        assert np.abs(logits - scores[:, ids.shape[-1] - 1]).max() <= allowed
        new = logits.argmax(axis=-1)[:, None]
        ids = np.concatenate([ids, new], axis=-1)
    assert (ids == theirs).all()


@pytest.mark.parametrize("keys", VARIANTS, ids=str)
def test_configuration_is_that_of_the_reference(keys):
    import transformers

    hf_config = transformers.GPT2Config(**{**SIZES, **keys}).to_dict()
    assert vars(solution_module("gpt2").gpt2_config(hf_config)) == vars(instance_of(reference.gpt2_config(hf_config)))


def test_saved_model_is_read(tmp_path):
    """A file that `transformers` writes, read with the function of the lesson, and with the prefix removed."""
    model, official = model_of(torch.float32), solution_module("gpt2")
    model.save_pretrained(tmp_path)
    tensors = official.read_safetensors(tmp_path / "model.safetensors")
    assert all(name.startswith("transformer.") for name in tensors)
    expected = official.gpt2_params(tensors_of(model))
    for names in (tensors, {name.removeprefix("transformer."): value for name, value in tensors.items()}):
        params = official.gpt2_params(names)
        assert params.keys() == expected.keys()
        assert all(np.array_equal(params[name], expected[name]) for name in params)
    assert all(array.flags.aligned and array.flags.c_contiguous for array in params.values())
    shapes = official.gpt2_shapes(model.config.to_dict())
    assert {name.removeprefix("transformer."): value.shape for name, value in tensors.items()} == shapes


def test_gpt2_small_has_124_million_parameters():
    """As many as the module of `transformers`, which is made without memory for them."""
    import transformers

    with torch.device("meta"):
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    shapes = solution_module("gpt2").gpt2_shapes(transformers.GPT2Config().to_dict())
    assert sum(int(np.prod(shape)) for shape in shapes.values()) == sum(p.numel() for p in model.parameters())
    assert {f"transformer.{name}" for name in shapes} == {name for name, _ in model.named_parameters()}
