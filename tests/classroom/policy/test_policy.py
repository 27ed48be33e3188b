"""course.toml: what it can say, where it is found, and its errors."""

import dataclasses
import re
import tomllib
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from support.paths import ROOT

from autograder.classroom.class_setup import policy_template
from autograder.classroom.policy import model
from autograder.classroom.policy.model import LatePolicy, LimitsPolicy, Policy, PolicyException, RubricItem
from autograder.classroom.policy.policy_file import load_policy
from autograder.classroom.storage.run_records import find_policy, find_roster, write_settings
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.sandbox.limits import Limits

DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)


def load(tmp_path, text):
    path = tmp_path / "course.toml"
    path.write_text(text, "utf-8")
    return load_policy(path, TRANSFORMER)


def keys_of(table):
    return set(table.__struct_fields__)


def test_load_policy_reads_every_section(tmp_path):
    text = (
        'title = "CS 601"\nseed = 7\nattempts = "best"\ndrop_lowest = 1\nroster = "roster.csv"\n'
        "[late]\npenalty_per_day = 0.1\ncap = 0.5\ngrace_hours = 1\n[limits]\ncall_seconds = 5\nmemory_mib = 512\n"
        "submission_seconds = 90\noutput_mib = 3\nresult_mib = 7\n"
        '[checks]\nhidden = ["softmax.softmax::*"]\n'
        "[assignments.softmax]\npoints = 20\nweight = 2\ndue = 2026-10-01T23:59:00+02:00\n"
        "[assignments.attention]\nweight = 1\n"
    )
    policy = load(tmp_path, text)
    assert (policy.title, policy.seed, policy.attempts, policy.drop_lowest) == ("CS 601", 7, "best", 1)
    assert policy.late == LatePolicy(0.1, 1.0, 0.5)
    limits = {"memory_bytes": 512 << 20, "output_bytes": 3 << 20, "result_bytes": 7 << 20}
    assert policy.limits.sandbox_limits() == Limits(5.0, submission_seconds=90.0, cpu_seconds=90.0, **limits)
    assert LimitsPolicy(student_seconds=100.0).sandbox_limits().cpu_seconds == 100.0
    assert policy.is_hidden("softmax.softmax::rows") and not policy.is_hidden("softmax.log_softmax::rows")
    assert policy.assignments["softmax"].due == datetime(2026, 10, 1, 21, 59, tzinfo=UTC)
    assert list(policy.assignments) == ["softmax", "attention"]


@pytest.mark.parametrize("name", ["Europe/Berln", "Mars", "Europe", "", "../../etc/passwd", "x" * 400])
def test_load_policy_unknown_time_zone_is_one_line(tmp_path, name):
    with pytest.raises(UsageError, match=r"course\.toml, line 1: time_zone: .* is not a time zone\. ") as caught:
        load(tmp_path, f'time_zone = "{name}"')
    assert "Europe/" in str(caught.value) and "\n" not in str(caught.value)


def test_load_policy_reads_exceptions(tmp_path):
    text = (
        "[late]\nbank = 2\n[assignments.softmax]\npoints = 20\n"
        '[[exceptions]]\nstudent = "bo"\ndue = 2026-10-01T12:00:00Z\n'
        '[[exceptions]]\nstudent = "1003"\nassignment = "softmax"\nscore = 17.5\nreason = "orally"\n'
        '[[exceptions]]\nstudent = "eve"\nassignment = "softmax"\nbonus = -2\nbank_days = 1\n'
    )
    bo, orally = PolicyException("bo", due=DUE), PolicyException("1003", "softmax", score=17.5, reason="orally")
    assert load(tmp_path, text).exceptions == (bo, orally, PolicyException("eve", "softmax", bank_days=1, bonus=-2.0))


def test_load_policy_reads_points_of_functions_and_rubric(tmp_path):
    policy = load(
        tmp_path,
        'bonus = "extra"\n[assignments.softmax.functions]\nlog_softmax = 3\nsoftmax = 0\n'
        '[[assignments.softmax.rubric]]\nid = " q1 "\ntitle = " Why? "\npoints = 5\n'
        '[[assignments.softmax.rubric]]\nid = " q2 "\npoints = 2.5\n',
    )
    assert policy.bonus == "extra"
    assert policy.assignments["softmax"].functions == {"log_softmax": 3.0, "softmax": 0.0}
    assert policy.assignments["softmax"].rubric == (RubricItem("q1", "Why?", 5.0), RubricItem("q2", "q2", 2.5))


