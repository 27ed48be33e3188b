"""docs/symbols.md has every letter of a lesson with one meaning, which fits what the lesson counts with the letter."""

import re
from itertools import product

import pytest
from courses.transformer.test_lessons import FENCED, MODULES, cells
from support.paths import ROOT

ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ((?:all|`)[^|]*) \|$", re.MULTILINE)
TABLE = ROW.findall((ROOT / "docs" / "symbols.md").read_text("utf-8"))
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.DOTALL)
SUBSCRIPT = re.compile(r"\\(?:mathrm|mathit|text|begin|end)\{[^}]*\}|[_^](?:\{[^}]*\}|\w|\\\w+)")
LETTER = re.compile(r"(?<![\w.'’\"^{\\+-])(?<!row )([B-HJ-Z]|V[st]|Kᵥ|[βγδεθλμσφΦ])(?![\w'’-]|\. |\+F)")
GREEK = {"beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ", "mu": "μ", "sigma": "σ", "Phi": "Φ"}
GREEK |= {"lambda": "λ", "varphi": "φ"}
COUNTED = re.compile(r"(\S+)`? (tokens|pairs|texts|heads|features|blocks|layers|positions|characters)\b")


def meanings(letter, module):
    """Return what a letter stands for in a lesson, according to the page."""
    rows = [(meaning, lessons) for letters, meaning, lessons in TABLE if letter in letters.split(", ")]
    return [meaning for meaning, lessons in rows if lessons.startswith("all") != (f"`{module}`" in lessons)]


def text_and_letters(module):
    """Return what learners read of a lesson, without examples, and the letters in it, small ones from formulas only."""
    parts = [FENCED.sub("", text) for head, text in cells(module) if head.startswith("[markdown]")]
    parts += [part for head, text in cells(module) if not head for part in re.findall('"""(.*?)"""', text, re.DOTALL)]
    text = "\n".join(parts)
    formulas = SUBSCRIPT.sub(" ", " ".join(FORMULA.findall(text)))
    greek = {GREEK[name] for name in re.findall(r"\\([a-zA-Z]+)", formulas) if name in GREEK}
    small = set(re.findall(r"(?<![\\\w])[a-z](?!\w)", formulas)) - set("ijtnd")  # These count.
    return text, greek | small | set(LETTER.findall(FORMULA.sub(" ", text) + formulas))


@pytest.mark.parametrize("module", MODULES)
def test_letter_has_one_meaning_in_a_lesson(module):
    text, letters = text_and_letters(module)
    assert {letter: found for letter in letters if len(found := meanings(letter, module)) != 1} == {}
    for letter, things in COUNTED.findall(text):
        if letter in letters:
            assert things in meanings(letter, module)[0], f"{letter} {things}"


def test_symbols_page_names_lessons_that_use_the_letter():
    for letters, _, lessons in TABLE:
        for letter, module in product(letters.split(", "), re.findall(r"`(\w+)`", lessons)):
            text, found = text_and_letters(module)
            assert letter in found or re.search(rf"(?<!\w){letter}(?!\w)", text), f"{letter} in {module}"
