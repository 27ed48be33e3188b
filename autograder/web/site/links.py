"""Links that the site adds to text: from terms to the glossary, and from names in code to their functions."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from autograder.course import Curriculum, glossary

# Terms that are also everyday words: elsewhere they often have that meaning, so only their own lesson links them.
EVERYDAY_WORDS = {"buffer", "context", "gain", "head", "key", "memory", "value"}


@dataclass(frozen=True)
class Term:
    """A term of the glossary."""

    text: str
    meaning: str
    module: str  # that introduces it

    @property
    def anchor(self) -> str:
        """Return the id of its entry on the page of the glossary."""
        return "term-" + re.sub(r"\W+", "-", self.text.lower()).strip("-")


@dataclass(frozen=True)
class CourseLinks:
    """What the text of a course can be linked to."""

    curriculum: Curriculum
    commands: Mapping[str, str] = field(default_factory=dict)  # anchors on the page of the command line, by name
    exercises: Collection[str] = ()  # names of modules besides the assignments that have a page

    @cached_property
    def terms(self) -> dict[str, Term]:
        """Return the terms of the glossary by their normalized form."""
        tables = glossary.load(self.curriculum)
        found = [Term(text, meaning, module) for module in tables for text, meaning in tables[module].items()]
        return {glossary.normalize(term.text): term for term in found}

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        forms = sorted({_forms(term.text) for term in self.terms.values()}, key=len, reverse=True)
        return re.compile(rf"(?<![\w-])({'|'.join(forms)})(?![\w-])", re.IGNORECASE) if forms else None

    def find_terms(self, text: str, module: str) -> Iterator[tuple[int, int, Term]]:
        """Yield where the text contains terms that the lessons up to `module` have introduced."""
        for match in self._pattern.finditer(text) if self._pattern and module else ():
            term = self.terms.get(glossary.normalize(match[0]))
            if term is None or (term.text in EVERYDAY_WORDS and term.module != module):
                continue
            if self.curriculum.modules[term.module].number <= self.curriculum.modules[module].number:
                yield match.start(), match.end(), term

    def find_code(self, code: str, module: str) -> str:
        """Return the address of the function, assignment or command that code names; empty if it names none."""
        if command := re.match(r"headway ([a-z-]+)", code):
            return f"commands.html#{self.commands[command[1]]}" if command[1] in self.commands else ""
        name = re.sub(r"\([\w, ]*\)$", "", code).removesuffix(".py")
        qualified = ""
        if name in self.curriculum.functions:
            qualified = name
        elif module:
            same = [function.qualified for function in self.curriculum.functions.values() if function.name == name]
            qualified = f"{module}.{name}" if f"{module}.{name}" in same else same[0] if len(same) == 1 else ""
        if qualified:
            page = qualified.partition(".")[0]
            return f"#{qualified}" if page == module else f"{page}.html#{qualified}"
        return f"{name}.html" if name in {*self.curriculum.modules, *self.exercises} - {module} else ""


def _forms(term: str) -> str:
    """Return a pattern for the singular and the plural of a term, in any line breaking."""
    if term.endswith("axis"):
        stem, ending = term[:-2], "(?:is|es)"
    elif term.endswith("y"):
        stem, ending = term[:-1], "(?:y|ies)"
    else:
        stem, ending = term.removesuffix("s"), "s?"
    return r"\s+".join(map(re.escape, stem.split())) + ending
