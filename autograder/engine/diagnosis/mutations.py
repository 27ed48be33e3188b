"""Single changes of the solution that need no table: a lost factor, a wrong sign, a wrong axis, another order.

They are the last resort, because their names say less than those of known mistakes. A name uses only words that the
student knows: parameters, and what the docstring mentions.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise

from autograder.engine.diagnosis.generated import called_helpers, replace_node, tree_of_function
from autograder.engine.diagnosis.mistake import CONSTANT, Mistake
from autograder.engine.diagnosis.variants import function_docstring, parameter_names, solution_module

_WHY = "The official solution with this one change gives your numbers."
_ASK = "Compare this step of your code with the formula, one term after the other."
_SIGNS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("-", "is subtracted{place}, not added"),
    ast.Sub: ("+", "is added{place}, not subtracted"),
    ast.Mult: ("/", "divides{place}, where it should multiply"),
    ast.Div: ("*", "multiplies{place}, where it should divide"),
}
# These make arrays or loops of a given size, which must not become huge.
_SIZED = frozenset(["arange", "empty", "eye", "full", "linspace", "ones", "range", "repeat", "tile", "zeros"])
_COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
_REDUCTIONS = {
    "sum": ("mean", "max"), "mean": ("sum",), "max": ("min", "sum", "mean"), "min": ("max", "sum", "mean"),
    "var": ("std",), "std": ("var",), "argmax": ("argmin",), "argmin": ("argmax",), "any": ("all",), "all": ("any",),
    "maximum": ("minimum",), "minimum": ("maximum",),
}  # fmt: skip
# Functions that compute nothing: without them, or with another in their place, code fails or does the same.
_NO_STEPS = frozenset([
    "array", "asarray", "bool", "dict", "enumerate", "float", "int", "iter", "len", "list", "ndim", "ndindex", "next",
    "reversed", "set", "shape", "size", "sorted", "str", "tuple", "type",
])  # fmt: skip
_AXES = ("-1", "0", "-2", "1", "None")
# Other orders of an array: the halves of an axis may be read as pairs of neighbors, and the other way round.
_ORDERS = {
    "np.flip({0}, -1)": "reversed along its last axis",
    "np.flip({0}, 0)": "reversed along its first axis",
    "np.flip({0})": "reversed along all axes",
    "np.swapaxes({0}, -1, -2)": "transposed",
    "np.reshape({0}, np.shape({0})[::-1]).T": "filled column by column, not row by row",
    "np.reshape(np.swapaxes(np.reshape({0}, (*np.shape({0})[:-1], 2, -1)), -1, -2), np.shape({0}))":
        "read in halves along its last axis, not in pairs of neighbors",
    "np.reshape(np.swapaxes(np.reshape({0}, (*np.shape({0})[:-1], -1, 2)), -1, -2), np.shape({0}))":
        "read in pairs of neighbors along its last axis, not in halves",
}  # fmt: skip
_Change = tuple[ast.expr | ast.stmt, str, str]  # what is replaced, by which code, and the title
_Rule = Callable[[ast.FunctionDef, set[str]], Iterator[_Change]]


@cache
def mutations(function: str, package: str) -> tuple[Mistake, ...]:
    """Return the single changes of a function's solution and of its private helpers."""
    found: dict[object, Mistake] = {}
    module = function.partition(".")[0]
    known = _words(function_docstring(function, package)) | {"np", "math"} | set(parameter_names(function, package))
    numbers = {n: value for n, value in vars(solution_module(module, package)).items() if type(value) in (int, float)}
    for rule in _RULES:  # Those of the first say the most: where the time is up, the others are not tried.
        for helper in ("", *called_helpers(function, package)):
            text, node = tree_of_function(f"{module}.{helper}" if helper else function, package)
            if any(isinstance(part, ast.While) for part in ast.walk(node)):
                return ()  # A change could make the loop endless, in the process of the grader.
            others = _other_numbers(node, numbers) if rule is _changes else ()
            for part, new, title in (*rule(node, known), *others):
                if (edit := replace_node(text, part, new)) is not None:
                    name = f"change-{helper or 'of-code'}-{len(found)}"
                    mistake = Mistake(function, name, title, _WHY, _ASK, (edit,), inside=helper, generated=True)
                    found.setdefault((edit, helper), replace(mistake, constant=0.5 if CONSTANT in new else None))
    return tuple(found.values())


