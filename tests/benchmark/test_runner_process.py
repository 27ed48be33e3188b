"""Whatever a runner does, no answer is lost, and every question without one has a reason."""

import sys
import textwrap
import threading

import pytest

from autograder.benchmark import runner_process
from autograder.benchmark.records import Question
from autograder.benchmark.runner_process import CommandNotFound, RunnerProcess

QUESTIONS = [Question(f"q{i}", "softmax.softmax", "", "", "", [], {}, []) for i in range(5)]
START = """
import json, os, sys, time
for line in sys.stdin:
    id = json.loads(line)["id"]
    def answer(id=id, **more):
        print(json.dumps({"id": id, "wrong": True, **more}))
"""


def ask(code, *, seconds=10.0):
    code = START + textwrap.indent(textwrap.dedent(code), "    ")
    return RunnerProcess([sys.executable, "-S", "-c", code], "", seconds).ask(QUESTIONS)


def test_ask_without_faults_returns_all_answers():
    result = ask('answer(mistake="a title")')
    assert list(result.answers) == [question.id for question in QUESTIONS]
    assert result.answers["q0"].mistake == "a title"
    assert not result.missing and not result.problems


def test_ask_after_a_crash_goes_on_with_the_next_question():
    result = ask('sys.exit("out of memory") if id == "q2" else answer()')
    assert set(result.answers) == {"q0", "q1", "q3", "q4"}
    assert result.missing == {"q2": "the command ended with exit code 1: out of memory"}


def test_ask_after_a_hang_goes_on_with_the_next_question():
    result = ask('time.sleep(60) if id == "q1" else answer()', seconds=0.5)
    assert set(result.answers) == {"q0", "q2", "q3", "q4"}
    assert result.missing == {"q1": "no answer within 0.5 s"}


def test_ask_of_a_command_that_always_fails_gives_up():
    result = ask('sys.exit("no key")')
    assert not result.answers
    assert [reason.startswith("not asked") for reason in result.missing.values()] == [False] * 3 + [True] * 2


def test_ask_records_lines_that_are_no_answers():
    result = ask("""
        if id == "q0":
            print("loading …")
            print(json.dumps({"id": "unknown", "wrong": True}))
            print(json.dumps({"id": "q0"}))
            print(json.dumps({"id": "q0", "wrong": 1}))
            print("x" * 2_000_000)
            print("[" * 100_000)
        answer()
        if id == "q1":
            answer()
    """)
    assert len(result.answers) == 5
    kinds = [problem.partition(":")[0].partition(" (")[0] for problem in result.problems]
    assert kinds.count("not an answer") == 6  # the long line counts as two
    assert "an answer to no question" in kinds
    assert "a second answer" in kinds
    assert all(len(problem) < 300 for problem in result.problems)


def test_ask_of_a_command_that_leaves_questions_out_records_them():
    result = ask('answer() if id != "q3" else answer(error="too long", wrong=None) if 0 else None')
    assert result.missing == {"q3": "left out: the command ended without an answer"}


def test_ask_of_a_command_that_reports_errors_keeps_them():
    result = ask('answer(wrong=None, error="too long for the model")')
    assert set(result.missing.values()) == {"too long for the model"}


def test_ask_accepts_answers_in_any_order():
    result = ask("""
        if id == "q4":
            for i in (3, 1, 4, 0, 2):
                answer(f"q{i}")
    """)
    assert len(result.answers) == 5 and not result.missing


def test_ask_of_a_command_that_floods_its_output_ends_it(monkeypatch):
    monkeypatch.setattr(runner_process, "MAX_PROBLEMS", 20)
    result = ask('while True:\n    print("hello")')
    assert len(result.problems) == 20
    assert all("no answers" in reason for reason in result.missing.values())


def test_ask_that_is_stopped_keeps_the_answers():
    answered = threading.Event()
    code = START + '    answer() if id != "q2" else time.sleep(60)\n'
    runner = RunnerProcess([sys.executable, "-S", "-c", code], "", 60.0, answered.set)
    thread = threading.Thread(target=runner.ask, args=(QUESTIONS,))
    thread.start()
    assert answered.wait(20)
    runner.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert "q0" in runner.result.answers
    assert runner.result.missing["q4"] == "not asked: interrupted"


def test_ask_of_a_missing_command_raises():
    with pytest.raises(CommandNotFound):
        RunnerProcess(["no-such-command-here"], "", 1.0).ask(QUESTIONS)
