"""A recorded session in a terminal as an animated SVG for the README, and its report for the site's start page.

A student's attention function is checked, repaired as the report says, and checked again: the reports are real, only
their durations are fixed, so that every run gives the same picture. `make picture` writes both files.
"""

import io
import json
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder import results
from autograder.courses.transformer import TRANSFORMER
from autograder.engine import session
from autograder.report import check_report
from autograder.report.page_report import page_report

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "data" / "report.svg"
EXAMPLE = ROOT / "autograder" / "site" / "example_report.json"
FUNCTION, SUBMISSION = "attention.attention", ROOT / "tests" / "submissions" / "class" / "bo"
SHOWN = ("function", "word", "mark", "points_text", "message", "inputs", "mistake", "values", "location")
SHOWN_MAP = ("rows", "at", "legend", "description")

WRONG = "scores = q @ np.swapaxes(k, -1, -2)"
RIGHT = "scores = q @ np.swapaxes(k, -1, -2) / k.shape[-1] ** 0.5"
ANSWER = f"""\
import numpy as np
from softmax import softmax


def attention(q, k, v, mask=None):
    {WRONG}
    if mask is not None:
        if mask.dtype != bool:
            raise TypeError("mask must be boolean")
        scores = np.where(np.broadcast_to(mask, scores.shape), scores, -1e30)
    weights = softmax(scores)
    if mask is not None:
        weights = np.where(mask, weights, 0.0)
    return weights @ v, weights
"""

# Seconds from the start of the animation: the command is typed, the report appears, the next session begins.
FIRST, SECOND = (0.8, 2.2, 9.5), (10.5, 11.9, 15.0)
COLUMNS, LINE_HEIGHT, CHARACTER = 80, 24.4, 12.2
# Without CSS animations, or for those who want less motion, the first session stands still.
SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A wrong attention function is checked, repaired and checked again</title>
<style>
text {{ font: 20px Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }}
.cover {{ fill: #292929; opacity: 0 }}
#second {{ opacity: 0 }}
{styles}
@media (prefers-reduced-motion: no-preference) {{
{animations}
}}
</style>
<rect x="1" y="1" width="{inner_width}" height="{inner_height}" rx="8" fill="#292929" stroke="#8b8b8b"/>
<circle cx="27" cy="22" r="7" fill="#ff5f57"/><circle cx="49" cy="22" r="7" fill="#febc2e"/>
<circle cx="71" cy="22" r="7" fill="#28c840"/>
<g transform="translate(12, 44)">
{sessions}
</g>
</svg>
"""


def document(folder: Path = SUBMISSION) -> dict[str, object]:
    """The result with a fixed duration, so that every run gives the same picture."""
    result = session.check("bo", folder, session.Options(functions=(FUNCTION,)))
    result.seconds = 0.1
    return results.to_document(result, TRANSFORMER)


def example() -> str:
    """What the start page shows of the first card of the report on a page, as JSON."""
    report = page_report(document())
    card = report["cards"][0]
    shown = {name: card[name] for name in SHOWN} | {"map": {name: card["map"][name] for name in SHOWN_MAP}}
    return json.dumps({"labels": report["labels"], "card": shown}, ensure_ascii=False, indent=1) + "\n"


def record(console: Console, line: str) -> None:
    """Print what a terminal shows when the answer with this line is looked at and checked."""
    text = ANSWER.replace(WRONG, line)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "attention.py").write_text(text, "utf-8")
        (folder / "softmax.py").write_bytes((SUBMISSION / "softmax.py").read_bytes())
        found = document(folder)
    number = text.splitlines().index(f"    {line}") + 1
    console.print(Text.assemble(("$ ", "bold"), "grep -n 'scores =' attention.py"))
    console.print(Text(f"{number}:    {line}"))
    console.print(Text.assemble(("$ ", "bold"), f"headway check {FUNCTION}"))
    check_report.render(found, console)


def keyframes(name: str, shown: list[tuple[float, float]], end: float) -> str:
    """Return the animation that shows an element in these spans of seconds."""
    steps = {0.0: 0} | {second: 1 for start, _ in shown for second in [start]} | {stop: 0 for _, stop in shown}
    frames = " ".join(f"{100 * second / end:.2f}% {{ opacity: {value} }}" for second, value in sorted(steps.items()))
    return f"@keyframes {name} {{ {frames} }}\n#{name} {{ animation: {name} {end}s step-end infinite }}"


if __name__ == "__main__":
    PICTURE.write_text(svg(), encoding="utf-8")
    EXAMPLE.write_text(example(), encoding="utf-8")
