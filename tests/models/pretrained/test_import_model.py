"""`headway import-model` and `headway generate`: real files in every form, and a message for each wrong folder."""

import json
import os
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from support.commands import invoke, refusal, succeed
from support.tiny_gpt2 import LENGTH, greedy_text, make_model, make_tokenizer

from autograder.core import tensor_files
from autograder.core.text import clean
from autograder.courses.transformer.common.pretrained.hugging_face import read_folder
from autograder.errors import UsageError
from autograder.models.pretrained import model_file
from autograder.sandbox.child import pretrained

pytestmark = pytest.mark.slow

FORMS = ("plain", "no prefix", "mask buffers", "sharded", "untied", "bfloat16", "unaligned")
SIZE, PROMPT = 300, "the cat sat"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return `made(form)`: the folder of a tiny GPT-2, the model and its tokenizer."""
    root, known = tmp_path_factory.mktemp("gpt2"), {}

    def make(form):
        if form not in known:
            folder = root / form.replace(" ", "-")
            tokenizer = make_tokenizer(folder, SIZE)
            known[form] = folder, make_model(folder, SIZE, form), tokenizer
        return known[form]

    return make


@pytest.fixture
def folder(made, tmp_path):
    """A copy of the plain folder, which a test may change."""
    return Path(shutil.copytree(made("plain")[0], tmp_path / "gpt2"))


@pytest.fixture(scope="module")
def imported(made, tmp_path_factory):
    """The file of the imported model."""
    path = tmp_path_factory.mktemp("imported") / "gpt2.safetensors"
    done = succeed("import-model", made("plain")[0], "--solution", "--out", path)
    assert str(path) in done.stdout and "4 heads, width 48" in " ".join(done.stdout.split())
    return path


def generated(path, *options, prompt=PROMPT):
    done = succeed("generate", path, "--solution", "--prompt", prompt, *options)
    assert done.stdout.endswith("\n")
    return done.stdout.removesuffix("\n")


def shown(text):
    """Return what the command shows: no control characters, and no character whose last bytes are missing."""
    return "".join(map(clean, text.removesuffix("\ufffd")))


@pytest.mark.parametrize("form", FORMS)
def test_generated_text_is_that_of_transformers(made, tmp_path, form):
    folder, model, tokenizer = made(form)
    out = tmp_path / "gpt2.safetensors"
    assert invoke("import-model", folder, "--solution", "--out", out).returncode == 0
    text = generated(out, "--temperature", "0", "--length", "48")
    assert text == shown(greedy_text(model, tokenizer, PROMPT, 48)) and len(text) > len(PROMPT) + 10


def test_sampled_text_is_that_of_generate_cached(made, imported, official):
    """Also beyond the model's positions, where the window moves."""
    tokenizer = made("plain")[2]
    model = model_file.load(imported)
    params = {name: marker.open() for name, marker in model.params.items()}
    config = official("gpt").GPTConfig(**model.config.fields)
    ids = np.array([tokenizer.encode(PROMPT).ids])
    options = {"temperature": 0.8, "top_k": 20, "top_p": 0.9}
    rng = np.random.default_rng(3)
    new = official("generation").generate_cached(ids, params, config, LENGTH + 20, rng, **options)[0]
    new = new[ids.shape[1] :].tolist()
    new = new[: new.index(SIZE - 1)] if SIZE - 1 in new else new
    expected = PROMPT + tokenizer.decode(new, skip_special_tokens=False)
    arguments = ("--temperature", "0.8", "--top-k", "20", "--top-p", "0.9", "--seed", "3")
    text = generated(imported, *arguments, "--length", LENGTH + 20)
    assert text == shown(expected)
    assert text.startswith(generated(imported, *arguments, "--length", "3")), "a shorter text begins alike"


def test_parameters_are_those_of_the_folder(made, imported):
    tensors = load_file(made("plain")[0] / "model.safetensors")
    params = {name: marker.open() for name, marker in model_file.load(imported).params.items()}
    assert np.array_equal(params["W_tok"], tensors["transformer.wte.weight"])
    assert params["W_tok"].T.flags.c_contiguous, "the layout that the product with one vector wants"
    assert np.array_equal(params["blocks.2.ffn.W_2"], tensors["transformer.h.2.mlp.c_proj.weight"])
    assert not any(array.flags.writeable for array in params.values())
    assert sum(array.size for array in params.values()) == sum(array.size for array in tensors.values())


