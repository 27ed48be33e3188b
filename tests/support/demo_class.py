"""Grade a class of twelve, show one of its students, and say how to go on: `make demo`.

    python tests/support/demo_class.py [FOLDER]

The students are at different points of three assignments. Finished assignments are right answers in three styles. The
assignment that a student is writing has known mistakes of the course, and functions that are not begun.
"""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from autograder.course import stubs
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.mistake import mistakes_of_module
from autograder.engine.diagnosis.variants import source_with_mistakes
from autograder.sandbox.probe import SandboxUnavailable, strongest_level

ROOT = Path(__file__).parents[2]
STYLES = ("solutions", "tests/submissions/right/loops", "tests/submissions/right/einsum")

# The class is graded on the inputs whose answers are part of Headway, so that it does not need PyTorch.
POLICY = """title = "Transformers"
seed = 0
feedback = "full"
[assignments.softmax]
[assignments.attention]
[assignments.multihead]
"""
MODULES = ("softmax", "attention", "multihead")
# Name: number of finished assignments, number of functions begun in the next one, mistakes in that one.
STUDENTS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "Ada Okafor": (3, 0, ()),
    "Ben Lindqvist": (2, 3, ("multihead.multihead_attention/order-kqv",)),
    "Chiara Rossi": (2, 4, ("multihead.multihead_attention_backward/bias-not-summed",)),
    "Dmitri Petrov": (2, 2, ("multihead.split_heads/reshaped-without-exchange",)),
    "Elif Yılmaz": (2, 3, ("multihead.multihead_attention/scaled-by-whole-width",)),
    "Fatima Haddad": (1, 2, ("attention.causal_average_matmul/without-diagonal",)),
    "Grace Mwangi": (1, 5, ("attention.attention/mask-inverted",)),
    "Hiro Tanaka": (1, 4, ("attention.padding_mask/inverted",)),
    "Ines Duarte": (1, 6, ("attention.attention_backward/no-scale",)),
    "Jonas Weber": (0, 4, ("softmax.cross_entropy/sum-not-mean", "softmax.softmax_backward/no-sum")),
    "Kavya Iyer": (0, 3, ("softmax.cross_entropy/sum-not-mean",)),
    "Liam Byrne": (0, 2, ("softmax.softmax/keepdims-forgotten",)),
}

NEXT = """
To go on, in this terminal:

  . {environment}/bin/activate
  headway report {results}           # the whole class, also as a page
  headway show {results} "Liam Byrne"
  headway init ../my-gpt                    # what a student works in
  cd ../my-gpt && headway                   # q quits"""


def main(folder: Path) -> None:
    """Write the class, grade it, show a student."""
    shutil.rmtree(folder, ignore_errors=True)
    write_class(folder / "class")
    results = str(folder / "results")
    _headway("grade", str(folder / "class"), "--out", results, *_without_sandbox())
    _headway("show", results, "Kavya Iyer")
    print(NEXT.format(environment=os.path.relpath(sys.prefix), results=results))


def _without_sandbox() -> list[str]:
    """Return the option for a machine without a sandbox: nobody but this file wrote the class."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            strongest_level(Path(scratch))
        except SandboxUnavailable:
            return ["--unsafe-no-sandbox"]
    return []


def _headway(*arguments: str) -> None:
    print("$ headway", *(f'"{word}"' if " " in word else word for word in arguments), flush=True)
    subprocess.run([Path(sys.executable).with_name("headway"), *arguments], check=True)


def write_class(folder: Path) -> None:
    """Write a folder for each student, and the policy of the class."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "course.toml").write_text(POLICY, "utf-8")
    for number, (name, (finished, written, mistakes)) in enumerate(STUDENTS.items()):
        student = folder / name
        student.mkdir(parents=True, exist_ok=True)
        for module in MODULES[:finished]:
            (student / f"{module}.py").write_text(_right(module, number), "utf-8")
        if finished < len(MODULES):
            current = MODULES[finished]
            (student / f"{current}.py").write_text(_current(current, written, mistakes), "utf-8")


def _right(module: str, number: int) -> str:
    path = ROOT / STYLES[number % len(STYLES)] / f"{module}.py"
    return (path if path.is_file() else stubs.bundled("solutions") / f"{module}.py").read_text("utf-8")


def _current(module: str, written: int, mistakes: Iterable[str]) -> str:
    """Return the solution with mistakes, in which all functions but the first `written` are stubs."""
    known = {mistake.id: mistake for mistake in mistakes_of_module(module, TRANSFORMER.package)}
    chosen = [known[name] for name in mistakes]
    text = source_with_mistakes(*chosen, package=TRANSFORMER.package) if chosen else _right(module, 0)
    lines = text.splitlines(keepends=True)
    begun = [function.name for function in TRANSFORMER.modules[module].functions][:written]
    names = {function.name for function in TRANSFORMER.modules[module].functions} - set(begun)
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            first = node.body[1].lineno if ast.get_docstring(node) else node.body[0].lineno
            lines[first - 1 : node.end_lineno] = [f'    raise NotImplementedError("{module}.{node.name}")\n']
    return "".join(lines)


if __name__ == "__main__":
    main(Path(*sys.argv[1:] or ["demo-out"]))
