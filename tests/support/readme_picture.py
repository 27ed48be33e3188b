"""A recorded session in a terminal as an animated SVG for the README, and the reports of the site's start page.

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
from autograder.courses.transformer.common.figures.trained_model import measured
from autograder.documents import results
from autograder.engine import session
from autograder.report import check_report, wording
from autograder.report.page_report import page_report

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "data" / "report.svg"
EXAMPLE = ROOT / "autograder" / "web" / "site" / "static" / "example.json"
FUNCTION, SUBMISSION = "attention.attention", ROOT / "tests" / "submissions" / "class" / "bo"
# What the card of a report does not show on the start page.
HIDDEN = {"inputs": "", "also": [], "affected": "", "values": None, "location": None, "stage": "", "help": ""}
WRONG = "scores = q @ np.swapaxes(k, -1, -2)"
RIGHT = f"{WRONG} / d_k ** 0.5"
EDITS = ("", " / d_k ** 0.5", " / math.sqrt(d_k)", " / np.sqrt(d_k)", " / d_k")  # of the wrong line
START = f"""\
def attention(q, k, v, mask=None):
    d_k = q.shape[-1]
    {WRONG}
    hidden = is_hidden(mask, scores)
    weights = softmax(np.where(hidden, -1e30, scores), axis=-1)
    weights = np.where(hidden, 0, weights)
    return weights @ v, weights
"""
GIVEN = """
import math, numpy as np
from softmax import softmax
def is_hidden(mask, scores):
    if mask is not None and mask.dtype != bool: raise TypeError("mask must be boolean")
    return np.broadcast_to(mask is not None and ~mask, scores.shape)
"""

COLUMNS, LINE_HEIGHT, CHARACTER = 80, 24.4, 12.2  # in Rich's units
COMMAND = f"headway check {FUNCTION}"
# One session after the other, each with the command first. For those who want less motion, the first stands still.
SVG = """\
<svg viewBox="0 0 {width:.0f} {height:.0f}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A wrong attention function is checked, repaired and checked again</title>
<style>
text {{ font: 20px Menlo, Consolas, 'DejaVu Sans Mono', monospace }}
#session1 {{ opacity: 0 }}
{styles}
@media (prefers-reduced-motion: no-preference) {{
#session0 {{ animation: hide 15.5s step-end infinite }}
#session1 {{ animation: show 15.5s step-end infinite }}
#report0 {{ animation: first 15.5s step-end infinite }}
#report1 {{ animation: second 15.5s step-end infinite }}
@keyframes hide {{ 61% {{ opacity: 0 }} }}
@keyframes show {{ 61% {{ opacity: 1 }} }}
@keyframes first {{ 0% {{ opacity: 0 }} 17% {{ opacity: 1 }} }}
@keyframes second {{ 0% {{ opacity: 0 }} 79% {{ opacity: 1 }} }}
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


def document(code: str) -> dict[str, object]:
    """The result with a fixed duration, so that every run gives the same picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "attention.py").write_text(code + GIVEN, "utf-8")
        (folder / "softmax.py").write_bytes((SUBMISSION / "softmax.py").read_bytes())
        result = session.check("my-gpt", folder, session.Options(functions=(FUNCTION,)))
    result.seconds = 0.1
    return results.to_document(result, TRANSFORMER)


def example() -> str:
    """What a check says of each edit, and the map of the first report with the right values in it, as JSON."""
    codes = [START.replace(WRONG, WRONG + edit) for edit in EDITS]
    reports = [page_report(document(code)) for code in codes]
    for r in reports:
        r |= {"remaining": "", "waiting": [], "cards": [card | HIDDEN for card in r["cards"]]}
    right = document(START)
    for check in wording.all_checks(right):
        if wrong := check["error_map"]:
            check["error_map"] = wrong | {"yours": wrong["expected"], "rows": ["0" * len(row) for row in wrong["rows"]]}
    edits = [{"edit": e.strip(), "code": c, "report": r} for e, c, r in zip(EDITS, codes, reports, strict=True)]
    content = {"edits": edits, "map": page_report(right)["cards"][0]["map"], "samples": measured()["samples"]}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


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
    width = COLUMNS * CHARACTER + 20
    size = {"width": width, "height": height + 2, "inner_width": width - 2, "inner_height": height}
    return SVG.format(**size, styles=styles, sessions=sessions)


def _printed_lines(console: Console) -> int:
    return console.export_text(clear=False).count("\n")


def _print_session(console: Console, line: str) -> None:
    """Print what a terminal shows when a student looks at this line of the answer and checks the function."""
    text = START.replace(WRONG, line)
    console.print(Text.assemble(("$ ", "bold"), "grep -n 'scores = q' attention.py"))
    console.print(Text(f"{text.splitlines().index(f'    {line}') + 1}:    {line}"))
    console.print(Text.assemble(("$ ", "bold"), COMMAND))
    check_report.render(document(text), console)


def _group(number: int, lines: dict[int, str], start: int, stop: int) -> str:
    """Return the lines of a session: two and the command, then the report."""
    above, below = ("".join(lines.get(i, "") for i in range(*ends)) for ends in ((start, start + 3), (start + 3, stop)))
    place = f'transform="translate(0, {-start * LINE_HEIGHT:.1f})"'
    return f'<g id="session{number}" {place}>\n{above}<g id="report{number}">\n{below}</g>\n</g>\n'


if __name__ == "__main__":
    PICTURE.write_text(svg(), encoding="utf-8")
    EXAMPLE.write_text(example(), encoding="utf-8")
