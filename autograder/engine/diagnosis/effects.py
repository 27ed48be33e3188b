"""Describe what wrong answers show by themselves, where no known mistake explains a check.

A function may return the same whatever it gets: it is not written yet. An answer may differ from the correct one in a
single way: its dtype, its form, its order, a factor. That is not the cause but the effect.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from autograder.engine.comparison.relations import describe_relation
from autograder.engine.diagnosis.explanation import Diagnosis, is_same_refusal
from autograder.engine.diagnosis.matching import (
    MIN_DISTINCTIVE,
    Match,
    Part,
    count_wrong,
    is_coarse,
    is_distinctive,
    match_values,
    parts_of,
)
from autograder.engine.diagnosis.mistake import Mistake
from autograder.engine.diagnosis.replay import Answer, correct_answer
from autograder.engine.diagnosis.variants import parameters_of
from autograder.engine.student import UNANSWERED, Call, RecordedCheck

MAX_NAMES = 4
_WHY_UNFINISHED = "A function that is not finished often ends like this."
_ASK_UNFINISHED = "Which line of the formula in the docstring can you write first?"
_WHY = "This is what the check found; it does not say which line is the cause."
_ASK = "Which line of your code decides that?"
_CONSTANTS = (bool, int, float, str)
_Effect = tuple[str, str]  # a short name, and the title


def diagnose_placeholder(function: str, checks: Iterable[RecordedCheck], package: str) -> Diagnosis | None:
    """Return that all calls of a function return the same or an unchanged argument, although they should not.

    `checks` are all that made a call, passed ones included.
    """
    checks = [check for check in checks if check.calls[-1].function.qualified == function]
    calls = [check.calls[-1] for check in checks]
    if not calls or any(call.value is UNANSWERED for call in calls):
        return None
    rights = [correct_answer(check, package).value for check in checks]
    for name, title in _descriptions(calls, rights, tuple(parameters_of(function, package))):
        title = f"the function always returns {title}"
        mistake = Mistake(function, f"placeholder-{name}", title, _WHY_UNFINISHED, _ASK_UNFINISHED, generated=True)
        return Diagnosis((mistake,), proof="it did so in every check")
    return None


def _descriptions(calls: list[Call], rights: list[Any], parameters: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield what all answers have in common and the correct ones do not: a name, and words."""
    values = [call.value for call in calls]
    if all(value is None for value in values) and any(right is not None for right in rights):
        yield "none", "None: is a return statement missing?"
    if _are_one_constant(values) and not _are_one_constant(rights):
        yield "constant", f"{values[0]!r:.40}"
    if all(map(_is_zero, values)) and not all(map(_is_zero, rights)):
        yield "zeros", "zeros"
    if len(values) > 1:
        for index, parameter in enumerate(parameters):
            given = [call.args[index] if index < len(call.args) else call.kwargs.get(parameter) for call in calls]
            if all(map(_is_same, values, given)) and not all(map(_is_same, rights, given)):
                yield "argument", f"{parameter}, unchanged"


def _are_one_constant(values: list[Any]) -> bool:
    may_be = len(values) > 1 and isinstance(values[0], _CONSTANTS)
    return may_be and all(_is_same(first, second) for first, second in pairwise(values))


def _is_zero(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0 and value.dtype.kind in "fiu" and not value.any()


def _is_same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return first.shape == second.shape and np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_is_same(first[key], second[key]) for key in first)
    is_plain = isinstance(first, (*_CONSTANTS, list)) and not isinstance(second, np.ndarray)
    return is_plain and type(first) is type(second) and bool(first == second)


def diagnose_effect(
    call: Call, right: Answer, package: str, passed: Sequence[Call] = (), failed: Sequence[Call] = ()
) -> Diagnosis | None:
    """Return the effect that alone distinguishes the student's answer of a call from the correct one; None if none.

    `passed` are calls of the function with correct answers, or with errors that are correct; `failed` are those of its
    failed checks.
    """
    if call.exception is not None and call.exception.file_at_fault:
        return None  # No function has run.
    effects = dict.fromkeys(_effects(call, right))
    proof = "in this check, your answer differs from the correct one in nothing else"
    if not effects and call.exception is not None and right.exception is None:
        if any(is_same_refusal(call.exception, other.exception) for other in passed):
            effects = {("allowed-input-refused", f"{call.exception.type} is raised for an input that is allowed"): None}
        proof = "your code raises the same error where it is right"
    function = call.function.qualified
    if not effects and right.exception is None:
        returned = [other for other in passed if other.exception is None]
        where, elsewhere = conditions(failed, returned, parameters_of(function, package))
        if where:
            wrong = f"raises {call.exception.type}" if call.exception is not None else "returns wrong results"
            effects = {("only-where", f"the function {wrong} {where}; it is right {elsewhere}"): None}
        proof = "it was so in every check"
    if not effects or len(effects) > MAX_NAMES:
        return None
    mistakes = (Mistake(function, f"effect-{name}", title, _WHY, _ASK, generated=True) for name, title in effects)
    return Diagnosis(tuple(mistakes), together=True, proof=proof)


