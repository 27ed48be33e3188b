"""The plots that need no trained model, as data: what the student's own functions compute, with axes in words.

`static/plot.js` draws them on a lesson page, where there is no matplotlib, and `plots/panels.py` for `headway plot`.
"""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from autograder.core.text import clean
from autograder.course import Plot
from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.attention.figures import LENGTH, WIDTH, WORDS, example
from autograder.courses.transformer.embeddings.figures import BASES, LONG_TEXT, wavelengths
from autograder.drawing.figure import WHITE_SPACE
from autograder.drawing.function_caller import Array, FunctionCaller, FunctionNotWritten, NotDrawable, drawable
from autograder.errors import UsageError
from autograder.models.plot_data import panels
from autograder.models.plot_data.catalog import find_plot
from autograder.models.plot_data.function_calls import functions_in_folder
from autograder.models.plot_data.panels import Axis, Marks, Panel, Style, Tick
from autograder.sandbox.process import start_workers
from autograder.sandbox.workers import StartWorkers

TEXT = "hello world, hello there"
LONGEST_TEXT = 80
SCORES = np.array([1.0, 2.0, 3.0, 2.5, -0.5])
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 10.0)
LARGEST_SCORES = np.concatenate([np.arange(0.0, 120.0, 2.0), np.arange(120.0, 1001.0, 8.0)])
NORM_WIDTH = 24
VECTOR_KINDS = ("small", "large", "shifted", "one outlier")
POSITIONS, POSITION_WIDTH = 64, 48
WAVES = (0, 8, 16, 24)  # even columns: sines
WARMUPS = (10, 50, 0)
STEPS, LARGEST_RATE = 200, 1e-3


class PlotData(TypedDict):
    """A plot: its title, what to look for, and panels, of which `columns` stand side by side where there is room."""

    title: str
    note: str
    columns: int
    panels: list[Panel]


def plots_of(module: str) -> list[dict[str, Any]]:
    """Return the plots of an assignment that need no trained model: name, title, and functions that compute it."""
    plots = (plot for plot in TRANSFORMER.modules[module].plots if plot.name in _PANELS)
    return [{"name": plot.name, "title": plot.title, "functions": [*plot.needs]} for plot in plots]


def draw(name: str, functions: FunctionCaller) -> PlotData:
    """Return a plot that these functions compute.

    Raises UsageError, in one line, if there is no such plot, or if a function that it needs is not written or wrong.
    """
    plot = _find(name)
    try:
        columns, drawn = panels_of(name, functions)
    except FunctionNotWritten as error:
        raise UsageError(f"The plot needs {error.function}, which is not written yet.") from None
    except NotDrawable as error:
        problem = clean(error.problem, 300)
        raise UsageError(f"{problem}. Check {error.function} first.") from None
    return {"title": plot.title, "note": plot.caption, "columns": columns, "panels": drawn}


def panels_of(name: str, functions: FunctionCaller, text: str | None = None) -> tuple[int, list[Panel]]:
    """Return the number of columns and the panels of a plot; `text` is what is shown by the one that shows a text."""
    columns, compute = _PANELS[name]
    return columns, _token_ids(functions, text) if name == "token-ids" else compute(functions)


def draw_from_folder(name: str, folder: Path, start: StartWorkers = start_workers) -> PlotData:
    """Return a plot that the functions of a submission compute, run by the workers that `start` makes."""
    _find(name)  # before anything runs
    with functions_in_folder(folder, start) as functions:
        return draw(name, functions)


def _find(name: str) -> Plot:
    plot = find_plot(name)
    if name not in _PANELS:
        raise UsageError(f"{name} shows a trained model. Draw it in a terminal: headway plot {name}")
    return plot


def _token_ids(functions: FunctionCaller, text: str | None = None) -> list[Panel]:
    text = TEXT if text is None else text
    if not 1 <= len(text) <= LONGEST_TEXT:
        raise UsageError(f"the text has {len(text)} characters; give 1 to {LONGEST_TEXT}: --text TEXT")
    chars, stoi = _vocabulary(functions.values("tokenizer.build_vocab", 3, text))
    ids = functions.array("tokenizer.encode", (len(text),), text, stoi)
    names = {stoi[char]: f"{_visible(char)} {stoi[char]}" for char in chars}
    known = sorted(names)
    x = panels.categories("position in the text (character)", [*map(_visible, text)])
    ticks: list[Tick] = [{"at": index, "label": names[index]} for index in known]
    y = panels.spanning("token id (character)", min(known) - 0.5, max(known) + 0.5, ids)
    return [panels.lines("", x, {**y, "ticks": ticks}, panels.series("", range(len(text)), ids, style="dots"))]


