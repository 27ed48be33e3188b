"""Llamas from folders of Hugging Face files: the numbers of transformers, the ids of tokenizers, and wrong folders."""

import json
import random
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.commands import refusal, succeed
from support.lazy_module import torch
from support.tiny_llama import FORMS, SPECIAL, greedy_ids, make_llama, make_llama_tokenizer

from autograder.core.text import clean
from autograder.courses.transformer.common.pretrained.description import PATTERNS, SuggestedSampling
from autograder.courses.transformer.common.pretrained.tokenizer_files import read_llama_tokenizer
from autograder.models.pretrained import model_file
from autograder.sandbox.child.pretrained import Tokenizer

pytestmark = pytest.mark.slow

PROMPT = "the cat sat on 42<|im_start|>"


@pytest.fixture(scope="module", params=FORMS)
def made(request, tmp_path_factory):
    """The folder of a Llama in several forms, the model in float64, its tokenizer, and the file of its import."""
    folder = tmp_path_factory.mktemp("llama") / "files"
    model, tokenizer = make_llama(folder, request.param, shards=request.param == "untied")
    out = folder.parent / "llama.safetensors"
    assert "6 heads" in succeed("import-model", folder, "--solution", "--out", out).stdout
    return folder, model, tokenizer, out


@pytest.fixture(scope="module")
def smollm(tmp_path_factory):
    """The folder of a Llama with the shape of SmolLM2."""
    folder = tmp_path_factory.mktemp("smollm") / "files"
    make_llama(folder, "SmolLM2")
    return folder


def test_logits_are_those_of_transformers(made, official):
    """In float64, but for the angles, which transformers computes in float32: so 1e-5 of the largest score."""
    _, model, tokenizer, out = made
    imported = model_file.load(out)
    params = {name: marker.open().astype(np.float64) for name, marker in imported.params.items()}
    config = official("llama").LlamaConfig(**imported.config.fields)
    ids = np.array([tokenizer.encode(PROMPT + " naïve 中文 1999, WE'RE hot" * 2).ids])
    with torch.no_grad():
        expected = model(torch.from_numpy(ids)).logits.numpy()
    logits, _ = official("llama").llama(ids, params, config)
    assert np.abs(logits - expected).max() < 1e-5 * np.abs(expected).max()
    last, _ = official("llama").last_logits(ids, params, config)
    assert np.allclose(last, logits[:, -1], rtol=1e-9, atol=1e-9)


def test_greedy_text_is_that_of_transformers(made):
    _, model, tokenizer, out = made
    done = succeed("generate", out, "--solution", "--prompt", PROMPT, "--temperature", "0", "--length", "30")
    text = tokenizer.decode(greedy_ids(model, tokenizer.encode(PROMPT).ids, 30), skip_special_tokens=False)
    assert done.stdout == PROMPT + "".join(map(clean, text.removesuffix("\ufffd"))) + "\n"


def test_description_has_ends_and_beginning(made):
    _, _, tokenizer, out = made
    description = model_file.load(out).description
    assert description.kind == "llama" and description.ends == [316, 319]
    assert description.tokenizer.special == SPECIAL and description.tokenizer.begin == 315
    assert description.tokenizer.begin_in_front == (tokenizer.encode("a").ids[0] == 315)


PIECES = [
    "the cat", " sat", "It's", "WE'RE", " 'S", "naïve", "Ωmega", "жизнь", "中文字", "नमस्ते", "日本語", "😀👍🏽",
    "e\u0301", "42", " 1999", "٣٤", "½", "Ⅷ", "²", " ", "   ", "\n", "\n\n ", "\t", "\r\n", "\u00a0", "\u3000",
    "!?", "...", "$5", "<|", "|>", "<|end", "im_end", "\x00", "\x1c", "\u2028", "'\u017f", "_x", *SPECIAL,
]  # fmt: skip


