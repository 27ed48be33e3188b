"""Checkpoints of others are read with care: whatever is wrong with a file gives one clear line, and little is read."""

import copy
import json
import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save
from support.calibration import peak_memory_below
from support.commands import invoke

from autograder.errors import UsageError
from autograder.models.pretrained import model_file
from autograder.models.training import checkpoint, checkpoint_list, runs, trainer
from autograder.models.training.sampling import Sampling

SETTINGS = {
    "preset": "names", "data": "names", "model": {"block_size": 8, "d_model": 16, "n_heads": 4}, "batch_size": 4,
    "lr": 0.1, "schedule": "constant", "steps": 3, "seed": 0, "prompt": "a", "data_sha256": "", "kind": "gpt",
    "shuffle_lines": False,
}  # fmt: skip
HEADER = {
    "format": checkpoint.FORMAT, "step": 2, "chars": ["a", "b", "\n"], "settings": SETTINGS, "order": ["W", "b"],
    "adamw_step": 2, "seconds": 1.0, "student": ["gpt"],
}  # fmt: skip
TENSORS = {f"{kind}.{name}": np.ones(size) for kind in ("params", "adamw.m", "adamw.v") for name, size in
           (("W", (2, 3)), ("b", 3))}  # fmt: skip
TENSORS |= {"history.losses": np.ones(2), "history.validation": np.array([[2, 0.5]])}


def write(path, header=HEADER, tensors=TENSORS):
    path.write_bytes(save(tensors, {"headway": header if isinstance(header, str) else json.dumps(header)}))
    return path


def test_load_of_a_saved_checkpoint_returns_what_was_saved(tmp_path):
    run = checkpoint.load(write(tmp_path / "m.safetensors"))
    checkpoint.save(tmp_path / "again.safetensors", run)
    again = checkpoint.load(tmp_path / "again.safetensors")
    assert (again.settings, again.chars, again.step, again.seconds) == (run.settings, ["a", "b", "\n"], 2, 1.0)
    assert (again.losses, again.validation, again.student) == ([1.0, 1.0], [(2, 0.5)], ["gpt"])
    assert again.state["step"] == 2 and np.array_equal(again.state["v"]["W"], TENSORS["adamw.v.W"])
    assert again.params["W"].shape == (2, 3) and again.params["W"].flags.writeable
    assert runs._written_in_all_steps(run, ["bpe", "gpt"]) == ["gpt"] and runs._written_in_all_steps(run, []) == []
    assert runs._written_in_all_steps(None, ["bpe"]) == runs._written_in_all_steps(replace(run, step=0), ["bpe"])
    run.losses, run.step = [*range(150)], 150
    assert [point.loss for point in run.curve()][::49] == [0.0, 24.5, 49.0, 97.5], "means of at most 100 steps"


@pytest.mark.parametrize(("kind", "prompt", "sampling", "message"), [
    ("bigram", "a", Sampling(top_k=1), "without --top-k"), ("bigram", "a", Sampling(top_p=0.5), "without --top-k"),
    ("encoder-decoder", "a", Sampling(), "Leave out --lines"), ("gpt", "", Sampling(), "the prompt is empty"),
    ("gpt", "ax", Sampling(), "'x' is not in"),
])  # fmt: skip
def test_lines_are_not_generated_with_what_the_model_cannot_do(tmp_path, kind, prompt, sampling, message):
    run = checkpoint.load(write(tmp_path / "m.safetensors"))
    run.settings.kind = kind
    with pytest.raises(UsageError, match=message):
        list(runs.generate_lines(tmp_path, run, prompt, 1, sampling))


def test_lines_that_are_generated_are_not_blank(tmp_path, monkeypatch):
    run = checkpoint.load(write(tmp_path / "m.safetensors"))
    monkeypatch.setattr(runs, "generate", lambda *_: (piece for piece in ("a", "b\n \n", "a\n", "b")))
    assert list(runs.generate_lines(tmp_path, run, None, 2, Sampling())) == ["ab", "a"]
    with pytest.raises(UsageError, match="only 2 lines ended within 3,000 characters"):
        list(runs.generate_lines(tmp_path, run, None, 3, Sampling()))