def _vocabulary(values: tuple[Any, ...]) -> tuple[list[str], dict[str, int]]:
    chars, stoi, _ = values
    lists = isinstance(chars, list) and len(chars) > 0 and isinstance(stoi, dict)
    known = lists and all(isinstance(char, str) and len(char) == 1 and type(stoi.get(char)) is int for char in chars)
    if not known or not all(0 <= stoi[char] < 1_000_000 for char in chars):
        name = "tokenizer.build_vocab"
        raise NotDrawable(name, f"{name} did not return a list of characters and their ids")
    return chars, stoi


def _temperatures(functions: FunctionCaller) -> list[Panel]:
    labels = [f"{score:g}".replace("-", "−") for score in SCORES.tolist()]
    rows = [functions.array("softmax.softmax", SCORES.shape, SCORES, temperature=heat) for heat in TEMPERATURES]
    y = panels.spanning("probability", 0, 1, *rows)
    return [
        panels.bars(f"temperature {temperature:g}", "score", labels, y, row)
        for temperature, row in zip(TEMPERATURES, rows, strict=True)
    ]


def _overflow(functions: FunctionCaller) -> list[Panel]:
    """Return the probability of the largest of the scores (s, s - 1, s - 2) for increasing s, and by naive formulas."""
    rows = LARGEST_SCORES[:, None] - np.arange(3.0)  # (N, 3)
    yours = functions.array("softmax.softmax", rows.shape, rows)[:, 0]
    end = float(LARGEST_SCORES[-1])
    x = panels.axis("s, the largest of the scores s, s − 1, s − 2", 0, end)
    y = panels.spanning("probability", 0, 1, yours)
    drawn = [panels.lines("softmax.softmax, float64", x, y, panels.series("", LARGEST_SCORES, yours, color=2))]
    dtypes: tuple[np.dtype[Any], ...] = np.dtype(np.float64), np.dtype(np.float32)
    for color, dtype in enumerate(dtypes):
        with np.errstate(over="ignore", invalid="ignore"):  # the plot shows this overflow
            powers = np.exp(rows.astype(dtype))
            naive = panels.series("", LARGEST_SCORES, powers[:, 0] / powers.sum(axis=-1), color=color)
        panel = panels.lines(f"exp(x) / Σ exp(x), {dtype.name}", x, y, naive)
        start = float(np.log(np.finfo(dtype).max))
        label = f"from {start:.1f} on, exp overflows: nan"
        drawn.append({**panel, "marks": [{"kind": "band", "label": label, "x": [[start, end]], "y": []}]})
    return drawn


def _positions(functions: FunctionCaller) -> list[Panel]:
    shape = length, width = POSITIONS, POSITION_WIDTH
    table = functions.array("embeddings.sinusoidal_positions", shape, *shape)
    waves = [
        panels.series(f"column {column}", range(length), table[:, column], color=color)
        for color, column in enumerate(WAVES)
    ]
    waves.append(panels.series("column 1 (cosine)", range(length), table[:, 1], color=0, style="dotted"))
    lengths = [
        panels.series(f"base {base:,}", *wavelengths(width, base), color=color)
        for base, color in zip(BASES, (1, 0, 2), strict=True)
    ]
    highest = max(value for series in lengths for value in series["y"] if value is not None)
    lengths.append(panels.series(f"{LONG_TEXT:,} positions", [0, width - 2], [LONG_TEXT] * 2, color=4, style="dotted"))
    position, feature = panels.axis("position", 0, length - 1), panels.axis("column (feature)", 0, width - 2)
    wave_height = panels.spanning("value", -1, 1, *(table[:, column] for column in (*WAVES, 1)))
    dot_products = panels.Scale("dot product of two rows")
    wave_length = panels.log_axis("wavelength (positions)", 1, highest)
    return [
        panels.heatmap("the table", "column (feature)", "position", table, panels.Scale("value", signed=True)),
        panels.lines("some columns as waves", position, wave_height, *waves),
        panels.heatmap("similarity: dot products", "position", "position", table @ table.T, dot_products),
        panels.lines("why 10000: the longest wave", feature, wave_length, *lengths),
    ]


def _attention(functions: FunctionCaller) -> tuple[Array, Array, Array, Array]:
    """Return scores, masked scores and weights of the example, (T, T), and its output, (T, d_v)."""
    q, k, v = example()
    mask = functions.array("attention.causal_mask", (LENGTH, LENGTH), LENGTH)
    values = functions.values("attention.attention", 2, q, k, v, mask=mask.astype(bool))
    out = drawable(values[0], (LENGTH, WIDTH), "attention.attention")
    weights = drawable(values[1], (LENGTH, LENGTH), "attention.attention")
    scores = q @ k.T / math.sqrt(WIDTH)
    return scores, np.where(mask > 0, scores, -np.inf), weights, out


def _attention_steps(functions: FunctionCaller) -> list[Panel]:
    scores, masked, weights, out = _attention(functions)
    largest = float(np.abs(scores).max())
    words = partial(panels.heatmap, y_names=WORDS, texts=True)
    scale, shares = panels.Scale("score", True, (-largest, largest)), panels.Scale("weight", limits=(0.0, 1.0))
    return [
        words("scores: q kᵀ / √d_k", "key", "query", scores, scale, x_names=WORDS),
        words("after the mask", "key", "query", masked, scale, x_names=WORDS),
        words("weights: softmax of each row", "key", "query", weights, shares, x_names=WORDS),
        words("output: weights times v", "feature", "query", out, panels.Scale("value", signed=True)),
    ]