def test_load_policy_reads_the_time_zone_and_ignores_a_byte_order_mark(tmp_path):
    assert load(tmp_path, 'time_zone = "Europe/Berlin"').time_zone == "Europe/Berlin"
    assert load(tmp_path, "").time_zone == "UTC"
    (tmp_path / "course.toml").write_bytes(b"\xef\xbb\xbfseed = 7\r\n")
    assert load_policy(tmp_path / "course.toml", TRANSFORMER).seed == 7


def test_load_policy_rejects_weights_for_some_assignments_only(tmp_path):
    mixed = "[assignments.softmax]\nweight = 2\n[assignments.attention]\npoints = 30\n"
    with pytest.raises(UsageError, match=r"line 3: assignments\.attention: .*softmax"):
        load(tmp_path, mixed)
    assert load(tmp_path, mixed.replace("weight = 2", "weight = 0")).assignments["softmax"].weight == 0.0
    assert load(tmp_path, mixed.replace("weight = 2", "points = 2")).assignments["softmax"].weight is None


SOFTMAX, BO = "[assignments.softmax]", "[[exceptions]]\nstudent = 'bo'\n"


@pytest.mark.parametrize(("text", "line", "key", "fragment"), [
    ("tittle = 'x'", 1, "tittle", "unknown key. Did you mean 'title'?"),
    ("\n[late]\npenalty_per_days = 0.1", 3, "late.penalty_per_days", "unknown key in [late]"),
    ("[late]\npenalty_per_day = 10", 2, "late.penalty_per_day", "from 0 to 1 (0.1 is a tenth), not 10"),
    ("[late]\n\ncap = -0.5", 3, "late.cap", "not -0.5"), ("[late]\ncap = nan", 2, "late.cap", "not nan"),
    ("[late]\ngrace_hours = inf", 2, "late.grace_hours", "not inf"),
    ("seed = '7'", 1, "seed", "whole number, at least 0, not '7'"), ("seed = true", 1, "seed", "not True"),
    ("drop_lowest = 1.5", 1, "drop_lowest", "not 1.5"), ("drop_lowest = -1", 1, "drop_lowest", "not -1"),
    ("title = 3", 1, "title", "text in quotes, not 3"),
    ("own_prerequisites = 1", 1, "own_prerequisites", "true or false, not 1"),
    ("attempts = 'lsat'", 1, "attempts", "last, first, best, not 'lsat'. Did you mean 'last'?"),
    ("attempts = 3", 1, "attempts", "last, first, best, not 3"),
    ("[late]\nof = 'all'", 2, "late.of", "earned, possible, not 'all'"),
    ("[assignments.sofmax]", 1, "assignments.sofmax", "unknown assignment in [assignments]. Did you"),
    ("[assignments.softmax]\ndue = '2026-10-01'", 2, "assignments.softmax.due", "without quotes"),
    ("[assignments.softmax]\ndue = 2026-10-01T23:59:00", 2, "assignments.softmax.due", "time zone"),
    ("[assignments.softmax]\ndue = 2026-10-01", 2, "assignments.softmax.due", "not 2026-10-01."),
    ("[assignments.softmax]\ndue = 10:00:00", 2, "assignments.softmax.due", "not 10:00:00."),
    ("[assignments.softmax]\npoints = -3", 2, "assignments.softmax.points", "at least 0, not -3"),
    ("[assignments]\nsoftmax = 3", 2, "assignments.softmax", "a table: [assignments.softmax], not 3"),
    ("assignments = 3", 1, "assignments", "a table: [assignments], not 3"),
    ("[checks]\nhidden = ['softmax.sofmax::*']", 2, "checks.hidden", "Did you mean 'softmax.softmax::*'?"),
    ("[checks]\nhidden = ['none']", 2, "checks.hidden", "'none' matches no function. Example:"),
    ("[checks]\nhidden = 'softmax'", 2, "checks.hidden", "a list of check ids"),
    ("[checks]\nhidden = [3]", 2, "checks.hidden", "a list of check ids"),
    ("limits = 3", 1, "limits", "a table: [limits]"),
    ("[limits]\nmemory_mib = 3", 2, "limits.memory_mib", "at least 256, not 3"),
    ("[limits]\ncall_seconds = inf", 2, "limits.call_seconds", "not inf"),
    ("assignments = {softmax = {poinst = 3}}", 1, "assignments.softmax.poinst", "Did you mean 'points'?"),
    ("exceptions = 3", 1, "exceptions", "[[exceptions]], not 3"),
    ("[[exceptions]]\ndue = 2026-10-01T12:00:00Z", 1, "exceptions[1]", "student ="),
    ("[[exceptions]]\nstudent = 'bo'", 1, "exceptions[1]", "has no effect"),
    ("[[exceptions]]\nstudent = 'bo'\nbonus = 2", 1, "exceptions[1]", "assignment ="),
    (f"{BO}excused = true\n[[exceptions]]\nstudent = 7", 5, "exceptions[2].student", "text in quotes, not 7"),
    ("[[exceptions]]\nstudent = 'bo'\nscore = -1", 3, "exceptions[1].score", "at least 0, not -1"),
    ("[[exceptions]]\nstudent = 'bo'\nbonus = -inf", 3, "exceptions[1].bonus", "at least -10000"),
    ("[[exceptions]]\nstudent = 'bo'\npoints = 1", 3, "exceptions[1].points", "unknown key"),
    (f"{BO}score = 0", 1, "exceptions[1]", "assignment ="),
    (f"{BO}bank_days = 1", 3, "exceptions[1].bank_days", "needs a bank"),
    ("replace_lowest_by = 'sofmax'", 1, "replace_lowest_by", "is not graded. Did you mean 'softmax'?"),
    ("bonus = true", 1, "bonus", "one of cap, extra, off, not True"),
    ("[assignments.softmax]\nfunctions = 3", 2, "assignments.softmax.functions", "a table"),
    (f"{SOFTMAX[:-1]}.functions]\nlogsoftmax = 3", 2, "assignments.softmax.functions.logsoftmax", "log_softmax"),
    ("[assignments.softmax.functions]\n\nsoftmax = -3", 3, "assignments.softmax.functions.softmax", "at least 0"),
    ("[assignments.softmax]\nrubric = 3", 2, "assignments.softmax.rubric", "[[assignments.softmax.rubric]]"),
    ("[[assignments.softmax.rubric]]\npoints = 3", 1, "assignments.softmax.rubric[1]", "has no id"),
    ("[[assignments.softmax.rubric]]\nid = ' '\npoints = 3", 1, "assignments.softmax.rubric[1]", "has no id"),
    ("[ assignments . 'softmax' ]\n\"points\" = -1", 2, "assignments.softmax.points", "at least 0"),
    ("[assignments.softmax]\n'points' = -1", 2, "assignments.softmax.points", "at least 0"),
    ("[[assignments.softmax.rubric]]\nid = 'a'", 1, "assignments.softmax.rubric[1]", "has no points"),
    ("[[assignments.softmax.rubric]]\nid = 'a'\nmax = 3", 3, "assignments.softmax.rubric[1].max", "unknown key"),
    (2 * f"[{SOFTMAX[:-1]}.rubric]]\nid = 'a'\npoints = 3\n", 5, "assignments.softmax.rubric[2].id", "used twice"),
    (f"{SOFTMAX}\n{BO}assignment = 'sofmax'\nbonus = 2", 4, "exceptions[1].assignment", "Did you mean 'softmax'?"),
])  # fmt: skip
def test_load_policy_error_names_line_and_key(tmp_path, text, line, key, fragment):
    with pytest.raises(UsageError) as raised:
        load(tmp_path, text)
    message = str(raised.value)
    assert f"course.toml, line {line}: {key}: " in message and fragment in message and "\n" not in message