def test_training_reports_the_mean_loss_of_the_last_100_steps(tmp_path):
    a_trainer = object.__new__(trainer.Trainer)
    a_trainer.run = replace(checkpoint.load(write(tmp_path / "m.safetensors")), losses=[9.0, 1.0], validation=[])
    a_trainer.settings, a_trainer.sample = a_trainer.run.settings, lambda length: "text"
    a_trainer._request = lambda kind, count=0, **more: [2.0] * count if kind == "steps" else 1.5
    found = list(a_trainer.train(101, 50))
    assert (found[0].step, found[0].loss, found[0].validation, found[-1].loss) == (3, 4.0, None, 1.99)
    assert a_trainer.run.validation == [(50, 1.5), (100, 1.5), (101, 1.5)] and found[-1].sample == "text"


def test_checkpoint_before_the_first_measurement_can_be_read(tmp_path):
    run = checkpoint.load(write(tmp_path / "m.safetensors"))
    run.validation.clear()
    checkpoint.save(tmp_path / "m.safetensors", run)
    assert checkpoint.load(tmp_path / "m.safetensors").validation == []


def values(header, path=()):
    """Yield the path of each value in a header."""
    for key in header if isinstance(header, dict) else range(len(header)):
        yield (*path, key)
        if isinstance(header[key], dict | list):
            yield from values(header[key], (*path, key))


@pytest.mark.parametrize("path", [*values(HEADER)], ids=lambda path: ".".join(map(str, path)))
def test_load_with_any_value_replaced_gives_one_line(tmp_path, path):
    for junk in (None, 0, -1, 1.5, 10**30, "", "evil", [], ["evil"], {}, {"evil": 1}, True, ..., "\x1b]0;t\x07"):
        header = copy.deepcopy(HEADER)
        place = header
        for key in path[:-1]:
            place = place[key]
        if junk is ...:
            del place[path[-1]]
        else:
            place[path[-1]] = junk
        write(tmp_path / "m.safetensors", header)
        run, message = None, ""
        try:
            run = checkpoint.load(tmp_path / "m.safetensors")
        except UsageError as error:
            message = str(error)
        summary = checkpoint_list.summary(tmp_path / "m.safetensors")
        if run is None:
            assert "m.safetensors is not a checkpoint" in message and summary.step is None
            assert len(message.splitlines()) == 1 and len(message) < 600
        else:
            assert isinstance(run.settings.model, dict) and summary.step == run.step
            assert isinstance(run.chars, list) and all(isinstance(char, str) and len(char) == 1 for char in run.chars)


@pytest.mark.parametrize(("tensors", "expected"), [
    ({"history.losses": np.ones((2, 1))}, "shape"), ({"history.losses": np.ones(9)}, "longer than 2 steps"),
    ({"history.losses": np.ones(2, np.int32)}, "I32"), ({"history.validation": np.ones(4)}, "shape"),
    ({"history.validation": np.ones((9, 2))}, "longer than 2 steps"),
    ({"history.validation": np.array([[np.inf, 1.0]])}, "infinity"),
    ({"adamw.m.W": np.ones(7)}, "another shape"), ({"params.b": None}, "params.b"),
])  # fmt: skip
def test_load_with_wrong_tensors_gives_one_line(tmp_path, tensors, expected):
    changed = {name: array for name, array in (TENSORS | tensors).items() if array is not None}
    with pytest.raises(UsageError, match=expected):
        checkpoint.load(write(tmp_path / "m.safetensors", tensors=changed))


