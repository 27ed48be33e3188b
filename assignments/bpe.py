"""Byte-pair encoding: the tokenizer of GPT-2, trained and used."""

# %% [markdown]
# # Byte-pair encoding: tokens between characters and words
#
# *Assignment 16 of 21 · 5 functions · about 2 h 20 min to write them*
#
# Give your first tokenizer the name "zoë", and `encode` raises an error: there is no ë among its 27 characters. Tokens
# for whole names would be worse: of the 3,196 names in the last tenth of the list, 2,752 do not occur in the first nine
# tenths. A tokenizer that you train in this lesson writes "chukwu" as one token and "zoë" as three, and it can encode
# any text.
#
# GPT-2 has such a tokenizer (Radford et al. 2019, section 2.2). It learns its tokens from a text: a frequent word
# becomes one token, a rare one several, so sequences are shorter than with characters.
#
# The method, **byte-pair encoding**, starts with single bytes as tokens. Again and again, it merges the most frequent
# pair of neighbors into a new token. Gage (1994) invented it to compress data; Sennrich, Haddow and Birch (2016,
# section 3.2) used it to translate rare words.
#
# ```text
#     "low lowest"
#          │ split_text                       pieces that are never merged with each other
#          v
#     "low"   " lowest"
#          │ UTF-8, byte_symbols              one character for each byte
#          v
#     l o w   Ġ l o w e s t
#          │ the merges that train_bpe learned
#          v
#     lo w    Ġlow est
#          │ vocabulary                       bpe_encode goes down, bpe_decode goes up
#          v
#     258 86  260 257
# ```
#
# ![A map of the whole model. Marked is the step at the top, which turns the text into ids.](figures/map-bpe.svg)
#
# In the next assignment, your code runs GPT-2 itself, and its text goes in through these functions.

# %%
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import regex

# %% [markdown]
# ## `byte_symbols`
#
# *15 min, straightforward*
#
# Computers store text as bytes, numbers from 0 to 255. In the usual encoding, **UTF-8**, the 128 characters of ASCII
# take one byte each, all others two, three or four.
#
# ```python
# >>> [list(char.encode("utf-8")) for char in ("e", "é", "中", "🙂")]
# [[101], [195, 169], [228, 184, 173], [240, 159, 153, 130]]
#
# ```
#
# Every text is a sequence of bytes, so 256 tokens are enough. But in a file, nobody could read them: some bytes are
# spaces or line breaks, and 195 alone is not a character at all. So GPT-2 shows each byte as one printable character:
#
# - 188 bytes are shown as the visible characters with the same code points: 33 to 126 (`!` to `~`), 161 to 172 (`¡` to
#   `¬`) and 174 to 255 (`®` to `ÿ`).
# - The other 68, in ascending order, get the code points 256, 257, 258, … Byte 0 becomes `Ā`, and the space, byte 32,
#   becomes `Ġ`.
#
# ![The 256 bytes as a table of 16 rows and 16 columns, each with its symbol. The 68 bytes that are not shown as
# themselves are orange: 0 to 32, 127 to 160, and 173.](figures/byte-table.svg)
#
# ```python
# >>> symbols = byte_symbols()
# >>> len(symbols), symbols[0], symbols[32], symbols[65], symbols[255]
# (256, 'Ā', 'Ġ', 'A', 'ÿ')
# >>> "".join(symbols[byte] for byte in " né".encode("utf-8"))
# 'ĠnÃ©'
#
# ```

# %%
def byte_symbols():
    """Return GPT-2's table of bytes: each of the 256 bytes as one printable character.

    The bytes 33 to 126, 161 to 172 and 174 to 255 are the characters with these code points. The other 68 bytes, in
    ascending order, are the characters with the code points 256, 257, …, 323.

    Returns:
        dict, byte -> symbol: the 256 integers -> strings of one character.
    """
    raise NotImplementedError("bpe.byte_symbols")


