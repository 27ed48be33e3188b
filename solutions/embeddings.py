"""Assignment 3: embeddings, or how ids and positions become vectors."""

# %% [markdown]
# # Embeddings: from ids to vectors
#
# We can cut a text into batches of ids, and judge a row of scores. Between the two stands the model. What does its
# first step do with an id?
#
# An id is only a name: token 10 is not twice token 5, and token 6 is not "almost" token 5. A network that multiplies
# and adds would take those numbers at their word. So each id is exchanged for a vector of D numbers, its **embedding**.
# These vectors are parameters and are learned: tokens that are used alike end up with vectors that are alike (Bengio et
# al. 2003, section 2).
#
# D, in code `d_model`, is the width of the model: from here to the very end every position of every text is a vector of
# D numbers. V is the size of the vocabulary. Two tables are all there is:
#
# ```text
#     ids (B, T)  ── row of W_tok ──>  what stands here   (B, T, D)  ──┐
#                                                                      + ──>  x (B, T, D)
#     0 … T - 1   ── row of W_pos ──>  where it stands       (T, D)  ──┘
# ```
#
# | table | shape | row number | says |
# |---|---|---|---|
# | `W_tok` | (V, D) | the id of a token | *what* stands here |
# | `W_pos` | (block size, D) | a position, 0, 1, 2, … | *where* it stands |
#
# The second one is needed because the next step of the model compares vectors and does not look at where they stand:
# without positions, "dog bites man" and "man bites dog" are the same three vectors to it.

# %%
import numpy as np
from softmax import as_float

# %% [markdown]
# ## `one_hot`
#
# Start with the plainest vector for an id: a one-hot row, which you know as "what was true" from the last assignment. V
# numbers with a single 1, at the place of the id.
#
# ```python
# >>> one_hot(np.array([2, 0, 2]), vocab_size=4)
# array([[0., 0., 1., 0.],
#        [1., 0., 0., 0.],
#        [0., 0., 1., 0.]])
#
# ```
#
# Any two different tokens are equally far apart here, so nothing is claimed about them that is not known. Ids arrive in
# batches, (B, T) as a rule; the new axis goes last: (B, T, V).
#
# An id outside the table is always a bug somewhere earlier (the wrong vocabulary, or a padding id of -1). NumPy would
# not tell: index -1 silently takes the *last* row. So look at the ids, and say what is wrong.


# %%
def _check_ids(ids, vocab_size):
    """`ids` as an array, every entry in [0, vocab_size), else a ValueError."""
    ids = np.asarray(ids)
    outside = (ids < 0) | (ids >= vocab_size)
    if outside.any():
        raise ValueError(f"id {ids[outside][0]} is outside the vocabulary: ids must be in [0, {vocab_size})")
    return ids


def one_hot(ids, vocab_size):
    """One row per id: 1 at the place of the id, 0 everywhere else.

        one_hot(ids)[..., v] = 1 if ids[...] = v else 0

    Args:
        ids: integers, (...), each in [0, V).
        vocab_size: V, the length of a row.

    Returns:
        Float64 array, (..., V).

    Raises:
        ValueError: if an id is negative or not below `vocab_size`.
    """
    ids = _check_ids(ids, vocab_size)
    return (ids[..., None] == np.arange(vocab_size)).astype(np.float64)  # (..., 1) against (V,) gives (..., V)