def test_generate_without_prompt_begins_after_the_end_token(made, imported):
    _, model, tokenizer = made("plain")
    text = generated(imported, "--temperature", "0", "--length", "20", prompt="")
    assert text == shown(greedy_text(model, tokenizer, "", 20, start=[SIZE - 1])) and text


def test_generate_ends_at_the_end_token(made, folder, tmp_path):
    """A final norm that gives every position the same vector makes the end token the most likely one everywhere."""
    tensors = load_file(folder / "model.safetensors")
    table = tensors["transformer.wte.weight"]
    tensors["transformer.ln_f.weight"][:] = 0
    tensors["transformer.ln_f.bias"][:] = 100 * (table[SIZE - 1] - table.mean(axis=0))
    save_file(tensors, folder / "model.safetensors")
    out = tmp_path / "ends.safetensors"
    assert invoke("import-model", folder, "--solution", "--out", out).returncode == 0
    done = invoke("generate", out, "--solution", "--prompt", PROMPT, "--temperature", "0")
    assert done.stdout == PROMPT + "\n" and "The model ended the text" in done.stderr


def test_generate_says_whose_code_runs_and_how_fast(imported):
    done = invoke("generate", imported, "--solution", "--prompt", PROMPT, "--length", "5")
    assert "official solution" in done.stderr and "tokens per second" in done.stderr
    assert "UTF-8" in invoke("generate", imported, "--solution", "--prompt", "a\udcff").stderr.splitlines()[-1]


def test_student_functions_run_where_they_pass(imported, tmp_path, solutions):
    assert invoke("init", tmp_path / "ada").returncode == 0
    arguments = ("generate", imported, "--prompt", PROMPT, "--length", "2")
    assert "--solution" in refusal(*arguments, cwd=tmp_path / "ada")
    for name in ("softmax", "gpt2"):
        shutil.copy(solutions / f"{name}.py", tmp_path / "ada")
    done = succeed(*arguments, cwd=tmp_path / "ada")
    assert "your code for softmax" in done.stderr and "bpe" in done.stderr.partition("official solution for")[2]


def test_character_of_several_tokens_appears_when_it_is_complete(official):
    bpe = official("bpe")
    vocab = {symbol: number for number, symbol in enumerate(bpe.byte_symbols().values())}
    numbers = {byte: vocab[symbol] for byte, symbol in bpe.byte_symbols().items()}

    def shown(content):
        text = pretrained.Generation.__new__(pretrained.Generation)
        text.pending, text.n_shown = [], 0
        text.tokenizer = pretrained.Tokenizer.__new__(pretrained.Tokenizer)
        text.tokenizer.tokens, text.tokenizer.function = [*vocab], lambda module, name: getattr(bpe, name)
        return [text.complete_text(numbers[byte]) for byte in content]

    assert shown("a😀é\ufffd!".encode()) == ["a", "", "", "", "😀", "", "é", "", "", "", "\ufffd!"]
    assert shown(b"\xff\xe2\x82") == ["", "\ufffd", ""], "what is not UTF-8 is replaced, as soon as that is certain"
    assert shown("€".encode()[:2] + b"a") == ["", "", "\ufffda"]


def change_json(path, **changes):
    content = json.loads(path.read_text("utf-8"))
    content = {key: value for key, value in (content | changes).items() if value is not ...}
    path.write_text(json.dumps(content), "utf-8")


def change_tensors(folder, change):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def keep_only(folder, *names):
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink()


