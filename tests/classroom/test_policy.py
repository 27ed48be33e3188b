"""course.toml, and what it makes of points."""

import dataclasses
import re
import tomllib
from datetime import UTC, datetime, timedelta

import pytest

from autograder.classroom import policy as policies
from autograder.classroom import policy_template, scoring, student_exceptions
from autograder.classroom.policy import AssignmentPolicy, ChecksPolicy, LatePolicy, LimitsPolicy, Policy
from autograder.classroom.student_exceptions import PolicyException
from autograder.classroom.submissions.model import Attempt, ClassMember
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError

DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)
POSSIBLE = {"softmax": ("Softmax", 28.0), "attention": ("Attention", 40.0), "layernorm": ("Layer norm", 20.0)}


def load(tmp_path, text):
    path = tmp_path / "course.toml"
    path.write_text(text, "utf-8")
    return policies.load_policy(path, TRANSFORMER)


def total(policy, earned, **attempt):
    course = scoring.graded_assignments(policy, POSSIBLE)
    return scoring.student_score(course, earned, policy, Attempt((), **attempt) if attempt else None)


def test_weights_are_given_to_all_or_to_none(tmp_path):
    mixed = "[assignments.softmax]\nweight = 2\n[assignments.attention]\npoints = 30\n"
    with pytest.raises(UsageError, match=r"line 3: assignments\.attention: has no weight, and softmax has one"):
        load(tmp_path, mixed)
    assert load(tmp_path, mixed.replace("weight = 2", "weight = 0")).assignments["softmax"].weight == 0.0
    assert load(tmp_path, mixed.replace("weight = 2", "points = 2")).assignments["softmax"].weight is None


SOFTMAX = {"softmax": AssignmentPolicy(points=20.0, due=DUE), "attention": AssignmentPolicy(points=30.0)}
LATE = {"times": {"": DUE + timedelta(days=2)}}


def ruled(said, attempt=LATE, **more):
    """The course's total for somebody with half of softmax and a tenth of attention, two days late."""
    policy = Policy(late=LatePolicy(0.1), assignments=SOFTMAX, **more)
    course = scoring.graded_assignments(policy, {name: POSSIBLE[name] for name in SOFTMAX})
    return scoring.student_score(course, {"softmax": 14.0, "attention": 4.0}, policy, Attempt((), **attempt), said)


@pytest.mark.parametrize(
    ("ruling", "score", "penalty", "told"),
    [
        ({}, 8.0, 2.0, ""),
        ({"due": DUE + timedelta(days=1)}, 9.0, 1.0, "due 2026-10-02 12:00+00:00"),
        ({"due": DUE + timedelta(days=7), "reason": "ill"}, 10.0, 0.0, "due 2026-10-08 12:00+00:00 (ill)"),
        ({"late_days": 3}, 7.0, 3.0, "3 days late"),
        ({"late_days": 0}, 10.0, 0.0, "0 days late"),
        ({"bonus": 1.5}, 9.5, 2.0, "1.5 points on top"),
        ({"bonus": 1}, 9.0, 2.0, "1 point on top"),
        ({"bonus": -3}, 5.0, 2.0, "3 points off"),
        ({"bonus": -30}, 0.0, 2.0, "30 points off"),
        ({"score": 17.5}, 17.5, 0.0, "17.5 of 20 points given by hand, instead of 10 from the checks"),
        (
            {"score": 0.0, "reason": "copy"},
            0.0,
            0.0,
            "0 of 20 points given by hand, instead of 10 from the checks (copy)",
        ),
    ],
)
def test_what_is_ruled_for_one_student(ruling, score, penalty, told):
    found = ruled([PolicyException("bo", "softmax", **ruling)] if ruling else [])
    grade = found.assignments["softmax"]
    assert (grade.earned, grade.score, grade.penalty, grade.ruling) == (10.0, score, penalty, told)
    assert grade.by_hand is ("score" in ruling)
    assert (found.score, found.out_of, found.penalty) == (score + 3.0, 50.0, penalty)
    assert found.assignments["attention"].ruling == ""


def test_who_is_excused_is_asked_for_the_rest_only():
    found = ruled([PolicyException("bo", "softmax", excused=True)])
    assert (found.score, found.out_of, found.dropped) == (3.0, 30.0, ())
    assert found.assignments["softmax"].excused
    found = ruled([PolicyException("bo", "softmax", excused=True)], drop_lowest=1)
    assert (found.score, found.out_of, found.dropped) == (3.0, 30.0, ())  # one always counts
    everything = ruled([PolicyException("bo", excused=True)], drop_lowest=1)
    assert (everything.score, everything.out_of) == (0.0, 0.0)


