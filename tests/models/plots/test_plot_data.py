"""Plots as data for a page: the numbers of the student's functions, ticks inside the axes, one line for each error."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from support.raising import raising

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.attention.plots import attention
from autograder.courses.transformer.softmax.plots import SCORES, TEMPERATURES
from autograder.courses.transformer.tokenizer.plots import TEXT
from autograder.drawing import panels
from autograder.drawing.function_caller import FunctionCaller
from autograder.errors import Blocked, Mismatch, NotStarted, UsageError
from autograder.models import plot_data
from autograder.models.plot_data import PLOTS, functions_in_folder
from autograder.sandbox.in_process import InProcessWorkers

NAMES = [name for name, plot in PLOTS.items() if not plot.trained]


@pytest.fixture(scope="module")
def call():
    """Calls the functions of the official solution."""
    with functions_in_folder(bundled("solutions")) as functions:
        yield lambda name, args, kwargs: functions.call(name, *args, **kwargs)


@pytest.fixture(scope="module")
def drawn(call):
    return {name: plot_data.draw(name, FunctionCaller(call)) for name in NAMES}


def values(plot, panel=0, series=0):
    return plot["panels"][panel]["series"][series]["y"]


def test_every_plot_that_needs_no_model_is_listed_with_its_assignment():
    listed = {entry["name"]: entry for module in TRANSFORMER.modules for entry in plot_data.plots_of(module)}
    assert sorted(listed) == sorted(NAMES)
    for name, entry in listed.items():
        assert entry == {"name": name, "title": PLOTS[name].title, "functions": list(PLOTS[name].needs)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["token-ids", "attention-mask", "activations"])
def test_plot_in_this_interpreter_is_the_same(drawn, name):
    """As in a browser, which has no processes."""
    with plot_data.functions_in_folder(bundled("solutions"), InProcessWorkers) as functions:
        assert plot_data.draw(name, functions) == drawn[name]


@pytest.mark.parametrize("name", NAMES)
def test_plot_is_json_with_a_title_a_note_and_labeled_axes_around_every_value(drawn, name):
    plot = drawn[name]
    assert json.loads(json.dumps(plot, allow_nan=False)) == plot
    assert plot["title"] == PLOTS[name].title and plot["note"] == PLOTS[name].caption
    for panel in plot["panels"]:
        assert panel["x"]["label"] and panel["y"]["label"]
        for axis in filter(None, (panel["x"], panel["y"], panel.get("scale"))):
            assert axis["low"] < axis["high"]
            assert 1 <= len(axis["ticks"]) <= 30
            for tick in axis["ticks"]:
                assert axis["low"] - 1e-9 <= tick["at"] <= axis["high"] + 1e-9 and tick["label"]
        for series in panel.get("series", ()):
            assert len(series["x"]) == len(series["y"])
            for axis, numbers in ((panel["x"], series["x"]), (panel["y"], series["y"])):
                margin = 1e-5 * (axis["high"] - axis["low"])  # numbers are rounded to 6 digits
                finite = [number for number in numbers if number is not None]
                assert axis["low"] - margin <= min(finite) and max(finite) <= axis["high"] + margin


def test_plots_show_what_the_functions_return(drawn, call):
    softmax = call("softmax.softmax", (SCORES,), {"temperature": TEMPERATURES[0]})
    assert np.allclose(values(drawn["softmax-temperatures"]), softmax, rtol=1e-5)
    _, stoi, _ = call("tokenizer.build_vocab", (TEXT,), {})
    assert values(drawn["token-ids"]) == call("tokenizer.encode", (TEXT, stoi), {}).tolist()
    scores, masked, weights, out = attention(FunctionCaller(call))
    bars = [panel["series"][0]["y"] for panel in drawn["attention-queries"]["panels"]]
    assert np.allclose(bars, weights, rtol=1e-5)
    shown = [panel["values"] for panel in drawn["attention-mask"]["panels"]]
    assert np.allclose(shown[0], scores, rtol=1e-3) and np.allclose(shown[3], out, rtol=1e-3)
    assert np.allclose(shown[2], weights, rtol=1e-3)
    assert [[value is None for value in row] for row in shown[1]] == np.isinf(masked).tolist()
    assert drawn["attention-mask"]["panels"][1]["texts"][0][1] == "−∞"


def test_naive_softmax_ends_where_its_band_begins(drawn):
    for panel in drawn["softmax-overflow"]["panels"][1:]:
        [[start, _]] = panel["marks"][0]["x"]
        series = panel["series"][0]
        for x, y in zip(series["x"], series["y"], strict=True):
            assert (y is None) == (x > start)


@pytest.mark.parametrize(("error", "expected"), [
    (NotStarted("softmax is not written yet"), "The plot needs softmax.softmax, which is not written yet."),
    (Blocked("plot", "tokenizer.encode"), "The plot needs tokenizer.encode, which is not written yet."),
    (Mismatch("softmax raised ValueError"), "softmax raised ValueError. Check softmax.softmax first."),
])  # fmt: skip
def test_error_of_a_function_is_one_line(error, expected):
    with pytest.raises(UsageError) as raised:
        plot_data.draw("softmax-temperatures", FunctionCaller(raising(error)))
    assert str(raised.value) == expected


@pytest.mark.parametrize("result", [None, "two\n\u202elines", np.zeros(3), np.full(5, np.nan), np.full(5, 1e200)])
def test_result_that_cannot_be_drawn_is_one_line(result):
    with pytest.raises(UsageError) as raised:
        plot_data.draw("softmax-temperatures", FunctionCaller(lambda name, args, kwargs: result))
    assert "softmax.softmax" in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("value", [0.0, -7.5, 1e100, 1e-300])
def test_wrong_numbers_can_be_drawn(value):
    """Functions that return one and the same number everywhere; for a mask of 0 nothing may be attended to."""

    def constant(name, args, kwargs):
        if name == "attention.causal_mask":
            return np.full((args[0], args[0]), value)
        if name == "attention.attention":
            return np.full(args[2].shape, value), np.full((5, 5), value)
        if name == "embeddings.sinusoidal_positions":
            return np.full(args, value)
        return value if name == "training.learning_rate" else np.full(args[0].shape, value)

    for name in set(NAMES) - {"token-ids"}:
        plot = plot_data.draw(name, FunctionCaller(constant))
        assert json.dumps(plot, allow_nan=False)
        assert all(panel["y"]["low"] < panel["y"]["high"] and panel["x"]["ticks"] for panel in plot["panels"])


def test_plot_of_a_trained_model_and_unknown_plot_raise():
    for name in ("loss", "no-such-plot"):
        with pytest.raises(UsageError):
            plot_data.draw(name, FunctionCaller(lambda name, args, kwargs: None))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-4, 4), (0, 1e-3), (0, 219), (-3.7, 12.2), (5, 5), (1e100, 1e100)])
def test_round_ticks_are_few_and_inside(low, high):
    axis = panels.axis("x", low, high)
    places = [tick["at"] for tick in axis["ticks"]]
    assert 3 <= len(places) <= 7
    assert all(math.isfinite(place) and axis["low"] <= place <= axis["high"] * (1 + 1e-9) for place in places)
    assert len({tick["label"] for tick in axis["ticks"]}) == len(places)


@pytest.mark.slow
def test_plots_load_without_matplotlib_and_trained_models():
    unwanted = {"matplotlib", "rich", "pytest", "autograder.models.training"}
    code = f"import sys, autograder.models.plot_data; assert not {unwanted} & {{*sys.modules}}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
