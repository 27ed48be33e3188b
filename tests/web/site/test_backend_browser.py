"""The JavaScript of the static site's back end, in Node: with fakes, and with npm's Pyodide, which has no NumPy."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from autograder.course import registry
from autograder.web.site import pyodide_bundle

FOLDER = Path(__file__).parent / "browser"
NODE, NPM = shutil.which("node"), shutil.which("npm")


def node(*arguments, timeout=300):
    if NODE is None:
        pytest.skip("Node is not installed: nothing can run JavaScript without a browser")
    version = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.match(r"v(\d+)", version)[1]) < 20:
        pytest.skip(f"these tests need Node 20 or later, this is {version.strip()}")
    return subprocess.run([NODE, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["backend_browser", "browser_downloads"])
def test_tests_in_javascript_pass(name):
    run = node("--test", FOLDER / f"{name}.test.mjs")
    assert run.returncode == 0, run.stdout


@pytest.fixture(scope="module")
def node_modules(tmp_path_factory):
    if NPM is None:
        pytest.skip("npm is not installed: nothing can load Pyodide")
    folder = tmp_path_factory.mktemp("npm")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FOLDER / name, folder)
    run = subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=folder, capture_output=True, text=True, timeout=300)
    if run.returncode:
        pytest.skip(f"npm cannot install Pyodide here: {run.stderr.strip().splitlines()[-1]}")
    return folder / "node_modules"


@pytest.mark.slow
@pytest.mark.drawn(0)
def test_digests_are_those_of_the_package(node_modules):
    package = node_modules / "pyodide"
    assert json.loads((package / "package.json").read_text())["version"] == pyodide_bundle.VERSION
    for name, size, digest in pyodide_bundle.CORE:
        content = (package / name).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (size, digest), name
    lock = json.loads((package / "pyodide-lock.json").read_text())
    assert lock["info"]["python"].startswith(f"{pyodide_bundle.PYTHON}.")
    wheels = {entry["file_name"]: entry["sha256"] for entry in lock["packages"].values()}
    for name, _, digest in pyodide_bundle.WHEELS:
        assert wheels[name] == digest


@pytest.mark.slow
def test_worker_unpacks_the_archive_and_imports_what_needs_no_numpy(node_modules, tmp_path):
    archive = tmp_path / pyodide_bundle.ARCHIVE
    archive.write_bytes(pyodide_bundle.browser_files(registry.default())[pyodide_bundle.ARCHIVE])
    run = node(FOLDER / "pyodide_without_numpy.mjs", node_modules, archive)
    assert run.returncode == 0, run.stderr[-1000:]
    found = json.loads(run.stdout.splitlines()[-1])
    stages, last = found["messages"][:-1], found["messages"][-1]
    assert stages == ["stage python", "stage unpacked"]
    assert last.startswith("1 PythonError") and "No module named 'numpy'" in last
    assert found["python"] == {
        "stopped": '  File "/home/pyodide/my-gpt/loop.py", line 1 in <module>\n',
        "restored": len(registry.default().modules), "stub": True, "hints": 3, "solution": True, "answers": ["softmax"],
        "files": ["backups/softmax-1.py", "softmax.py"], "has thread_time": False, "int": 2**31 - 1,
    }  # fmt: skip
