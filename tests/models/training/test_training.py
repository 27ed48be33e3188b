"""Training and generation through the command line: exact resumption, interruption, error messages; datasets."""

import errno
import os
import re
import shutil
import sys
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.commands import HEADWAY, invoke, refusal, succeed
from support.raising import raising

from autograder.course.stubs import bundled
from autograder.courses.transformer.training import synthetic_corpus
from autograder.errors import UsageError
from autograder.models.training import checkpoint, datasets, in_terminal, runs
from autograder.models.training.trainer import Trainer
from autograder.sandbox.process import start_workers

pytestmark = pytest.mark.slow


def train(cwd, *arguments):
    return succeed("train", "--solution", "--data", "names", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished_run")
    done = train(folder, "--steps", "60", "--schedule", "cosine")
    return folder, checkpoint.load(folder / "model.safetensors"), done.stdout


def test_train_writes_checkpoint_and_loss_curve(finished_run):
    folder, run, output = finished_run
    assert run.step == len(run.losses) == 60
    assert run.losses[0] == pytest.approx(np.log(27), abs=0.4)
    assert np.mean(run.losses[-10:]) < np.mean(run.losses[:10])
    assert [step for step, _ in run.validation] == list(range(6, 61, 6))
    assert all(array.dtype == np.float32 for array in run.params.values())
    assert (folder / "model.png").read_bytes().startswith(b"\x89PNG")
    assert "validation" in output and "headway generate" in output


def test_diverged_run_says_which_step_and_rate_and_what_to_try(tmp_path):
    message = refusal("train", "--solution", "--data", "names", "--lr", "1000", cwd=tmp_path)
    assert re.search(r"the loss is nan at step \d+, with --lr 1000\. .*: --lr 0\.\d+\. ", message)
    assert "headway check training" in message and not (tmp_path / "model.safetensors").exists()


def test_train_resumed_equals_uninterrupted_run(finished_run, tmp_path):
    _, expected, _ = finished_run
    train(tmp_path, "--steps", "60", "--schedule", "cosine", "--out", "part.safetensors")
    assert checkpoint.load(tmp_path / "part.safetensors").losses == expected.losses, "training is not reproducible"
    # Stop between two measurements of the validation loss.
    with start_workers() as workers:
        trainer = Trainer(workers, bundled("solutions"), expected.settings)
        for _ in trainer.train(until=25, measure_every=6):
            pass
        checkpoint.save(tmp_path / "half.safetensors", trainer.checkpoint())
        trainer.close()
    train(tmp_path, "--resume", "--out", "half.safetensors")
    resumed = checkpoint.load(tmp_path / "half.safetensors")
    assert resumed.losses == expected.losses
    for name, array in expected.params.items():
        assert np.array_equal(resumed.params[name], array), name
    for average in ("m", "v"):
        for name, array in expected.state[average].items():
            assert np.array_equal(resumed.state[average][name], array), name


def test_bigram_run_is_compared_with_counts_and_resumes(tmp_path):
    arguments = ("train", "--solution", "--preset", "bigram", "--steps", "300")
    done = succeed(*arguments, cwd=tmp_path)
    losses = dict(re.findall(r"loss of (your table|counting): (\d\.\d{4}) on the training text", done.stdout))
    assert float(losses["counting"]) < float(losses["your table"]) < float(losses["counting"]) + 0.05
    whole = checkpoint.load(tmp_path / "model.safetensors")
    assert whole.settings.kind == "bigram" and whole.losses[0] == pytest.approx(np.log(27))
    assert whole.params["W"].shape == (27, 27)
    settings = {"--steps": "100", "--out": "part.safetensors"}
    invoke(*arguments[:-2], *(word for pair in settings.items() for word in pair), cwd=tmp_path)
    succeed(*arguments[:2], "--resume", "--steps", "300", "--out", "part.safetensors", cwd=tmp_path)
    part = checkpoint.load(tmp_path / "part.safetensors")
    assert part.losses == whole.losses
    assert np.array_equal(part.params["W"], whole.params["W"])
    text = invoke("generate", "model.safetensors", "--solution", "--length", "200", "--prompt", "ma", cwd=tmp_path)
    assert len(text.stdout) == 2 + 200 + 1 and text.stdout.count("\n") > 10
    assert "--top-k" in refusal("generate", "model.safetensors", "--solution", "--top-k", "3", cwd=tmp_path)
    certain = ("generate", "model.safetensors", "--solution", "--temperature", "0", "--length", "9", "--prompt", "q")
    assert invoke(*certain, cwd=tmp_path).stdout.startswith("qu")
    for command, message in (
        (("plot", "attention-heads", "--solution"), "holds a bigram model"),
        (("train", "--solution", "--preset", "bigram", "--schedule", "cosine"), "Leave out --schedule"),
    ):
        assert message in refusal(*command, cwd=tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_train_interrupted_saves_and_resumes(tmp_path):
    from support.terminal import Terminal

    command = [*HEADWAY, "train", "--solution", "--data", "names", "--steps", "1000000"]
    with closing(Terminal(command, tmp_path)) as terminal:
        terminal.wait_for(lambda screen: re.search(r"[1-9]\d*/1000000", screen))
        terminal.press("\x03")
        assert terminal.wait_end() == 0, terminal.screen()
        assert "Stopped at step" in terminal.screen()
        assert len(re.findall(r"\d+/1000000", terminal.screen())) == 1, terminal.screen()
        assert "^C" not in terminal.screen()
    run = checkpoint.load(tmp_path / "model.safetensors")
    assert 0 < run.step == len(run.losses) < 1_000_000
    train(tmp_path, "--resume", "--steps", run.step + 5)
    assert checkpoint.load(tmp_path / "model.safetensors").step == run.step + 5


def test_train_with_full_disk_rescues_checkpoint(finished_run, tmp_path, monkeypatch):
    _, run, _ = finished_run
    save = checkpoint.save

    def full(path, run):
        if path.parent == tmp_path:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(path, run)

    monkeypatch.setattr(checkpoint, "save", full)
    with pytest.raises(UsageError, match="No space left on device") as caught:
        runs._save(run, tmp_path / "model.safetensors")
    rescued = Path(re.search(r"checkpoint is in (.*): move", str(caught.value))[1])
    assert checkpoint.load(rescued).losses == run.losses
    shutil.rmtree(rescued.parent)


def test_run_that_ends_second_keeps_the_checkpoint_of_the_first(tmp_path):
    out, solutions = tmp_path / "model.safetensors", bundled("solutions")
    settings = runs.new_settings("bigram", steps=3)
    second = runs.records(solutions, settings, out, None, 3, threading.Event())
    next(second)
    for _ in runs.records(solutions, settings, out, None, 2, threading.Event()):
        pass
    with pytest.raises(UsageError, match=r"model-2\.safetensors$"):
        list(second)
    assert [checkpoint.load(path).step for path in (out, tmp_path / "model-2.safetensors")] == [2, 3]


def test_train_without_matplotlib_stops_before_training(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"install .*\"train\""):
        in_terminal.require_new_plot(tmp_path / "m.safetensors", False)


def test_generate_with_top_k_or_top_p_takes_the_likely_ones(finished_run):
    folder, _, _ = finished_run
    arguments = ("generate", "model.safetensors", "--solution", "--length", "30", "--prompt", "ada")
    greedy = invoke(*arguments, "--temperature", "0", cwd=folder).stdout
    for option in (("--top-k", "1"), ("--top-p", "0.0001")):
        assert invoke(*arguments, *option, cwd=folder).stdout == greedy
    assert invoke(*arguments, "--top-p", "0", cwd=folder).returncode == 2


def test_generate_continues_prompt_reproducibly_with_the_seed_that_it_says(finished_run):
    folder, run, _ = finished_run
    arguments = ("generate", "--solution", "--length", "50", "--prompt", "ada")
    done, other = (succeed(*arguments, cwd=folder) for _ in range(2))
    assert done.stdout.startswith("ada") and len(done.stdout) == 3 + 50 + 1
    assert set(done.stdout) <= set(run.chars) and other.stdout != done.stdout
    assert invoke(*arguments, *done.stderr.split()[-2:], cwd=folder).stdout == done.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_generate_in_a_terminal_asks_how_to_go_on(finished_run):
    from support.terminal import Terminal

    command = [*HEADWAY, "generate", "--solution", "--length", "20", "--seed", "1"]
    with closing(Terminal(command, finished_run[0], lines=120)) as terminal:
        for number, answer in enumerate(["", "t 0", "t nan", "n ada", "t 1", "n ada", "n ada", "q"], 1):
            shown = terminal.wait_for(lambda screen, number=number: screen.count("q: quit:") == number)
            terminal.press(f"{answer}\r")
        assert terminal.wait_end() == 0, terminal.screen()
    texts = [re.sub(r".*q: quit:.*\n", "", text) for text in re.split(r"\n(?=Enter: go on)", shown)]
    assert 0 < len(texts[1].strip()) <= 20 and "from 0 to 100" in texts[3] and texts[4].startswith("ada")
    assert texts[6].startswith("ada") and texts[6] != texts[7], "another seed each time"


@pytest.mark.parametrize(("arguments", "message"), [
    (["generate", "none.safetensors", "--solution"], "Train a model first: headway train"),
    (["generate", "text", "--solution"], "is not a checkpoint of headway train"),
    (["generate", "model.safetensors", "--solution", "--prompt", "Ω"], "'Ω' is not in"),
    (["generate", "model.safetensors", "--solution", "--prompt", ""], "the prompt is empty"),
    (["train", "--solution", "--preset", "huge"], "no such preset: 'huge'"),
    (["train", "--solution", "--data", "nmaes"], "Did you mean 'names'"),
    (["train", "--solution", "--preset", "shakespeare"], "headway data fetch tinyshakespeare"),
    (["train", "--solution", "--resume", "--steps", "10"], "60 steps"),
    (["train", "--dir", "stubs", "--data", "names"], "--solution"),
    (["train", "--solution", "--data", "names", "--out", "text/model"], "cannot write text/model"),
    (["train", "--solution", "--data", "names", "--out", "stubs"], "cannot write stubs (Is a directory)"),
    (["train", "--solution", "--data", "names", "--out", "other.png"], "--out other.safetensors"),
    (["data", "fetch", "synthetic"], "needs no download"),
])  # fmt: skip
def test_wrong_usage_gives_one_line_error(finished_run, arguments, message):
    folder, _, _ = finished_run
    (folder / "text").write_text("not a checkpoint")
    if not (folder / "stubs").exists():
        (folder / "stubs").symlink_to(bundled("assignments"))
    done = invoke(*arguments, cwd=folder, HEADWAY_DATA=str(folder / "no-data"))
    assert done.returncode == 2, done.stdout
    assert message in done.stderr and len(done.stderr.splitlines()) == 1


def test_plots_of_post_norm_model_work_or_say_why_not(tmp_path):
    train(tmp_path, "--preset", "post-norm", "--steps", "2")
    assert invoke("plot", "embedding-norms", "--solution", cwd=tmp_path).returncode == 0
    refused = refusal("plot", "ffn-hidden", "--solution", cwd=tmp_path)
    assert refused.splitlines()[-1].startswith("headway: this plot needs a pre-norm model")


def test_train_with_dropout_resumed_equals_uninterrupted_run(tmp_path):
    train(tmp_path, "--preset", "dropout", "--steps", "6", "--out", "whole.safetensors")
    train(tmp_path, "--preset", "dropout", "--steps", "3")
    train(tmp_path, "--steps", "6", "--resume")
    whole, resumed = (checkpoint.load(tmp_path / name) for name in ("whole.safetensors", "model.safetensors"))
    assert whole.losses == resumed.losses


def test_annotated_run_resumes_and_generates(tmp_path):
    for steps, out in (("6", "whole"), ("3", "model"), ("6", "model")):
        data = () if steps == "6" and out == "model" else ("--data", "digits", "--preset", "annotated")
        resume = () if data else ("--resume",)
        succeed(*("train", "--solution", *data, *resume, "--steps", steps, "--out", f"{out}.safetensors"), cwd=tmp_path)
    whole, resumed = (checkpoint.load(tmp_path / f"{name}.safetensors") for name in ("whole", "model"))
    assert whole.losses == resumed.losses
    assert whole.losses[0] > whole.losses[-1] > 1
    written = invoke("generate", "model.safetensors", "--solution", "--prompt", "314", cwd=tmp_path)
    assert re.fullmatch(r"314\d{0,3}\n", written.stdout) and "at most as long as the prompt" in written.stderr


def test_fetch_without_network_names_the_path(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_DATA", str(tmp_path))
    monkeypatch.setattr("pooch.retrieve", raising(OSError("unreachable")))
    with pytest.raises(UsageError, match="by hand") as caught:
        datasets.fetch("tinyshakespeare")
    assert str(tmp_path / "tinyshakespeare.txt") in str(caught.value)


def test_damaged_dataset_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "bundled", lambda folder: tmp_path)
    for name in ("names", "tinyshakespeare"):
        (tmp_path / f"{name}.txt").write_text("emma\n")
    downloaded = [partial(use, "tinyshakespeare") for use in (datasets.load, datasets.fetch)]
    for use in (partial(datasets.load, "names"), *downloaded):
        with pytest.raises(UsageError, match="SHA-256 differs"):
            use()


def test_load_shuffles_lines_by_seed():
    text = datasets.load("names", seed=0)
    assert text == datasets.load("names", seed=0) != datasets.load("names", seed=1)
    lines = text.splitlines()
    assert (len(lines), len(set(lines))) == (32_033, 29_494) and lines != sorted(lines)
    assert set(text) == set("abcdefghijklmnopqrstuvwxyz\n")


def surprisals(sample):
    """Return the negative log-probability of each character, in nats; infinite where it violates the grammar."""
    moves, state, weights = synthetic_corpus._machine().moves, 0, []
    for char in sample:
        weight, state = moves[state].get(char, (0, None)) if state is not None else (0, None)
        weights.append(weight)
        state = 0 if state is None and char in " \n" else state  # a new word begins
    with np.errstate(divide="ignore"):
        return np.log(64.0) - np.log(weights)


def test_synthetic_entropy_matches_its_text():
    surprisal = surprisals(synthetic_corpus.text(200_000, seed=1))
    error = surprisal.std() / np.sqrt(len(surprisal))
    assert abs(surprisal.mean() - synthetic_corpus.entropy_per_character()) < 5 * error
    assert synthetic_corpus.text(44, seed=0) == "vo pilidivy mavamo kanpotalu vipedi dyliten."
    assert np.isinf(surprisals("aaaa")).any()
    entropy = synthetic_corpus.entropy_per_character
    assert entropy(8) > entropy(32) > entropy()
