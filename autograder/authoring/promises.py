"""What docstrings promise, and what proves that a check looks at it.

The file `promises.toml` of an assignment covers every clause of the docstrings of the assigned functions:

    [softmax]
    descriptions = ["x: scores, any shape"]
    [softmax.promises]
    "Integers are computed in float64" = "integers-truncated"
    "ValueError: if `temperature` is not positive" = ["negative-temperature-accepted", "errors-swallowed"]

- A promise is a part of one clause. Its value names what breaks it: known mistakes of the function, or wrappers (see
  `WRAPPERS`) around the official one. Each of them must fail a check.
- A description is a part of a clause that promises nothing a check could look at: it defines a symbol, or it says what
  is allowed.

Clauses are the sentences of a docstring and their parts between semicolons; an indented formula is one clause.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.course import registry
from autograder.engine.diagnosis.mistake import mistakes_of_function
from autograder.engine.diagnosis.variants import function_docstring, solution_source, source_with_mistakes
from autograder.errors import HeadwayError

SECTIONS = ("Args:", "Returns:", "Raises:")
_ENTRY = re.compile(r"    \w+: ")
_END_OF_CLAUSE = re.compile(r'(?<=;)\s|(?<=\.)(?<!al\.)(?<!e\.g\.)(?<!i\.e\.)\s(?=["`A-Z(])')

# What a wrapper does to an error of the official function, and to each array or number in its result.
_ON_ERROR = {
    "errors-swallowed": "return None",
    "another-error-raised": "raise RuntimeError(str(error)) from None",
    "errors-without-message": "raise type(error) from None",
}
_CONVERSIONS = {
    "floats-as-arrays": "numpy.array(value) if type(value) is float else value",
    "floats-as-numpy": "numpy.float64(value) if type(value) is float else value",
    "ints-as-floats": "float(value) if type(value) is int else value",
    "ints-as-numpy": "numpy.int64(value) if type(value) is int else value",
    "int64-as-int32": "value.astype(numpy.int32) if is_array and value.dtype == numpy.int64 else value",
    "float32-as-float64": "value.astype(numpy.float64) if is_array and value.dtype == numpy.float32 else value",
    "integers-in-float32": "value.astype(numpy.float32) if is_array and first.dtype.kind in 'iu' else value",
}
_OTHER = {
    "inputs-changed": """
        value = copy.deepcopy(value)
        for argument in (*args, *kwargs.values()):
            change(argument)"""
}
WRAPPERS = (*_ON_ERROR, *_CONVERSIONS, *_OTHER)

_TEMPLATE = """

import copy
import numpy
official_{name} = {name}


def {name}(*args, **kwargs):
    def convert(value):
        if type(value) in (tuple, list):
            return type(value)(map(convert, value))
        if type(value) is dict:
            return {{name: convert(entry) for name, entry in value.items()}}
        is_array = isinstance(value, numpy.ndarray)
        return {conversion}

    def change(argument):
        if isinstance(argument, dict):
            for entry in argument.values():
                change(entry)
        elif isinstance(argument, numpy.ndarray) and argument.dtype.kind in "fi":
            argument += 1

    try:
        value = official_{name}(*args, **kwargs)
    except Exception as error:
        {on_error}
    else:
        first = numpy.asarray(args[0]) if args else None{other}
        return convert(value)
"""


class InvalidPromises(HeadwayError):
    """A file of promises does not fit the docstrings or the mistakes."""


@dataclass(frozen=True)
class Promise:
    """A part of a docstring that says what a function does, and what breaks it."""

    function: str  # qualified name
    text: str
    broken_by: tuple[str, ...]  # names of mistakes of the function, or of wrappers


@dataclass(frozen=True)
class FunctionPromises:
    """The promises and descriptions of one function."""

    promises: tuple[Promise, ...]
    descriptions: tuple[str, ...]


def has_promises(module: str, package: str) -> bool:
    """Return whether an assignment has a file of promises; it is optional."""
    return _path(module, package).is_file()


@cache
def promises_of_module(module: str, package: str) -> dict[str, FunctionPromises]:
    """Return the promises of an assignment's functions, by qualified name; raise InvalidPromises for a bad file."""
    path = _path(module, package)
    try:
        tables = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
        return {f"{module}.{name}": _parse(f"{module}.{name}", table) for name, table in tables.items()}
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise InvalidPromises(f"{module}/{path.name}: {error}") from None


