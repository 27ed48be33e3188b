"""The map of a GPT and its training: where the functions of each lesson are.

It is drawn: `map.svg`. In it, with one element a line, `data-part` names the assignments whose map marks the element,
`data-only` those that alone show it (`home` is the start page of the website), and `data-except` those that do not.
"""

import re
from importlib.resources import files

from autograder.courses.transformer.common.figures.diagram import MARKED, MARKED_EDGE
from autograder.drawing.function_caller import FunctionCaller

COURSE = "autograder.courses.transformer"
PANEL = "#fff3df"  # a marked group of parts
_ABOUT = re.compile(r' data-(part|only|except)="([^"]*)"')


class MissingPart(ValueError):
    """The map has no part of an assignment."""


def marked_map(highlight: str, _: FunctionCaller | None = None) -> str:
    """Return the map on which the parts of the assignment `highlight` are marked, or its own map if it has one.

    Raises:
        MissingPart: if the map has no part of this assignment.
    """
    shown, is_marked = [], False
    if (own := files(COURSE).joinpath(highlight, "map.svg")).is_file():
        return own.read_text("utf-8")
    for line in files(__package__).joinpath("map.svg").read_text("utf-8").splitlines(keepends=True):
        about = {key: names.split() for key, names in _ABOUT.findall(line)}
        if highlight in about.get("except", ()) or highlight not in about.get("only", [highlight]):
            continue
        plain = _ABOUT.sub("", line)
        is_part = highlight in about.get("part", ())
        is_marked |= is_part or "only" in about
        shown.append(_mark(plain) if is_part else plain)
    if not is_marked:
        raise MissingPart(f"the map marks no part of {highlight}. Name it in a data-part of common/figures/map.svg")
    return "".join(shown)


def _mark(element: str) -> str:
    if element.startswith("<text"):
        return element.replace(">", ' font-weight="bold">', 1)
    if element.startswith("<rect"):
        fill = PANEL if 'rx="8"' in element else MARKED
        element = re.sub('fill="[^"]*"', f'fill="{fill}"', element)
        return re.sub('stroke="[^"]*" stroke-width="1"', f'stroke="{MARKED_EDGE}" stroke-width="2.5"', element)
    element = re.sub('(fill|stroke)="#[^"]*"', rf'\1="{MARKED_EDGE}"', element)
    return element.replace('stroke-width="1.5" stroke-dasharray="5 4"', 'stroke-width="2.5"')
