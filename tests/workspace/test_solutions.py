"""Solutions: when they may be shown, and how they are compared with the student's code."""

import pytest
from support.result_documents import printed

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.report.diff import comparison
from autograder.workspace import hints, solutions, state
from autograder.workspace.solutions import offers_solution

SOFTMAX = ("softmax.softmax",)


@pytest.mark.slow
def test_solution_of_every_function_compiles():
    for name in TRANSFORMER.functions:
        text = solutions.solution_of(name, TRANSFORMER)
        compile(text, name, "exec")
        assert f"def {name.partition('.')[2]}(" in text


def test_solution_is_allowed_after_pass_or_giving_up(workspace):
    def gave_up():
        return state.load(workspace.folder).section(solutions.GAVE_UP).keys()

    solutions.require_solutions_allowed(workspace, SOFTMAX, {"softmax.softmax"}, give_up=False)
    with pytest.raises(UsageError, match=r"headway solution softmax\.softmax --give-up"):
        solutions.require_solutions_allowed(workspace, SOFTMAX, set(), give_up=False)
    assert not gave_up()
    solutions.require_solutions_allowed(workspace, SOFTMAX, set(), give_up=True)
    assert gave_up() == {"softmax.softmax"}
    solutions.require_solutions_allowed(workspace, SOFTMAX, set(), give_up=False)
    solutions.require_solutions_allowed(workspace, ("gpt.gpt", "gpt.loss"), {"gpt.gpt"}, give_up=True)
    assert gave_up() == {"softmax.softmax", "gpt.loss"}, "the other one passes"


@pytest.mark.parametrize(("text", "words"), [
    ('solutions = "never"', "disabled solutions"), ('solutions = "after-pass"', "after they pass"),
    ('solutions = "sometimes"', "'sometimes' must be one of"), ("solutions =", "cannot read course.toml"),
])  # fmt: skip
def test_solution_rule_of_the_instructor_is_enforced(workspace, text, words):
    (workspace.folder / solutions.COURSE).write_text(text)
    with pytest.raises(UsageError, match=words):
        solutions.require_solutions_allowed(workspace, SOFTMAX, set(), give_up=True)


@pytest.mark.parametrize(("rule", "passes", "gave_up", "hints_seen", "offered"), [
    ("give-up", False, False, 2, False), ("give-up", False, False, 3, True), ("give-up", False, True, 0, True),
    ("give-up", True, False, 0, True), ("after-pass", False, False, 3, False),
    ("after-pass", True, False, 0, True), ("never", False, False, 3, False), ("never", False, True, 3, False),
    ("never", True, False, 3, False), ("sometimes", True, True, 3, False),
])  # fmt: skip
def test_solution_is_offered_as_the_rule_allows(workspace, rule, passes, gave_up, hints_seen, offered):
    (workspace.folder / solutions.COURSE).write_text(f'solutions = "{rule}"')
    workspace.state.section(hints.KEY)[SOFTMAX[0]] = hints_seen
    if gave_up:
        workspace.state.section(solutions.GAVE_UP)[SOFTMAX[0]] = "2026-01-05"
    assert offers_solution(workspace, SOFTMAX[0], passes) is offered


def test_student_and_solution_ignores_bom_and_newlines(workspace):
    solved = (bundled("solutions") / "softmax.py").read_bytes()
    (workspace.folder / "softmax.py").write_bytes(b"\xef\xbb\xbf" + solved.replace(b"\n", b"\r\n"))
    mine, theirs = solutions.student_and_solution(workspace, "softmax.softmax")
    assert mine == theirs


def test_student_and_solution_of_unreadable_file_is_refused(workspace):
    (workspace.folder / "softmax.py").write_text("def (")
    with pytest.raises(UsageError, match=r"softmax\.py .*line 1"):
        solutions.student_and_solution(workspace, "softmax.softmax")


def test_compare_lines_pairs_changed_lines():
    rows = list(solutions.compare_lines("a\nb\nc", "a\nx\nc\nd"))
    assert rows == [("same", "a", "a"), ("other", "b", "x"), ("same", "c", "c"), ("theirs", "", "d")]
    below = printed(lambda console: console.print(comparison("f", [*rows, ("mine", "e", ""), ("other", "g", "h")], 80)))
    assert below.split("\n")[2:-1] == ["  a", "- b", "+ x", "  c", "+ d", "- e", "- g", "+ h"]
    alike = [("same", letter, letter) for letter in "abcdef"]
    shown = comparison("f", [*alike[:5], ("theirs", "", "x"), *alike], 80, folded=True)
    lines = printed(lambda console: console.print(shown)).split("\n")[2:-1]
    assert lines == [*(f"  {text}" for text in "abcde"), "+ x", "  a", "  b", "  … 2 equal lines …", "  e", "  f"]
