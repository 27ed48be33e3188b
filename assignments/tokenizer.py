"""The tokenizer, and batches of text to train on."""

# %% [markdown]
# # The tokenizer: from text to numbers
#
# *Assignment 1 of 21 · 5 functions · about 55 min to write them*
#
# Three of these names come from a list of 32,033. The other three were made up by the model that you are going to
# write. Which are which?
#
# ```text
# raclyn    kopelynn    zeenily    waverlee    senash    moxon
# ```
#
# Kopelynn, Waverlee and Moxon are in the list. Nobody told the model what a name is. It was only asked, over and over:
# given the text so far, which character comes next? Every text contains the right answers, one position further on.
#
# A program that answers this question is a **language model** (Shannon 1951 measured how well people do it). Yours will
# be a **transformer**, the kind of neural network behind today's chat programs: a small **GPT** ("generative
# pre-trained transformer"), in plain NumPy.
#
# A network computes with numbers, so the text is turned into numbers first, and back into text at the end:
#
# ```text
#     text ── encode ──> ids (N,) ── train_val_split ──> train, val ── get_batch ──> x, y (B, T)
#                                                                                        │
#     text <── decode ── ids <────────────────────────────────────────── the model <─────┘
# ```
#
# This map shows the whole model, with this assignment's part marked.
#
# ![A map of the whole model. Marked: the tokenizer, the first step.](figures/map-tokenizer.svg)
#
# The pieces of text that get a number are called **tokens**, the number of a token is its **id**, and the list of all
# tokens is the **vocabulary**. Large models use pieces of words (Sennrich, Haddow and Birch 2016, section 3.2). Yours
# uses single characters, which keeps the vocabulary small. Everything after this assignment sees only ids.
#
# In the diagram, (N,) is a **shape**, written as in NumPy: N numbers along one **axis**. A table of B rows and T
# columns has two axes and the shape (B, T). The type of the entries is the **dtype**: ids are integers, `int64`; later,
# nearly everything is `float64` or `float32`, numbers with a point. (64 and 32 are the bits of one number.) Comments in
# the code give shapes, too. When something is wrong, print `x.shape` first.
#
# If `x[:, None]`, `x[..., 0]` or `keepdims=True` means nothing to you, spend half an hour on the exercises in
# `numpy_warmup`, next to this lesson.
#
# Each section ends with a function to write, unless its docstring begins with "Given". The time below a heading is for
# writing it. Reading, the questions and the experiment take nearly as long again.
#
# A line after `>>>` is typed into Python; below it is what you get once your function is correct. In a notebook, the
# cell after the function checks it; in a file, `headway watch`, typed in a terminal, checks on every save; on the
# website, press *Check*. All three give you a report.
#
# Later lessons import your earlier functions, as in `from softmax import softmax`. A notebook takes yours if it is
# saved in `softmax.py` or `softmax.ipynb`, and the official one otherwise. Anything imported from `autograder` comes
# with the course.
#
# New terms are in bold where they are explained; `headway list --terms` and the website's glossary list them. Each
# lesson ends with an experiment: guess, run it, and only then read on.

# %%
import numpy as np

# %% [markdown]
# ## `build_vocab`
#
# *10 min, straightforward*
#
# List each distinct character of the text once, in sorted order. The order means nothing to the model, but a fixed
# order gives the same ids every time. Two dictionaries convert in both directions: `stoi` ("string to integer") and
# `itos` ("integer to string").
#
# ```python
# >>> chars, stoi, itos = build_vocab("hello")
# >>> chars
# ['e', 'h', 'l', 'o']
# >>> stoi["h"], itos[1]
# (1, 'h')
#
# ```
#
# Python sorts strings by Unicode code point: newline, space, digits, capital letters, lowercase letters, accented
# letters.
#
# `start` leaves ids free below the first character, for tokens that are not characters: one that says "the text begins
# here", or **padding**, which makes short texts as long as the longest, because all rows of an array have the same
# length.
#
# ```python
# >>> chars, stoi, itos = build_vocab("anna", start=1)
# >>> stoi
# {'a': 1, 'n': 2}
#
# ```