@pytest.mark.parametrize("header", ["[]", "[" * 99_999, "{", "1", '{"format": 1}', '{"format": "headway.model/1"}'])
def test_models_with_any_header_are_refused_in_one_line(tmp_path, header):
    path = write(tmp_path / "m.safetensors", header)
    for load in (checkpoint.load, model_file.load):
        with pytest.raises(UsageError) as caught:
            load(path)
        assert len(str(caught.value).splitlines()) == 1
    assert checkpoint_list.summary(path).kind == ""


def test_summary_of_a_long_run_reads_only_the_end_of_its_history(tmp_path):
    count = checkpoint.MOST_STEPS
    order = [*TENSORS]
    sizes = {name: TENSORS[name].nbytes for name in order} | {"history.losses": 8 * count}
    tensors, end = {}, 0
    for name in order:
        shape = [count] if name == "history.losses" else [*TENSORS[name].shape]
        tensors[name] = {"dtype": "F64", "shape": shape, "data_offsets": [end, end + sizes[name]]}
        end += sizes[name]
    header = json.dumps({"__metadata__": {"headway": json.dumps(HEADER | {"step": count})}, **tensors}).encode()
    path = tmp_path / "m.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with path.open("r+b") as file:
        file.truncate(8 + len(header) + end)
    with peak_memory_below(1_000_000):
        found = checkpoint_list.summary(path)
    assert (found.step, found.loss) == (count, 0.0)


def test_new_names_and_new_runs_replace_no_file(tmp_path):
    path = write(tmp_path / "m.safetensors")
    (tmp_path / "m-2.safetensors").symlink_to("nowhere")
    assert checkpoint_list.unused_path(path).name == "m-3.safetensors"
    with pytest.raises(UsageError, match=r"has 2 steps\. --resume continues it"):
        runs.require_new_checkpoint(path, False)
    runs.require_new_checkpoint(path, True)
    (tmp_path / "empty").touch()
    runs.require_new_checkpoint(tmp_path / "empty", False)


def test_models_are_listed_from_the_latest(tmp_path):
    for name, changed in (("a", 10), ("b", 30), ("c", 20), ("d", 20)):
        write(tmp_path / f"{name}.safetensors")
        os.utime(tmp_path / f"{name}.safetensors", (changed, changed))
    found = checkpoint_list.model_summaries(tmp_path)
    assert [model.name[0] for model in found] == ["b", "c", "d", "a"]
    shown = {(one.about, one.steps, one.loss, one.validation, one.seconds, one.parameters) for one in found}
    assert shown == {("names on names", 3, 1.0, 0.5, 1.0, 9)}


def test_summary_of_a_text_of_empty_lists_takes_little_memory(tmp_path):
    path = write(tmp_path / "m.safetensors", f'{{"format": "{checkpoint.FORMAT}", "chars": [{"[]," * 1_000_000}[]]}}')
    with peak_memory_below(20_000_000):
        assert checkpoint_list.summary(path).kind == ""


@pytest.mark.parametrize("command", ["card", "generate", "plot"])
def test_commands_with_a_checkpoint_without_history_give_one_line(tmp_path, command):
    path = write(tmp_path / "m.safetensors", HEADER | {"step": 0}, TENSORS | {"history.losses": np.zeros(0)})
    arguments = ("plot", "loss", "--checkpoint", path) if command == "plot" else (command, path)
    done = invoke(*arguments, "--solution", cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


def test_validation_is_measured_at_its_steps_whatever_the_speed(monkeypatch):
    settings = SimpleNamespace(batch_size=4, model={"block_size": 8}, lr=0.1, schedule="constant", steps=1000)
    training = object.__new__(trainer.Trainer)
    training.settings, training.run = settings, checkpoint.Checkpoint(settings, [], 0, {}, {})
    monkeypatch.setattr(training, "_request", lambda name, count=0, **_: [1.0] * count if name == "steps" else 2.0)
    monkeypatch.setattr(training, "sample", lambda length: "")
    assert len(list(training.train(1000, 70))) >= trainer.LEAST_UPDATES
    assert [step for step, _ in training.run.validation] == [*range(70, 1000, 70), 1000]
