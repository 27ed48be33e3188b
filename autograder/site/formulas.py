"""Formulas: TeX to MathML, which browsers show and screen readers read without a script."""

import html
import re
from functools import cache

from autograder.errors import HeadwayError

_FUNCTIONS = "arg|cos|cosh|exp|lim|log|max|min|sin|sinh|tan|tanh"
_THIN_SPACE = '<mspace width="0.167em"/>'
_UPRIGHT = '<mi mathvariant="normal">'


@cache
def to_mathml(tex: str, *, block: bool = False) -> str:
    """Return a formula as a `<math>` element; raise HeadwayError if it contains a command that is not known."""
    from latex2mathml.converter import convert

    try:
        converted = convert(tex, display="block" if block else "inline")
    except Exception as error:  # The converter raises errors of many types.
        raise HeadwayError(f"the formula ${tex}$ is not valid ({type(error).__name__}: {error})") from None
    mathml = _unescape(converted).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    if unknown := re.search(r"\\\w+", mathml):
        raise HeadwayError(f"the formula ${tex}$ contains the unknown command {unknown[0]}")
    mathml = re.sub(r"<mi>([Α-Ω])</mi>", rf"{_UPRIGHT}\1</mi>", mathml)  # as TeX has them
    mathml = mathml.replace("<mo>^</mo>", '<mo stretchy="false">^</mo>')  # a hat as narrow as its letter
    return _space_functions(_join_words(mathml)).replace(' display="inline"', "")


def _unescape(mathml: str) -> str:
    """Replace numeric character references by the characters, except those that have a meaning in HTML."""

    def character(match: re.Match[str]) -> str:
        text = html.unescape(match[0])
        return match[0] if text in '<>&"' else text

    return re.sub(r"&#x[0-9A-Fa-f]+;", character, mathml)


def _join_words(mathml: str) -> str:
    r"""Make one identifier of the letters of `\mathrm{softmax}`, which would be read one by one."""

    def word(match: re.Match[str]) -> str:
        letters = re.sub(r"<[^>]+>", "", match[0])
        return f"<mi>{letters}</mi>"

    return re.sub(rf"(?:{_UPRIGHT}\w</mi>){{2,}}", word, mathml)


def _space_functions(mathml: str) -> str:
    """Put a thin space between a function such as log and a letter or number next to it, as TeX does."""
    name = rf"<mi>(?:{_FUNCTIONS})</mi>"
    mathml = re.sub(rf"({name})(?=<m(?:i|n|sub|sup|subsup|over|frac|sqrt|row)>)", rf"\1{_THIN_SPACE}", mathml)
    return re.sub(rf"(</m(?:i|n|sub|sup|subsup|over)>)(?={name})", rf"\1{_THIN_SPACE}", mathml)