# %% [markdown]
# ## `split_text`
#
# *20 min, needs some thought*
#
# If all neighbors could be merged, one word would get many tokens: `dog`, `dog.`, `dog!`, `dog?`. So GPT-2 first splits
# the text into pieces, and merges only within them. At each place, the first rule that fits makes the next piece:
#
# 1. one of the endings `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll`, `'d`;
# 2. letters;
# 3. digits and other numbers;
# 4. other characters that are not whitespace;
# 5. whitespace, but not its last character if something follows;
# 6. whitespace.
#
# With rules 2 to 4, a space in front belongs to the piece.
#
# ```python
# >>> split_text("I'll take 2 of them,  thanks!")
# ['I', "'ll", ' take', ' 2', ' of', ' them', ',', ' ', ' thanks', '!']
#
# ```
#
# Joined, the pieces give the text again. Rule 5 is why the second of two spaces goes with "thanks".
#
# A *regular expression* says all this in one line. `\p{L}` stands for a letter of any script, `\p{N}` for a digit or
# another number, `\s` for whitespace. `[^…]` is any character not listed, `+` means one or more, `?` one or none. `|`
# separates alternatives; the first that fits is taken. `(?!\S)` fits where no character other than whitespace follows.
# Python's own `re` does not know `\p{L}`, but the package `regex` does:
#
# ```python
# >>> regex.findall(r" ?\p{L}+|\d", "Où est 中文? 12")
# ['Où', ' est', ' 中文', '1', '2']
# >>> regex.findall(r"\s+(?!\S)", "a   b  ")
# ['  ', '  ']
#
# ```
#
# `findall` returns all pieces, as long as no parentheses capture: `(?:…)` groups without capturing. And leave the
# endings in lower case, although `'S` is then cut in two. A comment in OpenAI's code regrets this, but it is how GPT-2
# learned its tokens.
#
# Other models have other rules, so the function also takes a `pattern`. This one makes each digit a piece:
#
# ```python
# >>> split_text("in 2026!", r"\p{N}| ?\p{L}+|\s+| ?[^\s\p{L}\p{N}]+")
# ['in', ' ', '2', '0', '2', '6', '!']
#
# ```

# %%


def split_text(text, pattern=None):
    r"""Split a text into the pieces in which GPT-2 merges.

    From left to right, each piece is the longest match of the first of these rules that matches:

    - 's, 't, 're, 've, 'm, 'll or 'd, in lower case
    - a space or none, then letters (`\p{L}`)
    - a space or none, then numbers (`\p{N}`)
    - a space or none, then characters that are not whitespace (`\s`), letters or numbers
    - whitespace that is not followed by another character, so that the last character before a word is left out
    - whitespace, whatever follows

    Args:
        text: a string; it may be empty.
        pattern: another regular expression, whose matches are the pieces; None means the rules above.

    Returns:
        list of strings, the pieces; joined, they are the text.
    """
    raise NotImplementedError("bpe.split_text")