def test_one_assignment_goes_before_all_and_the_later_before_the_earlier():
    later = DUE + timedelta(days=9)
    said = [
        PolicyException("bo", "softmax", due=DUE, bonus=1),
        PolicyException("bo", due=later, reason="ill"),
        PolicyException("bo", "softmax", bonus=2, reason="found a mistake in the lecture"),
    ]
    softmax, attention = (
        student_exceptions.effective_exception(said, "softmax"),
        student_exceptions.effective_exception(said, "attention"),
    )
    assert (softmax.due, softmax.bonus, softmax.reason) == (DUE, 2, "ill; found a mistake in the lecture")
    assert (attention.due, attention.bonus) == (later, 0.0)
    assert student_exceptions.effective_exception(said[:1], "attention") is None


def test_an_extension_goes_before_the_platforms_mark():
    marked = {"late": True}
    assert ruled([], marked).assignments["softmax"].late_days == 1
    assert ruled([PolicyException("bo", due=DUE)], marked).assignments["softmax"].late_days == 0


def test_exceptions_are_found_by_any_name_and_those_for_nobody_are_told():
    students = [ClassMember("bo", "Bo Berg", "1002", "bo@x.edu"), ClassMember("al", "Al"), ClassMember("al2", "Al")]
    by_name = [PolicyException(name, excused=True) for name in ("bo", "Bo Berg", "1002", "bo@x.edu", "bob", "bob")]
    found, nobody = student_exceptions.exceptions_by_submission(by_name, students)
    assert {name: len(those) for name, those in found.items()} == {"bo": 4}
    assert nobody == [
        "An exception of course.toml is for nobody: there is no student 'bob' in the class. Did you mean 'bo'?"
    ]
    with pytest.raises(UsageError, match=r"'Al' is the name of several.* student = … with 'al', 'al2'"):
        student_exceptions.exceptions_by_submission([PolicyException("Al", excused=True)], students)


def test_exceptions_are_read(tmp_path):
    policy = load(
        tmp_path,
        '[assignments.softmax]\npoints = 20\n[[exceptions]]\nstudent = "bo"\ndue = 2026-10-01T12:00:00Z\n'
        '[[exceptions]]\nstudent = "1003"\nassignment = "softmax"\nscore = 17.5\nreason = "orally"\n'
        '[[exceptions]]\nstudent = "eve"\nassignment = "softmax"\nbonus = -2\n',
    )
    assert policy.exceptions == (
        PolicyException("bo", due=DUE),
        PolicyException("1003", "softmax", score=17.5, reason="orally"),
        PolicyException("eve", "softmax", bonus=-2.0),
    )


def keys_of(kind):
    return {one.name for one in dataclasses.fields(kind)}


def test_the_policy_to_fill_in_holds_as_it_is_and_names_every_key(tmp_path):
    text = policy_template.template(TRANSFORMER)
    assert load(tmp_path, text) == Policy(title="Transformers")
    on = re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.M)
    assert on.count("\n# [") == 0
    said = tomllib.loads(on)
    assert set(said) == keys_of(Policy)
    assert set(said["late"]) == keys_of(LatePolicy) and set(said["limits"]) == keys_of(LimitsPolicy)
    assert set(said["checks"]) == keys_of(ChecksPolicy) and set(said["assignments"]) == set(TRANSFORMER.modules)
    assert set(said["assignments"]["tokenizer"]) == keys_of(AssignmentPolicy)
    assert set(said["exceptions"][0]) == keys_of(PolicyException)
    # Every default is the one that holds.
    weightless = re.sub(r"^weight = .*\n", "", on, flags=re.M)
    found = load(tmp_path, weightless)
    assert dataclasses.replace(found.late, penalty_per_day=0.0) == LatePolicy()
    assert (found.limits, found.attempts, found.drop_lowest) == (LimitsPolicy(), "last", 0)
    assert (found.feedback, found.layout, found.own_prerequisites) == ("summary", "auto", False)


def test_the_policy_lies_with_the_submissions_or_at_the_top_of_a_course_of_nbgraders(tmp_path):
    submitted = tmp_path / "submitted"
    submitted.mkdir()
    (tmp_path / "course.toml").write_text('title = "top"')
    assert policies.find_policy(None, submitted, TRANSFORMER).policy.title == ""
    (tmp_path / "nbgrader_config.py").touch()
    assert policies.find_policy(None, submitted, TRANSFORMER).policy.title == "top"
    (submitted / "course.toml").write_text('title = "inside"')
    assert policies.find_policy(None, submitted, TRANSFORMER).policy.title == "inside"
    assert policies.find_policy(tmp_path / "course.toml", submitted, TRANSFORMER).policy.title == "top"


