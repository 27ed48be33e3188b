"""Training runs and generated text for a page, each in a process of its own."""

import os
import shutil
from contextlib import closing

import numpy as np
import pytest
from support.commands import invoke, succeed
from support.editing import edit
from support.training_page import LONG, TINY, Page
from support.waiting import wait_until

from autograder.course.stubs import bundled
from autograder.courses.transformer.common.pretrained.description import ModelDescription, ModelTokenizer
from autograder.errors import UsageError
from autograder.models.page import job as training_job
from autograder.models.pretrained import model_file
from autograder.models.training import checkpoint, runs
from autograder.models.training.sampling import Sampling
from autograder.models.training.trainer import Trainer
from autograder.sandbox.process import start_workers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(shared_folder):
    return shared_folder


@pytest.fixture(scope="module")
def trained(folder):
    """The name of a checkpoint of 40 steps, and the page that trained it."""
    page = Page(folder)
    with closing(page.runs):
        assert page.train(**TINY, seed=3, out="trained")["error"] is None
    return "trained.safetensors", page


def test_run_emits_its_progress_and_writes_a_checkpoint(trained, folder):
    name, page = trained
    start, updates, end = page.of_kind("training-started")[0], page.of_kind("training"), page.events[-1]
    assert start["checkpoint"] == name and start["start"]["until"] == 40
    assert "official solution" in start["start"]["using"]
    assert {update["steps"] for update in updates} == {40}
    assert [update["step"] for update in updates if update["validation"] is not None] == [4 * i for i in range(1, 11)]
    assert all(update["sample"] for update in updates if update["validation"] is not None)
    run = checkpoint.load(folder / name)
    assert end | {"notes": []} == {
        "event": "training-ended", "run": 1, "step": 40, "checkpoint": name, "stopped": False, "error": None,
        "notes": [],
    }  # fmt: skip
    assert any("counting" in note for note in end["notes"])
    assert updates[-1]["loss"] == pytest.approx(np.mean(run.losses))
    assert updates[-1]["validation"] == run.validation[-1][1]


def test_run_equals_that_of_the_command(trained, folder):
    succeed("train", "--solution", "--preset=bigram", "--steps=40", "--seed=3", "--out=same.safetensors", cwd=folder)
    mine, other = checkpoint.load(folder / trained[0]), checkpoint.load(folder / "same.safetensors")
    assert mine.losses == other.losses
    assert np.array_equal(mine.params["W"], other.params["W"])


def test_existing_checkpoint_is_not_overwritten(trained, folder, page):
    name, _ = trained
    before = (folder / name).read_bytes()
    conflict = page("train", **TINY, out="trained")["conflict"]
    assert (conflict["checkpoint"], conflict["step"], conflict["resumable"]) == (name, 40, True)
    assert conflict["suggestion"] == "trained-2.safetensors"
    assert (folder / name).read_bytes() == before
    assert page.events == []


def test_stopped_run_is_saved_and_resumes(folder, page):
    page("train", **LONG, out="part")
    page.wait("training", 2)
    with pytest.raises(UsageError, match="a run is in progress"):
        page("train", **TINY, out="second")
    assert page("training")["run"]["state"] == "running"
    assert page("stop")["stopping"]
    end = page.wait("training-ended")
    assert end["stopped"] and end["checkpoint"] == "part.safetensors"
    part = checkpoint.load(folder / "part.safetensors")
    assert part.step == end["step"] == len(part.losses)
    assert not page("stop")["stopping"]
    with pytest.raises(UsageError, match="Give a larger number"):
        page("train", out="part", steps=part.step, resume=True)
    longer = part.step + 7
    assert page.train(out="part", steps=longer, resume=True, solution=True)["step"] == longer
    history = page("training")["run"]["history"]
    steps = [point["step"] for point in history]
    assert steps == sorted(set(steps)) and steps[-1] == longer and steps[0] <= part.step
    assert len(checkpoint.load(folder / "part.safetensors").losses) == longer


def test_run_stopped_without_saving_leaves_nothing(folder, page):
    page("train", **LONG, out="nothing")
    page.wait("training")
    page("stop", save=False)
    end = page.wait("training-ended")
    assert end["stopped"] and end["checkpoint"] is None and end["error"] is None
    assert not (folder / "nothing.safetensors").exists()


def test_end_of_the_server_saves_the_run(folder):
    page = Page(folder)
    page("train", **LONG, out="ended")
    page.wait("training")
    process = page.runs._training._process
    page.runs.close()
    assert process.poll() == 0
    assert checkpoint.load(folder / "ended.safetensors").step > 0
    with pytest.raises(UsageError, match="headway serve"):
        page("train", **TINY, out="later")


