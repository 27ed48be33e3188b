"""Scores: scaling, late penalty, exceptions, dropped assignments and weights."""

from datetime import UTC, datetime, timedelta

import pytest

from autograder.classroom.policy.model import AssignmentPolicy, LatePolicy, Policy, PolicyException, RubricItem
from autograder.classroom.score import exceptions_by_submission
from autograder.classroom.scoring import student_scores
from autograder.classroom.scoring.student_scores import ManualPoints, RubricPoints, adjustment, student_score
from autograder.classroom.submissions.model import Attempt, Student
from autograder.course import Assignment, Curriculum, Function
from autograder.errors import UsageError

DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)
CHECK_POINTS = {"softmax": 28.0, "attention": 40.0, "layernorm": 20.0}
TWO_ASSIGNMENTS = {"softmax": AssignmentPolicy(points=20.0, due=DUE), "attention": AssignmentPolicy(points=30.0)}
TWO_DAYS_LATE = {"times": {"": DUE + timedelta(days=2)}}


def course(check_points):
    """A course whose assignments have one function `f`; in `check_points` of the form "a.g+", a bonus function, too."""
    functions = {}
    for name in check_points:
        module, _, function = name.partition(".")
        functions.setdefault(module, []).append(Function(module, function.strip("+") or "f", (), "", bonus="+" in name))
    found = enumerate(functions.items())
    assignments = tuple(Assignment(number, module, module.title(), tuple(f)) for number, (module, f) in found)
    return Curriculum(assignments, "test", "test", "Test")


def rated(policy, check_points=CHECK_POINTS):
    by_function = {name.strip("+") if "." in name else f"{name}.f": points for name, points in check_points.items()}
    curriculum = course(check_points)
    return student_scores.graded_assignments(policy, curriculum, curriculum.modules, by_function)


def work_of(earned, times=None, late=None):
    """The work of a student who earned these points by function, or by assignment; all others are submitted, too."""
    functions = {name if "." in name else f"{name}.f": (points, 0.0) for name, points in earned.items()}
    attempt = Attempt((), times or {}, late)
    names = {name.partition(".")[0] for name in (*earned, *CHECK_POINTS)}
    return {name: student_scores.AssignmentWork(functions, attempt.submitted_at(name), late) for name in names}


def score(policy, earned, check_points=CHECK_POINTS, manual=None, **attempt):
    return student_score(rated(policy, check_points), work_of(earned, **attempt), policy, (), manual)


def score_with_exceptions(exceptions, attempt=TWO_DAYS_LATE, manual=None, **options):
    """The score of a student with half of softmax and a tenth of attention, two days late."""
    policy = Policy(late=LatePolicy(0.1), assignments=TWO_ASSIGNMENTS, **options)
    assignments = rated(policy, {name: CHECK_POINTS[name] for name in TWO_ASSIGNMENTS})
    work = work_of({"softmax": 14.0, "attention": 4.0}, **attempt)
    return student_score(assignments, work, policy, exceptions, manual)


def test_student_score_without_policy_adds_points():
    total = score(Policy(), {"softmax": 20.0, "attention": 40.0, "layernorm": 5.0})
    assert (total.earned, total.possible, total.score, total.out_of) == (65.0, 88.0, 65.0, 88.0)


def test_student_score_scales_and_weights_points():
    policy = Policy(assignments={"softmax": AssignmentPolicy(points=14.0, weight=1.0), "attention": AssignmentPolicy()})
    total = score(policy, {"softmax": 14.0, "attention": 40.0, "layernorm": 20.0})
    assert total.assignments["softmax"].earned == 7.0 and total.assignments["softmax"].possible == 14.0
    assert total.score == pytest.approx(0.5 * 1 + 40 + 20) and total.out_of == 61.0


@pytest.mark.parametrize(("rule", "expected"), [("cap", 20.0), ("extra", 25.0), ("off", 19.0)])
def test_student_score_bonus_follows_the_policy(rule, expected):
    earned, possible = {"layernorm.f": 19.0, "layernorm.g": 6.0}, {"layernorm.f": 20.0, "layernorm.g+": 8.0}
    total = score(Policy(bonus=rule), earned, possible)
    assert (total.score, total.out_of, total.percent) == (expected, 20.0, expected * 5)
    assert total.assignments["layernorm"].bonus == (0.0 if rule == "off" else 6.0)


