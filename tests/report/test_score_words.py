"""The words about a score: for every policy, the numbers in them add up to the score."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.classroom.policy.model import AssignmentPolicy, LatePolicy, Policy, PolicyException, RubricItem
from autograder.classroom.scoring.class_document import GradedClass
from autograder.classroom.scoring.student_scores import ManualPoints, RubricPoints, StudentDecisions, adjustment
from autograder.classroom.storage.result_store import JournalEntry
from autograder.classroom.submissions.model import Attempt, ClassMember, Source, Student
from autograder.core.points import rounded_points
from autograder.courses.transformer import TRANSFORMER
from autograder.report.score_words import rubric_texts, score_lines, unmarked_rubric_items

DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)
NAMES = ("softmax", "attention", "bpe")
BONUS = next(name for name, function in TRANSFORMER.functions.items() if function.bonus)
FUNCTIONS = {name: next(f.qualified for f in TRANSFORMER.modules[name].functions if not f.bonus) for name in NAMES}
RUBRIC = (RubricItem("q1", "Why is the maximum subtracted?", 5.0),)


def document_of(policy, earned, manual=None, exceptions=(), late=timedelta(0), names=NAMES):
    """The class document of one student who earned these of 12 points in each assignment's function."""
    points = {FUNCTIONS.get(name, name): (value, 12.0) for name, value in earned.items()}
    attempts = (Attempt((), {"": DUE + late}),) if earned else ()
    students = [
        Student("ada", "Ada", work={"": ClassMember("ada", attempts=attempts)}),
        Student("bo", work={"": ClassMember("bo", attempts=(Attempt(()),))}),
    ]
    everything = dict.fromkeys((*FUNCTIONS.values(), BONUS), (0.0, 12.0))
    entries = {"bo.json": JournalEntry("bo.json", "", functions=everything)}
    if earned:
        entries["ada.json"] = JournalEntry("ada.json", "", functions=points)
    decided = {"exceptions": {"ada": list(exceptions)}, "decisions": {"ada": StudentDecisions(manual or {})}}
    return GradedClass([Source("", names, Path())], students, policy, TRANSFORMER, 0, entries, **decided).document()


def lines_of(*arguments, **options):
    document = document_of(*arguments, **options)
    return score_lines(document["students"][0], document)


def test_score_lines_show_each_step():
    softmax, attention = AssignmentPolicy(20.0, weight=40.0, due=DUE), AssignmentPolicy(30.0, weight=60.0)
    policy = Policy(late=LatePolicy(0.1), assignments={"softmax": softmax, "attention": attention})
    lines = lines_of(policy, {"softmax": 10.8, "attention": 12.0}, late=timedelta(hours=1), names=NAMES[:2])
    assert lines == [
        "softmax: 18 of 20 points, 1 day late: −1.8, so 16.2; weight 40: 16.2 / 20 × 40 = 32.4",
        "attention: 30 of 30 points; weight 60: 30 / 30 × 60 = 60",
        "total: 32.4 + 60 = 92.4 of 100, which is 92.4%",
    ]


def test_score_lines_show_what_does_not_count():
    policy = Policy(drop_lowest=1)
    excused = PolicyException("ada", "softmax", excused=True, reason="ill")
    assert lines_of(policy, {"softmax": 3.0, "attention": 6.0, "bpe": 12.0}, exceptions=[excused]) == [
        "softmax: excused, does not count (ill)", "attention: 6 of 12 points; dropped, does not count",
        "bpe: 12 of 12 points", "total: 12 of 12, which is 100%",
    ]  # fmt: skip
    everything = PolicyException("ada", excused=True)
    assert lines_of(policy, {}, exceptions=[everything])[-1] == "total: none, because no assignment counts"
    weights = {name: AssignmentPolicy(weight=float(name == "softmax")) for name in NAMES}
    assert lines_of(Policy(assignments=weights), {"attention": 6.0})[1:] == [
        "attention: 6 of 12 points; does not count, because its weight is 0",
        "bpe: 0 of 12 points; does not count, because its weight is 0",
        "total: 0 of 1, which is 0%",
    ]


