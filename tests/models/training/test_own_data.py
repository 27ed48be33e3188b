"""Training for one's own ideas: text files, settings, runs and their comparison."""

import ast
import json

import pytest
from support.commands import invoke, refusal, succeed

from autograder.course.stubs import bundled
from autograder.courses.transformer.training import hyperparameters
from autograder.courses.transformer.training.settings import PRESETS
from autograder.errors import UsageError
from autograder.models.training import checkpoint, datasets, runs

CLASSES = {"gpt": "GPTConfig", "llama": "LlamaConfig", "encoder-decoder": "TransformerConfig"}
FILES = {"gpt": "gpt", "llama": "llama", "encoder-decoder": "encoder_decoder"}
CITIES = "paris\nrome\noslo\nbern\nlima\n" * 40


@pytest.mark.parametrize("preset", ["names", "bias-free-attention", "llama"])
def test_presets_of_names_use_the_text_that_is_shipped(preset):
    assert datasets.is_available(datasets.DATASETS[PRESETS[preset].data])
    assert not datasets.DATASETS[PRESETS[preset].data].url


@pytest.mark.parametrize("kind", CLASSES)
def test_hyperparameters_are_the_fields_of_the_configuration(kind):
    tree = ast.parse((bundled("solutions") / f"{FILES[kind]}.py").read_text("utf-8"))
    (config,) = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == CLASSES[kind])
    fields = {node.target.id for node in config.body if isinstance(node, ast.AnnAssign)}
    fields = {name for name in fields if not name.startswith("vocab_")} | {"block_size"}
    assert set(hyperparameters.HYPERPARAMETERS[kind]) == fields


def change(preset, *assignments):
    return hyperparameters.changed_model(PRESETS[preset], assignments)


def test_changed_model_has_typed_values():
    model = change("names", "d-model=64", "n_layers = 2", "tied=TRUE", "dropout=0.1", "bias=b_o,b_1")
    assert model == {**PRESETS["names"].model, "d_model": 64, "n_layers": 2, "tied": True, "dropout": 0.1,
                     "bias": "b_o,b_1"}  # fmt: skip
    assert type(model["tied"]) is bool and type(model["d_model"]) is int


@pytest.mark.parametrize(("preset", "assignment", "message"), [
    ("names", "d_modle=64", "Did you mean 'd_model'"), ("names", "n_layers=two", "from 1 to 48"),
    ("names", "n_layers=0", "from 1 to 48"), ("names", "init_std=nan", "above 0"), ("names", "dropout=1", "below 1"),
    ("names", "tied=maybe", "true or false"), ("names", "norm=middle", "pre or post"),
    ("names", "d_model", "--set d_model=VALUE"), ("names", "lr=0.1", "Use --lr 0.1"),
    ("names", "batch_size=4", "Use --batch-size 4"), ("names", "n_heads=3", "--set d_model=63"),
    ("names", "d_model=4096", "50 million"), ("names", "d_model=32 d_model=64", "set twice"),
    ("llama", "d_model=20", "--set d_model=16"), ("llama", "n_kv_heads=3", "--set n_kv_heads=2"),
    ("llama", "norm=pre", "no such setting: 'norm'"), ("bigram", "d_model=8", "no settings to change"),
])  # fmt: skip
def test_changed_model_refuses_what_cannot_work(preset, assignment, message):
    with pytest.raises(UsageError) as caught:
        change(preset, *assignment.split())
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("content", "message"), [
    (None, "no such file"), (b"", "is empty"), (b" \n\n", "is empty"), (b"a\0b", "not a text"),
    ("grüße".encode("latin-1"), "not encoded as UTF-8 (line 1)"), ("text".encode("utf-16"), "UTF-16"),
    (b"short\n", "too short: it has 6 characters, and at least 161"),
])  # fmt: skip
def test_data_file_that_cannot_be_used_gives_one_line(tmp_path, content, message):
    if content is not None:
        (tmp_path / "own.txt").write_bytes(content)
    done = refusal("train", "--solution", "--data", "own.txt", cwd=tmp_path)
    assert message in done and "own.txt" in done


def test_text_of_the_required_length_is_long_enough():
    datasets.require_length("x" * 161, 16, "own.txt")
    with pytest.raises(UsageError, match="at least 161"):
        datasets.require_length("x" * 160, 16, "own.txt")


def test_data_folder_and_large_file_give_one_line(tmp_path, monkeypatch):
    (tmp_path / "texts.d").mkdir()
    assert "--data FILE" in refusal("train", "--solution", "--data", "texts.d", cwd=tmp_path)
    monkeypatch.setattr(datasets, "LARGEST", 10)
    (tmp_path / "own.txt").write_text(CITIES)
    assert "too large" in invoke("train", "--solution", "--data", "own.txt", cwd=tmp_path).stderr


def test_read_text_file_drops_byte_order_mark_and_carriage_returns(tmp_path):
    (tmp_path / "own.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\rc")
    assert datasets.read_text_file(tmp_path / "own.txt") == "a\nb\nc"


def test_dataset_wins_over_file_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits").write_text("x")
    assert not datasets.is_file("digits") and datasets.is_file("./digits")


def test_prompt_of_samples_consists_of_known_characters(tmp_path):
    path = tmp_path / "line.txt"
    path.write_text("one long line without an end " * 20)
    assert runs.new_settings("names", data=str(path)).prompt == "o"


