"""Plots show exactly what the functions of a submission return, and label every axis."""

import math
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text
from support.commands import invoke, succeed

from autograder.course import FIGURES
from autograder.course.stubs import bundled, make_stubs
from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.attention.figures import example
from autograder.courses.transformer.layernorm.plots import vectors
from autograder.courses.transformer.softmax.plots import LARGEST_SCORES, SCORES, TEMPERATURES
from autograder.courses.transformer.training import synthetic_corpus
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionNotWritten
from autograder.errors import UsageError
from autograder.models import plots
from autograder.models.plot_data import PLOTS, functions_in_folder
from autograder.models.plots import show
from autograder.models.plots.inputs import TEXTS, PlotInputs, functions_in_namespace
from autograder.models.training.checkpoint import load

pytestmark = pytest.mark.slow

FIGURE_NAMES = [name for name, plot in PLOTS.items() if plot.suffixes == FIGURES]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The checkpoint of a short run on the bundled names."""
    folder = tmp_path_factory.mktemp("model")
    succeed("train", "--solution", "--data", "names", "--steps", "300", cwd=folder)
    return folder / "model.safetensors"


@pytest.fixture(scope="module")
def inputs(official, model):
    return PlotInputs(functions_in_namespace({}), None, lambda: load(model))


@pytest.fixture(scope="module")
def drawn(inputs):
    """Every figure, drawn once; a warning on the way is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {name: plots.draw(PLOTS[name], inputs) for name in FIGURE_NAMES}


@pytest.fixture(scope="module")
def forward(official, model):
    """The trained model applied to the default text: checkpoint, ids, configuration, logits, cache."""
    run = load(model)
    text = TEXTS[0]
    ids = np.array([run.chars.index(char) for char in text])
    config = official("gpt").GPTConfig(vocab_size=len(run.chars), **run.settings.model)
    logits, cache = official("gpt").gpt(ids[None], run.params, config)
    return run, ids, config, logits, cache


def axes_of(fig):
    return [axes for axes in fig.axes if axes.get_label() != "<colorbar>"]


def heatmaps(fig):
    return [np.asarray(axes.images[0].get_array()) for axes in axes_of(fig) if axes.images]


def bars(axes):
    return np.array([bar.get_height() for bar in axes.patches])


def line(axes, number=0):
    return np.asarray(axes.lines[number].get_ydata())


@pytest.mark.parametrize("name", FIGURE_NAMES)
def test_plot_has_title_and_axis_labels(drawn, name):
    fig = drawn[name]
    assert fig.get_suptitle()
    axes = axes_of(fig)
    # Panels that share an axis are labeled only at the edge.
    xs, ys = [a.get_xlabel() for a in axes], [a.get_ylabel() for a in axes]
    assert len(axes) >= 1
    shared = axes[0].get_shared_x_axes().joined(axes[0], axes[-1])
    assert all(xs) or (name == "attention-heads" and sum(map(bool, xs)) == 4) or (shared and xs[-1])
    assert all(ys) or (axes[0].get_shared_y_axes().joined(axes[0], axes[-1]) and ys[0])
    for bar in fig.axes:
        assert bar in axes or bar.get_ylabel(), "unlabeled color scale"


@pytest.mark.parametrize("name", FIGURE_NAMES)
def test_plot_can_be_written_as_png_and_its_text_is_at_least_9_points(drawn, name):
    content = figure.to_bytes(drawn[name], "png")
    assert content.startswith(b"\x89PNG") and len(content) > 5_000
    if name != "attention-heads":  # as many panels as the model has heads
        assert drawn[name].get_size_inches()[0] <= 10, "as wide as a notebook"
        assert min(text.get_fontsize() for text in drawn[name].findobj(Text) if text.get_text().strip()) >= 9


def test_same_plot_twice_gives_same_bytes(inputs):
    for suffix in FIGURES:
        first, second = (figure.to_bytes(plots.draw(PLOTS["layernorm"], inputs), suffix) for _ in range(2))
        assert first == second