def _other_numbers(function: ast.FunctionDef, numbers: dict[str, float]) -> Iterator[_Change]:
    """Yield another value for each use of a constant of the module."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in numbers:
            yield node, CONSTANT, f"a number is {{constant}}, not {numbers[node.id]:.6g}"


def _changes(function: ast.FunctionDef, known: set[str]) -> Iterator[_Change]:
    """Yield changes of terms, factors, signs, axes and orders."""
    for statement, place in _statements(function, known):
        yield from _statement_changes(statement, place, known)
        for node in _own_expressions(statement):
            yield from _expression_changes(node, place, known)


def _ignored_options(function: ast.FunctionDef, known: set[str]) -> Iterator[_Change]:
    """Yield each optional parameter with its default, whatever is passed."""
    args, defaults = function.args.args, function.args.defaults
    for argument, node in zip(args[len(args) - len(defaults) :], defaults, strict=True):
        name, default = argument.arg, ast.unparse(node)
        new = f"{name} = {default}\n{ast.unparse(function.body[0])}".replace("\n", "\n    ")
        yield function.body[0], new, f"{name} is ignored: it is always {default}"


def _changed_steps(function: ast.FunctionDef, known: set[str]) -> Iterator[_Change]:
    """Yield changes of whole steps, indices and slices: one is lost, or another one takes its place."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    steps = {ast.unparse(call.func): _title_of(call.func) for call in calls if _is_step(call)}
    for statement, place in _statements(function, known):
        yield from _exchanged_targets(statement, known)
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            yield statement, "pass", f"{_named('part of an array', statement.targets[0], known)} is not set"
        for node in _own_expressions(statement):
            if isinstance(node, ast.Call):
                yield from _lost_steps(node, place, known)
                yield from _other_steps(node, steps, place)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
                new = f"(-(-({ast.unparse(node.left)}) // ({ast.unparse(node.right)})))"
                yield node, new, f"a quotient is rounded up{place}, not down"
            elif isinstance(node, ast.Subscript):
                of = f" of {ast.unparse(node.value)}" if _is_known(node.value, known) else ""
                for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
                    yield from _shifted(part, of, place, known)
            yield from _transpositions(node, place, known)


def _words(docstring: str) -> set[str]:
    """Return the names in formulas, quotes and lists of a docstring: a word of its prose may be none, such as "a"."""
    description, _, rest = docstring.partition("Args:")
    labels = re.findall(r"(?:^|\.) *(\w+(?:, \w+)*): |tuple \(([^)]*)\)", rest, re.MULTILINE)
    quoted = re.findall(r"`([^`]+)`|^    (.+)", description, re.MULTILINE) + re.findall(r"`([^`]+)`()", rest)
    sizes = set(re.findall(r"\b[B-HJ-Z]\b", docstring))
    return sizes.union(*(re.findall(r"\w+", part) for found in labels + quoted for part in found))


def _statements(function: ast.FunctionDef, known: set[str]) -> Iterator[tuple[ast.stmt, str]]:
    """Yield each statement and where its value goes; nobody compares the text of an error."""
    for statement in ast.walk(function):
        if isinstance(statement, ast.stmt) and not (statement is function or isinstance(statement, ast.Raise)):
            yield statement, _place(statement, known)


def _own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement, without those of the statements in it, and without sizes of arrays."""
    todo: list[ast.AST] = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.expr):
            yield node
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _SIZED:
            continue
        todo += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


def _place(statement: ast.stmt, known: set[str]) -> str:
    """Return where a statement's value goes, such as ` in dx`; "" if the student has no word for it."""
    if isinstance(statement, ast.Return):
        return " in what is returned"
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    return f" in {ast.unparse(targets[0])}" if targets and _is_known(targets[0], known) else ""


