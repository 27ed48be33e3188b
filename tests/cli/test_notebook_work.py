"""Work in notebooks: check, list, submit and grade see it, and it earns the same points as in files."""

import json
import shutil
import zipfile
from types import SimpleNamespace

import pytest
from support.commands import invoke, refusal, succeed
from support.editing import edit
from support.reading import checks_of, csv_rows
from support.student_notebook import write_functions, write_functions_in_file

from autograder.cli import options
from autograder.course.stubs import bundled

pytestmark = pytest.mark.slow

NAME = "notebooks/softmax.ipynb"
FUNCTIONS = ("softmax", "log_softmax", "cross_entropy")


@pytest.fixture
def workspace(new_workspace, tmp_path):
    return new_workspace(tmp_path / "ada")


def statuses(folder, *names):
    document = json.loads(invoke("check", *names, "--json", "-", cwd=folder).stdout)
    return {f["name"]: f["status"] for a in document["assignments"] for f in a["functions"]}, document


def test_check_and_list_see_the_notebook(workspace):
    write_functions(workspace / NAME, *FUNCTIONS)
    checked, document = statuses(workspace, "softmax")
    assert {name for name, status in checked.items() if status == "passed"} == set(FUNCTIONS)
    assert document["notes"] == [f"softmax: Your work is in {NAME}."]
    listed = invoke("list", "softmax", cwd=workspace).stdout
    assert "3 of 5 functions pass" in listed and f"Your work is in {NAME}" in listed
    assert f"write softmax_backward in {NAME}" in " ".join(invoke("check", "softmax", cwd=workspace).stdout.split())


def test_failure_in_a_notebook_names_its_cell(workspace):
    wrong = "def softmax(x, axis=-1, temperature=1.0):\n    return x.nonsense"
    write_functions(workspace / NAME, "softmax", text=wrong)
    done = invoke("check", "softmax.softmax", "--json", "-", cwd=workspace)
    location = next(check["location"] for check in checks_of(json.loads(done.stdout)) if check["location"])
    assert location["file"].startswith("softmax.ipynb cell ")
    assert (location["line"], location["text"].strip()) == (2, "return x.nonsense")


def test_check_of_a_named_file_checks_that_file(workspace):
    write_functions(workspace / NAME, "softmax")
    for name in (NAME, "softmax.ipynb"):
        assert statuses(workspace, name)[0]["softmax"] == "passed"
    checked, document = statuses(workspace, "softmax.py")
    assert checked["softmax"] == "not_started"
    assert "softmax.py was checked" in document["notes"][0]
    assert "1 of 5 functions pass" in invoke("list", "softmax", cwd=workspace).stdout, "it was not recorded"


def test_commands_in_the_folder_of_notebooks_use_the_workspace(workspace):
    write_functions(workspace / NAME, "softmax")
    assert invoke("check", "softmax.ipynb", cwd=workspace / "notebooks").returncode == 1
    assert not (workspace / "notebooks" / ".headway.json").exists()
    assert "1 of 5 functions pass" in invoke("list", "softmax", cwd=workspace / "notebooks").stdout


def test_two_versions_need_a_decision(workspace, tmp_path):
    write_functions(workspace / NAME, "softmax")
    write_functions_in_file(workspace / "softmax.py", "log_softmax")
    _, document = statuses(workspace, "softmax")
    assert "check softmax --use" in document["notes"][0]
    refused = refusal("submit", "softmax", "--out", tmp_path / "ada.zip", cwd=workspace)
    assert "--use notebook" in refused and not (tmp_path / "ada.zip").exists()
    assert invoke("check", "softmax", "--use", "notebook", cwd=workspace).returncode == 1
    assert statuses(workspace, "softmax")[0]["softmax"] == "passed"
    assert invoke("submit", "softmax", "--out", tmp_path / "ada.zip", cwd=workspace).returncode == 0
    with zipfile.ZipFile(tmp_path / "ada.zip") as archive:
        assert "softmax.ipynb" in archive.namelist() and "softmax.py" not in archive.namelist()
    assert invoke("check", "softmax", "--use", "file", cwd=workspace).returncode == 1
    assert statuses(workspace, "softmax")[0]["softmax"] == "not_started"