def test_token_ids_shows_encoded_text(drawn, official):
    text = "hello world, hello there"
    _, stoi, _ = official("tokenizer").build_vocab(text)
    (axes,) = axes_of(drawn["token-ids"])
    assert np.array_equal(axes.collections[0].get_offsets()[:, 1], official("tokenizer").encode(text, stoi))
    assert len(axes.lines) == 0, "a line between two ids would suggest an order"
    assert "".join(label.get_text() for label in axes.get_xticklabels()) == text.replace(" ", "␣")


def test_softmax_temperatures_shows_probabilities(drawn, official):
    for axes, temperature in zip(axes_of(drawn["softmax-temperatures"]), TEMPERATURES, strict=True):
        assert np.allclose(bars(axes), official("softmax").softmax(SCORES, temperature=temperature), 1e-5)


def test_softmax_overflow_naive_lines_end(drawn):
    yours, float64, float32 = map(line, axes_of(drawn["softmax-overflow"]))
    right = 1 / (1 + math.exp(-1) + math.exp(-2))
    assert np.allclose(yours, right)
    x = LARGEST_SCORES
    assert np.isnan(float64[x > 709.8]).all() and np.allclose(float64[x < 709], right)
    assert np.isnan(float32[x > 88.8]).all() and np.allclose(float32[x < 88], right, atol=1e-6)


def test_positions_shows_table_and_similarity(drawn, official):
    table = official("embeddings").sinusoidal_positions(64, 48)
    heat, similarity = heatmaps(drawn["positions"])
    assert np.allclose(heat, table, 1e-3) and np.allclose(similarity, table @ table.T, 1e-3)
    _, waves, _, lengths = axes_of(drawn["positions"])
    assert np.allclose(line(waves, 2), table[:, 16], 1e-5)
    assert line(lengths, 1)[[0, 12]] == pytest.approx([2 * math.pi, 200 * math.pi]), "base 10000: columns 0 and 24"


def test_embedding_map_projects_on_principal_axes(drawn, forward):
    run, *_ = forward
    table = run.params["W_tok"].astype(np.float64)
    left, right = axes_of(drawn["embedding-map"])
    assert len(right.lines) == 6
    points = np.concatenate([np.column_stack(drawn_line.get_data()) for drawn_line in left.lines[: len(table)]])
    values = np.sort(np.linalg.eigvalsh(np.cov(table.T, bias=True)))[::-1]
    assert np.allclose(points.var(axis=0), values[:2], rtol=1e-5)
    assert f"{values[0] / values.sum():.0%}" in left.get_xlabel()
    assert {len(drawn_line.get_xdata()) for drawn_line in right.lines} == {len(run.params["W_pos"])}


def test_embedding_norms_shows_three_lengths(drawn, forward):
    run, ids, *_ = forward
    tokens, places = run.params["W_tok"][ids], run.params["W_pos"][: len(ids)]
    expected = [np.linalg.norm(part, axis=-1) for part in (tokens, places, tokens + places)]
    assert np.allclose(bars(axes_of(drawn["embedding-norms"])[0]), np.concatenate(expected), rtol=1e-5)


def test_attention_plots_show_scores_weights_output(drawn, official):
    q, k, v = example()
    out, weights = official("attention").attention(q, k, v, mask=official("attention").causal_mask(5))
    assert weights[2].round(1).tolist() == [0.1, 0.6, 0.3, 0.0, 0.0], "the numbers of the lesson's first picture"
    scores, masked, shown_weights, shown_out = heatmaps(drawn["attention-mask"])
    assert np.allclose(scores, q @ k.T / 2, 1e-3)
    assert np.array_equal(np.isnan(np.ma.getdata(masked)), np.triu(np.ones((5, 5), bool), 1))
    assert np.allclose(shown_weights, weights, 1e-3) and np.allclose(shown_out, out, 1e-3)
    assert np.allclose(official("softmax").softmax(np.nan_to_num(masked, nan=-np.inf)), weights, 1e-3)
    assert np.allclose(np.stack([bars(axes) for axes in axes_of(drawn["attention-queries"])]), weights, 1e-5)


def test_layernorm_shows_values_before_and_after(drawn, official):
    x = vectors()
    normed = official("layernorm").layernorm(x, np.ones(24), np.zeros(24))
    for axes, values in zip(axes_of(drawn["layernorm"]), (x, normed), strict=True):
        rows = [dots.get_offsets()[:, 0] for dots in axes.collections if len(dots.get_offsets()) == 24]
        assert np.allclose(rows, values, 1e-5)


