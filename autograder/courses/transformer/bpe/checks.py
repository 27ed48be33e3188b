"""Checks of `bpe`: bytes as symbols, pieces, the training of the merges, encoding and decoding."""

from typing import Any

import numpy as np
import pytest

from autograder.engine.comparison.compare import require_python
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded

WORDS = 5 * " low" + 2 * " lower" + 6 * " newest" + 3 * " widest"
# Every code point here was in Unicode 14: the references of later versions agree on it.
SCRIPTS = "naïve façade Ωmega жизнь 中文字 नमस्ते ١٢٣ ½ Ⅷ 日本語テキスト e\u0301"
SENTENCE = "The tokenizer's job isn't easy: it's 2026, we've 1,024 tokens\nand they'll see   \"emoji\" 🙂🙂!\n\n\tEnd. "

# The rules of Llama 3, and those of SmolLM2, where each digit is a piece.
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DIGITS = r"\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?=\p{N})|\s+(?!\S)|\s+"


def _phrase(draw: RandomInputs, count: int, *parts: tuple[str, ...]) -> str:
    """Return `count` random phrases in a row; each has one of the texts of every part."""
    chosen = (draw.integers(count, high=len(part)) for part in parts)
    phrases = zip(*([part[int(i)] for i in numbers] for part, numbers in zip(parts, chosen, strict=True)), strict=True)
    return "".join("".join(phrase) for phrase in phrases)


def _vocab(merges: list[tuple[str, str]], symbols: dict[int, str], step: int = 1, first: int = 0) -> dict[str, int]:
    """Return a vocabulary of the symbols and the merged tokens; its ids are `first`, `first + step`, …"""
    tokens = sorted(symbols.values()) + [left + right for left, right in merges]
    return {token: first + step * place for place, token in enumerate(tokens)}


