"""What a submission and a student may use, all together, and where it is recorded."""

import time
from collections import deque
from contextlib import closing
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest
from support.built_in import mistakes_of_function, source_with_mistakes
from support.commands import SOFTMAX, succeed
from support.editing import write_files
from support.reading import read_json
from support.softmax_class import WRONG, class_document, grade

from autograder.classroom.grading import worker_pool
from autograder.classroom.grading.worker import GradingTask
from autograder.classroom.grading.worker_pool import GraderProcess, StudentBudgets, WorkerPool, entry_of_death
from autograder.classroom.storage.result_store import JournalEntry
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import SubmissionResult, to_document
from autograder.engine.session import InternalError
from autograder.engine.student import StudentCode
from autograder.errors import UsageError
from autograder.sandbox.limits import Limits
from autograder.sandbox.student_process import ResourceUsage


def test_processes_of_a_submission_share_the_output_limit(workers, submission):
    noisy = "def softmax(x):\n    print('x' * 700)\n    return x\ndef log_softmax(x):\n    import os\n    os._exit(0)\n"
    folder, limits, usage = submission(softmax=noisy), Limits(output_bytes=1000), ResourceUsage()
    with closing(StudentCode(workers, folder, TRANSFORMER, limits, usage)) as student:
        for _ in range(3):
            assert student.softmax.softmax(1.0) == 1.0  # a full output costs no points
            student.process.end()
    assert usage.printed == 1000 and usage.processes == 3 and usage.memory_bytes > 1 << 20


@pytest.mark.slow
def test_result_document_says_what_was_used(submission, check_submission):
    spin = SOFTMAX.replace("    x = np", "    sum(range(2_000_000))\n    print('hello')\n    x = np", 1)
    result = check_submission(submission(softmax=spin), "softmax.softmax", diagnose=False)
    used = to_document(result, TRANSFORMER)["used"]
    assert 0.05 < used["cpu_seconds"] < used["seconds"] + 5
    assert used["output_bytes"] >= 6 * len(result.checks) and used["memory_bytes"] > 1 << 20
    assert used["processes"] >= 1 and used["answer_bytes"] > 0


@pytest.mark.slow
def test_reruns_are_charged_to_the_submission(submission, check_submission):
    wrong = WRONG + "def log_softmax(x, axis=-1):\n    return softmax(x)\n"
    folder = submission(softmax=wrong)
    alone = check_submission(folder, "softmax.softmax", diagnose=False).used
    assert check_submission(folder, "softmax.log_softmax", diagnose=False).used["processes"] > alone["processes"]


@pytest.mark.slow
def test_diagnosis_ends_with_the_time_of_the_grader(submission, check_submission):
    folder = submission(softmax=source_with_mistakes(mistakes_of_function("softmax.softmax")[0]))
    full = check_submission(folder, "softmax.softmax")
    assert any(check.mistake for check in full.checks) and not full.notes
    assert full.used["grader_seconds"] > 0
    none = check_submission(folder, "softmax.softmax", limits=Limits(grader_seconds=0.0))
    assert not any(check.mistake for check in none.checks)
    assert [check.status for check in none.checks] == [check.status for check in full.checks]
    assert "not all mistakes" in none.notes[0]


def make_attempts(folder, counts):
    attempts = [(name, number) for name, count in counts.items() for number in range(1, count + 1)]
    return write_files(folder, {f"{n}/attempt {i:02}/softmax.py": f"{SOFTMAX}# {i}\n" for n, i in attempts})


def graded_attempts(out):
    return {path.stem for path in (out / "results").glob("*.json")}


def set_limit(folder, name, value):
    (folder / "course.toml").write_text(f"attempts = 'best'\n[limits]\n{name} = {value}\n")


@pytest.mark.slow
def test_only_the_newest_attempts_are_graded(grading_in_process, tmp_path):
    folder, out = make_attempts(tmp_path / "class", {"ada": 5, "bo": 2}), tmp_path / "out"
    set_limit(folder, "student_attempts", 2)
    done = grade(folder, "--out", out)
    assert done.returncode == 0, done.stderr
    assert graded_attempts(out) == {"ada#4", "ada#5", "bo#1", "bo#2"}
    ada, bo = class_document(out)["students"]
    assert "3 of 5 attempts" in ada["notes"][0] and "2 attempts" in ada["notes"][0]
    assert ada["status"] == "graded" and bo["notes"] == []
    assert "3 of 5 attempts" in done.stdout + (out / "grades.csv").read_text("utf-8")
    succeed("report", out, "--feedback")
    for suffix in ("html", "md"):
        assert "3 of 5 attempts" in (out / "feedback" / f"ada.{suffix}").read_text("utf-8")
        assert "were not graded" not in (out / "feedback" / f"bo.{suffix}").read_text("utf-8")