@pytest.mark.parametrize("splitting", ["gpt2", "digits", "llama3"])
def test_ids_of_random_texts_are_those_of_tokenizers(tmp_path, official, splitting):
    theirs = make_llama_tokenizer(tmp_path, splitting)
    tokenizer = read_llama_tokenizer(tmp_path, {})
    assert tokenizer.splitting == splitting
    vocab = {token: number for number, token in enumerate(tokenizer.tokens)}
    plain = {token: number for token, number in vocab.items() if token not in SPECIAL}
    options = {"pattern": PATTERNS[splitting], "ignore_merges": tokenizer.ignore_merges}
    draw, bpe = random.Random(splitting), official("bpe")
    for number in range(2000):
        text = "".join(draw.choices(PIECES, k=draw.randint(0, 12)))
        theirs.encode_special_tokens = number % 4 == 0  # then they are text like any other
        expected = theirs.encode(text, add_special_tokens=False).ids
        special = {} if number % 4 == 0 else {"special_tokens": tokenizer.special}
        ids = bpe.bpe_encode(text, vocab if special else plain, tokenizer.merges, **special, **options)
        assert ids.tolist() == expected, text
        if special:
            assert bpe.bpe_decode(ids, vocab) == text


def test_typed_special_token_is_only_text_for_the_user(made, official_submission):
    tokenizer = Tokenizer(official_submission, model_file.load(made[3]).description.tokenizer.request())
    assert tokenizer.encode("a<|im_end|>")[-1] == 319
    ids = tokenizer.encode("a<|im_end|>", special=False)
    assert max(ids) < 315 and tokenizer.decode(ids) == "a<|im_end|>"


def changed(name, /, *keys, **values):
    """Return a function that changes values in a file of a folder: of the JSON object that the keys lead to."""

    def apply(folder):
        content = part = json.loads((folder / name).read_text("utf-8"))
        for key in keys:
            part = part[key]
        part.update(values)
        (folder / name).write_text(json.dumps(content), "utf-8")

    return apply


config = partial(changed, "config.json")
sampling = partial(changed, "generation_config.json")
tokenizer = partial(changed, "tokenizer.json")
bpe = partial(changed, "tokenizer.json", "model")
added = partial(changed, "tokenizer.json", "added_tokens", 1)


def tensors(edit):
    def apply(folder):
        from safetensors.torch import load_file, save_file

        content = load_file(folder / "model.safetensors")
        edit(content)
        save_file(content, folder / "model.safetensors")

    return apply


TEXTS = [{"Sequence": {"id": "A"}}, {"Sequence": {"id": "A"}}]
TEMPLATE = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "<|end|>"}}]}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0, "low_freq_factor": 4.0, "high_freq_factor": 1.0}
BYTES = {"type": "ByteLevel", "add_prefix_space": False}
BOMB = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}


