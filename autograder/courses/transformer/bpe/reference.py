"""The answers of Hugging Face's `tokenizers` for `bpe`, which needs no files: its models are made of the arguments.

Its Unicode tables may be of another version than those of the package `regex`. tokenizers 0.23.3 and regex 2026.11.15
split around 17,480 code points differently, all of which are unassigned in Unicode 14. Checks do not use them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

Pair = tuple[str, str]

_SPLITTER = pre_tokenizers.ByteLevel(add_prefix_space=False)
# Characters whose encodings contain each byte that UTF-8 uses: all of one and two bytes, and one for each first byte of
# the longer ones.
_LONG = (*range(0x1000, 0x10000, 0x1000), 0x800, 0x10000, *range(0x40000, 0x110000, 0x40000))
_CODE_POINTS = (*range(0x800), *(code for code in _LONG if not 0xD800 <= code < 0xE000))


def _first_output(text: str) -> str:
    """The symbols of the bytes of a text that is one piece."""
    ((symbols, _),) = _SPLITTER.pre_tokenize_str(text)
    return str(symbols)


def byte_symbols() -> dict[int, str]:
    """The symbols of characters, byte by byte. The bytes that UTF-8 never uses are the symbols that are left over."""
    table: dict[int, str] = {}
    for code in _CODE_POINTS:
        table |= zip(chr(code).encode("utf-8"), _first_output(chr(code)), strict=True)
    left_over = sorted(set(pre_tokenizers.ByteLevel.alphabet()) - set(table.values()))
    return table | dict(zip(sorted(set(range(256)) - set(table)), left_over, strict=True))


def _splitter(pattern: str | None) -> pre_tokenizers.PreTokenizer:
    if pattern is None:
        return _SPLITTER
    symbols = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), symbols])


def split_text(text: str, pattern: str | None = None) -> list[str]:
    """`pre_tokenizers.ByteLevel`, and `pre_tokenizers.Split` for other patterns."""
    return [text[start:end] for _, (start, end) in _splitter(pattern).pre_tokenize_str(text)]


def train_bpe(text: str, vocab_size: int) -> list[Pair]:
    """`BpeTrainer` on one text."""
    if vocab_size < 256:
        raise ValueError(f"vocab_size is {vocab_size}")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = _SPLITTER
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text], trainer)
    return [(left, right) for left, right in json.loads(tokenizer.to_str())["model"]["merges"]]


def bpe_encode(
    text: str,
    vocab: Mapping[str, int],
    merges: Sequence[Pair],
    special_tokens: Sequence[str] = (),
    pattern: str | None = None,
    ignore_merges: bool = False,
) -> npt.NDArray[np.int64]:
    """`Tokenizer.encode`, with `Tokenizer.add_special_tokens`."""
    tokenizer = Tokenizer(models.BPE(vocab=dict(vocab), merges=list(merges), ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = _splitter(pattern)
    tokenizer.add_special_tokens(list(special_tokens))
    return np.array(tokenizer.encode(text).ids, dtype=np.int64)


def bpe_decode(ids: Iterable[int], vocab: Mapping[str, int]) -> str:
    """`Tokenizer.decode`."""
    tokenizer = Tokenizer(models.BPE(vocab=dict(vocab), merges=[]))
    tokenizer.decoder = decoders.ByteLevel()
    return str(tokenizer.decode([int(index) for index in ids]))