@pytest.mark.slow
def test_attempts_beyond_the_cpu_time_wait_for_the_next_run(grading_in_process, tmp_path):
    folder, out = make_attempts(tmp_path / "class", {"ada": 4, "bo": 1}), tmp_path / "out"
    slow = SOFTMAX.replace("    x = np", "    sum(range(3_000_000))\n    x = np", 1)
    (folder / "ada" / "attempt 04" / "softmax.py").write_text(slow)
    set_limit(folder, "student_seconds", 0.3)
    assert grade(folder, "--out", out).returncode == 0
    assert graded_attempts(out) == {"ada#4", "bo"}  # the newest attempt comes first, and bo has time of his own
    ada, bo = class_document(out)["students"]
    assert "3 of 4 attempts" in ada["notes"][0] and "0.3 s of CPU time" in ada["notes"][0]
    assert bo["notes"] == []
    assert read_json(out / "results" / "ada#4.json")["used"]["cpu_seconds"] > 0.3
    set_limit(folder, "student_seconds", 600)
    assert grade(folder, "--out", out).returncode == 0
    assert graded_attempts(out) == {"ada#1", "ada#2", "ada#3", "ada#4", "bo"}
    assert class_document(out)["students"][0]["notes"] == []


@pytest.mark.slow
def test_attempt_ends_where_the_time_of_the_student_ends(grading_in_process, tmp_path):
    folder, out = make_attempts(tmp_path / "class", {"ada": 2}), tmp_path / "out"
    slow = SOFTMAX.replace("    x = np", "    sum(range(12_000_000))\n    x = np", 1)
    (folder / "ada" / "attempt 01" / "softmax.py").write_text(slow)
    set_limit(folder, "student_seconds", 2)
    assert grade(folder, "--out", out).returncode == 0
    older, newer = (read_json(out / "results" / f"ada#{number}.json") for number in (1, 2))
    assert "2 s of CPU time in one run" in older["notes"][-1] and newer["notes"] == []
    assert older["used"]["cpu_seconds"] < 2 + 1.5  # the system ends a process at the next full second
    assert older["points"]["earned"] < newer["points"]["earned"]
    set_limit(folder, "student_seconds", 600)
    assert grade(folder, "--out", out).returncode == 0
    again = read_json(out / "results" / "ada#1.json")
    assert again["points"] == newer["points"] and again["notes"] == []


def make_tasks(*names):
    """Return tasks of students, all of whom have the same name in their sources."""
    return deque(GradingTask(number, name, "a", f"{name}{number}.json", []) for number, name in enumerate(names))


def test_attempts_graded_at_once_share_the_time_of_the_student():
    left_out = []
    budgets = StudentBudgets(100.0, Limits(cpu_seconds=50.0, grader_seconds=10.0), left_out.append)
    todo = make_tasks("ada", "ada", "ada", "bo")
    begun = [budgets.next_task(todo) for _ in range(3)]
    assert [(task.student, task.cpu_seconds) for task in begun] == [("ada", 100.0), ("ada", 40.0), ("bo", 100.0)]
    assert budgets.next_task(todo) is None and len(todo) == 1  # the third attempt waits
    budgets.charge(begun[0], 20.0)
    waited = budgets.next_task(todo)
    assert (waited.number, waited.cpu_seconds) == (2, 40.0)
    todo.append(begun[1])  # its process died before it started
    assert budgets.next_task(todo).cpu_seconds == 40.0
    budgets.charge(begun[1], 50.0)
    budgets.charge(waited, 30.0)
    todo.extend(make_tasks("ada"))
    assert budgets.next_task(todo) is None and not todo
    assert [task.student for task in left_out] == ["ada"]


