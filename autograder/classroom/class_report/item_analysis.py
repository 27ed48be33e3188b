"""Measure how hard each function was, and whether it separates strong students from weak ones (item analysis).

The difficulty index is the share of students who pass. Discrimination is the point-biserial correlation between passing
a function and the share of points in all other functions (the corrected item-total correlation; Henrysson 1963,
doi:10.1007/BF02289618). Without the correction, a function would correlate with itself.
"""

from collections.abc import Sequence

import numpy as np

from autograder.report.class_records import FunctionStatistics

MIN_STUDENTS = 10  # with fewer, a correlation means little

Outcome = tuple[bool, float, float]  # whether a function passes, points earned, points possible


def function_statistics(
    functions: Sequence[str], outcomes: Sequence[dict[str, Outcome]]
) -> dict[str, FunctionStatistics]:
    """Return the statistics of each function; of a student, functions that were not graded are missing."""
    shape = len(outcomes), len(functions)
    has, passes, earned, possible = np.zeros(shape, bool), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    position = {name: column for column, name in enumerate(functions)}
    for row, by_function in enumerate(outcomes):
        for name, outcome in by_function.items():
            place = row, position[name]
            has[place], (passes[place], earned[place], possible[place]) = True, outcome
    all_earned, all_possible = earned.sum(axis=1), possible.sum(axis=1)
    found = {}
    for name, column in position.items():
        others = all_possible - possible[:, column]
        counted = has[:, column] & (others > 0)
        rest = (all_earned - earned[:, column])[counted] / others[counted]
        discrimination = _correlation(passes[counted, column], rest)
        mean_share = earned[:, column].sum() / possible[:, column].sum() if possible[:, column].sum() else 0.0
        found[name] = FunctionStatistics(float(mean_share), discrimination)
    return found


def _correlation(
    first: "np.ndarray[tuple[int], np.dtype[np.float64]]", second: "np.ndarray[tuple[int], np.dtype[np.float64]]"
) -> float | None:
    """Return Pearson's correlation, or None for too few students or where all have the same value."""
    if first.size < MIN_STUDENTS or np.ptp(first) == 0 or np.ptp(second) < 1e-9:
        return None
    return float(np.corrcoef(first, second)[0, 1])