def write_index(folder, places):
    (folder / "model.safetensors").rename(folder / "one.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps(places), "utf-8")


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


WRONG_FOLDERS = {
    "empty": (lambda f: keep_only(f), "is empty"),
    "PyTorch .bin only": (lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"), "pytorch_model.bin"),
    "Keras only": (lambda f: (f / "model.safetensors").rename(f / "tf_model.h5"), "tf_model.h5"),
    "nothing but the configuration": (lambda f: keep_only(f, "config.json"), "vocab.json and merges.txt"),
    "no configuration": (lambda f: (f / "config.json").unlink(), "has no config.json"),
    "no merges": (lambda f: (f / "merges.txt").unlink(), "has no merges.txt"),
    "another architecture": (lambda f: change_json(f / "config.json", model_type="mistral"), "'mistral'"),
    "another activation": (lambda f: change_json(f / "config.json", activation_function="gelu"), "activation_function"),
    "another epsilon": (lambda f: change_json(f / "config.json", layer_norm_epsilon=1e-6), "layer_norm_epsilon"),
    "a size is missing": (lambda f: change_json(f / "config.json", n_embd=...), "n_embd"),
    "a size is a word": (lambda f: change_json(f / "config.json", n_layer="three"), "n_layer"),
    "a size is 0": (lambda f: change_json(f / "config.json", n_embd=0), "n_embd"),
    "sizes of another model": (lambda f: change_json(f / "config.json", n_positions=128), "W_pos has shape (64, 48)"),
    "too many heads": (lambda f: change_json(f / "config.json", n_head=5), "n_heads"),
    "no JSON": (lambda f: (f / "config.json").write_text("{'a': 1}", "utf-8"), "line 1"),
    "JSON list": (lambda f: (f / "config.json").write_text("[1]", "utf-8"), "JSON object"),
    "JSON nested deeply": (lambda f: (f / "config.json").write_text("[" * 99_999, "utf-8"), "usable JSON"),
    "no UTF-8": (lambda f: (f / "vocab.json").write_bytes(b'{"\xff\xfe": 0}'), "UTF-8"),
    "vocabulary of another size": (lambda f: change_json(f / "vocab.json", extra=SIZE), "vocab_size 300"),
    "ids with a gap": (lambda f: change_json(f / "vocab.json", extra=SIZE + 1), "once each"),
    "ids that are words": (lambda f: change_json(f / "vocab.json", extra="a"), "once each"),
    "merges of another model": (lambda f: (f / "merges.txt").write_text("#version: 0.2\nĠ q\n", "utf-8"), "line 2"),
    "merges that are no pairs": (lambda f: (f / "merges.txt").write_text("a b c\n", "utf-8"), "two tokens"),
    "truncated": (lambda f: cut(f / "model.safetensors", 9000), "cut off"),
    "truncated to nothing": (lambda f: cut(f / "model.safetensors", 0), "0 bytes"),
    "Git LFS pointer": (lambda f: (f / "model.safetensors").write_text("version https://git-lfs"), "does not begin"),
    "a tensor is missing": (lambda f: change_tensors(f, lambda t: t.pop("transformer.ln_f.bias")), "ln_f.bias"),
    "an unknown tensor": (lambda f: change_tensors(f, lambda t: t.update(extra=np.ones(3))), "extra"),
    "integers": (lambda f: change_tensors(f, lambda t: t.update({"transformer.ln_f.bias": np.ones(48, np.int8)})),
                 "floating-point"),
    "index without map": (lambda f: write_index(f, {"metadata": {}}), "weight_map"),
    "index of a missing file": (lambda f: write_index(f, {"weight_map": {"a": "b.safetensors"}}), "b.safetensors"),
    "index of a missing tensor": (lambda f: write_index(f, {"weight_map": {"a": "one.safetensors"}}), "'a'"),
    "index that leaves the folder": (lambda f: write_index(f, {"weight_map": {"a": "../gpt2/one.safetensors"}}),
                                     "beside it"),
    "index of another format": (lambda f: write_index(f, {"weight_map": {"a": "config.json"}}), "beside it"),
    "a folder in place of a file": (lambda f: ((f / "model.safetensors").unlink(), (f / "model.safetensors").mkdir()),
                                    "plain file"),
    "a pipe in place of a file": (lambda f: ((f / "merges.txt").unlink(), os.mkfifo(f / "merges.txt")), "plain file"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_FOLDERS)
def test_wrong_folder_gives_one_line(folder, tmp_path, case):
    damage, expected = WRONG_FOLDERS[case]
    damage(folder)
    done = refusal("import-model", folder, "--solution", "--out", tmp_path / "out.safetensors")
    assert expected in done and len(done) < 500
    assert not (tmp_path / "out.safetensors").exists()


def test_wrong_path_gives_one_line(folder, tmp_path):
    (tmp_path / "file").write_text("no folder", "utf-8")
    for source, out, expected in (
        (tmp_path / "nowhere", tmp_path / "out.safetensors", "no such folder"),
        (folder / "config.json", tmp_path / "out.safetensors", "is a file"),
        (folder, folder / "model.safetensors", "--out"),
        (folder, tmp_path / "file" / "out.safetensors", "cannot write"),
    ):
        assert expected in refusal("import-model", source, "--solution", "--out", out)
    assert load_file(folder / "model.safetensors"), "the source is not overwritten"


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "merges.txt", "model.safetensors"])
def test_file_without_permission_gives_one_line(folder, tmp_path, monkeypatch, name):
    """The superuser may read every file, so the error is simulated."""
    real = Path.open

    def refuse(self, *arguments, **options):
        if self.name == name:
            raise PermissionError(13, "Permission denied")
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    done = refusal("import-model", folder, "--solution", "--out", tmp_path / "out.safetensors")
    assert name in done and "Permission denied" in done


def rewrite(path, out, change):
    """Write a copy of an imported model whose header is changed."""
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    description = json.loads(header["__metadata__"]["headway"])
    change(header, description)
    header["__metadata__"]["headway"] = json.dumps(description)
    new = json.dumps(header).encode()
    out.write_bytes(struct.pack("<Q", len(new)) + new + content[8 + size :])
    return out


HOSTILE_MODELS = {
    "billions of blocks": lambda header, text: text["config"].update(n_layers=10**12),
    "huge width": lambda header, text: text["config"].update(d_model=10**12),
    "a size is a text": lambda header, text: text["config"].update(block_size="64"),
    "an unknown option": lambda header, text: text["config"].update(evil=1),
    "configuration of another type": lambda header, text: text.update(config=[1]),
    "vocabulary too short": lambda header, text: text["tokenizer"]["tokens"].pop(),
    "tokens that are numbers": lambda header, text: text["tokenizer"]["tokens"].__setitem__(3, 3),
    "merges of three": lambda header, text: text["tokenizer"]["merges"].append(["a", "b", "c"]),
    "merges that are numbers": lambda header, text: text["tokenizer"]["merges"].append(7),
    "an end outside of the vocabulary": lambda header, text: text.update(ends=[10**6]),
    "no merges": lambda header, text: text["tokenizer"].pop("merges"),
    "an unknown key": lambda header, text: text.update(run="rm -rf"),
    "a parameter is missing": lambda header, text: header.pop("W_pos"),
    "offsets outside of the file":
        lambda header, text: header["W_pos"].update(data_offsets=[1 << 40, (1 << 40) + 12288]),
    "integers": lambda header, text: header["W_pos"].update(dtype="I32"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE_MODELS)
def test_hostile_model_file_gives_one_line(imported, tmp_path, case):
    path = rewrite(imported, tmp_path / "hostile.safetensors", HOSTILE_MODELS[case])
    for command in (("generate", path, "--length", "2"), ("plot", "attention-heads", "--checkpoint", path)):
        done = invoke(*command, "--solution", cwd=tmp_path)
        assert done.returncode == 2, done.stdout
        assert len(done.stderr.splitlines()) in (1, 2) and len(done.stderr) < 700, done.stderr


def test_load_of_other_files_says_what_to_do(made, tmp_path):
    with pytest.raises(UsageError, match="headway import-model"):
        model_file.load(made("plain")[0] / "model.safetensors")
    with pytest.raises(UsageError, match="headway train"):
        model_file.load(tmp_path / "nowhere.safetensors")
    (tmp_path / "text.safetensors").write_text("no model", "utf-8")
    with pytest.raises(UsageError, match="not a checkpoint"):
        model_file.load(tmp_path / "text.safetensors")


@pytest.mark.parametrize("end", [None, SIZE])
def test_model_without_end_token_needs_a_prompt(folder, tmp_path, end):
    for name in ("config.json", "generation_config.json"):
        change_json(folder / name, eos_token_id=end)
    out = tmp_path / "gpt2.safetensors"
    assert invoke("import-model", folder, "--solution", "--out", out).returncode == 0
    done = invoke("generate", out, "--solution")
    assert done.returncode == 2 and "--prompt" in done.stderr.splitlines()[-1]


def test_end_of_a_text_is_that_of_the_generation_config(folder):
    expected = read_folder(folder).ends
    change_json(folder / "config.json", eos_token_id=1)
    assert read_folder(folder).ends == expected != [1]
    change_json(folder / "generation_config.json", eos_token_id=[2, 3])
    assert read_folder(folder).ends == [2, 3]


def test_this_process_never_reads_the_parameters(imported, monkeypatch):
    sizes = []
    real = tensor_files.read_header
    monkeypatch.setattr(tensor_files, "read_header", lambda path: sizes.append(path) or real(path))
    model = model_file.load(imported)
    assert len(sizes) == 1 and all(marker.path == str(imported.resolve()) for marker in model.params.values())
