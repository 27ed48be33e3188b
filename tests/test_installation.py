"""One way to install Headway, for every message and file, and never by its bare name from a package index."""

import importlib.metadata
import json
import platform
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.bare_installs import bare_installs
from support.commands import headway, invoke, refusal, succeed
from support.paths import ROOT

from autograder import installation
from autograder.classroom.exporters import gradescope
from autograder.cli import diagnostics
from autograder.errors import missing_package
from autograder.report.doctor import Diagnostic, as_markdown

ADDRESS = "https://example.org/h"
URLS = [f"Documentation, {ADDRESS}/blob/HEAD/docs/students.md", f"Repository, {ADDRESS}"]
# What people read or run; `tests` and the vendored code tell nobody what to install.
SHIPPED = ("autograder", "assignments", "solutions", "docs", "data", ".github", ".ci", ".devcontainer")
SHIPPED += ("README.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASING.md", "CHANGELOG.md", "Dockerfile", "Makefile")


@pytest.fixture
def installed(monkeypatch):
    """Pretend that pip recorded an origin for Headway, and that its metadata has addresses."""
    real = importlib.metadata.distribution
    kept = {name: getattr(real("headway"), name) for name in ("version", "requires")}

    def pretend(origin=None, urls=()):
        read_text = {"direct_url.json": None if origin is None else json.dumps(origin)}.get
        metadata = SimpleNamespace(get_all={"Project-URL": list(urls)}.get)
        fake = SimpleNamespace(read_text=read_text, metadata=metadata, **kept)
        monkeypatch.setattr(importlib.metadata, "distribution", lambda name: fake if name == "headway" else real(name))

    return pretend


def test_install_step_names_the_guide_of_this_headway(installed):
    installed()
    assert installation.install_step("torch").startswith('install Headway\'s extra "torch"')
    assert "## Installing\n" in Path(installation.guide()).read_text("utf-8")
    installed(urls=URLS)
    assert f"{ADDRESS}/blob/HEAD/docs/students.md" in installation.install_step()


def test_guide_lists_every_extra():
    guide = (ROOT / "docs" / "students.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for extra in project["optional-dependencies"].keys() - {"dev", "style"}:
        assert f"| `{extra}` |" in guide


@pytest.mark.parametrize(("origin", "urls", "requirement"), [
    (None, (), ""), (None, URLS, f"headway @ git+{ADDRESS}@v{importlib.metadata.version('headway')}"),
    ({"url": "file:///a/clone", "dir_info": {"editable": True}}, (), ""),
    ({"url": f"{ADDRESS}.git", "vcs_info": {"vcs": "git", "commit_id": "1ab"}}, URLS, f"git+{ADDRESS}.git@1ab"),
    ({"url": "file:///a/clone", "vcs_info": {"vcs": "git", "commit_id": "1ab"}}, (), ""), (7, (), ""),
])  # fmt: skip
def test_requirement_is_an_address_or_empty(installed, origin, urls, requirement):
    installed(origin, urls)
    found = installation.requirement()
    assert found.endswith(requirement) and bool(found) == bool(requirement)
    assert not found or not installation.names_no_address(found)


@pytest.mark.parametrize("name", ["", "headway", "headway==0.1.0", "Headway[train] >= 0.1", "headway; os_name > 'a'"])
def test_release_github_without_an_address_is_refused(installed, name, tmp_path):
    installed()
    release = ("release", tmp_path / "a", "--format", "github", "--assignment", "softmax")
    said = refusal(*release, *(("--install", name) if name else ()))
    assert "--install" in said and ("a package of an index" in said) == bool(name) and not (tmp_path / "a").exists()


@pytest.mark.parametrize("text", ["./headway-0.1.0-py3-none-any.whl", f"headway @ git+{ADDRESS}", "my-fork==1"])
def test_requirement_with_an_address_is_accepted(text):
    assert not installation.names_no_address(text)


@pytest.mark.slow
def test_shipped_texts_never_install_headway_by_bare_name():
    roots = [ROOT / name for name in SHIPPED]
    files = [file for root in roots for file in ([root] if root.is_file() else sorted(root.rglob("*")))]
    kinds = {"", ".md", ".py", ".j2", ".txt", ".yml", ".json", ".toml", ".html", ".js", ".ipynb", ".sh", ".svg"}
    skipped = {"node_modules", "vendor", "__pycache__"}
    files = [f for f in files if f.is_file() and f.suffix in kinds and not skipped & set(f.parts)]
    assert len(files) > 500
    found = {str(file.relative_to(ROOT)): bare_installs(file.read_text("utf-8")) for file in files}
    assert {name: places for name, places in found.items() if places} == {}


@pytest.mark.slow
def test_generated_files_never_install_headway_by_bare_name(installed, tmp_path):
    installed(urls=URLS)
    made = succeed("release", tmp_path / "github", "--format", "github", "--assignment", "softmax")
    assert invoke("init", tmp_path / "workspace", "--assignment", "softmax").returncode == 0
    gradescope.write_autograder(tmp_path / "grader.zip", gradescope.GradescopeSettings())
    with zipfile.ZipFile(tmp_path / "grader.zip") as archive:
        for name in ("setup.sh", "run_autograder", "Dockerfile", "requirements.txt"):
            archive.extract(name, tmp_path / "grader")
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file.suffix not in (".zip", ".svg")]
    texts = {str(f.relative_to(tmp_path)): (f.read_text("utf-8"), f.name == "requirements.txt") for f in files}
    assert {"github/requirements.txt", "grader/requirements.txt", "workspace/README.md"} <= texts.keys()
    found = {name: bare_installs(text, requirements=lists) for name, (text, lists) in texts.items()}
    assert {name: places for name, places in found.items() if places} == {}
    assert bare_installs(made.stdout) == []