def _is_known(node: ast.AST, known: set[str]) -> bool:
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return bool(names) and names <= known and len(text := ast.unparse(node)) <= 40 and "{" not in text


def _named(kind: str, node: ast.expr, known: set[str]) -> str:
    if isinstance(node, ast.Constant):
        return f"the {kind} {node.value!r}"
    return f"the {kind} {ast.unparse(node)}" if _is_known(node, known) else f"a {kind}"


def _statement_changes(statement: ast.stmt, place: str, known: set[str]) -> Iterator[_Change]:
    if isinstance(statement, ast.AugAssign):
        target, value = ast.unparse(statement.target), ast.unparse(statement.value)
        kind = "term" if isinstance(statement.op, (ast.Add, ast.Sub)) else "factor"
        yield statement, "pass", f"{_named(kind, statement.value, known)} is missing{place}"
        yield statement, f"{target} = {value}", f"a value overwrites{place or ' something'} instead of changing it"
        if type(statement.op) in _SIGNS:
            sign, text = _SIGNS[type(statement.op)]
            title = f"{_named(kind, statement.value, known)} {text.format(place=place)}"
            yield statement, f"{target} {sign}= {value}", title
    elif isinstance(statement, ast.If):
        condition = _named("condition", statement.test, known)
        yield statement.test, "True", f"{condition} is not tested: it counts as true"
        yield statement.test, "False", f"{condition} is not tested: it counts as false"
    elif isinstance(statement, ast.Return) and isinstance(statement.value, ast.Tuple):
        parts = [ast.unparse(part) for part in statement.value.elts]
        for i in range(len(parts) - 1):
            order = [*parts[:i], parts[i + 1], parts[i], *parts[i + 2 :]]
            yield statement.value, ", ".join(order), f"results {i + 1} and {i + 2} are returned in the wrong order"


def _expression_changes(node: ast.expr, place: str, known: set[str]) -> Iterator[_Change]:
    if isinstance(node, ast.BinOp):
        yield from _operator_changes(node, place, known)
        # The result of // is a size, which a number of any magnitude could make too large for the memory.
        for side in (node.left, node.right) if not isinstance(node.op, ast.FloorDiv) else ():
            if isinstance(side, ast.Constant) and type(side.value) in (int, float):
                yield side, CONSTANT, f"a number is {{constant}}{place}, not {side.value!r}"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield node, f"({ast.unparse(node.operand)})", f"a minus sign is missing{place}"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        new = _COMPARISONS[type(node.ops[0])]
        title = f"{left} {new} {right} is tested{place}, not {ast.unparse(node)}"
        if not _is_known(node, known):
            shown = [
                f" with {ast.unparse(side)}" for side in (node.left, node.comparators[0]) if _is_known(side, known)
            ]
            title = f"a comparison{''.join(shown)} uses {new}{place}"
        yield node, f"({left} {new} {right})", title
    elif isinstance(node, ast.Call):
        yield from _call_changes(node, place)


