"""Plots of an imported model show what the course's functions compute with the parameters in its file."""

import json

import numpy as np
import pytest
from support.commands import invoke, refusal
from support.tiny_gpt2 import make_model, make_tokenizer

from autograder.course.stubs import bundled
from autograder.errors import UsageError
from autograder.models import plots
from autograder.models.plot_data import PLOTS, functions_in_folder
from autograder.models.plots import show
from autograder.models.plots.inputs import PlotInputs
from autograder.models.pretrained import model_file

pytestmark = pytest.mark.slow

TEXT = "the cat sat on the mat 😀"


@pytest.fixture(scope="module", params=["plain", "untied"])
def made(request, tmp_path_factory):
    """The file of an imported model, and its tokenizer."""
    folder = tmp_path_factory.mktemp("gpt2")
    tokenizer = make_tokenizer(folder / "files")
    make_model(folder / "files", 300, request.param)
    path = folder / "gpt2.safetensors"
    assert invoke("import-model", folder / "files", "--solution", "--out", path).returncode == 0
    return path, tokenizer


@pytest.fixture(scope="module")
def inputs(made):
    with functions_in_folder(bundled("solutions")) as functions:
        yield PlotInputs(functions, TEXT, lambda: model_file.load(made[0]))


@pytest.fixture(scope="module")
def forward(made, official):
    """The parameters, logits and cache for the text."""
    path, tokenizer = made
    model = model_file.load(path)
    params = {name: marker.open() for name, marker in model.params.items()}
    ids = np.array([tokenizer.encode(TEXT).ids])
    return params, *official("gpt").gpt(ids, params, official("gpt").GPTConfig(**model.config.fields))


def heatmaps(fig):
    return [np.asarray(axes.images[0].get_array()) for axes in fig.axes if axes.images]


def test_attention_heads_shows_every_head(inputs, forward):
    fig = plots.draw(PLOTS["attention-heads"], inputs)
    weights = np.concatenate([forward[2][f"blocks.{i}.weights"][0] for i in range(3)])
    assert np.allclose(heatmaps(fig)[: len(weights)], weights, atol=1e-6)
    labels = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert "".join(labels).replace("␣", " ").startswith("the cat sat")


def test_residual_plots_show_the_stream(inputs, forward):
    cache = forward[2]
    (heat,) = heatmaps(plots.draw(PLOTS["residual-stream"], inputs))[:1]
    assert np.allclose(heat[0], cache["embedded"][0, -1]) and np.allclose(heat[-1], cache["blocks.2.after_ffn"][0, -1])
    norms = plots.draw(PLOTS["residual-norms"], inputs).axes[0].lines[0].get_ydata()
    assert norms[0] == pytest.approx(np.linalg.norm(cache["embedded"][0], axis=-1).mean())


def test_logit_lens_shows_tokens_and_probabilities(inputs, forward, official, made):
    params, logits, cache = forward
    fig = plots.draw(PLOTS["logit-lens"], inputs)
    heat = heatmaps(fig)[0]
    assert np.allclose(heat[-1], official("softmax").softmax(logits[0]).max(axis=-1), atol=1e-5)
    normed = official("layernorm").layernorm(cache["embedded"][0], params["ln_f.gamma"], params["ln_f.beta"])
    head = params.get("W_head", params["W_tok"].T)
    assert np.allclose(heat[0], official("softmax").softmax(normed @ head).max(axis=-1), atol=1e-5)
    assert len(fig.axes[0].texts) == heat.size


@pytest.mark.parametrize("name", ["embedding-norms", "ffn-hidden"])
def test_other_plots_of_one_text_can_be_drawn(inputs, name):
    assert plots.draw(PLOTS[name], inputs).axes


def test_viewer_shows_tokens(inputs, made):
    html = plots.draw(PLOTS["attention-viewer"], inputs)
    data = json.loads(html.partition('type="application/json">')[2].partition("</script>")[0])
    assert data["unit"] == "token" and "imported from files" in data["about"]
    assert len(data["labels"]) == len(made[1].encode(TEXT).ids) == len(data["expected"])


@pytest.mark.parametrize("name", ["loss", "gradient-norms", "embedding-map"])
def test_plots_of_training_say_that_they_need_another_model(inputs, name):
    with pytest.raises(UsageError, match="not an imported one"):
        plots.draw(PLOTS[name], inputs)


def test_text_of_wrong_length_gives_one_line(made, tmp_path):
    for text, expected in (("", "0 tokens"), ("x1" * 100, "2 to 64")):
        arguments = ("plot", "attention-heads", "--solution", "--checkpoint", made[0], "--text", text)
        assert expected in refusal(*arguments, cwd=tmp_path)


def test_show_draws_in_a_notebook(made, official, capsys):
    shown = show("logit-lens", {"__name__": "__main__"}, checkpoint=str(made[0]), text=TEXT)
    assert shown is not None, capsys.readouterr().out
    assert shown._repr_png_().startswith(b"\x89PNG")
