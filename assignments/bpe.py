"""Byte-pair encoding: the tokenizer of GPT-2, trained and used."""

# %% [markdown]
# # Byte-pair encoding: tokens between characters and words
#
# *Assignment 16 of 19 · 5 functions · about 2 h 20 min to write them*
#
# Your tokenizer has one token for each character. That is simple, but a model pays for it: texts are long sequences,
# and a character that was not in the training text cannot be encoded at all. Tokens for whole words make sequences
# short, but their vocabulary never has all words. GPT-2 uses something in between (Radford et al. 2019, section 2.2).
# Its tokens are learned from a text: a frequent word becomes a single token, a rare one several, and as every text is
# a sequence of bytes, nothing is unknown.
#
# The method is called **byte-pair encoding**. It was invented to compress data (Gage 1994), and Sennrich, Haddow and
# Birch (2016, section 3.2) used it for words. It begins with single bytes as tokens, and merges the most frequent pair
# of neighboring tokens into a new one, again and again.
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
# In this assignment you write the tokenizer of GPT-2, and train one of your own. With the next assignment, your code
# runs GPT-2 itself, and the text goes in through these functions.

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
# Computers store text as bytes, numbers from 0 to 255. The usual encoding is **UTF-8**: the 128 characters of ASCII are
# one byte each, all other characters two, three or four.
#
# ```python
# >>> [list(char.encode("utf-8")) for char in ("e", "é", "中", "🙂")]
# [[101], [195, 169], [228, 184, 173], [240, 159, 153, 130]]
#
# ```
#
# So 256 tokens are enough to write every text. But how should tokens be stored in a file, one in each line? Some bytes
# are line breaks and spaces, some are control characters, and 195 alone is no character at all. GPT-2 therefore shows
# each byte as one printable character:
#
# - 188 bytes are shown as the character with that code point, because it is visible: 33 to 126, which are `!` to `~`,
#   161 to 172 (`¡` to `¬`) and 174 to 255 (`®` to `ÿ`).
# - The other 68 bytes are, in ascending order, the characters with the code points 256, 257, 258, … Byte 0 is `Ā`, and
#   byte 32, the space, is `Ġ`.
#
# ![The 256 bytes as a table of 16 rows and 16 columns, each with its symbol. The 68 bytes that are not shown as
# themselves are orange: 0 to 32, 127 to 160, and 173.](figures/byte-table.svg)
#
# You will see `Ġ` in every file of a tokenizer like GPT-2's: it is a space.
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
# If all neighbors could be merged, frequent words would get a token with each punctuation mark that follows them:
# `dog`, `dog.`, `dog!`, `dog?`. GPT-2 prevents that. It first splits the text into pieces, and merges only within a
# piece. At each place, the first of these rules that fits decides how the next piece looks:
#
# 1. one of the endings `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll`, `'d`;
# 2. letters, with a space before them if there is one;
# 3. digits and other numbers, with a space before them if there is one;
# 4. other characters that are not whitespace, with a space before them if there is one;
# 5. whitespace, but not the last character of it if something follows;
# 6. whitespace.
#
# ```python
# >>> split_text("I'll take 2 of them,  thanks!")
# ['I', "'ll", ' take', ' 2', ' of', ' them', ',', ' ', ' thanks', '!']
#
# ```
#
# A space belongs to the word *after* it. So `" them"` is a different piece from `"them"`, and nothing has to be stored
# between words: joined, the pieces are the text. Rule 5 is why the second of two spaces goes with "thanks".
#
# A *regular expression* says all this in one line. `\p{L}` stands for a letter of any script, `\p{N}` for a digit or
# another number, `\s` for whitespace. `[^…]` is a character that is none of these, `+` means one or more, `?` one or
# none, `|` separates alternatives, and the first that fits is taken. `(?!\S)` fits where no character other than
# whitespace follows. Python's own module `re` does not know `\p{L}`, but the package `regex` does:
#
# ```python
# >>> regex.findall(r" ?\p{L}+|\d", "Où est 中文? 12")
# ['Où', ' est', ' 中文', '1', '2']
# >>> regex.findall(r"\s+(?!\S)", "a   b  ")
# ['  ', '  ']
#
# ```
#
# Put the six rules together in their order. Rules 1 to 4 need nothing but these parts. `findall` returns a list of all
# pieces, as long as the expression has no parentheses that capture: `(?:…)` groups without capturing.