def _operator_changes(node: ast.BinOp, place: str, known: set[str]) -> Iterator[_Change]:
    left, right = ast.unparse(node.left), ast.unparse(node.right)
    if isinstance(node.op, ast.MatMult):
        yield node, f"(({right}) @ ({left}))", f"the two matrices are multiplied in the wrong order{place}"
        for side, other in ((node.left, right), (node.right, left)):
            yield node, f"({other})", f"{_named('factor', side, known)} is missing{place}"
    elif isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        sign, right_sign = ("|", "&") if isinstance(node.op, ast.BitAnd) else ("&", "|")
        yield node, f"(({left}) {sign} ({right}))", f"{sign} combines two conditions{place}, not {right_sign}"
        for kept, lost in ((left, node.right), (right, node.left)):
            yield node, f"({kept})", f"{_named('condition', lost, known)} is missing{place}"
    elif isinstance(node.op, ast.Pow):
        yield node, f"({left})", f"a power is missing{place}"
    elif type(node.op) in _SIGNS:
        kind = "term" if isinstance(node.op, (ast.Add, ast.Sub)) else "factor"
        sign, text = _SIGNS[type(node.op)]
        yield node, f"({left})", f"{_named(kind, node.right, known)} is missing{place}"
        if not isinstance(node.op, ast.Div):
            minus = "-" if isinstance(node.op, ast.Sub) else ""
            yield node, f"({minus}({right}))", f"{_named(kind, node.left, known)} is missing{place}"
        what = _named(kind, node.right, known)
        yield node, f"(({left}) {sign} ({right}))", f"{what} {text.format(place=place)}"
        if isinstance(node.op, (ast.Sub, ast.Div)):
            operator, verb = ("-", "subtraction") if isinstance(node.op, ast.Sub) else ("/", "division")
            yield node, f"(({right}) {operator} ({left}))", f"a {verb} has its two sides swapped{place}"


def _call_changes(node: ast.Call, place: str) -> Iterator[_Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    arguments = [ast.unparse(argument) for argument in (*node.args, *node.keywords)]
    if isinstance(node.func, ast.Attribute):
        array = ast.unparse(node.args[0] if ast.unparse(node.func.value) == "np" and node.args else node.func.value)
        for other in _REDUCTIONS.get(name, ()):
            owner = ast.unparse(node.func.value)
            yield node, f"({owner}).{other}({', '.join(arguments)})", f"{other} is taken{place}, not {name}"
        if name in ("swapaxes", "transpose"):
            yield node, array, f"two axes are not swapped{place}"
            new = f"np.reshape({array}, np.shape({ast.unparse(node)}))"
            yield node, new, f"a reshape takes the place of swapped axes{place}"
        elif name in ("reshape", "astype") and not isinstance(node.func.value, ast.Name):
            yield node, array, f"{name} is missing{place}"
        if name in ("reshape", "ravel", "flatten") and (by_columns := "order='F'") not in arguments:
            new = f"{ast.unparse(node.func)}({', '.join([*arguments, by_columns])})"
            yield node, new, f"{name} goes column by column{place}, not row by row"
    for value in [keyword.value for keyword in node.keywords if keyword.arg == "axis"]:
        for axis in _AXES:
            if axis != (right := ast.unparse(value)):
                over = "all axes" if axis == "None" else f"axis {axis}"
                yield value, axis, f"{name} is taken over {over}{place}, not over axis {right}"
    if len(node.args) >= 2 and isinstance(node.func, ast.Name):
        for i in range(len(node.args) - 1):
            order = [*arguments[:i], arguments[i + 1], arguments[i], *arguments[i + 2 :]]
            yield node, f"{name}({', '.join(order)})", f"arguments {i + 1} and {i + 2} of {name} are swapped{place}"


def _is_step(call: ast.Call) -> bool:
    """Return whether a call is one of a function of a single argument, such as np.tanh(x)."""
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], (ast.GeneratorExp, ast.Starred)):
        return False
    name = re.fullmatch(r"(?:np\.|math\.|_)?([a-z][a-z0-9]*|as_float)", ast.unparse(call.func))
    return name is not None and name[1] not in _NO_STEPS | _SIZED | _REDUCTIONS.keys()


