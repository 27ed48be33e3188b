"""Some assignments of a course: in a workspace, in what is released, and reused by a course of another package."""

import json
from zipfile import ZipFile

import pytest
from support.commands import invoke, refusal, succeed

from autograder.classroom.policy import policy_file
from autograder.course import declare, registry, selection
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.models.training import select_modules


def done(*arguments):
    """Return what a command says that must end with exit code 0."""
    result = succeed(*arguments)
    return result.stdout + result.stderr


def solution(module):
    return registry.solution_text(module, TRANSFORMER.package)


def stub(module):
    return (registry.bundled("assignments") / f"{module}.py").read_text("utf-8")


def test_selection_keeps_numbers_and_gives_what_is_imported():
    some = selection.select(TRANSFORMER, ["blocks", "multihead"])
    assert list(some.modules) == ["multihead", "blocks"]
    numbers = [assignment.number for assignment in some.assignments]
    assert numbers == [TRANSFORMER.modules[module].number for module in some.modules]
    assert {"softmax", "attention", "layernorm", "ffn"} <= set(some.given_modules)
    assert not set(some.given_modules) & set(some.modules)
    assert "gpt" not in some.given_modules
    assert set(some.all_prerequisites("blocks.block")) <= set(some.functions)
    assert some.total == len(TRANSFORMER.assignments)


def test_selection_of_all_is_the_course_itself():
    assert selection.select(TRANSFORMER, TRANSFORMER.modules) is TRANSFORMER
    assert selection.load("transformer", ("no_longer_there",)) is TRANSFORMER
    assert list(selection.load("transformer", ("no_longer_there", "softmax")).modules) == ["softmax"]


def test_unknown_and_function_names_are_refused(tmp_path):
    for command in (["init", tmp_path / "w"], ["release", tmp_path / "w", "--format", "stubs"]):
        assert "Did you mean 'softmax'?" in refusal(*command, "--assignment", "sotfmax")
        assert "assignment: softmax" in invoke(*command, "--assignment", "softmax.log_softmax").stderr
    assert not (tmp_path / "w").exists()


@pytest.mark.slow
def test_workspace_knows_and_submits_only_its_assignments(tmp_path):
    work = tmp_path / "work"
    said = done("init", work, "--assignment", "attention", "--assignment", "layernorm")
    assert "import them: softmax.py" in said
    written = {path.name for path in work.glob("*.py")}
    assert written == {"attention.py", "layernorm.py", "softmax.py", "numpy_warmup.py"}
    assert (work / "softmax.py").read_text("utf-8") == solution("softmax")
    assert {path.stem for path in (work / "notebooks").iterdir()} == {"attention", "layernorm", "numpy_warmup"}
    assert "softmax.softmax" not in (work / "README.md").read_text()
    for option in ((), ("--curriculum", "transformer")):  # its own name does not undo the selection
        listed = done("list", "--dir", work, *option)
        assert "layernorm" in listed and "log_softmax" not in listed and "gpt2" not in listed
    refusal("check", "softmax", "--dir", work)
    (work / "attention.py").write_text(solution("attention"))
    checked = succeed("check", "attention", "--dir", work, "--curriculum", "transformer", "--json", "-")
    assert [a["name"] for a in json.loads(checked.stdout)["assignments"]] == ["attention"]
    (work / "layernorm.py").unlink()
    done("submit", "--name", "ada", "--dir", work, "--out", tmp_path / "ada.zip")
    assert set(ZipFile(tmp_path / "ada.zip").namelist()) == {"attention.py", "manifest.json"}, "no given files"


def test_init_again_adds_an_assignment(tmp_path):
    work = tmp_path / "work"
    done("init", work, "--assignment", "attention")
    (work / "attention.py").write_text("# work\n" + stub("attention"))
    done("init", work, "--assignment", "softmax")
    assert (work / "softmax.py").read_text("utf-8") == stub("softmax"), "it is to be written now"
    assert (work / "attention.py").read_text().startswith("# work")
    assert "softmax, attention" in (work / "README.md").read_text()
    recorded = json.loads((work / ".headway.json").read_text())
    assert recorded["assignments"] == ["softmax", "attention"]
    done("init", work)
    assert not (work / "gpt.py").exists()


def test_init_again_keeps_files_with_changes(tmp_path):
    done("init", tmp_path, "--assignment", "attention")
    for name in ("softmax.py", "README.md"):
        (tmp_path / name).write_text("mine")
    done("init", tmp_path, "--assignment", "softmax")
    assert (tmp_path / "softmax.py").read_text() == (tmp_path / "README.md").read_text() == "mine"


