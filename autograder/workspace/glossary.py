"""The words of a course: what each means, by the lesson that introduces it."""

import difflib
import tomllib
from collections.abc import Iterable

from autograder.curriculum import Curriculum, registry
from autograder.errors import UsageError

FILE = "glossary.toml"  # in the course's package

Words = dict[str, dict[str, str]]  # assignment -> word -> meaning


def load(curriculum: Curriculum) -> Words:
    """Every word of the course, in course order; empty if its authors have made no list.

    Raises:
        UsageError: if the course's file cannot be understood.
    """
    path = registry.folder(curriculum.package) / FILE
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
        unknown = sorted(set(tables) - set(curriculum.modules))
        if unknown:
            raise ValueError(f"there is no assignment {unknown[0]}")
        return {
            module: {word: " ".join(meaning.split()) for word, meaning in tables[module].items()}
            for module in curriculum.modules
            if module in tables
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(f"{path} cannot be used ({error}). Tell the course's authors") from None


def select(names: Iterable[str], curriculum: Curriculum) -> Words:
    """The words that were asked for: by themselves, or all those of an assignment (its name or number).

    Args:
        names: none at all selects every word.

    Raises:
        UsageError: if the course has no list of words, or a name is neither a word nor an assignment.
    """
    words = load(curriculum)
    if not words:
        raise UsageError("the course has no list of its words. Its lessons explain them: headway list")
    known = {_plain(word): (module, word) for module in words for word in words[module]}
    modules = {name: a.module for a in curriculum.assignments for name in (a.module, str(a.number))}
    names = tuple(names)
    wanted: set[tuple[str, str]] = set()
    for name in names:
        if name in modules:
            wanted.update((modules[name], word) for word in words.get(modules[name], {}))
        elif _plain(name) in known:
            wanted.add(known[_plain(name)])
        else:
            close = difflib.get_close_matches(_plain(name), known, n=1)
            meant = f" Did you mean {known[close[0]][1]!r}?" if close else ""
            raise UsageError(f"there is no word {name!r} in the lessons.{meant} All of them: headway list --terms")
    everything = not names
    found = {
        module: {word: meaning for word, meaning in words[module].items() if everything or (module, word) in wanted}
        for module in words
    }
    return {module: mine for module, mine in found.items() if mine}


def _plain(word: str) -> str:
    """A word as it is looked up: small letters, singular."""
    return " ".join(word.split()).lower().removesuffix("s")
