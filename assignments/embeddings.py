"""Embeddings, from ids and positions to vectors."""

# %% [markdown]
# # Embeddings: from ids to vectors
#
# *Assignment 6 of 21 · 5 functions · about 1 h 25 min to write them*
#
# Nobody will ever tell your model what a vowel is. Yet after 2,000 training steps on names, its vectors for a, e, i, o,
# u and y lie close together: the last section of this lesson shows the map. The model began with nothing but ids, and
# an id is only a name: token 10 is not twice token 5. A network that multiplies and adds would treat it as a quantity.
# What should it get instead?
#
# Each id is replaced by a vector of D numbers, its **embedding**. These vectors are parameters, so training can move
# them: tokens that are used alike tend to end up with similar vectors (Bengio et al. 2003, section 2).
#
# D, in code `d_model`, is the width of the model: from here to the end, every position of every text is a vector of D
# numbers, its *features*. V is the size of the vocabulary. Two tables are enough:
#
# ```text
#     ids (B, T)  ── row of W_tok ──>  token vectors      (B, T, D)  ──┐
#                                                                      + ──>  x (B, T, D)
#     0 … T - 1   ── row of W_pos ──>  position vectors      (T, D)  ──┘
# ```
#
# ![A map of the whole model. Marked: the embeddings, after the tokenizer.](figures/map-embeddings.svg)
#
# | table | shape | row number | a row represents |
# |---|---|---|---|
# | `W_tok` | (V, D) | the id of a token | *which* token this is |
# | `W_pos` | (block size, D) | a position, 0, 1, 2, … | *where* it is |
#
# Why the second table? The next step of the model compares vectors without regard to their positions. To it, "dog bites
# man" and "man bites dog" would be the same three vectors.

# %%
import numpy as np
from softmax import as_float

# %% [markdown]
# ## `one_hot`
#
# *15 min, straightforward*
#
# The simplest vector for an id is a one-hot row, which you know from the gradient of the cross-entropy: all 0 except
# for a single 1 in the column of the id.
#
# ```python
# >>> one_hot(np.array([2, 0, 2]), vocab_size=4)
# array([[0., 0., 1., 0.],
#        [1., 0., 0., 0.],
#        [0., 0., 1., 0.]])
#
# ```
#
# Any two different tokens are equally far apart here. A batch of ids, (B, T), gives rows (B, T, V). Give the ids one
# more axis of length 1 at the end, and compare them with all the numbers from 0 to V − 1: that works for every shape.
#
# An id outside the table points to an earlier bug, such as a padding id of -1. NumPy silently accepts it: index -1
# takes the *last* row. So check the ids, and show the wrong one in your error: "id 27 is outside the vocabulary: ids
# must be in [0, 27)".

# %%


def one_hot(ids, vocab_size):
    """Return one row per id: 1 in the column of the id, 0 everywhere else.

        one_hot(ids)[..., v] = 1 if ids[...] = v else 0

    Args:
        ids: integers, (...), each in [0, V).
        vocab_size: V, the length of a row.

    Returns:
        The rows, (..., V), float64.

    Raises:
        ValueError: if an id is negative or not below `vocab_size`.
    """
    raise NotImplementedError("embeddings.one_hot")


# %% [markdown]
# ## `embed_tokens`
#
# *10 min, straightforward*
#
# Multiply a one-hot row by a table of parameters, and it picks one row of the table: all other rows are multiplied
# by 0. With `W_tok` (V, D), whose row v is the vector of token v:
#
# $$\mathrm{onehot}(ids)\; W_{tok} = W_{tok}[ids]$$
#
# The left side takes V·D multiplications for each token, nearly all of them by zero. The right side just looks up the
# row:
#
# ```python
# >>> W_tok = np.array([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5], [3.0, 3.5]])  # V = 4 tokens, D = 2
# >>> embed_tokens(np.array([2, 0, 2]), W_tok)
# array([[2. , 2.5],
#        [0. , 0.5],
#        [2. , 2.5]])
# >>> one_hot(np.array([2, 0, 2]), 4) @ W_tok
# array([[2. , 2.5],
#        [0. , 0.5],
#        [2. , 2.5]])
#
# ```

# %%
def embed_tokens(ids, W_tok):
    """Return the embedding of each token: row `id` of the table (Bengio et al. 2003, section 2).

        embed_tokens(ids)[..., :] = W_tok[ids[...], :]

    Args:
        ids: integers, (...), each in [0, V).
        W_tok: the table, (V, D).

    Returns:
        Vectors, (..., D), in the dtype of `W_tok`.

    Raises:
        ValueError: if an id is negative or not below V.
    """
    raise NotImplementedError("embeddings.embed_tokens")


