"""The panel of the plot of a text as ids."""

from typing import Any

from autograder.core.text import clean
from autograder.drawing import panels
from autograder.drawing.figure import WHITE_SPACE
from autograder.drawing.function_caller import FunctionCaller, NotDrawable
from autograder.drawing.panels import Panels, Tick
from autograder.errors import UsageError

TEXT = "hello world, hello there"
LONGEST_TEXT = 80


def token_ids(functions: FunctionCaller, text: str | None) -> Panels:
    """Return the ids of the characters of a text, of at most `LONGEST_TEXT` characters."""
    text = TEXT if text is None else text
    if not 1 <= len(text) <= LONGEST_TEXT:
        raise UsageError(f"the text has {len(text)} characters; give 1 to {LONGEST_TEXT}: --text TEXT")
    chars, stoi = _vocabulary(functions.values("tokenizer.build_vocab", 3, text))
    ids = functions.array("tokenizer.encode", (len(text),), text, stoi)
    names = {stoi[char]: f"{_visible(char)} {stoi[char]}" for char in chars}
    known = sorted(names)
    x = panels.categories("position in the text (character)", [*map(_visible, text)])
    ticks: list[Tick] = [{"at": index, "label": names[index]} for index in known]
    y = panels.spanning("token id (character)", min(known) - 0.5, max(known) + 0.5, ids)
    return 1, [panels.lines("", x, {**y, "ticks": ticks}, panels.series("", range(len(text)), ids, style="dots"))]


def _vocabulary(values: tuple[Any, ...]) -> tuple[list[str], dict[str, int]]:
    chars, stoi, _ = values
    lists = isinstance(chars, list) and len(chars) > 0 and isinstance(stoi, dict)
    known = lists and all(isinstance(char, str) and len(char) == 1 and type(stoi.get(char)) is int for char in chars)
    if not known or not all(0 <= stoi[char] < 1_000_000 for char in chars):
        name = "tokenizer.build_vocab"
        raise NotDrawable(name, f"{name} did not return a list of characters and their ids")
    return chars, stoi


def _visible(character: str) -> str:
    """Return a character as a label: a symbol for white space, its code point if it is not printable."""
    if character in WHITE_SPACE:
        return WHITE_SPACE[character]
    return character if character.isprintable() and clean(character) else f"U+{ord(character):04X}"
