"""The import contracts in pyproject.toml hold."""

from importlinter.cli import lint_imports
from support.paths import ROOT


def test_import_contracts_hold(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    broken = lint_imports(config_filename="pyproject.toml", no_cache=True, no_logo=True)
    assert not broken, capsys.readouterr().out
