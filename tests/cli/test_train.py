"""`headway train`, `generate`, `bench` and `data`, with the student's own modules where they pass."""

import json
import shutil

import pytest
from support.commands import invoke

pytestmark = pytest.mark.slow


@pytest.fixture
def workspace(tmp_path):
    assert invoke("init", tmp_path / "ada").returncode == 0
    return tmp_path / "ada"


def test_train_uses_the_modules_that_pass(workspace, solutions):
    arguments = ("train", "--data", "given-names", "--steps", "20")
    done = invoke(*arguments, cwd=workspace, COLUMNS="200")
    assert done.returncode == 2  # nothing is written yet
    assert "--solution" in done.stderr
    for name in ("tokenizer", "softmax"):
        shutil.copy(solutions / f"{name}.py", workspace)
    done = invoke(*arguments, cwd=workspace, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    (sources,) = (line for line in done.stdout.splitlines() if "tokenizer, softmax" in line)
    assert "embeddings" in sources.partition("tokenizer, softmax")[2]


def test_train_and_generate_award_badges_once(workspace, solutions):
    for path in solutions.glob("*.py"):
        shutil.copy(path, workspace)
    done = invoke("train", "--data", "given-names", "--steps", "400", "--out", "n.safetensors", cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert "★" in done.stdout
    generate = ("generate", "n.safetensors", "--length", "100")
    assert "★" in invoke(*generate, cwd=workspace).stderr
    assert invoke(*generate, cwd=workspace).stderr == ""
    assert {"loss", "name"} <= set(json.loads((workspace / ".headway.json").read_text())["badges"])


def test_bigram_trains_only_with_functions_that_pass(workspace, solutions):
    arguments = ("train", "--preset", "bigram", "--steps", "200")
    for name in ("tokenizer", "softmax"):
        shutil.copy(solutions / f"{name}.py", workspace)
    done = invoke(*arguments, cwd=workspace)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "headway check bigram" in done.stderr
    shutil.copy(solutions / "bigram.py", workspace)
    done = invoke(*arguments, cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert "Using your code" in done.stdout
    assert "★" in done.stdout
    assert "loss of counting" in done.stdout
    assert "★" in invoke("generate", "model.safetensors", cwd=workspace).stderr


def test_bench_compares_with_pytorch(tmp_path):
    done = invoke(
        "bench", "--solution", "--preset", "names", "--rounds", "2", "--seconds", "0.05", "--json", "line.json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "PyTorch" in done.stdout
    line = json.loads((tmp_path / "line.json").read_text())
    assert line["schema"] == "headway.bench/1"
    assert line["ratio"] == pytest.approx(line["tokens_per_second"] / line["torch_tokens_per_second"])
    assert line["apart"] < 1e-3
    assert sum(line["functions"].values()) == pytest.approx(1, abs=0.01)
    assert line["slowest"] in line["functions"]


def test_data_without_subcommand_lists_datasets(tmp_path):
    done = invoke("data", cwd=tmp_path)
    assert done.returncode == 0
    assert "given-names" in done.stdout