def test_bonus_makes_up_for_late_points_before_the_limit():
    policy = Policy(late=LatePolicy(0.1), assignments={"softmax": AssignmentPolicy(due=DUE)})
    points = {"softmax.f": 28.0, "softmax.g+": 8.0}
    total = score(policy, {"softmax.f": 28.0, "softmax.g": 2.0}, points, times={"": DUE + timedelta(hours=1)})
    assert total.score == pytest.approx(27.0) and total.penalty == pytest.approx(3.0)
    policy = Policy(bonus="extra", assignments={"softmax": AssignmentPolicy(points=14.0)})
    assert score(policy, {"softmax.f": 28.0, "softmax.g": 2.0}, points).score == 15.0  # scaled without bonus functions


@pytest.mark.parametrize(("rules", "expected", "possible"), [
    ({}, 5.0 + 5.0, 20.0 + 10.0), ({"functions": {"g": 30.0}}, 5.0 + 15.0, 20.0 + 30.0),
    ({"functions": {"g": 0.0}}, 5.0, 20.0), ({"functions": {"g": 30.0}, "points": 100.0}, 40.0, 100.0),
])  # fmt: skip
def test_points_of_a_function_are_scaled_from_its_checks(rules, expected, possible):
    policy = Policy(assignments={"softmax": AssignmentPolicy(**rules)})
    total = score(policy, {"softmax.f": 5.0, "softmax.g": 5.0}, {"softmax.f": 20.0, "softmax.g": 10.0})
    assert (total.assignments["softmax"].earned, total.assignments["softmax"].possible) == (expected, possible)


def test_all_points_of_the_checks_give_exactly_what_a_function_is_worth():
    policy = Policy(assignments={"softmax": AssignmentPolicy(functions={"f": 1.0})})
    totals = {points: score(policy, {"softmax": points}, {"softmax": points}) for points in map(float, range(1, 100))}
    assert {points: total.score for points, total in totals.items() if total.score != 1.0} == {}


AFTER_GRACE = LatePolicy(0.1, grace_hours=2, cap=0.5)
OF_POSSIBLE = LatePolicy(0.25, of="possible")


@pytest.mark.parametrize(("late", "earned", "hours", "days", "expected"), [
    (AFTER_GRACE, 28, -1, 0, 28), (AFTER_GRACE, 28, 0, 0, 28), (AFTER_GRACE, 28, 1, 0, 28),
    (AFTER_GRACE, 28, 3, 1, 25.2), (AFTER_GRACE, 28, 27, 2, 22.4), (AFTER_GRACE, 28, 24 * 30, 30, 14),
    (OF_POSSIBLE, 10, 1, 1, 3), (OF_POSSIBLE, 5, 1, 1, 0),  # no more than was earned is lost
])  # fmt: skip
def test_late_penalty_counts_days_begun_after_grace(late, earned, hours, days, expected):
    policy = Policy(late=late, assignments={"softmax": AssignmentPolicy(due=DUE)})
    total = score(policy, {"softmax": float(earned)}, times={"": DUE + timedelta(hours=hours)})
    assert total.assignments["softmax"].late_days == days == total.late_days
    assert total.score == pytest.approx(expected) and total.penalty == pytest.approx(earned - expected)


def test_late_days_of_work_that_was_not_submitted_are_none():
    policy = Policy(late=LatePolicy(0.1))
    exceptions = [PolicyException("bo", late_days=3)]
    total = student_score(rated(policy), {}, policy, exceptions, {"softmax": ManualPoints({}, (adjustment("", 4.0),))})
    assert (total.late_days, total.penalty, total.score) == (0, 0.0, 4.0)


def test_late_mark_of_platform_counts_as_marked_days_unless_there_is_an_extension():
    policy = Policy(late=LatePolicy(0.1, marked_days=2))
    assert score(policy, {"softmax": 28.0}, late=True).score == pytest.approx(28 * 0.8)
    marked = {"late": True}
    assert score_with_exceptions([], marked).assignments["softmax"].late_days == 1
    assert score_with_exceptions([PolicyException("bo", due=DUE)], marked).assignments["softmax"].late_days == 0


def test_late_days_use_the_time_of_each_assignment():
    policy = Policy(late=LatePolicy(1.0), assignments={name: AssignmentPolicy(due=DUE) for name in CHECK_POINTS})
    times = {"softmax": DUE + timedelta(days=3), "attention": DUE}
    total = score(policy, {"softmax": 28.0, "attention": 40.0}, times=times)
    assert total.score == 40.0 and total.assignments["attention"].late_days == 0


