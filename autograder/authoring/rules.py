"""The rules that every course must keep; `headway verify` reports each one that is broken.

They do not restrict what a course teaches, how long it takes, or how its texts look.
"""

from autograder.authoring import check_rules, course_rules, lesson_rules, table_rules
from autograder.authoring.problems import Problem
from autograder.course import Curriculum, registry


def find_problems(curriculum: Curriculum) -> list[Problem]:
    """Return the broken rules of a course; without any, its solutions, stubs and mistakes can be run.

    Assignments that are reused from the built-in course are not examined again.
    """
    if problems := list(course_rules.find_problems(curriculum)):
        return problems  # Further problems would only follow from these.
    curriculum = registry.with_reused(curriculum)
    own = [a for a in curriculum.assignments if registry.home(a.module, curriculum.package) == curriculum.package]
    for assignment in own:
        problems += lesson_rules.find_problems(assignment, curriculum)
        problems += check_rules.find_problems(assignment, curriculum)
        problems += table_rules.find_problems(assignment, curriculum)
    return problems