# %% [markdown]
# ## `embed_tokens`
#
# A one-hot row is as long as the vocabulary, and says nothing but "this one". Multiply it by a table of parameters, and
# it picks one row of the table: all other rows are multiplied by 0. With `W_tok` (V, D), whose row v is the vector of
# token v:
#
# $$\mathrm{onehot}(ids)\; W_{tok} = W_{tok}[ids]$$
#
# The left side is a matrix product that spends V·D multiplications per token, nearly all of them by zero. The right
# side just looks the row up. They are the same function, and everybody uses the second one because it is fast.
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
    """The embedding of each token: row `id` of the table (Bengio et al. 2003, section 2).

        embed_tokens(ids)[..., :] = W_tok[ids[...], :]

    Args:
        ids: integers, (...), each in [0, V).
        W_tok: the table, (V, D).

    Returns:
        Vectors, (..., D), in the dtype of `W_tok` (float64 for integers). A new array: changing it leaves the table
        alone.

    Raises:
        ValueError: if an id is negative or not below V.
    """
    W_tok = as_float(W_tok)
    return W_tok[_check_ids(ids, len(W_tok))]  # (..., D)


# %% [markdown]
# ## `embed_tokens_backward`
#
# The table is learned, so it needs a gradient. Row v was copied to every place where token v stands, and moved the loss
# at each of them: its gradient is the *sum* of the gradients of all those places. A token that does not occur gets 0.
#
# $$dW_{tok}[v] = \sum_{n \,:\, ids_n = v} dout_n$$
#
# ```python
# >>> dout = np.array([[1.0, 1.0], [10.0, 10.0], [100.0, 200.0]])  # gradients at the three places
# >>> embed_tokens_backward(dout, np.array([2, 0, 2]), vocab_size=4)
# array([[ 10.,  10.],
#        [  0.,   0.],
#        [101., 201.],
#        [  0.,   0.]])
#
# ```
#
# Token 2 stood at the first and the last place: 1 + 100 and 1 + 200. Whatever is used twice gets two gradients, and
# they are added. You will meet this rule in every assignment from here on.
#
# NumPy has a trap here that has caught the authors of several libraries. Indexing with repeated ids and adding in place
# keeps only *one* of the additions:
#
# ```python
# >>> total = np.zeros(3)
# >>> total[[1, 1, 1]] += 1.0
# >>> total
# array([0., 1., 0.])
#
# ```
#
# Read as: fetch `total[[1, 1, 1]]`, which is `[0, 0, 0]`; add 1; store `[1, 1, 1]` at place 1, three times. There are
# two ways out. `np.add.at` adds one entry at a time and is right, but slow. The other one is the left side of the
# formula for the lookup: it *is* a product with a one-hot matrix, and the gradient of a matrix product is a matrix
# product, this time with the one-hot matrix (N, V) transposed, where N = B · T counts all places. It is several times
# faster while V is small.


# %%
def embed_tokens_backward(dout, ids, vocab_size):
    """Gradient with respect to the table: what arrives at all places of a token, added up.

        dW_tok[v] = Σ over all places n with ids_n = v of dout_n

    Args:
        dout: gradient with respect to `embed_tokens(ids, W_tok)`, (..., D).
        ids: the integers that were looked up, (...).
        vocab_size: V, the number of rows of the table.

    Returns:
        dW_tok, (V, D), in the dtype of `dout` (float64 for integers). Rows of tokens that do not occur are 0.

    Raises:
        ValueError: if an id is negative or not below `vocab_size`.
    """
    dout = as_float(dout)
    hot = one_hot(np.reshape(ids, -1), vocab_size).astype(dout.dtype, copy=False)  # (N, V), N places in all
    return hot.T @ dout.reshape(-1, dout.shape[-1])  # (V, N) @ (N, D)