# %% [markdown]
# ## `embed_tokens_backward`
#
# *20 min, needs pen and paper*
#
# The table is learned, so it needs a gradient. Ask the question from `gradients`: which entries of the output contain
# one entry of the table, and with what factor?
#
# ```text
#     out[n, d] = W_tok[ids[n], d]     the definition: row n of the output is row ids[n] of the table
#     where is W_tok[v, d]?            in out[n, d], for each position n that has the id v
#     with what factor?                1: it was copied
# ```
#
# The formula for dW_tok[v, d] is yours: multiply each factor by its upstream gradient, and add. What does a row get if
# its token occurs at several positions? And if it does not occur?
#
# Take the ids 2, 0 and 2, and write down the four rows of the gradient on paper before you read on:
#
# ```python
# >>> dout = np.array([[1.0, 1.0], [10.0, 10.0], [100.0, 200.0]])  # gradients at the three positions
# >>> embed_tokens_backward(dout, np.array([2, 0, 2]), vocab_size=4)
# array([[ 10.,  10.],
#        [  0.,   0.],
#        [101., 201.],
#        [  0.,   0.]])
#
# ```
#
# Whatever is used twice gets two gradients, and they are added.
#
# Repeated ids bring back the trap from counting bigrams: `total[[1, 1, 1]] += 1.0` keeps only *one* of the additions.
# There are two ways around it. `np.add.at` adds one entry at a time. Or use a matrix product: the lookup multiplies a
# one-hot matrix (N, V), with N = B · T positions, by the table (V, D), and you know the gradient of the right factor of
# a product.

# %%
def embed_tokens_backward(dout, ids, vocab_size):
    """Return the gradient with respect to the table of `embed_tokens`.

        dW_tok[v, d] = dL/dW_tok[v, d],   where L is the loss and dout its gradient with respect to the vectors

    Args:
        dout: upstream gradient, with respect to `embed_tokens(ids, W_tok)`, (..., D).
        ids: the integers that were looked up, (...).
        vocab_size: V, the number of rows of the table.

    Returns:
        dW_tok, (V, D), in the dtype of `dout`. Rows of tokens that do not occur are 0.

    Raises:
        ValueError: if an id is negative or not below `vocab_size`.
    """
    raise NotImplementedError("embeddings.embed_tokens_backward")


# %% [markdown]
# ## `sinusoidal_positions`
#
# *30 min, needs some thought*
#
# The second table is for the positions. Its rows can be learned like those of the first. The first transformer computes
# them instead, once and for all, from waves of different lengths (Vaswani et al. 2017, section 3.5):
#
# $$PE_{(pos,\,2i)} = \sin\!\big(pos / 10000^{2i/D}\big) \qquad PE_{(pos,\,2i+1)} = \cos\!\big(pos / 10000^{2i/D}\big)$$
#
# Columns 2i and 2i + 1 are the sine and the cosine of one angle, which grows by $1 / 10000^{2i/D}$ from each position
# to the next. (Angles are in radians: a full turn is 2π, about 6.28.)
#
# Think of the pairs of columns as the hands of a clock. The first turns by one radian per position, each further hand
# more slowly, and the last ones hardly move within a short text. Fast hands tell neighboring positions apart, slow
# hands distant ones, and together they identify the position. And "k positions later" is the same rotation wherever you
# start: the authors hoped that this would make distances easy to learn.
#
# ```python
# >>> sinusoidal_positions(4, 6).round(3)
# array([[ 0.   ,  1.   ,  0.   ,  1.   ,  0.   ,  1.   ],
#        [ 0.841,  0.54 ,  0.046,  0.999,  0.002,  1.   ],
#        [ 0.909, -0.416,  0.093,  0.996,  0.004,  1.   ],
#        [ 0.141, -0.99 ,  0.139,  0.99 ,  0.006,  1.   ]])
#
# ```
#
# - **`2i` counts columns, `i` counts pairs.** With D = 6, the exponents are 0/6, 2/6, 4/6. A loop over the even columns
#   0, 2, 4 already runs over `2i`.
# - **Interleaved or side by side?** In the formula, sines and cosines alternate. Some code, including the authors' own
#   tensor2tensor, puts all sines first. A model can learn with either, but a model trained with one order cannot use a
#   table in the other.
#
# If D is odd, the last column is a sine without its cosine.
#
# ![The table for 24 positions and 24 features: columns on the left change quickly from row to row, those on the right
# slowly.](figures/sinusoidal-positions.svg)
#
# ### Why 10000?
#
# The wavelength of a pair, $2\pi \cdot 10000^{2i/D}$, is the number of positions after which it repeats: 6.28 for the
# first pair and, if D is large, almost 62,832 for the last. Positions that are one wavelength apart get nearly the same
# pair of numbers, so the longest waves should be longer than any text. With the base 100, no wave is longer than 628
# positions. With the base 1,000,000, more than half of the pairs do not complete a single wave within two thousand
# tokens. 10000 lies in between. The paper gives no reason for it: it is a choice, not a law.
#
# ![The wavelength of each column, for D = 64 and the bases 100, 10,000 and 1,000,000, on a logarithmic scale, with a
# line at 2,048 positions.](figures/why-10000.svg)
#
# See it: `headway plot positions`. (Not written yet? Add `--solution`.)

