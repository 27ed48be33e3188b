"""The first text: count which letter follows which, and draw letters from the counts."""

# %% [markdown]
# # Counting: the first text
#
# *Assignment 2 of 21 · 3 functions · about 35 min to write them*
#
# Which letter comes after a q? You know without thinking. After a t it is harder, but you would not guess x. Nobody
# taught you this. You have read a great deal, and that was enough.
#
# Your program learns in the most honest way there is: by counting. With all letters equally likely, it would invent
# names like niijzqrhrcav. With the counts, it invents kahazin and cone.
#
# Claude Shannon made a game of it: cover the rest of a sentence and guess the next letter, again and again (Shannon
# 1951). Played well, the game is all that a language model does. Turn it around and let the program *choose* each next
# letter, and it writes.
#
# Such counting is older than computers. In 1913, A. A. Markov went through the first 20,000 letters of Pushkin's
# *Eugene Onegin* by hand. 43% of them were vowels, but only 13% of those right after a vowel, and 66% of those after a
# consonant. The letter before matters, and it is all that your program will use.
#
# ```text
#     ids (N,) ── bigram_counts ──> P (V, V) ── a row of P ── draw ──> the next token ──┐
#                                                   ^                                   │
#                                                   └───────────── write_text ──────────┘
# ```
#
# N is the number of tokens in the text, and V the size of the vocabulary. P has V rows and V columns. Row i belongs to
# the token with id i, and holds the **probability** of each token that may come next: a number from 0 (never) to 1
# (always). Each row sums to 1, because some token has to come.
#
# ![A map of the whole model. Marked: drawing the next token. The table of counts takes the place of everything before
# it.](figures/map-counting.svg)
#
# You need only `build_vocab`, `encode`, `decode` and `train_val_split`. `get_batch` can wait.

# %%
import numpy as np

# %% [markdown]
# ## `bigram_counts`
#
# *20 min, needs some thought*
#
# A pair of neighboring tokens is a **bigram**. How likely is token j after token i? Count how often the pair (i, j)
# occurs, and divide by how often i was followed by any token. In the text 0 1 1 0 1, token 0 was followed by 1 twice,
# and token 1 by 1 and by 0 once each:
#
# ```python
# >>> ids = np.array([0, 1, 1, 0, 1])
# >>> bigram_counts(ids, 2, k=0)
# array([[0. , 1. ],
#        [0.5, 0.5]])
#
# ```
#
# A pair that never occurs gets probability 0 here: the table calls it impossible. That is rash: it may occur in another
# text. **Add-k smoothing** is more careful: every pair starts with a count of k (Jurafsky and Martin, chapter 3). With
# k = 1, the rows above have the counts 1, 3 and 2, 2:
#
# ```python
# >>> bigram_counts(ids, 2)
# array([[0.25, 0.75],
#        [0.5 , 0.5 ]])
#
# ```
#
# With k = 0, a token that is never followed by anything has no counts, and 0 / 0 is `nan`. Nothing is known about such
# a row, so give it equal counts before you divide. (One True or False for each row selects rows:
# `counts[is_empty] = 1.0`.)
#
# NumPy has a trap for counting. `counts[rows, columns] += 1` adds 1 to each entry at most once, however often it is
# listed. `np.add.at(counts, (rows, columns), 1)` adds every time. With a single axis:
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
# Now a real text: 32,033 given names, one on each line, in random order. The newline, one of the 27 tokens, says that a
# name ends and the next begins.
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
# So that is what comes after a q: a u in two cases out of three, and otherwise mostly the end of the name. And 20% of
# all a's end a name. Find the row of q in the table:
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
        Probabilities, (V, V), float64; each row sums to 1. A row in which all counts are 0, even after adding k, holds
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
# To write, you have to *choose* each next token, the likely ones more often. Always taking the most likely one would
# give the same text every time.
#
# So throw a dart. Lay the probabilities of the row end to end on a line of length 1: each token gets a stretch as long
# as its probability. Throw at random, and take the token whose stretch you hit.
#
# ```text
#                                  a dart at 0.637, after a q
#                                             v
#     |  newline  |  a  | … |  i  | … |         u         | … |
#     0         0.098 0.147         0.293               0.970 1
# ```
#
# `np.cumsum` (cumulative sum) gives the points where the stretches end, and `rng.random()` gives the dart, a random
# number u with 0 ≤ u < 1. The token is the first one whose stretch ends *beyond* the dart. To find it, count the
# stretches that end at or before it:
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
# Token 2 has probability 0, so its stretch has no length, and it is never hit, not even by a dart at exactly 0.75,
# which belongs to token 3.
#
# Computers round. The sum of a row may come out as 0.9999999, and a dart in the tiny gap at the end hits nothing. In
# that case, take the last token that is possible at all.
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
# Now let it write. Draw the next token from the row of the current one, and go on from the token that was drawn.
#
# ```python
# >>> P_small = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]])  # 0 → 1 → 2 → 0 or 1
# >>> write_text(P_small, 0, 8, np.random.default_rng(0))
# [0, 1, 2, 0, 1, 2, 1, 2, 1]
#
# ```
#
# Now for the names. Start from a newline, so that the first new letter begins one:
#
# ```python
# >>> text = decode(write_text(P, stoi["\n"], 80, np.random.default_rng(6)), itos)
# >>> print(*text.split("\n")[1:-1])  # the last name may be cut off
# kahazin ma s zor cone chilatakeelydeyaveet sst don miy dr delisinealyrnconaman
#
# ```
#
# This is the first text that your code has written. Of these names, only ma and don are in the list. Some others could
# be. The rest show what a program cannot know if it sees only one letter: how long the name already is, and whether it
# has a vowel yet. Compare with a table in which all letters are equally likely:
#
# ```python
# >>> text = decode(write_text(np.full((27, 27), 1 / 27), stoi["\n"], 80, np.random.default_rng(6)), itos)
# >>> print(*text.split("\n")[1:-1])
# niijzqrhrcav zvuaevkpcemtnbwckohkwlnzgxihwawvxaftk
#
# ```
#
# Shannon (1948, section 3) wrote such text by hand, without any table. He opened a book and wrote down a letter. Then
# he opened it somewhere else, read on until that letter occurred, and wrote down the one after it. Why is this the same
# as a row of P and a dart? (He lands on a random occurrence of the letter, so he finds each next
# letter as often as it follows.)

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
# Does a check fail? Compare your code with this list. The report uses the same words.
#
# - `bigram_counts`: **the counts were divided by the sums of the columns, not of the rows.** That says how likely token
#   i was before j. What comes after i is a row.
# - `bigram_counts`: **the sums of the rows grew by k, not by V times k.** k is added to each of the V counts of a row,
#   so their sum grows by V k. Here the rows sum to more than 1.
# - `draw`: **the most likely token was taken instead of drawing one.** The text then runs into a short loop that
#   repeats without end.
# - `draw`: **the dart was compared with each probability, not with the cumulative sums.** A stretch begins where the
#   one before it ends, so the ends are sums.
# - `write_text`: **every token was drawn from the row of the first token.** Each token is drawn from the row of the one
#   before it.