# %%
def build_vocab(text, start=0):
    """Return the vocabulary of a text: its different characters, numbered in sorted order.

    Args:
        text: a string. The vocabulary of the empty string is empty.
        start: the id of the first character; the others follow without gaps.

    Returns:
        chars: list of the V different characters, sorted by code point.
        stoi: dict, character -> id. The ids are Python integers, `start` to `start + V - 1`.
        itos: dict, id -> character, the inverse of `stoi`.
    """
    raise NotImplementedError("tokenizer.build_vocab")


# %% [markdown]
# ## `encode`
#
# *10 min, straightforward*
#
# With a vocabulary, a text becomes an array: one id for each character.
#
# ```python
# >>> chars, stoi, itos = build_vocab("hello")
# >>> encode("hole", stoi)
# array([1, 3, 2, 0])
#
# ```
#
# For an empty list, NumPy chooses the dtype `float64` unless an argument says otherwise:
#
# ```python
# >>> np.array([]).dtype, np.array([], dtype=np.int64).dtype
# (dtype('float64'), dtype('int64'))
#
# ```
#
# A character outside the vocabulary is an error, and the message says where it is. Skipping it would hide the flaw in
# the data until the model writes strange text.
#
# ```python
# >>> encode("help", stoi)
# Traceback (most recent call last):
# ...
# ValueError: character 'p' at position 3 is not in the vocabulary
#
# ```
#
# `enumerate` gives each character with its position, and `!r` in an f-string adds the quotes:
#
# ```python
# >>> for position, char in enumerate("hi"):
# ...     print(f"character {char!r} at position {position}")
# character 'h' at position 0
# character 'i' at position 1
#
# ```
#
# See it: `headway plot token-ids`. (If you have not written the function yet, add `--solution`.)
#
# ![The ids of a short text, one dot for each character: equal characters are at the same
# height.](figures/token-ids.svg)

# %%
def encode(text, stoi):
    """Convert a text to ids, one for each character.

    Args:
        text: a string of T characters; T may be 0.
        stoi: dict, character -> id, as `build_vocab` returns it.

    Returns:
        The ids, (T,), int64.

    Raises:
        ValueError: if a character is not in `stoi`. The message contains the first such character and its position,
            counted from 0: "character 'p' at position 3 is not in the vocabulary".
    """
    raise NotImplementedError("tokenizer.encode")


# %% [markdown]
# ## `decode`
#
# *5 min, straightforward*
#
# To read what the model has written, turn the ids back into text: `decode(encode(text, stoi), itos)` is `text` again.
# An unknown id is an error, too. (`"".join(…)` makes one string out of a list.)
#
# ```python
# >>> decode(np.array([1, 0, 2, 2, 3]), itos)
# 'hello'
# >>> decode([2, 4], itos)
# Traceback (most recent call last):
# ...
# ValueError: id 4 at position 1 is not in the vocabulary
#
# ```

# %%
def decode(ids, itos):
    """Convert ids to a text, one character for each id: the inverse of `encode`.

    Args:
        ids: T integers, (T,), in an array or a list; T may be 0.
        itos: dict, id -> character, as `build_vocab` returns it.

    Returns:
        A string of T characters.

    Raises:
        ValueError: if an id is not in `itos`. That includes negative ids: they do not count from the end. The message
            contains the first such id and its position, counted from 0: "id 4 at position 1 is not in the vocabulary".
    """
    raise NotImplementedError("tokenizer.decode")


# %% [markdown]
# ## `train_val_split`
#
# *5 min, straightforward*
#
# The numbers inside a model are its **parameters**, and **training** means changing them, a little at a time, until the
# model's predictions are good. One number measures how bad they are: the **loss**, which you will write in the
# assignment `softmax`.
#
# A model with enough parameters can learn a text by heart. Its loss on that text is then tiny, although it may have
# learned nothing about the language. So part of the text is kept out of training, and the loss on that part, the
# **validation loss**, shows what the model has learned (Goodfellow, Bengio and Courville 2016, section 5.3).
#
# Cut the text at one position: what comes before it is for training, the rest for validation. Rows of a table are often
# shuffled first, but characters in random order are no longer language. If you shuffled larger pieces, neighbors from
# one sentence could end up on both sides, and validation would no longer test on new text.
#
# ```python
# >>> train, val = train_val_split(np.arange(10), train_fraction=0.75)
# >>> train
# array([0, 1, 2, 3, 4, 5, 6])
# >>> val
# array([7, 8, 9])
#
# ```
#
# A size of 7.5 is rounded down. `ids[:n]` is the part before position n, and `ids[n:]` the rest.