# %%
def sinusoidal_positions(length, d_model):
    """Return the fixed table of position vectors (Vaswani et al. 2017, section 3.5).

        PE[pos, 2i] = sin(pos / 10000^(2i/D)),   PE[pos, 2i+1] = cos(pos / 10000^(2i/D))

    Args:
        length: the number of positions T; they are 0, 1, …, T - 1.
        d_model: D, the width of each vector. If it is odd, the last column is a sine.

    Returns:
        The table, (T, D), float64.
    """
    raise NotImplementedError("embeddings.sinusoidal_positions")


# %% [markdown]
# ## `embed`
#
# *10 min, straightforward*
#
# The input of the rest of the model is the *sum* of the two vectors, one for the token and one for its position:
#
# $$x_{b,t} = s \cdot W_{tok}[ids_{b,t}] + W_{pos}[t]$$
#
# `W_pos` can be learned or computed; Vaswani et al. (2017, table 3, row E) found nearly the same results with both. A
# short text uses the first rows. If a text is longer than the table, raise an error: NumPy's own message about shapes
# would not explain the problem.
#
# Can the model still tell the two apart once they are added? In a wide model, yes: there, two random vectors are nearly
# perpendicular. The product of a vector with itself, summed over its entries, is much larger than its product with
# another vector, so a later layer can find the token by multiplying x by the vector of each token. Here are all 27 · 16
# sums of a random token vector and a random position vector. How many tokens does this find?
#
# ```python
# >>> for D in (4, 16, 64):
# ...     rng = np.random.default_rng(0)
# ...     tokens, positions = rng.normal(size=(27, D)), rng.normal(size=(16, D))
# ...     x = tokens[:, None] + positions  # (27, 16, D)
# ...     found = (x @ tokens.T).argmax(axis=-1) == np.arange(27)[:, None]
# ...     print(f"D = {D:2}: {found.mean():.0%}")
# D =  4: 27%
# D = 16: 81%
# D = 64: 100%
#
# ```
#
# Models differ in the factor $s$. The transformer of 2017 multiplies the token vectors by $\sqrt{D}$ (section 3.4)
# without saying why; GPT-2 and BERT, two famous later models, do not scale at all. A common explanation is that the
# 2017 model uses the same table again in its last step, to compute the scores. Entries of about $1/\sqrt{D}$ keep the
# scores small, and the factor then makes the token vectors as large as the waves.
#
# ```python
# >>> W_tok = np.array([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5], [3.0, 3.5]])  # V = 4 tokens, D = 2
# >>> W_pos = np.array([[0.0, 0.25], [0.5, 0.75], [1.0, 1.25]])  # block size 3
# >>> embed(np.array([2, 0]), W_tok, W_pos)
# array([[2.  , 2.75],
#        [0.5 , 1.25]])
# >>> embed(np.array([2, 0]), W_tok, W_pos, scale=10.0)
# array([[20.  , 25.25],
#        [ 0.5 ,  5.75]])
#
# ```
#
# ![Three ids pick three rows of the token table; the rows of the position table are
# added.](figures/embedding-lookup.svg)
#
# Its backward pass is question 2 on paper.

# %%
def embed(ids, W_tok, W_pos, scale=1.0):
    """Return token vectors plus position vectors, the input of the model (Vaswani et al. 2017, sections 3.4 and 3.5).

        embed(ids)[..., t, :] = scale * W_tok[ids[..., t]] + W_pos[t]

    Args:
        ids: integers, (..., T), each in [0, V).
        W_tok: the table of token vectors, (V, D).
        W_pos: the table of position vectors, (block size, D), with at least T rows; only the first T are used.
        scale: the factor of the token vectors: 1 in GPT-2, √D in the 2017 transformer.

    Returns:
        Vectors, (..., T, D), in the dtype of the tables.

    Raises:
        ValueError: if an id is negative or not below V, or if T is larger than the number of positions.
    """
    raise NotImplementedError("embeddings.embed")