def test_a_whole_policy_is_read(tmp_path):
    policy = load(
        tmp_path,
        'title = "CS 601"\nseed = 7\nattempts = "best"\ndrop_lowest = 1\nroster = "roster.csv"\n'
        "[late]\npenalty_per_day = 0.1\ncap = 0.5\ngrace_hours = 1\n[limits]\ncall_seconds = 5\nmemory_mib = 512\n"
        '[checks]\nhidden = ["softmax.softmax::*"]\n'
        "[assignments.softmax]\npoints = 20\nweight = 2\ndue = 2026-10-01T23:59:00+02:00\n"
        "[assignments.attention]\nweight = 1\n",
    )
    assert (policy.title, policy.seed, policy.attempts, policy.drop_lowest) == ("CS 601", 7, "best", 1)
    assert policy.late == LatePolicy(0.1, 1.0, 0.5)
    assert policy.limits.sandbox_limits().memory_bytes == 512 << 20
    assert policy.limits.sandbox_limits().cpu_seconds == 300.0
    assert policy.is_hidden("softmax.softmax::rows") and not policy.is_hidden("softmax.log_softmax::rows")
    assert policy.assignments["softmax"].due == datetime(2026, 10, 1, 21, 59, tzinfo=UTC)
    assert list(policy.assignments) == ["softmax", "attention"]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("tittle = 'x'", 1, "tittle: there is no key of that name. Did you mean 'title'?"),
        ("\n[late]\npenalty_per_days = 0.1", 3, "late.penalty_per_days: there is no key of that name in [late]"),
        ("[late]\npenalty_per_day = 10", 2, "late.penalty_per_day: must be at most 1, not 10 (a share"),
        ("[late]\n\ncap = -0.5", 3, "late.cap: must be at least 0, not -0.5"),
        ("[late]\ncap = nan", 2, "late.cap: must be at least 0, not nan"),
        ("seed = '7'", 1, "seed: must be a whole number, not '7'"),
        ("seed = true", 1, "seed: must be a whole number, not True"),
        ("drop_lowest = 1.5", 1, "drop_lowest: must be a whole number, not 1.5"),
        ("attempts = 'lsat'", 1, "attempts: must be one of its words, not 'lsat'. Did you mean 'last'?"),
        (
            "[assignments.sofmax]",
            1,
            "assignments.sofmax: there is no assignment of that name in [assignments]. Did you",
        ),
        ("[assignments.softmax]\ndue = '2026-10-01'", 2, "assignments.softmax.due: must be a date with a time"),
        ("[assignments.softmax]\ndue = 2026-10-01T23:59:00", 2, "no time zone: 2026-10-01T23:59:00+02:00 is two hours"),
        ("[assignments.softmax]\ndue = 2026-10-01", 2, "assignments.softmax.due: must be a date with a time"),
        ("[checks]\nhidden = ['softmax.sofmax::*']", 2, "Did you mean 'softmax.softmax::*'?"),
        ("[checks]\nhidden = 'softmax'", 2, "checks.hidden: must be a list of texts"),
        ("limits = 3", 1, "limits: must be a table: [limits]"),
        ("assignments = {softmax = {poinst = 3}}", 1, "assignments.softmax.poinst: there is no key"),
        ("exceptions = 3", 1, "exceptions: must be tables, each begun with [[exceptions]]"),
        ("[[exceptions]]\ndue = 2026-10-01T12:00:00Z", 1, "exceptions[1]: says not for whom"),
        ("[[exceptions]]\nstudent = 'bo'", 1, "exceptions[1]: changes nothing. Give it due, late_days"),
        ("[[exceptions]]\nstudent = 'bo'\nbonus = 2", 1, "exceptions[1]: says not of which assignment: assignment"),
        (
            "[[exceptions]]\nstudent = 'bo'\nexcused = true\n[[exceptions]]\nstudent = 7",
            5,
            "exceptions[2].student: ",
        ),
        ("[[exceptions]]\nstudent = 'bo'\nscore = -1", 3, "exceptions[1].score: must be at least 0, not -1"),
        ("[[exceptions]]\nstudent = 'bo'\nbonus = -inf", 3, "exceptions[1].bonus: must be at least -10000"),
        ("[[exceptions]]\nstudent = 'bo'\npoints = 1", 3, "exceptions[1].points: there is no key of that name"),
        (
            "[assignments.softmax]\n[[exceptions]]\nstudent = 'bo'\nassignment = 'sofmax'\nbonus = 2",
            4,
            "exceptions[1].assignment: 'sofmax' is not graded. Did you mean 'softmax'?",
        ),
        ("[limits]\nmemory_mib = 3", 2, "limits.memory_mib: must be at least 256, not 3"),
    ],
)
def test_errors_name_key_and_line(tmp_path, text, line, says):
    with pytest.raises(UsageError) as raised:
        load(tmp_path, text)
    assert f"course.toml, line {line}: " in str(raised.value)
    assert says in str(raised.value)


