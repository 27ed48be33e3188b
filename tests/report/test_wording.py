"""The words that all reports share: which findings come first, how many are shown, and what is said of each."""

import pytest
from support.result_documents import BROKEN, check, document

from autograder.report import wording
from autograder.report.page_report import page_report

SOFT, BONUS = "softmax.softmax", "layernorm.rmsnorm"
VALUES = {"status": "failed", "wrong": {"count": 2, "total": 9}}
SLOW = {"status": "timeout", "failure": "slow_import", "file_at_fault": "softmax.py"}
UNDIVIDED = {"id": "undivided", "title": "not divided", "reason": "", "explanation": "", "hint": ""}


@pytest.mark.parametrize(("checks", "expected"), [
    ([], "Nothing was checked"), ([check()], "The check passed"), ([check(), check()], "All 2 checks passed"),
    ([check(**VALUES)], "The check failed"), ([check(**VALUES), check()], "1 of 2 checks failed"),
    ([check(status="blocked")], "The check is blocked"), ([check(status="not_started")], "Not written yet"),
    ([check(status="blocked"), check()], "1 of 2 checks blocked"),
    ([check(status="not_started"), check()], "Not finished yet"),
    ([check(**BROKEN), check(SOFT, **SLOW), check(**BROKEN), check("ffn.relu", **VALUES)],
     "Python cannot read attention.py; Importing softmax.py takes too long; 1 other check failed"),
])  # fmt: skip
def test_verdict(checks, expected):
    assert wording.verdict(document(*checks)) == expected


@pytest.mark.parametrize(("first", "second"), [
    ({}, {"failure": "documented_error"}), ({}, {"wrong": None}), ({}, {"wrong": None, "failure": "documented_error"}),
    ({"mistake": UNDIVIDED}, {}), ({"status": "timeout", "wrong": None}, {"wrong": None}),
    ({"wrong": None, "shapes": {"yours": [1], "expected": [2]}}, {"wrong": None}),
])  # fmt: skip
def test_check_that_says_more_comes_first(first, second):
    checks = [check(title="second", **{**VALUES, **second}), check(title="first", **{**VALUES, **first})]
    assert [one["title"] for one in wording.most_telling_first(checks)] == ["first", "second"]
    rare = [check(**VALUES)] * 2 + [check(title="rare", mistake=UNDIVIDED, **VALUES)]
    assert wording.most_telling_first(rare)[-1]["title"] == "rare", "it explains less than half of the checks"


def test_only_so_many_findings_warnings_and_functions_are_shown():
    many = [check(f"attention.f{number}", warnings=[*"abcde"], **VALUES) for number in range(7)]
    report = page_report(document(*many))
    assert len(report["cards"]) == 5 and report["remaining"].startswith("… and 2 ")
    assert report["cards"][0]["warnings"] == ["a", "b", "c"] and report["subject"] == "7 functions"
    assert page_report(document(many[0], many[0]))["subject"] == "attention.f0"
    names = [one["function"] for one in many]
    assert wording.affected_text({"affected": names[1:]}) == "f1, f2, f3, f4, f5, f6"
    assert wording.affected_text({"affected": names}) == "7 functions of attention.py"
    assert wording.affected_text({"affected": [*names, SOFT]}) == "8 functions of 2 files"


def test_output_is_cut_only_where_it_is_too_long():
    assert wording.shortened("x\n" * 12) == "\n".join(["x"] * 12)
    assert wording.shortened("x" * 301) == "x" * 300
    assert wording.shortened("y" + "\n" * 13 + "y").split("\n")[6] == "… 2 lines left out …"


def test_points_and_headline_name_only_what_is_there():
    assert wording.points_text({"earned": 0.0, "possible": 0.0}) == "0 / 0"
    assert wording.headline(check(message="differs", **VALUES)) == "differs (2 of 9 values)"
    assert wording.headline(check(message="differs", wrong={"count": 1, "total": 1})) == "differs"
    found = [wording.failed_checks(document(check(BONUS, **one)))[0] for one in (BROKEN, VALUES)]
    assert [one["points"]["possible"] for one in found] == [0.0, 1.0], "bonus work that a broken file stops"
    for name in ("effect-error-not-raised", "effect-other-error"):
        assert wording.cause(check(mistake={**UNDIVIDED, "id": f"bpe.bpe_encode/{name}"})) is None
    assert wording.location_text({"file": "softmax.ipynb cell 5", "line": 3}) == "softmax.ipynb cell 5, line 3"