# %% [markdown]
# ## `train_bpe`
#
# *50 min, needs pen and paper*
#
# Write the pieces as sequences of symbols, and count how often each pair of neighbors occurs. Merge the most frequent
# pair: wherever the two stand side by side, they become one token. Then count again. The ordered list of merged pairs
# is all that is learned.
#
# Sennrich, Haddow and Birch give an example with 16 words:
#
# ```python
# >>> words = 5 * " low" + 2 * " lower" + 6 * " newest" + 3 * " widest"
# >>> merges = train_bpe(words, 268)
# >>> merges[:6]
# [('e', 's'), ('es', 't'), ('l', 'o'), ('Ġ', 'lo'), ('Ġlo', 'w'), ('e', 'w')]
#
# ```
#
# `e s` occurs 9 times, 6 times in "newest" and 3 times in "widest", and so does `es t`. Then `l o`, `Ġ l` and `o w` are
# tied at 7. The rule of Hugging Face's library `tokenizers` decides: take the pair whose *left* token entered the
# vocabulary first, and if that is the same, the one whose *right* token did. The vocabulary begins with the 256
# symbols, sorted by code point, and each merge adds a token at its end. `l` (108) and `o` (111) come before `Ġ` (288),
# so `l o` wins.
#
# Two details are easy to miss. A piece that occurs six times counts six times. And in `a a a`, the pair `a a` counts
# twice, but only the first can be merged, from left to right:
#
# ```python
# >>> train_bpe("aaaa aaaa", 259)
# [('a', 'a'), ('aa', 'aa'), ('Ġ', 'aaaa')]
# >>> train_bpe("abab", 300)  # stops early: no pair is left
# [('a', 'b'), ('ab', 'ab')]
#
# ```
#
# Now make it fast. Count each *different* piece once, weighted by its number of occurrences (`collections.Counter`).
# That helps most. Once your function passes the checks, go on: a merge changes only the pieces that contain the pair.
# So keep the counts from round to round, and a table of the pieces that contain each pair. Subtract the pairs of these
# pieces, merge, and add their new pairs.

# %%


def train_bpe(text, vocab_size):
    """Learn the merges of byte-pair encoding from a text (the same as Hugging Face's `BpeTrainer`).

        pieces = split_text(text), each as the symbols of its bytes in UTF-8
        repeat: merge the most frequent pair of neighboring tokens in all pieces

    Of several pairs that are equally frequent, the one whose left token came first into the vocabulary is merged; of
    those with the same left token, the one whose right token did. The vocabulary starts with the 256 symbols of
    `byte_symbols`, sorted by code point; each merge adds a token at the end.

    Args:
        text: a string; it may be empty.
        vocab_size: the size of the vocabulary at which training stops, ≥ 256.

    Returns:
        merges: list of pairs (left, right), tuples of two strings, in the order in which they were learned. There are
            `vocab_size - 256`, or fewer if no pair is left.

    Raises:
        ValueError: if `vocab_size` is below 256.
    """
    raise NotImplementedError("bpe.train_bpe")


# %% [markdown]
# This function, which is given, assigns your tokens their ids, in order:

# %%
def make_vocab(merges):
    """Return the vocabulary of these merges: token -> id, first the 256 symbols by code point, then the merged ones."""
    tokens = sorted(byte_symbols().values()) + [left + right for left, right in merges]
    return {token: index for index, token in enumerate(tokens)}


# %% [markdown]
# ## `bpe_encode`
#
# *40 min, needs some thought*
#
# A new word goes through the same merges in the same order. A pair's place in the list of merges is its *rank*. Of all
# pairs of neighbors in a piece, merge the one with the lowest rank, wherever it occurs; repeat until no pair is in the
# list. The word "lowest" was not in the training text, but its parts were:
#
# ![The symbols Ġ l o w e s t at the bottom, and above them a tree of the merges: e s with rank 0, es t with rank 1, l o
# with rank 2, Ġ lo with rank 3, Ġlo w with rank 4. The two roots are the tokens Ġlow and est.](figures/bpe-tree.svg)
#
# ```python
# >>> vocab = make_vocab(merges)
# >>> bpe_encode(" lowest", vocab, merges)
# array([260, 257])
# >>> bpe_encode(" wide", vocab, merges)  # no pair of its symbols was learned
# array([220,  86,  72,  67,  68])
#
# ```
#
# Only the rank decides, not how often the pair occurs here or how long the merged token is. A model knows its tokens
# from training, so new text must be split the same way.
#
# The naive way applies each merge in turn to the whole text: for GPT-2, that is 50,000 passes. Two ideas are better,
# and you need both:
#
# - Only pairs that are *there* matter. Look their ranks up in a dictionary, pair -> rank, and take the smallest. A
#   piece of n symbols needs at most n − 1 rounds.
# - The same piece always becomes the same ids. Remember them in a dictionary, piece -> ids.
#
# ![Bars. 1.1 million characters of Shakespeare have 297,833 pieces, but only 15,057 different ones. A pass over the
# text for each merge takes 4.8 hours, the lowest rank in each piece 2.0 seconds, each different piece once 0.6
# seconds.](figures/bpe-speed.svg)
#
# (On one core of a server.)
#
# **Special tokens.** Chat models were trained on texts with marks such as `<|end|>`, which ends a message. Such a mark
# is one token of the vocabulary, but no merges lead to it. So cut the marks out first, and split what is between them.
# `regex.split` keeps the separators if the pattern is one group in parentheses, and `regex.escape` puts a backslash
# before characters such as `|`.
#
# ```python
# >>> chat = vocab | {"<|end|>": 268}
# >>> bpe_encode(" lowest<|end|> low", chat, merges, special_tokens=["<|end|>"])
# array([260, 257, 268, 260])
# >>> len(bpe_encode("<|end|>", chat, merges))  # not listed, so it is text like any other
# 7
#
# ```
#
# Only what the caller lists is special. Otherwise somebody who types `<|end|>` in a chat would end the message, and
# could write the model's answer as well.
#
# **Whole pieces.** The tokenizer of Llama 3 first looks whether a piece is a token as a whole, and merges only if it is
# not. That is what `ignore_merges` asks for.

