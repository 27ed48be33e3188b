"""Measure how well copies are distinguished from independent work, and the cost of a class of 2,000.

python tests/bench/bench_similarity.py            disguises, and independent correct answers in other styles
python tests/bench/bench_similarity.py --class 2000
"""

import ast
import random
import time
from itertools import combinations

from measuring import make_parser, peak_megabytes
from support.paths import SUBMISSIONS

from autograder.classroom.class_report import similarity
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.parsing.code_tokens import filtered

RIGHT = SUBMISSIONS / "right"


class _Renamed(ast.NodeTransformer):
    """Renames local variables."""

    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)

    def visit_arg(self, node):
        node.arg = self.names.get(node.arg, node.arg)
        return node


def renamed(text):
    """Rename every assigned variable; comments and layout are lost, too."""
    tree = ast.parse(text)
    assigned = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return ast.unparse(_Renamed({name: f"value_{i}" for i, name in enumerate(sorted(assigned))}).visit(tree))


def reordered(text):
    """Reverse the order of the functions."""
    tree = ast.parse(text)
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    others = [n for n in tree.body if not isinstance(n, ast.FunctionDef)]
    return "\n\n".join(ast.get_source_segment(text, n) or ast.unparse(n) for n in [*others, *reversed(functions)])


def commented(text):
    """Add a comment below every line that ends a statement."""
    lines = []
    for line in text.splitlines():
        lines.append(line)
        if line.rstrip().endswith((")", ":")) and not line.lstrip().startswith(("#", '"')):
            lines.append("        # now the next step of the computation")
    return "\n".join(lines)


def disguised(text):
    return reordered(renamed(text))


def modules_of(folder, only="*"):
    return {path.stem: path.read_text("utf-8") for path in sorted(folder.glob(f"{only}.py"))}


def compare(submissions, **options):
    """Compare source texts by module."""
    filtered_code = [(name, {m: filtered(text) for m, text in modules.items()}) for name, modules in submissions]
    return similarity.compare(filtered_code, TRANSFORMER, **options)


def measure_quality(only):
    styles = {folder.name: modules_of(folder, only) for folder in sorted(RIGHT.iterdir()) if folder.is_dir()}
    styles["official"] = modules_of(bundled("solutions"), only)
    print("share of the smaller, threshold", similarity.THRESHOLD)
    for change in (renamed, reordered, commented, disguised):
        for name in ("loops", "one_liners", "einsum", "official"):
            original = styles[name]
            copy = {module: change(text) for module, text in original.items()}
            pairs = compare([("a", original), ("b", copy)], threshold=0.0)
            print(f"copy, {change.__name__:10} {name:12} {pairs[0].share if pairs else 0:.2f}")
    pairs = compare(styles.items(), threshold=0.0)
    by_names = {(pair.first, pair.second): pair for pair in pairs}
    for first, second in combinations(styles, 2):
        pair = by_names.get((first, second)) or by_names.get((second, first))
        print(f"independent {first:12} {second:12} {pair.share if pair else 0:.2f} {pair.modules if pair else ''}")


def varied(text, chance):
    """Imitate independent work: leave out or repeat about a third of the statements at random."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and len(node.body) > 2:
            node.body = [s for s in node.body for _ in range(chance.choice((0, 1, 1, 1, 2)))] or node.body
    return ast.unparse(tree)


def measure_class(count):
    chance = random.Random(1)
    styles = [modules_of(folder) for folder in sorted(RIGHT.iterdir()) if len(modules_of(folder)) > 5]
    kinds = min(count, 25)
    cached = [{name: [varied(text, chance) for _ in range(kinds)] for name, text in style.items()} for style in styles]
    submissions = []
    for number in range(count):
        style = chance.choice(cached)
        # All files differ, so that none is found in the cache.
        modules = {module: f"{chance.choice(texts)}\n# {number}\n" for module, texts in style.items()}
        submissions.append((f"s{number}", modules))
    start = time.perf_counter()
    pairs = compare(submissions)
    seconds = time.perf_counter() - start
    print(f"{count} submissions: {seconds:.1f} s, {peak_megabytes():.0f} MiB, {len(pairs)} pairs listed")


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--class", dest="count", type=int)
    parser.add_argument("--assignment", default="*", help="compare only this one")
    arguments = parser.parse_args()
    measure_class(arguments.count) if arguments.count else measure_quality(arguments.assignment)
