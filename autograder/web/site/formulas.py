"""Formulas: TeX to MathML, which browsers show and screen readers read without a script.

A formula may come from a course that nobody has read. Only the elements and attributes below reach a page, and every
text is escaped; a formula that needs anything else is shown as its source.
"""

import html
import re
from functools import cache
from xml.etree.ElementTree import Element, tostring

from autograder.errors import HeadwayError

_FUNCTIONS = "arg|cos|cosh|exp|lim|log|max|min|sin|sinh|tan|tanh"
_THIN_SPACE = '<mspace width="0.167em"/>'
_UPRIGHT = '<mi mathvariant="normal">'
_ELEMENTS = re.compile(
    "m(ath|enclose|frac|i|n|o|over|padded|phantom|root|row|space|sqrt|style|sub|subsup|sup|table|td|text|tr|under|underover)"
)
# No `href`, `style`, `class`, `id` or handler of events: these attributes only say how a formula looks.
_ATTRIBUTES = re.compile(
    "accent|accentunder|column(align|lines|spacing)|depth|display|displaystyle|fence|form|height|largeop|linebreak"
    "|linethickness|[lr]space|math(background|color|size|variant)|(max|min)size|movablelimits|notation|row(lines|spacing)"
    "|scriptlevel|separator|stretchy|symmetric|voffset|width"
)
_VALUE = re.compile(r"[\w #%+.-]*", re.ASCII)  # words, lengths, colors; nothing that is an address or ends a quote


class _NotAllowed(Exception):
    """The formula needs an element or attribute that pages do not contain."""


@cache
def to_mathml(tex: str, *, block: bool = False) -> str:
    """Return a formula as a `<math>` element, or as its source if that element would hold what is not allowed.

    Raise HeadwayError if it contains a command that is not known.
    """
    from latex2mathml.converter import convert_to_element

    try:
        tree = convert_to_element(tex, display="block" if block else "inline")
        mathml = _serialize(tree)
    except _NotAllowed:
        return f"<code>{html.escape(tex)}</code>"
    except Exception as error:  # The converter raises errors of many types.
        raise HeadwayError(f"the formula ${tex}$ is not valid ({type(error).__name__}: {error})") from None
    if unknown := re.search(r"\\\w+", mathml):
        raise HeadwayError(f"the formula ${tex}$ contains the unknown command {unknown[0]}")
    mathml = re.sub(r"<mi>([Α-Ω])</mi>", rf"{_UPRIGHT}\1</mi>", mathml)  # as TeX has them
    mathml = mathml.replace("<mo>^</mo>", '<mo stretchy="false">^</mo>')  # a hat as narrow as its letter
    return _space_functions(_join_words(mathml)).replace(' display="inline"', "")


def _serialize(tree: Element) -> str:
    """Return an element with what is in it; raise _NotAllowed if not all of it is on the lists above."""
    for element in tree.iter():
        element.attrib.pop("xmlns", None)  # HTML knows it without this
        is_allowed = _ELEMENTS.fullmatch(element.tag) and all(map(_ATTRIBUTES.fullmatch, element.attrib))
        if not is_allowed or not all(map(_VALUE.fullmatch, element.attrib.values())):
            raise _NotAllowed
        element.text, element.tail = map(_without_references, (element.text, element.tail))
    return tostring(tree, encoding="unicode")


def _without_references(text: str | None) -> str:
    """Return a text of the converter, which writes some characters as numeric references."""
    return re.sub(r"&#x[0-9A-Fa-f]+;", lambda match: html.unescape(match[0]), text or "")


def _join_words(mathml: str) -> str:
    r"""Make one identifier of the letters of `\mathrm{softmax}`, which would be read one by one."""
    word = rf"(?:{_UPRIGHT}\w</mi>){{2,}}"
    return re.sub(word, lambda match: f"<mi>{re.sub('<[^>]+>', '', match[0])}</mi>", mathml)


def _space_functions(mathml: str) -> str:
    """Put a thin space between a function such as log and a letter or number next to it, as TeX does."""
    name = rf"<mi>(?:{_FUNCTIONS})</mi>"
    mathml = re.sub(rf"({name})(?=<m(?:i|n|sub|sup|subsup|over|frac|sqrt|row)>)", rf"\1{_THIN_SPACE}", mathml)
    return re.sub(rf"(</m(?:i|n|sub|sup|subsup|over)>)(?={name})", rf"\1{_THIN_SPACE}", mathml)