class Trained:
    """Merges and vocabularies that the reference learned from a text."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference

    def __call__(self, text: str, vocab_size: int, **numbers: int) -> tuple[dict[str, int], Any]:
        """Return a vocabulary and the merges."""
        merges = self.reference.bpe.train_bpe(text, vocab_size)
        return _vocab(merges, self.reference.bpe.byte_symbols(), **numbers), merges


@pytest.fixture(scope="session")
def trained(reference: Reference) -> Trained:
    """Return a function: `trained(text, vocab_size)` returns a vocabulary and merges."""
    return Trained(reference)


# There is nothing to draw: a table of the answers is a right implementation.
@graded("bpe.byte_symbols", points=2, alone=True)
def test_table(agree: Agree) -> None:
    """The 256 bytes"""
    agree()


@graded("bpe.byte_symbols", alone=False)
def test_table_types(student: StudentCode) -> None:
    """The keys are Python integers, the symbols strings of one character, all different"""
    table = student.bpe.byte_symbols()
    if not isinstance(table, dict) or len(table) != 256:
        raise Mismatch("byte_symbols must return a dict with 256 entries")
    for byte, symbol in table.items():
        require_python(byte, int, "a key")
        if type(symbol) is not str or len(symbol) != 1:
            raise Mismatch(f"the symbol of byte {byte} is {symbol!r}; it must be a string of one character")
    if len(set(table.values())) < 256:
        raise Mismatch("two bytes have the same symbol, so texts cannot be decoded")


@graded("bpe.split_text", points=2)
def test_pieces(agree: Agree, draw: RandomInputs) -> None:
    """Words with the space before them"""
    agree("low lower newest")
    agree("one two  three")
    agree(" " + draw.text(60, "abcdef   "))


@graded("bpe.split_text")
def test_pieces_contractions(agree: Agree, draw: RandomInputs) -> None:
    """Contractions, and apostrophes that are none"""
    agree(_phrase(draw, 12, ("it", "we", "'", "dogs"), ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'x"), (" ", "a")))
    for ending in ("s", "t", "re", "ve", "m", "ll", "d"):
        agree(f"it'{ending} a")
    agree("rock'n'roll 'tis '90s dogs' 'quoted'")
    agree("I'mmm they'restless it's's")


@graded("bpe.split_text")
def test_pieces_capitals(agree: Agree, draw: RandomInputs) -> None:
    """Capital contractions are not split off"""
    agree(_phrase(draw, 12, ("IT", "I", "don"), ("'S", "'T", "'LL", "'Re", "'vE", "'m"), (" ", "a")))
    agree("IT'S I'LL don'T")


@graded("bpe.split_text")
def test_pieces_numbers(agree: Agree, draw: RandomInputs) -> None:
    """Numbers, alone and beside letters"""
    agree(draw.text(40, "1207ab ½٣²Ⅷ,"))
    agree("123456 12 1,024.50 x2y 3rd 2nd")
    agree("a1b22 ١٢٣ ½Ⅷ² 7")
    agree("2½ ½! 1٢ ٣! x² !7  8   9")


@graded("bpe.split_text")
def test_pieces_punctuation(agree: Agree, draw: RandomInputs) -> None:
    """Punctuation, symbols, underscores"""
    agree("Stop!!! (What?) #tag @x_y_z -> a.b;c $5 ...")
    agree(draw.text(60, "ab1 .!_-("))


@graded("bpe.split_text")
def test_pieces_whitespace(agree: Agree, draw: RandomInputs) -> None:
    """Runs of spaces, tabs and line breaks"""
    agree("a   b\n\nc\n d \n e\t\tf\r\n")
    agree("   ")
    agree("a  ")
    agree("\n\n  x")
    agree("  \n 1 \t!\n a\u00a0b\u3000 c")
    agree(draw.text(80, "ab1!' \n\t "))


@graded("bpe.split_text")
def test_pieces_scripts(agree: Agree, draw: RandomInputs) -> None:
    """Accents, other scripts, emoji"""
    agree(draw.text(40, "aïçжЯ中字नम日テ🙂!\u0301 "))
    agree(SCRIPTS)
    agree("hello 🙂🙂 world🙂!")
    agree("x\u200by \u0301a")


@graded("bpe.split_text")
def test_pieces_pattern(agree: Agree, draw: RandomInputs) -> None:
    """The rules of other models"""
    for pattern in (LLAMA3, DIGITS):
        agree("It'S 12345 o'clock,\r\n\n  I'M  here... (at 7)", pattern)
        agree(draw.text(60, "abS1207'!. \n中"), pattern=pattern)
    agree("", LLAMA3)


# The text itself is the only piece.
@graded("bpe.split_text", alone=False)
def test_pieces_edges(agree: Agree) -> None:
    """No characters, one character"""
    for text in ("", "a", " ", "'", "7", "'s", "\n"):
        agree(text)


@graded("bpe.split_text")
def test_pieces_mixture(agree: Agree, draw: RandomInputs) -> None:
    """A sentence with everything"""
    agree(SENTENCE)
    agree(draw.text(120, "the'sx re 12 .,\n é🙂"))


@graded("bpe.train_bpe", points=2)
def test_train(agree: Agree, draw: RandomInputs) -> None:
    """Words that share parts"""
    agree(WORDS, 262)
    agree(WORDS, 268)
    agree("AB AB Ab ab ABC", 261)
    agree(draw.text(150, "abc "), 276)


@graded("bpe.train_bpe")
def test_train_ties(agree: Agree, draw: RandomInputs) -> None:
    """Equally frequent pairs"""
    agree("dcba", 259)
    agree("ca cb", 258)
    agree("zy xw vu ts", 262)
    agree("b a" + draw.text(20, "zyxwab \u00ff"), 270)


@graded("bpe.train_bpe")
def test_train_ties_of_merged_tokens(agree: Agree, draw: RandomInputs) -> None:
    """Equally frequent pairs of tokens that were merged before"""
    agree("zzzz zzzz za zb azb zz", 270)
    agree("bababa cacaca babac acaba", 275)
    for _ in range(3):
        agree(" " + draw.text(60, "ab c"), 290)


@graded("bpe.train_bpe")
def test_train_overlaps(agree: Agree, draw: RandomInputs) -> None:
    """The same symbol many times"""
    agree("aaaa aaa", 260)
    agree("aaa baa aab ab", 260)
    agree("aaa bc bc", 258)
    agree(" ".join("a" * int(n) for n in draw.integers(6, low=1, high=12)), 270)


@graded("bpe.train_bpe")
def test_train_pieces(agree: Agree, draw: RandomInputs) -> None:
    """Pairs are only counted and merged within pieces"""
    agree(draw.text(80, "ab.1\n "), 261)
    agree("b. b. b. b. b, b, cd", 259)
    agree("x1x1x1x1 ab ab ab", 259)
    agree("a\nb\na\nb\na\nb cd cd", 262)


@graded("bpe.train_bpe")
def test_train_weights(agree: Agree, draw: RandomInputs) -> None:
    """A piece that occurs often counts often"""
    agree("".join(int(n) * f" {draw.text(3, 'uvwxyz')}" for n in draw.integers(8, low=1, high=9)), 260)
    agree("xy" + 5 * " xy" + " ab abc abd", 258)
    agree(8 * "\nqz" + " cd ce cdf cdg cdh", 260)


@graded("bpe.train_bpe")
def test_train_bytes(agree: Agree, draw: RandomInputs) -> None:
    """Accents, emoji and other scripts: pairs of bytes"""
    agree("éé è ê ë 🙂🙃🙂 中文中", 270)
    agree(draw.text(40, "éèñ中字🙂 "), 280)


@graded("bpe.train_bpe")
def test_train_to_the_end(agree: Agree, draw: RandomInputs) -> None:
    """No pair is left before the vocabulary is full"""
    agree("abab", 300)
    agree(draw.text(30, "abc "), 500)
    agree("a b c", 300)
    agree("x", 300)


@graded("bpe.train_bpe")
def test_train_edges(agree: Agree, draw: RandomInputs) -> None:
    """No text, no merges, one merge"""
    agree("", 300)
    agree("abab", 256)
    agree("abab", 257)
    agree(draw.text(40, "abcd "), 257)


@graded("bpe.train_bpe")
def test_train_small_vocab(refuses: Refuses) -> None:
    """A vocabulary below 256 is a ValueError"""
    for size in (0, 100, 255):
        refuses("abab", size)
    refuses("", 255)


@graded("bpe.bpe_encode", points=2)
def test_bpe_encode(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """Words made of learned parts"""
    vocab, merges = trained(WORDS, 268)
    agree(" low lowest newer widest wide", vocab, merges)
    agree(draw.text(40, "lowernstid "), vocab, merges)


@graded("bpe.bpe_encode")
def test_bpe_encode_ids(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """The ids of the vocabulary, in any order"""
    vocab, merges = trained(WORDS, 268, step=-3, first=5000)
    agree(" newest low", vocab, merges)
    agree(draw.text(30, "lowest "), vocab, merges)


@graded("bpe.bpe_encode")
def test_bpe_encode_ranks(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """The earliest merge first: not the first, the longest or the most frequent pair"""
    vocab, merges = trained("ab\nab\nbc", 258, step=-1, first=400)
    agree("abc", vocab, merges)
    vocab, merges = trained("ab\nab\nbc", 258)
    agree("abc\nbc\nbc", vocab, merges)
    vocab, merges = trained("\n".join(5 * ["abc"] + 3 * ["cd"]), 259)
    agree("abcd", vocab, merges)
    vocab, merges = trained("bc bc bc bc ab ab ab cd cd abc abcd", 261)
    agree("abcd abcd", vocab, merges)
    agree("ababcd bcdab", vocab, merges)
    vocab, merges = trained(draw.text(300, "abcd "), 290)
    for _ in range(3):
        agree(draw.text(40, "abcd "), vocab, merges)


@graded("bpe.bpe_encode")
def test_bpe_encode_merges(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """The merges decide, not which tokens the vocabulary has"""
    text = "\n".join(9 * ["bcde"] + 8 * ["abcde"] + 5 * ["ab"])
    vocab, merges = trained("\n".join(30 * ["ef"]) + "\n" + text, 262)
    agree("abcdef", vocab, merges)
    vocab, merges = trained(text, 261)
    agree("abcde\nab\nbcde", vocab, merges)
    vocab |= {"ab cd": 800, "cde": 801, "abc": 802}
    agree("abcd cde abc", vocab, merges)
    agree(_phrase(draw, 12, ("a", "b", "", "cd"), ("bcd", "cde", "abc"), ("e", " ", "\n")), vocab, merges)


@graded("bpe.bpe_encode")
def test_bpe_encode_overlaps(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """The same symbol many times"""
    vocab, merges = trained("aaaa aaaa aa", 259)
    for n in (1, 2, 3, 5, 7, 8):
        agree("a" * n, vocab, merges)
    agree(" ".join("a" * int(n) for n in draw.integers(8, low=1, high=30)), vocab, merges)


@graded("bpe.bpe_encode")
def test_bpe_encode_pieces(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """Tokens end where pieces end"""
    vocab, merges = trained("ab ab ab ba ba  ab", 262)
    vocab |= {"b.": 900, "bĠ": 901, "ĊĊ": 902, "1a": 903}
    merges = [("b", "."), ("b", "Ġ"), ("1", "a"), *merges]
    agree("ab. b. ab ab\n\nab 1ab", vocab, merges)
    agree("ab  ab ", vocab, merges)
    agree(draw.text(40, "ab. \n1"), vocab, merges)


@graded("bpe.bpe_encode")
def test_bpe_encode_bytes(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """Accents, emoji and other scripts, of which some were never seen"""
    vocab, merges = trained("é è ê 🙂 🙂 中文 中 naïve", 275)
    agree("é🙂中字ж naïveté\t½", vocab, merges)
    agree(draw.text(25, "éèж🙂🙃中 "), vocab, merges)


@graded("bpe.bpe_encode")
def test_bpe_encode_sentence(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """A sentence with everything, and the same pieces several times"""
    vocab, merges = trained(SENTENCE * 2 + WORDS, 320)
    agree(SENTENCE + SENTENCE + " lowest isn't", vocab, merges)
    agree(_phrase(draw, 20, tuple(SENTENCE.split(" ")), (" ", "\n")), vocab, merges)


@graded("bpe.bpe_encode")
def test_bpe_encode_edges(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """No text, one character, no merges"""
    vocab, merges = trained(WORDS, 262)
    agree("", vocab, merges)
    agree("e", vocab, merges)
    without_merges = _vocab([], trained.reference.bpe.byte_symbols(), first=7)
    agree(" lowest", without_merges, [])
    agree(draw.text(12, "lowest é"), without_merges, [])


@graded("bpe.bpe_encode")
def test_bpe_encode_unknown(refuses: Refuses, trained: Trained) -> None:
    """A token that the vocabulary does not have is a ValueError"""
    vocab, merges = trained(WORDS, 262)
    del vocab["Q"], vocab["est"]
    refuses(" lowQ", vocab, merges)
    refuses(" newest", vocab, merges)
    refuses("l", {}, [])


@graded("bpe.bpe_encode", points=0.5)
def test_bpe_encode_unknown_text(refuses: Refuses, trained: Trained) -> None:
    """The message contains the token"""
    vocab, merges = trained(WORDS, 262)
    del vocab["Q"], vocab["est"]
    refuses(" lowQ", vocab, merges, about="Q")
    refuses(" newest", vocab, merges, about="est")


@graded("bpe.bpe_encode", points=0.5)
def test_bpe_encode_special(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """Special tokens, of which one is the beginning of another, and text that looks like one"""
    vocab, merges = trained(SENTENCE + WORDS, 290)
    special = ["<|end|>", "<|", "<|end|>>", "[a.c]"]
    chat = vocab | {token: 500 - place for place, token in enumerate(special)}
    agree(" lowest<|end|> low<|<|end|>>", chat, merges, special)
    agree("[a.c] [abc] <|end|><|end|>", chat, merges, special_tokens=special[::-1])
    agree(_phrase(draw, 12, ("", " low", *special), (" ", "newest", *special)), chat, merges, special)
    agree("<|end|> low [a.c]", chat, merges)
    agree(" low<|end|>", chat, merges, special_tokens=[])


@graded("bpe.bpe_encode", points=0.5)
def test_bpe_encode_pattern(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """The rules of other models"""
    vocab, merges = trained("in 1999 and 2026, it'll 2026 " * 2, 285)
    for pattern in (LLAMA3, DIGITS):
        agree("IT'LL be 2026 in 1999!\n\n  <|end|> 2026", vocab | {"<|end|>": 999}, merges, ["<|end|>"], pattern)
        agree(draw.text(40, "it'l 1920\n"), vocab, merges, pattern=pattern)


@graded("bpe.bpe_encode", points=0.5)
def test_bpe_encode_whole(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """A piece that is a token, although no merges make it"""
    vocab, merges = trained(WORDS, 268)
    vocab |= {"Ġslow": 500, "wid": 501, "Ġwidest": 502, "Ã©": 503}
    for whole in (True, False):
        agree(" slow wid widest wide lowest slowest é", vocab, merges, ignore_merges=whole)
        agree(_phrase(draw, 10, (" slow", " wid", "wid", "é"), ("", "est", " low")), vocab, merges, ignore_merges=whole)


@graded("bpe.bpe_decode", points=2)
def test_bpe_decode(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """Tokens of letters and spaces"""
    vocab, _ = trained(WORDS, 268)
    agree(np.array([260, 257, 68, 220, 264], np.int64), vocab)
    agree(draw.integers(20, low=64, high=90), vocab)


@graded("bpe.bpe_decode")
def test_bpe_decode_ids(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """The ids of the vocabulary, in any order"""
    vocab, _ = trained(WORDS, 268, step=-3, first=5000)
    agree(5000 - 3 * draw.integers(20, low=64, high=90), vocab)


@graded("bpe.bpe_decode")
def test_bpe_decode_bytes(agree: Agree, trained: Trained, reference: Reference, draw: RandomInputs) -> None:
    """Characters of several bytes, in one token or in several"""
    vocab, merges = trained("é é 🙂 🙂 中文", 264)
    for text in ("é🙂中ж", " naïve 中文\n\t½", draw.text(20, "aéж中文🙂½ ")):
        agree(reference.bpe.bpe_encode(text, vocab, merges), vocab)
        agree(reference.bpe.bpe_encode(text, vocab, []), vocab)


@graded("bpe.bpe_decode")
def test_bpe_decode_invalid(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """Bytes that are not valid UTF-8"""
    vocab, _ = trained("", 256)
    ids = [vocab[symbol] for symbol in trained.reference.bpe.byte_symbols().values()]
    agree(ids[0xE4:0xE5] + ids[0x41:0x43], vocab)
    agree(ids[0x80:0x83] + ids[0x41:0x42] + ids[0xFF:], vocab)
    agree([vocab["ä"], vocab["¸"]], vocab)
    agree(draw.integers(60, high=256), vocab)


@graded("bpe.bpe_decode")
def test_bpe_decode_forms(agree: Agree, trained: Trained, draw: RandomInputs) -> None:
    """A list, other integer types, no ids, one id"""
    vocab, _ = trained(WORDS, 268)
    agree([260, 257], vocab)
    agree(draw.integers(12, low=64, high=90).tolist(), vocab)
    agree(np.array([260, 257, 72], dtype=np.uint16), vocab)
    agree(np.array([], dtype=np.int64), vocab)
    agree([], {})
    agree(np.array([260], np.int64), vocab)


@graded("bpe.bpe_decode")
def test_bpe_decode_unknown(refuses: Refuses, trained: Trained) -> None:
    """An unknown id is a ValueError, a negative one too"""
    vocab, _ = trained(WORDS, 260)
    for ids in ([70, 260], [-1, 70], [70, 71, -3], [9999]):
        refuses(np.array(ids, np.int64), vocab)
    refuses([1], {"a": 0, "b": 2})


@graded("bpe.bpe_decode", points=0.5)
def test_bpe_decode_unknown_text(refuses: Refuses, trained: Trained) -> None:
    """The message contains the unknown id"""
    vocab, _ = trained(WORDS, 260)
    refuses(np.array([70, 71, 8642, 72], np.int64), vocab, about="8642")


@graded("bpe.bpe_decode")
def test_bpe_decode_inputs_kept(unmodified: Unmodified, trained: Trained, draw: RandomInputs) -> None:
    """The ids are not changed"""
    vocab, _ = trained(WORDS, 260)
    unmodified(draw.integers(20, high=256), vocab)
