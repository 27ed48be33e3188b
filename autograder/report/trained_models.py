"""Trained models: a table of runs, and the card of one, to share: what it is, how it learned, who wrote its code."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from autograder.core.text import code_block
from autograder.documents.records import LossPoint, ModelSummary
from autograder.report.loss_curve import curve_lines
from autograder.report.styles import grid

NARROW = 76  # columns of a terminal; below, each run is a line
CURVE_COLUMNS, CURVE_ROWS = 72, 12
SVG_WIDTH, SVG_HEIGHT, LEFT, BOTTOM = 640, 260, 44, 28
STYLE = """\
:root { color-scheme: light dark; --line: #c9ced6; --dim: #59616d; --training: #0072b2; --validation: #b35900; }
@media (prefers-color-scheme: dark) {
  :root { --line: #444c56; --dim: #a3acb8; --training: #6cb6ff; --validation: #f0883e; }
}
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem 1.5rem .15rem 0; vertical-align: top; }
th { font-weight: normal; color: var(--dim); white-space: nowrap; }
pre { border: 1px solid var(--line); padding: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
footer, figcaption { color: var(--dim); font-size: .9rem; } figure { margin: 0; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: var(--dim); }
"""


def render_runs(runs: Sequence[ModelSummary], console: Console, *, plain: bool = False) -> None:
    """Print the runs: file, preset and text, steps, losses, time, and the settings that are not the preset's."""
    if plain or console.width < NARROW:
        for run in runs:
            console.print(Text(_line(run)))
        return
    table = grid("left", "fold", "right", "right", "right", "right")
    titles = "file", "preset and text", "steps", "training", "validation", "time"
    table.add_row(*(Text(title, "dim") for title in titles))
    for run in runs:
        about = Text(run.about)
        for setting in run.changed_settings:
            about.append(f" {setting}", "dim")
        numbers = (_steps(run), _loss(run.loss), _loss(run.validation), training_time(run.seconds))
        table.add_row(Text(run.name, "bold"), about, *map(Text, numbers))
    console.print(table)


def _line(run: ModelSummary) -> str:
    about = " ".join((run.about, *run.changed_settings))
    parts = [f"{_steps(run)} steps"]
    parts += [f"training {_loss(run.loss)}"] if run.loss is not None else []
    parts += [f"validation {_loss(run.validation)}"] if run.validation is not None else []
    parts += [training_time(run.seconds)] if run.seconds is not None else []
    return f"{run.name}: {about}: {', '.join(parts)}"


def _steps(run: ModelSummary) -> str:
    if run.step is None:
        return ""
    return f"{run.step:,}" if run.steps is None or run.step >= run.steps else f"{run.step:,} of {run.steps:,}"


def _loss(loss: float | None) -> str:
    return "" if loss is None else f"{loss:.4f}"


def training_time(seconds: float | None) -> str:
    """Return how long training took: "14 s", "2 min 5 s", "1 h 20 min"; empty if it is unknown."""
    if seconds is None:
        return ""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@dataclass(frozen=True)
class ModelCard:
    """The content of the card; all texts are plain."""

    title: str
    summary: str  # one or two sentences
    facts: Sequence[tuple[str, str]]  # the model, its text and its training, as name and value
    losses: Sequence[tuple[str, float]]  # in nats per character; the model's own and those to compare them with
    curve: Sequence[LossPoint]
    steps: int
    sample: str
    sample_note: str  # how the sample was drawn
    code: Sequence[str]  # sentences about whose code trained the model
    made_with: str


def to_markdown(card: ModelCard) -> str:
    """Return the card as Markdown, with the loss curve in ASCII."""
    parts = [f"# {_plain(card.title)}", _plain(card.summary), "## The model", _markdown_table(card.facts)]
    parts += ["## What it learned", _markdown_table([(name, f"{loss:.3f}") for name, loss in card.losses])]
    parts.append("Losses are in nats per character: the lower, the better the next character is predicted.")
    if curve := curve_lines(card.curve, card.steps, CURVE_COLUMNS, CURVE_ROWS, ascii_only=True):
        parts.append(code_block("\n".join(line.plain.rstrip() for line in curve), "text"))
    parts += ["## What it writes", code_block(card.sample, "text"), _plain(card.sample_note)]
    parts += ["## Who wrote its code", "\n".join(f"- {_plain(sentence)}" for sentence in card.code), card.made_with]
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """Return a text in which Markdown finds no markup."""
    return "".join(f"\\{character}" if character in "\\`*_[]<>#|" else character for character in text)


def _markdown_table(rows: Sequence[tuple[str, str]]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {_plain(name)} | {_plain(value)} |" for name, value in rows)])


def to_html(card: ModelCard) -> str:
    """Return the card as a page without scripts that loads nothing."""
    title, escape = html.escape(card.title), html.escape
    code = "".join(f"<li>{escape(sentence)}</li>" for sentence in card.code)
    losses = _html_table([(name, f"{loss:.3f}") for name, loss in card.losses])
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p>{escape(card.summary)}</p>
<h2>The model</h2>
{_html_table(card.facts)}
<h2>What it learned</h2>
{losses}
<p>Losses are in nats per character: the lower, the better the next character is predicted.</p>
{_svg_curve(card)}
<h2>What it writes</h2>
<pre>{escape(card.sample)}</pre>
<p>{escape(card.sample_note)}</p>
<h2>Who wrote its code</h2>
<ul>{code}</ul>
<footer>{escape(card.made_with)}</footer>
</body>
</html>
"""


def _html_table(rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>\n" for name, value in rows)
    return f"<table>\n{cells}</table>"


def _svg_curve(card: ModelCard) -> str:
    values = [point.loss for point in card.curve]
    measured = [(point.step, point.validation) for point in card.curve if point.validation is not None]
    values += [loss for _, loss in measured]
    if len(card.curve) < 2:
        return ""
    low, high = min(values), max(values)
    span, top = (high - low) or 1.0, 10

    def place(step: int, loss: float) -> tuple[float, float]:
        x = LEFT + (SVG_WIDTH - LEFT - 10) * step / card.steps
        return round(x, 1), round(top + (SVG_HEIGHT - BOTTOM - top) * (high - loss) / span, 1)

    line = " ".join(f"{x},{y}" for x, y in (place(point.step, point.loss) for point in card.curve))
    marks = "".join(f'<circle cx="{x}" cy="{y}" r="4" fill="var(--validation)"/>' for x, y in
                    (place(step, loss) for step, loss in measured))  # fmt: skip
    floor, right = SVG_HEIGHT - BOTTOM, SVG_WIDTH - 10
    label = f"The training loss falls from {card.curve[0].loss:.2f} to {card.curve[-1].loss:.2f} in {card.steps} steps."
    return f"""<figure>
<svg viewBox="0 0 {SVG_WIDTH} {SVG_HEIGHT}" role="img" aria-label="{label}">
<path d="M{LEFT} {top}V{floor}H{right}" fill="none" stroke="var(--line)"/>
<polyline points="{line}" fill="none" stroke="var(--training)" stroke-width="2"/>{marks}
<text x="{LEFT - 6}" y="{top + 8}" text-anchor="end">{high:.2f}</text>
<text x="{LEFT - 6}" y="{floor}" text-anchor="end">{low:.2f}</text>
<text x="{LEFT}" y="{SVG_HEIGHT - 8}">0</text>
<text x="{right}" y="{SVG_HEIGHT - 8}" text-anchor="end">{card.steps:,} steps</text>
</svg>
<figcaption>Line: loss on the training text. Points: loss on text that the model was not trained on.</figcaption>
</figure>"""
