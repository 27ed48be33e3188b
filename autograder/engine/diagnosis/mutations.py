"""Single changes of the solution that need no table: a lost factor, a wrong sign, a wrong axis, another order.

They are the last resort, because their names say less than those of known mistakes. A name uses only words that the
student knows: parameters, and what the docstring mentions.
"""

import ast
import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

from autograder.engine.diagnosis.generated import called_helpers, is_public, replace_node, tree_of, tree_of_function
from autograder.engine.diagnosis.mistake import CONSTANT, Mistake
from autograder.engine.diagnosis.rewrites import METHODS, Bound, filled, rewritten
from autograder.engine.diagnosis.variants import function_docstring, parameters_of, plain_version, solution_module

_WHY = "The official solution with this one change gives your numbers."
_ASK = "Compare this step of your code with the formula, one term after the other."
# These make arrays or loops of a given size, which must not become huge.
_SIZED = frozenset(["arange", "empty", "eye", "full", "linspace", "ones", "range", "repeat", "tile", "zeros"])
# Functions that compute nothing: without them, or with another in their place, code fails or does the same.
_NO_STEPS = METHODS | frozenset([
    "array", "asarray", "bool", "dict", "enumerate", "float", "int", "iter", "len", "list", "ndim", "ndindex", "next",
    "reversed", "set", "shape", "size", "sorted", "str", "tuple", "type",
])  # fmt: skip
_AXES = ("-1", "0", "-2", "1", "None")
_RESULT = "the result of "
_Change = tuple[ast.expr | ast.stmt, str, str]  # what is replaced, by which code, and the title


class _Words(NamedTuple):
    """The words for titles of changes of a function."""

    known: frozenset[str]  # names that the student knows
    texts: dict[str, str]  # what describes other variables, as far as something does
    code: Bound  # those of these texts that are code
    variables: dict[str, str]  # may take each other's place; the texts decide which of them are tried
    parameters: dict[str, list[str]]  # of the functions of the course
    numbers: dict[str, float]  # the constants of the module


_Rule = Callable[[ast.FunctionDef, _Words], Iterator[_Change]]


@cache
def mutations(function: str, package: str, *, plain: bool = True) -> tuple[Mistake, ...]:
    """Return the single changes of a function's solution and of its private helpers, or of the `plain` version."""
    found: dict[object, Mistake] = {}
    module = function.partition(".")[0]
    known = frozenset(["np", "math", *_words(function_docstring(function, package)), *parameters_of(function, package)])
    values = vars(solution_module(module, package))
    numbers = {name: value for name, value in values.items() if type(value) in (int, float)}
    parameters = {name: [*inspect.signature(value).parameters] for name, value in values.items() if is_public(value)}
    usual = frozenset(["config", "params", *known, *parameters, *values["__builtins__"]])
    for rule in _RULES:  # Those of the first say the most: where the time is up, the others are not tried.
        for helper, body, text, node in _trees(function, package, plain):
            own = known | {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and body}
            texts = _texts_of(node, usual, split=True)
            code = {name: ast.parse(text, mode="eval").body for name, text in texts.items() if _RESULT not in text}
            words = _Words(usual, texts, code, _texts_of(node, own), parameters, numbers)
            for part, new, title in rule(node, words):
                if (edit := replace_node(text, part, new)) is not None:
                    name = f"change-{helper or 'of-code'}-{len(found)}"
                    mistake = Mistake(function, name, title, _WHY, _ASK, (edit,), body, helper, generated=True)
                    found.setdefault((edit, helper), replace(mistake, constant=0.5 if CONSTANT in new else None))
    return tuple(found.values())