class FakeGrader:
    """A grading process that does nothing, and has been busy for so many seconds."""

    def __init__(self, tasks, *, started=None, busy=0.0, message=None):
        self.tasks, self.started, self.message = deque(tasks), started, message
        self.started_at, self.busy_since = time.monotonic(), time.monotonic() - busy
        self.error, self.is_killed = "", False

    def how_it_ended(self):
        return self.error or "exit code 7"

    def kill(self):
        self.is_killed = True

    def receive(self):
        return self.message


@pytest.fixture
def pool():
    """A pool without processes; `found` has the number, status and reason of each result."""
    setup = SimpleNamespace(options=SimpleNamespace(limits=Limits(submission_seconds=10.0)))
    pool = WorkerPool(setup, 2, lambda task, entry: pool.found.append((task.number, entry)), deque.popleft)
    pool.found = []
    return pool


def test_process_that_dies_fails_only_what_it_had_begun(pool):
    begun, waiting, later = make_tasks("ada", "bo", "cy")
    pool.graders, pool.todo, pool.deaths = [FakeGrader([begun, waiting], started=0)], deque([later]), 3
    (grader,) = pool.graders
    pool._replace_dead(grader)
    assert [(number, entry.status) for number, entry in pool.found] == [(0, "failed")] and grader.is_killed
    assert (pool.graders, list(pool.todo), pool.deaths) == ([], [waiting, later], 0)


def test_processes_that_die_before_they_begin_end_the_run(pool):
    tasks = make_tasks("ada", "bo")
    for number in range(1, worker_pool.MAX_DEATHS):
        pool.graders, pool.todo = [FakeGrader(tasks)], deque()
        pool._replace_dead(pool.graders[0])
        assert (pool.todo, pool.deaths, pool.found) == (tasks, number, [])
    pool.graders = [FakeGrader(tasks)]
    with pytest.raises(InternalError, match=r"die one after another \(exit code 7\)"):
        pool._replace_dead(pool.graders[0])


def test_process_without_an_answer_is_replaced(pool):
    allowed = worker_pool.GRACE_SECONDS + 3 * 10.0
    task, other = make_tasks("ada", "bo")
    hanging, slow = FakeGrader([task], started=0, busy=allowed + 1), FakeGrader([other], started=1, busy=allowed - 30)
    pool.graders = [hanging, idle := FakeGrader([], busy=9 * allowed), slow]
    pool._replace_hanging()
    assert pool.graders == [idle, slow]
    ((number, entry),) = pool.found
    assert number == 0 and "no answer for 330 s" in entry.reason


def test_answers_of_a_process_are_received(pool):
    task, other = make_tasks("ada", "bo")
    entry = JournalEntry("ada0.json", "")
    grader, pool.deaths = FakeGrader([task, other], busy=500.0, message=("done", 0, entry)), 3
    pool._receive(grader)
    assert pool.found == [(0, entry)] and list(grader.tasks) == [other] and pool.deaths == 0
    assert time.monotonic() - grader.busy_since < 60, "it has begun with the next one"
    grader.message = None
    pool._receive(grader)
    grader.message = ("error", "no memory")
    pool._receive(grader)
    assert grader.error == "no memory" and list(grader.tasks) == [other]
    grader.message = ("refused", "it needs PyTorch")
    with pytest.raises(UsageError, match="it needs PyTorch"):
        pool._receive(grader)


def test_time_of_a_grader_that_died_is_charged():
    grader = SimpleNamespace(started_at=time.monotonic() - 7, how_it_ended=lambda: "exit code 7")
    entry = entry_of_death(make_tasks("ada")[0], grader)
    assert 7 <= entry.charged_seconds < 60 and 7 <= entry.seconds < 60
    assert entry.status == "failed" and "exit code 7" in entry.reason


def test_sleep_of_an_attempt_is_charged():
    used = {"cpu_seconds": 1.0, "asleep_seconds": 8.0, "grader_seconds": 0.5}
    assert SubmissionResult("ada", "", 0, [], used=used).charged_seconds == 9.5


def test_start_of_a_task_is_received_without_waiting_for_its_end():
    grader = object.__new__(GraderProcess)
    grader.pipe, other_end = Pipe()
    other_end.send(("started", 3, 12.5))
    other_end.close()
    assert grader.receive() is None
    assert (grader.started, grader.started_at) == (3, 12.5)