# %%


def split_text(text):
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

    Returns:
        list of strings, the pieces; joined, they are the text.
    """
    raise NotImplementedError("bpe.split_text")


# %% [markdown]
# ## `train_bpe`
#
# *50 min, needs pen and paper*
#
# Training starts with the pieces of the text as sequences of symbols, and counts how often each pair of neighbors
# occurs. The most frequent pair is merged: wherever the two stand next to each other, they become one token. Then it
# counts again. The list of merged pairs, in this order, is all that is learned.
#
# Take the example of Sennrich, Haddow and Birch, 16 words:
#
# ```python
# >>> words = 5 * " low" + 2 * " lower" + 6 * " newest" + 3 * " widest"
# >>> merges = train_bpe(words, 268)
# >>> merges[:6]
# [('e', 's'), ('es', 't'), ('l', 'o'), ('Ġ', 'lo'), ('Ġlo', 'w'), ('e', 'w')]
#
# ```
#
# The pair `e s` occurs 9 times, 6 times in "newest" and 3 times in "widest". After it is merged, `es t` occurs 9 times
# as well. Then `l o`, `Ġ l` and `o w` occur 7 times each. Which one is first? Any rule would do, but the result should
# not depend on chance. Here the rule of Hugging Face's library `tokenizers` decides: the pair whose *left* token came
# first into the vocabulary, and if that is the same, the one whose *right* token did. The vocabulary begins with the
# 256 symbols, sorted by code point, and each merge adds a token at its end. The symbols `l` (108) and `o` (111) come
# before `Ġ` (288), and so `l o` is the first of the three.
#
# Two details are easy to get wrong. Counts are of *text*: a piece that occurs six times counts six times. And if tokens
# overlap, as in `a a a`, the pair `a a` counts twice, but only the first two can be merged, from left to right:
#
# ```python
# >>> train_bpe("aaaa aaaa", 259)
# [('a', 'a'), ('aa', 'aa'), ('Ġ', 'aaaa')]
# >>> train_bpe("abab", 300)  # stops early: no pair is left
# [('a', 'b'), ('ab', 'ab')]
#
# ```
#
# Now make it fast. In a text of a million characters, the same pieces occur again and again: "the" thousands of times.
# Count each *different* piece once, with its number of occurrences as its weight (`collections.Counter`). That is the
# most important step. The second: a merge changes only the pieces in which the pair occurs. Keep the counts from one
# round to the next; subtract the pairs of these pieces, merge, and add their new pairs. For this you need a table of
# the pieces in which each pair occurs. Begin without it, and add it when your function passes the checks.

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
# A tokenizer is the merges and a vocabulary, which gives each token its id. GPT-2's files have one of each; yours can
# be numbered in the order of the tokens. This function is given:

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
# How does a new word become tokens? By the same merges in the same order. The place of a pair in the list of merges is
# its *rank*. Look at all pairs of neighbors in the piece, and merge the one with the lowest rank, wherever it occurs;
# repeat until no pair is in the list. The word "lowest" was not in the training text, but both of its parts were:
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
# The rank decides, not how often the pair occurs in the text that is encoded, nor how long the merged token is. The
# longest token would often be another split. A model knows only the tokens as they were in its training, so the split
# must be the same.
#
# The naive way goes through the merges, one after the other, and applies each to the whole text. That is a pass over
# the text for each of GPT-2's 50,000 merges. There are two better ideas, and you need both:
#
# - Within a piece, only pairs that are *there* matter. Look their ranks up in a dictionary, pair -> rank, and take the
#   smallest. A piece of n symbols needs at most n − 1 rounds, whatever the number of merges.
# - The same piece always becomes the same ids. Remember them in a dictionary, piece -> ids, and merge each different
#   piece once.
#
# ![Bars. 1.1 million characters of Shakespeare have 297,833 pieces, but only 15,057 different ones. A pass over the
# text for each merge takes 4.8 hours, the lowest rank in each piece 2.0 seconds, each different piece once 0.6
# seconds.](figures/bpe-speed.svg)
#
# These are times on one core of a server. A single pass of the naive way takes 0.35 seconds there, and it needs 50,000.

# %%
def bpe_encode(text, vocab, merges):
    """Convert a text to ids by byte-pair encoding.

        pieces = split_text(text), each as the symbols of its bytes in UTF-8
        in each piece, repeat: of all pairs of neighbors that are in `merges`, merge the one that is first there,
        wherever it occurs, from left to right
        ids: the tokens looked up in `vocab`

    Args:
        text: a string; it may be empty.
        vocab: dict, token -> id; the ids may be any integers.
        merges: list of pairs (left, right), as `train_bpe` returns it.

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
# Back to text: look up the tokens, join their symbols, and turn each symbol into its byte. Then the bytes are decoded
# as UTF-8, all at once.
#
# ```python
# >>> bpe_decode([260, 257], vocab)
# ' lowest'
#
# ```
#
# All at once, because a character may be spread over several tokens: here the three bytes of `中` are three ids. And a
# model can write ids whose bytes are no text, such as the first two of them alone. Python's `decode` raises an error
# then, but with `errors="replace"` it puts the character U+FFFD, `�`, where the bytes make no sense:
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
# Take a pencil; no code is needed.
#
# 1. The text is "banana banana", so the pieces are `b a n a n a` and `Ġ b a n a n a`. Which are the first four merges?
#    The code points of a, b and n are 97, 98 and 110, and that of `Ġ` is 288.
# 2. The merges are (a, b), (b, c), (c, d), in this order. How are `a b c d` and `b c d` encoded?
# 3. A tokenizer has all 256 bytes in its vocabulary. Is there a text that it cannot encode? Is there a list of its ids
#    that is not the code of any text?

