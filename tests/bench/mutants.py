"""Count random wrong implementations that the checks miss: mutants of the solutions, made by Cosmic Ray.

    python tests/bench/mutants.py --each 25 --seed 1        25 mutants of each module
    python tests/bench/mutants.py softmax attention         of these modules

Needs `pip install cosmic-ray`. A mutant is one change by one operator (a number, an operator, a comparison, a loop, a
unary sign) inside a function that students write or a private helper. It is checked as a submission of its module, with
official solutions of the earlier ones. A survivor passes every check of its module and is printed with its line. Lines
that only raise errors, docstrings and given code are not mutated.
"""

import argparse
import ast
import random
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import Options, check_many
from autograder.sandbox.limits import Limits

EXCLUDED = ("Decorator", "ExceptionReplacer", "Variable", "BreakWith", "ContinueWith")


def operators():
    from cosmic_ray import plugins

    return [
        (name, plugins.get_operator(name)())
        for name in plugins.operator_names()
        if not any(x in name for x in EXCLUDED)
    ]


def lines_of_work(source, module):
    """Return the lines of functions that students write and of private helpers, without docstrings and `raise`."""
    contract = {function.name for function in TRANSFORMER.modules[module].functions}
    lines = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and (node.name in contract or node.name.startswith("_")):
            body = node.body[1 if ast.get_docstring(node) is not None else 0 :]
            for statement in body:
                lines.update(range(statement.lineno, statement.end_lineno + 1))
            for inner in ast.walk(node):
                # Refusing wrong arguments is graded only where the course demands it.
                if isinstance(inner, ast.Raise) or (
                    isinstance(inner, ast.If) and all(isinstance(child, ast.Raise) for child in inner.body)
                ):
                    lines.difference_update(range(inner.lineno, inner.end_lineno + 1))
    return lines


def all_mutants(module):
    """Return all mutants of a module: (operator, line, old text, new text, source)."""
    import parso
    from cosmic_ray.mutating import mutate_code

    source = (bundled("solutions") / f"{module}.py").read_text("utf-8")
    allowed = lines_of_work(source, module)
    old = source.splitlines()
    found = {}
    for name, operator in operators():
        occurrences = 0
        for node in _walk(parso.parse(source)):
            occurrences += len(list(operator.mutation_positions(node)))
        for occurrence in range(occurrences):
            text = mutate_code(source, operator, occurrence)
            if text is None or text in found:
                continue
            new = text.splitlines()
            changed = [i for i, (a, b) in enumerate(zip(old, new, strict=False), 1) if a != b]
            if len(old) == len(new) and changed and set(changed) <= allowed:
                found[text] = (
                    name.removeprefix("core/"),
                    changed[0],
                    old[changed[0] - 1].strip(),
                    new[changed[0] - 1].strip(),
                )
    return [(*what, text) for text, what in found.items()]


def _walk(node):
    yield node
    for child in getattr(node, "children", ()):
        yield from _walk(child)


def study(module, each, seed):
    everything = all_mutants(module)
    chosen = random.Random(f"{seed} {module}").sample(everything, min(each, len(everything)))
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        folders = []
        for number, mutant in enumerate(chosen):
            folder = Path(scratch, str(number))
            folder.mkdir()
            (folder / f"{module}.py").write_text(mutant[-1], "utf-8")
            folders.append((str(number), folder))
        options = Options(
            functions=TRANSFORMER.select([module]), official=True, limits=Limits(call_seconds=5.0, retry_seconds=0.5)
        )
        check_many(folders, options, lambda result: results.append((chosen[int(result.submission)], result)))
    report = []
    for mutant, result in results:
        named = sorted({check.mistake["id"] for check in result.checks if check.mistake})
        report.append((module, mutant[:4], all(check.status == "passed" for check in result.checks), named))
    return len(everything), report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", default=list(TRANSFORMER.modules))
    parser.add_argument("--each", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    killed = total = 0
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(study, module, options.each, options.seed) for module in options.modules]
        for job in jobs:
            possible, report = job.result()
            survivors = [entry for entry in report if entry[2]]
            killed, total = killed + len(report) - len(survivors), total + len(report)
            named = sum(bool(entry[3]) for entry in report)
            dead = len(report) - len(survivors)
            print(f"{report[0][0]:<16}{dead} of {len(report)} killed ({possible} possible), {named} named")
            for _, (_, line, _, after), _, names in report:
                if names:
                    print(f"    named {', '.join(names)}: line {line}: {after}")
            for module, (operator, line, before, after), _, _ in survivors:
                print(f"    SURVIVES {module}.py:{line} {operator}\n        - {before}\n        + {after}")
            sys.stdout.flush()
    print(f"{killed} of {total} killed")


if __name__ == "__main__":
    main()