def _trees(function: str, package: str, plain: bool) -> list[tuple[str, str, str, ast.FunctionDef]]:
    """Return what is changed: the plain version, given by its body, or else the solution, and private helpers of it."""
    module = function.partition(".")[0]
    signature, body = plain_version(function, package) if plain else ("", "")
    text, node = tree_of(signature + body) if body else tree_of_function(function, package)
    helpers = [name for name in called_helpers(function, package) if not body or f"{name}(" in body]
    trees = [("", body, text, node), *((name, "", *tree_of_function(f"{module}.{name}", package)) for name in helpers)]
    # A change could make a loop endless, in the process of the grader.
    return [] if any(isinstance(part, ast.While) for *_, tree in trees for part in ast.walk(tree)) else trees


def _changes(function: ast.FunctionDef, words: _Words) -> Iterator[_Change]:
    """Yield changes of terms, factors, signs, axes and orders, and other values for the module's constants."""
    for statement, place in _statements(function, words):
        yield from _statement_changes(statement, place, words)
        for node in (part for part in _own_expressions(statement) if not isinstance(part, ast.Name)):
            yield from _expression_changes(node, place, words)
    for part in ast.walk(function):
        if isinstance(part, ast.Name) and part.id in words.numbers:
            yield part, CONSTANT, f"a number is {{constant}}, not {words.numbers[part.id]:.6g}"


def _ignored_options(function: ast.FunctionDef, words: _Words) -> Iterator[_Change]:
    """Yield each optional parameter with its default, whatever is passed."""
    args, defaults = function.args.args, function.args.defaults
    for argument, node in zip(args[len(args) - len(defaults) :], defaults, strict=True):
        name, default = argument.arg, ast.unparse(node)
        new = f"{name} = {default}\n{ast.unparse(function.body[0])}".replace("\n", "\n    ")
        yield function.body[0], new, f"{name} is ignored: it is always {default}"


def _changed_steps(function: ast.FunctionDef, words: _Words) -> Iterator[_Change]:
    """Yield changes of whole steps, indices and slices: one is lost, or another one takes its place."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    steps = {ast.unparse(call.func): _title_of(call.func) for call in calls if _is_step(call)}
    keys: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is str:
            keys[ast.unparse(node.value)].add(ast.unparse(node.slice))
    for statement, place in _statements(function, words):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            yield statement, "pass", f"{_text_of(statement.targets[0], words) or 'a part of an array'} is not set"
        for node in _own_expressions(statement):
            if isinstance(node, ast.Call):
                yield from _step_changes(node, steps, place, words)
            elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)):
                for test in (test for loop in node.generators for test in loop.ifs):
                    yield test, "True", f"{_named('condition', test, words)} is not tested{place}: it counts as true"
            elif isinstance(node, ast.Subscript):
                for other in sorted(keys[ast.unparse(node.value)]) if isinstance(node.slice, ast.Constant) else ():
                    new = f"{ast.unparse(node.value)}[{other}]"
                    yield node, new, f"{new} is used{place}, not {ast.unparse(node)}"
                of = f" of {text}" if (text := _text_of(node.value, words)) else ""
                parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                for part in parts:
                    yield from _shifted(part, of, place, words)


def _words(docstring: str) -> set[str]:
    """Return the names in formulas, quotes and lists of a docstring: a word of its prose may be none, such as "a"."""
    description, _, rest = docstring.partition("Args:")
    labels = re.findall(r"(?:^|\.) *(\w+(?:, \w+)*): |tuple \(([^)]*)\)", rest, re.MULTILINE)
    quoted = re.findall(r"`([^`]+)`|^    (.+)", description, re.MULTILINE) + re.findall(r"`([^`]+)`()", rest)
    sizes = set(re.findall(r"\b[B-HJ-Z]\b", docstring))
    return sizes.union(*(re.findall(r"\w+", part) for found in labels + quoted for part in found))


def _statements(function: ast.FunctionDef, words: _Words) -> Iterator[tuple[ast.stmt, str]]:
    """Yield each statement and where its value goes; nobody compares the text of an error."""
    for statement in ast.walk(function):
        if isinstance(statement, ast.stmt) and not (statement is function or isinstance(statement, ast.Raise)):
            yield statement, _place(statement, words)


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


def _place(statement: ast.stmt, words: _Words) -> str:
    """Return where a statement's value goes, such as ` in dx`; "" if the student has no word for it."""
    if not isinstance(statement, (ast.Assign, ast.AugAssign)):
        return ""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    texts = [text for part in parts if (text := ast.unparse(part)) != "_"]
    listed = re.sub(r", (\w+)$", r" and \1", ", ".join(texts))
    return f" in {listed}" if texts and all(_is_known(text, words.known) for text in texts) else ""


