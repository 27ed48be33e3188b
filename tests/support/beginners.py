"""Read the wrong answers in `submissions/beginners/`.

A function `NAME__VARIANT` is a wrong answer for NAME; its docstring lists the mistakes in it. The decorator

    @variants(other=("mistakes", "old", "new"))

above it adds `NAME__other`: the same function with these mistakes, and with the text "old" replaced by "new". More
pairs may follow. A function with the docstring "base" is only the base of its variants. Functions without two
underscores are helpers.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from support.paths import SUBMISSIONS

FOLDER = SUBMISSIONS / "beginners"


@dataclass(frozen=True)
class Answer:
    function: str
    variant: str
    code: str
    mistakes: tuple[str, ...]


def answers(module: str) -> Iterator[Answer]:
    """Yield the wrong answers for the functions of an assignment."""
    for node, text in statements(module):
        if is_answer(node):
            function, _, variant = node.name.partition("__")
            mistakes = ast.get_docstring(node) or ""
            code = text.replace(node.name, function, 1)
            if mistakes != "base":
                yield Answer(function, variant, code, (*mistakes.split(),))
            for keyword in node.decorator_list[0].keywords if node.decorator_list else ():
                named, *edits = ast.literal_eval(keyword.value)
                edited = code.replace(f'"""{mistakes}"""', f'"""{named}"""', 1)
                for old, new in zip(edits[::2], edits[1::2], strict=True):
                    assert edited.count(old) == 1, f"{keyword.arg}: {old!r} is there {edited.count(old)} times"
                    edited = edited.replace(old, new)
                yield Answer(function, keyword.arg, edited, (*named.split(),))


def helpers(module: str) -> str:
    """Return the text around the answers, without what it imports from the assignment: the solution has that itself."""
    return "\n\n".join(
        text
        for node, text in statements(module)
        if not is_answer(node) and not (isinstance(node, ast.ImportFrom) and node.module == module)
    )


def statements(module: str) -> Iterator[tuple[ast.stmt, str]]:
    text = (FOLDER / f"{module}.py").read_text("utf-8")
    for node in ast.parse(text).body:
        yield node, ast.get_source_segment(text, node)


def is_answer(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and "__" in node.name