# %%
def train_val_split(ids, train_fraction=0.9):
    """Split a text: the beginning is for training, the end for validation. Nothing is shuffled.

    Args:
        ids: the encoded text, (N,).
        train_fraction: the fraction of the text that is for training, 0 < train_fraction ≤ 1. If it is 1, the
            validation part is empty.

    Returns:
        train: the first `int(N * train_fraction)` ids.
        val: the remaining ids, in order. Both parts have the dtype of `ids`.

    Raises:
        ValueError: unless 0 < train_fraction ≤ 1.
    """
    raise NotImplementedError("tokenizer.train_val_split")


# %% [markdown]
# ## `get_batch`
#
# *25 min, needs some thought*
#
# This is the longest function, and the next assignment, `counting`, does not need it. If you cannot wait to see your
# first text, skip ahead, and come back before you train a model.
#
# The training text may have a million characters, but a model reads only a few at a time. It gets windows of a fixed
# length T (the **block size**), B of them at once (a **batch**; B is the *batch size*). Each starts at a random
# position. `x` holds the windows, and `y` the **targets**, which the model should predict: the same windows, one
# character further on.
#
# Take the text "hello world" and the window of length 4 that starts at character 1:
#
# | the model has seen | it should predict |
# |---|---|
# | `e` | `l` |
# | `el` | `l` |
# | `ell` | `o` |
# | `ello` | a space |
#
# ![Two windows of the text hello world, as a batch: x has the ids of the windows, y the ids one character
# later.](figures/batch.svg)
#
# So `x` is "ello" and `y` is "llo ": T predictions to learn from, all made at once by a transformer.
#
# ```python
# >>> ids = np.arange(100, 110)
# >>> x, y = get_batch(ids, batch_size=3, block_size=4, rng=np.random.default_rng(0))
# >>> x.shape, y.shape
# ((3, 4), (3, 4))
# >>> np.array_equal(y, x + 1)  # in this text, every id is the previous one plus 1
# True
#
# ```
#
# All randomness in this course comes from an argument `rng`, a random number generator. From the same state, it gives
# the same numbers again. Here are five below 10:
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> rng.integers(10, size=5)
# array([8, 6, 5, 2, 3])
#
# ```
#
# `rng.integers` excludes its upper end. A loop over the starts is good enough; `np.stack` turns a list of rows into a
# table.
#
# Take care at the end of the text. Its last character can be a target but not an input, so with N characters, the last
# possible start is N − T − 1. With one start too few, the last character is never a target; with one too many, a target
# is missing. A text of T + 1 characters has a single window:
#
# ```python
# >>> get_batch(np.arange(5), batch_size=2, block_size=4, rng=np.random.default_rng(0))[0]
# array([[0, 1, 2, 3],
#        [0, 1, 2, 3]])
#
# ```
#
# With random windows there are no epochs (passes over the whole text), only steps of one batch each.

# %%
def get_batch(ids, batch_size, block_size, rng):
    """Return random windows of a text and, for every character in them, the character that comes next.

        x[b, t] = ids[start_b + t]        y[b, t] = ids[start_b + t + 1]

    Args:
        ids: the encoded text, N integers, (N,).
        batch_size: B, the number of windows.
        block_size: T, the length of a window.
        rng: a `numpy.random.Generator`. Each start_b is drawn from it uniformly and independently of the others, so a
            window may occur twice. Every start 0, 1, ..., N - T - 1 is possible (N - T of them).

    Returns:
        x: the windows, (B, T), int64.
        y: the targets, (B, T), int64.

    Raises:
        ValueError: if the text has fewer than `block_size + 1` characters: a window and its last target.
    """
    raise NotImplementedError("tokenizer.get_batch")


