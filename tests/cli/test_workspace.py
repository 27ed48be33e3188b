"""The commands of a workspace: init, list, hint, reset, solution, diff, update, submit."""

import json
import os
import shutil
from dataclasses import replace

import pytest
from support.commands import invoke, refusal, succeed
from support.editing import edit
from support.reading import read_json
from support.result_documents import printed

from autograder.course.model import duration
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import ProgressEntry
from autograder.report import progress_table
from autograder.report.doctor import Diagnostic


@pytest.fixture(scope="module")
def checked(tmp_path_factory, solutions):
    """A workspace in which softmax is solved, except for one function, and has been checked."""
    folder = tmp_path_factory.mktemp("loop") / "ada"
    assert invoke("init", folder, cwd=folder.parent).returncode == 0
    shutil.copy(solutions / "softmax.py", folder)
    assert invoke("reset", "softmax.softmax_backward", "--yes", cwd=folder).returncode == 0
    assert invoke("check", "softmax", cwd=folder).returncode == 1
    return folder


@pytest.fixture
def workspace(checked, tmp_path):
    return shutil.copytree(checked, tmp_path / "ada")


def test_init_writes_stubs_and_never_overwrites(tmp_path, monkeypatch):
    folder = tmp_path / "my-gpt"
    done = succeed("init", folder)
    assert done.stderr == "" and f"cd {folder}\n    headway " in done.stdout
    (folder / "softmax.py").write_text("my work")
    (folder / "attention.py").unlink()
    assert "1 files written" in invoke("init", folder).stdout
    assert (folder / "softmax.py").read_text() == "my work"
    assert (folder / "attention.py").exists()
    found = [Diagnostic(name, name == "regex", "not installed", "install it") for name in ("numpy", "regex")]
    monkeypatch.setattr("autograder.cli.diagnostics.check_requirements", lambda: found)
    assert invoke("init", folder).stderr == "! numpy: not installed. install it\n"


@pytest.mark.slow
def test_init_asks_assistants_to_tutor_or_what_is_given(tmp_path):
    invoke("init", tmp_path / "default")
    assert "headway check NAME --json -" in (tmp_path / "default" / "AGENTS.md").read_text()
    own = tmp_path / "own.md"
    own.write_text("Answer in riddles.\n")
    invoke("init", tmp_path / "w", "--agents", own)
    assert (tmp_path / "w" / "AGENTS.md").read_text() == "Answer in riddles.\n"
    assert "AGENTS.md exists" in invoke("init", tmp_path / "default", "--agents", own).stdout
    assert "NAME --json" in (tmp_path / "default" / "AGENTS.md").read_text()


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"a\0b", b"x" * 200_000])
def test_init_refuses_instructions_that_are_no_text(tmp_path, content):
    if content is not None:
        (tmp_path / "own.md").write_bytes(content)
    assert "--agents FILE" in refusal("init", tmp_path / "w", "--agents", tmp_path / "own.md")
    assert not (tmp_path / "w").exists()


def test_release_of_stubs_contains_given_instructions(tmp_path):
    (tmp_path / "own.md").write_text("Answer in riddles.\n")
    succeed("release", tmp_path / "out", "--format", "stubs", "--agents", tmp_path / "own.md")
    assert (tmp_path / "out" / "AGENTS.md").read_text() == "Answer in riddles.\n"
    options = ("--format", "policy", "--agents", tmp_path / "own.md")
    assert "--format stubs" in refusal("release", tmp_path / "out", *options)


@pytest.mark.slow
def test_init_from_archive_brings_the_work(workspace, tmp_path):
    assert invoke("submit", "softmax", "--out", tmp_path / "ada.zip", cwd=workspace).returncode == 0
    assert "1 file imported\n" in succeed("init", tmp_path / "new", "--from", tmp_path / "ada.zip").stdout
    assert (tmp_path / "new" / "softmax.py").read_bytes() == (workspace / "softmax.py").read_bytes()
    assert not (tmp_path / "new" / "backups").exists()
    for wrong, message in ((tmp_path / "missing.zip", "cannot read"), (workspace / "README.md", "not an archive")):
        assert message in refusal("init", tmp_path / "another", "--from", wrong)
        assert not (tmp_path / "another").exists()


