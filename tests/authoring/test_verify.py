"""Every solution, stub, known mistake and right answer, as `headway verify` tries them."""

import zlib
from dataclasses import replace

import pytest
from support.built_in import mistakes_of_function, mistakes_of_module, promises_of_module, source_with_mistakes
from support.lanes import changed_assignments
from support.paths import SUBMISSIONS
from support.result_documents import printed

from autograder.authoring import verify
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake
from autograder.report.verify import render_changes, render_promises

RIGHT = SUBMISSIONS / "right"


def problems(task):
    found = verify.run_task(task)
    assert found
    return [finding for finding in found if not finding.ok]


@pytest.mark.slow
@pytest.mark.drawn(6)
@pytest.mark.parametrize("function", TRANSFORMER.functions)
def test_mistakes_and_promises_of_a_function_are_caught(function, drawing):
    """Of its mistakes, one in twelve is tried, and all where files of the assignment have changed."""
    task = verify.VerifyTask("mistake", function)
    if function.partition(".")[0] in changed_assignments():
        found = verify.run_task(task)
    else:
        found = list(verify.try_mistakes(task, *one_in_twelve(function, drawing.seed)))
    assert [finding for finding in found if not finding.ok] == []
    promises = {finding.name for finding in found if finding.kind == "promise"}
    assert promises == {row.name for row in promise_rows() if row.name.startswith(f"{function}: ")}


def one_in_twelve(function, seed):
    """Return one in twelve mistakes, and every promise with one mistake or wrapper that breaks it."""
    known = mistakes_of_function(function)
    tried = [mistake for mistake in known if zlib.crc32(f"{seed} {mistake.id}".encode()) % 12 == 0]
    chosen, promises = {mistake.name for mistake in tried}, []
    for promise in promises_of_module(function.partition(".")[0])[function].promises:
        one = next((name for name in promise.broken_by if name in chosen), promise.broken_by[0])
        chosen.add(one)
        promises.append(replace(promise, broken_by=(one,)))
    return tried, promises


@pytest.mark.slow
@pytest.mark.drawn(3)
@pytest.mark.parametrize("answer", sorted(str(path.relative_to(RIGHT)) for path in RIGHT.glob("*/*.py")))
def test_right_answer_passes(answer):
    assert problems(verify.VerifyTask("right answer", str(RIGHT / answer))) == []


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize("kind", ["answers", "stubs"])
def test_course_has_every_answer_and_its_stubs_are_not_started(kind):
    assert problems(verify.VerifyTask(kind, "")) == []


@pytest.mark.slow
def test_changes_that_rules_derive_fail_a_check_or_are_shown():
    found = verify.run_task(verify.VerifyTask("change", "softmax.log_softmax"))
    found = [finding for finding in found if not {"as_float", "logarithm"} & set(finding.name.split())]  # harmless
    assert len(found) > 10 and all(finding.guards for finding in found)
    lines = verify.registry.solution_text("softmax", TRANSFORMER.package).splitlines()
    assert all(".max(" in lines[int(f.name.split(":")[1]) - 1] for f in found if f.name.endswith("not max"))
    text = printed(render_changes, [*found, verify.VerifyResult("change", "log_softmax: nothing", True)])
    assert f"{len(found)} of {len(found) + 1} wrong" in text and text.endswith("\n  log_softmax: nothing\n")


def promise_rows():
    """Every promise with everything that breaks it, as if a check failed each time."""
    return [
        verify.evaluate_promise(promise, name, ("check::that fails",))
        for module in TRANSFORMER.modules
        for covered in promises_of_module(module).values()
        for promise in covered.promises
        for name in promise.broken_by
    ]


@pytest.mark.slow
def test_every_module_has_mistakes_with_texts_and_right_answers():
    assert {path.stem for path in RIGHT.glob("*/*.py")} == set(TRANSFORMER.modules)
    groups = [mistakes_of_module(module) for module in TRANSFORMER.modules]
    assert all(groups)
    every = {mistake.id: mistake for group in groups for mistake in group}
    assert len(every) == sum(map(len, groups))
    for name, mistake in every.items():
        assert mistake.function in TRANSFORMER.functions, name
        assert bool(mistake.edits) != bool(mistake.body), name
        assert min(map(len, (mistake.title, mistake.explanation, mistake.hint))) > 10, name
        assert not mistake.title.endswith("."), name
        assert "docstring" not in mistake.title + mistake.explanation + mistake.hint, name  # They say why it matters.


def example(**more):
    return Mistake("softmax.softmax", "x", "a title of it", "an explanation", "a hint to it", **more)


def test_mistake_that_does_not_fit_raises():
    with pytest.raises(BrokenMistake, match="occurs 0 times"):
        source_with_mistakes(example(edits=(("no such text", ""),)))
    with pytest.raises(BrokenMistake, match="no function nobody"):
        source_with_mistakes(example(inside="nobody", edits=(("x", "y"),)))


def result(status, mistake=None):
    return CheckResult("softmax.softmax::c", "softmax.softmax", "c", status, 1.0, mistake=mistake)


@pytest.mark.parametrize(("checks", "ok", "text"), [
    ([result("passed")], False, "passes every check"), ([result("failed")], False, "named nothing"),
    ([result("failed", {"id": "softmax.softmax/other"})], False, "named softmax.softmax/other"),
    ([result("failed", {"id": "softmax.softmax/x"})], True, ""),
    ([result("failed", {"id": "softmax.softmax/x|softmax.softmax/other"})], False, "named"),
    ([result("passed"), result("error", {"id": "softmax.softmax/x"})], True, ""),
])  # fmt: skip
def test_evaluate_mistake_reports_pass_or_other_name(checks, ok, text):
    finding = verify.evaluate_mistake(example(group="g"), checks, TRANSFORMER.package)
    assert finding.ok == ok and finding.text.startswith(text)


def test_promises_are_shown_by_function_with_what_breaks_them():
    guards = ("softmax.softmax::rows", "softmax.softmax::axis")
    found = [
        verify.VerifyResult("promise", "softmax.softmax: one", True, broken_by="a", guards=guards),
        verify.VerifyResult("promise", "softmax.log_softmax: two", False, broken_by="b"),
    ]
    shown = [line.strip() for line in printed(render_promises, found, width=80).splitlines()]
    assert shown[:2] == ["softmax.log_softmax", "two: broken by b, fails no check"]
    assert shown[2:] == ["softmax.softmax", "one: broken by a, fails rows and 1 more"]


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
    assert not found.ok and "missing" in found.text and "make regenerate" in found.text
