"""The third-party code of the lesson pages is what `make vendor` makes of the packages that the lock file names."""

import json
import re
import shutil
import subprocess

import pytest
from support.paths import ROOT

FRONTEND = ROOT / "autograder" / "web" / "site" / "frontend"
VENDOR = ROOT / "autograder" / "web" / "site" / "static" / "vendor"
PACKAGE = json.loads((FRONTEND / "package.json").read_text("utf-8"))
LOCK = json.loads((FRONTEND / "package-lock.json").read_text("utf-8"))["packages"]
INSTALLED = {name.removeprefix("node_modules/"): entry for name, entry in LOCK.items() if name}
BUNDLED = {name for name, entry in INSTALLED.items() if not entry.get("dev")}


def test_every_direct_dependency_is_pinned_exactly():
    wanted = PACKAGE["dependencies"] | PACKAGE["devDependencies"]
    assert wanted["codemirror"] == "6.0.2"
    assert {name for name, version in wanted.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)} == set()
    assert {name: INSTALLED[name]["version"] for name in wanted} == wanted


def test_every_package_has_a_digest_and_none_another_source():
    for name, entry in INSTALLED.items():
        assert entry["integrity"].startswith("sha512-"), name
        assert entry.get("resolved", "https://registry.npmjs.org/").startswith("https://registry.npmjs.org/"), name


def test_licenses_of_all_bundled_packages_are_shipped():
    text = (VENDOR / "LICENSES.txt").read_text("utf-8")
    shipped = dict(re.findall(r"^([@\w/-]+) (\d+\.\d+\.\d+)$", text, re.M))
    assert {name: INSTALLED[name]["version"] for name in shipped} == shipped
    # What remains is what other packages require without our using it.
    assert set(shipped) ^ BUNDLED == {"crelt", "@codemirror/lint", "@codemirror/search", "@codemirror/streamparser"}
    assert len(re.findall("Permission is hereby granted", text)) == len(shipped)


def test_bundles_are_small_and_evaluate_no_text():
    sizes = {path.name: path.stat().st_size for path in VENDOR.glob("*.js")}
    assert sizes["codemirror.js"] < 450_000 and sizes["minisearch.js"] < 25_000
    for name in sizes:
        code = (VENDOR / name).read_text("utf-8")
        assert not re.search(r"\bimport\s*\(|\beval\s*\(|XMLHttpRequest|new Function", code), name


@pytest.mark.drawn(0)
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed: nothing can rebuild the bundles")
def test_vendor_rebuilt_from_the_lock_file_is_identical(tmp_path):
    for path in FRONTEND.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    installed = subprocess.run(["npm", "ci"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    if installed.returncode:
        pytest.skip(f"npm cannot install the packages here: {installed.stderr.strip().splitlines()[-1]}")
    out = tmp_path / "out"
    subprocess.run(["node", "build.mjs", out], cwd=tmp_path, capture_output=True, check=True, timeout=120)
    assert {path.name for path in out.iterdir()} == {path.name for path in VENDOR.iterdir() if path.suffix != ".ts"}
    for path in out.iterdir():
        assert path.read_bytes() == (VENDOR / path.name).read_bytes(), f"{path.name} is out of date: make vendor"