def test_sorted_lines_are_noticed_and_can_be_shuffled(tmp_path):
    path = tmp_path / "sorted.txt"
    path.write_text("".join(f"{first}{second}na\n" for first in "abcdefgh" for second in "abcdefgh"))
    assert "--shuffle-lines" in datasets.advice_about_lines(runs.new_settings("names", data=str(path)))[0]
    shuffled = runs.new_settings("names", data=str(path), shuffle_lines=True)
    assert datasets.advice_about_lines(shuffled) == []
    assert sorted(datasets.text_of(shuffled)) == sorted(path.read_text()) != list(datasets.text_of(shuffled))
    with pytest.raises(UsageError, match="--shuffle-lines"):
        runs.new_settings("names", shuffle_lines=True)


@pytest.fixture(scope="module")
def own_runs(tmp_path_factory):
    """A folder with a run on a file of the user's, and one with other settings."""
    folder = tmp_path_factory.mktemp("own_runs")
    (folder / "cities.txt").write_text(CITIES)
    common = ("train", "--solution", "--data", "cities.txt", "--steps", "30")
    changed = ("--set", "d_model=32", "--set", "n_layers=3", "--lr", "0.003", "--batch-size", "8")
    for arguments in (("--out", "a.safetensors"), (*changed, "--out", "b.safetensors")):
        succeed(*common, *arguments, cwd=folder)
    return folder


@pytest.mark.slow
def test_train_with_own_settings_uses_and_records_them(own_runs):
    run = checkpoint.load(own_runs / "b.safetensors")
    assert run.settings.model["d_model"] == 32 and run.settings.batch_size == 8 and run.settings.lr == 0.003
    assert 32 in {size for array in run.params.values() for size in array.shape}
    assert not any(name.startswith("blocks.3") for name in run.params)
    assert run.seconds > 0
    assert run.student == []  # --solution: nothing is the student's


@pytest.mark.slow
def test_runs_lists_settings_losses_and_time(own_runs):
    lines = invoke("runs", cwd=own_runs, COLUMNS="140").stdout.splitlines()
    (listed,) = (line for line in lines if line.startswith("b.safetensors"))
    assert "n_layers=3 d_model=32 batch_size=8 lr=0.003" in listed and listed.endswith(" s")
    assert "plot loss a.safetensors b.safetensors" in lines[-1]
    narrow = invoke("runs", cwd=own_runs, COLUMNS="60").stdout
    assert "names on cities.txt" in narrow and max(map(len, narrow.splitlines()[:-1])) <= 60
    documents = json.loads(invoke("runs", "--json", "-", cwd=own_runs).stdout)
    assert {run["name"]: run["step"] for run in documents} == {"a.safetensors": 30, "b.safetensors": 30}


def test_runs_in_folder_without_runs_says_how_to_start_one(tmp_path):
    (tmp_path / "damaged.safetensors").write_text("x")
    done = invoke("runs", cwd=tmp_path)
    assert done.returncode == 0 and "headway train" in done.stdout


@pytest.mark.slow
def test_plot_loss_compares_runs(own_runs):
    done = succeed("plot", "loss", "a.safetensors", "b.safetensors", "--out", "both.svg", cwd=own_runs)
    assert "b.safetensors: 30 steps" in done.stdout and "not quite comparable" not in done.stdout
    assert (own_runs / "both.svg").read_text().startswith("<?xml")
    for arguments, message in (
        (("attention-heads", "a.safetensors", "b.safetensors"), "headway plot loss A B"),
        (("softmax-temperatures", "a.safetensors"), "does not show a trained model"),
        (("loss", *["a.safetensors"] * 7), "at most 6"),
        (("loss", "a.safetensors", "none.safetensors"), "cannot read none.safetensors"),
    ):
        assert message in refusal("plot", *arguments, "--solution", cwd=own_runs)


@pytest.mark.slow
def test_generate_needs_no_text_file(own_runs, tmp_path):
    (tmp_path / "a.safetensors").write_bytes((own_runs / "a.safetensors").read_bytes())
    succeed("generate", "a.safetensors", "--solution", "--length", "20", cwd=tmp_path)
    assert "Compare" not in succeed("runs", cwd=tmp_path).stdout, "there is one run"
    resume = ("train", "--solution", "--resume", "--out", "a.safetensors", "--steps")
    assert "no such file: cities.txt" in refusal(*resume, "40", cwd=tmp_path)
    succeed(*resume, "40", "--data", own_runs / "cities.txt", cwd=tmp_path)
    (tmp_path / "changed.txt").write_text(CITIES + "rome\n")
    assert "has changed since" in refusal(*resume, "50", "--data", "changed.txt", cwd=tmp_path)


@pytest.mark.slow
def test_generate_lines_gives_that_many(own_runs):
    common = ("generate", "b.safetensors", "--solution")
    done = succeed(*common, "--lines", "5", cwd=own_runs)
    assert len(done.stdout.splitlines()) == 5 and all(map(str.strip, done.stdout.splitlines()))
    assert "exclude each other" in refusal(*common, "--lines", "5", "--length", "9", cwd=own_runs)


@pytest.mark.parametrize(("option", "value"), [
    ("--preset", "llama"), ("--set", "d_model=8"), ("--lr", "1"), ("--batch-size", "2"), ("--seed", "0"),
    ("--schedule", "constant"),
])  # fmt: skip
def test_resume_refuses_settings(tmp_path, option, value):
    done = refusal("train", "--solution", "--resume", option, value, cwd=tmp_path)
    assert f"keeps its settings, so {option} " in done