def conditions(wrong: Sequence[Call], right: Sequence[Call], parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Return what some calls have in common and others have not: `with mask`, and `without mask`; "" if nothing."""
    all_traits = [[_traits(call, parameters) for call in calls] for calls in (wrong, right)]
    for trait in all_traits[0][0] if wrong and len(right) > 1 else ():  # A single call may differ by chance.
        first, second = ({traits.get(trait, "") for traits in side} for side in all_traits)
        if not first & second and "" not in first | second:
            return " or ".join(sorted(first)), " or ".join(sorted(second))
    return "", ""


def _traits(call: Call, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return words for what is passed to a function: which options, in how many axes, of which dtype."""
    traits = {}
    for name, value in {**parameters, **dict(zip(parameters, call.args, strict=False)), **call.kwargs}.items():
        traits[name] = f"without {name}" if value is None else f"with {name}"
        if isinstance(parameters.get(name), (str, bool)):  # an option, not a text
            traits[name] += f"={value!r}"
        elif isinstance(value, np.ndarray):
            traits[f"{name}.ndim"] = f"for {name} with {value.ndim} {'axis' if value.ndim == 1 else 'axes'}"
            traits[f"{name}.dtype"] = f"for {name} of the dtype {value.dtype}"
    return traits


def _effects(call: Call, right: Answer) -> Iterator[_Effect]:
    if call.exception is not None or right.exception is not None:
        yield from _effects_on_exceptions(call, right)
    elif set(_names(call.modified)) - right.modified:
        names = ", ".join(dict.fromkeys(_names(call.modified)))
        if match_values(call.value, right.value, is_coarse(call)) is Match.EXACT:
            yield "changed-in-place", f"the function changes its argument {names} in place"
    elif (parts := parts_of(call, right, right)) is None:
        yield from _effects_on_form(call, right)
    else:
        yield from _effects_on_parts(call, right, parts)


def _names(modified: Sequence[str]) -> list[str]:
    return [name.partition("[")[0] for name in modified]


def _effects_on_exceptions(call: Call, right: Answer) -> Iterator[_Effect]:
    if right.exception is None or (call.exception is not None and call.exception.type == right.exception.type):
        return
    if call.exception is None:
        yield "error-not-raised", f"the documented {right.exception.type} is not raised"
    else:
        yield "other-error", f"{call.exception.type} is raised, not the documented {right.exception.type}"


def _effects_on_form(call: Call, right: Answer) -> Iterator[_Effect]:
    """Yield the keys that a dict has too many or too few, if all others are right."""
    names = [output.name for output in call.function.outputs] or ["the result"]
    values = (call.value, right.value)
    if not all(isinstance(value, tuple) for value in values) or len(call.value) != len(right.value):
        values = ((call.value,), (right.value,))
    effects = []
    for name, student, expected in zip(names, *values, strict=False):
        if isinstance(expected, dict) and isinstance(student, dict) and student.keys() != expected.keys():
            common = {key: student[key] for key in expected if key in student}
            if match_values(common, {key: expected[key] for key in common}) is not Match.EXACT:
                return
            missing, extra = (
                ", ".join(map(repr, list(keys)[:MAX_NAMES]))
                for keys in (expected.keys() - student.keys(), student.keys() - expected.keys())
            )
            effects += [("missing-keys", f"{name} is missing {missing}")] * bool(missing)
            effects += [("extra-keys", f"{name} also has {extra}")] * bool(extra)
        elif match_values(student, expected) is not Match.EXACT:
            return
    yield from effects


def _effects_on_parts(call: Call, right: Answer, parts: Sequence[Part]) -> Iterator[_Effect]:
    coarse = is_coarse(call)
    wrong = [part for part in parts if match_values(part.student, part.right, coarse) is not Match.EXACT]
    if exchanged := _exchanged(wrong, coarse):
        yield "results-exchanged", exchanged
        return
    if not wrong and type(call.value) is not type(right.value) and isinstance(right.value, (float, int)):
        kind = "a NumPy " * isinstance(call.value, (np.generic, np.ndarray)) + type(call.value).__name__
        yield "other-type", f"the result is {kind}, not a Python {type(right.value).__name__}"
    effects = [_effect_of_ties(part, call) or _effect_on_part(part, parts, right, coarse) for part in wrong]
    if all(effects):
        grouped: dict[_Effect, list[str]] = {}
        for part, effect in zip(wrong, effects, strict=True):
            grouped.setdefault(effect or ("", ""), []).append(part.name)
        for (name, text), parts_with_it in grouped.items():
            numbers = "the numbers of " * (name == "order")
            verb = "is" if len(parts_with_it) == 1 and not numbers else "are"
            yield name, f"{numbers}{_listed(parts_with_it)} {text.format(verb=verb)}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > MAX_NAMES:
        return f"{', '.join(names[: MAX_NAMES - 1])} and {len(names) - MAX_NAMES + 1} others"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _exchanged(wrong: Sequence[Part], coarse: bool) -> str:
    """Return a text if the wrong results are the correct ones in another order."""
    sources: dict[str, str] = {}
    for part in wrong:
        others = [other for other in wrong if other is not part]
        found = [other for other in others if match_values(part.student, other.right, coarse) is Match.EXACT]
        if len(found) != 1 or not is_distinctive(part.student, part.right, coarse):
            return ""
        sources[part.name] = found[0].name
    if len(set(sources.values())) < 2 or set(sources.values()) != set(sources):
        return ""
    return f"{_listed(list(sources))} are swapped"


def _effect_of_ties(part: Part, call: Call) -> _Effect | None:
    """Return that positions, such as those of argmax or argsort, differ only among equal values of an argument."""
    if not all(isinstance(value, (int, np.integer, np.ndarray)) for value in (part.student, part.right)):
        return None
    student, expected = np.asarray(part.student), np.asarray(part.right)
    if not student.dtype.kind == expected.dtype.kind == "i" or student.shape != expected.shape:
        return None
    arrays = [array for array in (*call.args, *call.kwargs.values()) if isinstance(array, np.ndarray)]
    for array, axis in ((given, axis) for given in arrays if given.dtype.kind == "f" for axis in range(given.ndim)):
        places = [np.expand_dims(p, axis) if p.ndim == array.ndim - 1 else p for p in (student, expected)]
        with suppress(IndexError, ValueError):  # The places may not fit into this array.
            if (np.take_along_axis(array, places[0], axis) == np.take_along_axis(array, places[1], axis)).all():
                return "ties", "{verb} right, but of equal values another one is taken"
    return None


def _effect_on_part(part: Part, parts: Sequence[Part], right: Answer, coarse: bool) -> _Effect | None:
    """Return a short name and what follows the part's name, with {verb} for "is" or "are"."""
    student, expected = part.student, part.right
    if match_values(student, expected, coarse) is Match.UP_TO_DTYPE:
        return "other-dtype", f"{{verb}} {np.asarray(student).dtype}, not {np.asarray(expected).dtype}"
    if not isinstance(student, np.ndarray) or not isinstance(expected, np.ndarray):
        return None
    if student.dtype.kind in "iu" and expected.dtype.kind == "f" and student.shape == expected.shape:
        with np.errstate(all="ignore"):
            is_truncated = bool(np.array_equal(student, expected.astype(student.dtype)))
        return ("truncated", f"{{verb}} truncated to {student.dtype}") if is_truncated else None
    if student.dtype.kind != expected.dtype.kind or student.dtype.kind not in "fi":
        return None
    if student.shape != expected.shape and (effect := _effect_on_shape(student, expected, coarse)):
        return effect
    if count_wrong(student, expected, coarse, weight_of_integers=1) < MIN_DISTINCTIVE:
        return None
    if elsewhere := _other_stage(part, parts, right, coarse):
        return "other-stage", f"{{verb}} what belongs in {elsewhere}"
    return _effect_on_values(student, expected)


def _effect_on_values(student: Any, expected: Any) -> _Effect | None:
    relation = describe_relation(student, expected) or ""
    if relation.startswith("every value is ") and relation.endswith(" the expected one"):
        factor = relation.removeprefix("every value is ").removesuffix(" the expected one")
        is_simple = "√" in factor or "log" in factor or "." not in factor
        return ("factor", f"{{verb}} {factor} the correct value") if is_simple else None
    if relation.startswith(order := "these are the right values "):
        words = relation.removeprefix(order)
        return "order", "{verb} right, but " + "in another order: " * (not words.startswith(("in ", "for "))) + words
    if relation == "every sign is reversed":
        return "sign", "{verb} negative where positive is right, and the other way round"
    return None


def _effect_on_shape(student: Any, expected: Any, coarse: bool) -> _Effect | None:
    if student.size == expected.size and match_values(student.reshape(expected.shape), expected, coarse) is Match.EXACT:
        return "other-shape", f"{{verb}} right, but in the shape {student.shape}, not {expected.shape}"
    extra = student.ndim - expected.ndim
    if extra > 0 and student.shape[extra:] == expected.shape:
        summed = student.sum(axis=tuple(range(extra)), dtype=student.dtype)
        if match_values(summed, expected, coarse) is Match.EXACT:
            return "not-summed", "{verb} not summed over all leading axes"
    if student.shape == () and match_values(student, expected.sum(dtype=expected.dtype), coarse) is Match.EXACT:
        return "summed", "{verb} summed to a single number"
    return None


def _other_stage(part: Part, parts: Sequence[Part], right: Answer, coarse: bool) -> str:
    """Return the result or stage whose correct value a wrong stage holds; "" if there is none."""
    cache = right.value[-1] if isinstance(right.value, tuple) else None
    if not isinstance(cache, Mapping) or part.name not in cache:
        return ""
    named = {other.name: other.right for other in parts if other.name not in cache}
    named |= {f'cache["{name}"]': value for name, value in cache.items()}
    own = f'cache["{part.name}"]'
    arrays = {name: value for name, value in named.items() if name != own and isinstance(value, np.ndarray)}
    return next(
        (name for name, value in arrays.items() if match_values(part.student, value, coarse) is Match.EXACT), ""
    )
