"""Some assignments of a course: in a workspace, in what is released, and reused by a course of another package."""

import json
from zipfile import ZipFile

import pytest
from click.testing import CliRunner

from autograder.classroom.policy import policy_file
from autograder.cli import main
from autograder.course import declare, registry, selection
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.models.training import select_modules


def headway(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def done(*arguments):
    result = headway(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def solution(module):
    return registry.solution_text(module, TRANSFORMER.package)


def stub(module):
    return (registry.bundled("assignments") / f"{module}.py").read_text("utf-8")


def test_selection_keeps_numbers_and_gives_what_is_imported():
    some = selection.select(TRANSFORMER, ["blocks", "multihead"])
    assert list(some.modules) == ["multihead", "blocks"]
    assert [assignment.number for assignment in some.assignments] == [
        TRANSFORMER.modules[module].number for module in some.modules
    ]
    assert {"softmax", "attention", "layernorm", "ffn"} <= set(some.given_modules)
    assert not set(some.given_modules) & set(some.modules)
    assert "gpt" not in some.given_modules
    assert set(some.all_prerequisites("blocks.block")) <= set(some.functions)
    assert some.total == len(TRANSFORMER.assignments)


def test_selection_of_all_is_the_course_itself():
    assert selection.select(TRANSFORMER, TRANSFORMER.modules) is TRANSFORMER
    assert selection.load("transformer", ("no_longer_there",)) is TRANSFORMER


def test_unknown_and_function_names_are_refused(tmp_path):
    for command in (["init", tmp_path / "w"], ["release", tmp_path / "w", "--format", "stubs"]):
        wrong = headway(*command, "--assignment", "sotfmax")
        assert wrong.exit_code == 2 and "Did you mean 'softmax'?" in wrong.output
        wrong = headway(*command, "--assignment", "softmax.log_softmax")
        assert "assignment: softmax" in wrong.output
    assert not (tmp_path / "w").exists()


@pytest.mark.slow
def test_workspace_knows_only_its_assignments(tmp_path):
    work = tmp_path / "work"
    said = done("init", work, "--assignment", "attention", "--assignment", "layernorm")
    assert "import them: softmax.py" in said
    assert {path.name for path in work.glob("*.py")} == {
        "attention.py", "layernorm.py", "softmax.py", "numpy_warmup.py"
    }  # fmt: skip
    assert (work / "softmax.py").read_text("utf-8") == solution("softmax")
    assert {path.stem for path in (work / "notebooks").iterdir()} == {"attention", "layernorm", "numpy_warmup"}
    assert "softmax.softmax" not in (work / "README.md").read_text()
    listed = done("list", "--dir", work)
    assert "layernorm" in listed and "log_softmax" not in listed
    refused = headway("check", "softmax", "--dir", work)
    assert refused.exit_code == 2
    (work / "attention.py").write_text(solution("attention"))
    checked = headway("check", "attention", "--dir", work, "--curriculum", "transformer", "--json", "-")
    assert checked.exit_code == 0
    assert [a["name"] for a in json.loads(checked.stdout)["assignments"]] == ["attention"]


@pytest.mark.slow
def test_submission_of_a_selection_has_no_given_files(tmp_path):
    work = tmp_path / "work"
    done("init", work, "--assignment", "attention")
    (work / "attention.py").write_text(solution("attention"))
    done("submit", "--name", "ada", "--dir", work, "--out", tmp_path / "ada.zip")
    assert set(ZipFile(tmp_path / "ada.zip").namelist()) == {"attention.py", "manifest.json"}


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


def test_init_assignment_in_a_whole_workspace_is_refused(tmp_path):
    work = tmp_path / "work"
    done("init", work)
    refused = headway("init", work, "--assignment", "softmax")
    assert refused.exit_code == 2 and "all assignments" in refused.output


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
    refused = headway("release", tmp_path / "a", *some)
    assert "holds work" in refused.output
    done("release", tmp_path / "b", *some, "--prerequisites", "none")
    assert not (tmp_path / "b" / "softmax.py").exists()


def test_release_notebooks_and_policy_of_some_assignments(tmp_path):
    some = ("--assignment", "layernorm", "--assignment", "attention")
    done("release", tmp_path, "--format", "notebooks", *some)
    assert {path.name for path in tmp_path.glob("*.ipynb")} == {
        "attention.ipynb", "layernorm.ipynb", "numpy_warmup.ipynb"
    }  # fmt: skip
    done("release", tmp_path, "--format", "policy", *some)
    policy = policy_file.load_policy(tmp_path / "course.toml", TRANSFORMER)
    assert list(policy.assignments) == ["attention", "layernorm"], "only these are graded"
    done("release", tmp_path, "--format", "policy", "--force")
    policy = policy_file.load_policy(tmp_path / "course.toml", TRANSFORMER)
    assert not policy.assignments, "it was replaced"


@pytest.mark.slow
def test_release_nbgrader_course_of_one_assignment(tmp_path):
    done("release", tmp_path, "--format", "nbgrader", "--assignment", "attention")
    assert [path.name for path in sorted((tmp_path / "source").iterdir())] == ["attention"]
    assert [path.name for path in sorted((tmp_path / "source" / "attention").iterdir())] == [
        "attention.ipynb", "softmax.py"
    ]  # fmt: skip


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