# %%
def bpe_encode(text, vocab, merges, special_tokens=(), pattern=None, ignore_merges=False):
    """Convert a text to ids by byte-pair encoding.

        the special tokens are cut out of the text; each is one token
        pieces = split_text(what is between them, pattern), each as the symbols of its bytes in UTF-8
        in each piece, repeat: of all pairs of neighbors that are in `merges`, merge the one that is first there,
        wherever it occurs, from left to right
        ids: the tokens looked up in `vocab`

    Args:
        text: a string; it may be empty.
        vocab: dict, token -> id; the ids may be any integers.
        merges: list of pairs (left, right), as `train_bpe` returns it.
        special_tokens: list of strings, in any order. Where several begin at the same place, the longest counts.
        pattern: that of `split_text`.
        ignore_merges: if True, a piece whose symbols are a token of `vocab` is this token, whatever the merges are.

    Returns:
        The ids of all tokens, in order, (N,), int64.

    Raises:
        ValueError: if a token is not in `vocab`. The message contains the token.
    """
    raise NotImplementedError("bpe.bpe_encode")


# %% [markdown]
# ## `bpe_decode`
#
# *15 min, straightforward*
#
# Look up the tokens, join their symbols, and turn each symbol into its byte. Decode the bytes as UTF-8, all at once.
#
# ```python
# >>> bpe_decode([260, 257], vocab)
# ' lowest'
#
# ```
#
# Why all at once? A character may be spread over several tokens: the three bytes of `中` are three ids here. And a
# model can write ids whose bytes are not text, such as the first two of these alone. Python's `decode` then raises an
# error, but with `errors="replace"` it puts U+FFFD, `�`, where the bytes make no sense:
#
# ```python
# >>> ids = bpe_encode("中", vocab, merges)
# >>> ids
# array([160, 116, 255])
# >>> bpe_decode(ids, vocab), bpe_decode(ids[:2], vocab)
# ('中', '�')
#
# ```

# %%
def bpe_decode(ids, vocab):
    """Convert ids to a text, the inverse of `bpe_encode`.

    Args:
        ids: N integers, (N,), in an array or a list; N may be 0.
        vocab: dict, token -> id, as for `bpe_encode`; no two tokens have the same id.

    Returns:
        A string: the bytes of all tokens together, decoded as UTF-8. Bytes that are not valid UTF-8 become U+FFFD, as
        with `errors="replace"`.

    Raises:
        ValueError: if an id is not in `vocab`. The message contains the id.
    """
    raise NotImplementedError("bpe.bpe_decode")


