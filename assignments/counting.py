"""The first text: count which letter follows which, and draw letters from the counts."""

# %% [markdown]
# # Counting: the first text
#
# *Assignment 2 of 19 · 3 functions · about 35 min to write them*
#
# Which letter comes after a q? You know without thinking. After a t it is harder, but you would not guess x. You have
# never been taught this. You have read a great deal, and that was enough to learn which letters follow which.
#
# Claude Shannon made a game of it: cover the rest of a sentence and guess the next letter, again and again (Shannon
# 1951). Played well, the game is all that a language model does. In this assignment your program learns it in the most
# honest way there is, by counting. Then you turn the game around: let the program *choose* each next letter, and it
# writes.
#
# Such counting is older than computers. In 1913 the mathematician A. A. Markov went through the first 20,000 letters of
# Pushkin's novel in verse *Eugene Onegin*, by hand, and noted for each letter whether it was a vowel. 43% of them were.
# But of the letters that came right after a vowel, only 13% were vowels themselves, and of those after a consonant 66%.
# So the letter before matters, and this is all that your program will use. Markov had two kinds of letters. You have
# every letter.
#
# ```text
#     ids (N,) ── bigram_counts ──> P (V, V) ── a row of P ── draw ──> the next token ──┐
#                                                   ^                                   │
#                                                   └───────────── write_text ──────────┘
# ```
#
# N is the number of tokens in the text, and V is the size of the vocabulary. P is a table with V rows and V columns:
# row i belongs to the token with id i, and holds the **probability** of each token that may come next. A probability is
# a number from 0 (never) to 1 (always). Those in a row sum to 1, because some token has to come.
#
# ![A map of the whole model. Marked: drawing the next token. The table of counts takes the place of everything
# before it.](figures/map-counting.svg)
#
# Only `build_vocab`, `encode` and `decode` are needed here, and `train_val_split`. If `get_batch` is not finished,
# leave it for later.

# %%
import numpy as np

# %% [markdown]
# ## `bigram_counts`
#
# *20 min, needs some thought*
#
# A pair of neighboring tokens is called a **bigram**. How likely is token j after token i? Count how often the pair
# (i, j) occurs, and divide by how often i was followed by anything. Every row of the table then sums to 1. In the text
# 0 1 1 0 1, token 0 was followed by 1 twice, and token 1 by 1 and by 0 once each:
#
# ```python
# >>> ids = np.array([0, 1, 1, 0, 1])
# >>> bigram_counts(ids, 2, k=0)
# array([[0. , 1. ],
#        [0.5, 0.5]])
#
# ```
#
# A pair that never occurs gets probability 0 here: the table calls it impossible. That is rash, because it may occur in
# another text after all. **Add-k smoothing** is more careful: every pair starts with a count of k (Jurafsky and Martin,
# chapter 3). With k = 1, the rows above have the counts 1, 3 and 2, 2:
#
# ```python
# >>> bigram_counts(ids, 2)
# array([[0.25, 0.75],
#        [0.5 , 0.5 ]])
#
# ```
#
# With k = 0, a token that is never followed by anything has no counts, and 0 / 0 is `nan`. Nothing is known about such
# a row, so all tokens are equally likely in it. Give the row equal counts before you divide; then NumPy has no 0 / 0 to
# warn about. (An array with one True or False for each row selects rows: `counts[is_empty] = 1.0`.)
#
# NumPy has a trap for counting. `counts[rows, columns] += 1` adds 1 to each entry at most once, even if it is listed
# more often. `np.add.at` adds as often as it is listed. For a table it takes a pair of index arrays, as in
# `np.add.at(counts, (rows, columns), 1)`:
#
# ```python
# >>> once, each = np.zeros(3), np.zeros(3)
# >>> once[[0, 0, 2]] += 1
# >>> np.add.at(each, [0, 0, 2], 1)
# >>> once, each
# (array([1., 0., 1.]), array([2., 0., 1.]))
#
# ```
#
# Now take a real text: 32,033 given names, one on each line, in random order. The newline is one of the 27 tokens: it
# says that a name ends and that the next one begins. (`autograder` is the folder of the course software. Lessons import
# data and tools from it; you need not read its code.)
#
# ```python
# >>> from autograder.models.training import datasets
# >>> from tokenizer import build_vocab, decode, encode, train_val_split
# >>> names = datasets.load("names")
# >>> names[:25]
# 'nataly\nkynzee\nminh\ntracy\n'
# >>> chars, stoi, itos = build_vocab(names)
# >>> train, val = train_val_split(encode(names, stoi))
# >>> P = bigram_counts(train, len(chars))
# >>> P.shape
# (27, 27)
# >>> likely = np.argsort(-P[stoi["q"]])[:3]
# >>> [(chars[i], round(float(P[stoi["q"], i]), 2)) for i in likely]
# [('u', 0.68), ('\n', 0.1), ('a', 0.05)]
# >>> round(float(P[stoi["a"], stoi["\n"]]), 2)
# 0.2
#
# ```
#
# So that is what comes after a q: a u in two cases of three. In names, the rest is mostly the end of the name. And 20%
# of all a's end a name. The whole model is this table of 27 × 27 numbers. Find the row of q in it.
#
# ![The table of 27 times 27 probabilities as colored cells. The darkest cells: a after w, u after q, a after
# m.](figures/bigram-table.svg)