def test_rubric_points_above_the_maximum_count_as_the_maximum():
    rubric = (RubricItem("q1", "Why?", 5.0), RubricItem("q2", "How?", 2.0))  # lowered after q1 was marked
    policy = Policy(assignments={"softmax": AssignmentPolicy(points=20.0, rubric=rubric)})
    manual = {"softmax": ManualPoints({"q1": RubricPoints(9.0, "Right."), "gone": RubricPoints(3.0)})}
    softmax = score(policy, {"softmax": 14.0}, {"softmax": 28.0}, manual=manual).assignments["softmax"]
    assert (softmax.earned, softmax.score, softmax.possible) == (15.0, 15.0, 27.0)
    assert softmax.rubric == {"q1": RubricPoints(5.0, "Right.")}


def test_drop_lowest_drops_lowest_shares_but_never_all():
    total = score(Policy(drop_lowest=1), {"softmax": 14.0, "attention": 18.0, "layernorm": 20.0})
    assert total.dropped == ("attention",) and (total.score, total.out_of) == (34.0, 48.0)
    assert score(Policy(drop_lowest=9), {"softmax": 28.0}).dropped == ("attention", "layernorm")


def test_drop_lowest_drops_nothing_without_points_or_weight():
    for rules in (AssignmentPolicy(points=0.0, weight=5.0), AssignmentPolicy(weight=0.0)):
        policy = Policy(drop_lowest=1, assignments={"softmax": rules})
        total = score(policy, {"softmax": 0.0, "attention": 10.0, "layernorm": 20.0})
        assert total.dropped == ("attention",) and total.counts["softmax"] == "not counted"


def test_points_of_an_assignment_without_checks_are_those_of_its_rubric():
    rules = AssignmentPolicy(points=10.0, rubric=(RubricItem("q1", "Why?", 5.0),))
    manual = {"softmax": ManualPoints({"q1": RubricPoints(4.0)})}
    total = score(Policy(assignments={"softmax": rules}), {}, {"softmax": 0.0}, manual)
    assert (total.score, total.out_of) == (4.0, 15.0)


@pytest.mark.parametrize(("changes", "expected", "penalty", "text"), [
    ({}, 8.0, 2.0, ""), ({"due": DUE + timedelta(days=1)}, 9.0, 1.0, "due 2026-10-02 12:00+00:00"),
    ({"due": DUE + timedelta(days=7), "reason": "ill"}, 10.0, 0.0, "due 2026-10-08 12:00+00:00 (ill)"),
    ({"late_days": 3}, 7.0, 3.0, "3 days late"), ({"late_days": 0}, 10.0, 0.0, "0 days late"),
    ({"bonus": 1.03125}, 9.03125, 2.0, "1.031 points added"), ({"bonus": 1}, 9.0, 2.0, "1 point added"),
    ({"bonus": -3}, 5.0, 2.0, "3 points deducted"), ({"bonus": -30}, 0.0, 2.0, "30 points deducted"),
    ({"score": 17.5, "bonus": 2}, 17.5, 0.0, "17.5 of 20 points given by hand, instead of 10 from the checks"),
    ({"score": 17.5}, 17.5, 0.0, "17.5 of 20 points given by hand, instead of 10 from the checks"),
    ({"score": 0.0, "reason": "copy"}, 0.0, 0.0, "0 of 20 points given by hand, instead of 10 from the checks (copy)"),
])  # fmt: skip
def test_exception_changes_one_assignment(changes, expected, penalty, text):
    total = score_with_exceptions([PolicyException("bo", "softmax", **changes)] if changes else [])
    softmax = total.assignments["softmax"]
    assert (softmax.earned, softmax.score, softmax.exception) == (10.0, expected, text)
    assert softmax.penalty == pytest.approx(penalty) and softmax.by_hand is ("score" in changes)
    assert (total.score, total.out_of, total.penalty) == (expected + 3.0, 50.0, softmax.penalty)
    assert total.assignments["attention"].exception == ""


@pytest.mark.parametrize("more", [{}, {"late_days": 3, "score": 5.0}])
def test_excused_assignment_does_not_count_and_is_neither_late_nor_given_by_hand(more):
    excused = [PolicyException("bo", "softmax", excused=True, **more)]
    total = score_with_exceptions(excused)
    softmax = total.assignments["softmax"]
    assert (total.score, total.out_of, total.dropped) == (3.0, 30.0, ())
    assert softmax.excused and total.counts["softmax"] == "excused"
    assert (softmax.late_days, softmax.penalty, softmax.by_hand) == (0, 0.0, False)
    total = score_with_exceptions(excused, drop_lowest=1)
    assert (total.score, total.out_of, total.dropped) == (3.0, 30.0, ())  # one assignment always counts
    total = score_with_exceptions([PolicyException("bo", excused=True)], drop_lowest=1)
    assert (total.score, total.out_of) == (0.0, 0.0)