# %% [markdown]
# ## Answers on paper
#
# **1. `a n`, `b an`, `an a`, `ban ana`.** Both `a n` and `n a` occur four times, and a comes before n. Then the pieces
# are `b an an a` and `Ġ b an an a`, and `b an`, `an an` and `an a` occur twice each. The left token b (98) came into
# the vocabulary long before `an`, so `b an` is merged. Now `ban an` and `an a` occur twice each, and `an` came before
# `ban`. At last, `ban ana` occurs twice, and `Ġ ban` only once.
#
# ```python
# >>> train_bpe("banana banana", 260)
# [('a', 'n'), ('b', 'an'), ('an', 'a'), ('ban', 'ana')]
#
# ```
#
# **2. `ab cd`, and `bc d`.** In the first, (a, b) has the lowest rank. Then b is gone, (b, c) does not occur, and (c,
# d) is merged. In the second, (b, c) comes before (c, d), and nothing is left for d.
#
# **3. No, and yes.** Every text has bytes, and in the worst case each byte becomes a token. But two ids that could have
# been merged are not the code of a text: for the word "low" above, the ids of `l`, `o` and `w` decode to "low", and
# encoding gives fewer ids. Nor is a byte that is not valid UTF-8.

# %% [markdown]
# ## What could go wrong
#
# Look here when a check fails. These mistakes are easy to make, and the report uses the same words when it recognizes
# one.
#
# - `byte_symbols`: **the symbols of the invisible bytes begin at code point 257, not at 256.** All 68 symbols are
#   then off by one: the space becomes another character than Ġ, and no token of GPT-2's files with a space in it is
#   found.
# - `byte_symbols`: **byte 173, the soft hyphen, was counted as visible.** It cannot be seen, so it needs another
#   symbol; and all bytes after it that need one are moved.
# - `split_text`: **the space was not kept with the word after it.** GPT-2's tokens contain the space before a word,
#   such as Ġthe. With the space as a piece of its own, they are never found, and each word costs one token more.
# - `split_text`: **whitespace does not leave its last character to the word after it.** Of three spaces before a
#   word, two are a piece, and the third belongs to the word: rule 5, (?!\S).
# - `split_text`: **\w was used for letters, which contains digits and the underscore.** Numbers then stick to
#   letters. A letter is \p{L}, and a number \p{N}.
# - `train_bpe`: **pairs were counted and merged across the pieces.** Tokens such as "e." or "of the" then take the
#   places of words. `split_text` says where no token may cross.
# - `train_bpe`: **of equally frequent pairs, the one that comes first in the text was merged.** max returns the first
#   of several, and a dictionary has the order in which pairs were counted. The docstring gives another rule, which
#   depends on the vocabulary.
# - `train_bpe`: **each different piece was counted once, however often it occurs.** Merging each different piece once
#   saves time, but its pairs count as often as the piece occurs in the text.
# - `train_bpe`: **the pair was replaced in a string, also where it is only a part of two tokens.** If "a b" is
#   replaced in "ca b", the tokens ca and b are merged, too. Compare whole tokens.
# - `bpe_encode`: **the pair that is most frequent in this text was merged first, not the one with the lowest rank.**
#   Frequencies matter in training only. The same word must have the same tokens in every text.
# - `bpe_encode`: **the longest token of the vocabulary that fits was taken, again and again; the merges were not
#   used.** WordPiece, the method of BERT, does so. In byte-pair encoding the order of the merges decides.
# - `bpe_encode`: **the bytes of the piece were returned, not the ids of its tokens.** Only `vocab` says which id a
#   token has.
# - `bpe_encode`: **the ids of a word were also used for the same word with a space before it.** "low" and " low" are
#   different pieces with different tokens. The memory needs the piece itself as its key.
# - `bpe_decode`: **the bytes of each token were decoded separately.** A character may be spread over several tokens.
#   Its parts alone are not valid UTF-8.
# - `bpe_decode`: **bytes that are not valid UTF-8 raised an error instead of becoming U+FFFD.** A model may write any
#   ids, also the first half of a character. With errors="replace", decode never fails.