# %% [markdown]
# ## What could go wrong
#
# When a check fails, look here first. The report uses the same words.
#
# - `build_vocab`: **the characters were listed in order of first occurrence, not sorted.** Two texts with the same
#   characters then get different ids, and a saved model cannot be used with the other text.
# - `build_vocab`: **`start` was used for stoi but not for itos.** itos must be the inverse of stoi. Otherwise decode
#   cannot read what encode returns.
# - `encode`: **unknown characters were skipped silently.** There are then fewer ids than characters, and the error in
#   the data goes unnoticed.
# - `get_batch`: **the targets are the windows themselves, not shifted by one character.** The model learns to copy its
#   input: the loss falls towards 0, but the model cannot write.
# - `get_batch`: **the last target of every window is the window's own first character.** np.roll moves the entry that
#   drops out at one end to the other end. The correct target is the character after the window.

# %% [markdown]
# ## Try it
#
# You can already build a first language model. It only counts: which character followed the same k characters most
# often in the training text? That is its prediction. The text is the docstrings of your five functions.
#
# **Guess first.** With more characters to go on, a prediction should get better. As k grows from 1 to 12, will it be
# correct more and more often, both on the training text and on the validation text?
#
# Run it: `headway experiment tokenizer`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    from collections import Counter, defaultdict

    functions = (build_vocab, encode, decode, train_val_split, get_batch)
    text = " ".join(" ".join(function.__doc__ for function in functions).split())
    chars, stoi, itos = build_vocab(text)
    train, val = train_val_split(encode(text, stoi), train_fraction=0.8)

    def examples(ids, k):  # 5,000 pairs: k characters, and the one that comes next
        x, y = get_batch(ids, 5000, k, np.random.default_rng(0))
        return [(decode(before, itos), decode(after, itos)) for before, after in zip(x, y[:, -1:], strict=True)]

    def count(pairs):  # k characters -> the character that followed them most often
        counts = defaultdict(Counter)  # counts[before][after]: how often that pair occurred, at first 0
        for before, after in pairs:
            counts[before][after] += 1
        return {before: followers.most_common(1)[0][0] for before, followers in counts.items()}

    def accuracy(predictions, pairs):  # the share of correct predictions, as text: " 35%"
        return f"{np.mean([predictions.get(before) == after for before, after in pairs]):4.0%}"

    parts = {"  training": train, "  validation": val}
    for k in (1, 2, 3, 4, 6, 8, 12):
        predictions = count(examples(train, k))
        print(f"k = {k:2}", *(f"{part} {accuracy(predictions, examples(ids, k))}" for part, ids in parts.items()))


# %% [markdown]
# ## What came out
#
# ```text
# k =  1   training  33%   validation  26%
# k =  2   training  62%   validation  35%
# k =  3   training  83%   validation  33%
# k =  4   training  90%   validation  27%
# k =  6   training  95%   validation  17%
# k =  8   training  97%   validation   9%
# k = 12   training  99%   validation   4%
# ```
#
# On the training text, every step helps, until the model knows the text by heart. On the validation text, two
# characters work best. With twelve, nearly every prediction is wrong, because those twelve have never occurred before.
# A transformer has to predict well even then.
#
# 1. Shuffle the characters of the text before the split. What is left in the validation column?
# 2. Suppose you draw the windows first and then split *them* at random: 4,000 for training, 1,000 for validation. What
#    does validation show for k = 8, and why is that misleading?

# %% [markdown]
# ## Answers
#
# **1. At most 17%, for k = 1, and less for more characters.** All that is left to learn is which character is most
# frequent (the space). Longer pieces often have no prediction, because they never occurred in training:
#
# ```python
# >>> mixed = np.random.default_rng(0).permutation(encode(text, stoi))
# >>> train, val = train_val_split(mixed, train_fraction=0.8)
# >>> for k in (1, 2, 3):
# ...     predictions = count(examples(train, k))
# ...     print(k, accuracy(predictions, examples(train, k)), accuracy(predictions, examples(val, k)))
# 1  20%  17%
# 2  52%   7%
# 3  88%   2%
#
# ```
#
# **2. It suggests that memorizing works well.** Most validation windows are also in the training set, from the same
# position in the text:
#
# ```python
# >>> pairs = examples(encode(text, stoi), 8)
# >>> accuracy(count(pairs[:4000]), pairs[4000:])
# ' 84%'
#
# ```
