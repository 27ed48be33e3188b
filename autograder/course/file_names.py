"""Find the assignments that a Python file may be for: one answer for submissions and workspaces."""

import re
from collections.abc import Collection, Mapping

from autograder.course.model import Curriculum

# How the name of a file fits an assignment: the same, similar, a notebook of another assignment, any other.
EXACT, SIMILAR, INSIDE, OTHER = 3, 2, 1, 0


def assignments_of(stem: str, content: bytes, curriculum: Curriculum) -> tuple[list[str], int]:
    """Return the assignments that a file may be for, and how well its name, without suffix, fits them.

    A similar name is that of a copy, such as `softmax (1)`, or has the assignment's name among its words, such as
    `softmax_final`, and the file defines one of its functions. A file of any other name may be for the assignments
    whose functions it defines; so may one with the name of an assignment that has only functions of others.
    """
    stem = stem.strip().lower()
    # Not parsed: a parser in the grader would be something to attack.
    found = re.findall(rb"^def[ \t]+(\w+)", content, re.MULTILINE)
    defined = {name.decode("utf-8", "replace") for name in found}
    own = defined.intersection(curriculum.function_names.get(stem, ()))
    if stem in curriculum.modules and (own or not _likeliest(defined, curriculum)):
        return [stem], EXACT
    words = re.split(r"[\W_]+", stem)
    for module, functions in curriculum.function_names.items():
        is_copy = re.fullmatch(rf"{module}( ?\(\d{{1,3}}\)|( -)? copy)", stem)
        if is_copy or (module in words and defined.intersection(functions)):
            return [module], SIMILAR
    return _likeliest(defined, curriculum), OTHER


def similar_files(module: str, files: Mapping[str, bytes], curriculum: Curriculum) -> list[str]:
    """Return the files, by name without suffix, with a name similar to an assignment, that no other file mentions."""
    fitting = (name for name, code in files.items() if assignments_of(name, code, curriculum) == ([module], SIMILAR))
    return [name for name in fitting if not any(name.encode() in code for key, code in files.items() if key != name)]


def _likeliest(defined: Collection[str], curriculum: Curriculum) -> list[str]:
    """Return the assignments whose functions are defined; a name of several counts for the likeliest one."""
    known = curriculum.function_names
    shares = {module: len(set(names).intersection(defined)) / len(names) for module, names in known.items()}
    found = {max((m for m in known if name in known[m]), key=lambda m: shares[m], default="") for name in defined}
    return [module for module in known if module in found]