# %%
def bigram_counts(ids, vocab_size, k=1.0):
    """Return how likely each token is after each other token, by counting pairs, with add-k smoothing.

        probs[i, j] = (n_ij + k) / Σ_m (n_im + k),    n_ij: how often token j comes right after token i

    Args:
        ids: the text, N integers, (N,). N may be 0 or 1: there are no pairs then.
        vocab_size: V.
        k: the number added to every count, ≥ 0.

    Returns:
        Probabilities, (V, V), float64; each row sums to 1. A row in which all counts are 0, also after adding k, holds
        1 / V everywhere.

    Raises:
        ValueError: if an id is not in [0, V), or `k` is negative.
    """
    raise NotImplementedError("counting.bigram_counts")


# %% [markdown]
# ## `draw`
#
# *10 min, straightforward*
#
# The row of a token says how likely each next token is. To write, you have to *choose* one, and likely tokens should be
# chosen more often. Always taking the most likely one would give the same text every time.
#
# So throw a dart. Lay the probabilities of the row end to end on a line: each token gets a stretch as long as its
# probability, and the whole line has the length 1. Throw a dart at a random point of the line, and take the token whose
# stretch it hits.
#
# ```text
#                                  a dart at 0.637, after a q
#                                             v
#     |  newline  |  a  | … |  i  | … |         u         | … |
#     0         0.098 0.147         0.293               0.970 1
# ```
#
# `np.cumsum` (cumulative sum) gives the points where the stretches end, and `rng.random()` gives a random number u with
# 0 ≤ u < 1: the dart. The token is the first one whose stretch ends *beyond* the dart. To find it, count the stretches
# that end at or before the dart, because they have all been passed:
#
# ```python
# >>> ends = np.cumsum([0.5, 0.25, 0.0, 0.25])
# >>> ends
# array([0.5 , 0.75, 0.75, 1.  ])
# >>> int((ends <= 0.6).sum()), int((ends <= 0.8).sum())  # darts at 0.6 and at 0.8
# (1, 3)
#
# ```
#
# Token 2 has probability 0, and its stretch no length. It is never hit, not even by a dart at exactly 0.75: that dart
# belongs to token 3.
#
# Computers round. The sum of a row may come out a little below 1, say 0.9999999, and a dart in the tiny gap at the end
# hits nothing. Then take the last token that is possible at all.
#
# ```python
# >>> draw(np.array([0.5, 0.25, 0.0, 0.25]), np.random.default_rng(0))  # its first dart is at 0.637
# 1
# >>> rng = np.random.default_rng(6)
# >>> "".join(itos[draw(P[stoi["q"]], rng)] for _ in range(20))
# 'uuuuwuuuua\nu\nwuu\niuu'
#
# ```

# %%
def draw(probs, rng):
    """Draw one token: the first one whose cumulative sum of probabilities is larger than a random number.

        token = the first i with p_0 + … + p_i > u,    u = rng.random()

    Args:
        probs: the probability of each token, (V,), float64 or float32, ≥ 0. They sum to 1, up to rounding.
        rng: a `numpy.random.Generator`. It is called once: `rng.random()`.

    Returns:
        The token, a Python integer. A token of probability 0 is never drawn. If no cumulative sum is larger than u,
        because rounding made them too small, it is the last token with a probability above 0.
    """
    raise NotImplementedError("counting.draw")