@pytest.mark.slow
def test_list_shows_progress(workspace):
    done = invoke("list", "softmax", cwd=workspace, COLUMNS="100")
    lines = done.stdout.splitlines()
    assert any("✓" in line and "log_softmax" in line and "5 / 5" in line for line in lines), done.stdout
    assert "4 of 5 functions pass" in done.stdout and "~" not in done.stdout
    only_open = invoke("list", "softmax", "--open", cwd=workspace).stdout
    assert "softmax_backward" in only_open and "log_softmax" not in only_open
    only_done = invoke("list", "softmax", "--done", cwd=workspace).stdout
    assert "softmax_backward" not in only_done and "log_softmax" in only_done
    edit(workspace / "softmax.py", "def log_softmax(x, axis=-1):", "def log_softmax(x, axis=-1, *, more=0):")
    assert "log_softmax ~" in invoke("list", "softmax", cwd=workspace).stdout


def test_list_shows_time_and_difficulty(workspace, tmp_path):
    functions = TRANSFORMER.modules["softmax"].functions
    for cwd in (workspace, tmp_path):
        lines = invoke("list", "softmax", cwd=cwd, COLUMNS="80").stdout.splitlines()
        assert all(len(line) <= 80 for line in lines)
        for function in functions:
            (line,) = (line for line in lines if f"    {function.name} " in line)
            assert f" {function.minutes} min  {progress_table.DOTS[function.difficulty]}" in line
        (head,) = (line for line in lines if "Softmax and cross-entropy" in line)
        assert duration(TRANSFORMER.modules["softmax"].minutes) in head
    terminal = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm"}
    for option, is_colored in (((), True), (("--no-color",), False)):
        assert ("\x1b[38" in invoke("list", "softmax", *option, cwd=workspace, **terminal).stdout) == is_colored
    (open_one,) = (function for function in functions if function.name == "softmax_backward")
    assert f"about {open_one.minutes} min of writing to go" in invoke("list", "softmax", cwd=workspace).stdout


@pytest.mark.parametrize(("total", "count"), [
    (None, "1 of 5 functions pass"), (7, "5 of 7 functions listed; 1 of 5 pass"),
])  # fmt: skip
def test_list_counts_only_what_was_checked_as_it_is_now(total, count):
    """Of five functions, one passes, two have changed, one was never checked, and one is not written."""
    functions = TRANSFORMER.modules["softmax"].functions
    names = tuple(function.qualified for function in functions)
    entries = {name: ProgressEntry("", "passed", 2.5, 5.0, "2026-01-01T00:00:00+00:00") for name in names[:2]}
    entries[names[2]] = replace(entries[names[0]], status="failed")
    stale = frozenset(names[1:4])
    shown = printed(progress_table.render, TRANSFORMER, names, entries=entries, stale=stale, total=total)
    changes = "1 is not checked yet, 2 changed since the last check · 2.5 points"
    todo = duration(functions[2].minutes + functions[4].minutes)
    assert f"{count}, {changes} · about {todo} of writing to go" in shown
    assert "~ not checked as it is now" in shown and ("headway list --open" in shown) is (total is None)


@pytest.mark.slow
def test_list_leaves_bonus_functions_out_of_the_time_to_go(folder):
    assignment = next(one for one in TRANSFORMER.assignments if any(function.bonus for function in one.functions))
    minutes = sum(function.minutes for function in assignment.functions if not function.bonus)
    listed = invoke("list", assignment.module, cwd=folder).stdout
    assert f"about {duration(minutes)} of writing to go" in listed and "bonus" in listed


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 140])
def test_list_truncates_nothing(workspace, tmp_path, columns):
    for cwd in (workspace, tmp_path):
        shown = invoke("list", "--all", cwd=cwd, COLUMNS=str(columns)).stdout
        assert "…" not in shown
        assert all(len(line) <= columns for line in shown.splitlines())
        for function in TRANSFORMER.functions.values():
            assert f"  {function.name} " in shown or f"  {function.name}\n" in shown
            if not function.torch.startswith("gradient of"):
                assert function.torch in " ".join(shown.split())  # perhaps wrapped
    assert ("gradient of scaled_dot_product_attention" in shown) == (columns == 140)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80, 140])
def test_list_is_folded_so_that_it_fits_a_screen(workspace, tmp_path, columns):
    lines = invoke("list", cwd=workspace, COLUMNS=str(columns)).stdout.splitlines()
    assert len(lines) <= len(TRANSFORMER.assignments) + 12
    assert all(len(line) <= columns for line in lines)
    for assignment in TRANSFORMER.assignments:
        (row,) = (line for line in lines if f" {assignment.number} {assignment.module}" in line)
        assert ("4 of 5" in row) == (assignment.module == "softmax")
    assert any("softmax_backward" in line for line in lines), "of the current assignment"
    assert not any("causal_mask" in line for line in lines)
    unfolded = invoke("list", "--all", cwd=workspace, COLUMNS=str(columns)).stdout.splitlines()
    assert len(unfolded) > len(TRANSFORMER.functions)