# %% [markdown]
# ## Try it
#
# How good is the table? Take names that were not counted, and ask which probability p it gave to each next letter. The
# usual summary is the **perplexity**: average −log p over all letters, then take exp. With 27 equally
# likely letters, every −log p is log 27, and exp undoes the log: before any counting, the perplexity is 27.
#
# Then give the table more to go on: the last two letters (three letters in a row are a **trigram**), or the last three.
# The rows are then all combinations of letters, numbered in base V: the letters 3 and 5 are row 3 · 27 + 5.
#
# **Guess first.** The table that sees one letter has a perplexity of 12 on new names. What does 12 mean, compared with
# 27? How far will two and three letters bring it down, on the names that were counted and on new ones?
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
# A perplexity of 12 means that the table is as unsure as if it guessed among 12 equally likely letters, not 27. With
# two letters it is 9, with three 8, and the names look more and more like names.
#
# But compare the two columns. On the names that were counted, perplexity falls quickly; on new names, more and more
# slowly. The table for three letters has 19,683 rows, and two thirds of them have not a single count: no name has "xqj"
# in it. For eight letters there would be 27⁹ entries, nearly eight trillion. This is where counting ends, and why the
# rest of the course exists: a transformer looks at many letters without a table of all combinations.
#
# How good can a prediction get? For people who see 100 letters of English text, Shannon (1951) estimated 0.6 to 1.3
# bits per letter: perplexities of 1.5 to 2.5 (2 to the power of the bits). Names are harder: nothing says which one
# comes next.
#
# 1. Is more smoothing better? Guess the best k for the table that sees one letter, and then for the one that sees
#    three.
# 2. What is the perplexity of the table that sees one letter, on new names, with k = 0?
# 3. How good is a table that knows only how frequent each letter is?

# %% [markdown]
# ## Answers
#
# **1. For one letter, k hardly matters up to 1; for three letters, it has to be small.** Most rows of the small table
# have thousands of counts, and one more in each entry changes little. In the large table, most rows have none and many
# others a handful, and one more in each of 27 entries drowns them.
#
# ```python
# >>> for n in (1, 3):
# ...     print(n, *(f"{perplexity(count(train, n, k), val, n):.2f}" for k in (0.01, 0.1, 1.0, 10.0, 100.0)))
# 1 11.59 11.58 11.58 11.68 12.68
# 3 8.86 8.29 9.12 13.61 21.70
#
# ```
#
# **2. It is infinite.** Four pairs in the new names never occur in the others. Their probability is 0, −log 0 is
# infinite, and so is the average. The table called something impossible, and it happened.
#
# ```python
# >>> P = bigram_counts(train, V, k=0)
# >>> sorted({decode(pair, itos) for pair in zip(val[:-1], val[1:]) if P[pair] == 0})
# ['fh', 'jb', 'jk', 'xn']
#
# ```
#
# **3. Its perplexity is 16.63.** That cuts 27 by a factor of 1.6. Knowing the letter before cuts it by another 1.4.
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
# The table does not care what it counts. Download a million characters of Shakespeare in a terminal, and let your
# functions write a play:
#
# ```sh
# headway data fetch tinyshakespeare
# ```
#
# Then, in Python (in the folder of your assignments) or in a new cell of the notebook:
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
# It has seen only pairs of letters, and still it begins lines with capitals and names speakers:
#
# ```text
# Cratond an.
# 'din:
# Mes ha be; ir am heno wive.
# SARENIIO:
#
# MPELARICAnceshee ain lymamowile it irurencathr CKIth me thiris my bach rmyonou I we
# ```
