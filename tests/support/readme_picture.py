"""The picture in the README: the report of `headway check` on a real submission, as SVG. `make picture` writes it."""

import io
from pathlib import Path

from rich.console import Console

from autograder import results
from autograder.courses.transformer import TRANSFORMER
from autograder.engine import session
from autograder.report import check_report

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "data" / "report.svg"
FUNCTION, SUBMISSION = "attention.attention", "bo"


def svg() -> str:
    """The report with a fixed duration, so that every run gives the same picture."""
    options = session.Options(functions=(FUNCTION,))
    result = session.check(SUBMISSION, ROOT / "tests" / "submissions" / "class" / SUBMISSION, options)
    result.seconds = 0.1
    console = Console(file=io.StringIO(), record=True, width=80, color_system="truecolor", force_terminal=True)
    check_report.render(results.to_document(result, TRANSFORMER), console)
    image = console.export_svg(title=f"headway check {FUNCTION}", unique_id="headway")
    # Rich loads a font from the network; use one that the system has.
    start, end = image.index("@font-face"), image.index(".headway-matrix {")
    fonts = "Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    image = image[:start] + image[end:].replace("Fira Code, monospace", fonts)
    return "\n".join(line.rstrip() for line in image.splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(svg(), encoding="utf-8")