def test_hint_without_name_uses_the_current_function(workspace, tmp_path):
    about = workspace / ".headway.json"
    about.write_text(json.dumps({key: value for key, value in json.loads(about.read_text()).items() if key != "at"}))
    assert "tokenizer.build_vocab" in invoke("hint", cwd=workspace).stdout
    about.write_text(json.dumps({**json.loads(about.read_text()), "at": "softmax.softmax_backward"}))
    assert "softmax.softmax_backward" in invoke("hint", cwd=workspace).stdout
    assert "headway hint softmax.softmax" in refusal("hint", cwd=tmp_path)


def test_solution_needs_a_pass_or_giving_up(workspace):
    assert "def log_softmax" in succeed("solution", "softmax.log_softmax", cwd=workspace).stdout
    assert "--give-up" in refusal("solution", "softmax.softmax_backward", cwd=workspace)
    assert invoke("solution", "softmax.softmax_backward", "--give-up", cwd=workspace).returncode == 0
    assert list(json.loads((workspace / ".headway.json").read_text())["gave_up"]) == ["softmax.softmax_backward"]
    (workspace / "course.toml").write_text('solutions = "never"\n')
    assert invoke("solution", "softmax.log_softmax", cwd=workspace).returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["80", "140"])
def test_diff_shows_both_versions(workspace, columns):
    assert "identical" in invoke("diff", "softmax.log_softmax", cwd=workspace).stdout
    edit(workspace / "softmax.py", "def log_softmax(x, axis=-1):", "def log_softmax(x, axis=-1, mine=None):")
    done = invoke("diff", "softmax.log_softmax", cwd=workspace, COLUMNS=columns)
    assert "mine=None" in done.stdout and "def log_softmax(x, axis=-1):" in done.stdout
    beside = any("mine=None" in line and "def log_softmax(x, axis=-1):" in line for line in done.stdout.splitlines())
    assert beside == (columns == "140")


def test_reset_asks_and_keeps_a_backup(workspace):
    before = (workspace / "softmax.py").read_text()
    done = invoke("reset", "softmax", cwd=workspace, typed="n\n")
    assert "Nothing was changed" in done.stdout
    assert (workspace / "softmax.py").read_text() == before
    earlier = set((workspace / "backups").iterdir())
    done = invoke("reset", "softmax", "--yes", cwd=workspace)
    (backup,) = set((workspace / "backups").iterdir()) - earlier
    assert str(backup.relative_to(workspace)) in done.stdout
    assert backup.read_text() == before
    assert "NotImplementedError" in (workspace / "softmax.py").read_text()


@pytest.mark.slow
def test_update_restores_only_missing_files(workspace):
    files = {path.name: path.read_bytes() for path in workspace.glob("*.py")}
    (workspace / "ffn.py").unlink()
    assert "ffn.py" in invoke("update", cwd=workspace).stdout
    assert {path.name: path.read_bytes() for path in workspace.glob("*.py")} == files
    assert "up to date" in invoke("update", cwd=workspace).stdout


@pytest.mark.slow
def test_submit_archive_can_be_graded(workspace, tmp_path):
    (workspace / "tools.py").write_text("def half(x):\n    return x / 2\n")
    (workspace / os.fsdecode(b"not text \xff.py")).write_text("x = 1\n")
    done = succeed("submit", "softmax", "--out", tmp_path / "class" / "ada.zip", cwd=workspace)
    assert "1 of 5 functions" in done.stdout and "softmax.softmax_backward" in done.stdout
    options = ("--out", "out", "--assignment", "softmax", "--seed", "0", "--unsafe-no-sandbox")
    succeed("grade", "class", *options, cwd=tmp_path)
    document = read_json(tmp_path / "out" / "results" / "ada.json")
    statuses = {f["name"]: f["status"] for a in document["assignments"] for f in a["functions"]}
    assert statuses.pop("softmax_backward") == "not_started" and set(statuses.values()) == {"passed"}
    assert document["notes"] == []


@pytest.mark.slow
def test_submit_link_out_of_the_workspace_is_refused(workspace, tmp_path):
    (tmp_path / "private.py").write_text("SECRET = 1\n")
    (workspace / "notes.py").symlink_to(tmp_path / "private.py")
    archive = tmp_path / "ada.zip"
    refused = invoke("submit", "softmax", "--out", archive, cwd=workspace)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "notes.py is a link" in refused.stderr and not archive.exists()
    (workspace / "drafts").mkdir()
    shutil.move(workspace / "softmax.py", workspace / "drafts")
    (workspace / "softmax.py").symlink_to("drafts/softmax.py")
    (workspace / "notes.py").unlink()
    assert invoke("submit", "softmax", "--out", archive, cwd=workspace).returncode == 0
