"""Tiny Llamas with random parameters, in the files that Hugging Face's libraries write, and their greedy text."""

import json
import warnings
from pathlib import Path

from autograder.courses.transformer.common.pretrained.description import LLAMA3_PATTERN

TEXT = (
    "the cat sat on the mat, and the rat ran to the cat. It's 42 or 1999 here; WE'RE hot!\n\n naïve café 😀 中文 жизнь "
    * 4
)
LENGTH = 64  # positions
SPECIAL = ["<|begin|>", "<|end|>", "<|end|>>", "<|im_start|>", "<|im_end|>"]
SIZES = {"max_position_embeddings": LENGTH, "hidden_size": 48, "num_hidden_layers": 3, "intermediate_size": 128}
HEADS = {"num_attention_heads": 6, "num_key_value_heads": 2}
SCALED = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
SCALED["original_max_position_embeddings"] = 32
FORMS = {
    "SmolLM2": {"splitting": "digits", "tie_word_embeddings": True, "rope_theta": 100_000.0, "dtype": "bfloat16"},
    "Llama 3": {"splitting": "llama3", "tie_word_embeddings": True, "rope_theta": 500_000.0, "rope_scaling": SCALED,
                "dtype": "bfloat16"},
    "untied": {"splitting": "gpt2", "tie_word_embeddings": False, "dtype": "float16"},
}  # fmt: skip


def make_llama_tokenizer(folder: Path, splitting: str, vocab_size: int = 320) -> object:
    """Train a byte-level tokenizer, write its files, and return it."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE(ignore_merges=splitting == "llama3"))
    symbols = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=splitting != "llama3")
    digits = pre_tokenizers.Digits(individual_digits=True)
    words = pre_tokenizers.Split(Regex(LLAMA3_PATTERN), "isolated")
    first = {"gpt2": [], "digits": [digits], "llama3": [words]}[splitting]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*first, symbols]) if first else symbols
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    size = vocab_size - len(SPECIAL)
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([TEXT], trainer)
    assert tokenizer.get_vocab_size() == size, "the text has fewer tokens"
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    if splitting == "llama3":
        front = processors.TemplateProcessing(single="<|begin|> $A", special_tokens=[("<|begin|>", size)])
        tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), front])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"bos_token": "<|begin|>", "eos_token": "<|end|>", "chat_template": "{{ 1 / 0 }}"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    return tokenizer


def make_llama(folder: Path, form: str, vocab_size: int = 320, shards: bool = False) -> tuple[object, object]:
    """Write the folder of a random Llama in one of `FORMS`; return the model in float64, and the tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    options = dict(FORMS[form])
    tokenizer = make_llama_tokenizer(folder, options.pop("splitting"), vocab_size)
    dtype = getattr(torch, options.pop("dtype"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        end = {"bos_token_id": vocab_size - 5, "eos_token_id": [vocab_size - 4, vocab_size - 1]}
        model = LlamaForCausalLM(LlamaConfig(vocab_size=vocab_size, **SIZES, **HEADS, **end, **options)).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn(parameter.shape) * 0.1)
        model.to(dtype).save_pretrained(folder, **({"max_shard_size": "100KB"} if shards else {}))
        return LlamaForCausalLM.from_pretrained(folder, dtype=torch.float64).eval(), tokenizer


def greedy_ids(model: object, ids: list[int], length: int) -> list[int]:
    """Return the ids that transformers adds, without the one that ends the text."""
    import torch

    tensor, ends = torch.tensor([ids]), model.generation_config.eos_token_id
    options = {"max_new_tokens": length, "do_sample": False, "pad_token_id": 0}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = model.generate(tensor, attention_mask=torch.ones_like(tensor), **options)
    new = out[0, len(ids) :].tolist()
    return [number for number in new if number not in (ends if isinstance(ends, list) else [ends])]