def test_score_lines_show_rubric_and_changes_by_hand():
    policy = Policy(assignments={"softmax": AssignmentPolicy(rubric=RUBRIC)})
    names = ("softmax",)
    question = "Why is the maximum subtracted?"
    assert lines_of(policy, {"softmax": 6.0}, names=names)[0] == (
        f"softmax: 6 for the code + 0 for {question} (not graded yet) = 6 of 17 points"
    )
    manual = ManualPoints({"q1": RubricPoints(4.0)}, (adjustment("a typo in the sheet", 2.0),))
    assert lines_of(policy, {"softmax": 6.0}, {"softmax": manual}, names=names)[0] == (
        f"softmax: 6 for the code + 4 for {question} = 10 of 17 points, added (a typo in the sheet): +2, so 12"
    )
    manual = ManualPoints({}, (adjustment("", score=9.0), adjustment("shown orally", score=15.0), adjustment("", -1.0)))
    assert lines_of(policy, {"softmax": 6.0}, {"softmax": manual}, names=names)[0].endswith(
        "= 6 of 17 points, replaced by 15 points given by hand (shown orally), deducted: −1, so 14"
    )


def test_score_lines_say_that_numbers_are_rounded():
    policy = Policy(assignments={name: AssignmentPolicy(points=10.0) for name in NAMES})
    total = lines_of(policy, dict.fromkeys(NAMES, 4.0))[-1]
    assert total == "total: 3.33 + 3.33 + 3.33 = 10 of 30 (rounded), which is 33.33%"


def test_score_lines_of_missing_work():
    assert lines_of(Policy(), {}, names=("softmax",)) == [
        "softmax: nothing submitted, 0 of 12 points",
        "total: 0 of 12, which is 0%",
    ]


def test_unmarked_rubric_items_are_those_of_submissions():
    policy = Policy(assignments={"softmax": AssignmentPolicy(rubric=RUBRIC)})
    item = ("softmax", "Why is the maximum subtracted?")
    assert unmarked_rubric_items(document_of(policy, {"softmax": 1.0})["students"][0]) == [item]
    assert unmarked_rubric_items(document_of(policy, {})["students"][0]) == []
    given = {"softmax": ManualPoints({"q1": RubricPoints(4.5, "Right.")})}
    (ada, _) = document_of(policy, {"softmax": 1.0}, given)["students"]
    assert rubric_texts(ada, "ffn") == [] and rubric_texts(ada) == [f"softmax, {item[1]} (4.5 of 5): Right."]
    for points in (ManualPoints({"q1": RubricPoints(0.0)}), ManualPoints({}, (adjustment("oral exam", score=9.0),))):
        assert unmarked_rubric_items(document_of(policy, {"softmax": 1.0}, {"softmax": points})["students"][0]) == []


POINTS = st.one_of(st.integers(0, 12).map(float), st.floats(0.0, 12.0))
AMOUNTS = st.one_of(st.just(0.0), st.floats(0.5, 60.0))
SOMETIMES = st.one_of(st.none(), AMOUNTS)
LATE_OF = st.sampled_from(("earned", "possible"))
LATE = st.builds(LatePolicy, st.floats(0, 0.5), st.just(0.0), st.floats(0, 1), LATE_OF, bank=st.integers(0, 5))
POLICIES = st.builds(
    lambda weights, points, late, **more: Policy(
        late=late,
        assignments={
            name: AssignmentPolicy(points[name], weights and weights[name], DUE, {}, RUBRIC if name != "bpe" else ())
            for name in NAMES
        },
        **more,
    ),
    weights=st.one_of(st.none(), st.fixed_dictionaries(dict.fromkeys(NAMES, AMOUNTS))),
    points=st.fixed_dictionaries(dict.fromkeys(NAMES, SOMETIMES)),
    late=LATE,
    bonus=st.sampled_from(("cap", "extra", "off")),
    drop_lowest=st.integers(0, 3),
    replace_lowest_by=st.sampled_from(("", NAMES[0])),
)
ADJUSTMENTS = st.builds(adjustment, st.sampled_from(("", "asked")), st.floats(-20, 20).filter(bool), SOMETIMES)
MARKS = st.dictionaries(st.just("q1"), st.builds(RubricPoints, st.floats(0, 5)), max_size=1)
MANUAL_POINTS = st.builds(ManualPoints, MARKS, st.lists(ADJUSTMENTS, max_size=3).map(tuple))
MANUAL = st.dictionaries(st.sampled_from(NAMES), MANUAL_POINTS)
LATE_DAYS = st.one_of(st.none(), st.integers(0, 4))
EXCEPTION = st.builds(
    PolicyException, st.just("ada"), st.sampled_from(("", *NAMES)), late_days=LATE_DAYS, excused=st.booleans()
)
EXCEPTIONS = st.lists(EXCEPTION, max_size=2)
EARNED = st.dictionaries(st.sampled_from((*NAMES, BONUS)), POINTS)
PLAIN = r"\d+(?:\.\d+)?"
NUMBER = rf"(?<![\w.]){PLAIN}"
STEP = re.compile(r", (?=so |of which|but at|replaced|added|deducted|\d+ days? late)")


