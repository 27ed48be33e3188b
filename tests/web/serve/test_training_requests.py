"""What a page may ask of training runs, the state that a reload gets, and the lines of the loss curve."""

import itertools
import math
import threading
from contextlib import closing

import numpy as np
import pytest
from support.training_page import Page

from autograder.courses.transformer.training.settings import PRESET_DESCRIPTIONS, PRESETS
from autograder.documents.records import LossPoint
from autograder.errors import UsageError
from autograder.models.page import process as training_process
from autograder.models.training import baselines, checkpoint, checkpoint_list, datasets, runs
from autograder.models.training.checkpoint import Checkpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("requests")


@pytest.mark.parametrize(
    "name",
    ["../evil", "a/b", "/etc/passwd", "..", ".", "", ".hidden", "a\\b", "a\0b", "x" * 200, "a..b", "-o", "C:evil",
     "a b", "ä\u202eb", "link", "linked-file", "folder"],
)  # fmt: skip
@pytest.mark.parametrize("action", ["train", "resume", "generate"])
def test_names_that_are_paths_or_links_are_refused(folder, page, action, name, tmp_path):
    outside = tmp_path / "outside.safetensors"
    outside.write_bytes(b"")
    for link, target in (("link", outside), ("linked-file", tmp_path / "missing")):
        (folder / f"{link}.safetensors").unlink(missing_ok=True)
        (folder / f"{link}.safetensors").symlink_to(target)
    (folder / "folder.safetensors").mkdir(exist_ok=True)
    name = f"{name}.safetensors" if name == "" else name
    payload = {"checkpoint": name} if action == "generate" else {"out": name, "resume": action == "resume"}
    with pytest.raises(UsageError) as caught:
        page("generate" if action == "generate" else "train", **payload, solution=True)
    assert "\n" not in str(caught.value)
    assert outside.read_bytes() == b"" and not (tmp_path / "missing").exists()
    listed = {model["name"] for model in page("checkpoints")["checkpoints"]}
    assert not {"link.safetensors", "linked-file.safetensors", "folder.safetensors"} & listed


@pytest.mark.parametrize("linked", ["gpt.py", "gpt.ipynb", "notebooks", "notebooks/gpt.ipynb"])
@pytest.mark.parametrize(("action", "payload"), [("train", {"out": "new"}), ("generate", {"checkpoint": "model"})])
def test_run_with_linked_files_of_an_assignment_is_refused(tmp_path, action, payload, linked):
    (tmp_path / "w" / "notebooks").mkdir(parents=True)
    if linked == "notebooks":
        (tmp_path / "w" / linked).rmdir()
    (tmp_path / "w" / linked).symlink_to(tmp_path / "outside")
    page = Page(tmp_path / "w")
    with closing(page.runs), pytest.raises(UsageError, match=f"{linked} is a link"):
        page(action, **payload)


def test_resumed_run_reads_no_text_outside_of_the_workspace(tmp_path):
    text = tmp_path / "secret.txt"
    text.write_text("abc\n" * 100)
    settings = runs.new_settings("bigram", data=str(text), steps=9)
    checkpoint.save(tmp_path / "m.safetensors", Checkpoint(settings, ["a"], 3, {"W": np.zeros(1)}, {}, [1.0] * 3))
    (tmp_path / "w").mkdir()
    (tmp_path / "m.safetensors").rename(tmp_path / "w" / "m.safetensors")
    run = training_process.RunRequest("bigram", out="m.safetensors", resume=True, solution=True)
    (end,) = training_process.work(training_process.PageJob(str(tmp_path / "w"), run), threading.Event())
    assert "not in the workspace" in end["error"]


def test_generation_uses_every_setting_of_a_request(folder, monkeypatch):
    given = []
    monkeypatch.setattr(training_process.runs, "generate", lambda *how: given.extend(how) or (one for one in ()))
    saved = Checkpoint(runs.new_settings("bigram", steps=9), ["a"], 3, {"W": np.zeros(1)}, {}, [1.0] * 3)
    checkpoint.save(folder / "saved.safetensors", saved)
    text = training_process.TextRequest("saved.safetensors", "ma", 60, 0.5, 3, 0.25, 11, solution=True)
    list(training_process.work(training_process.PageJob(str(folder), text=text), threading.Event()))
    assert given[2:5] == ["ma", 60, training_process.Sampling(temperature=0.5, top_k=3, top_p=0.25, seed=11)]


