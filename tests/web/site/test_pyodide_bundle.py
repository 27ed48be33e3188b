"""The files that a browser gets: enough for every action of a page, and nothing else."""

import hashlib
import json
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

import msgspec
import numpy
import pytest
import regex
from support.paths import ROOT

from autograder.course import registry
from autograder.errors import UsageError
from autograder.web.site import pyodide_bundle

pytestmark = pytest.mark.slow

COURSE = registry.default()


@pytest.fixture(scope="module")
def files():
    return pyodide_bundle.browser_files(COURSE)


@pytest.fixture(scope="module")
def unpacked(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site-packages")
    with tarfile.open(fileobj=BytesIO(files["headway.bin"])) as archive:
        archive.extractall(folder)
    for package in (numpy, regex):
        for source in Path(package.__file__).parents[1].glob(f"{package.__name__}*"):
            if not source.name.endswith(".dist-info"):
                (folder / source.name).symlink_to(source)
    return folder


def test_archive_is_small_and_the_same_each_time(files):
    assert len(files["headway.bin"]) < 900_000 and len(files["training.bin"]) < 150_000
    assert {name: pyodide_bundle.browser_files(COURSE)[name] for name in files} == files


def test_archive_holds_only_what_a_page_needs(files):
    with tarfile.open(fileobj=BytesIO(files["headway.bin"])) as archive:
        names = archive.getnames()
    assert {name.partition("/")[0] for name in names} == {"autograder", "pytest.py"}
    of_web_and_models = ("web/serve", "web/site", "models/page", "models/plots", "models/pretrained", "models/training")
    unwanted = ("classroom", "cli", "notebooks", "report/html", *of_web_and_models)
    assert all((ROOT / "autograder" / part).is_dir() for part in unwanted)
    assert not [name for name in names if name.startswith(tuple(f"autograder/{part}/" for part in unwanted))]
    assert not [name for name in names if name.endswith(".memo")]


def test_index_states_the_digest_of_each_file(files):
    index = json.loads(files["pyodide.json"])
    *downloads, headway, training = index["downloads"]
    for entry in (headway, training, *index["answers"].values()):
        content = files[entry["url"]]
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (entry["sha256"], entry["bytes"])
    assert [bool(entry.get("training")) for entry in downloads] == ["msgspec" in entry["name"] for entry in downloads]
    hosts = {entry["url"].partition("/pyodide")[0] for entry in downloads}
    assert hosts == {"https://cdn.jsdelivr.net/npm", "https://cdn.jsdelivr.net"}
    assert list(index["answers"]) == list(COURSE.modules) and index["needs"]["softmax"] == ["softmax"]
    assert index["needs"]["attention"] == ["softmax", "attention"]


# Runs in an interpreter that has NumPy, `regex`, the standard library and the archive, and no processes.
PROGRAM = """
import json, os, socket, subprocess, sys
del os.fork, socket.socketpair
subprocess.Popen.__init__ = None
sys.path.insert(0, sys.argv[1])
from autograder.web.browser.page import BrowserPage
page = BrowserPage(sys.argv[2], lambda event: None)
ask = lambda action, **payload: json.loads(page.answer(action, json.dumps(payload)))
ask("start")
answers = {}
while sys.argv[3] == "train" and (answers or ask("train", preset="small", steps=5, solution=True)):
    answers = ask("advance")
    if not answers["reply"]["busy"]:
        sys.exit(answers["events"][-1]["error"])
for module in json.loads(sys.argv[3]):
    answers[f"open {module}"] = ask("open", module=module)
name = "layernorm.layernorm"
cell = answers["open layernorm"]["reply"]["cells"][name]
text = cell["text"].replace(f'raise NotImplementedError("{name}")', "return x, {}")
answers["save"] = ask("save", function=name, text=text, digest=cell["digest"])
answers["check"] = ask("check", function=name)
for action in ("hint", "reset", "solution"):
    answers[action] = ask(action, function=name, more=True, give_up=True)
answers["plots"] = ask("plots", module="attention")
for plot in answers["plots"].get("reply", {}).get("plots", []):
    answers["draw"] = ask("draw", name=plot["name"])
answers["export"] = ask("export")
answers["import"] = ask("import", base64=answers["export"]["reply"]["base64"])
print(json.dumps({name: answer.get("error") for name, answer in answers.items()}))
print(answers["check"]["reply"]["report"]["headline"])
"""


def test_archive_and_numpy_are_enough_for_every_action(unpacked, files, tmp_path):
    answers = unpacked / "autograder/courses/transformer/layernorm/answers.memo"
    answers.write_bytes(files["memo/layernorm.memo"])
    modules = json.dumps(list(COURSE.modules))
    command = [sys.executable, "-I", "-S", "-c", PROGRAM, str(unpacked), str(tmp_path / "my-gpt")]
    environment = {"HOME": str(tmp_path), "HEADWAY_DATA": str(tmp_path)}
    options = {"capture_output": True, "text": True, "cwd": tmp_path, "env": environment}
    run = subprocess.run([*command, modules], **options)
    assert run.returncode == 0, run.stderr
    errors, headline = run.stdout.splitlines()
    found = {name: error for name, error in json.loads(errors).items() if error}
    assert found.pop("draw").endswith("which is not written yet.") and not found
    assert "checks failed" in headline
    with tarfile.open(fileobj=BytesIO(files["training.bin"])) as archive:
        archive.extractall(unpacked)
    for source in Path(msgspec.__file__).parents[1].glob("msgspec*"):
        (unpacked / source.name).symlink_to(source)
    run = subprocess.run([*command, "train"], **options)
    assert run.returncode == 0, run.stderr


def test_folder_with_pyodide_is_used_in_place_of_the_cdn(tmp_path):
    with pytest.raises(UsageError, match=r"has no pyodide\.mjs"):
        pyodide_bundle.folder_files(tmp_path)
    for name, _, _ in (*pyodide_bundle.CORE, *pyodide_bundle.WHEELS[:2]):
        (tmp_path / name).write_bytes(b'version="0.28.3"')
    entries = pyodide_bundle.from_files(pyodide_bundle.folder_files(tmp_path))
    assert [entry["url"] for entry in entries][:2] == ["../pyodide/pyodide.mjs", "../pyodide/pyodide.asm.js"]
    assert entries[0]["sha256"] == hashlib.sha256(b'version="0.28.3"').hexdigest()
    assert [entry["wheel"] for entry in entries] == [False] * 4 + [True] * 2
    (tmp_path / "pyodide.mjs").write_bytes(b'version="0.29.0"')
    with pytest.raises(UsageError, match="another version"):
        pyodide_bundle.folder_files(tmp_path)
