"""The commands around watching: list, reset, solution, diff, update, submit, completion, bench."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from support.commands import HEADWAY, headway
from support.waiting import wait_until

from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum.effort import duration
from autograder.report import progress_table

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def checked(tmp_path_factory, solutions):
    """A workspace in which softmax is solved, but for one function, and has been checked."""
    folder = tmp_path_factory.mktemp("loop") / "ada"
    assert headway("init", folder, cwd=folder.parent).returncode == 0
    shutil.copy(solutions / "softmax.py", folder)
    assert headway("reset", "softmax.softmax_backward", "--yes", cwd=folder).returncode == 0
    assert headway("check", "softmax", cwd=folder).returncode == 1
    return folder


@pytest.fixture
def workspace(checked, tmp_path):
    return shutil.copytree(checked, tmp_path / "ada")


def test_list_says_how_far_one_is(workspace):
    done = headway("list", "softmax", cwd=workspace, COLUMNS="100")
    lines = done.stdout.splitlines()
    assert any("✓" in line and "log_softmax" in line and "5 / 5" in line for line in lines), done.stdout
    assert "4 of 5 functions pass" in done.stdout
    only_open = headway("list", "softmax", "--open", cwd=workspace).stdout
    assert "softmax_backward" in only_open
    assert "log_softmax" not in only_open
    path = workspace / "softmax.py"
    path.write_text(path.read_text().replace("def log_softmax(x, axis=-1):", "def log_softmax(x, axis=-1, *, more=0):"))
    assert "log_softmax ~" in headway("list", "softmax", cwd=workspace).stdout


def test_list_says_how_long_it_takes_and_how_hard_it_is(workspace, tmp_path):
    functions = TRANSFORMER.modules["softmax"].functions
    for cwd in (workspace, tmp_path):
        lines = headway("list", "softmax", cwd=cwd, COLUMNS="80").stdout.splitlines()
        assert all(len(line) <= 80 for line in lines)
        for function in functions:
            (line,) = (line for line in lines if f"    {function.name} " in line)
            assert f" {function.minutes} min  {progress_table.DOTS[function.difficulty]}" in line
        (head,) = (line for line in lines if "Softmax and cross-entropy" in line)
        assert duration(TRANSFORMER.modules["softmax"].minutes) in head
    (open_one,) = (function for function in functions if function.name == "softmax_backward")
    assert f"about {open_one.minutes} min to go" in headway("list", "softmax", cwd=workspace).stdout


@pytest.mark.parametrize("columns", [80, 140])
def test_list_cuts_nothing(workspace, tmp_path, columns):
    for cwd in (workspace, tmp_path):
        shown = headway("list", cwd=cwd, COLUMNS=str(columns)).stdout
        assert "…" not in shown
        assert all(len(line) <= columns for line in shown.splitlines())
        for function in TRANSFORMER.functions.values():
            assert f"  {function.name} " in shown or f"  {function.name}\n" in shown
            if not function.torch.startswith("gradient of"):
                assert function.torch in shown
    assert ("gradient of scaled_dot_product_attention" in shown) == (columns == 140)


def test_hint_without_a_name_is_of_the_function_in_hand(workspace, tmp_path):
    assert "softmax.softmax_backward · hint 1 of 3" not in headway("hint", cwd=workspace).stdout
    assert "tokenizer.build_vocab · hint 1 of 3" in headway("hint", cwd=workspace).stdout
    about = workspace / ".headway.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "at": "softmax.softmax_backward"}))
    assert "softmax.softmax_backward · hint 1 of 3" in headway("hint", cwd=workspace).stdout
    elsewhere = headway("hint", cwd=tmp_path)
    assert elsewhere.returncode == 2
    assert "which function?" in elsewhere.stderr


def test_data_alone_lists_the_datasets(tmp_path):
    done = headway("data", cwd=tmp_path)
    assert done.returncode == 0
    assert "given-names" in done.stdout


def test_every_command_has_a_summary_that_is_not_cut(tmp_path):
    done = headway("--help", cwd=tmp_path, COLUMNS="80")
    assert "..." not in done.stdout.partition("Commands:")[2]


def test_solutions_come_after_a_pass(workspace):
    shown = headway("solution", "softmax.log_softmax", cwd=workspace)
    assert shown.returncode == 0
    assert "def log_softmax" in shown.stdout
    early = headway("solution", "softmax.softmax_backward", cwd=workspace)
    assert early.returncode == 2
    assert "--give-up" in early.stderr
    assert len(early.stderr.splitlines()) == 1
    assert headway("solution", "softmax.softmax_backward", "--give-up", cwd=workspace).returncode == 0
    gave_up = json.loads((workspace / ".headway.json").read_text())["gave_up"]
    assert list(gave_up) == ["softmax.softmax_backward"]
    (workspace / "course.toml").write_text('solutions = "never"\n')
    assert headway("solution", "softmax.log_softmax", cwd=workspace).returncode == 2


@pytest.mark.parametrize("columns", ["80", "140"])
def test_yours_beside_the_solution(workspace, columns):
    path = workspace / "softmax.py"
    text = path.read_text()
    assert "letter by letter" in headway("diff", "softmax.log_softmax", cwd=workspace).stdout
    path.write_text(text.replace("def log_softmax(x, axis=-1):", "def log_softmax(x, axis=-1, mine=None):"))
    done = headway("diff", "softmax.log_softmax", cwd=workspace, COLUMNS=columns)
    assert "mine=None" in done.stdout
    assert "def log_softmax(x, axis=-1):" in done.stdout
    beside = any("mine=None" in line and "def log_softmax(x, axis=-1):" in line for line in done.stdout.splitlines())
    assert beside == (columns == "140")


def test_reset_asks(workspace):
    before = (workspace / "softmax.py").read_text()
    done = subprocess.run(
        [*HEADWAY, "reset", "softmax"], cwd=workspace, input="n\n", capture_output=True, text=True, check=False
    )
    assert "Nothing was changed" in done.stdout
    assert (workspace / "softmax.py").read_text() == before
    done = headway("reset", "softmax", "--yes", cwd=workspace)
    kept = done.stdout.partition("yours is ")[2].partition(".py")[0] + ".py"
    assert (workspace / kept).read_text() == before
    assert "NotImplementedError" in (workspace / "softmax.py").read_text()


def test_update_leaves_a_current_workspace_alone(workspace):
    files = {path.name: path.read_bytes() for path in workspace.glob("*.py")}
    (workspace / "ffn.py").unlink()
    assert "ffn.py: written" in headway("update", cwd=workspace).stdout
    assert {path.name: path.read_bytes() for path in workspace.glob("*.py")} == files
    assert "Nothing was changed" in headway("update", cwd=workspace).stdout


def test_what_is_handed_in_can_be_graded(workspace, tmp_path):
    (workspace / "tools.py").write_text("def half(x):\n    return x / 2\n")
    (workspace / os.fsdecode(b"not text \xff.py")).write_text("x = 1\n")
    done = headway("submit", "softmax", "--out", tmp_path / "class" / "ada.zip", cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert "1 of 5 functions do not pass" in done.stdout
    assert "softmax.softmax_backward" in done.stdout
    graded = headway(
        "grade", "class", "--out", "out", "--assignment", "softmax", "--seed", "0", "--unsafe-no-sandbox", cwd=tmp_path
    )
    assert graded.returncode == 0, graded.stderr
    document = json.loads((tmp_path / "out" / "results" / "ada.json").read_text("utf-8"))
    statuses = {f["name"]: f["status"] for a in document["assignments"] for f in a["functions"]}
    assert statuses.pop("softmax_backward") == "not_started"
    assert set(statuses.values()) == {"passed"}
    assert document["notes"] == []


def test_completion_knows_commands_assignments_and_functions(tmp_path):
    def complete(words, at):
        environment = {"_HEADWAY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        lines = headway(cwd=tmp_path, **environment).stdout.splitlines()
        return [line.partition(",")[2] for line in lines]

    assert complete("headway wa", 1) == ["watch"]
    assert complete("headway check multi", 2)[:2] == ["multihead", "multihead.split_heads"]
    assert complete("headway hint softmax.log", 2) == ["softmax.log_softmax"]
    assert "_HEADWAY_COMPLETE" in headway("completion", "zsh", cwd=tmp_path).stdout


def test_completion_imports_nothing_heavy(tmp_path):
    code = (
        "import sys, os\n"
        "os.environ.update(_HEADWAY_COMPLETE='bash_complete', COMP_WORDS='headway check sof', COMP_CWORD='2')\n"
        "from autograder.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'torch', 'pytest', 'rich', 'watchfiles', 'pygments'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "softmax.log_softmax" in done.stdout


def test_training_uses_what_passes(workspace):
    done = headway("train", "--data", "given-names", "--steps", "20", cwd=workspace, COLUMNS="200")
    assert done.returncode == 2  # softmax lacks one function, and nothing else is written
    assert "headway train --solution" in done.stderr
    (workspace / "softmax.py").write_text((workspace / "softmax.py").read_text())
    for name in ("tokenizer", "softmax"):
        shutil.copy(_solution(name), workspace)
    done = headway("train", "--data", "given-names", "--steps", "20", cwd=workspace, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert "yours: tokenizer, softmax · official, until yours pass: embeddings" in done.stdout


def _solution(name):
    from autograder.curriculum.stubs import bundled

    return bundled("solutions") / f"{name}.py"


def test_badges_for_a_model_of_ones_own(tmp_path, solutions):
    folder = tmp_path / "eve"
    headway("init", folder, cwd=tmp_path)
    for path in solutions.glob("*.py"):
        shutil.copy(path, folder)
    done = headway("train", "--data", "given-names", "--steps", "400", "--out", "n.safetensors", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "your code for every assignment" in done.stdout
    assert "★ your first loss that falls" in done.stdout
    talk = headway("generate", "n.safetensors", "--length", "100", cwd=folder)
    assert "★ your model invented its first name" in talk.stderr
    assert headway("generate", "n.safetensors", "--length", "100", cwd=folder).stderr == ""


def test_bench_measures_beside_pytorch(tmp_path):
    done = headway(
        "bench", "--solution", "--preset", "names", "--rounds", "2", "--seconds", "0.05", "--json", "line.json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "PyTorch, eager" in done.stdout
    line = json.loads((tmp_path / "line.json").read_text())
    assert line["schema"] == "headway.bench/1"
    assert line["ratio"] == pytest.approx(line["tokens_per_second"] / line["torch_tokens_per_second"])
    assert line["apart"] < 1e-3
    assert sum(line["functions"].values()) == pytest.approx(1, abs=0.01)
    assert line["slowest"] in line["functions"]


def test_ctrl_c_ends_a_check_with_one_line(tmp_path):
    marker = tmp_path / "running"
    (tmp_path / "softmax.py").write_text(
        f"def softmax(*a, **k):\n    open({str(marker)!r}, 'w').close()\n    while True: pass\n"
    )
    command = [*HEADWAY, "check", "softmax.softmax", "--call-seconds", "120"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(marker.exists)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=300)
    assert (process.returncode, complaint) == (130, "headway: interrupted\n")