# %% [markdown]
# ## `write_text`
#
# *5 min, straightforward*
#
# Now let it write. Look up the row of the current token, draw the next token from it, and go on from there: the token
# that was drawn is the new current token.
#
# ```python
# >>> P_small = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]])  # 0 → 1 → 2 → 0 or 1
# >>> write_text(P_small, 0, 8, np.random.default_rng(0))
# [0, 1, 2, 0, 1, 2, 1, 2, 1]
#
# ```
#
# And now the names. Begin with a newline, so that the first new letter begins a name:
#
# ```python
# >>> text = decode(write_text(P, stoi["\n"], 80, np.random.default_rng(6)), itos)
# >>> print(*text.split("\n")[1:-1])  # the last name may be cut off
# kahazin ma s zor cone chilatakeelydeyaveet sst don miy dr delisinealyrnconaman
#
# ```
#
# This is the first text that your code has written. Nobody wrote a rule about vowels or endings, and of these names,
# only ma and don are in the list: the table knows only which letter follows which. Some could be names. Others show
# what a program cannot know if it sees one letter: how long the name already is, and whether it has a vowel yet.
# Compare with a table in which every letter is as likely as any other:
#
# ```python
# >>> text = decode(write_text(np.full((27, 27), 1 / 27), stoi["\n"], 80, np.random.default_rng(6)), itos)
# >>> print(*text.split("\n")[1:-1])
# niijzqrhrcav zvuaevkpcemtnbwckohkwlnzgxihwawvxaftk
#
# ```
#
# Shannon (1948, section 3) wrote such text by hand, without any table. He opened a book and wrote down a letter. Then
# he opened the book somewhere else, read on until that letter occurred, and wrote down the letter after it. Do you see
# why this is the same as a row of P and a dart?

# %%
def write_text(P, start, n_new, rng):
    """Write a text, one token at a time, each drawn from the row of the token before it.

        next = draw(P[current], rng)

    Args:
        P: table of probabilities, (V, V); row i holds the probabilities of the tokens that may come after token i.
        start: the first token, an integer in [0, V).
        n_new: how many tokens to draw, ≥ 0.
        rng: a `numpy.random.Generator`. Each new token uses one number of `rng.random()`, in order.

    Returns:
        The text, a list of n_new + 1 integers: `start`, then the new tokens.
    """
    raise NotImplementedError("counting.write_text")


# %% [markdown]
# ## What could go wrong
#
# Look here when a check fails. These mistakes are easy to make, and the report uses the same words when it recognizes
# one.
#
# - `bigram_counts`: **a pair that occurs several times was counted once.** `counts[rows, columns] += 1` adds 1 to each
#   entry at most once, and a set of pairs forgets how often each occurs. The mistake stays hidden if no pair is
#   repeated.
# - `bigram_counts`: **the counts were divided by the sums of the columns, not of the rows.** That says how likely token
#   i was before j. What comes after i is a row.
# - `bigram_counts`: **the sums of the rows grew by k, not by V times k.** k is added to each of the V counts of a row,
#   so their sum grows by V k. Here the rows sum to more than 1.
# - `draw`: **the most likely token was taken instead of drawing one.** The text then runs into a short loop that
#   repeats without end.
# - `draw`: **the dart was compared with each probability, not with the cumulative sums.** A stretch begins where the
#   one before it ends, so the ends are sums.
# - `draw`: **a dart beyond the last end was not handled.** Rounding can make the last cumulative sum smaller than 1.
#   The count of the ends is then V, and there is no token V.
# - `write_text`: **every token was drawn from the row of the first token.** Each token is drawn from the row of the one
#   before it.
# - `write_text`: **the first token is missing from the result.** The result is the whole text: `start`, then the new
#   tokens, n_new + 1 in all.

# %% [markdown]
# ## Try it
#
# How good is the table? Names by the dozen are fun, but no measurement. Take names that it was not counted from, and
# ask how likely each next letter was, according to the table: high numbers are good guesses. The usual way to sum them
# up is the **perplexity**: take the average of −log p over all letters, then exp. If every probability were 1/27, the
# perplexity would be 27: it is N for a guess among N equally likely letters.
#
# Then give the table more to go on: the last two letters (three letters in a row are a **trigram**), or the last three.
# The rows are now all combinations of letters, numbered as in counting to base V.
#
# **Guess first.** The table that sees one letter has a perplexity of 12 on new names. What does 12 mean, compared with
# 27? How far will two and three letters bring it down, and on which of the two texts?
#
# Run it: `headway experiment counting`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    from tokenizer import build_vocab, decode, encode, train_val_split

    from autograder.models.training import datasets

    names = datasets.load("names")
    chars, stoi, itos = build_vocab(names)
    train, val = train_val_split(encode(names, stoi))
    V = len(chars)

    def rows(ids, n):  # for each token but the first n: the number of the n tokens before it
        return sum(ids[i : len(ids) - n + i] * V ** (n - 1 - i) for i in range(n))

    def count(ids, n, k):  # (V ** n, V)
        counts = np.full((V**n, V), k)
        np.add.at(counts, (rows(ids, n), ids[n:]), 1.0)
        return counts / counts.sum(axis=1, keepdims=True)

    def perplexity(table, ids, n):
        return np.exp(-np.log(table[rows(ids, n), ids[n:]]).mean())

    for n in (1, 2, 3):
        table, tokens, rng = count(train, n, k=0.1), [stoi["\n"]] * n, np.random.default_rng(6)
        while len(tokens) < 90:
            tokens.append(draw(table[rows(np.array([*tokens[-n:], 0]), n)[0]], rng))
        print(f"{n} seen: perplexity {perplexity(table, train, n):5.2f}, on new names {perplexity(table, val, n):5.2f}")
        print("   ", *decode(tokens, itos).split("\n")[n:-1])