@pytest.mark.skipif(os.name == "nt", reason="needs kill")
def test_killed_process_is_reported(page):
    page("train", **LONG, out="killed")
    page.wait("training")
    page.runs._training._process.kill()
    assert "not enough memory" in page.wait("training-ended")["error"]
    assert page("training")["run"]["state"] == "ended"


def test_process_that_cannot_stop_is_killed(page, monkeypatch):
    monkeypatch.setattr(training_job, "SECONDS_TO_SAVE", 0.01)
    page("train", **LONG, out="slow")
    page.wait("training")
    process = page.runs._training._process
    page.runs.close()
    wait_until(lambda: process.poll() is not None)


def test_student_code_is_used_where_it_passes(new_workspace, tmp_path):
    work = new_workspace(tmp_path / "w")
    page = Page(work)
    with closing(page.runs):
        end = page.train(preset="bigram", steps=5)
        assert end["error"].startswith("a bigram model runs on your own functions")
        assert "--solution" not in end["error"]
        for module in ("tokenizer", "counting", "softmax", "bigram"):
            (work / f"{module}.py").write_bytes((bundled("solutions") / f"{module}.py").read_bytes())
        (work / "json.py").write_text("raise SystemExit('imported by the process')")
        assert page.train(preset="bigram", steps=5)["error"] is None
        assert "your code for every assignment" in page.of_kind("training-started")[0]["start"]["using"]


def test_loss_that_is_nan_ends_the_run_with_one_line(tmp_path):
    work = shutil.copytree(bundled("solutions"), tmp_path / "work")
    # Checks pass, and a real run diverges: only its tables are so large.
    edit(work / "bigram.py", "def bigram_loss(", "def _loss(")
    with (work / "bigram.py").open("a", encoding="utf-8") as file:
        file.write("\n\ndef bigram_loss(x, y, W):\n    loss, grad = _loss(x, y, W)\n")
        file.write("    return (loss * np.nan, grad) if len(x) == 500 else (loss, grad)\n")
    page = Page(work)
    with closing(page.runs):
        end = page.train(preset="bigram", steps=5)
    assert end["error"].startswith("the loss is nan at step 1, with --lr ") and "\n" not in end["error"]
    assert not (work / "model.safetensors").exists()


def test_generated_text_equals_that_of_the_command(trained, folder, page):
    options = {"length": 60, "prompt": "ma", "temperature": 0.8, "seed": 3}
    page("generate", checkpoint="trained", solution=True, **options)
    assert page.wait("generation-ended")["error"] is None
    pieces = [event["text"] for event in page.of_kind("generation")]
    assert len(pieces) > 5
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    done = invoke("generate", "trained.safetensors", "--solution", *words, cwd=folder)
    assert "".join(pieces) == done.stdout.removesuffix("\n")


def test_generation_with_a_gpt_is_the_same_in_pieces_of_any_size(solutions):
    for preset in ("names", "llama"):
        settings = runs.new_settings(preset, data="names", steps=2)
        with start_workers() as workers, closing(Trainer(workers, solutions, settings)) as trainer:
            texts = {"".join(trainer.pieces("ma", 40, Sampling(seed=1), size)) for size in (1, 7, 40)}
        assert len(texts) == 1, preset


def test_generation_stops_on_request(trained, page):
    page("generate", checkpoint="trained", solution=True, length=10_000)
    page.wait("generation", 2)
    with pytest.raises(UsageError, match="text is being"):
        page("generate", checkpoint="trained", solution=True)
    page("stop", generation=True)
    wait_until(lambda: page.of_kind("generation-ended"))
    assert not page("training")["generating"]


def test_imported_model_generates(folder, page):
    config = {"vocab_size": 95, "block_size": 16, "n_layers": 1, "n_heads": 2, "d_model": 8, "d_ff": 32,
              "activation": "gelu", "tied": True}  # fmt: skip
    tokenizer = ModelTokenizer([*map(chr, range(33, 127)), "Ġ"], [])  # GPT-2's characters for bytes in ASCII
    description = ModelDescription("gpt2", "tiny", config, tokenizer, [])
    shapes, rng = description.shapes, np.random.default_rng(0)
    data = (rng.normal(0, 0.3, shape).astype(np.float32).tobytes() for shape in shapes.values())
    formats = {name: ("F32", shape) for name, shape in shapes.items()}
    model_file.save(folder / "tiny.safetensors", description, formats, data)
    (listed,) = (model for model in page("checkpoints")["checkpoints"] if model["name"] == "tiny.safetensors")
    assert listed["kind"] == "imported"
    page("generate", checkpoint="tiny.safetensors", prompt="to be", length=6, solution=True)
    end = page.wait("generation-ended")
    assert end["error"] is None
    assert page.of_kind("generation")[0]["text"] == "to be"
    assert "tokens per second" in end["notes"][0]
    assert page("train", **TINY, out="tiny")["conflict"]["resumable"] is False
