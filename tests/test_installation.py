"""Messages name a command that installs an extra for this very installation."""

import importlib.metadata
import json
import platform
import shutil
import sys

import pytest
from support.commands import headway

from autograder import installation
from autograder.cli import diagnostics
from autograder.report.doctor import Diagnostic, as_markdown, without_private_data


@pytest.fixture
def installed_from(monkeypatch, tmp_path):
    """Pretend that Headway was installed from somewhere, by the tool that writes `receipt` into its environment."""

    real = importlib.metadata.distribution

    def pretend(origin=None, receipt="", content=""):
        text = None if origin is None else json.dumps(origin)
        origin_file = type("Distribution", (), {"read_text": lambda self, file: text})()
        monkeypatch.setattr(
            importlib.metadata, "distribution", lambda name: origin_file if name == "headway" else real(name)
        )
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
        monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
        monkeypatch.setattr(shutil, "which", lambda name: str(tmp_path / "bin" / name))
        if receipt:
            (tmp_path / receipt).write_text(content)
        installation._origin.cache_clear()
        return installation.install_command("torch")

    yield pretend
    installation._origin.cache_clear()


@pytest.mark.parametrize(
    ("origin", "receipt", "command"),
    [
        (None, "", "pip install 'headway[torch]'"),
        (None, "uv-receipt.toml", "uv tool install --force 'headway[torch]'"),
        (None, "pipx_metadata.json", "pipx install --force 'headway[torch]'"),
        ({"url": "file:///a/my%20clone", "dir_info": {"editable": True}}, "", "pip install -e '/a/my clone[torch]'"),
        ({"url": "file:///a/headway.whl", "archive_info": {}}, "", "pip install '/a/headway.whl[torch]'"),
        (
            {"url": "https://example.org/h.git", "vcs_info": {"vcs": "git"}},
            "uv-receipt.toml",
            "uv tool install --force 'headway[torch] @ git+https://example.org/h.git'",
        ),
        ({"url": 7}, "", "pip install 'headway[torch]'"),
    ],
)
def test_install_command_fits_the_installation(installed_from, origin, receipt, command):
    assert installed_from(origin, receipt) == command


UV = '[tool]\nrequirements = [{ name = "headway", extras = ["train", "class"], path = "/a/headway.whl" }]'
PIPX = json.dumps({"main_package": {"package_or_url": "/a/headway.whl[train, torch]"}})


@pytest.mark.parametrize(
    ("receipt", "content", "command"),
    [
        ("uv-receipt.toml", UV, "uv tool install --force '/a/headway.whl[train,class,torch]'"),
        ("uv-receipt.toml", "[tool]\nrequirements = 7", "uv tool install --force '/a/headway.whl[torch]'"),
        ("pipx_metadata.json", PIPX, "pipx install --force '/a/headway.whl[train,torch]'"),
        ("pipx_metadata.json", '{"main_package": []}', "pipx install --force '/a/headway.whl[torch]'"),
    ],
)
def test_install_command_keeps_the_extras_of_a_tool(installed_from, receipt, content, command):
    assert installed_from({"url": "file:///a/headway.whl", "archive_info": {}}, receipt, content) == command


def test_install_command_in_uvx_runs_it_again(installed_from, monkeypatch, tmp_path):
    installed_from()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "archive-v0" / "IdnSZhm"))
    assert installation.install_command("site") == "uvx --from 'headway[site]' headway"
    assert ", with uvx, " in installation.describe()


def test_install_command_in_the_clone_is_short(installed_from, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert installed_from({"url": tmp_path.as_uri(), "dir_info": {"editable": True}}) == "pip install -e '.[torch]'"


def test_install_command_without_an_active_environment_names_python(installed_from, monkeypatch, tmp_path):
    installed_from()
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/pip")
    assert installation.install_command("torch") == f"{tmp_path}/bin/python -m pip install 'headway[torch]'"


def test_doctor_names_the_other_distribution(monkeypatch):
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "3.7.7" if name == "autograder" else version(name))
    finding = diagnostics._headway()
    assert not finding.ok and not finding.optional
    assert "autograder 3.7.7" in finding.text
    assert finding.fix.startswith("pip uninstall autograder, then ")


def test_doctor_without_the_other_distribution_shows_the_version():
    assert diagnostics._headway().ok


def test_doctor_report_contains_no_private_data(monkeypatch, tmp_path):
    home = tmp_path / "secret-name"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USER", "secret-name")
    monkeypatch.setenv("HEADWAY_CACHE", str(home / "cache"))
    monkeypatch.setattr(platform, "node", lambda: "secret-host")
    findings = [
        Diagnostic("cache", False, f"cannot write to {home}/cache (Permission denied)", optional=True),
        Diagnostic("sandbox", True, "works on secret-host for secret-name"),
        Diagnostic("numpy", True, "2.4.6"),
    ]
    text = as_markdown(findings, diagnostics.environment())
    assert "secret" not in text and str(tmp_path) not in text
    assert "- numpy: 2.4.6" in text and "HEADWAY_CACHE" in text and "Permission denied" in text


def test_doctor_report_names_every_finding_without_private_data(tmp_path):
    home = tmp_path / "alice.secret"
    folder = home / "Grades of Bob"
    folder.mkdir(parents=True)
    private = {"HOME": str(home), "HEADWAY_CACHE": str(folder / "Bob's cache"), "HEADWAY_TOKEN_OF_BOB": "token-4711"}
    done = headway("doctor", "--report", cwd=folder, USER="alice.secret", LOGNAME="alice.secret", **private)
    assert done.returncode == 0
    for name in ("numpy", "student process", "sandbox level", "system", "installed"):
        assert f"- {name}: " in done.stdout
    assert "- cache: can be written" in done.stdout
    for word in ("alice", "bob", "secret", "grades of", "4711", str(tmp_path).lower()):
        assert word not in done.stdout.lower()


@pytest.mark.parametrize("place", ["/srv/Bob/x.py", "…/Bob/x", r"C:\Bob\x.txt", "alice-laptop", "alice-laptop.local"])
def test_report_leaves_out_paths_and_machine_names(place, monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "alice-laptop.local")
    text = without_private_data(f"works on {place}: 3 µs")
    assert "Bob" not in text and "alice" not in text
    assert text.startswith("works on") and "3 µs" in text