WRONG_FOLDERS = {
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer.json"),
    "SentencePiece": (bpe(type="Unigram"), "model.type"),
    "bytes as tokens": (bpe(byte_fallback=True), "byte_fallback"), "dropout": (bpe(dropout=0.1), "dropout"),
    "suffix": (bpe(end_of_word_suffix="</w>"), "end_of_word_suffix"), "no merges": (bpe(merges="a b"), "merges"),
    "merge of three": (bpe(merges=["a b c"]), "two tokens"),
    "merge of unknown tokens": (bpe(merges=[["a", "qq"]]), "'qq'"),
    "vocabulary of lists": (bpe(vocab={"a": [1]}), "model.vocab"),
    "ids with a gap": (bpe(vocab={"a": 0, "b": 7}, merges=[]), "once each"),
    "token of half a character": (bpe(vocab={"\ud800": 0}, merges=[]), "not text"),
    "normalizer": (tokenizer(normalizer={"type": "NFC"}), "normalizer"),
    "another pre-tokenizer": (tokenizer(pre_tokenizer={"type": "Metaspace"}), "Metaspace"),
    "hostile pattern": (tokenizer(pre_tokenizer={"type": "Sequence", "pretokenizers": [BOMB]}), "(Split)"),
    "space in front": (tokenizer(pre_tokenizer=BYTES | {"add_prefix_space": True}), "pre_tokenizer"),
    "another decoder": (tokenizer(decoder={"type": "WordPiece"}), "decoder"),
    "token at the end": (tokenizer(post_processor=TEMPLATE), "post_processor"),
    "only texts in the post-processor": (tokenizer(post_processor={**TEMPLATE, "single": TEXTS}), "post_processor"),
    "another post-processor": (tokenizer(post_processor={"type": "BertProcessing"}), "post_processor"),
    "added token strips": (added(lstrip=True), "lstrip"),
    "added token with a space": (added(content="a b"), "added_tokens"),
    "added token with two ids": (added(content="a"), "two ids"),
    "some added tokens normalized": (added(normalized=True), "normalized"),
    "end token added": (changed("tokenizer_config.json", add_eos_token=True), "add_eos_token"),
    "unknown beginning": (changed("tokenizer_config.json", bos_token="<s>"), "'<s>'"),
    "vocabulary of another size": (config(vocab_size=300), "same model"),
    "padded vocabulary": (config(vocab_size=384), "vocab_size 384. A token table with more rows"),
    "size is a text": (config(hidden_size="48"), "hidden_size"),
    "base is a list": (config(rope_theta=[1]), "rope_theta"),
    "scaled in another way": (config(rope_parameters={"rope_type": "yarn", "factor": 4.0}), "yarn"),
    "scaled with wrong numbers": (config(rope_parameters=LLAMA3), "low_freq_factor"),
    "rotation is a list": (config(rope_parameters=[1]), "rope_parameters"),
    "biases": (config(attention_bias=True), "attention_bias"),
    "other heads": (config(num_attention_heads=5, head_dim=None), "n_heads"),
    "billions of blocks": (config(num_hidden_layers=10**12), "too few"),
    "type is a list": (config(model_type=["llama"]), "model_type"),
    "no head": (config(tie_word_embeddings=False), "W_head"),
    "hot sampling": (sampling(do_sample=True, temperature="hot"), "temperature"),
    "unknown tensor": (tensors(lambda t: t.update({"model.q_norm.weight": t["model.norm.weight"].clone()})), "q_norm"),
    "two 16-bit formats": (tensors(lambda t: t.update({"model.norm.weight": t["model.norm.weight"].half()})), "16, F"),
    "quantized tensor": (tensors(lambda t: t.update({"model.norm.weight": t["model.norm.weight"].char()})), "floating"),
    "8-bit floats": (
        tensors(lambda t: t.update({"model.norm.weight": t["model.norm.weight"].to(torch.float8_e4m3fn)})),
        "Give a complete file in BF16",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_FOLDERS)
def test_wrong_llama_folder_gives_one_line(smollm, tmp_path, case):
    damage, expected = WRONG_FOLDERS[case]
    folder = Path(shutil.copytree(smollm, tmp_path / "llama"))
    damage(folder)
    out = tmp_path / "out.safetensors"
    done = refusal("import-model", folder, "--solution", "--out", out)
    assert expected in done and len(done) < 500 and not out.exists()


def test_head_that_is_the_table_is_not_stored_twice_and_suggested_sampling_is_kept(smollm, tmp_path):
    folder, out = Path(shutil.copytree(smollm, tmp_path / "llama")), tmp_path / "out.safetensors"
    tensors(lambda t: t.update({"lm_head.weight": t["model.embed_tokens.weight"].clone()}))(folder)
    sampling(do_sample=True, temperature=0.2, top_p=0.9, top_k=0)(folder)
    succeed("import-model", folder, "--solution", "--out", out)
    assert "W_head" not in model_file.load(out).params
    assert model_file.load(out).description.sampling == SuggestedSampling(0.2, None, 0.9)


def test_norms_of_32_bits_beside_matrices_of_16_are_read(smollm, tmp_path):
    folder, values = Path(shutil.copytree(smollm, tmp_path / "llama")), []
    for edit in (dict, lambda t: t.update({name: t[name].float() for name in t if "norm" in name})):
        tensors(edit)(folder)
        succeed("import-model", folder, "--solution", "--out", tmp_path / "m.safetensors", "--force")
        params = model_file.load(tmp_path / "m.safetensors").params
        values.append({name: marker.open().tolist() for name, marker in params.items()})
    assert values[0] == values[1]


def test_plots_of_a_gpt_refuse_a_llama(made, tmp_path):
    assert "imported llama" in refusal("plot", "attention-heads", "--solution", "--checkpoint", made[3], cwd=tmp_path)