def test_a_byte_order_mark_is_nothing(tmp_path):
    (tmp_path / "course.toml").write_bytes(b"\xef\xbb\xbfseed = 7\r\n")
    assert policies.load_policy(tmp_path / "course.toml", TRANSFORMER).seed == 7


def test_what_is_not_toml_says_so(tmp_path):
    with pytest.raises(UsageError, match=r"course\.toml is not TOML: .*line 1"):
        load(tmp_path, "title = CS 601")


def test_without_a_policy_points_are_added():
    found = total(Policy(), {"softmax": 20.0, "attention": 40.0, "layernorm": 5.0})
    assert (found.earned, found.possible, found.score, found.out_of) == (65.0, 88.0, 65.0, 88.0)


def test_points_are_scaled_and_weighed():
    policy = Policy(assignments={"softmax": AssignmentPolicy(points=14.0, weight=1.0), "attention": AssignmentPolicy()})
    found = total(policy, {"softmax": 14.0, "attention": 40.0, "layernorm": 20.0})
    assert found.assignments["softmax"].earned == 7.0 and found.assignments["softmax"].possible == 14.0
    assert found.score == pytest.approx(0.5 * 1 + 40 + 20) and found.out_of == 61.0


def test_bonus_points_count_beyond_the_possible():
    assert total(Policy(), {"layernorm": 25.0}).score == 25.0


@pytest.mark.parametrize(
    ("hours", "days", "score"), [(-1, 0, 28), (0, 0, 28), (1, 0, 28), (3, 1, 25.2), (27, 2, 22.4), (24 * 30, 30, 14)]
)
def test_late_days_are_begun_days_after_the_grace(hours, days, score):
    policy = Policy(late=LatePolicy(0.1, grace_hours=2, cap=0.5), assignments={"softmax": AssignmentPolicy(due=DUE)})
    found = total(policy, {"softmax": 28.0}, times={"": DUE + timedelta(hours=hours)})
    assert found.assignments["softmax"].late_days == days == found.late_days
    assert found.score == pytest.approx(score) and found.penalty == pytest.approx(28 - score)


def test_the_penalty_may_be_one_of_the_possible_points():
    policy = Policy(late=LatePolicy(0.25, of="possible"), assignments={"softmax": AssignmentPolicy(due=DUE)})
    assert total(policy, {"softmax": 10.0}, times={"": DUE + timedelta(hours=1)}).score == pytest.approx(3.0)
    assert total(policy, {"softmax": 5.0}, times={"": DUE + timedelta(hours=1)}).score == 0.0


def test_a_platforms_mark_counts_as_the_days_that_the_policy_says():
    policy = Policy(late=LatePolicy(0.1, marked_days=2))
    assert total(policy, {"softmax": 28.0}, late=True).score == pytest.approx(28 * 0.8)


def test_an_assignments_own_time_counts_for_it():
    policy = Policy(late=LatePolicy(1.0), assignments={name: AssignmentPolicy(due=DUE) for name in POSSIBLE})
    times = {"softmax": DUE + timedelta(days=3), "attention": DUE}
    found = total(policy, {"softmax": 28.0, "attention": 40.0}, times=times)
    assert found.score == 40.0 and found.assignments["attention"].late_days == 0


def test_the_lowest_by_share_are_dropped_but_never_all():
    policy = Policy(drop_lowest=1)
    found = total(policy, {"softmax": 14.0, "attention": 18.0, "layernorm": 20.0})
    assert found.dropped == ("attention",) and (found.score, found.out_of) == (34.0, 48.0)
    assert total(Policy(drop_lowest=9), {"softmax": 28.0}).dropped == ("attention", "layernorm")
