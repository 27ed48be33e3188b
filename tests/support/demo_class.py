"""Write the class that `make demo` grades: twelve students at different points of the course, with real mistakes.

    python tests/support/demo_class.py FOLDER

Finished assignments are right answers in three styles. The assignment that a student is writing has known mistakes of
the course, and functions that are not begun.
"""

import ast
import sys
from collections.abc import Iterable
from pathlib import Path

from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum import stubs
from autograder.engine.diagnosis.mistake import mistakes_of_module
from autograder.engine.diagnosis.variants import source_with_mistakes

ROOT = Path(__file__).parents[2]
STYLES = ("solutions", "tests/submissions/right/loops", "tests/submissions/right/einsum")

# Name: number of finished assignments, number of functions begun in the next one, mistakes in that one.
STUDENTS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "Ada Okafor": (11, 0, ()),
    "Ben Lindqvist": (8, 4, ("ffn.gelu/no-cubic",)),
    "Chiara Rossi": (7, 2, ("layernorm.layernorm/unbiased-variance",)),
    "Dmitri Petrov": (6, 3, ("multihead.split_heads/reshaped-without-exchange",)),
    "Elif Yılmaz": (6, 4, ("multihead.multihead_attention/scaled-by-whole-width",)),
    "Fatima Haddad": (5, 3, ("attention.causal_average_loop/not-itself",)),
    "Grace Mwangi": (5, 5, ("attention.attention/mask-inverted",)),
    "Hiro Tanaka": (4, 5, ("embeddings.embed/always-float64",)),
    "Ines Duarte": (3, 4, ("bigram.bigram_loss/target-not-subtracted",)),
    "Jonas Weber": (2, 4, ("softmax.cross_entropy/sum-not-mean", "softmax.softmax_backward/no-sum")),
    "Kavya Iyer": (2, 3, ("softmax.cross_entropy/sum-not-mean",)),
    "Liam Byrne": (1, 3, ("gradients.sum_to_shape/mean-not-sum",)),
}


def write_class(folder: Path) -> None:
    """Write a folder for each student."""
    for number, (name, (finished, written, mistakes)) in enumerate(STUDENTS.items()):
        student = folder / name
        student.mkdir(parents=True, exist_ok=True)
        modules = list(TRANSFORMER.modules)
        for module in modules[:finished]:
            (student / f"{module}.py").write_text(_right(module, number), "utf-8")
        if finished < len(modules):
            current = modules[finished]
            (student / f"{current}.py").write_text(_current(current, written, mistakes), "utf-8")


def _right(module: str, number: int) -> str:
    path = ROOT / STYLES[number % len(STYLES)] / f"{module}.py"
    return (path if path.is_file() else stubs.bundled("solutions") / f"{module}.py").read_text("utf-8")


def _current(module: str, written: int, mistakes: Iterable[str]) -> str:
    """Return the solution with mistakes, in which all functions but the first `written` are stubs."""
    known = {mistake.id: mistake for mistake in mistakes_of_module(module)}
    chosen = [known[name] for name in mistakes]
    text = source_with_mistakes(*chosen) if chosen else _right(module, 0)
    lines = text.splitlines(keepends=True)
    begun = [function.name for function in TRANSFORMER.modules[module].functions][:written]
    names = {function.name for function in TRANSFORMER.modules[module].functions} - set(begun)
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            first = node.body[1].lineno if ast.get_docstring(node) else node.body[0].lineno
            lines[first - 1 : node.end_lineno] = [f'    raise NotImplementedError("{module}.{node.name}")\n']
    return "".join(lines)


if __name__ == "__main__":
    write_class(Path(sys.argv[1]))