def number(text):
    """The first number of a text."""
    return Decimal(re.search(NUMBER, text)[0])


def assert_equal_as_shown(text, found, shown):
    """Assert that a sum is right as it is shown, or marked as rounded and within the rounding."""
    if found != shown:
        assert "(rounded)" in text and abs(found - shown) <= Decimal("0.05"), text


def points_before_changes(text):
    """The points at the beginning of a line, after the assertion that the parts of a sum give them."""
    parts, equals, total = text.rpartition(" = ")
    if equals:
        assert_equal_as_shown(text, sum(map(number, parts.split(" + "))), number(total))
    return number(total)


def score_in(text):
    """The score that an assignment's line ends with, after the assertion that every step follows from those before."""
    head, *steps = STEP.split(text.removeprefix("nothing submitted, "))
    value = points_before_changes(head)
    for step in steps:
        if change := re.search(rf": ([+−])({PLAIN})$", step):
            value += Decimal(change[2]) * (1 if change[1] == "+" else -1)
        elif step.startswith("so "):
            assert_equal_as_shown(step, value, number(step))
            value = number(step)
        elif not re.search(r" late( \(\d from the bank\))?$", step):
            value = number(step)
    return value


def contribution_in(text, score, weight):
    """The contribution to the total that the end of a line computes from the score."""
    term, _, contribution = text.partition(" = ")
    shown_score, possible, shown_weight = map(Decimal, re.findall(NUMBER, term.partition(": ")[2]))
    assert (shown_score, shown_weight) == (score, rounded_points(weight))
    if possible:
        found = (shown_score / possible * shown_weight).quantize(Decimal("0.01"), "ROUND_HALF_UP")
        assert found == number(contribution) or "(rounded)" in text
    return number(contribution)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(POLICIES, EARNED, MANUAL, EXCEPTIONS, st.integers(0, 100))
def test_numbers_in_the_words_add_up_to_the_score(policy, earned, manual, exceptions, hours):
    document = document_of(policy, earned, manual, exceptions, timedelta(hours=hours))
    student, weights = document["students"][0], {one["name"]: one["weight"] for one in document["assignments"]}
    *lines, total = score_lines(student, document)
    contributions = []
    for line, (name, grade) in zip(lines, student["assignments"].items(), strict=True):
        if grade["excused"]:
            assert "does not count" in line and not re.search(NUMBER, line)
            continue
        text, _, end = line.removeprefix(f"{name}: ").partition("; ")
        score = score_in(text)
        assert score == rounded_points(grade["score"]), line
        if grade["counts"] == "counts":
            contributions.append(contribution_in(end, score, weights[name]) if end else score)
        else:
            assert "does not count" in end
    total, _, bank = total.partition("; ")
    assert bool(bank) == bool(policy.late.bank)
    if student["percent"] is None:
        assert (total, contributions) == ("total: none, because no assignment counts", [])
        return
    terms, _, result = total.rpartition(" = ")
    assert not terms or [number(term) for term in terms.split(" + ")] == contributions
    assert_equal_as_shown(total, sum(contributions), rounded_points(student["score"]))
    score, out_of, percent = map(number, re.split(" of |which is ", result.removeprefix("total: ")))
    assert (score, out_of) == (rounded_points(student["score"]), rounded_points(student["out_of"]))
    assert percent == rounded_points(student["percent"])
