"""The class document: attempts that count, what is possible, statuses, safe texts, and what a person should look at."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.classroom.policy import model
from autograder.classroom.policy.model import AssignmentPolicy, LatePolicy, LimitsPolicy, Policy, PolicyException
from autograder.classroom.scoring.class_document import GradedClass, open_questions
from autograder.classroom.scoring.student_scores import ManualPoints, RubricPoints, StudentDecisions, adjustment
from autograder.classroom.storage.result_store import JournalEntry
from autograder.classroom.submissions.model import Attempt, ClassMember, Source, Student
from autograder.courses.transformer import TRANSFORMER

DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)
FUNCTIONS = {"softmax": "softmax.softmax", "attention": "attention.attention"}
BOTH = Source("", ("softmax", "attention"), Path())
EACH = [Source(name, (name,), Path()) for name in FUNCTIONS]
HARMFUL = "a \x1b[31mcolor"


def entry(file="ada.json", points=None, **more):
    """A result with these of 10 points by assignment."""
    functions = {FUNCTIONS[name]: (value, 10.0) for name, value in (points or {}).items()}
    checks = {name: {"passed" if value else "not_started": 1} for name, value in (points or {}).items()}
    return JournalEntry(file, "", functions=functions, checks=checks, **more)


def graded(*entries, attempts=(Attempt(()),), policy=Policy(), sources=(BOTH,), **more):  # noqa: B008 (it is frozen)
    """The class document and its entry of ada, who has these attempts in each source."""
    work = {source.name: ClassMember("ada", attempts=tuple(attempts)) for source in sources}
    students, by_file = [Student("ada", work=work)], {one.file: one for one in entries}
    document = GradedClass(list(sources), students, policy, TRANSFORMER, 0, by_file, **more).document()
    return document, document["students"][0]


@pytest.mark.parametrize(("attempts", "count", "files"), [
    ("last", 3, {3: "ada.json"}), ("first", 3, {1: "ada.json"}), ("best", 2, {1: "ada#1.json", 2: "ada#2.json"}),
    ("best", 3, {2: "ada#2.json", 3: "ada#3.json"}), ("best", 1, {1: "ada.json"}),
])  # fmt: skip
def test_graded_attempts_follow_the_policy_and_its_limit(attempts, count, files):
    policy = Policy(attempts=attempts, limits=LimitsPolicy(student_attempts=2))
    group = GradedClass([BOTH], [], policy, TRANSFORMER, 0)
    found = group.files_of(BOTH, ClassMember("ada", attempts=(Attempt(()),) * count))
    assert {one.number: one.file for one in found} == files


@pytest.mark.parametrize(("points", "days_late", "exceptions", "counting"), [
    ((9.0, 7.0), 0, (), 1), ((7.0, 7.0), 0, (), 2), ((6.0, 9.0), 0, (), 2), ((8.0, 9.0), 2, (), 1),
    ((8.0, 9.0), 2, (PolicyException("ada", late_days=0),), 2), ((8.0, None), 0, (), 1),
    ((8.0, 9.0), 2, (PolicyException("ada", excused=True),), 2), ((0.0, None), 0, (), 1),
])  # fmt: skip
def test_best_attempt_is_the_latest_of_the_highest_score(points, days_late, exceptions, counting):
    attempts = [Attempt((), {"": DUE}), Attempt((), {"": DUE + timedelta(days=days_late)})]
    policy = Policy(attempts="best", late=LatePolicy(0.1, bank=2), assignments={"softmax": AssignmentPolicy(due=DUE)})
    entries = [entry(f"ada#{n}.json", {"softmax": p}) for n, p in enumerate(points, 1) if p is not None]
    _, ada = graded(*entries, attempts=attempts, policy=policy, exceptions={"ada": list(exceptions)})
    assert (ada["assignments"]["softmax"]["attempt"], ada["assignments"]["softmax"]["attempts"]) == (counting, 2)


def test_failed_attempt_that_does_not_count_is_a_note():
    entries = [entry("ada#1.json", {"softmax": 9.0}), entry("ada#2.json", status="failed", reason="it broke")]
    _, ada = graded(*entries, attempts=[Attempt(())] * 2, policy=Policy(attempts="best"))
    assert ada["notes"] == ["attempt 2: it broke"] and ada["status"] == "graded"
    _, ada = graded(entry(status="failed", reason="it broke"))
    assert ada["notes"] == [] and (ada["status"], ada["reason"]) == ("failed", "it broke")


def test_left_out_attempts_are_counted_over_all_sources():
    policy = Policy(attempts="best", limits=LimitsPolicy(student_attempts=3))
    counts = {"softmax": 5, "attention": 1}
    work = {name: ClassMember("ada", attempts=(Attempt(()),) * count) for name, count in counts.items()}
    students, left_out = [Student("ada", "Ada L.", work=work)], Counter(ada=1)
    (ada,) = GradedClass(EACH, students, policy, TRANSFORMER, 0, left_out=left_out).document()["students"]
    assert ada["limit_note"].startswith("3 of 6 attempts were not graded") and ada["name"] == "Ada L."
    assert graded()[1]["limit_note"] == ""


def test_possible_points_are_the_most_of_any_result_of_the_class():
    students = [Student(name, work={"": ClassMember(name, attempts=(Attempt(()),))}) for name in ("ada", "bo", "chen")]
    entries = {f"{name}.json": entry(f"{name}.json", {"softmax": 1.0}) for name in ("ada", "bo")}
    entries["ada.json"].functions = {"softmax.softmax": (1.0, 4.0)}
    entries["zoe.json"] = entry("zoe.json", {"attention": 1.0})  # has left the class
    for order in (students, students[::-1]):
        (softmax, attention) = GradedClass([BOTH], order, Policy(), TRANSFORMER, 0, entries).document()["assignments"]
        assert (softmax["possible"], attention["possible"]) == (10.0, 0.0)


@pytest.mark.parametrize(("softmax", "attention", "status"), [
    ("failed", "unreadable", "failed"), ("unreadable", "graded", "graded"), ("unreadable", None, "waiting"),
    ("failed", None, "failed"), ("unreadable", "unreadable", "unreadable"),
])  # fmt: skip
def test_student_status_is_the_most_urgent_of_the_assignments(softmax, attention, status):
    found = {"softmax": softmax, "attention": attention}
    entries = [entry(f"ada+{name}.json", status=one, reason=f"{name} {one}") for name, one in found.items() if one]
    _, ada = graded(*entries, sources=EACH)
    assert ada["status"] == status
    assert ada["notes"] == [f"{name}: {name} {one}" for name, one in found.items() if one not in (None, "graded")]
    assert [grade["status"] for grade in ada["assignments"].values()] == [softmax, attention or "waiting"]
    assert not ada["reason"] or ada["reason"].endswith(status)


def test_assignment_that_an_attempt_does_not_include_is_missing():
    _, ada = graded(entry(points={"softmax": 5.0, "attention": 5.0}), attempts=[Attempt((), assignments=("softmax",))])
    found = [tuple(grade[key] for key in ("status", "score", "attempt")) for grade in ada["assignments"].values()]
    assert found == [("graded", 5.0, 1), ("missing", 0.0, 0)] and ada["name"] == "ada"


def test_result_file_is_named_only_if_there_is_one():
    files = [graded(entry(bytes=size))[1]["assignments"]["softmax"]["file"] for size in (0, 4)]
    assert files == [None, "results/ada.json"]
    assert graded(entry(points={"softmax": 5.0, "attention": 0.0}))[1]["statuses"] == {"passed": 1, "not_started": 1}
    named = entry("ada+softmax.json", points={"softmax": 5.0}, notes=["odd"], files={"softmax": "a.py"})
    _, ada = graded(named, sources=EACH[:1])
    assert ada["notes"] == ["odd"] and ada["assignments"]["softmax"]["graded_file"] == "a.py"
    _, ada = graded(attempts=())
    assert (ada["status"], ada["reason"]) == ("missing", "no submission")


def test_policy_names_the_assignments_that_count():
    policy = Policy(assignments={"attention": AssignmentPolicy(due=DUE)})
    document, _ = graded(entry(points={"softmax": 5.0}), policy=policy)
    assert [(one["name"], one["due"]) for one in document["assignments"]] == [("attention", DUE.isoformat())]


@pytest.mark.parametrize("begun", [("softmax",), ("softmax", "attention"), ()])
def test_assignments_that_nobody_began_do_not_count(begun):
    whole = Source("", tuple(TRANSFORMER.modules), Path(), functions=tuple(TRANSFORMER.functions))
    result = entry(points={name: float(name in begun) for name in FUNCTIONS})
    document, _ = graded(result, sources=[whole])
    assert [assignment["name"] for assignment in document["assignments"]] == list(begun or TRANSFORMER.modules)
    policy = Policy(assignments={name: AssignmentPolicy() for name in FUNCTIONS})
    assert len(graded(result, sources=[whole], policy=policy)[0]["assignments"]) == 2


@pytest.mark.parametrize(("times", "days"), [({}, 2), ({"": DUE}, 0), ({"": DUE + timedelta(days=1)}, 1)])
def test_lateness_of_the_platform_counts_where_no_time_is_known(times, days):
    policy = Policy(late=LatePolicy(0.1), assignments={"softmax": AssignmentPolicy(20 / 3, 2 / 3, due=DUE)})
    attempt = Attempt((), times, late=True, late_by=timedelta(days=2))
    document, ada = graded(entry(points={"softmax": 10 / 3}), attempts=[attempt], policy=policy)
    grade = ada["assignments"]["softmax"]
    submitted = times[""].isoformat() if times else None
    assert (grade["late_days"], grade["submitted_at"], grade["late"]) == (days, submitted, True)
    assert graded(entry(points={"softmax": 1.0}), attempts=[attempt])[1]["score"] == 1.0, "it has no due date"
    stored = [*ada.values(), *grade.values(), *document["assignments"][0].values()]
    assert all(value == round(value, 6) for value in stored if isinstance(value, float))


def test_texts_of_instructors_are_cleaned():
    policy = Policy(assignments={"softmax": AssignmentPolicy(rubric=(model.RubricItem("q1", "Why?", 5.0),))})
    manual = ManualPoints({"q1": RubricPoints(1.0, HARMFUL)}, (adjustment(HARMFUL, 1.0),))
    exception = PolicyException("ada", bonus=1.0, reason=HARMFUL)
    _, ada = graded(
        entry(points={"softmax": 1.0}), policy=policy,
        exceptions={"ada": [exception]}, decisions={"ada": StudentDecisions({"softmax": manual})},
    )  # fmt: skip
    grade = ada["assignments"]["softmax"]
    texts = [grade["exception"], grade["rubric"][0]["comment"], *(one["text"] for one in grade["adjustments"])]
    assert len(texts) == 4 and all("color" in text and "\x1b" not in text for text in texts)


BEGUN = {"softmax": {"passed": 1}, "attention": {"not_started": 9}}


def questions(statuses, entry, chosen=(), **changes):
    about = {"excused": False, "by_hand": False, "reason": "", **changes}
    grades = {name: {"status": status, **about} for name, status in statuses.items()}
    entries = {name: entry for name, status in statuses.items() if status == "graded"}
    found = open_questions((), grades, entries, StudentDecisions(chosen=dict(chosen)))
    return [(question["kind"], question["assignment"]) for question in found]


@pytest.mark.parametrize(("statuses", "question"), [
    ({"softmax": "waiting"}, ("no_result", "softmax")), ({"softmax": "failed"}, ("no_result", "softmax")),
    ({"softmax": "unreadable"}, ("unreadable", "softmax")),
    ({"softmax": "unreadable", "attention": "unreadable"}, ("unreadable", "")),
])  # fmt: skip
def test_grade_that_is_no_result_is_one_question_unless_a_person_gave_it(statuses, question):
    assert questions(statuses, None) == [question]
    assert questions(statuses, None, by_hand=True) == questions(statuses, None, excused=True) == []


def test_several_versions_are_open_unless_the_score_was_given_by_hand():
    entry = JournalEntry("ada.json", "", checks=BEGUN, rivals={"softmax": ["softmax.py", "softmax_final.py"]})
    assert questions({"softmax": "graded"}, entry) == [("versions", "softmax")]
    assert questions({"softmax": "graded"}, entry, by_hand=True) == []
    assert questions({"softmax": "graded"}, entry, {"softmax": "softmax.py"}) == []
    assert questions({"softmax": "graded"}, entry, {"softmax": "softmax_final.py"}) == [("chosen", "softmax")]


@pytest.mark.parametrize(("entry", "kinds"), [
    (JournalEntry("ada.json", "", checks={"softmax": {"error": 2}}), ["unreadable"]),
    (JournalEntry("ada.json", "", checks={"softmax": {"error": 1, "failed": 1}}), []),
    (JournalEntry("ada.json", "", checks=BEGUN, unreadable=["b.zip"]), ["unreadable"]),
    (JournalEntry("ada.json", "", checks={"softmax": {"blocked": 2}}, files={"ffn": "ffn.py"}), ["nothing_written"]),
])  # fmt: skip
def test_work_that_cannot_be_read_or_is_not_begun_is_open(entry, kinds):
    assert questions({"softmax": "graded", "ffn": "missing"}, entry) == [(kind, "softmax") for kind in kinds]
    assert ("nothing_written", "softmax") not in questions({"softmax": "graded"}, entry, by_hand=True)


def test_work_for_another_assignment_is_open_only_if_nothing_else_was_submitted_for_it():
    entry = JournalEntry("ada.json", "", checks=BEGUN, files={"attention": "attention.py"})
    assert questions({"softmax": "graded", "attention": "missing"}, entry) == [("elsewhere", "attention")]
    assert questions({"softmax": "graded"}, entry) == [], "the policy does not count it"
    assert questions({"softmax": "graded", "attention": "graded"}, entry) == []
    assert questions({"softmax": "graded", "attention": "waiting"}, entry) == [("no_result", "attention")]