@pytest.mark.parametrize(("text", "words"), [(b"title = CS 601", "not valid TOML: .*line 1"), (b"\xff", "not UTF-8")])
def test_load_policy_invalid_toml_is_refused(tmp_path, text, words):
    (tmp_path / "course.toml").write_bytes(text)
    with pytest.raises(UsageError, match=words):
        load_policy(tmp_path / "course.toml", TRANSFORMER)
    with pytest.raises(UsageError, match=r"none\.toml.*--course FILE"):
        load_policy(tmp_path / "none.toml", TRANSFORMER)


def test_load_policy_rejects_zero_points_for_all_functions(tmp_path):
    required = [function.name for function in TRANSFORMER.modules["layernorm"].functions if not function.bonus]
    text = "[assignments.layernorm.functions]\n" + "".join(f"{name} = 0\n" for name in required)
    with pytest.raises(UsageError, match=r"line 1: assignments\.layernorm\.functions: "):
        load(tmp_path, text)
    assert load(tmp_path, text.replace("= 0", "= 1", 1)).assignments["layernorm"].functions[required[0]] == 1.0


def found(tmp_path, folder, course=None, out="out"):
    policy, path = find_policy(tmp_path / out, folder, course, TRANSFORMER)
    return policy.title, find_roster(tmp_path / out, policy, path, None)