# %% [markdown]
# ## `sinusoidal_positions`
#
# Now the second table: *where*. Its rows can be learned like those of the first, or be computed once and for all. The
# first transformer computes them, from waves of different lengths (Vaswani et al. 2017, section 3.5):
#
# $$PE_{(pos,\,2i)} = \sin\!\big(pos / 10000^{2i/D}\big) \qquad PE_{(pos,\,2i+1)} = \cos\!\big(pos / 10000^{2i/D}\big)$$
#
# Think of the hands of a clock. The first pair of columns turns by one radian per position, like a second hand; each
# further pair turns more slowly, and the last ones hardly move within a text. Together the hands name the position.
# Each pair is a point on a circle, so that "k positions later" is the same rotation wherever one starts: the paper
# hoped that distances would be easy to learn from that.
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
# Three things to mind:
#
# - **`2i` counts columns, `i` counts pairs.** With D = 6 the exponents are 0/6, 2/6, 4/6. A loop that runs over the
#   even columns 0, 2, 4 already holds `2i`; doubling it once more gives 0/6, 4/6, 8/6.
# - **A cosine has the same exponent as the sine on its left.** There is none that belongs to its own column number.
# - **Interleaved or side by side?** The formula interleaves: sine, cosine, sine, cosine. Some code, the authors' own
#   tensor2tensor among it, puts all sines first and all cosines after them. A model can learn from either, but a table
#   of one kind is of no use to a model trained with the other. Here it is the formula.
#
# If D is odd, the last column is a sine whose cosine did not fit.
#
# See it: `headway plot positions` (before your function is written, with `--solution`).

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("positions", globals())


