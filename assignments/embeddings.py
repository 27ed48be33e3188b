"""Assignment 3: embeddings, from ids and positions to vectors."""

# %% [markdown]
# # Embeddings: from ids to vectors
#
# *Assignment 3 of 12 · 5 functions · about 1 h 15 min*
#
# You can cut a text into batches of ids, and measure how good a row of scores is. Between the two is the model. What
# does its first step do with an id?
#
# An id is only a name: token 10 is not twice token 5, and token 6 is not "almost" token 5. A network that multiplies
# and adds would treat the ids as quantities. So each id is replaced by a vector of D numbers, its **embedding**. These
# vectors are parameters and are learned: tokens that are used alike tend to end up with similar vectors (Bengio et al.
# 2003, section 2).
#
# D, in code `d_model`, is the width of the model: from here to the end, every position of every text is a vector of D
# numbers. V is the size of the vocabulary. You need only two tables:
#
# ```text
#     ids (B, T)  ── row of W_tok ──>  token vectors      (B, T, D)  ──┐
#                                                                      + ──>  x (B, T, D)
#     0 … T - 1   ── row of W_pos ──>  position vectors      (T, D)  ──┘
# ```
#
# | table | shape | row number | a row represents |
# |---|---|---|---|
# | `W_tok` | (V, D) | the id of a token | *which* token this is |
# | `W_pos` | (block size, D) | a position, 0, 1, 2, … | *where* it is |
#
# The second table is needed because the next step of the model compares vectors regardless of their positions: without
# position vectors, "dog bites man" and "man bites dog" would be the same three vectors to it.

# %%
import numpy as np
from softmax import as_float

# %% [markdown]
# ## `one_hot`
#
# *10 min, straightforward*
#
# Start with the simplest vector for an id: a one-hot row, which you know as the "truth" in the last assignment. It has
# V entries, all 0 except for a single 1 in the column of the id.
#
# ```python
# >>> one_hot(np.array([2, 0, 2]), vocab_size=4)
# array([[0., 0., 1., 0.],
#        [1., 0., 0., 0.],
#        [0., 0., 1., 0.]])
#
# ```
#
# Any two different tokens are equally far apart here, so the vectors imply nothing about which tokens are similar. Ids
# usually come in batches, (B, T); the new axis goes last: (B, T, V).
#
# An id outside the table is a sign of an earlier bug (the wrong vocabulary, or a padding id of -1). NumPy reports only
# ids that are too large: index -1 silently takes the *last* row. So check the ids, and raise an error that shows the
# wrong one.

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
# A one-hot row is as long as the vocabulary, but it only marks one token. Multiply it by a table of parameters, and it
# selects one row of the table: all other rows are multiplied by 0. With `W_tok` (V, D), whose row v is the vector of
# token v:
#
# $$\mathrm{onehot}(ids)\; W_{tok} = W_{tok}[ids]$$
#
# The left side is a matrix product that needs V·D multiplications per token, nearly all of them by zero. The right side
# just looks up the row. Both give the same result, so in practice the look-up is used.
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
# *20 min, needs some thought*
#
# The table is learned, so it needs a gradient. Row v was copied to every position of token v and affected the loss at
# each of them, so its gradient is the *sum* of the gradients at all these positions. A token that does not occur gets
# 0.
#
# $$dW_{tok}[v] = \sum_{n \,:\, ids_n = v} dout_n$$
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
# Token 2 occurs at the first and the last position, so its row is 1 + 100 and 1 + 200. Whatever is used twice gets two
# gradients, and they are added. You will meet this rule in every assignment from here on.
#
# Here NumPy has a well-known pitfall. Indexing with repeated ids and adding in place keeps only *one* of the additions:
#
# ```python
# >>> total = np.zeros(3)
# >>> total[[1, 1, 1]] += 1.0
# >>> total
# array([0., 1., 0.])
#
# ```
#
# NumPy reads `total[[1, 1, 1]]`, which is `[0, 0, 0]`; adds 1; and stores the result `[1, 1, 1]` in entry 1, three
# times. There are two ways to avoid this. `np.add.at` adds one entry at a time. The other way follows from the left
# side of the formula for the look-up: it is a product with a one-hot matrix, and the gradient of a matrix product is
# again a matrix product, this time with the one-hot matrix (N, V) transposed, where N = B · T counts all positions.