def _parse(function: str, table: dict[str, object]) -> FunctionPromises:
    promises, descriptions = table.get("promises", {}), table.get("descriptions", [])
    is_known = set(table) <= {"promises", "descriptions"}
    if not (is_known and isinstance(promises, dict) and isinstance(descriptions, list)):
        raise TypeError(f"{function}: expected a list `descriptions` and a table `promises`")
    pairs = ((text, (value,) if isinstance(value, str) else tuple(value)) for text, value in promises.items())
    return FunctionPromises(tuple(Promise(function, text, names) for text, names in pairs), tuple(descriptions))


def find_problems(function: str, package: str) -> list[str]:
    """Return what is wrong with the promises of a function: clauses not covered, texts and names without a match."""
    module = function.partition(".")[0]
    clauses = split_docstring(function_docstring(function, package))
    covered = promises_of_module(module, package).get(function, FunctionPromises((), ()))
    texts = [*(promise.text for promise in covered.promises), *covered.descriptions]
    counts = {text: sum(text in clause for clause in clauses) for text in texts}
    problems = [f"{text!r} occurs in {count} clauses" for text, count in counts.items() if count != 1]
    problems += [f"not covered: {clause!r}" for clause in clauses if not any(text in clause for text in texts)]
    known = {mistake.name for mistake in mistakes_of_function(function, package)} | set(WRAPPERS)
    for promise in covered.promises:
        if not promise.broken_by:
            problems.append(f"nothing breaks {promise.text!r}")
        problems += [f"no mistake or wrapper named {name!r}" for name in promise.broken_by if name not in known]
    return problems


def split_docstring(docstring: str) -> list[str]:
    """Return the clauses of a docstring, with single spaces."""
    clauses: list[str] = []
    for paragraph, is_formula in _paragraphs(docstring):
        text = " ".join(paragraph.split())
        clauses += [text] if is_formula else [part.rstrip(".;") for part in _END_OF_CLAUSE.split(text)]
    return clauses


def _paragraphs(docstring: str) -> Iterator[tuple[str, bool]]:
    """Yield paragraphs, list items, entries of sections, and formulas; and whether it is a formula."""
    lines: list[str] = []
    in_section = is_formula = False
    for line in [*docstring.splitlines(), ""]:
        is_header, is_indented = line in SECTIONS, line.startswith(" ")
        in_section = is_header or (in_section and (is_indented or not line))
        starts = not line or is_header or line.startswith("- ")
        starts |= bool(_ENTRY.match(line)) if in_section else is_indented and not is_formula
        if lines and starts and not (lines[0].startswith("- ") and is_indented):
            yield "\n".join(lines), is_formula
            lines = []
        if line and not is_header:
            is_formula = is_indented and not in_section if not lines else is_formula
            lines.append(line)


def broken_source(function: str, name: str, package: str) -> str:
    """Return the source of the official module in which a known mistake, or a wrapper, breaks a promise."""
    mistake = next((known for known in mistakes_of_function(function, package) if known.name == name), None)
    if mistake is not None:
        return source_with_mistakes(mistake, package=package)
    module, _, short_name = function.partition(".")
    conversion, on_error = _CONVERSIONS.get(name, "value"), _ON_ERROR.get(name, "raise")
    wrapper = _TEMPLATE.format(name=short_name, conversion=conversion, on_error=on_error, other=_OTHER.get(name, ""))
    return solution_source(module, package) + wrapper


def _path(module: str, package: str) -> Path:
    return registry.assignment_folder(module, package) / "promises.toml"