# %% [markdown]
# ## On paper
#
# 1. The ids are 1, 3, 1, 1, and the gradients at the four positions are (1, 0), (0, 1), (2, 2) and (−1, 5). What is the
#    gradient of a table with V = 4 rows?
# 2. In $x_{b,t} = s \cdot W_{tok}[ids_{b,t}] + W_{pos}[t]$, where is row t of `W_pos`, and with what factor? What are
#    the gradients of `W_pos`, of `W_tok` and of the number s, given dout for a batch (B, T, D)?
# 3. A pair of columns holds sin(a) and cos(a) at position pos. At pos + k, the angle is a + c, where c depends only on
#    k and the pair. By which 2 × 2 matrix do you multiply the row (sin(a), cos(a)) from the right to get the row
#    (sin(a + c), cos(a + c))? (Use sin(a + c) = sin(a) cos(c) + cos(a) sin(c) and cos(a + c) = cos(a) cos(c) − sin(a)
#    sin(c).)

# %% [markdown]
# ## Answers on paper
#
# **1. Row 1 is (2, 7), row 3 is (0, 1), and the others are 0.** Token 1 occurs three times: 1 + 2 − 1 = 2 and
# 0 + 2 + 5 = 7.
#
# ```python
# >>> dout = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [-1.0, 5.0]])
# >>> embed_tokens_backward(dout, np.array([1, 3, 1, 1]), vocab_size=4)
# array([[0., 0.],
#        [2., 7.],
#        [0., 0.],
#        [0., 1.]])
#
# ```
#
# **2. A sum over the batch, `embed_tokens_backward` of s · dout, and a sum over everything.** Row t of `W_pos` is in
# $x_{b,t}$ for each text b, with the factor 1, so its gradient is dout at position t, summed over the batch. The token
# vectors have the factor s. And s is in every entry of x, with the token vector's entry as its factor, so ds is the sum
# of dout times the token vectors. Difference quotients agree, for the loss Σ x² (so that dout = 2x):
#
# ```python
# >>> from gradients import numerical_gradient
# >>> rng = np.random.default_rng(0)
# >>> W_tok, W_pos, ids, s = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.integers(5, size=(2, 4)), 1.5
# >>> def loss(W_tok, W_pos, s):
# ...     return (embed(ids, W_tok, W_pos, s) ** 2).sum()
# >>> dout = 2 * embed(ids, W_tok, W_pos, s)
# >>> np.allclose(dout.sum(axis=0), numerical_gradient(lambda W: loss(W_tok, W, s), W_pos))
# True
# >>> dW_tok = embed_tokens_backward(s * dout, ids, vocab_size=5)
# >>> np.allclose(dW_tok, numerical_gradient(lambda W: loss(W, W_pos, s), W_tok))
# True
# >>> ds = (dout * embed_tokens(ids, W_tok)).sum()
# >>> np.allclose(ds, numerical_gradient(lambda s: loss(W_tok, W_pos, s), s))
# True
#
# ```
#
# **3. A rotation by the angle c.** Its first column holds the factors of sin(a + c), its second those of cos(a + c):
#
# ```text
#     (sin(a), cos(a))  @  [ cos(c)   -sin(c) ]   =   (sin(a + c), cos(a + c))
#                          [ sin(c)    cos(c) ]
# ```
#
# Neither pos nor a is in the matrix, so the same one moves every position by k. The angle of the first pair is pos
# itself, so for k = 5 its c is 5:
#
# ```python
# >>> table = sinusoidal_positions(100, 32)
# >>> rotation = np.array([[np.cos(5), -np.sin(5)], [np.sin(5), np.cos(5)]])
# >>> np.allclose(table[:-5, :2] @ rotation, table[5:, :2])
# True
#
# ```

# %% [markdown]
# ## What could go wrong
#
# If a check fails, look for your code in this list first. The report uses the same words.
#
# - `one_hot`: **the result holds integers, not floats.** The entries are correct, but the dtype is not, and results
#   computed from them may get another dtype, too.
# - `embed_tokens_backward`: **repeated tokens lost all gradients but the last: dW[ids] += dout.** With a repeated index
#   NumPy reads once and writes several times, so only the last one counts. The mistake stays hidden as long as all
#   tokens are different.
# - `sinusoidal_positions`: **the exponent is twice as large as it should be: an even column number is already 2i.** A
#   loop over 0, 2, 4, … already runs over the 2i of the formula. With twice the exponent, the wavelengths grow too fast
#   from pair to pair.
# - `embed`: **the whole sum was scaled, not only the token vectors.** The position vectors get the factor too, so it
#   does not change the balance between the two.
# - `embed`: **the length of the text was read from the first axis.** With a batch, the first axis counts the texts. The
#   mistake stays hidden when there are as many texts as tokens.