def _attention_queries(functions: FunctionCaller) -> list[Panel]:
    _, _, weights, _ = _attention(functions)
    y = panels.spanning("attention weight", 0, 1, weights)
    return [panels.bars(f"query “{word}”", "key", WORDS, y, row) for word, row in zip(WORDS, weights, strict=True)]


def vectors() -> Array:
    """Return four vectors that need normalizing for different reasons, (4, D)."""
    x = np.random.default_rng(6).normal(size=(len(VECTOR_KINDS), NORM_WIDTH))
    x *= np.array([0.3, 4.0, 1.0, 1.0])[:, None]
    x[2] += 8.0
    x[3, 5] = 12.0
    return x


def _layernorm(functions: FunctionCaller) -> list[Panel]:
    titles = ("before", "after, with γ = 1 and β = 0")
    x = vectors()
    values = x, functions.array("layernorm.layernorm", x.shape, x, np.ones(NORM_WIDTH), np.zeros(NORM_WIDTH))
    low, high = min(float(part.min()) for part in values), max(float(part.max()) for part in values)
    margin = 0.03 * (high - low)  # for the dots at the ends
    drawn: list[Panel] = []
    for title, part in zip(titles, values, strict=True):
        axis = panels.axis("value of a feature", low - margin, high + margin)
        y: Axis = {**panels.categories("vector", VECTOR_KINDS), "low": -0.6, "reversed": True}
        dots = [panels.series("", row, [number] * len(row), style="dots") for number, row in enumerate(part)]
        means = [(float(row.mean()), float(row.std())) for row in part]
        marks: Marks = {
            "kind": "range",
            "label": "mean ± standard deviation",
            "x": [[mean - deviation, mean + deviation, mean] for mean, deviation in means],
            "y": [number - 0.3 for number in range(len(part))],
        }
        drawn.append({**panels.lines(title, axis, y, *dots), "marks": [marks]})
    return drawn


def _activations(functions: FunctionCaller) -> list[Panel]:
    """Return both functions, and their slopes: gradients for an upstream gradient of 1."""
    x = np.linspace(-4.0, 4.0, 401)
    names = "relu", "gelu"
    styles: tuple[Style, ...] = ("dashed", "line")
    drawn: list[Panel] = []
    values = [functions.array(f"ffn.{name}", x.shape, x) for name in names]
    slopes = [functions.array(f"ffn.{name}_backward", x.shape, np.ones_like(x), x) for name in names]
    labeled = ("the functions", "after the activation", values), ("their derivatives", "slope", slopes)
    for title, label, parts in labeled:
        low, high = min(float(part.min()) for part in parts), max(float(part.max()) for part in parts)
        series = [
            panels.series(name, x, part, color=color, style=style)
            for name, part, color, style in zip(("ReLU", "GELU"), parts, (1, 0), styles, strict=True)
        ]
        axes = panels.axis("x, before the activation", float(x[0]), float(x[-1])), panels.axis(label, low, high)
        drawn.append(panels.lines(title, *axes, *series))
    return drawn


def _learning_rate(functions: FunctionCaller) -> list[Panel]:
    def rate(step: int, warmup: int) -> Array:
        return functions.array("training.learning_rate", (), step, LARGEST_RATE, LARGEST_RATE / 10, warmup, STEPS)

    steps = range(STEPS + 20)  # a few more than the schedule has
    rows = [np.array([rate(step, warmup) for step in steps]) for warmup in WARMUPS]
    drawn = [
        panels.series(f"{warmup} steps of warm-up", steps, row, color=color)
        for color, (warmup, row) in enumerate(zip(WARMUPS, rows, strict=True))
    ]
    x, y = panels.axis("step", 0, steps[-1]), panels.spanning("learning rate", 0, LARGEST_RATE, *rows)
    return [panels.lines("", x, y, *drawn)]


# The number of columns and the panels of each plot.
_PANELS: dict[str, tuple[int, Callable[[FunctionCaller], list[Panel]]]] = {
    "token-ids": (1, _token_ids),
    "softmax-temperatures": (5, _temperatures),
    "softmax-overflow": (1, _overflow),
    "positions": (2, _positions),
    "attention-mask": (2, _attention_steps),
    "attention-queries": (5, _attention_queries),
    "layernorm": (2, _layernorm),
    "activations": (2, _activations),
    "learning-rate": (1, _learning_rate),
}


def _visible(character: str) -> str:
    """Return a character as a label: a symbol for white space, its code point if it is not printable."""
    if character in WHITE_SPACE:
        return WHITE_SPACE[character]
    return character if character.isprintable() and clean(character) else f"U+{ord(character):04X}"