@cache
def _is_known(text: str, known: frozenset[str]) -> bool:
    names = {part.id for part in ast.walk(ast.parse(f"[].x[{text}]")) if isinstance(part, ast.Name)}  # or a slice
    return bool(names) and names <= known and len(text) <= 40 and "{" not in text


def _text_of(node: ast.expr, words: _Words) -> str:
    """Return the student's words for an expression; "" if there are none."""
    text = filled(node, words.code)
    return text if _is_known(text, words.known) else words.texts.get(ast.unparse(node), "")


def _filled_in(title: str, bound: Bound, place: str, words: _Words) -> str:
    """Return the title of a rewrite with the names of what it is about."""
    title = title.replace("@", place)
    title = re.sub(r"\[function F\]", lambda _: _title_of(bound["F"]), title)
    return re.sub(r"\[(\w+) ([A-DMNO])\]", lambda found: _named(found[1], bound[found[2]], words), title)


def _named(kind: str, node: ast.expr, words: _Words) -> str:
    text = repr(node.value) if isinstance(node, ast.Constant) else _text_of(node, words)
    if text.startswith(_RESULT):
        return text
    return f"the {kind} {text}" if text else f"{'an' if kind[0] in 'aei' else 'a'} {kind}"


def _statement_changes(statement: ast.stmt, place: str, words: _Words) -> Iterator[_Change]:
    if isinstance(statement, ast.AugAssign):
        target, value = ast.unparse(statement.target), ast.unparse(statement.value)
        yield statement, f"{target} = {value}", f"a value is overwritten{place}, not changed"
        whole = ast.BinOp(ast.parse(target, mode="eval").body, statement.op, statement.value)
        filled_in = partial(_filled_in, place=place, words=words)
        yield from ((statement, f"{target} = {new}", title) for new, title in rewritten(whole, filled_in))
    elif isinstance(statement, ast.If):
        condition = _named("condition", statement.test, words)
        if condition == "a condition" and isinstance(statement.body[0], ast.Raise):
            condition = "the condition of the documented error"
        yield statement.test, "True", f"{condition} is not tested: it counts as true"
        yield statement.test, "False", f"{condition} is not tested: it counts as false"


def _expression_changes(node: ast.expr, place: str, words: _Words) -> Iterator[_Change]:
    yield from ((node, new, title) for new, title in rewritten(node, partial(_filled_in, place=place, words=words)))
    if isinstance(node, ast.BinOp):
        # The result of // is a size, which a number of any magnitude could make too large for the memory.
        for side in (node.left, node.right) if not isinstance(node.op, ast.FloorDiv) else ():
            if isinstance(side, ast.Constant) and type(side.value) in (int, float):
                what = "the exponent" if isinstance(node.op, ast.Pow) and side is node.right else "a number"
                for near in (side.value - 1, side.value + 1) if isinstance(side.value, int) else ():
                    yield side, repr(near), f"{what} is {near!r}{place}, not {side.value!r}"
                yield side, CONSTANT, f"{what} is {{constant}}{place}, not {side.value!r}"
    elif isinstance(node, (ast.Tuple, ast.List)):
        for i, (first, second) in enumerate(pairwise(node.elts)):
            order = [*node.elts[:i], second, first, *node.elts[i + 2 :]]
            texts = [_text_of(first, words), _text_of(second, words)]
            new = ", ".join(map(ast.unparse, order))
            what = " and ".join(texts) if all(texts) else f"parts {i + 1} and {i + 2} of a value"
            yield node, f"[{new}]" if isinstance(node, ast.List) else new, f"{what} are exchanged{place}"
    elif isinstance(node, ast.Call):
        yield from _call_changes(node, place, words.parameters)


