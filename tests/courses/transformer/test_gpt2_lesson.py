"""The experiment of the lesson on GPT-2 with the four files in place, here those of a tiny random model."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from support.built_in import solution_module
from support.editing import write_files

from autograder.courses.transformer import TRANSFORMER

safetensors = pytest.importorskip("safetensors.numpy")
pytestmark = pytest.mark.skipif("bpe" not in TRANSFORMER.modules, reason="needs the assignment bpe")


def write_checkpoint(folder):
    """Write a checkpoint as it is on the hub: without a prefix, with mask buffers, and with a line #version."""
    bpe, gpt2 = solution_module("bpe"), solution_module("gpt2")
    merges = bpe.train_bpe("A transformer is a transformer, and a former is former. " * 9, 300)
    tokens = dict.fromkeys([*bpe.byte_symbols().values(), *("".join(pair) for pair in merges), "<|endoftext|>"])
    sizes = {"n_positions": 64, "n_layer": 2, "n_head": 2, "n_embd": 8}
    settings = {"model_type": "gpt2", "vocab_size": len(tokens), **sizes}
    vocab = json.dumps({token: i for i, token in enumerate(tokens)})
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges), ""]
    texts = {"config.json": json.dumps(settings), "vocab.json": vocab, "merges.txt": "\n".join(lines)}
    rng, folder = np.random.default_rng(0), write_files(folder / "gpt2", texts)
    tensors = {name: rng.normal(size=shape).astype(np.float32) for name, shape in gpt2.gpt2_shapes(settings).items()}
    tensors |= {f"h.{i}.attn.bias": np.tri(64, dtype=np.float32)[None, None] for i in range(2)}
    safetensors.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder, tensors


@pytest.mark.slow
def test_experiment_continues_a_sentence_with_the_files(solutions, tmp_path):
    for path in solutions.glob("*.py"):
        shutil.copyfile(path, tmp_path / path.name)
    write_checkpoint(tmp_path)
    done = subprocess.run([sys.executable, "gpt2.py"], cwd=tmp_path, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    *_, text = done.stdout.decode("utf-8").partition("0 of 20 tokens are the same\n0 of 20 tokens are the same\n")
    assert "A transformer is" in text and len(text.strip()) > len("A transformer is")


def test_safetensors_file_is_read_as_it_was_written(tmp_path):
    folder, tensors = write_checkpoint(tmp_path)
    found = solution_module("gpt2").read_safetensors(folder / "model.safetensors")
    assert found.keys() == tensors.keys()
    assert all(np.array_equal(found[name], tensors[name]) for name in tensors)
    assert all(array.dtype == np.float32 and array.flags.aligned for array in found.values())
