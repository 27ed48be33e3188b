"""The report of `headway check` on a real submission: as SVG for the README, and as data for the site's start page.

`make picture` writes both.
"""

import io
import json
from pathlib import Path

from rich.console import Console

from autograder import results
from autograder.courses.transformer import TRANSFORMER
from autograder.engine import session
from autograder.report import check_report
from autograder.report.page_report import page_report

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "data" / "report.svg"
EXAMPLE = ROOT / "autograder" / "site" / "example_report.json"
FUNCTION, SUBMISSION = "attention.attention", "bo"
SHOWN = ("function", "word", "mark", "points_text", "message", "inputs", "mistake", "values", "location")
SHOWN_MAP = ("rows", "at", "legend", "description")


def document() -> dict[str, object]:
    """The result with a fixed duration, so that every run gives the same picture."""
    options = session.Options(functions=(FUNCTION,))
    result = session.check(SUBMISSION, ROOT / "tests" / "submissions" / "class" / SUBMISSION, options)
    result.seconds = 0.1
    return results.to_document(result, TRANSFORMER)


def example() -> str:
    """What the start page shows of the first card of the report on a page, as JSON."""
    report = page_report(document())
    card = report["cards"][0]
    shown = {name: card[name] for name in SHOWN} | {"map": {name: card["map"][name] for name in SHOWN_MAP}}
    return json.dumps({"labels": report["labels"], "card": shown}, ensure_ascii=False, indent=1) + "\n"


def svg() -> str:
    """The report in a terminal."""
    console = Console(file=io.StringIO(), record=True, width=80, color_system="truecolor", force_terminal=True)
    check_report.render(document(), console)
    image = console.export_svg(title=f"headway check {FUNCTION}", unique_id="headway")
    # Rich loads a font from the network; use one that the system has.
    start, end = image.index("@font-face"), image.index(".headway-matrix {")
    fonts = "Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    image = image[:start] + image[end:].replace("Fira Code, monospace", fonts)
    return "\n".join(line.rstrip() for line in image.splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(svg(), encoding="utf-8")
    EXAMPLE.write_text(example(), encoding="utf-8")
