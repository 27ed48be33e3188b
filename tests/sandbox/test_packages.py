"""Test that submissions can import the packages that a course allows, what these need, and nothing else."""

import json
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.commands import headway
from support.editing import write_files
from support.paths import ROOT

from autograder.classroom.exporters import gradescope
from autograder.classroom.policy.model import PackagesPolicy, Policy
from autograder.core.versions import installed_version
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.student import StudentCode
from autograder.errors import UsageError
from autograder.sandbox import probe
from autograder.sandbox.limits import Limits
from autograder.sandbox.packages import AllowedPackages, allowed_packages
from autograder.sandbox.policy import SandboxPolicy
from autograder.sandbox.process import SpawnedWorkers, start_workers

POLICY = '[packages]\nallow = ["matplotlib"]\n[assignments.softmax]\n'
DRAWS = """
import importlib.util, io
import numpy as np
import matplotlib.pyplot as plt

def softmax(x):
    figure, axes = plt.subplots()
    axes.set_title("drawn")
    axes.plot(x)
    figure.savefig(io.BytesIO())
    found = [name for name in ("PIL", "torch", "autograder", "pytest") if importlib.util.find_spec(name)]
    return np.asarray(figure.canvas.buffer_rgba()).std(), found
"""


@pytest.mark.slow
@pytest.mark.parametrize("level", [*probe.LEVELS, (), ("spawned",)], ids="+".join)
def test_allowed_package_draws_and_nothing_else_is_found(submission, tmp_path, level):
    packages = allowed_packages(("matplotlib",))
    sandbox = SandboxPolicy.unconfined(packages)
    if level and level != ("spawned",):
        sandbox, problems = probe.prove(level, tmp_path, packages)
        if sandbox is None:
            pytest.skip(str(problems))
    with (SpawnedWorkers if level == ("spawned",) else start_workers)(sandbox) as workers:
        student = StudentCode(workers, submission(softmax=DRAWS), TRANSFORMER, Limits())
        contrast, found = student.softmax.softmax([1.0, 3.0, 2.0])
        student.close()
    assert contrast > 1 and found == ["PIL"]


@pytest.mark.slow
def test_class_and_workspace_import_what_the_policy_allows_and_record_versions(tmp_path):
    code = "import matplotlib\nassert matplotlib.__version__\n" + (ROOT / "solutions/softmax.py").read_text("utf-8")
    for folder in ("class/ada", "work"):
        write_files(tmp_path / folder, {"softmax.py": code, "course.toml": POLICY})
    (tmp_path / "class" / "course.toml").write_text(POLICY)
    grade = ("grade", "class", "--out", "out", "--seed", "0", "-j", "1", "--unsafe-no-sandbox")
    headway(*grade, cwd=tmp_path)
    headway("check", "softmax.softmax", "--dir", "work", "--json", "work.json", cwd=tmp_path)
    for file in ("out/results/ada.json", "work.json"):
        document = json.loads((tmp_path / file).read_text())
        assert document["packages"] == {"matplotlib": installed_version("matplotlib")}
        assert document["passed"]
    (tmp_path / "class" / "course.toml").write_text(POLICY.replace('"matplotlib"', ""))
    headway(*grade, cwd=tmp_path)
    again = json.loads((tmp_path / "out/results/ada.json").read_text())
    assert again["packages"] == {} and again["points"]["earned"] == 0


@pytest.mark.parametrize(("name", "reason"), [
    ("no_such_package", "is installed here"), ("autograder", "give away answers"),
])  # fmt: skip
def test_package_that_cannot_be_allowed_is_refused_by_name(name, reason):
    with pytest.raises(UsageError, match=rf"\[packages\] allow: .*{name} .*{reason}"):
        allowed_packages((name,))


def test_packages_that_another_needs_are_allowed_but_no_optional_ones(monkeypatch, tmp_path):
    files = {"a": "a/__init__.py", "b": "b.py", "c": "c.py", "d": "../bin/d"}
    requires = {"a": ["b>=1; python_version > '3'", "c; extra == 'c'", "missing[x]>2"], "b": ["d (>1)", "a"]}
    (tmp_path / "a").mkdir()
    for name in "bcd":
        (tmp_path / f"{name}.py").touch()

    def distribution(name):
        if name not in files:
            raise metadata.PackageNotFoundError(name)
        given = {"requires": requires.get(name), "files": [Path(files[name])], "locate_file": tmp_path.joinpath}
        return SimpleNamespace(name=name, version="1", **given)

    monkeypatch.setattr(metadata, "packages_distributions", lambda: {name: [name] for name in files})
    monkeypatch.setattr(metadata, "distribution", distribution)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    found = allowed_packages.__wrapped__(("a",))
    assert (found.versions, found.modules, found.folders) == ((("a", "1"),), ("a", "b", "d"), (str(tmp_path),))
    assert found.paths == (tmp_path / "a", tmp_path / "b.py")
    assert found.child_setup()["allowed"]["first"] == ["a"] and AllowedPackages().child_setup() == {}
    plot = AllowedPackages(("matplotlib", "a")).child_setup()["allowed"]["first"]
    assert plot == ["matplotlib", "a", "matplotlib.pyplot"]


def test_gradescope_installs_what_the_policy_allows():
    settings = gradescope.GradescopeSettings(policy=gradescope.policy_text(Policy(packages=PackagesPolicy(("PIL",)))))
    versions = {f"{name}=={installed_version(name)}" for name in ("numpy", "msgspec", "pillow")}
    assert versions <= {*gradescope._requirements(settings)}
    assert allowed_packages(()) == AllowedPackages()
