"""Assignment 1: characters as numbers, and batches of text to learn from."""

# %% [markdown]
# # The tokenizer: from text to numbers
#
# In twelve assignments you write a **transformer**, the kind of neural network that today's chat programs are made of:
# every part of it, in plain NumPy. The one that you will train is a **GPT** ("generative pre-trained transformer"): it
# reads names or plays, and goes on writing them.
#
# What it learns is one thing. Given the text so far, what comes next? A program that answers this is a **language
# model** (Shannon 1951 measured how well people do it). Nobody has to write the right answers down: they are in the
# text itself, one place further on.
#
# A network computes with numbers. So text has to become numbers first, and numbers have to become text again at the
# end:
#
# ```text
#     text ── encode ──> ids (N,) ── train_val_split ──> train, val ── get_batch ──> x, y (B, T)
#                                                                                        │
#     text <── decode ── ids <────────────────────────────────────────── the model <─────┘
# ```
#
# The pieces of text that get a number are called **tokens**, the number of a token is its **id**, and the list of all
# tokens is the **vocabulary**. Large models use pieces of words (Sennrich, Haddow and Birch 2016, section 3.2). Here a
# token is one character: the vocabulary is small, and everything after this assignment works on ids and does not care
# what they stand for.
#
# The brackets in the picture are NumPy's. An array with N numbers in a row has one **axis** and the **shape** (N,); a
# table of B rows and T columns has two axes and the shape (B, T). The kind of number in it is its **dtype**: ids are
# whole numbers, `int64`; later on nearly everything is `float64` or `float32`. In this course the shape stands beside
# nearly every line. When something is wrong, look there first: `x.shape`.
#
# Each section below ends with a function to write. What stands behind `>>>` is typed into Python, and the line below it
# is the answer that comes once your function is right. In a notebook the cell after the function checks it; in a file
# `headway watch` checks on every save. A function whose docstring begins with "Given" is there already. New words stand
# in bold where they are explained, each once; `headway list --terms` finds them again. At the end stands an experiment
# with your own functions: guess first, run it, and only then read on.

# %%
import numpy as np

# %% [markdown]
# ## `build_vocab`
#
# First of all, which characters are there? Every different one of the text, once, in sorted order. The order is of no
# use to the model, but a fixed one gives the same ids every time. Two dictionaries lead back and forth: `stoi` ("string
# to integer") and `itos` ("integer to string").
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
# Sorted means by Unicode code point, as Python sorts strings: newline, space, digits, capitals, small letters, accented
# letters.
#
# `start` leaves ids free below the first character, for tokens that are no characters: "the text begins here", or
# **padding**, which means nothing and fills short texts up to the length of longer ones.
#
# ```python
# >>> chars, stoi, itos = build_vocab("anna", start=1)
# >>> stoi
# {'a': 1, 'n': 2}
#
# ```


# %%
def build_vocab(text, start=0):
    """The vocabulary of a text: its different characters, numbered in sorted order.

    Args:
        text: a string. The empty string has an empty vocabulary.
        start: the id of the first character; the others follow without gaps.

    Returns:
        chars: list of the V different characters, sorted by code point.
        stoi: dict, character -> id. The ids are the Python integers `start` ... `start + V - 1`.
        itos: dict, id -> character, the inverse of `stoi`.
    """
    chars = sorted(set(text))
    stoi = {char: index for index, char in enumerate(chars, start)}
    itos = {index: char for char, index in stoi.items()}
    return chars, stoi, itos


# %% [markdown]
# ## `encode`
#
# With the vocabulary at hand, a text becomes an array: one id for each character, in the order of the text.
#
# ```python
# >>> chars, stoi, itos = build_vocab("hello")
# >>> encode("hole", stoi)
# array([1, 3, 2, 0])
#
# ```
#
# A character that the vocabulary does not have is an error, and the message says which one and where. Leaving it out
# silently, or giving it some id, would hide a mistake in the data until the model says strange things.
#
# ```python
# >>> encode("help", stoi)
# Traceback (most recent call last):
# ...
# ValueError: character 'p' at position 3 is not in the vocabulary
#
# ```
#
# See it: `headway plot token-ids` (before your function is written, with `--solution`).

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("token-ids", globals())


# %%
def encode(text, stoi):
    """Text to ids, one for each character.

    Args:
        text: a string of T characters; T may be 0.
        stoi: dict, character -> id, as `build_vocab` returns it.

    Returns:
        The ids, (T,), int64.

    Raises:
        ValueError: if a character is not in `stoi`. The message names the first such character and its position,
            counted from 0: "character 'p' at position 3 is not in the vocabulary".
    """
    try:
        return np.array([stoi[char] for char in text], dtype=np.int64)
    except KeyError:
        position, char = next((i, char) for i, char in enumerate(text) if char not in stoi)
        raise ValueError(f"character {char!r} at position {position} is not in the vocabulary") from None


