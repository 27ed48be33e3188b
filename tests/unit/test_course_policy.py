"""course.toml, and what it makes of points."""

from datetime import UTC, datetime, timedelta

import pytest

from autograder.course import policy as policies
from autograder.course import scoring
from autograder.course.handed_in import Attempt
from autograder.course.policy import AssignmentPolicy, Late, Policy
from autograder.curriculum import TRANSFORMER
from autograder.errors import UsageError

DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)
POSSIBLE = {"softmax": ("Softmax", 28.0), "attention": ("Attention", 40.0), "layernorm": ("Layer norm", 20.0)}


def load(tmp_path, text):
    path = tmp_path / "course.toml"
    path.write_text(text, "utf-8")
    return policies.load(path, TRANSFORMER)


def total(policy, earned, **attempt):
    course = scoring.assignments(policy, POSSIBLE)
    return scoring.total(course, earned, policy, Attempt((), **attempt) if attempt else None)


def test_weights_are_given_to_all_or_to_none(tmp_path):
    mixed = "[assignments.softmax]\nweight = 2\n[assignments.attention]\npoints = 30\n"
    with pytest.raises(UsageError, match=r"line 3: assignments\.attention: has no weight, and softmax has one"):
        load(tmp_path, mixed)
    assert load(tmp_path, mixed.replace("weight = 2", "weight = 0")).assignments["softmax"].weight == 0.0
    assert load(tmp_path, mixed.replace("weight = 2", "points = 2")).assignments["softmax"].weight is None


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
    assert policy.late == Late(0.1, 1.0, 0.5)
    assert policy.limits.limits().memory_bytes == 512 << 20
    assert policy.limits.limits().cpu_seconds == 300.0
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
    assert policies.load(tmp_path / "course.toml", TRANSFORMER).seed == 7


def test_what_is_not_toml_says_so(tmp_path):
    with pytest.raises(UsageError, match=r"course\.toml is not TOML: .*line 1"):
        load(tmp_path, "title = CS 601")


def test_without_a_policy_points_are_added():
    found = total(Policy(), {"softmax": 20.0, "attention": 40.0, "layernorm": 5.0})
    assert (found.earned, found.possible, found.score, found.out_of) == (65.0, 88.0, 65.0, 88.0)


def test_points_are_scaled_and_weighed():
    policy = Policy(assignments={"softmax": AssignmentPolicy(points=14.0, weight=1.0), "attention": AssignmentPolicy()})
    found = total(policy, {"softmax": 14.0, "attention": 40.0, "layernorm": 20.0})
    assert found.grades["softmax"].earned == 7.0 and found.grades["softmax"].possible == 14.0
    assert found.score == pytest.approx(0.5 * 1 + 40 + 20) and found.out_of == 61.0


def test_bonus_points_count_beyond_the_possible():
    assert total(Policy(), {"layernorm": 25.0}).score == 25.0


@pytest.mark.parametrize(
    ("hours", "days", "score"), [(-1, 0, 28), (0, 0, 28), (1, 0, 28), (3, 1, 25.2), (27, 2, 22.4), (24 * 30, 30, 14)]
)
def test_late_days_are_begun_days_after_the_grace(hours, days, score):
    policy = Policy(late=Late(0.1, grace_hours=2, cap=0.5), assignments={"softmax": AssignmentPolicy(due=DUE)})
    found = total(policy, {"softmax": 28.0}, times={"": DUE + timedelta(hours=hours)})
    assert found.grades["softmax"].late_days == days == found.late_days
    assert found.score == pytest.approx(score) and found.penalty == pytest.approx(28 - score)


def test_the_penalty_may_be_one_of_the_possible_points():
    policy = Policy(late=Late(0.25, of="possible"), assignments={"softmax": AssignmentPolicy(due=DUE)})
    assert total(policy, {"softmax": 10.0}, times={"": DUE + timedelta(hours=1)}).score == pytest.approx(3.0)
    assert total(policy, {"softmax": 5.0}, times={"": DUE + timedelta(hours=1)}).score == 0.0


def test_a_platforms_mark_counts_as_the_days_that_the_policy_says():
    policy = Policy(late=Late(0.1, marked_days=2))
    assert total(policy, {"softmax": 28.0}, late=True).score == pytest.approx(28 * 0.8)


def test_an_assignments_own_time_counts_for_it():
    policy = Policy(late=Late(1.0), assignments={name: AssignmentPolicy(due=DUE) for name in POSSIBLE})
    times = {"softmax": DUE + timedelta(days=3), "attention": DUE}
    found = total(policy, {"softmax": 28.0, "attention": 40.0}, times=times)
    assert found.score == 40.0 and found.grades["attention"].late_days == 0


def test_the_lowest_by_share_are_dropped_but_never_all():
    policy = Policy(drop_lowest=1)
    found = total(policy, {"softmax": 14.0, "attention": 18.0, "layernorm": 20.0})
    assert found.dropped == ("attention",) and (found.score, found.out_of) == (34.0, 48.0)
    assert total(Policy(drop_lowest=9), {"softmax": 28.0}).dropped == ("attention", "layernorm")