def test_activations_shows_functions_and_slopes(drawn, official):
    ffn = official("ffn")
    functions, slopes = axes_of(drawn["activations"])
    x = np.asarray(functions.lines[0].get_xdata())
    assert np.allclose(line(functions), ffn.relu(x), 1e-5) and np.allclose(line(functions, 1), ffn.gelu(x), 1e-5)
    assert np.allclose(line(slopes, 1)[1:-1], np.gradient(ffn.gelu(x), x)[1:-1], atol=1e-3)
    assert np.allclose(line(slopes), ffn.relu_backward(np.ones_like(x), x))


def test_model_plots_show_entries_of_the_cache(drawn, forward, official):
    run, _, config, _, cache = forward
    weights = np.concatenate([cache[f"blocks.{i}.weights"][0] for i in range(config.n_layers)])
    assert np.array_equal(heatmaps(drawn["attention-heads"]), weights)

    stages = [cache["embedded"]]
    for i in range(config.n_layers):
        stages += [cache[f"blocks.{i}.after_attention"], cache[f"blocks.{i}.after_ffn"]]
    stream = np.concatenate(stages).astype(np.float64)  # (1 + 2 L, T, D)
    (heat,) = heatmaps(drawn["residual-stream"])
    assert np.array_equal(heat, stream[:, -1])
    (axes,) = axes_of(drawn["residual-norms"])
    assert np.allclose(line(axes), np.linalg.norm(stream, axis=-1).mean(axis=-1))
    steps = np.linalg.norm(np.diff(stream, axis=0), axis=-1).mean(axis=-1)
    assert np.allclose(bars(axes)[: len(steps)], steps)

    hidden, _, shut, scatter = axes_of(drawn["ffn-hidden"])
    ffn, last = official("ffn"), config.n_layers - 1
    norm = [run.params[f"blocks.{last}.ln2.{name}"] for name in ("gamma", "beta")]
    normed = official("layernorm").layernorm(cache[f"blocks.{last}.after_attention"][0], *norm)
    before = ffn.linear(normed, run.params[f"blocks.{last}.ffn.W_1"], run.params[f"blocks.{last}.ffn.b_1"])
    assert np.allclose(hidden.images[0].get_array(), ffn.gelu(before), atol=1e-5)
    assert bars(shut)[last] == pytest.approx((before < 0).mean())
    added = cache[f"blocks.{last}.after_ffn"][0] - cache[f"blocks.{last}.after_attention"][0]
    dots = np.column_stack([normed.ravel(), added.ravel()])
    assert np.allclose(scatter.collections[0].get_offsets(), dots, atol=1e-5)


def test_logit_lens_ends_with_the_prediction_of_the_model(drawn, forward, official):
    run, _, _, logits, cache = forward
    (heat,) = heatmaps(drawn["logit-lens"])
    probs = official("softmax").softmax(logits[0])
    assert np.allclose(heat[-1], probs.max(axis=-1), atol=1e-5)
    normed = official("layernorm").layernorm(cache["embedded"][0], run.params["ln_f.gamma"], run.params["ln_f.beta"])
    assert np.allclose(heat[0], official("softmax").softmax(normed @ run.params["W_tok"].T).max(axis=-1), atol=1e-5)
    (axes,) = axes_of(drawn["logit-lens"])
    shown = [text.get_text() for text in axes.texts]
    expected = [figure.visible_character(run.chars[i]) for i in probs.argmax(axis=-1)]
    assert shown[-len(expected) :] == expected


def test_learning_rate_shows_schedule(drawn, official):
    axes = axes_of(drawn["learning-rate"])[0]
    rate = official("training").learning_rate
    assert np.allclose(line(axes, 1), [rate(step, 1e-3, 1e-4, 50, 200) for step in range(220)], 1e-5)


