"""Choose assignments: some of a course for students, or some of the built-in course for another course.

    COURSE = course(
        __name__, *built_in_assignments(without=("gpt2", "llama")), "averages", name="mine", title="My course"
    )

Chosen assignments may import others. Those are given: students get their official solutions.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from autograder.course import Assignment, Curriculum, registry


def built_in_assignments(*names: str, without: Iterable[str] = ()) -> tuple[Assignment, ...]:
    """Return assignments of the built-in course, for a course that reuses them: the named ones, by default all.

    Raises UsageError for an unknown name.
    """
    course = registry.default()
    left_out = course.select_assignments(without)
    chosen = course.select_assignments(names or course.modules)
    return tuple(course.modules[module] for module in chosen if module not in left_out)


def select(curriculum: Curriculum, names: Iterable[str]) -> Curriculum:
    """Return a course with only the named assignments, which keep their numbers; raise UsageError for unknown names."""
    modules = curriculum.select_assignments(names)
    if len(modules) == len(curriculum.assignments):
        return curriculum
    chosen = tuple(curriculum.modules[module] for module in modules)
    selected = replace(curriculum, assignments=chosen, given=(), assignment_count=curriculum.total)
    source = replace(registry.default(), assignments=(*curriculum.assignments, *curriculum.given))
    return registry.with_given(selected, source)


@cache
def load(name: str, assignments: tuple[str, ...] = ()) -> Curriculum:
    """Return the course of that name, with only these assignments; those that it no longer has are ignored."""
    curriculum = registry.load(name)
    known = [module for module in assignments if module in curriculum.modules]
    return select(curriculum, known) if known else curriculum
