"""The glossary of a course: each term and its meaning, by the lesson that introduces it."""

import tomllib
from collections.abc import Sequence

from autograder.core.text import did_you_mean
from autograder.course import Curriculum, registry
from autograder.errors import UsageError

Glossary = dict[str, dict[str, str]]  # assignment -> term -> meaning


def load(curriculum: Curriculum) -> Glossary:
    """Return the glossary in course order; assignments without terms are not in it."""
    return {module: terms for module in curriculum.modules if (terms := load_terms(module, curriculum.package))}


def load_terms(module: str, package: str) -> dict[str, str]:
    """Return the meanings of the terms that a lesson introduces; none if its assignment has no `glossary.toml`."""
    path = registry.assignment_folder(module, package) / "glossary.toml"
    try:
        return {term: " ".join(text.split()) for term, text in tomllib.loads(path.read_text("utf-8")).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(f"{path} is invalid ({error}). Please report it to the course's authors") from error


def select(names: Sequence[str], curriculum: Curriculum) -> Glossary:
    """Return the named terms; for the name or number of an assignment, all its terms; without names, every term."""
    glossary = load(curriculum)
    if not glossary:
        raise UsageError("this course has no glossary. Its lessons explain the terms: headway list")
    known = {normalize(term): (module, term) for module in glossary for term in glossary[module]}
    modules = {name: a.module for a in curriculum.assignments for name in (a.module, str(a.number))}
    if not names:
        return glossary
    wanted: set[tuple[str, str]] = set()
    for name in names:
        if name in modules:
            wanted.update((modules[name], term) for term in glossary.get(modules[name], {}))
        elif normalize(name) in known:
            wanted.add(known[normalize(name)])
        else:
            suggestion = did_you_mean(name, (term for _, term in known.values()))
            raise UsageError(f"no such term: {name!r}. {suggestion}List all terms: headway list --terms")
    return {
        module: selected
        for module, terms in glossary.items()
        if (selected := {term: meaning for term, meaning in terms.items() if (module, term) in wanted})
    }


def normalize(term: str) -> str:
    """Return a term in the form in which it is looked up: lower case, singular."""
    text = " ".join(term.split()).lower()
    if text.endswith(("axis", "axes")):
        return text[:-2]
    return text[:-3] + "y" if text.endswith("ies") else text.removesuffix("s")
