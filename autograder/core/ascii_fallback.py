"""Print ASCII where an encoding lacks a character: in a pipe on Windows, or with an old locale.

A mark or a line of a table is replaced by exactly one character, so tables keep their columns, and marks with different
meanings remain different. What formulas are written with may become longer: σ² is "sigma^2". Letters of names and of
tokens become "?", because another letter would be wrong.
"""

import codecs

ERRORS = "headway-ascii"  # the name of the error handler
FALLBACKS = {
    **dict(zip("✓✗∞◌·●○★▶", "vxTo.*o*>", strict=True)),  # marks of statuses, efforts and badges
    **dict(zip("█▓▒░", "#%=-", strict=True)),  # bars and maps
    **dict(zip("─│╭╮╰╯━┃┏┓┗┛├┤┬┴┼", "-|++++-|+++++++++", strict=True)),
    **dict(zip("≠≤≥≈−×√→←↑↓⏎", "!<>~-xV><^v<", strict=True)),
    **dict(zip("–—…“”‘’•", "--.\"\"''*", strict=True)),
    "±": "+-",
    "∂": "d",
    "\N{COMBINING CIRCUMFLEX ACCENT}": "_hat",
}
_GREEK = r"GREEK (SMALL|CAPITAL) LETTER (\w+)"
_HEIGHTS = {"<super>": "^", "<sub>": "_"}


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    written, height = "", ""
    for character in error.object[error.start : error.end]:
        before, (height, text) = height, _ascii(character)
        written += text if height == before else height + text
    return written, error.end


def _ascii(character: str) -> tuple[str, str]:
    """Return "^" or "_" for a superscript or subscript, else nothing, and the character in ASCII."""
    if character in FALLBACKS:
        return "", FALLBACKS[character]
    import re
    import unicodedata  # takes milliseconds, and most terminals have every character

    if found := re.fullmatch(_GREEK, unicodedata.name(character, "")):
        return "", found[2].lower() if found[1] == "SMALL" else found[2].title()
    kind = unicodedata.decomposition(character).partition(" ")[0]
    plain = unicodedata.normalize("NFKD", character)
    if kind in _HEIGHTS:
        return _HEIGHTS[kind], FALLBACKS.get(plain, plain if plain.isascii() else "?")
    if kind == "<fraction>":
        return "", "({}/{})".format(*plain.split("\N{FRACTION SLASH}"))
    return "", "?"


codecs.register_error(ERRORS, _replace)