def _call_changes(node: ast.Call, place: str, parameters: Mapping[str, list[str]]) -> Iterator[_Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    arguments = [ast.unparse(argument) for argument in (*node.args, *node.keywords)]
    for value in [keyword.value for keyword in node.keywords if keyword.arg == "axis"]:
        for axis in _AXES:
            if axis != (right := ast.unparse(value)):
                over = "all axes" if axis == "None" else f"axis {axis}"
                yield value, axis, f"{name} is taken over {over}{place}, not over axis {right}"
    for i in range(len(node.args) - 1 if isinstance(node.func, ast.Name) else 0):
        order = [*arguments[:i], arguments[i + 1], arguments[i], *arguments[i + 2 :]]
        both = " and ".join(parameters.get(name, ())[i : i + 2]) or f"arguments {i + 1} and {i + 2}"
        yield node, f"{name}({', '.join(order)})", f"{both} are swapped in a call of {name}{place}"


def _is_step(call: ast.Call) -> bool:
    """Return whether a call is one of a function of a single argument, such as np.tanh(x)."""
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], (ast.GeneratorExp, ast.Starred)):
        return False
    name = re.fullmatch(r"(?:np\.|math\.|_)?([a-z][a-z0-9]*|as_float)", ast.unparse(call.func))
    return name is not None and name[1] not in _NO_STEPS | _SIZED


def _step_changes(node: ast.Call, steps: Mapping[str, str], place: str, words: _Words) -> Iterator[_Change]:
    """Yield a call without one of its options, its argument alone, and the calls of each other function in the code."""
    name = _title_of(node.func)
    for lost in (keyword for keyword in node.keywords if keyword.arg not in ("axis", "dtype")):
        rest_of = [argument for argument in (*node.args, *node.keywords) if argument is not lost]
        new = f"{ast.unparse(node.func)}({', '.join(map(ast.unparse, rest_of))})"
        yield node, new, f"{name} is called without {lost.arg}{place}"
    if _is_step(node):
        text = ast.unparse(node.args[0])
        to = _text_of(node.args[0], words)
        yield node, f"({text})", f"{name} is not applied" + (f" to {to}" if to else place)
        for other, title in steps.items():
            if title != name and "as_float" not in (title, name):
                yield node, f"{other}({text})", f"{title} is applied{place}, not {name}"


def _title_of(called: ast.expr) -> str:
    return ast.unparse(called).rpartition(".")[2].strip("_")


def _shifted(part: ast.expr, of: str, place: str, words: _Words) -> Iterator[_Change]:
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
            yield part, f"({ast.unparse(part)}) {by}", f"{_named('position', part, words)}{of} is one too {size}{place}"


def _changed_uses(function: ast.FunctionDef, words: _Words) -> Iterator[_Change]:
    """Yield changes of what is stored in a variable, but only in one of its uses, and changes of f(a + b)."""
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    uses = Counter(node.id for node in ast.walk(function) if isinstance(node, ast.Name))
    for statement, place in _statements(function, words):
        earlier = sorted((node for node in assigned if node.lineno < statement.lineno), key=lambda node: node.lineno)
        targets = ((part, node.value) for node in earlier for part in node.targets if isinstance(part, ast.Name))
        values = {
            name.id: value for name, value in targets if ast.dump(name).replace("Store", "Load") not in ast.dump(value)
        }
        filled_in = partial(_filled_in, place=place or " in one place", words=words)
        for node in _own_expressions(statement):
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load)
                and uses[node.id] > 2
                and node.id in values
            ):
                yield from ((node, new, title) for new, title in rewritten(values[node.id], filled_in))
            elif isinstance(node, ast.Call) and node.args and isinstance(first := node.args[0], ast.Name):
                inlined = ast.Call(node.func, [values.get(first.id, first), *node.args[1:]], node.keywords)
                if isinstance(inlined.args[0], ast.BinOp):
                    yield from ((node, new, title) for new, title in rewritten(inlined, filled_in))


