"""Matplotlib figures as short SVG files, with text as text."""

import re
from collections import Counter
from xml.etree import ElementTree

from autograder.courses.transformer.common.figures.diagram import FONT
from autograder.drawing import figure

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_HASH = re.compile(r"\b[mp][0-9a-f]{10}\b")
NUMBERS = ("d", "x", "y", "width", "height", "transform")  # attributes


def small_svg(fig: "figure.Figure") -> str:
    """Return a figure as SVG without metadata, needless groups and digits, in the font of the diagrams."""
    root = ElementTree.fromstring(figure.to_bytes(fig, "svg", svg_font="none").decode())
    _simplify(root)
    _move_styles_to_classes(root)
    root.set("font-family", FONT)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    text = ElementTree.tostring(root, encoding="unicode").replace("><", ">\n<")
    # Matplotlib's ids are hashes of exact coordinates, which another processor rounds differently.
    names = {name: f"i{number}" for number, name in enumerate(dict.fromkeys(_HASH.findall(text)))}
    return _HASH.sub(lambda match: names[match[0]], text) + "\n"


def _simplify(parent: ElementTree.Element) -> None:
    """Remove metadata, replace groups without attributes by what is in them, and shorten attributes."""
    parent.tail = None
    if parent.text is not None and not parent.text.strip():
        parent.text = None
    if "style" in parent.attrib:
        style = re.sub(r"font-family: [^;]*(; )?", "", parent.attrib["style"])
        parent.set("style", style.replace(": ", ":").replace("; ", ";"))
    if parent.get("transform", "").startswith("rotate(-0 "):
        del parent.attrib["transform"]
    for name in set(NUMBERS) & set(parent.attrib):
        short = re.sub(r"\d+\.\d+", lambda match: f"{float(match[0]):.1f}".removesuffix(".0"), parent.attrib[name])
        parent.set(name, " ".join(short.split()))
    for child in list(parent):
        if child.tag == f"{{{SVG}}}metadata":
            parent.remove(child)
            continue
        _simplify(child)
        if child.tag == f"{{{SVG}}}g" and set(child.attrib) <= {"id"}:
            at = list(parent).index(child)
            parent.remove(child)
            for i, inner in enumerate(list(child)):
                parent.insert(at + i, inner)


def _move_styles_to_classes(root: ElementTree.Element) -> None:
    """Write each style that several elements have once, as a class."""
    styled = [element for element in root.iter() if "style" in element.attrib]
    counts = Counter(element.attrib["style"] for element in styled)
    names = {style: f"s{i}" for i, style in enumerate(style for style, count in counts.items() if count > 1)}
    for element in styled:
        if name := names.get(element.attrib["style"]):
            del element.attrib["style"]
            element.set("class", name)
    sheet = next(root.iter(f"{{{SVG}}}style"))
    sheet.text = " ".join([(sheet.text or "").strip(), *(f".{name}{{{style}}}" for style, name in names.items())])