# %% [markdown]
# ## `decode`
#
# The way back, for reading what the model has written. Nothing is lost: `decode(encode(text, stoi), itos)` is `text`
# again, for every text whose characters are in the vocabulary.
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
    """Ids to text, one character for each id: the inverse of `encode`.

    Args:
        ids: T integers, (T,): an array or a list; T may be 0.
        itos: dict, id -> character, as `build_vocab` returns it.

    Returns:
        A string of T characters.

    Raises:
        ValueError: if an id is not in `itos` (a negative one too: ids do not count from the end). The message names
            the first such id and its position, counted from 0: "id 4 at position 1 is not in the vocabulary".
    """
    ids = np.asarray(ids).tolist()
    for position, index in enumerate(ids):
        if index not in itos:
            raise ValueError(f"id {index} at position {position} is not in the vocabulary")
    return "".join(itos[index] for index in ids)


# %% [markdown]
# ## `train_val_split`
#
# Text is numbers now, in both directions. What is missing is something to learn from, and something to be examined in.
#
# The numbers inside a model are its **parameters**, and **training** means changing them, a little at a time, until the
# model's answers are good. How bad they are is one number, the **loss**; you write it in the next assignment. A model
# with enough parameters can learn a text by heart, as a pupil can. Its loss on that text is tiny, and it may still know
# nothing about the language. So part of the text is kept away from training, and the loss on that part, the
# **validation loss**, says what was learned (Goodfellow, Bengio and Courville 2016, section 5.3).
#
# The cut is one place in the text: what stands before it is for training, the rest for validation. Tables are shuffled
# before they are split; text must not be. Single characters in a random order are no language any more, and
# neighbouring pieces of the same sentence on both sides of the split would let the model see what it is examined in.
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
# Ten times 0.75 is 7.5, and half a character cannot be had: the fraction is cut off.


# %%
def train_val_split(ids, train_fraction=0.9):
    """Cut a text in two: the beginning for training, the end for validation. Nothing is shuffled.

    Args:
        ids: the encoded text, (N,).
        train_fraction: the share of the text that is for training, 0 < train_fraction ≤ 1. With 1 there is no
            validation text.

    Returns:
        train: the first `int(N * train_fraction)` ids.
        val: all the others, in order. Both have the dtype of `ids`.

    Raises:
        ValueError: if `train_fraction` is not above 0 and at most 1.
    """
    if not 0 < train_fraction <= 1:
        raise ValueError(f"train_fraction must be above 0 and at most 1, got {train_fraction}")
    ids = np.asarray(ids)
    n_train = int(len(ids) * train_fraction)
    return ids[:n_train], ids[n_train:]


# %% [markdown]
# ## `get_batch`
#
# The training text may have a million characters; a model reads a few at a time. It gets short windows, all of the same
# length T (the **block size**), B of them at once (a **batch**; B is the *batch size*). Each window starts at a random
# place. `x` holds the windows, and `y` holds what the model should answer: the same windows, moved one character to the
# right.
#
# Take the text "hello world" and the window of length 4 that starts at character 1:
#
# | the model has seen | it should answer |
# |---|---|
# | `e` | `l` |
# | `el` | `l` |
# | `ell` | `o` |
# | `ello` | a space |
#
# So `x` is "ello" and `y` is "llo ": one window of T characters asks T questions, and a transformer answers them all at
# once.
#
# ```python
# >>> ids = np.arange(100, 110)
# >>> x, y = get_batch(ids, batch_size=3, block_size=4, rng=np.random.default_rng(0))
# >>> x.shape, y.shape
# ((3, 4), (3, 4))
# >>> np.array_equal(y, x + 1)  # in this text, every character is its predecessor plus 1
# True
#
# ```
#
# `rng` is where all chance in this course comes from: a generator of random numbers that is handed in. The same one in
# the same state gives the same batch again.
#
# The two ends of the text need care. Its last character can be an answer and never a question, so with N characters the
# last possible start is N − T − 1. `np.random.Generator.integers` leaves out its upper end. One start too few, and the
# last character is never learned from; one too many, and now and then an answer lies behind the end of the text. A text
# of T + 1 characters is just long enough: it has a single window.
#
# ```python
# >>> get_batch(np.arange(5), batch_size=2, block_size=4, rng=np.random.default_rng(0))[0]
# array([[0, 1, 2, 3],
#        [0, 1, 2, 3]])
#
# ```
#
# Other courses cut the text into consecutive windows and go through all of them once, an *epoch*. With random windows
# there are no epochs: training is counted in steps, one batch each.


# %%
def get_batch(ids, batch_size, block_size, rng):
    """Random windows of a text, and for every character of them the one that comes next.

        x[b, t] = ids[start_b + t]        y[b, t] = ids[start_b + t + 1]

    Args:
        ids: the encoded text, N integers, (N,).
        batch_size: B, the number of windows.
        block_size: T, the length of a window.
        rng: a `numpy.random.Generator`. Each start_b is drawn from it uniformly and independently of the others, so
            that a window can come twice. Every start 0, 1, ..., N - T - 1 is possible (N - T of them).

    Returns:
        x: the windows, (B, T), int64.
        y: the next characters, (B, T), int64. Both are copies, not views of `ids`.

    Raises:
        ValueError: if the text has fewer than `block_size + 1` characters: a window and its last answer.
    """
    ids = np.asarray(ids, dtype=np.int64)
    if len(ids) < block_size + 1:
        raise ValueError(f"the text has {len(ids)} characters, a block of {block_size} needs at least {block_size + 1}")
    starts = rng.integers(len(ids) - block_size, size=batch_size)  # (B,)
    positions = starts[:, None] + np.arange(block_size)  # (B, T)
    return ids[positions], ids[positions + 1]