# %% [markdown]
# ## On paper
#
# 1. The text is "banana banana", so the pieces are `b a n a n a` and `Ġ b a n a n a`. What are the first four merges?
#    The code points of a, b, n and `Ġ` are 97, 98, 110 and 288.
# 2. The merges are (a, b), (b, c), (c, d), in this order. How are `a b c d` and `b c d` encoded?
# 3. With all 256 bytes in the vocabulary, is there a text that cannot be encoded? Is there a list of ids that is not
#    the encoding of any text?

# %% [markdown]
# ## Answers on paper
#
# **1. `a n`, `b an`, `an a`, `ban ana`.** Both `a n` and `n a` occur four times, and a comes before n. In `b an an a`
# and `Ġ b an an a`, three pairs occur twice: `b an`, `an an` and `an a`. The symbol b entered the vocabulary before
# `an`, so `b an` is merged. Then `ban an` and `an a` are tied, and `an` came before `ban`. In the end, `ban ana` occurs
# twice, `Ġ ban` once.
#
# ```python
# >>> train_bpe("banana banana", 260)
# [('a', 'n'), ('b', 'an'), ('an', 'a'), ('ban', 'ana')]
#
# ```
#
# **2. `ab cd`, and `bc d`.** In the first, (a, b) has the lowest rank. Then b is gone, and (c, d) is merged. In the
# second, (b, c) comes before (c, d), and d is left alone.
#
# **3. No, and yes.** At worst, each byte becomes a token. But the ids of `l`, `o` and `w` above are not the encoding of
# any text: they decode to "low", which is encoded as two ids. Nor is a byte that is not valid UTF-8.

# %% [markdown]
# ## What could go wrong
#
# With most of these mistakes, you still get tokens, but not GPT-2's. The report uses the same words.
#
# - `byte_symbols`: **the symbols of the invisible bytes begin at code point 257, not at 256.** All 68 symbols are then
#   off by one: the space becomes another character than Ġ, and no token of GPT-2's files with a space in it is found.
# - `split_text`: **the space was not kept with the word after it.** GPT-2's tokens contain the space before a word,
#   such as Ġthe. With the space as a piece of its own, they are never found, and each word costs one token more.
# - `train_bpe`: **of equally frequent pairs, the one that comes first in the text was merged.** max returns the first
#   of several, and a dictionary has the order in which pairs were counted. Here the vocabulary decides, so that the
#   same pieces in another order give the same merges.
# - `train_bpe`: **the pair was replaced in a string, also where it is only a part of two tokens.** If "a b" is replaced
#   in "ca b", the tokens ca and b are merged, too. Compare whole tokens.
# - `bpe_encode`: **the longest token of the vocabulary that fits was taken, again and again; the merges were not
#   used.** WordPiece, the method of BERT, does so. In byte-pair encoding the order of the merges decides.
# - `bpe_encode`: **the ids of a word were also used for the same word with a space before it.** "low" and " low" are
#   different pieces with different tokens. The memory needs the piece itself as its key.

# %% [markdown]
# ## Try it
#
# More merges make sequences shorter. Do they make models better? Train tokenizers of several sizes on the names, and a
# counting bigram model for each. You cannot compare losses *per token*: a model that guesses whole words has a harder
# task at each step, and fewer steps. Compare losses *per character*: the sum over all tokens, divided by the number of
# characters.
#
# **Guess first.** A token of several letters lets the bigram model see further back. Will the loss per character fall
# with every merge, or is there a best size?
#
# Run it: `headway experiment bpe`, or the next cell of the notebook. It trains for a few seconds.

