"""Name the mistake: run known wrong implementations on the same inputs, and compare their answers with the student's.

A mistake that gives the student's answer in every check of the function, failed or passed, is not a guess. Where no
known one does, others are tried: wrong arguments, mistakes of functions that it calls, several mistakes together, other
constants, and single changes of the official solution. Where nothing explains all failures, each failed check is
explained separately, by mistakes that give exactly its answer and contradict no passed check. What is left is
described by its effect, such as a wrong dtype, if it has a simple one. A mistake is recognized even if the dtype is
wrong, too. Where two mistakes give the same answers, both are named.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from autograder.engine.diagnosis.constants import find_constants, is_round
from autograder.engine.diagnosis.effects import diagnose_effect, diagnose_placeholder
from autograder.engine.diagnosis.explanation import Diagnosis
from autograder.engine.diagnosis.finite_differences import find_step
from autograder.engine.diagnosis.generated import argument_mistakes, mistakes_of_called_functions
from autograder.engine.diagnosis.matching import Match, is_coarse, match_values, nearly_correct
from autograder.engine.diagnosis.mistake import Mistake, mistakes_of_function
from autograder.engine.diagnosis.mutations import mutations
from autograder.engine.diagnosis.replay import correct_answer
from autograder.engine.diagnosis.search import MAX_ALTERNATIVES, Search, assign
from autograder.engine.diagnosis.variants import solution_module
from autograder.engine.student import Call, RecordedCheck

# A diagnosis usually takes milliseconds. But some checks pass on what the student's function returned, of any size, and
# these limits are the only ones: Headway's own code runs here, outside the sandbox.
SECONDS = 20.0
SECONDS_FOR_UNKNOWN = 2.0  # where no known mistake explains all checks, and again for changes of the solution
SECONDS_PER_PHASE = 0.6  # at most, for each kind of other candidates
SECONDS_FOR_SINGLE_CHECKS = 1.0  # after that
MAX_CALLED = 150  # mistakes of called functions, the common ones first
MAX_DIGITS = 6  # of a wrong number that is found
MAX_ENTRIES = 100_000  # Larger arrays are not searched for difference quotients.


def diagnose(
    function: str,
    checks: Iterable[RecordedCheck],
    package: str,
    *,
    thorough: bool = True,
    seconds: float = SECONDS,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Diagnosis]:
    """Return the mistakes that explain failed checks, by id; `checks` are the function's that made a call.

    Not `thorough` means that only the known mistakes are tried, alone. `seconds` is the CPU time to spend on it. Raises
    Cancelled soon after `is_cancelled` has become true.
    """
    # Where another function changed its inputs in a check, what follows is no second mistake.
    checks = [c for c in checks if not any(call.modified and call.function.qualified != function for call in c.calls)]
    ordered = sorted(checks, key=lambda check: (check.passed, check.seconds))
    failed = [check for check in ordered if not check.passed]
    if not failed:
        return {}
    known = mistakes_of_function(function, package)
    if quotients := _diagnose_quotients(known, failed, package):
        return quotients
    search = partial(Search, function, package=package, seconds=min(seconds, SECONDS), is_cancelled=is_cancelled)
    own = [check for check in failed if check.calls[-1].function.qualified == function]
    if placeholder := diagnose_placeholder(function, ordered, package):
        return search(ordered).explain_all(known) or assign(own, placeholder)
    diagnoses = _diagnose(search, known, ordered, thorough)
    unexplained = [check for check in own if check.id not in diagnoses]
    correct = [call for check in ordered if unexplained and (call := _correct_call(check, function, package))]
    failures = [check.calls[-1] for check in own if not diagnoses]
    for check in unexplained:
        effect = diagnose_effect(check.calls[-1], correct_answer(check, package), package, correct, failures)
        diagnoses |= assign([check], effect) if effect is not None else {}
    return diagnoses


def _correct_call(check: RecordedCheck, function: str, package: str) -> Call | None:
    """Return the last call of a passed check, if it is one of the function and its answer or its error is correct."""
    call = check.calls[-1]
    if not check.passed or call.function.qualified != function:
        return None
    right = correct_answer(check, package)
    if call.exception is not None or right.exception is not None:
        return call if call.exception is not None and right.exception is not None else None
    return call if match_values(call.value, right.value, is_coarse(call)) is Match.EXACT else None


def _diagnose(
    search_among: Callable[[list[RecordedCheck]], Search],
    known: Sequence[Mistake],
    ordered: list[RecordedCheck],
    thorough: bool,
) -> dict[str, Diagnosis]:
    failed = [check for check in ordered if not check.passed]
    search = search_among(ordered)
    package = search.compared.package
    if found := search.explain_all(known):
        return found
    # A message alone does not say which mistake it comes from: many mistakes lead to such messages.
    raised = [(check, error) for check in failed if (error := check.calls[-1].exception) is not None]
    vague = {check.id for check, error in raised if check.calls[-1].about not in error.message}
    if 0 < len(vague) < len(failed):
        return _diagnose(search_among, known, [c for c in ordered if c.id not in vague], thorough)
    # A documented error that is not raised is a mistake of its own, which has no effect on other answers.
    refused = {check.id for check in failed if correct_answer(check, package).exception is not None}
    if 0 < len(refused) < len(failed):
        apart = search_among([check for check in ordered if check.passed or check.id in refused])
        search = search_among([check for check in ordered if check.id not in refused])
        found = search.explain_all(known) or _diagnose_unknown(search, known, thorough)
        return found | (apart.explain_all(known) or _diagnose_unknown(apart, known, thorough=False))
    return _diagnose_unknown(search, known, thorough)


def _diagnose_unknown(search: Search, known: Sequence[Mistake], thorough: bool) -> dict[str, Diagnosis]:
    """Diagnose where no known mistake explains all checks, by more and more unusual candidates."""
    function, package = search.compared.function, search.compared.package
    fixed = [mistake for mistake in known if mistake.constant is None]
    if not thorough:
        search.end_after(SECONDS_FOR_SINGLE_CHECKS)
        return search.explain_each(fixed, with_pairs=False)
    search.end_after(SECONDS_FOR_UNKNOWN)
    arguments = argument_mistakes(function, package)
    # A wrong dtype or an error alone does not say which function's mistake it is.
    is_distinctive = search.compared.first_distinctive is not None
    called = mistakes_of_called_functions(function, package) if is_distinctive else ()
    called = tuple(sorted(called, key=lambda mistake: not mistake.common)[:MAX_CALLED])
    others = [mistake for mistake in (*arguments, *called) if mistake.constant is None]
    for kind in (arguments, called):
        search.begin_phase(SECONDS_PER_PHASE)
        if found := search.explain_all(kind):
            return found
    search.begin_phase(SECONDS_PER_PHASE)
    if found := search.explain_together(fixed, likely_only=True):
        return found
    search.begin_phase(SECONDS_PER_PHASE)
    constants = find_constants((*known, *arguments, *called), search)
    search.begin_phase(SECONDS_PER_PHASE)
    if found := search.explain_all(constants, first_only=True):
        return found
    search.begin_phase(SECONDS_PER_PHASE)
    if found := search.explain_together([*fixed, *constants, *others]):
        return found
    compared = search.compared
    raised = any(compared.last_call(i).exception or compared.correct_answer(i).exception for i in compared.failed)
    # Many changes may lead to one error, nan or truth value: that hardly another one does is evidence, too.
    is_certain = compared.are_distinctive(compared.failed) and not raised
    search.end_after(SECONDS_FOR_UNKNOWN)
    only_dtypes = all(compared.outcome((), index).match is not Match.NO for index in compared.failed)
    changes = () if only_dtypes else mutations(function, package)
    found = search.explain_all(changes, first_only=is_certain)
    if found and len(next(iter(found.values())).titles) <= MAX_ALTERNATIVES:
        return found
    of_solution = mutations(function, package, plain=False) if any(c.body for c in changes) else changes
    fixed_changes = [[c for c in kind if c.constant is None] for kind in (changes, of_solution)]
    search.end_after(SECONDS_PER_PHASE)
    if found := search.explain_with_change([*fixed, *constants, *others], *fixed_changes):
        return found
    search.end_after(SECONDS_PER_PHASE)
    numbers = find_constants(changes if is_certain or raised else (), search)
    likely = [mistake for mistake, value in numbers.items() if is_round(value, MAX_DIGITS)]
    if found := search.explain_all(likely, first_only=True):
        return found
    search.end_after(SECONDS_FOR_SINGLE_CHECKS)
    # Any single number can be explained by some constant: only a round one that explains most checks is no chance.
    likely = [m for m in constants if is_round(constants[m]) and search.explains_most(m)]
    return search.explain_each([*fixed, *likely, *others])


def _diagnose_quotients(
    known: Iterable[Mistake], failed: Iterable[RecordedCheck], package: str
) -> dict[str, Diagnosis]:
    """Diagnose checks whose answers are difference quotients: at least one provably, the others nearly correct."""
    for mistake in known:
        if not mistake.quotient:
            continue
        checks = [check for check in failed if check.calls[-1].function.qualified == mistake.function]
        steps = [_find_step(check.calls[-1], mistake, package) for check in checks]
        step = next((step for step in steps if step is not None), None)
        if step is not None:
            proof = f"your numbers are differences of neighboring floats, divided by {step:g} or twice that"
            return {
                check.id: Diagnosis((mistake,), proof=proof)
                for check, own_step in zip(checks, steps, strict=True)
                if own_step is not None or nearly_correct(check.calls[-1].value, correct_answer(check, package).value)
            }
    return {}


def _find_step(call: Call, mistake: Mistake, package: str) -> float | None:
    parts = call.value if isinstance(call.value, (tuple, list)) else (call.value,)
    arrays = [part for part in parts if isinstance(part, np.ndarray) and part.dtype == np.float64]
    arrays = [array for array in arrays if array.size <= MAX_ENTRIES]
    if mistake.quotient == "one":
        return next((step for step in map(find_step, arrays) if step is not None), None)
    dout, x = call.args[:2]
    if len(arrays) != 1 or arrays[0].shape != dout.shape != ():
        return None
    forward = getattr(solution_module(call.function.module, package), call.function.name.removesuffix("_backward"))
    with np.errstate(all="ignore"):
        return find_step(arrays[0] / dout, np.spacing(np.abs(forward(x))))
