"""Print ASCII where an encoding lacks a character: in a pipe on Windows, or with an old locale.

Each character is replaced by exactly one, so tables keep their columns, and marks with different meanings
remain different.
"""

import codecs

ERRORS = "headway-ascii"  # the name of the error handler
FALLBACKS = {
    **dict(zip("✓✗∞◌·●○★▶", "vxTo.*o*>", strict=True)),  # marks of statuses, efforts and badges
    **dict(zip("█▓▒░", "#%=-", strict=True)),  # bars and maps
    **dict(zip("─│╭╮╰╯━┃┏┓┗┛├┤┬┴┼", "-|++++-|+++++++++", strict=True)),
    **dict(zip("≠≤≥≈−×√→←↑↓⏎", "!<>~-xV><^v<", strict=True)),
    **dict(zip("–—…“”‘’•", "--.\"\"''*", strict=True)),
}


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(FALLBACKS.get(character, "?") for character in text), error.end


codecs.register_error(ERRORS, _replace)
