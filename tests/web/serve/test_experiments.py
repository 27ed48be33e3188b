"""The experiments of lessons with `headway serve`: their output, errors, time limit and end, and what is refused."""

import re
import shutil
import threading

import pytest
from support.waiting import is_running, wait_until

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.web.serve.experiments import STOPPED, Experiments
from autograder.workspace import experiments as shared

LOOP = "print('begun')\nwhile True:\n    pass\n"


def run_in_thread(runner):
    """Begin to run the experiment of softmax; return the thread and the list that gets its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(runner.run("softmax", "")), daemon=True)
    thread.start()
    return thread, results


@pytest.mark.slow
def test_output_is_that_of_the_lesson(experiment_server, folder):
    shutil.copy(bundled("solutions") / "softmax.py", folder)
    text = (folder / "softmax.py").read_text()
    expected = re.sub("(?m)^# ?", "", re.search(r"What came out\n#\n# ```text\n((?:# .*\n)+?)# ```", text)[1])
    assert experiment_server.reply("open", module="softmax")["features"][-1] == "run"
    reply = experiment_server.reply("run", module="softmax", name="")
    assert (reply["output"], reply["error"]) == (expected, "")
    assert reply["seconds"] > 0


def test_a_name_is_passed_on_and_headway_can_be_imported(experiment_server, folder):
    (folder / "training.py").write_text("import sys, autograder\nprint(sys.argv, autograder.__name__, __file__)\n")
    for name, arguments in (("ablation", "['training.py', 'ablation'] autograder "), ("", "['training.py'] ")):
        assert experiment_server.reply("run", module="training", name=name)["output"].startswith(arguments)


@pytest.mark.slow
def test_a_function_that_is_not_written_is_one_line(experiment_server):
    reply = experiment_server.reply("run", module="softmax", name="")
    error = "NotImplementedError: softmax.cross_entropy_backward. Write it first."
    assert (reply["output"], reply["error"]) == ("", error)


@pytest.mark.slow
def test_an_error_shows_the_lines_of_the_student_alone(experiment_server, folder):
    code = ("import warnings", "from autograder.models.training import datasets", "warnings.warn('careful')")
    (folder / "tokenizer.py").write_text("\n".join((*code, "print('begun')", "datasets.load('unknown')")))
    reply = experiment_server.reply("run", module="tokenizer", name="")
    assert "begun" in reply["output"] and "careful" in reply["output"]
    first, frame, source, *rest = reply["error"].splitlines()
    assert (first, frame) == ("Traceback (most recent call last):", '  File "tokenizer.py", line 5, in <module>')
    assert source == "    datasets.load('unknown')"
    assert "UsageError" in rest[-1] and 'File "' not in "".join(rest)


@pytest.mark.parametrize(("code", "expected"), [
    ("x = (\n", "SyntaxError: '(' was never closed"), ("raise SystemExit('not today')\n", "not today"),
    ("raise SystemExit(3)\n", "The experiment ended with exit code 3."),
    ("input()\n", "EOFError: EOF when reading a line"),
])  # fmt: skip
def test_other_endings(experiments, folder, code, expected):
    (folder / "softmax.py").write_text(code)
    assert experiments.run("softmax", "").error.endswith(expected)


@pytest.mark.slow
def test_long_output_is_shortened_in_the_middle(experiments, folder):
    (folder / "softmax.py").write_text("print('first')\nfor i in range(100_000):\n    print(i)\nprint('last')\n")
    output = experiments.run("softmax", "").output
    assert output.startswith("first\n0\n1\n") and output.endswith("99999\nlast\n")
    assert len(output) < shared.OUTPUT_BYTES + 100
    assert re.search(r"\n… [\d,]+ bytes are left out …\n", output)


@pytest.mark.slow
def test_an_experiment_that_does_not_end_is_stopped_and_its_output_kept(folder):
    (folder / "softmax.py").write_text(LOOP)
    run = Experiments(folder, TRANSFORMER, seconds=2).run("softmax", "")
    assert run.output in ("begun\n", "")  # "" if the machine needs all of the time to start Python
    assert "within 2 s" in run.error


@pytest.mark.parametrize("end", ["cancel", "close", "next"])
def test_stop_ends_the_children_too(experiment_server, experiments, folder, end):
    (folder / "softmax.py").write_text(
        "import os, pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "pathlib.Path('new').write_text(f'{os.getpid()} {child.pid}')\npathlib.Path('new').rename('pids')\n" + LOOP
    )
    thread, results = run_in_thread(experiments)
    wait_until((folder / "pids").exists, what=lambda: results)
    pids = (folder / "pids").read_text().split()
    if end == "cancel":
        experiment_server.reply("cancel", only="check")
        assert all(map(is_running, pids)) and not results
        experiment_server.reply("cancel", only="run")
        assert experiment_server.checks.cancelled == 1
    elif end == "close":
        experiments.close()
    else:
        (folder / "softmax.py").write_text("print('second')\n")
        assert experiments.run("softmax", "").output == "second\n"
    thread.join(60)
    assert results[0].error == STOPPED
    wait_until(lambda: not any(map(is_running, pids)), what=lambda: pids)
    if end == "close":
        with pytest.raises(UsageError, match="has ended"):
            experiments.run("softmax", "")


@pytest.mark.parametrize(("module", "name"), [
    ("../softmax", ""), ("/etc/passwd", ""), ("json", ""), ("numpy_warmup", ""), (["softmax"], ""),
    ("softmax", "../x"), ("softmax", "ablation"), ("softmax", "-c"), ("softmax", None),
])  # fmt: skip
def test_other_names_are_refused(experiment_server, module, name):
    payload = {"module": module} if name is None else {"module": module, "name": name}
    response = experiment_server.post("run", payload)
    assert response.status_code == 400 and "Reload" in response.json()["error"]


def test_a_missing_file_is_one_line(experiment_server, folder):
    (folder / "softmax.py").unlink()
    assert "softmax.py is missing" in experiment_server.post("run", {"module": "softmax", "name": ""}).json()["error"]


def test_stop_reaches_the_experiment_that_replaced_another(experiments, folder):
    code = "import pathlib\npathlib.Path({!r}).touch()\n" + LOOP
    (folder / "softmax.py").write_text(code.format("first"))
    first, _ = run_in_thread(experiments)
    wait_until((folder / "first").exists)
    (folder / "softmax.py").write_text(code.format("second"))
    second, results = run_in_thread(experiments)
    first.join(60)
    wait_until((folder / "second").exists)
    experiments.cancel()
    second.join(60)
    assert [result.error for result in results] == [STOPPED]
