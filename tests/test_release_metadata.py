"""The released package names the repository that it was built in, and its README has no broken link."""

import re
import sys
import tarfile
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest
from support.commands import run_program
from support.paths import ROOT

pytest.importorskip("hatchling")

REPOSITORY = "https://github.example/owner/headway"
WORKFLOW = {"GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "owner/headway"}


def build(source, out, kind):
    run_program(sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", out, source)


def metadata(field):
    return run_program(sys.executable, "-m", "hatchling", "metadata", field, cwd=ROOT).stdout


@pytest.fixture
def outside_workflow(monkeypatch):
    for name in WORKFLOW:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def in_workflow(monkeypatch):
    for name, value in WORKFLOW.items():
        monkeypatch.setenv(name, value)


@pytest.mark.slow
def test_metadata_outside_a_workflow_invents_no_address(outside_workflow):
    assert metadata("urls").strip() == "{}"
    assert metadata("readme").strip() == (ROOT / "README.md").read_text("utf-8").strip()


@pytest.mark.slow
def test_metadata_readme_in_a_workflow_has_only_absolute_links(in_workflow):
    text = metadata("readme")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert f"{REPOSITORY}/blob/HEAD/docs/students.md" in links
    assert all(link.startswith(("https://", "#")) for link in links)
    assert re.search(rf"!\[[^\]]+\]\({REPOSITORY}/raw/HEAD/data/report\.svg\)", text)
    for path in re.findall(rf"{REPOSITORY}/(?:blob|raw)/HEAD/([^)#]+)", text):
        assert (ROOT / path).exists(), path


@pytest.mark.slow
def test_wheel_of_a_released_sdist_keeps_the_addresses(tmp_path, in_workflow, monkeypatch):
    build(ROOT, tmp_path, "sdist")
    [archive] = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    for name in WORKFLOW:
        monkeypatch.delenv(name)
    build(tmp_path / archive.name.removesuffix(".tar.gz"), tmp_path, "wheel")
    [wheel] = tmp_path.glob("*.whl")
    with ZipFile(wheel) as file:
        [name] = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        message = message_from_bytes(file.read(name))
    urls = dict(url.split(", ") for url in message.get_all("Project-URL"))
    assert urls.keys() == {"Repository", "Issues", "Documentation", "Changelog"}
    assert urls["Repository"] == REPOSITORY
    for url in urls.values():
        assert url == REPOSITORY or url.startswith(f"{REPOSITORY}/")
        path = url.partition("/blob/HEAD/")[2]
        assert Path(ROOT, path).exists()
    assert f"{REPOSITORY}/blob/HEAD/docs/students.md" in message.get_payload()