# %%
if __name__ == "__main__":
    from counting import bigram_counts

    from autograder.models.training import datasets

    names = datasets.load("names")
    cut = names.index("\n", 9 * len(names) // 10) + 1
    train, val = names[:cut], names[cut:]
    for size in (256, 280, 400, 600, 1000):
        merges = train_bpe(train, size)
        vocab = make_vocab(merges)
        seen, new = (bpe_encode(text, vocab, merges) for text in (train, val))
        probs = bigram_counts(seen, len(vocab), k=0.1)
        losses = -np.log(probs[new[:-1], new[1:]])
        print(f"{size:4}: {len(val) / len(new):.2f} characters per token", end="")
        print(f"   loss per token {losses.mean():.3f}   per character {losses.sum() / len(val):.3f}")
    print(*sorted((left + right for left, right in merges), key=len)[-12:])


# %% [markdown]
# ## What came out
#
# ```text
#  256: 1.00 characters per token   loss per token 2.452   per character 2.452
#  280: 1.25 characters per token   loss per token 2.941   per character 2.353
#  400: 1.57 characters per token   loss per token 3.545   per character 2.253
#  600: 1.77 characters per token   loss per token 3.974   per character 2.240
# 1000: 1.95 characters per token   loss per token 4.460   per character 2.292
# anton lette aiyah dence khali elina christ ington aniyah chukwu eleigh amarie
# ```
#
# There is a best size. Even 24 merges help, because a token such as `an` says more about what follows than its last
# letter does. But 1,000 tokens make a table of a million entries, for a training text of 105,000 tokens, and most pairs
# were never seen. A transformer has no such table, and can afford 50,000 tokens.
#
# 1. Which merges come first, and are they the same if you learn them from the other tenth of the names?
# 2. How many tokens does a text that is nothing like the training text need?
# 3. How many of the 1,000 tokens are never used when the training text is encoded, and why are they there?

# %% [markdown]
# ## Answers
#
# **1. Frequent pairs of letters, mostly the same.** Of the first twelve, ten are in both lists:
#
# ```python
# >>> for text in (train, val):
# ...     print(*(left + right for left, right in train_bpe(text, 268)))
# an ar el le on ah en in ay al er yn
# an el ri en al on ah ar ay in am yn
#
# ```
#
# **2. As many as it has bytes, if no merge fits.** A Chinese character is three bytes and here three tokens. English
# shares some pairs of letters with the names. A tokenizer trained on one language makes others expensive: the same
# content becomes a longer sequence. But it can encode them. Tokens for whole names would fail on most new ones:
#
# ```python
# >>> for text in ("chukwu", "zoë", "The quick brown fox", "中文", "1234567890"):
# ...     print(len(text), len(text.encode("utf-8")), len(bpe_encode(text, vocab, merges)))
# 6 6 1
# 3 4 3
# 19 19 13
# 2 6 6
# 10 10 10
# >>> known = set(train.split())
# >>> len(val.split()), sum(name not in known for name in val.split())
# (3196, 2752)
#
# ```
#
# **3. 230, and all but one of them are bytes.** The names have 27 different characters; the other bytes are the price
# of encoding everything. One of the 744 merged tokens is not used either: wherever `chuk` occurs, it has become a part
# of `chukwu`.
#
# ```python
# >>> used = {int(index) for index in bpe_encode(train, vocab, merges)}
# >>> unused = [token for token, index in vocab.items() if index not in used]
# >>> len(unused), [token for token in unused if len(token) > 1]
# (230, ['chuk'])
#
# ```
#
# A model learns little about a token that it hardly ever meets. GPT-3 shares GPT-2's vocabulary, in which
# `ĠSolidGoldMagikarp`, the name of a Reddit user, is one token. Asked to repeat it, GPT-3 said "distribute" (Rumbelow
# and Watkins 2023).

# %% [markdown]
# ## In your own GPT
#
# GPT-2's vocabulary and merges are two files, and your functions read them:
#
# ```python
# import json
# from pathlib import Path
#
# vocab = json.loads(Path("vocab.json").read_text("utf-8"))
# lines = Path("merges.txt").read_text("utf-8").splitlines()
# merges = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
# bpe_encode("Hello world", vocab, merges)  # array([15496,   995])
# ```