# %% [markdown]
# ## Try it
#
# More merges make texts shorter. Do they also make a better model? Train tokenizers of several sizes on the names, and
# for each of them a bigram model that counts. Losses *per token* cannot be compared, because tokens have different
# lengths: a model that guesses whole words has a harder task at each step, and fewer steps. Compare the loss *per
# character*: the sum over all tokens, divided by the number of characters.
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
# There is a best size. With 24 merges a bigram model is better than with none, because a token such as `an` tells it
# more about what follows than its last letter does. But the table grows with the square of the vocabulary: with 1,000
# tokens it has a million entries, for a training text of 105,000 tokens, and most pairs were never seen. A transformer
# has no such table, and so it can use a vocabulary of 50,000.
#
# 1. Which merges come first, and are they the same if you learn them from the other tenth of the names?
# 2. How many tokens does a text need that is not at all like the training text?
# 3. How many of the 1,000 tokens are never used when the training text is encoded, and why are they there?

# %% [markdown]
# ## Answers
#
# **1. Frequent pairs of letters, and most of them are the same.** Of the first twelve, ten are in both lists:
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
# has some of the same pairs of letters as the names. A tokenizer that was trained on one language makes others
# expensive: their texts become longer sequences, for the same content.
#
# ```python
# >>> for text in ("alexandra", "The quick brown fox", "中文", "1234567890"):
# ...     print(len(text), len(text.encode("utf-8")), len(bpe_encode(text, vocab, merges)))
# 9 9 2
# 19 19 13
# 2 6 6
# 10 10 10
#
# ```
#
# **3. 230, and all but one of them are bytes.** The names have 27 different characters, and the other bytes never
# occur. They are the price for being able to encode everything. One of the 744 merged tokens is not used either:
# wherever `chuk` occurs, it has become a part of `chukwu`. It was only a step on the way.
#
# ```python
# >>> used = {int(index) for index in bpe_encode(train, vocab, merges)}
# >>> unused = [token for token, index in vocab.items() if index not in used]
# >>> len(unused), [token for token in unused if len(token) > 1]
# (230, ['chuk'])
#
# ```

# %% [markdown]
# ## In your own GPT
#
# In the next assignment you load the parameters of GPT-2. Its vocabulary and merges are two files, and these functions
# read them:
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
