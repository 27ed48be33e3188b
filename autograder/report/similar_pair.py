"""The page that shows the code of two similar submissions side by side."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from autograder.core.text import clean
from autograder.report.class_records import SimilarPair
from autograder.report.code_lines import shown_text
from autograder.report.html import render_page

AROUND = 2  # lines shown around a common one
MIN_HIDDEN = 4  # lines that are worth a button
_Line = tuple[int, str, int | None]  # number, text, number of the same line on the other side


@dataclass(frozen=True)
class PairModule:
    """A module of two students. Everything is given for the first and for the second."""

    name: str
    lines: tuple[list[str], list[str]]
    partners: tuple[dict[int, int], dict[int, int]]  # by common line: the same line on the other side


def as_page(pair: SimilarPair, modules: list[PairModule], class_page: str) -> str:
    """Return the page; `class_page` is the address of the page of the class."""
    names = clean(pair.first, 120), clean(pair.second, 120)
    return render_page(
        "pair.html.j2",
        styles=("page.css", "student.css", "pair.css"),
        pair=pair,
        names=names,
        modules=[_values(module, names) for module in modules],
        class_page=class_page,
    )


def _values(module: PairModule, names: tuple[str, str]) -> dict[str, Any]:
    sides = []
    for side, name in enumerate(names):
        partners = module.partners[side]
        lines = [(n, shown_text(text), partners.get(n)) for n, text in enumerate(module.lines[side], 1)]
        values = {"name": name, "letter": "ab"[side], "other": "ba"[side], "count": len(lines), "common": len(partners)}
        sides.append({**values, "runs": _runs(lines)})
    return {"name": clean(module.name, 80), "sides": sides}


def _runs(lines: list[_Line]) -> list[tuple[bool, list[_Line]]]:
    """Return the lines in runs, each with whether it is far from every common line, so that it need not be shown."""
    common = [number for number, _, partner in lines if partner]
    near = {number + step for number in common for step in range(-AROUND, AROUND + 1)}
    runs = [(is_far, list(run)) for is_far, run in groupby(lines, key=lambda line: line[0] not in near)]
    return [(is_far and len(run) >= MIN_HIDDEN, run) for is_far, run in runs]