# %%
def embed_tokens_backward(dout, ids, vocab_size):
    """Return the gradient with respect to the table: for each token, the sum of `dout` over all its positions.

        dW_tok[v] = Σ over all positions n with ids_n = v of dout_n

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
# *25 min, needs some thought*
#
# The second table is for the positions. Its rows can be learned like those of the first, or computed once and for all.
# The first transformer computes them, from waves of different lengths (Vaswani et al. 2017, section 3.5):
#
# $$PE_{(pos,\,2i)} = \sin\!\big(pos / 10000^{2i/D}\big) \qquad PE_{(pos,\,2i+1)} = \cos\!\big(pos / 10000^{2i/D}\big)$$
#
# The pairs of columns are like the hands of a clock. The first pair turns by one radian per position, like a second
# hand; each further pair turns more slowly, and the last ones hardly move within a short text. Together the hands
# identify the position. Each pair is a point on a circle, so that "k positions later" is the same rotation from every
# position. The authors hoped that this would make distances easy to learn.
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
# Note three things:
#
# - **`2i` counts columns, `i` counts pairs.** With D = 6 the exponents are 0/6, 2/6, 4/6. A loop over the even columns
#   0, 2, 4 already runs over `2i`; doubling it again gives 0/6, 4/6, 8/6.
# - **A cosine has the same exponent as the sine on its left.** No exponent uses the column number of a cosine.
# - **Interleaved or side by side?** The formula interleaves: sine, cosine, sine, cosine. Some code, including the
#   authors' own tensor2tensor, puts all sines first and all cosines after them. A model can learn with either, but a
#   model trained with one order cannot use a table in the other. Here, follow the formula.
#
# If D is odd, the last column is a sine without its cosine.
#
# See it: `headway plot positions` (before your function is written, with `--solution`).

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
# Now combine the two. The input of the rest of the model is the *sum* of the two vectors, for the token and for its
# position:
#
# $$x_{b,t} = s \cdot W_{tok}[ids_{b,t}] + W_{pos}[t]$$
#
# `W_pos` can be a learned table or the one from above; Vaswani et al. (2017, table 3, row E) found nearly the same
# results with both. A text shorter than the block size uses the first rows, and every text of the batch uses the same
# ones. For a longer text there are not enough positions: raise an error, because NumPy's own message about shapes would
# not explain the problem.
#
# Models differ in the factor $s$. The transformer of 2017 multiplies the token vectors by $\sqrt{D}$ (section 3.4);
# GPT-2 and BERT, two famous later models, do not scale at all. A common explanation is that the 2017 model uses the
# same table again in its last step, so the entries have a size of about $1/\sqrt{D}$: the factor makes them as large as
# those of the waves. It applies to the token vectors only, not to the sum.
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
# The backward pass needs nothing new. The gradient of `W_tok` is `embed_tokens_backward` of `scale * dout`. Row t of
# `W_pos` is used once by each text, so its gradient is `dout` at position t, summed over the batch.

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
# ## What could go wrong
#
# These mistakes are easy to make here. Read them before you write the functions, and again when a check fails: the
# report uses the same words when it recognizes one.
#
# - `one_hot`: **the result holds integers, not floats.** The entries are correct, but the dtype is not, and results
#   computed from them may get another dtype, too.
# - `embed_tokens_backward`: **repeated tokens lost all gradients but the last: dW[ids] += dout.** With a repeated index
#   NumPy reads once and writes several times, so only the last one counts. The mistake stays hidden as long as all
#   tokens are different.
# - `sinusoidal_positions`: **the exponent is twice as large as it should be: an even column number is already 2i.** A
#   loop over 0, 2, 4, … already runs over the 2i of the formula. With twice the exponent, the wavelengths grow too
#   fast from pair to pair.
# - `sinusoidal_positions`: **all sines come first, then all cosines.** Some libraries do that, but in the formula sines
#   and cosines alternate: columns 2i and 2i + 1.
# - `embed`: **the whole sum was scaled, not only the token vectors.** The position vectors get the factor too, so it
#   does not change the balance between the two.
# - `embed`: **the length of the text was read from the first axis.** With a batch, the first axis counts the texts. The
#   mistake stays hidden when there are as many texts as tokens.

# %% [markdown]
# ## Try it
#
# What are the waves good for, if any table with different rows could identify the positions? The authors hoped that
# "five positions later" would be the *same* simple step everywhere: one matrix M with $PE_{pos + 5} = PE_{pos}\, M$.
# Use least squares to find the best M from the first 100 positions, and test it on 95 more. Then do the same with a
# table of random numbers, such as a learned table before training.
#
# **Guess first.** How large is the error of each, on the positions that M was computed from and on new ones? (0 is
# exact; 1 is as wrong as always predicting 0.)
#
# Run it: `python embeddings.py`, or the next cell of the notebook.

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
# For the waves M is exact, even at new positions: each pair of columns is a hand of a clock, and five positions later
# is the same rotation from any position. In the random table there is no such rule. M fits some of the rows that it was
# computed from, but only by memorizing them; on new ones it is worse than predicting 0.
#
# 1. How similar are two rows? Multiply them entry by entry and sum, `a @ b`: the result is large if both point in the
#    same direction. Compare the row of a position with that of k positions later, from different starts. What do you
#    expect of the waves?
# 2. GPT-2's token table starts with random numbers of standard deviation 0.02. How long is such a token vector for D =
#    64, and how long is a vector of the waves? How much of the token would be left in their sum?

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
# **2. Hardly anything.** Each vector of the waves has the length √(D/2), 35 times the length of a token vector. Either
# both tables start with small entries, as in GPT-2, or the token vectors are scaled up, as in the paper.
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
# Once your GPT is trained (`headway train`, assignment 10), look at its embeddings: `headway plot embedding-map` and
# `headway plot embedding-norms`.
