"""`headway train`, `generate` and `data`, with the student's own modules where they pass."""

import json
import shutil

import pytest
from support.commands import invoke, refusal, succeed

pytestmark = pytest.mark.slow


def test_train_uses_the_modules_that_pass(folder, solutions):
    arguments = ("train", "--data", "names", "--steps", "20")
    assert "--solution" in refusal(*arguments, cwd=folder, COLUMNS="200")
    for name in ("tokenizer", "softmax"):
        shutil.copy(solutions / f"{name}.py", folder)
    done = succeed(*arguments, cwd=folder, COLUMNS="200")
    (sources,) = (line for line in done.stdout.splitlines() if "tokenizer, softmax" in line)
    assert "embeddings" in sources.partition("tokenizer, softmax")[2]


def test_train_and_generate_award_badges_once(folder, solutions):
    for path in solutions.glob("*.py"):
        shutil.copy(path, folder)
    assert "★" in succeed("train", "--data", "names", "--steps", "400", "--out", "n.safetensors", cwd=folder).stdout
    generate = ("generate", "n.safetensors", "--length", "100")
    assert "★" in invoke(*generate, cwd=folder).stderr
    assert "★" not in invoke(*generate, cwd=folder).stderr
    assert {"loss", "name"} <= set(json.loads((folder / ".headway.json").read_text())["badges"])


def test_bigram_trains_only_with_functions_that_pass(folder, solutions):
    arguments = ("train", "--preset", "bigram", "--steps", "200")
    for name in ("tokenizer", "counting", "softmax"):
        shutil.copy(solutions / f"{name}.py", folder)
    assert "headway check bigram" in refusal(*arguments, cwd=folder)
    shutil.copy(solutions / "bigram.py", folder)
    done = succeed(*arguments, cwd=folder)
    assert "Using your code" in done.stdout and "★" in done.stdout and "loss of counting" in done.stdout
    assert "★" in invoke("generate", "model.safetensors", cwd=folder).stderr