@pytest.mark.slow
def test_messages_never_install_headway_by_bare_name():
    messages = [str(missing_package("x", extra)) for extra in ("train", "class", "site")]
    messages += [finding.fix for finding in diagnostics.run_diagnostics()]
    assert [place for message in messages for place in bare_installs(message)] == []


@pytest.mark.parametrize("text", [
    "<pre>pip install 'headway[train,serve]'\nheadway init x", 'f"It installs headway=={version} from PyPI"',
    "python -m pip install --upgrade numpy headway", "Type `pipx\n  install headway`, then",
    "uv tool install --force 'headway[a]'", "uvx headway --version", "pipx run --spec headway headway",
])  # fmt: skip
def test_bare_install_is_found(text):
    assert len(bare_installs(text)) == 1


def test_doctor_names_the_other_distribution(monkeypatch):
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "3.7.7" if name == "autograder" else version(name))
    finding = diagnostics._headway()
    assert not finding.ok and not finding.optional and "autograder 3.7.7" in finding.text
    assert finding.fix.startswith("pip uninstall autograder, then ")


def test_doctor_without_the_other_distribution_shows_the_version():
    assert diagnostics._headway().ok


@pytest.mark.slow
def test_doctor_report_names_every_finding_without_private_data(tmp_path):
    home = tmp_path / "alice.secret"
    folder = home / "Grades of Bob"
    folder.mkdir(parents=True)
    private = {"HOME": str(home), "HEADWAY_CACHE": str(folder / "Bob's cache"), "HEADWAY_TOKEN_OF_BOB": "token-4711"}
    private |= {"USER": "alice.secret", "LOGNAME": "alice.secret"}
    done = succeed("doctor", "--report", cwd=folder, **private, run=headway)
    for name in ("numpy", "student process", "sandbox level", "system", "installed"):
        assert f"- {name}: " in done.stdout
    assert "- cache: can be written" in done.stdout and "HEADWAY_CACHE" in done.stdout
    for word in ("alice", "bob", "secret", "grades of", "4711", str(tmp_path).lower()):
        assert word not in done.stdout.lower()


@pytest.mark.parametrize("place", [
    "/srv/Bob/x.py", "…/Bob/x", r"C:\Bob\x.txt", "alice-laptop", "alice-laptop.local", "Alice", "/home/alice/cache",
    "carol",
])  # fmt: skip
def test_report_leaves_out_paths_and_names_of_user_and_machine(place, monkeypatch):
    for name, value in {"HOME": "/home/alice", "USER": "alice", "LOGNAME": "carol"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(platform, "node", lambda: "alice-laptop.local")
    text = as_markdown([Diagnostic("cache", False, f"fails on {place} (Permission denied): 3 µs")], {})
    assert not any(word in text.lower() for word in ("bob", "alice", "carol"))
    assert "- cache: fails on" in text and "(Permission denied): 3 µs" in text