# %%
def sinusoidal_positions(length, d_model):
    """The fixed table of position vectors (Vaswani et al. 2017, section 3.5).

        PE[pos, 2i] = sin(pos / 10000^(2i/D)),   PE[pos, 2i+1] = cos(pos / 10000^(2i/D))

    Args:
        length: the number of positions T; they are 0, 1, …, T - 1.
        d_model: D, the width of each vector. If it is odd, the last column is a sine.

    Returns:
        Float64 array, (T, D).
    """
    even_columns = np.arange(0, d_model, 2)  # 0, 2, 4, …: the 2i of the formula
    angles = np.arange(length)[:, None] / 10000.0 ** (even_columns / d_model)  # (T, number of sines)
    table = np.empty((length, d_model))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles[:, : d_model // 2])  # with an odd D there is one cosine less
    return table


# %% [markdown]
# ## `embed`
#
# Put the two together. What goes into the rest of the model is the *sum* of the two vectors, what stands here and where
# it stands:
#
# $$x_{b,t} = s \cdot W_{tok}[ids_{b,t}] + W_{pos}[t]$$
#
# `W_pos` may be a learned table or the one from above; Vaswani et al. (2017, table 3, row E) saw nearly the same
# results. A text shorter than the block size uses the first rows, and every text of the batch uses the same ones. A
# longer text has no positions to use: that is an error, and NumPy's own message about shapes would not explain it.
#
# The factor $s$ is a place where models differ. The transformer of 2017 multiplies the token vectors by $\sqrt{D}$
# (section 3.4); GPT-2 and BERT, two famous models that came after it, do not scale at all. The usual explanation is
# that the paper also uses the table as its last step, with entries of size about $1/\sqrt{D}$: the factor brings them
# to the size of the waves. It belongs to the token vectors only, not to the sum.
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
# The way back needs nothing new. The gradient of `W_tok` is `embed_tokens_backward` of `scale * dout`; row t of `W_pos`
# was used once by each text, so its gradient is `dout` at position t, added up over the batch.


# %%
def embed(ids, W_tok, W_pos, scale=1.0):
    """Token vectors plus position vectors, what the model works on (Vaswani et al. 2017, sections 3.4 and 3.5).

        embed(ids)[..., t, :] = scale * W_tok[ids[..., t]] + W_pos[t]

    Args:
        ids: integers, (..., T), each in [0, V).
        W_tok: the table of tokens, (V, D).
        W_pos: the table of positions, (block size, D), with at least T rows; only the first T are used.
        scale: what the token vectors are multiplied by: 1 in GPT-2, √D in the 2017 transformer.

    Returns:
        Vectors, (..., T, D), in the dtype of the tables (float64 for integers).

    Raises:
        ValueError: if an id is negative or not below V, or if T is larger than the number of positions.
    """
    W_pos = as_float(W_pos)
    length = np.shape(ids)[-1]
    if length > len(W_pos):
        raise ValueError(f"{length} tokens do not fit: there are only {len(W_pos)} positions")
    return embed_tokens(ids, W_tok) * float(scale) + W_pos[:length]  # (..., T, D) + (T, D)


# %% [markdown]
# ## What could go wrong
#
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
#
# - `one_hot`: **the result holds integers, not floats.** The numbers are right; the dtype is not, and it spreads to
#   whatever is computed with them.
# - `embed_tokens_backward`: **of a token that occurs several times, only the last gradient was added: dW[ids] +=
#   dout.** With a repeated index NumPy reads once and writes several times, so the last one wins. Nothing shows as long
#   as all tokens are different.
# - `sinusoidal_positions`: **the exponent is twice too large: 2i, where i already counts in steps of two.** A loop over
#   0, 2, 4, … has the 2i of the formula already. The waves get longer twice as fast as they should.
# - `sinusoidal_positions`: **all sines come first and then all cosines.** Some libraries do it like that, but in the
#   formula sine and cosine alternate: columns 2i and 2i + 1.
# - `embed`: **the whole sum was scaled, not only the token vectors.** The positions get the factor too, so that its
#   purpose, the balance between the two, is lost.
# - `embed`: **the length of the text was read from the first axis, which is the batch.** With as many texts as tokens
#   nothing shows; otherwise too many or too few positions are added.

# %% [markdown]
# ## Try it
#
# What are the waves good for, if any table with different rows would name the positions? The authors hoped for this:
# "five positions later" should be the *same* simple step everywhere, one matrix M with $PE_{pos + 5} = PE_{pos}\, M$.
# Let least squares find the best M from the first 100 positions, and try it on 95 further ones. Then do the same with a
# table of random numbers, such as a learned one starts from.
#
# **Guess first.** How far off is each of them, on positions that M was made from and on new ones? (0 is exact, 1 is as
# wrong as answering 0.)
#
# Run it: `python embeddings.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    for name, table in (("waves", sinusoidal_positions(200, 32)), ("random", rng.normal(size=(200, 32)))):
        before, after = table[:-5], table[5:]
        M, *_ = np.linalg.lstsq(before[:100], after[:100], rcond=None)  # (32, 32)
        missed = np.linalg.norm(before @ M - after, axis=-1) / np.linalg.norm(after, axis=-1)
        print(f"{name:6}   seen {missed[:100].mean():.2f}   new {missed[100:].mean():.2f}")

# %% [markdown]
# ## What came out
#
# ```text
# waves    seen 0.00   new 0.00
# random   seen 0.82   new 1.25
# ```
#
# For the waves M is exact, also where it has never been tried: each pair of columns is a hand of a clock, and five
# positions later is the same turn of the hand from anywhere. In the random table there is nothing to find. What M gets
# right of the rows that it was made from is learned by heart, and on new ones it is worse than no answer at all.
#
# 1. How alike are two rows? Multiply them number by number and add up, `a @ b`: large if both point the same way.
#    Compare the row of a position with that of k positions later, from different starts. What do you expect of the
#    waves?
# 2. GPT-2's tables start with numbers of size 0.02. How long is such a token vector, for D = 64, and how long is a
#    vector of the waves? What would be left of the token in their sum?

# %% [markdown]
# ## Answers
#
# **1. It depends on the distance alone.** Turned by the same angle, the hands stay as far apart as they were.
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
# **2. Hardly anything.** All waves are as long as √(D/2), 35 times as long as the tokens. Either both tables start
# small, as in GPT-2, or the tokens are scaled up, as in the paper.
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
# When your GPT is trained (`headway train`, assignment 10), look at this part at work: `headway plot embedding-map` and
# `headway plot embedding-norms`.

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("embedding-map", globals())

# %% tags=["active-ipynb"]
# show("embedding-norms", globals())