# %% [markdown]
# ## Try it
#
# The authors hoped that "five positions later" would be the *same* simple step everywhere: one matrix M with
# $PE_{pos + 5} = PE_{pos}\, M$. Is it? Find the best M from the first 100 positions, and test it on 95 more. ("Best"
# means the smallest sum of squared errors. The method, *least squares*, also finds regression lines.) Then do the same
# with a table of random numbers, such as a learned table before training.
#
# **Guess first.** How large is the error of each table, on the positions that M was computed from and on new ones? (The
# error is the length of the difference, divided by that of the correct row: 1 is as wrong as always predicting 0. The
# length of a vector is the root of the sum of its squared entries, `np.linalg.norm`.)
#
# Run it: `headway experiment embeddings`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    for name, table in (("waves", sinusoidal_positions(200, 32)), ("random", rng.normal(size=(200, 32)))):
        before, after = table[:-5], table[5:]
        M, *_ = np.linalg.lstsq(before[:100], after[:100], rcond=None)  # (32, 32)
        error = np.linalg.norm(before @ M - after, axis=-1) / np.linalg.norm(after, axis=-1)
        print(f"{name:6}   seen {error[:100].mean():.2f}   new {error[100:].mean():.2f}")


# %% [markdown]
# ## What came out
#
# ```text
# waves    seen 0.00   new 0.00
# random   seen 0.82   new 1.25
# ```
#
# For the waves, M is exact, even at new positions: each pair of columns is a hand of a clock, and all hands turn
# evenly. The random table has no such rule. On the rows that it was computed from, M is a little better than predicting
# 0; on new ones, it is worse.
#
# 1. How similar are two rows? The sum of their products, `a @ b`, is large if both point in the same direction. Compare
#    the row of a position with the row k positions later, from different starts. What do you expect of the waves?
# 2. GPT-2's token table starts with random numbers of mean 0 and standard deviation 0.02: the mean of their squares is
#    0.02². For D = 64, how long is such a token vector, and how long is a vector of the waves? How much of the token
#    would be left in their sum?

# %% [markdown]
# ## Answers
#
# **1. It depends only on the distance.** Rotated by the same angle, the hands stay as far apart as they were.
#
# ```python
# >>> table = sinusoidal_positions(100, 32)
# >>> for start in (0, 10, 90):
# ...     print([round(float(table[start] @ table[start + k]), 4) for k in (0, 1, 2, 5)])
# [16.0, 15.3136, 13.7301, 11.7774]
# [16.0, 15.3136, 13.7301, 11.7774]
# [16.0, 15.3136, 13.7301, 11.7774]
#
# ```
#
# **2. Hardly anything.** A token vector has 64 squares of 0.02² on average, so its length is about 0.02 · √64 = 0.16.
# In a vector of the waves, each sine and its cosine have squares that sum to 1, so its length is √(D/2) = 5.66, which
# is 35 times as long. Either both tables start with small entries, as in GPT-2, or the token vectors are scaled up, as
# in the paper.
#
# ```python
# >>> W_tok = np.random.default_rng(0).normal(0.0, 0.02, size=(100, 64))
# >>> tokens = embed(np.arange(100), W_tok, np.zeros((100, 64)))
# >>> for vectors in (tokens, sinusoidal_positions(100, 64)):
# ...     print(np.linalg.norm(vectors, axis=-1).mean().round(2))
# 0.16
# 5.66
#
# ```

# %% [markdown]
# ## In your own GPT
#
# Once your GPT is trained (`headway train`, in the assignment `training`), look at its embeddings:
# `headway plot embedding-map` and `headway plot embedding-norms`.
#
# In these tables of a small model, the vowels (here with y) have found each other, and positions one to three apart
# have, on average, the most similar vectors.
#
# A picture has two dimensions, but a vector has 32. So the map shows the two directions in which the vectors differ
# most (their principal components), and how much of the mean squared distance from the mean lies along each. The second
# picture compares rows by their *cosine*: the product `a @ b`, divided by the lengths of both. It is 1 for the same
# direction and −1 for opposite ones.
#
# ![The token vectors of a trained model in two dimensions: the vowels are close together. At several positions, each
# token becomes a chain of points.](figures/embedding-map.svg)
#
# ![The learned table of positions, and the similarity of each pair of its rows: on average, rows one to
# three apart are the most similar, and distant positions have negative cosines.](figures/learned-positions.svg)
