"""Claims of lessons and explanations that no worked example computes."""

import re
from statistics import NormalDist

import numpy as np
import pytest
from support.built_in import mistakes_of_function, module_with_mistakes, solution_module

from autograder.course.stubs import bundled
from autograder.courses.transformer.common.figures.trained_model import measured
from autograder.models.training import datasets

SPLIT = "multihead.split_heads/reshaped-without-exchange"
MERGED = "multihead.merge_heads/reshaped-without-exchange"
IN_ATTENTION = ("multihead.multihead_attention/split-by-reshape", "multihead.multihead_attention/merged-by-reshape")


def multihead_attention(*mistake_ids):
    known = [known for id in mistake_ids for known in mistakes_of_function(id.partition("/")[0]) if known.id == id]
    module = module_with_mistakes(*known, of_module="multihead") if known else solution_module("multihead")
    assert len(known) == len(mistake_ids)
    return module.multihead_attention


def positions_that_see_the_last(attention, length=8, d_model=12, n_heads=3):
    rng = np.random.default_rng(0)
    params = {"W_qkv": rng.normal(size=(d_model, 3 * d_model)), "W_o": rng.normal(size=(d_model, d_model))}
    x = rng.normal(size=(length, d_model))
    moved = x + np.eye(length)[:, -1:]
    before, after = (attention(vectors, params, n_heads, np.tri(length, dtype=bool))[0] for vectors in (x, moved))
    return np.flatnonzero(np.abs(after - before).max(axis=-1) > 1e-9).tolist()


def test_multihead_attention_is_causal():
    assert positions_that_see_the_last(multihead_attention()) == [7]


@pytest.mark.parametrize("mistakes", [(SPLIT,), (MERGED,), (SPLIT, MERGED), *((id,) for id in IN_ATTENTION)])
def test_heads_by_reshape_read_the_future(mistakes):
    """Both reshapes together as well, where one call splits q, k and v."""
    assert min(positions_that_see_the_last(multihead_attention(*mistakes))) < 7


@pytest.mark.slow
def test_training_loop_agrees_with_pytorch_to_the_digits_of_the_lesson():
    from autograder.courses.transformer.training.reference import train_losses

    gpt, training = solution_module("gpt"), solution_module("training")
    rng = np.random.default_rng(0)
    config = gpt.GPTConfig(vocab_size=27, block_size=8, n_layers=4, n_heads=4, d_model=16)
    params = {name: value.astype(np.float64) for name, value in gpt.init_gpt(config, rng).items()}
    texts = (rng.integers(27, size=(100, 4, 1)) + np.arange(9) + rng.integers(2, size=(100, 4, 9))) % 27
    batches = [(text[:, :-1], text[:, 1:]) for text in texts]
    _, _, losses = training.train(params, config, batches, 1e-3)
    expected = np.array(train_losses(params, config, batches, 1e-3))
    assert np.abs(losses - expected).max() < 5e-14
    _, _, with_another_eps = training.train(params, config, batches[:20], 1e-3, eps=1e-7)
    assert np.abs(with_another_eps - expected[:20]).max() > 1e-7


def test_opening_of_the_lesson_on_gradients_quotes_its_network():
    text = (bundled("solutions") / "gradients.py").read_text("utf-8").replace("−", "-").replace("\n# ", " ")
    rng = np.random.default_rng(0)
    first = np.tanh([[0, 0], [0, 1], [1, 0], [1, 1]] @ rng.normal(size=(2, 3))) @ rng.normal(size=(3, 1))
    last = re.search(r"predictions +\[(.+?)\]", text)[1].split()
    for numbers, words in ((first.ravel(), "random parameters"), (last, "small changes to its parameters")):
        assert f"{words} it answers {', '.join(f'{float(number):.2g}' for number in numbers)}." in text


def test_names_that_open_the_course_are_half_real_half_invented():
    lesson, listed = (bundled("solutions") / "tokenizer.py").read_text("utf-8"), datasets.load("names").split()
    total, shown = re.search(r"from a list of ([\d,]+)\..*?```text\n# (.*?)\n", lesson, re.DOTALL).groups()
    said = re.search(r"\n# (\w+), (\w+) and (\w+) are in the list\.", lesson).groups()
    assert total == f"{len(listed):,}"
    assert [name.title() for name in shown.split() if name in listed] == list(said)
    assert set(shown.split()) - set(listed) <= set(measured()["samples"][1].split())
    assert len(shown.split()) == 6


def test_opening_of_the_lesson_on_counting_quotes_its_names():
    lesson, listed = (bundled("solutions") / "counting.py").read_text("utf-8"), datasets.load("names").split()
    said = re.search(r"names like (\w+)\. With the counts, it invents (\w+)\s+(?:# )?and (\w+)\.", lesson).groups()
    counted, uniform = (line.split() for line in re.findall(r"# >>> print\(\*text\.split.*\n# (.*)", lesson))
    assert said[0] in uniform and set(said[1:]) <= set(counted)
    assert set(said).isdisjoint(listed)


def test_questions_about_a_gpt_have_the_answers_that_they_suggest():
    gpt, blocks = solution_module("gpt"), solution_module("blocks")
    config = gpt.GPTConfig(5, 3, n_layers=1, n_heads=2, d_model=8, init_std=0.5, dropout=0.5)
    params = {name: value.astype(float) for name, value in gpt.init_gpt(config, np.random.default_rng(0)).items()}
    without_positions = params | {"W_pos": np.zeros((3, 8))}
    scores, swapped = (gpt.gpt(ids, without_positions, config)[0] for ids in ([1, 2, 3], [2, 1, 3]))
    assert np.abs(scores - swapped)[2].max() < 1e-12 < np.abs(scores - gpt.gpt([1, 2, 3], params, config)[0])[2].max()
    layer, x = blocks.subset(params, "blocks.0."), np.random.default_rng(1).normal(size=(3, 8))
    nothing = layer | {name: layer[name] * 0 for name in ("attn.W_o", "ffn.W_2")}
    assert np.array_equal(blocks.block(x, nothing, 2, norm="pre")[0], x)
    rng, same = np.random.default_rng(2), np.random.default_rng(2)
    gpt.gpt([1, 2, 3], params, config, rng)
    same.random((3, 3, 8))  # three draws, each of the shape of x
    assert rng.random() == same.random()
    assert round(2 - 2 * NormalDist().cdf(3**0.5), 2) == 0.08
    assert solution_module("training").clip_grad_norm({"w": np.array([1e-6])}, 1e-6)[0]["w"].round(12) == 0.5e-6