def test_loss_shows_history_and_known_entropy(drawn, forward, model):
    run = forward[0]
    (axes,) = axes_of(drawn["loss"])
    assert np.array_equal(line(axes), run.losses)
    assert np.array_equal(line(axes, 2), [loss for _, loss in run.validation])
    assert line(axes, 3)[0] == pytest.approx(np.log(len(run.chars)))
    assert len(axes.lines) == 4, "the entropy of names is unknown"
    synthetic = replace(run, settings=replace(run.settings, data="synthetic"))
    fig = plots.draw(PLOTS["loss"], PlotInputs(None, None, lambda: synthetic))
    floor = synthetic_corpus.entropy_per_character(context=int(run.settings.model["block_size"]))
    assert line(axes_of(fig)[0], 4)[0] == pytest.approx(floor)


def test_gradient_norms_match_the_gradients(drawn, forward, official):
    run, _, config, *_ = forward
    from autograder.models.training import datasets

    ids = np.array([run.chars.index(char) for char in datasets.load("names", 0)[:100_000]])
    x, y = official("tokenizer").get_batch(ids, run.settings.batch_size, config.block_size, np.random.default_rng(0))
    _, grads = official("gpt").gpt_loss(x, y, run.params, config)
    (axes,) = axes_of(drawn["gradient-norms"])
    heights, labels = bars(axes), [label.get_text() for label in axes.get_xticklabels()]
    trained = heights[len(heights) // 2 :]
    assert labels[:3] == ["W_tok", "W_pos", "0 ln1"] and len(trained) == len(labels)
    assert trained[0] == pytest.approx(np.linalg.norm(grads["W_tok"]), rel=1e-5)
    part = np.concatenate([grad.ravel() for name, grad in grads.items() if name.startswith("blocks.1.attn.")])
    assert trained[labels.index("1 attn")] == pytest.approx(np.linalg.norm(part), rel=1e-5)


def test_plot_uses_functions_of_submission(submission, solutions, tmp_path):
    code = "import numpy as np\ndef softmax(x, axis=-1, temperature=1.0):\n    return x * 0 + 0.125\n"
    folder = submission(softmax=code)
    with functions_in_folder(folder) as functions:
        fig = plots.draw(PLOTS["softmax-temperatures"], PlotInputs(functions))
    assert (bars(axes_of(fig)[0]) == 0.125).all()


def test_plot_command_writes_and_lists(model, tmp_path):
    folder = model.parent
    for name, out in (("attention-heads", "heads.svg"), ("positions", "positions.png")):
        done = invoke("plot", name, "--solution", "--out", tmp_path / out, cwd=folder)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert PLOTS[name].caption in done.stdout
        assert (tmp_path / out).stat().st_size > 5_000
    assert "<svg" in (tmp_path / "heads.svg").read_text("utf-8")
    listed = invoke("plot", cwd=folder).stdout
    assert all(name in listed for name in PLOTS)


STUBBED = "is not written yet"
BROKEN_SOFTMAX = {
    "stub": (None, STUBBED),
    "raises": ("def softmax(x, axis=-1, temperature=1.0):\n    return x[99]\n", "IndexError"),
    "another shape": ("def softmax(x, axis=-1, temperature=1.0):\n    return x[:2]\n", "shape (2,), expected (5,)"),
    "no array": ("def softmax(x, axis=-1, temperature=1.0):\n    return 'all'\n", "expected a numeric array"),
    "nan": ("def softmax(x, axis=-1, temperature=1.0):\n    return x * float('nan')\n", "infinite or nan"),
    "huge": ("def softmax(x, axis=-1, temperature=1.0):\n    return x * 0 + 1e300\n", "beyond 1e+100"),
    "no file": ("", STUBBED),
}


@pytest.mark.parametrize("case", BROKEN_SOFTMAX)
def test_failing_function_gives_one_line_error(submission, case):
    text, expected = BROKEN_SOFTMAX[case]
    folder = submission(softmax=make_stubs(bundled("solutions"), TRANSFORMER)["softmax.py"] if text is None else text)
    with functions_in_folder(folder) as functions, pytest.raises(UsageError) as caught:
        plots.draw(PLOTS["softmax-temperatures"], PlotInputs(functions))
    message = str(caught.value)
    assert expected in message and "\n" not in message and "headway check softmax.softmax" in message


@pytest.mark.parametrize("stoi", ["{'h': 10**400}", "{'h': 0.5}", "{}", "[]", "{'h': True}"])
def test_invalid_vocabulary_names_its_check(submission, stoi):
    folder = submission(tokenizer=f"def build_vocab(text, start=0):\n    return ['h'], {stoi}, {{}}\n")
    refused = pytest.raises(UsageError, match=r"headway check tokenizer\.build_vocab")
    with functions_in_folder(folder) as functions, refused:
        plots.draw(PLOTS["token-ids"], PlotInputs(functions, "h"))


@pytest.mark.parametrize("name", [name for name in PLOTS if PLOTS[name].needs])
def test_plot_of_stubs_names_missing_function(name, model):
    with functions_in_folder(bundled("assignments")) as functions, pytest.raises(FunctionNotWritten) as caught:
        plots.draw(PLOTS[name], PlotInputs(functions, None, lambda: load(model)))
    assert caught.value.function in PLOTS[name].needs


def test_every_plot_but_loss_needs_known_functions():
    assert [name for name, plot in PLOTS.items() if not plot.needs] == ["loss"]
    assert all(set(plot.needs) <= set(TRANSFORMER.functions) for plot in PLOTS.values())


def test_plot_command_wrong_usage_gives_one_line(model, tmp_path):
    (tmp_path / "file").write_text("no folder", "utf-8")
    wrong = {
        ("plot", "sofmax"): "Did you mean",
        ("plot", "attention-heads", "--solution"): "headway train",
        ("plot", "attention-heads", "--solution", "--checkpoint", model, "--text", "a"): "2 to 16",
        ("plot", "attention-heads", "--solution", "--checkpoint", model, "--text", "aß"): "'ß' is not in",
        ("plot", "attention-heads", "--solution", model, "--text", "aß"): "'ß' is not in",
        ("plot", "positions", "--solution", "--out", "x.gif"): "--out positions.png",
        ("plot", "attention-viewer", "--solution", "--checkpoint", model, "--out", "x.png"): ".html",
        ("plot", "token-ids", "--solution", "--text", ""): "1 to 80",
        ("plot", "positions", "--solution", "--out", tmp_path / "file" / "x.png"): "cannot write",
    }
    for arguments, expected in wrong.items():
        done = invoke(*arguments, cwd=tmp_path)
        assert done.returncode == 2, (arguments, done.stdout, done.stderr)
        assert expected in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_token_ids_accepts_any_text(inputs):
    """Characters with a meaning for matplotlib, control characters, characters without a glyph in the font."""
    fig = plots.draw(PLOTS["token-ids"], replace(inputs, text="$x_{1}$ %\\ \x1b[31m\u202e 漢 👍\u0000"))
    assert figure.to_bytes(fig, "svg")
    labels = [label.get_text() for label in axes_of(fig)[0].get_xticklabels()]
    assert "U+001B" in labels and "U+202E" in labels and "U+6F22" in labels and "$" in labels


def test_plot_without_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"install .*\"train\""):
        plots.draw(PLOTS["positions"], PlotInputs(None))


def test_show_falls_back_to_official_solution(capsys, official, model, monkeypatch):
    """`show` draws with the notebook's functions, or with the solution where they are stubs."""
    namespace = {"__name__": "__main__"}
    exec("def softmax(x, axis=-1, temperature=1.0):\n    return x * 0 + 0.5", namespace)
    shown = show("softmax-temperatures", namespace)
    assert (bars(axes_of(shown.figure)[0]) == 0.5).all()
    assert shown._repr_png_().startswith(b"\x89PNG")
    assert capsys.readouterr().out == ""
    exec("def softmax(x, axis=-1, temperature=1.0):\n    raise NotImplementedError('softmax.softmax')", namespace)
    shown = show("softmax-temperatures", namespace)
    expected = official("softmax").softmax(SCORES, temperature=TEMPERATURES[0])
    assert np.allclose(bars(axes_of(shown.figure)[0]), expected)
    assert "softmax.softmax is not" in capsys.readouterr().out
    assert show("attention-heads", {}, checkpoint="nowhere.safetensors") is None
    assert "headway train" in capsys.readouterr().out
    assert show("attention-viewer", {}) is None
