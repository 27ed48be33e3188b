"""A tiny GPT-2 with random parameters, in the files that Hugging Face's libraries write, and its greedy text."""

import json
import warnings
from pathlib import Path

TEXT = "the cat sat on the mat, and the rat ran to the cat. it's 42 degrees in here; we're hot! naïve café 😀 " * 4
LENGTH = 64  # positions
SIZES = {"n_positions": LENGTH, "n_embd": 48, "n_layer": 3, "n_head": 4}


def make_tokenizer(folder: Path, vocab_size: int = 300) -> object:
    """Train a byte-level tokenizer, write its vocab.json and merges.txt, and return it."""
    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer()
    # The token that ends a text is the last one, as in GPT-2.
    tokenizer.train_from_iterator([TEXT], vocab_size=vocab_size - 1, min_frequency=1, show_progress=False)
    tokenizer.add_special_tokens(["<|endoftext|>"])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_model(str(folder))
    vocab = json.loads((folder / "vocab.json").read_text("utf-8"))
    vocab["<|endoftext|>"] = len(vocab)
    (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False), "utf-8")
    return tokenizer


def make_model(folder: Path, vocab_size: int, form: str = "plain") -> object:
    """Write config.json and the parameters in one of several forms, all of them random, and return the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from transformers import GPT2Config, GPT2LMHeadModel

        torch.manual_seed(0)
        end = {"bos_token_id": vocab_size - 1, "eos_token_id": vocab_size - 1}
        config = GPT2Config(vocab_size=vocab_size, tie_word_embeddings=form != "untied", **SIZES, **end)
        model = GPT2LMHeadModel(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn(parameter.shape) * 0.15)
        if form == "bfloat16":
            model = model.bfloat16()
        if form == "no prefix":
            model.transformer.save_pretrained(folder)
        else:
            model.save_pretrained(folder, **({"max_shard_size": "120KB"} if form == "sharded" else {}))
        if form == "mask buffers":
            add_mask_buffers(folder / "model.safetensors")
        if form == "unaligned":
            shift_numbers(folder / "model.safetensors")
        return model.float()


def make_random_model(folder: Path) -> None:
    """Write the files of a GPT-2 of one block; this needs no PyTorch."""
    import numpy as np
    from safetensors.numpy import save_file

    make_tokenizer(folder)
    config = {"model_type": "gpt2", "vocab_size": 300, **SIZES, "n_layer": 1}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    d = SIZES["n_embd"]
    matrices = {"attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d), "mlp.c_fc": (d, 4 * d), "mlp.c_proj": (4 * d, d)}
    shapes = {"wte.weight": (300, d), "wpe.weight": (LENGTH, d)}
    for name, shape in matrices.items():
        shapes |= {f"h.0.{name}.weight": shape, f"h.0.{name}.bias": shape[1:]}
    for name in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        shapes |= {f"{name}.weight": (d,), f"{name}.bias": (d,)}
    draw = np.random.default_rng(0).random
    save_file({name: draw(shape, np.float32) for name, shape in shapes.items()}, folder / "model.safetensors")


def add_mask_buffers(path: Path) -> None:
    """Add the causal masks that older versions of transformers wrote into the file."""
    import numpy as np
    from safetensors.numpy import load_file, save_file

    tensors = load_file(path)
    for i in range(SIZES["n_layer"]):
        tensors[f"transformer.h.{i}.attn.bias"] = np.tril(np.ones((1, 1, LENGTH, LENGTH), np.bool_))
        tensors[f"transformer.h.{i}.attn.masked_bias"] = np.array(-1e4, np.float32)
    save_file(tensors, path)


def shift_numbers(path: Path) -> None:
    """Make the numbers begin at a byte that is no multiple of 4, as in the file of GPT-2 small."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + size].rstrip()
    header += b" " * ((3 - len(header)) % 4)
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + size :])


def greedy_text(model: object, tokenizer: object, prompt: str, length: int, start: list[int] | None = None) -> str:
    """Return the prompt and the text that the model continues it with, as transformers generates it."""
    import torch

    ids = start or tokenizer.encode(prompt).ids
    end = model.config.eos_token_id
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"max_new_tokens": length, "do_sample": False, "eos_token_id": end, "pad_token_id": end}
        out = model.generate(torch.tensor([ids]), **options)
    return prompt + tokenizer.decode([i for i in out[0, len(ids) :].tolist() if i != end], skip_special_tokens=False)
