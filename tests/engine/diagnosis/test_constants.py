"""Families of mistakes: the constant is found from the answer, and reported only as far as the answers determine it."""

from dataclasses import replace

import pytest
from support.judging import judged, mistakes_in, solution_text

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis import diagnose

pytestmark = pytest.mark.usefixtures("enough_time")


@pytest.mark.slow
@pytest.mark.parametrize(("function", "old", "new", "title"), [
    ("attention.attention", "scores, -np.inf", "scores, -1e-6", "hidden scores were set to -1e-06, not to -inf"),
    ("attention.attention", "scores, -np.inf", "scores, -17.3", "hidden scores were set to -17.3, not to -inf"),
    ("attention.attention", "scores, -np.inf", "scores, -300", "were set to a number such as -100, not to -inf"),
    ("embeddings.sinusoidal_positions", "/ 10000.0 **", "/ 777.0 **", "the base is 777 instead of 10000"),
    ("layernorm.layernorm", "beta, eps=1e-5", "beta, eps=0.02", "the default of eps is 0.02, not 1e-05"),
])  # fmt: skip
def test_diagnose_finds_constant_of_family(tmp_path, function, old, new, title):
    text = solution_text(function.partition(".")[0], (old, new))
    assert all(title in outcome.mistake["title"] for outcome in judged(tmp_path, function, text))


@pytest.mark.slow
def test_diagnose_constant_does_not_depend_on_the_speed_of_checks(tmp_path, monkeypatch):
    recorded, original = [], diagnose.diagnose

    def record(function, checks, *arguments, **options):
        recorded.extend(checks)
        return original(function, checks, *arguments, **options)

    monkeypatch.setattr(diagnose, "diagnose", record)
    text = solution_text("embeddings", ("/ 10000.0 **", "/ 777.0 **"))
    failed = [outcome.id for outcome in judged(tmp_path, "embeddings.sinusoidal_positions", text)]
    for fastest in recorded:
        checks = [replace(check, seconds=float(check is not fastest)) for check in recorded]
        assert set(original("embeddings.sinusoidal_positions", checks, package=TRANSFORMER.package)) == set(failed)


def test_diagnose_constant_that_is_not_round_needs_all_checks(tmp_path, monkeypatch):
    """A power of 2 is e to a multiple: a temperature of 1.4427, but only where no other temperature is passed."""
    monkeypatch.setattr("autograder.engine.diagnosis.diagnose.mistakes_of_function", lambda *args: ())
    text = solution_text("softmax").replace("np.exp(z, out=z)", "np.exp2(z, out=z)")
    assert mistakes_in(tmp_path, "softmax.softmax", text) == {None}


@pytest.mark.slow
def test_diagnose_constant_that_contradicts_a_check_is_not_named(tmp_path):
    """Half of eps is 5e-06 where eps is not passed, and 0.05 where it is 0.1."""
    text = solution_text("layernorm", ("/ x.shape[-1] + float(eps)", "/ x.shape[-1] + float(eps) / 2"))
    titles = [outcome.mistake["title"] for outcome in judged(tmp_path, "layernorm.rmsnorm", text) if outcome.mistake]
    assert not any("5e-06" in title or " 1 times" in title for title in titles)


ORDER = "lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):", "lr, weight_decay=0.01, eps=1e-8, betas=(0.9, 0.999)):"
WITHOUT_MASK = "\n\n_attention = attention\n\n\ndef attention(q, k, v, mask=None):\n    return _attention(q, k, v)\n"


@pytest.mark.slow
@pytest.mark.parametrize(("function", "text", "title"), [
    ("training.adamw_step", solution_text("training", ORDER), "order betas, eps, weight_decay"),
    ("layernorm.rmsnorm", solution_text("layernorm", ("norm(x, gamma, eps=1e-5", "norm(x, gamma, eps=3")), "is 3, not"),
    ("multihead.multihead_attention", solution_text("multihead") + WITHOUT_MASK, "mask"),
])  # fmt: skip
def test_diagnose_wrong_parameters_and_arguments(tmp_path, function, text, title):
    assert all(title in outcome.mistake["title"] for outcome in judged(tmp_path, function, text))


@pytest.mark.slow
def test_diagnose_rewritten_called_function(tmp_path, monkeypatch):
    """A function with an attention of its own, in which the scores are not divided; no own table knows that."""
    monkeypatch.setattr("autograder.engine.diagnosis.diagnose.mistakes_of_function", lambda *args: ())
    text = f"""{solution_text("multihead")}

def attention(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return weights @ v, weights
"""
    found = {one.mistake["id"] for one in judged(tmp_path, "multihead.multihead_attention", text) if one.wrong}
    assert found == {"attention.attention/no-scale"}


@pytest.mark.slow
def test_diagnose_ignores_passed_checks_of_large_tolerance(tmp_path):
    """Far from zero, another order of the steps gives other digits, which a check allows."""
    text = """
import numpy as np

def layernorm_backward(dout, x, gamma, eps=1e-5):
    dout, x = (a if a.dtype.kind == "f" else a.astype(float) for a in map(np.asarray, (dout, x)))
    mean = x.sum(-1, keepdims=True) / x.shape[-1]
    inverse = ((x - mean) ** 2).mean(-1, keepdims=True)
    inverse = 1 / np.sqrt(inverse + inverse.dtype.type(1e-5))
    xhat = (x - mean) * inverse
    g = dout * gamma
    dx = inverse * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    lead = tuple(range(x.ndim - 1))
    return dx, (dout * xhat).sum(lead), dout.sum(lead)
"""
    for outcome in judged(tmp_path, "layernorm.layernorm_backward", text):
        assert "eps was always 1e-05" in outcome.mistake["title"]