@pytest.mark.parametrize(("action", "payload", "message"), [
    ("train", {"preset": "huge"}, "no such preset"), ("train", {"preset": 3}, "preset must be a text"),
    ("train", {"data": "nmaes"}, "no such dataset"), ("train", {"data": "../names"}, "no such dataset"),
    ("train", {"steps": 0}, "steps must be a whole number from 1"), ("train", {"steps": True}, "steps must be"),
    ("train", {"steps": 1.5}, "steps must be"), ("train", {"steps": 10**12}, "steps must be"),
    ("train", {"seed": -1}, "seed must be"), ("train", {"resume": "yes"}, "resume must be true or false"),
    ("train", {"workspace": "/tmp"}, "something unknown"),
    ("train", {"out": "absent", "resume": True}, "Start a new run"),
    ("train", {"out": "text", "resume": True}, "cannot be resumed|not a run"), ("stop", {"save": 1}, "save must be"),
    ("training", {"x": 1}, "something unknown"), ("checkpoints", {"folder": "/"}, "something unknown"),
    ("generate", {}, "checkpoint is missing"), ("generate", {"checkpoint": "absent"}, "Train a model first"),
    ("generate", {"checkpoint": "m", "temperature": -1}, "temperature must be"),
    ("generate", {"checkpoint": "m", "temperature": math.nan}, "temperature must be"),
    ("generate", {"checkpoint": "m", "top_k": 0}, "top_k must be"),
    ("generate", {"checkpoint": "m", "top_p": 0}, "top_p must be"),
    ("generate", {"checkpoint": "m", "length": 10**6}, "length must be"),
    ("generate", {"checkpoint": "m", "prompt": "x" * 10_001}, "prompt must be"),
    ("generate", {"checkpoint": ["m"]}, "checkpoint must be"),
])  # fmt: skip
def test_wrong_payload_gives_one_line(folder, page, action, payload, message):
    (folder / "text.safetensors").write_text("not a model")
    with pytest.raises(UsageError, match=message) as caught:
        page(action, **payload)
    assert "\n" not in str(caught.value)
    assert page.runs._training is None and page.runs._generation is None


def test_text_that_was_not_downloaded_is_named(page, monkeypatch, tmp_path):
    monkeypatch.setenv("HEADWAY_DATA", str(tmp_path))
    with pytest.raises(UsageError, match="headway data fetch tinyshakespeare"):
        page("train", preset="names", data="tinyshakespeare", out="other", solution=True)
    offered = {dataset["name"]: dataset["available"] for dataset in page("training")["datasets"]}
    assert offered["names"] and not offered["tinyshakespeare"]


def test_counting_loss_is_that_of_the_official_functions():
    settings = runs.new_settings("bigram", steps=1)
    text = datasets.load(settings.data, settings.seed)
    codes = {char: i for i, char in enumerate(sorted(set(text)))}
    ids = np.array([codes[char] for char in text])
    train, val = np.split(ids, [int(len(ids) * 0.9)])
    counts = np.ones((27, 27))
    for pair in itertools.pairwise(train):
        counts[pair] += 1
    probs = counts / counts.sum(axis=1, keepdims=True)
    # The pair across the border of the two texts is counted with neither; one of 6,000 pairs hardly matters.
    expected = -np.log(probs[val[:-1], val[1:]]).mean()
    lines = baselines.baselines(settings, text)
    assert lines["counting pairs"] == pytest.approx(expected, abs=1e-9)
    assert lines["uniform guess: log 27"] == math.log(27)


def test_numbers_that_json_cannot_hold_are_left_out(folder):
    settings = runs.new_settings("bigram", steps=4)
    saved = Checkpoint(settings, ["a"], 3, {"W": np.zeros(1)}, {}, [2.0, 1.0, math.inf], [(2, 1.5), (3, math.nan)])
    checkpoint.save(folder / "inf.safetensors", saved)
    listed = checkpoint_list.summary(folder / "inf.safetensors")
    assert (listed.step, listed.loss, listed.validation) == (3, None, None)
    assert saved.curve() == [LossPoint(1, 2.0), LossPoint(2, 1.5, 1.5)]


def test_every_preset_is_described():
    assert set(PRESET_DESCRIPTIONS) == set(PRESETS)