# %% [markdown]
# ## What could go wrong
#
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
#
# - `build_vocab`: **the characters stand in the order in which they first occur.** Two texts with the same characters
#   then have different ids, and a saved model cannot be used with the other one.
# - `build_vocab`: **`start` was used for stoi and forgotten for itos.** What encode makes, decode cannot read: itos
#   must be the inverse of stoi.
# - `encode`: **unknown characters were left out silently.** The ids are then fewer than the characters, and nobody
#   notices the mistake in the data.
# - `train_val_split`: **the text was shuffled before it was cut.** Single characters in a random order are no language
#   any more.
# - `get_batch`: **the answers are the windows themselves, not moved by one character.** The model learns to repeat what
#   it sees: the loss falls to 0, and it cannot write.
# - `get_batch`: **the last answer of every window is its own first character.** np.roll puts what falls out at the end
#   back in at the beginning. The right answer is in the text, behind the window.
# - `get_batch`: **the last possible start never comes up.** rng.integers leaves out its upper end; with another 1
#   subtracted, the last character is never learned from.
# - `get_batch`: **now and then a window starts too late, and its last answer lies behind the end of the text.** There
#   is a window there, but no answer to its last question.

# %% [markdown]
# ## Try it
#
# You have all that is needed for a first language model. It has no parameters and no loss; it only counts. Wherever the
# same k characters stood in the training text, which character came next most often? That is its guess. The text is one
# that is at hand: the docstrings of your five functions.
#
# **Guess first.** With more characters to go by, a guess should be better. For k from 1 to 12, will it be right more
# and more often, on the training text and on the text that was kept away?
#
# Run it: `python tokenizer.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    from collections import Counter, defaultdict

    functions = (build_vocab, encode, decode, train_val_split, get_batch)
    text = " ".join(" ".join(function.__doc__ for function in functions).split())
    chars, stoi, itos = build_vocab(text)
    train, val = train_val_split(encode(text, stoi), train_fraction=0.8)

    def questions(ids, k):  # 5,000 times: k characters, and the one that comes next
        x, y = get_batch(ids, 5000, k, np.random.default_rng(0))
        return [(decode(before, itos), decode(after, itos)) for before, after in zip(x, y[:, -1:], strict=True)]

    def learn(seen):  # k characters -> what came next most often
        counts = defaultdict(Counter)
        for before, after in seen:
            counts[before][after] += 1
        return {before: followers.most_common(1)[0][0] for before, followers in counts.items()}

    def right(guess, asked):
        return f"{np.mean([guess.get(before) == after for before, after in asked]):4.0%}"

    parts = {"  training": train, "  validation": val}
    for k in (1, 2, 3, 4, 6, 8, 12):
        guess = learn(questions(train, k))
        print(f"k = {k:2}", *(f"{part} {right(guess, questions(ids, k))}" for part, ids in parts.items()))

# %% [markdown]
# ## What came out
#
# ```text
# k =  1   training  33%   validation  29%
# k =  2   training  63%   validation  33%
# k =  3   training  82%   validation  35%
# k =  4   training  90%   validation  30%
# k =  6   training  95%   validation  17%
# k =  8   training  97%   validation  10%
# k = 12   training  99%   validation   5%
# ```
#
# On the training text it gets better all the way, until it knows the text by heart. On the other part three characters
# are best, and with twelve it is nearly always at a loss: it has never seen those twelve before. Only the second column
# says what was learned, and that is why the text is split. A transformer has the same task, and has to do better: to
# make something of characters that it has *never* seen together.
#
# 1. Shuffle the characters of the text before the split. What is left in the validation column?
# 2. Somebody draws the windows first, and splits the windows at random: 4,000 for training, 1,000 for validation. What
#    does validation say for k = 8, and why is that wrong?

# %% [markdown]
# ## Answers
#
# **1. Next to nothing.** What can still be learned is which character is the most frequent one (the space):
#
# ```python
# >>> mixed = np.random.default_rng(0).permutation(encode(text, stoi))
# >>> train, val = train_val_split(mixed, train_fraction=0.8)
# >>> for k in (1, 2, 3):
# ...     guess = learn(questions(train, k))
# ...     print(k, right(guess, questions(train, k)), right(guess, questions(val, k)))
# 1  21%  14%
# 2  50%   6%
# 3  88%   1%
#
# ```
#
# **2. It says that learning by heart is best.** Most questions of the examination were asked in training, too, at the
# same place of the text:
#
# ```python
# >>> asked = questions(encode(text, stoi), 8)
# >>> right(learn(asked[:4000]), asked[4000:])
# ' 84%'
#
# ```