def test_find_policy_looks_beside_submissions_and_nbgrader_config(tmp_path):
    submitted = tmp_path / "submitted"
    submitted.mkdir()
    (tmp_path / "course.toml").write_text('title = "top"')
    assert found(tmp_path, submitted) == ("", None)
    (tmp_path / "nbgrader_config.py").touch()
    assert found(tmp_path, submitted) == ("top", None)
    (submitted / "course.toml").write_text('title = "inside"\nroster = "people.csv"')
    assert found(tmp_path, submitted) == ("inside", submitted / "people.csv")
    assert found(tmp_path, submitted, tmp_path / "course.toml") == ("top", None)
    assert find_roster(tmp_path, Policy(roster="a.csv"), tmp_path / "x.toml", tmp_path / "b.csv") == tmp_path / "b.csv"


def test_find_policy_is_that_of_out_or_of_the_last_run(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "policy.toml").write_text('title = "recorded"')
    (tmp_path / "people.csv").write_text("name\nAda\n")
    write_settings(tmp_path / "out", 1, tmp_path / "policy.toml", tmp_path / "people.csv")
    assert found(tmp_path, None) == ("recorded", tmp_path / "people.csv")
    (tmp_path / "out" / "course.toml").write_text('title = "in OUT"\nroster = "mine.csv"')
    assert found(tmp_path, None) == ("in OUT", tmp_path / "out" / "mine.csv")
    (tmp_path / "out" / "course.toml").unlink()
    (tmp_path / "policy.toml").unlink()
    with pytest.raises(UsageError, match="--course FILE"):
        found(tmp_path, None)


def test_with_options_changes_only_given_options():
    policy = Policy(seed=7, own_prerequisites=True, limits=LimitsPolicy(call_seconds=5.0))
    options = {"call_seconds": None, "memory_mib": 512, "seed": None, "feedback": "full", "own_prerequisites": False}
    limits = LimitsPolicy(call_seconds=5.0, memory_mib=512)
    expected = Policy(seed=7, layout="plain", feedback="full", own_prerequisites=True, limits=limits)
    assert policy.with_options({**options, "layout": "plain"}) == expected
    assert Policy().with_options({"seed": 0, "own_prerequisites": True}) == Policy(seed=0, own_prerequisites=True)


@pytest.mark.parametrize(("level", "expected"), [("none", {True}), ("full", {False}), ("summary", {False, True})])
def test_checks_are_hidden_by_the_level_and_by_patterns(level, expected):
    policies = [Policy(feedback=level, checks=model.ChecksPolicy(patterns)) for patterns in ((), ("softmax.*",))]
    assert {policy.is_hidden("softmax.softmax::rows") for policy in policies} == expected


def test_template_is_valid_and_has_every_key(tmp_path):
    text = policy_template(TRANSFORMER)
    assert load(tmp_path, text) == Policy(title="Transformers")
    uncommented = re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.M)
    assert uncommented.count("\n# [") == 0
    mine = policy_template(dataclasses.replace(TRANSFORMER, package="mine", title='The "C:\\new" course'))
    assert tomllib.loads(mine)["title"] == "The 'C:new' course"
    content = tomllib.loads(uncommented)
    assert set(content) == keys_of(Policy)
    assert set(content["late"]) == keys_of(LatePolicy) and set(content["limits"]) == keys_of(LimitsPolicy)
    assert set(content["checks"]) == keys_of(model.ChecksPolicy)
    assert set(content["assignments"]) == set(TRANSFORMER.modules)
    assert set(content["assignments"]["tokenizer"]) == keys_of(model.AssignmentPolicy)
    assert set(content["assignments"]["tokenizer"]["rubric"][0]) == keys_of(RubricItem)
    assert set(content["exceptions"][0]) == keys_of(PolicyException)
    # The defaults that the template shows are the real ones. (Weights must be given to all assignments or to none.)
    policy = load(tmp_path, re.sub(r"^weight = .*\n", "", uncommented, flags=re.M))
    assert replace(policy.late, penalty_per_day=0.0) == LatePolicy()
    assert (policy.limits, policy.attempts, policy.drop_lowest) == (LimitsPolicy(), "last", 0)
    assert (policy.feedback, policy.layout, policy.own_prerequisites) == ("summary", "auto", False)


def test_policy_in_the_instructors_guide_is_valid(tmp_path):
    guide = (ROOT / "docs" / "instructors.md").read_text("utf-8")
    policy = load(tmp_path, re.search(r"```toml\n(title = .*?)```", guide, re.DOTALL)[1])
    assert policy.assignments["softmax"].rubric[0].id == "q1" and policy.exceptions[0].reason == "ill"
