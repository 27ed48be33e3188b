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

from autograder.courses.transformer import TRANSFORMER
from autograder.documents import results
from autograder.engine import session
from autograder.report import check_report
from autograder.report.page_report import page_report

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "data" / "report.svg"
EXAMPLE = ROOT / "autograder" / "web" / "site" / "example_report.json"
FUNCTION, SUBMISSION = "attention.attention", ROOT / "tests" / "submissions" / "class" / "bo"
SHOWN = ("function", "word", "points_text", "message", "inputs", "mistake", "values", "location")
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

# Seconds from the start: the command is being typed, it is complete, the report appears, all is cleared.
TIMES = ((0.8, 2.2, 2.6, 9.5), (10.5, 11.9, 12.3, 15.5))
COLUMNS, LINE_HEIGHT, CHARACTER = 80, 24.4, 12.2  # in Rich's units
COMMAND = f"headway check {FUNCTION}"
# Without animations, or for those who want less motion, the first report stands still.
SVG = """\
<svg viewBox="0 0 {width:.0f} {height:.0f}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A wrong attention function is checked, repaired and checked again</title>
<style>
text {{ font: 20px Menlo, Consolas, 'DejaVu Sans Mono', monospace }}
.cover {{ fill: #292929; opacity: 0; transform-box: fill-box; transform-origin: right }}
#session1 {{ opacity: 0 }}
{styles}
@media (prefers-reduced-motion: no-preference) {{
{animations}
}}
</style>
<rect x="1" y="1" width="{inner_width:.0f}" height="{inner_height:.0f}" rx="8" fill="#292929" stroke="#8b8b8b"/>
<circle cx="27" cy="22" r="7" fill="#ff5f57"/>
<circle cx="49" cy="22" r="7" fill="#febc2e"/>
<circle cx="71" cy="22" r="7" fill="#28c840"/>
<g transform="translate(10, 40)">
{sessions}</g>
</svg>
"""


def document(folder: Path = SUBMISSION) -> dict[str, object]:
    """The result with a fixed duration, so that every run gives the same picture."""
    result = session.check("my-gpt", folder, session.Options(functions=(FUNCTION,)))
    result.seconds = 0.1
    return results.to_document(result, TRANSFORMER)


def example() -> str:
    """What the start page shows of the first card of the report on a page, as JSON."""
    report = page_report(document())
    card = report["cards"][0]
    shown = {name: card[name] for name in SHOWN} | {"map": {name: card["map"][name] for name in SHOWN_MAP}}
    return json.dumps({"labels": report["labels"], "card": shown}, ensure_ascii=False, indent=1) + "\n"


def svg() -> str:
    """Both sessions, one after the other."""
    console = Console(file=io.StringIO(), record=True, width=COLUMNS, color_system="truecolor", force_terminal=True)
    starts = []
    for line in (WRONG, RIGHT):
        starts.append(_printed_lines(console))
        _print_session(console, line)
    end = _printed_lines(console)
    styles, _, matrix = console.export_svg(code_format="{styles}\f{matrix}", unique_id="r").partition("\f")
    lines: dict[int, str] = {}
    drawn = re.findall(r'<text ([^>]*) clip-path="url\(#r-line-(\d+)\)">(.*?)</text>', matrix, re.S)
    for attributes, number, text in drawn:
        if text.strip():
            lines[int(number)] = lines.get(int(number), "") + f"<text {attributes}>{text}</text>\n"
    spans = enumerate(zip(starts, [starts[1], end], strict=True))
    sessions = "".join(_group(n, lines, start, stop) for n, (start, stop) in spans)
    height = max(starts[1] - starts[0], end - starts[1]) * LINE_HEIGHT + 52
    width, animations = COLUMNS * CHARACTER + 20, "\n".join(_animations(n, *times) for n, times in enumerate(TIMES))
    return SVG.format(
        width=width, height=height + 2, inner_width=width - 2, inner_height=height, styles=styles,
        animations=animations, sessions=sessions,
    )  # fmt: skip


def _printed_lines(console: Console) -> int:
    return console.export_text(clear=False).count("\n")


def _print_session(console: Console, line: str) -> None:
    """Print what a terminal shows when a student looks at this line of the answer and checks the function."""
    text = ANSWER.replace(WRONG, line)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "attention.py").write_text(text, "utf-8")
        (folder / "softmax.py").write_bytes((SUBMISSION / "softmax.py").read_bytes())
        found = document(folder)
    console.print(Text.assemble(("$ ", "bold"), "grep -n 'scores = q' attention.py"))
    console.print(Text(f"{text.splitlines().index(f'    {line}') + 1}:    {line}"))
    console.print(Text.assemble(("$ ", "bold"), COMMAND))
    check_report.render(found, console)


def _group(number: int, lines: dict[int, str], start: int, stop: int) -> str:
    """Return the lines of a session: two and the command, which is covered while it is typed, then the report."""
    report = start + 3
    x, y, width = 2 * CHARACTER, (report - 1) * LINE_HEIGHT, len(COMMAND) * CHARACTER
    size = f'x="{x}" y="{y:.1f}" width="{width:.1f}" height="{LINE_HEIGHT + 3}"'
    above, below = ("".join(lines.get(i, "") for i in part) for part in (range(start, report), range(report, stop)))
    return (
        f'<g id="session{number}" transform="translate(0, {-start * LINE_HEIGHT:.1f})">\n{above}'
        f'<rect class="cover" id="cover{number}" {size}/>\n<g id="report{number}">\n{below}</g>\n</g>\n'
    )


def _animations(number: int, typing: float, typed: float, reported: float, cleared: float) -> str:
    """Return the animations of a session, its command and its report."""
    seconds = TIMES[-1][-1]

    def at(second: float) -> str:
        return f"{100 * second / seconds:.1f}%"

    begin = TIMES[number - 1][-1] if number else 0.0
    steps, gone = f"animation-timing-function: steps({len(COMMAND)})", "opacity: 1; transform: scaleX(0)"
    cover = {0.0: "opacity: 1", typing: f"opacity: 1; {steps}", typed: gone, seconds: gone}
    frames = {
        f"session{number}": ("step-end", {0.0: "opacity: 0", begin: "opacity: 1", cleared: "opacity: 0"}),
        f"report{number}": ("step-end", {0.0: "opacity: 0", reported: "opacity: 1"}),
        f"cover{number}": ("linear", cover),
    }
    return "\n".join(
        f"@keyframes {name} {{ {' '.join(f'{at(second)} {{ {rule} }}' for second, rule in rules.items())} }}\n"
        f"#{name} {{ animation: {name} {seconds}s {timing} infinite }}"
        for name, (timing, rules) in frames.items()
    )


if __name__ == "__main__":
    PICTURE.write_text(svg(), encoding="utf-8")
    EXAMPLE.write_text(example(), encoding="utf-8")
