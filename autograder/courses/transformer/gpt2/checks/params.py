"""Checks of `gpt2_params`."""

import numpy as np
import pytest

from autograder.courses.transformer.gpt2.checks._checkpoints import draw_tensors, mask_buffers, prefixed
from autograder.engine.comparison.compare import EXACT
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32


@graded("gpt2.gpt2_params", points=2)
def test_params(agree: Agree, draw: RandomInputs) -> None:
    """All tensors of a checkpoint, with one block and with two"""
    agree(draw_tensors(draw, n_layers=1), tolerance=EXACT)
    agree(draw_tensors(draw, d=6, f=9), tolerance=EXACT)


@graded("gpt2.gpt2_params", points=2)
def test_params_prefix(agree: Agree, draw: RandomInputs) -> None:
    """Names that begin with `transformer.`"""
    agree(prefixed(draw_tensors(draw)), tolerance=EXACT)


@graded("gpt2.gpt2_params")
def test_params_buffers(agree: Agree, draw: RandomInputs) -> None:
    """The mask buffers of old checkpoints are left out, with the prefix and without"""
    tensors = draw_tensors(draw) | mask_buffers(2)
    agree(tensors, tolerance=EXACT)
    agree(prefixed(tensors), tolerance=EXACT)


@graded("gpt2.gpt2_params")
def test_params_tied(agree: Agree, draw: RandomInputs) -> None:
    """A head that is equal to the token table is left out"""
    tensors = draw_tensors(draw)
    agree(tensors | {"lm_head.weight": tensors["wte.weight"].copy()}, tolerance=EXACT)
    agree(prefixed(tensors | {"lm_head.weight": tensors["wte.weight"].copy()}), tolerance=EXACT)


@graded("gpt2.gpt2_params")
def test_params_untied(agree: Agree, draw: RandomInputs) -> None:
    """A head of its own is transposed, also if it is square or nearly equal to the token table"""
    agree(draw_tensors(draw) | {"lm_head.weight": draw.normal(7, 4)}, tolerance=EXACT)
    agree(prefixed(draw_tensors(draw, vocab=4) | {"lm_head.weight": draw.normal(4, 4)}), tolerance=EXACT)
    tensors = draw_tensors(draw)
    for difference in (1.0, 1e-6):
        head = tensors["wte.weight"].copy()
        head[3, 2] += difference
        agree(tensors | {"lm_head.weight": head}, tolerance=EXACT)


@graded("gpt2.gpt2_params")
def test_params_blocks(agree: Agree, draw: RandomInputs) -> None:
    """Twelve blocks, in any order"""
    tensors = draw_tensors(draw, n_layers=12, d=2, f=3)
    agree(tensors, tolerance=EXACT)
    agree(dict(sorted(tensors.items(), reverse=True)), tolerance=EXACT)


@graded("gpt2.gpt2_params", points=0.5)
def test_params_square(agree: Agree, draw: RandomInputs) -> None:
    """As many hidden units as features, so that every matrix but one is square"""
    agree(draw_tensors(draw, d=4, f=4, vocab=5), tolerance=EXACT)


@graded("gpt2.gpt2_params", points=0.5)
def test_params_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw_tensors(draw, dtype=FLOAT32) | {"lm_head.weight": draw.normal(7, 4, dtype=FLOAT32)}, tolerance=EXACT)


@graded("gpt2.gpt2_params", points=0.5)
def test_params_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The dictionary and its arrays are not changed"""
    unmodified(prefixed(draw_tensors(draw) | mask_buffers(2) | {"lm_head.weight": draw.normal(7, 4)}))


@graded("gpt2.gpt2_params", points=0.25)
def test_params_missing(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a tensor is missing"""
    tensors = draw_tensors(draw)
    for missing in ("wte.weight", "wpe.weight", "ln_f.bias", "h.1.mlp.c_fc.bias", "h.0.attn.c_attn.weight"):
        refuses({name: tensor for name, tensor in tensors.items() if name != missing})


@graded("gpt2.gpt2_params", points=0.25)
def test_params_missing_block(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a block between others is missing"""
    tensors = draw_tensors(draw, n_layers=3)
    refuses({name: tensor for name, tensor in tensors.items() if not name.startswith("h.1.")})


@graded("gpt2.gpt2_params", points=0.25)
def test_params_no_blocks(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: there are no blocks, or no tensors at all"""
    refuses({name: tensor for name, tensor in draw_tensors(draw).items() if not name.startswith("h.")})
    refuses({})


@graded("gpt2.gpt2_params", points=0.25)
def test_params_unknown(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a tensor that a GPT-2 does not have, outside the blocks and in them"""
    for name in ("score.weight", "ln_1.weight", "lm_head.bias", "h.0.crossattention.c_attn.weight", "h.1.attn.rotary"):
        refuses(draw_tensors(draw) | {name: draw.normal(4)})


@graded("gpt2.gpt2_params", points=0.25)
def test_params_of_another_model(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: the tensors of another architecture"""
    refuses(
        {"model.embed_tokens.weight": draw.normal(7, 4), "model.layers.0.self_attn.q_proj.weight": draw.normal(4, 4)}
    )


@graded("gpt2.gpt2_params", points=0.25)
def test_params_messages(refuses: Refuses, draw: RandomInputs) -> None:
    """The messages have the names of the tensors that are missing or unknown"""
    tensors = draw_tensors(draw)
    for missing in ("wpe.weight", "h.1.ln_2.bias"):
        refuses({name: tensor for name, tensor in tensors.items() if name != missing}, about=missing)
    for unknown in ("score.weight", "h.0.crossattention.c_attn.weight"):
        refuses(tensors | {unknown: draw.normal(4)}, about=unknown)
    refuses({"model.embed_tokens.weight": draw.normal(7, 4)}, about="wte.weight")