@pytest.mark.parametrize("version", ["file", "notebook"])
def test_check_in_a_terminal_asks_which_version_counts(workspace, monkeypatch, version):
    write_functions(workspace / NAME, "softmax")
    write_functions_in_file(workspace / "softmax.py", "log_softmax")
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(options, "sys", SimpleNamespace(stdin=terminal, stdout=terminal, stderr=terminal))
    assert "counts?" not in invoke("check", "softmax", "--json", "-", cwd=workspace).stdout
    done = invoke("check", "softmax", cwd=workspace, typed=f"{version}\n")
    assert "Which one of softmax counts? (file, notebook)" in done.stdout and done.stderr.startswith("checking …")
    assert json.loads((workspace / ".headway.json").read_text())["sources"]["softmax"]["counts"] == version


def test_use_without_a_notebook_is_refused(workspace):
    (workspace / NAME).unlink()
    assert "no notebook of softmax" in refusal("check", "softmax", "--use", "notebook", cwd=workspace)
    assert "not its file" in refusal("check", "softmax.py", "--use", "file", cwd=workspace)
    assert invoke("check", "--use", "notebook", cwd=workspace).returncode == 1, "of all that have one"


def test_reset_diff_and_solution_use_the_notebook(workspace):
    write_functions(workspace / NAME, "softmax")
    assert "identical" in invoke("diff", "softmax.softmax", cwd=workspace).stdout
    assert "def softmax" in invoke("solution", "softmax.softmax", cwd=workspace).stdout
    done = invoke("reset", "softmax.softmax", "--yes", cwd=workspace)
    assert f"was reset in {NAME}" in done.stdout and "Reload Notebook" in done.stdout
    assert statuses(workspace, "softmax")[0]["softmax"] == "not_started"


def test_archive_with_a_notebook_is_imported(workspace, tmp_path):
    write_functions(workspace / NAME, "softmax")
    assert invoke("submit", "softmax", "--out", tmp_path / "ada.zip", cwd=workspace).returncode == 0
    succeed("init", tmp_path / "new", "--from", tmp_path / "ada.zip")
    assert (tmp_path / "new" / NAME).read_bytes() == (workspace / NAME).read_bytes()
    assert statuses(tmp_path / "new", "softmax")[0]["softmax"] == "passed"


def test_imported_version_counts(workspace, tmp_path):
    write_functions(workspace / NAME, "softmax")
    assert invoke("submit", "softmax", "--out", tmp_path / "ada.zip", cwd=workspace).returncode == 0
    other = shutil.copytree(workspace, tmp_path / "other")
    shutil.copy(bundled("assignments") / NAME, other / NAME)
    write_functions_in_file(other / "softmax.py", "log_softmax")
    assert invoke("init", other, "--from", tmp_path / "ada.zip").returncode == 0
    checked, document = statuses(other, "softmax")
    assert checked["softmax"] == "passed"
    assert "because it was imported" in document["notes"][0]


def test_grade_gives_the_same_points_for_files_and_notebooks(workspace, new_workspace, tmp_path):
    in_files = new_workspace(tmp_path / "ben")
    write_functions_in_file(in_files / "softmax.py", "softmax", "log_softmax")
    edit(in_files / "softmax.py", 'raise NotImplementedError("softmax.cross_entropy")', "return 0.0")
    write_functions(workspace / NAME, "softmax", "log_softmax")
    write_functions(workspace / NAME, "cross_entropy", text="def cross_entropy(logits, targets):\n    return 0.0")
    (tmp_path / "class").mkdir()
    for folder in (in_files, workspace):
        archive = tmp_path / "class" / f"{folder.name}.zip"
        assert invoke("submit", "softmax", "--out", archive, cwd=folder).returncode == 0
    points = [statuses(folder, "softmax")[1]["points"] for folder in (in_files, workspace)]
    assert points[0] == points[1] and points[0]["earned"] > 0
    out = tmp_path / "out"
    succeed("grade", tmp_path / "class", "--out", out, "--assignment", "softmax", "-j", 1, "--unsafe-no-sandbox")
    ignored = {"submission", "student", "name", "id", "email"}
    rows = csv_rows(out / "grades.csv")
    first, second = ({key: value for key, value in row.items() if key.lower() not in ignored} for row in rows)
    assert first == second
    assert any(value not in ("", "0") for value in first.values())
