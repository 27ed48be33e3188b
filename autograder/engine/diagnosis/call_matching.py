"""Match the answer of a candidate to one call with the student's: as a whole, or part by part."""

import numpy as np

from autograder.engine.diagnosis.matching import Match, Part, in_float32, match_values, results, worst_match
from autograder.engine.diagnosis.replay import Answer, same_exception, same_modified
from autograder.engine.student import UNANSWERED, Call


def has_different_sizes(call: Call) -> bool:
    """Return whether no array argument has two axes of one size, or an axis of size 1: then axes cannot be confused."""
    shapes = [value.shape for value in (*call.args, *call.kwargs.values()) if isinstance(value, np.ndarray)]
    return all(len(set(shape)) == len(shape) and min(shape, default=2) > 1 for shape in shapes)


def parts_of(call: Call, answer: Answer, right: Answer) -> list[Part] | None:
    """Return the stages and results of a call, in the order in which they are computed; None if the forms differ."""
    stages = []
    caches = [value[-1] if isinstance(value, tuple) and value else value for value in (answer.value, right.value)]
    for name, value in {**call.entries, **call.stages}.items():
        if value is not UNANSWERED and all(isinstance(cache, dict) and name in cache for cache in caches):
            stages.append(Part(name, value, caches[0][name], caches[1][name]))
    names = [output.name for output in call.function.outputs]
    found = results(names[0] if names else "", call.value, answer.value, right.value, names)
    return None if found is None else [*stages, *found]


def match_answer(call: Call, answer: Answer, passed: bool, package: str, official: Answer | None = None) -> Match:
    """Return how well a candidate's answer matches the student's as a whole; for `official` see `same_exception`."""
    if call.exception is not None or answer.exception is not None:
        return Match.EXACT if same_exception(call, answer.exception, package, official) else Match.NO
    if not same_modified(call, answer, package) and not (passed and call.modified):  # Another check tests for it.
        return Match.NO
    match = match_value(call, answer)
    return match if match is Match.NO else min(match, _match_entries(call, answer, is_coarse(call)))


def match_value(call: Call, answer: Answer) -> Match:
    """Return how well the value that a candidate returned matches the student's."""
    return match_values(call.value, answer.value, is_coarse(call))


def is_coarse(call: Call) -> bool:
    """Return whether comparisons are coarse: what is computed with a float32 may differ as much as one."""
    return in_float32((*call.args, call.kwargs))


def _match_entries(call: Call, answer: Answer, coarse: bool) -> Match:
    """Return how well the cache entries that a check read match."""
    if not call.entries:
        return Match.EXACT
    cache = answer.value[-1] if isinstance(answer.value, tuple) else answer.value
    if not isinstance(cache, dict):
        return Match.NO
    return worst_match(
        match_values(value, cache[name], coarse) if name in cache else Match.EXACT if value is UNANSWERED else Match.NO
        for name, value in call.entries.items()
    )