# %% [markdown]
# ## What came out
#
# ```text
# 1 seen: perplexity 11.64, on new names 11.58
#     kahazin ma s zor cone chilatakeelydeyaveet sst don miy dr delisinealyrnconaman rozo
# 2 seen: perplexity  8.91, on new names  9.21
#     na hyliel au zor coll chlian jen teny teer stra pe miya sabelisimehazurisidejaissyn
# 3 seen: perplexity  6.69, on new names  8.29
#     nihasniel aubutucky mahdie samiliseithristasnpaeto miya railennella zynix
# ```
#
# A perplexity of 12 means: the table is as unsure as if it had to guess among 12 equally likely letters, where at the
# beginning there were 27. Seeing one letter is worth more than half of the alphabet. With two letters it is
# 9, with three 8, and the names look more and more like names.
#
# But look at the two columns. On the names that were counted, perplexity falls quickly; on new names, slower and
# slower. The table for three letters has 19,683 rows, and two thirds of them have not a single count: no name has "xqj"
# in it. Every further letter makes the table 27 times as large. For eight letters it would have 27⁹ entries, nearly
# eight trillion. That is the wall that counting runs into, and the reason why the rest of this course exists: a
# transformer looks at many letters without a table of all combinations.
#
# How good can it get? Shannon's estimate for people who see 100 letters of English text is between 0.6 and 1.3 bits per
# letter (Shannon 1951), which are perplexities of 1.5 and 2.5. Names are harder: nothing says which one comes next.
#
# 1. Is more smoothing better? Guess the best k for the table that sees one letter, and then for the one that sees
#    three.
# 2. What is the perplexity of the table that sees one letter, on new names, with k = 0?
# 3. The names in the list are in random order. How good is a table that knows only how frequent each letter is?

# %% [markdown]
# ## Answers
#
# **1. For one letter k hardly matters up to 1; for three letters it has to be small.** Most rows of the small table
# have thousands of counts, and one more in each entry changes little. In the large table they have a handful, or none:
# one more in each of 27 entries drowns what was counted, and a hundred leave a table that knows little more than the
# alphabet.
#
# ```python
# >>> for n in (1, 3):
# ...     print(n, *(f"{perplexity(count(train, n, k), val, n):.2f}" for k in (0.01, 0.1, 1.0, 10.0, 100.0)))
# 1 11.59 11.58 11.58 11.68 12.68
# 3 8.86 8.29 9.12 13.61 21.70
#
# ```
#
# **2. It is infinite.** At least one pair of the new names never occurs in the others. Its probability is 0, −log 0 is
# infinite, and so is the average. The table called something impossible, and it happened. Smoothing is the price for
# never being that sure.
#
# ```python
# >>> P = bigram_counts(train, V, k=0)
# >>> sorted({decode(pair, itos) for pair in zip(val[:-1], val[1:]) if P[pair] == 0})
# ['fh', 'jb', 'jk', 'xn']
#
# ```
#
# **3. Its perplexity is 16.63.** That is 1.6 times less than 27, where nothing is known. Knowing the letter before
# makes it another 1.4 times smaller.
#
# ```python
# >>> frequencies = np.bincount(train, minlength=V) / len(train)
# >>> round(float(np.exp(-np.log(frequencies[val]).mean())), 2)
# 16.63
#
# ```

# %% [markdown]
# ## In your own GPT
#
# The table does not care what it counts. Download a million characters of Shakespeare's plays, and let your functions
# write a play. First in a terminal:
#
# ```sh
# headway data fetch tinyshakespeare
# ```
#
# Then in Python, in the folder of your assignments, or in a new cell of the notebook:
#
# ```text
# import numpy as np
# from autograder.models.training import datasets
# from counting import bigram_counts, write_text
# from tokenizer import build_vocab, decode, encode
#
# play = datasets.load("tinyshakespeare")
# chars, stoi, itos = build_vocab(play)
# P = bigram_counts(encode(play, stoi), len(chars), k=0)
# print(decode(write_text(P, stoi["\n"], 140, np.random.default_rng(8)), itos))
# ```
#
# It has never seen a word, only pairs of letters, and still it begins lines with capitals, and names speakers:
#
# ```text
# Cratond an.
# 'din:
# Mes ha be; ir am heno wive.
# SARENIIO:
#
# MPELARICAnceshee ain lymamowile it irurencathr CKIth me thiris my bach rmyonou I we
# ```