def _lost_steps(node: ast.Call, place: str, known: set[str]) -> Iterator[_Change]:
    name, more = _title_of(node.func), [ast.unparse(argument) for argument in (*node.args, *node.keywords)]
    values = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    if _is_step(node):
        (argument,) = node.args
        to = f" to {more[0]}" if _is_known(argument, known) else place
        yield node, f"({more[0]})", f"{name} is not applied{to}"
        if name == "sqrt" and isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Add):
            new = f"({ast.unparse(node.func)}({ast.unparse(argument.left)}) + {ast.unparse(argument.right)})"
            yield node, new, f"{_named('term', argument.right, known)} is added outside of the root{place}"
    elif name in ("maximum", "minimum") and len(node.args) == 2:
        for kept, lost in (node.args, node.args[::-1]):
            if isinstance(lost, ast.Constant):
                yield node, f"({ast.unparse(kept)})", f"the {name} with {ast.unparse(lost)} is missing{place}"
    elif name in ("var", "std", "mean") and isinstance(node.func, ast.Attribute):
        rest, title = ", ".join(more), f"{name} divides by the number of values minus 1{place}, not by their number"
        yield node, f"{ast.unparse(node.func)}({', '.join([*more, 'ddof=1'])})", title
        if name == "mean" and values != "np":
            yield node, f"(({values}).sum({rest}) / (np.ones_like({values}).sum({rest}) - 1))", title
    elif name in ("argmax", "argmin") and values:
        array, *axes = more if values == "np" else [values, *more]
        axis = [*axes, "None"][0].removeprefix("axis=")
        new = f"(np.size({array}, {axis}) - 1 - np.flip({array}, {axis}).{name}({', '.join(axes)}))"
        yield node, new, f"of equal values, the last one is taken{place}"
    elif name == "argsort" and values:
        array, *others = more if values == "np" else [values, *more]
        axis = next((argument.removeprefix("axis=") for argument in others if "kind" not in argument), "-1")
        new = f"(np.size({array}, {axis}) - 1 - np.argsort(np.flip({array}, {axis}), axis={axis}, kind='stable'))"
        yield node, new, f"of equal values, the last one comes first{place}"
    elif name in ("max", "min", "sorted") and not values and len(node.args) == 1:
        new = f"{name}({', '.join([f'list({more[0]})[::-1]', *more[1:]])})"
        yield node, new, f"of equal values, the last one {'comes first' if name == 'sorted' else 'is taken'}{place}"
    if more != (rest_of := [argument for argument in more if not argument.startswith("keepdims=")]):
        yield node, f"{ast.unparse(node.func)}({', '.join(rest_of)})", f"{name} is taken without keepdims{place}"


def _other_steps(node: ast.Call, steps: Mapping[str, str], place: str) -> Iterator[_Change]:
    """Yield the call of each other function of one argument that the code calls."""
    right = _title_of(node.func)
    for other, title in steps.items() if _is_step(node) else ():
        if title != right and "as_float" not in (title, right):
            yield node, f"{other}({ast.unparse(node.args[0])})", f"{title} is applied{place}, not {right}"


def _title_of(called: ast.expr) -> str:
    return ast.unparse(called).rpartition(".")[2].strip("_")


def _transpositions(node: ast.expr, place: str, known: set[str]) -> Iterator[_Change]:
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node, f"({ast.unparse(node.value)})", f"{_named('matrix', node.value, known)} is not transposed{place}"
    for side in (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) else ():
        if "swapaxes" not in (text := ast.unparse(side)) and not text.endswith(".T"):
            yield side, f"np.swapaxes({text}, -1, -2)", f"{_named('matrix', side, known)} is transposed{place}"


def _exchanged_targets(statement: ast.stmt, known: set[str]) -> Iterator[_Change]:
    """Yield the exchange of two neighbors that get parts of one value, such as the gates of an LSTM."""
    if not isinstance(statement, ast.Assign) or not isinstance(target := statement.targets[0], ast.Tuple):
        return
    parts = target.elts
    for i, (first, second) in enumerate(pairwise(parts)):
        order = [*parts[:i], second, first, *parts[i + 2 :]]
        both = f"{ast.unparse(first)} and {ast.unparse(second)}"
        what = both if _is_known(first, known) and _is_known(second, known) else f"parts {i + 1} and {i + 2} of a value"
        yield target, ", ".join(map(ast.unparse, order)), f"{what} are exchanged"


