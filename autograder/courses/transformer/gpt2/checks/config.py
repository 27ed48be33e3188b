"""Checks of `gpt2_config`."""

import pytest

from autograder.courses.transformer.gpt2.checks._checkpoints import draw_sizes, settings
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded

# The config.json of GPT-2 small, as it is on the Hugging Face hub.
GPT2_SMALL = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.1,
    "bos_token_id": 50256,
    "embd_pdrop": 0.1,
    "eos_token_id": 50256,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_ctx": 1024,
    "n_embd": 768,
    "n_head": 12,
    "n_layer": 12,
    "n_positions": 1024,
    "resid_pdrop": 0.1,
    "summary_activation": None,
    "summary_first_dropout": 0.1,
    "summary_proj_to_labels": True,
    "summary_type": "cls_index",
    "summary_use_proj": True,
    "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
    "vocab_size": 50257,
}


@graded("gpt2.gpt2_config", points=2)
def test_config_sizes(agree: Agree, draw: RandomInputs) -> None:
    """The sizes of a small model, all of them different"""
    agree(settings(draw))
    agree(settings(draw, n_inner=33))


@graded("gpt2.gpt2_config")
def test_config_of_gpt2(agree: Agree) -> None:
    """The config.json of GPT-2 small"""
    agree(GPT2_SMALL)


@graded("gpt2.gpt2_config", points=0.5)
def test_config_inner(agree: Agree, draw: RandomInputs) -> None:
    """The width of the feed-forward network: given, None and missing"""
    for n_inner in (30, None, ...):
        agree(settings(draw, n_inner=n_inner))


@graded("gpt2.gpt2_config", points=0.5)
def test_config_activations(agree: Agree, draw: RandomInputs) -> None:
    """The three names of activations that the GPT has"""
    for name in ("gelu_new", "gelu_pytorch_tanh", "relu"):
        agree(settings(draw, activation_function=name))


@graded("gpt2.gpt2_config", points=0.5)
def test_config_tied(agree: Agree, draw: RandomInputs) -> None:
    """A tied head and a separate one"""
    for tied in (False, True):
        agree(settings(draw, tie_word_embeddings=tied))


@graded("gpt2.gpt2_config", points=0.5)
def test_config_defaults(agree: Agree, draw: RandomInputs) -> None:
    """Keys that are missing, except for the sizes"""
    agree(draw_sizes(draw))
    for key in ("model_type", "activation_function", "layer_norm_epsilon"):
        agree(settings(draw, **{key: ...}))


@graded("gpt2.gpt2_config", points=0.5)
def test_config_other_keys(agree: Agree, draw: RandomInputs) -> None:
    """Keys that have no effect: another n_ctx, dropout, precision"""
    agree(settings(draw, n_ctx=16, torch_dtype="float16", transformers_version="5.23.0", use_cache=True))
    agree(settings(draw, attn_pdrop=0.1, embd_pdrop=0.2, resid_pdrop=0.3, initializer_range=0.05, n_special=0))
    explicit = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}
    agree(settings(draw, **explicit, reorder_and_upcast_attn=False))


@graded("gpt2.gpt2_config", points=0.5)
def test_config_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The dictionary is not changed"""
    unmodified(settings(draw, tie_word_embeddings=False))
    unmodified(settings(draw, n_inner=30))


@graded("gpt2.gpt2_config", points=0.5)
def test_config_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: a size is missing, another architecture, the exact GELU, another eps"""
    # A check ends at the first value that is accepted. So values that only careless code accepts come first.
    for key, value in (("model_type", "llama"), ("layer_norm_epsilon", 1e-6), ("activation_function", "gelu")):
        refuses(settings(draw, **{key: value}), about=key)
    refuses(settings(draw, n_head=...), about="n_head")