def test_init_assignment_in_a_whole_workspace_is_refused(tmp_path):
    work = tmp_path / "work"
    done("init", work)
    assert "all assignments" in refusal("init", work, "--assignment", "softmax")


def test_update_keeps_the_selection_and_restores_given_files(tmp_path):
    work = tmp_path / "work"
    done("init", work, "--assignment", "attention", "--assignment", "layernorm")
    (work / "softmax.py").write_text("changed = True\n")
    (work / "attention.py").unlink()
    said = done("update", "--dir", work)
    assert "attention.py: restored" in said and "softmax.py: now" in said
    assert (work / "softmax.py").read_text("utf-8") == solution("softmax")
    assert [path.read_text() for path in (work / "backups").iterdir()] == ["changed = True\n"]
    assert not (work / "gpt.py").exists()
    assert "Already up to date" in done("update", "--dir", work)


def test_release_stubs_of_some_assignments(tmp_path):
    some = ("--format", "stubs", "--assignment", "layernorm", "--assignment", "attention")
    said = done("release", tmp_path / "a", *some)
    assert f"wrote {tmp_path / 'a' / 'softmax.py'} (official solution)" in said
    assert (tmp_path / "a" / "softmax.py").read_text("utf-8") == solution("softmax")
    assert (tmp_path / "a" / "attention.py").read_text("utf-8") == stub("attention")
    assert not (tmp_path / "a" / "gpt.py").exists()
    done("release", tmp_path / "a", *some)  # again, over its own files
    (tmp_path / "a" / "softmax.py").write_text("def softmax(x):\n    return x\n")
    assert "holds work" in invoke("release", tmp_path / "a", *some).stderr
    done("release", tmp_path / "b", *some, "--prerequisites", "none")
    assert not (tmp_path / "b" / "softmax.py").exists()


def test_release_notebooks_and_policy_of_some_assignments(tmp_path):
    some = ("--assignment", "layernorm", "--assignment", "attention")
    done("release", tmp_path, "--format", "notebooks", *some)
    written = {path.name for path in tmp_path.glob("*.ipynb")}
    assert written == {"attention.ipynb", "layernorm.ipynb", "numpy_warmup.ipynb"}
    done("release", tmp_path, "--format", "policy", *some)
    policy = policy_file.load_policy(tmp_path / "course.toml", TRANSFORMER)
    assert list(policy.assignments) == ["attention", "layernorm"], "only these are graded"
    assert "already exists" in refusal("release", tmp_path, "--format", "policy")
    done("release", tmp_path, "--format", "policy", "--force")
    policy = policy_file.load_policy(tmp_path / "course.toml", TRANSFORMER)
    assert not policy.assignments, "it was replaced"


@pytest.mark.slow
def test_release_nbgrader_course_of_one_assignment(tmp_path):
    done("release", tmp_path, "--format", "nbgrader", "--assignment", "attention")
    assert [path.name for path in sorted((tmp_path / "source").iterdir())] == ["attention"]
    written = sorted(path.name for path in (tmp_path / "source" / "attention").iterdir())
    assert written == ["attention.ipynb", "softmax.py"]


def test_built_in_assignments_can_be_left_out():
    some = selection.built_in_assignments(without=("gpt2", "llama"))
    assert [a.module for a in some] == [name for name in TRANSFORMER.modules if name not in ("gpt2", "llama")]
    chosen = selection.built_in_assignments("attention", "softmax")
    softmax, attention = declare.course("mine", *chosen, name="mine", title="Mine").assignments
    assert (softmax.module, softmax.number, attention.number) == ("softmax", 1, 2)
    with pytest.raises(UsageError, match="Did you mean 'attention'"):
        selection.built_in_assignments(without=["attenti"])


@pytest.mark.slow
def test_given_assignments_are_not_named_as_the_students(tmp_path, monkeypatch):
    done("init", tmp_path / "w", "--assignment", "attention")
    monkeypatch.setattr(select_modules, "statuses_of", lambda workspace, names: dict.fromkeys(names, "passed"))
    passing = {"softmax", "attention"}
    monkeypatch.setattr(select_modules.progress, "passed_assignments", lambda statuses, curriculum: passing)
    with select_modules.use_modules(tmp_path / "w", solution=False) as chosen:
        assert chosen.student == ("attention",) and "softmax" in chosen.official
