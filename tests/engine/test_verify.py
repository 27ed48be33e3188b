"""Every solution, stub, known mistake and right answer, as `headway verify` tries them."""

import pytest
from support.paths import ROOT, SUBMISSIONS

from autograder.courses.transformer import TRANSFORMER
from autograder.engine import verify
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake, mistakes_of_module
from autograder.engine.diagnosis.variants import source_with_mistakes
from autograder.engine.promises import Promise, promises_of_module
from autograder.report.verify import promise_table
from autograder.results import CheckResult

pytestmark = pytest.mark.slow

RIGHT = SUBMISSIONS / "right"


def test_verify_finds_no_problems():
    """One in twelve of the mistakes and of what breaks promises: all take too long for every run of the tests."""
    found = list(verify.verify(RIGHT, TRANSFORMER, share=12))
    assert [finding for finding in found if not finding.ok] == []
    counts = {kind: sum(finding.kind == kind for finding in found) for kind in ("mistake", "right answer")}
    assert counts["mistake"] >= 400
    assert counts["right answer"] >= 2 * 30  # three styles of most modules, on two seeds each
    assert {finding.name for finding in found if finding.kind == "promise"} == {row.name for row in promise_rows()}


def promise_rows():
    """Every promise with everything that breaks it, as if a check failed each time."""
    return [
        verify.evaluate_promise(promise, name, ("check::that fails",))
        for module in TRANSFORMER.modules
        for covered in promises_of_module(module, TRANSFORMER.package).values()
        for promise in covered.promises
        for name in promise.broken_by
    ]


def test_table_of_promises_is_up_to_date():
    # The last column names a check that fails; which one comes first may differ between machines.
    table, shipped = promise_table(promise_rows()), (ROOT / "docs" / "promises.md").read_text("utf-8")
    columns = [[line.rsplit("|", 2)[0] for line in text.splitlines()] for text in (table, shipped)]
    assert columns[0] == columns[1], "run: headway verify --promises docs/promises.md"


@pytest.mark.parametrize(("share", "expected"), [(1, [("a", "b"), ("b", "c"), ("d",)]), (8, [("a",), ("c",), ("d",)])])
def test_share_of_breakers_covers_every_promise(share, expected):
    promises = [Promise("f", "", ("a", "b")), Promise("f", "", ("b", "c")), Promise("f", "", ("d",))]
    assert verify._breakers(promises, ["c"], "abcd", share) == expected


def test_every_module_has_mistakes_and_right_answers():
    assert all(mistakes_of_module(module) for module in TRANSFORMER.modules)
    assert {path.stem for path in RIGHT.glob("*/*.py")} == set(TRANSFORMER.modules)


def test_every_mistake_has_texts():
    every = [mistake for module in TRANSFORMER.modules for mistake in mistakes_of_module(module)]
    assert len({mistake.id for mistake in every}) == len(every)
    for mistake in every:
        assert mistake.function in TRANSFORMER.functions, mistake.id
        assert bool(mistake.edits) != bool(mistake.body), mistake.id
        for text in (mistake.title, mistake.explanation, mistake.hint):
            assert len(text) > 10, mistake.id
        assert not mistake.title.endswith("."), mistake.id


def example(**more):
    return Mistake("softmax.softmax", "x", "a title of it", "an explanation", "a hint to it", **more)


def test_mistake_that_does_not_fit_raises():
    with pytest.raises(BrokenMistake, match="occurs 0 times"):
        source_with_mistakes(example(edits=(("no such text", ""),)))
    with pytest.raises(BrokenMistake, match="no function nobody"):
        source_with_mistakes(example(inside="nobody", edits=(("x", "y"),)))


def result(status, mistake=None):
    return CheckResult("softmax.softmax::c", "softmax.softmax", "c", status, 1.0, mistake=mistake)


@pytest.mark.parametrize(
    ("checks", "ok", "text"),
    [
        ([result("passed")], False, "passes every check"),
        ([result("failed")], False, "named nothing"),
        ([result("failed", {"id": "softmax.softmax/other"})], False, "named softmax.softmax/other"),
        ([result("failed", {"id": "softmax.softmax/x"})], True, ""),
        ([result("failed", {"id": "softmax.softmax/x|softmax.softmax/other"})], False, "named"),
        ([result("passed"), result("error", {"id": "softmax.softmax/x"})], True, ""),
    ],
)
def test_evaluate_mistake_reports_pass_or_other_name(checks, ok, text):
    finding = verify.evaluate_mistake(example(), checks)
    assert finding.ok == ok
    assert finding.text.startswith(text)


def promise(function, text):
    return verify.VerifyResult("promise", f"{function}: {text}", True, "", "", "a", (f"{function}::rows",))


def test_promise_table_keeps_the_rows_of_other_functions():
    docstrings = [verify.VerifyResult("docstring", f"softmax.{name}", True) for name in ("log_softmax", "softmax")]
    earlier = promise_table([*docstrings, promise("softmax.softmax", "old"), promise("softmax.log_softmax", "kept")])
    table = promise_table([docstrings[1], promise("softmax.softmax", "new")], earlier)
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert [row.split(" | ")[1] for row in rows] == ["kept", "new"]
    assert promise_table([docstrings[1]], table).count("| `softmax.softmax`") == 0


def test_plan_tasks_of_one_function_leaves_out_the_others():
    tasks = verify.plan_tasks(RIGHT, TRANSFORMER, ("softmax.softmax",))
    assert [task.name for task in tasks if task.kind == "mistake"] == ["softmax.softmax"]
    assert {task.name.rpartition("/")[2] for task in tasks if task.kind == "right answer"} == {"softmax.py"}
    assert {task.selected for task in tasks} == {("softmax.softmax",)}


def test_missing_answers_are_counted(monkeypatch):
    """A check whose answers were not built asks PyTorch, which students may not have."""
    task = verify.VerifyTask("answers", "", selected=("softmax.softmax",))
    assert verify.run_task(task)[0].ok
    monkeypatch.setattr(verify, "read_shipped", lambda path: {})
    [found] = verify.run_task(task)
    assert not found.ok
    assert "missing" in found.text and "make regenerate" in found.text