def _shifted(part: ast.expr, of: str, place: str, known: set[str]) -> Iterator[_Change]:
    """Yield an index that is one too large or too small, or a slice that begins or ends one later or earlier."""
    if isinstance(part, ast.Slice):
        first, last = (bound and ast.unparse(bound) for bound in (part.lower, part.upper))
        if first or last:
            yield part, ":", f"a slice{of} is missing{place}"
        if last and not first and not last.startswith("-"):
            yield part, f"-({last}):", f"a slice{of} takes the last ones{place}, not the first"
        for by, when in (("+ 1", "later"), ("- 1", "earlier")) if part.step is None and (first or last) else ():
            if first or by == "+ 1":
                yield part, f"({first or 0}) {by}:{last or ''}", f"a slice{of} begins one {when}{place}"
            if last != "-1" and (last or by == "- 1"):
                yield part, f"{first or ''}:({last or 0}) {by}", f"a slice{of} ends one {when}{place}"
            if last and last != "-1" and (first or by == "+ 1"):
                yield part, f"({first or 0}) {by}:({last}) {by}", f"a slice{of} begins and ends one {when}{place}"
    elif any(isinstance(inner, ast.Name) for inner in ast.walk(part)):
        for by, size in (("+ 1", "large"), ("- 1", "small")):
            yield part, f"({ast.unparse(part)}) {by}", f"{_named('position', part, known)}{of} is one too {size}{place}"


def _other_names(function: ast.FunctionDef, known: set[str]) -> Iterator[_Change]:
    """Yield another parameter or local variable in the place of each; what the student cannot know is described."""
    texts = _texts_of(function, known)
    for statement, place in _statements(function, known):
        for node in _own_expressions(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in texts:
                right = texts[node.id]
                for other, text in texts.items():
                    if text != right and not text.startswith("the result"):
                        yield node, other, f"{text} is used{place}, not {right}"
                yield node, f"np.abs({node.id})", f"{right} counts without its sign{place}"
            elif isinstance(node, ast.Call) and _title_of(node.func) == "where" and len(node.args) == 3:
                for kept in (kept for kept in node.args[1:] if not isinstance(kept, ast.Constant)):
                    title = f"{_named('condition', node.args[0], known)} has no effect{place}"
                    yield node, f"({ast.unparse(kept)})", title


def _texts_of(function: ast.FunctionDef, known: set[str]) -> dict[str, str]:
    """Return what the student calls the parameters and variables: others are described by what sets them."""
    texts = {argument.arg: argument.arg for argument in function.args.args if argument.arg in known}
    found: dict[str, set[str]] = {}
    for node in (node for node in ast.walk(function) if isinstance(node, ast.Assign)):
        of_call = f"the result of {_title_of(node.value.func)}" if isinstance(node.value, ast.Call) else ""
        for place, part in enumerate(node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets):
            index = f"[{place}]" if part is not node.targets[0] else ""
            text = ast.unparse(node.value) + index if _is_known(node.value, known) else of_call
            found.setdefault(ast.unparse(part), set()).add(text)
    described = {name: text for name, several in found.items() if len(several) == 1 and (text := min(several))}
    return described | texts | {name: name for name in found if name in known}


def _reordered_values(function: ast.FunctionDef, known: set[str]) -> Iterator[_Change]:
    """Yield other orders of the numbers of each required parameter, and of each variable after it is set."""
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    places: list[tuple[ast.expr, ast.stmt, str]] = [(node.targets[0], node, "{0}\n{1}") for node in assigned]
    required = function.args.args[: len(function.args.args) - len(function.args.defaults)]
    places += [(ast.Name(argument.arg), function.body[0], "{1}\n{0}") for argument in required]
    for variable, statement, both in (place for place in places if isinstance(place[0], ast.Name)):
        name, what = ast.unparse(variable), _named("value", variable, known)
        for order, text in _ORDERS.items():
            new = both.format(ast.unparse(statement), f"{name} = {order.format(name)}")
            yield statement, new.replace("\n", "\n" + " " * statement.col_offset), f"{what} is {text}"


_RULES: tuple[_Rule, ...] = (_ignored_options, _changes, _changed_steps, _other_names, _reordered_values)
