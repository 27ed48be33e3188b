"""Checks in this very interpreter give the same documents as checks in processes."""

from autograder.engine.in_process_checks import InProcessChecker


def test_softmax_passes_again_and_again(solutions):
    checker = InProcessChecker()
    for _ in range(2):
        result = checker.check("solutions", solutions, ("softmax.softmax",))
        assert result.passed
        assert result.sandbox == ["in-process"]