def test_exception_comes_before_what_was_given_by_hand():
    by_hand = {"softmax": ManualPoints({}, (adjustment("oral exam", score=12.0),))}
    exceptions = [PolicyException("bo", "softmax", bonus=3)]
    assert score_with_exceptions(exceptions, manual=by_hand).assignments["softmax"].score == 12.0


def test_effective_exception_prefers_specific_and_later_entries():
    later = DUE + timedelta(days=9)
    entries = [
        PolicyException("bo", "softmax", due=DUE, bonus=1),
        PolicyException("bo", due=later, reason="ill"),
        PolicyException("bo", "softmax", bonus=2, reason="found a mistake in the lecture"),
    ]
    softmax, attention = (student_scores.effective_exception(entries, name) for name in TWO_ASSIGNMENTS)
    assert (softmax.due, softmax.bonus, softmax.reason) == (DUE, 2, "ill; found a mistake in the lecture")
    assert (attention.due, attention.bonus) == (later, 0.0)
    assert student_scores.effective_exception(entries[:1], "attention") == PolicyException()


def test_exceptions_by_submission_accepts_any_name_and_warns():
    members = [Student("bo", "Bo Berg", "1002", "bo@x.edu"), Student("al", "Al"), Student("al2", "Al")]
    names = ("bo", "Bo Berg", "Berg, Bo", "1002", "bo@x.edu", "bob", "bob")
    found, warnings = exceptions_by_submission([PolicyException(name, excused=True) for name in names], members)
    assert {name: len(entries) for name, entries in found.items()} == {"bo": 5}
    assert len(warnings) == 1 and "'bob'" in warnings[0] and "Did you mean 'bo'?" in warnings[0]
    with pytest.raises(UsageError, match=r"'Al' matches several.*'al', 'al2'"):
        exceptions_by_submission([PolicyException("Al", excused=True)], members)


def with_bank(earned, late_days, bank=5, each=2, chosen=None, **options):
    """The score of three assignments that are this many days late, with a bank."""
    policy = Policy(late=LatePolicy(0.1, bank=bank, bank_each=each), **options)
    exceptions = [PolicyException("ada", name, late_days=days, bank_days=(chosen or {}).get(name))
                  for name, days in late_days.items()]  # fmt: skip
    return student_score(rated(policy), work_of(earned), policy, exceptions)


def test_bank_pays_for_the_days_that_help_most():
    late = {"softmax": 1, "attention": 3, "layernorm": 1}
    earned = {"softmax": 28.0, "attention": 40.0, "layernorm": 20.0}
    total = with_bank(earned, late, bank=3)
    assert [one.bank_days for one in total.assignments.values()] == [1, 2, 0]
    assert total.score == pytest.approx(28 + 36 + 18)
    assert [one.bank_days for one in with_bank(earned, late, bank=2).assignments.values()] == [0, 2, 0]
    total = with_bank(earned, late, bank=3, chosen={"softmax": 0, "layernorm": 1})
    assert [one.bank_days for one in total.assignments.values()] == [0, 2, 1]


def test_bank_pays_no_more_than_it_has_for_chosen_days():
    chosen = {"softmax": 9, "attention": 9}
    total = with_bank({"softmax": 28.0}, {"softmax": 2, "attention": 2}, bank=3, chosen=chosen, drop_lowest=1)
    assert [one.bank_days for one in total.assignments.values()] == [2, 0, 0]
    total = with_bank({"softmax": 28.0, "attention": 40.0}, {"softmax": 2, "attention": 2}, bank=3, chosen=chosen)
    assert [one.bank_days for one in total.assignments.values()] == [2, 1, 0]


def test_share_of_the_final_replaces_the_lowest():
    total = score(Policy(replace_lowest_by="layernorm"), {"softmax": 7.0, "attention": 20.0, "layernorm": 18.0})
    assert total.assignments["softmax"].score == pytest.approx(28 * 0.9)
    assert total.assignments["softmax"].replaced_by == "layernorm"
    for final in (1.0, 20.0):  # worse, and no better
        same = score(Policy(replace_lowest_by="layernorm"), {"softmax": 28.0, "attention": 40.0, "layernorm": final})
        assert not any(one.replaced_by for one in same.assignments.values())
    dropped = score(Policy(replace_lowest_by="layernorm", drop_lowest=2), {"softmax": 28.0, "layernorm": 1.0})
    assert dropped.dropped == ("softmax", "attention"), "the final is never dropped"
