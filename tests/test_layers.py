"""The floors of the house: who may import whom. The contracts are in pyproject.toml."""

from importlinter.cli import lint_imports
from support.paths import ROOT


def test_every_import_goes_down(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    broken = lint_imports(config_filename="pyproject.toml", no_cache=True, no_logo=True)
    assert not broken, capsys.readouterr().out