def _other_names(function: ast.FunctionDef, words: _Words) -> Iterator[_Change]:
    """Yield another parameter or local variable in the place of each; what the student cannot know is described."""
    texts = words.variables
    shown = {name: text for name, text in words.texts.items() if _RESULT not in text}
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    since = {node.id: node.lineno for node in reversed(names) if isinstance(node.ctx, ast.Store)}
    for statement, place in _statements(function, words):
        others = [name for name in texts if since.get(name, 0) < statement.lineno and _RESULT not in texts[name]]
        uses = Counter(node.id for node in _own_expressions(statement) if isinstance(node, ast.Name))
        for node in _own_expressions(statement):
            used = node.value if ast.unparse(node).endswith("[:, None]") and isinstance(node, ast.Subscript) else node
            if not (isinstance(used, ast.Name) and isinstance(used.ctx, ast.Load) and used.id in texts):
                continue
            right, different = _text_of(used, words), [name for name in others if texts[name] != texts[used.id]]
            instead = f"is used{place}" + (f", not {right}" if right else " in the place of another value")
            changes = [(name, f"{shown.get(name, 'another value')} {instead}") for name in different]
            right = right or "a value"
            yield from ((node, new, title) for new, title in changes)
            yield node, f"np.abs({used.id})", f"{right} counts without its sign{place}"
            yield node, f"(-{used.id})", f"{right} has the wrong sign{place}"
            if uses[used.id] > 1 and isinstance(whole := getattr(statement, "value", None), ast.expr):
                changes += [(f"{used.id}[:-1]", f"the last entry of {right} is left out{place}")]
                for new, title in changes:
                    yield whole, f"({filled(whole, {used.id: ast.Name(new)})})", title


def _texts_of(function: ast.FunctionDef, known: frozenset[str], *, split: bool = False) -> dict[str, str]:
    """Return what the student calls the parameters and variables, else what sets them: a part of a tuple if `split`."""
    texts = {argument.arg: argument.arg for argument in function.args.args if argument.arg in known}
    found: dict[str, set[str]] = {}
    for node in (node for node in ast.walk(function) if isinstance(node, ast.Assign)):
        of_call = f"{_RESULT}{_title_of(node.value.func)}" if isinstance(node.value, ast.Call) else ""
        parts = target.elts if isinstance(target := node.targets[0], ast.Tuple) else node.targets
        for place, part in enumerate(parts):
            index = f"[{place}]" if parts is not node.targets else ""
            value = getattr(node.value, "args", [None])[-1] if of_call == f"{_RESULT}map" else node.value
            if split and index and isinstance(value, ast.Tuple):
                value, index = value.elts[place], ""
            text = ast.unparse(value) + index if _is_known(ast.unparse(value), known) else of_call
            found.setdefault(ast.unparse(part), set()).add(text)
    described = {name: text for name, several in found.items() if len(several) == 1 and (text := min(several))}
    return described | texts | {name: name for name in found if name in known}


def _reordered_values(function: ast.FunctionDef, words: _Words) -> Iterator[_Change]:
    """Yield other orders of the numbers of each required parameter, and of each variable after it is set."""
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    places: list[tuple[ast.expr, ast.stmt, str]] = [(node.targets[0], node, "{0}\n{1}") for node in assigned]
    required = function.args.args[: len(function.args.args) - len(function.args.defaults)]
    places += [(ast.Name(argument.arg), function.body[0], "{1}\n{0}") for argument in required]
    for variable, statement, both in (place for place in places if isinstance(place[0], ast.Name)):
        for new, title in rewritten(variable, partial(_filled_in, place="", words=words)):
            code = both.format(ast.unparse(statement), f"{ast.unparse(variable)} = {new}")
            yield statement, code.replace("\n", "\n" + " " * statement.col_offset), title


_RULES: tuple[_Rule, ...] = (_ignored_options, _changes, _changed_steps, _changed_uses, _other_names, _reordered_values)
