"""The bigram model that learns: a table of scores, trained by gradient descent."""

# %% [markdown]
# # The bigram model: the first model that learns
#
# *Assignment 5 of 21 · 4 functions · about 50 min to write them*
#
# One table of 27 × 27 numbers wrote both of these lines, with the same random numbers. Between them lie 1,000 steps of
# training:
#
# ```text
# before   niijzqrhrcav zvuaevkpcemtnbwckohkwlnzgxihwawvxaftk
# after    kaieylien as znn congaalli salidethayavees sst cle miy dr delisine jvorisielan
# ```
#
# Nobody counted anything, and nobody told the table what a name looks like. How did it find out?
#
# This is the bigram model again, which predicts the next token from the current one. In `counting`, you filled its
# table with counts. Now a table W starts from zeros, and you *train* it. Row i belongs to the current token i, and
# holds a score for each of the V tokens that may come next. Softmax turns it into probabilities.
#
# ```text
#     ids (N,) ──> pairs ──> loss and dW ──> step ──> W (V, V) ──> softmax, draw ──> new names
#                                ^                       │
#                                └───────────────────────┘
# ```
#
# ![A map of the whole model. Marked: softmax, the loss, the gradients, the step, the new parameters, and drawing the
# next token. One table of scores takes the place of everything between the ids and softmax.](figures/map-bigram.svg)
#
# Why train what you can count? Because counting ends here: the table for three letters was mostly empty, and the models
# to come have no table. They are all trained in the way that you will write now, but only here do you know the right
# answer in advance.

# %%
import numpy as np
from counting import draw
from softmax import cross_entropy, cross_entropy_backward, softmax

# %% [markdown]
# ## `generate_bigram`
#
# *15 min, straightforward*
#
# First let the table talk. This is `write_text` again, but with scores: apply softmax to the row of the current token
# before you draw.
#
# To pass counted probabilities, pass their logarithms: the exponential in softmax undoes the logarithm, and the sum it
# divides by is 1.
#
# ```python
# >>> from autograder.models.training import datasets
# >>> from counting import bigram_counts
# >>> from tokenizer import build_vocab, decode, encode, train_val_split
# >>> names = datasets.load("names")
# >>> chars, stoi, itos = build_vocab(names)
# >>> train, val = train_val_split(encode(names, stoi))
# >>> probs = bigram_counts(train, len(chars))
# >>> np.allclose(softmax(np.log(probs)), probs)
# True
#
# ```
#
# Begin with a newline, as before:
#
# ```python
# >>> text = decode(generate_bigram(np.log(probs), stoi["\n"], 80, np.random.default_rng(6)), itos)
# >>> print(*text.split("\n")[1:-1])  # the last name may be cut off
# kahazin ma s zor cone chilatakeelydeyaveet sst don miy dr delisinealyrnconaman
#
# ```
#
# ![The table of 27 times 27 counted probabilities as colored cells. The darkest cells: a after w, u after q, a after
# m.](figures/bigram-table.svg)
#
# You know these names from `counting`: the same table, the same random numbers. Training starts from zeros:
#
# ```python
# >>> text = decode(generate_bigram(np.zeros((27, 27)), stoi["\n"], 80, np.random.default_rng(6)), itos)
# >>> print(*text.split("\n")[1:-1])
# niijzqrhrcav zvuaevkpcemtnbwckohkwlnzgxihwawvxaftk
#
# ```

# %%
def generate_bigram(W, start, n_new, rng):
    """Generate tokens, one at a time, each drawn from the scores of the token before it.

        p = softmax(W[current])        next = draw(p, rng)

    Args:
        W: table of scores, (V, V); row i holds the scores of the tokens that may come after token i.
        start: the first token, an integer in [0, V).
        n_new: how many tokens to generate, ≥ 0.
        rng: a `numpy.random.Generator`. Each new token uses one number of `rng.random()`, in order.

    Returns:
        The text: `start`, then the new tokens, (n_new + 1,), int64.

    Raises:
        ValueError: if `start` is not in [0, V), or `n_new` is negative.
    """
    raise NotImplementedError("bigram.generate_bigram")


# %% [markdown]
# ## `bigram_loss`
#
# *20 min, needs some thought*
#
# How good is the table? Let it predict every character of the text from the one before, and take the mean
# cross-entropy. `W[ids]` looks up a row of V scores for each entry of `ids`, whatever its shape.
#
# A table of zeros has the loss log 27 = 3.2958, like any model that knows nothing. The counts do much better, even on
# names that they were not made from:
#
# ```python
# >>> for table in (np.zeros((27, 27)), np.log(probs)):
# ...     print(*(round(bigram_loss(text[:-1], text[1:], table)[0], 4) for text in (train, val)))
# 3.2958 3.2958
# 2.4554 2.4496
#
# ```
#
# To train, you need the gradient `dW`: how the loss changes with each of the V × V entries. `cross_entropy_backward`
# gives the gradients of the rows that were looked up, one for each pair. Bring them back to where they came from: a row
# of `W` that was looked up five times influences the loss in five places, and its gradient is the *sum* of the five. A
# row that was not looked up has the gradient 0.
#
# ```python
# >>> loss, dW = bigram_loss(np.array([0, 0, 2]), np.array([1, 1, 0]), np.zeros((3, 3)))
# >>> round(loss, 4)
# 1.0986
# >>> dW.round(4)
# array([[ 0.2222, -0.4444,  0.2222],
#        [ 0.    ,  0.    ,  0.    ],
#        [-0.2222,  0.1111,  0.1111]])
#
# ```
#
# What does the sum mean? Let B be the number of pairs in the batch; $n_i$ of them begin with token i. Each contributes
# (probabilities − one-hot row of the target) / B. The probabilities are the same for all $n_i$, and the one-hot rows,
# added up, are the counts of what came after i:
#
# $$dW_i = \frac{n_i}{B}\,\big(\mathrm{softmax}(W_i) - \mathrm{frequencies}_i\big)$$
#
# where $\mathrm{frequencies}_i$ are these counts, divided by $n_i$. In words: what the model predicts after i, minus
# what actually came. Once the two are equal, training has nothing left to change. So the softmax of the table
# approaches the counted table (with k = 0), although nobody counts.
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> x, y, W = rng.integers(4, size=100), rng.integers(4, size=100), rng.normal(size=(4, 4))
# >>> loss, dW = bigram_loss(x, y, W)
# >>> after_2 = y[x == 2]
# >>> frequencies = np.bincount(after_2, minlength=4) / len(after_2)
# >>> np.allclose(dW[2], len(after_2) / 100 * (softmax(W[2]) - frequencies))
# True
#
# ```

# %%
def bigram_loss(ids, targets, W):
    """Return the loss of the bigram model, and its gradient with respect to the table.

        logits = W[ids]        loss = cross_entropy(logits, targets)

    Args:
        ids: the current tokens, integers in [0, V), any shape.
        targets: the tokens that come next, integers in [0, V), of the same shape.
        W: table of scores, (V, V); row i holds the scores of the tokens that may come after token i.

    Returns:
        loss: the mean over all pairs, as a Python float.
        dW: the gradient, same shape and dtype as `W`. If a token occurs several times in `ids`, all its pairs add to
            its row; the row of a token that does not occur is 0.
    """
    raise NotImplementedError("bigram.bigram_loss")


# %% [markdown]
# ## `sgd_step`
#
# *5 min, straightforward*
#
# Where the gradient is positive, the loss rises with that entry of the table, so make the entry smaller; where the
# gradient is negative, make the entry larger. Either way, you step *against* the gradient. Repeat such steps, and you
# have **gradient descent**, which Cauchy (1847) proposed for the long calculations of astronomy. The learning rate sets
# how far each step goes:
#
# $$W \leftarrow W - lr \cdot dW$$
#
# ```python
# >>> W = np.zeros((3, 3))
# >>> for step in range(4):
# ...     loss, dW = bigram_loss(np.array([0, 0, 2]), np.array([1, 1, 0]), W)
# ...     W = sgd_step(W, dW, lr=1.0)
# ...     print(round(loss, 4))
# 1.0986
# 0.7674
# 0.5632
# 0.4352
#
# ```
#
# Return a *new* array. `W -= lr * dW` would write into the caller's array, and an older table that somebody kept would
# change without notice.
#
# The s stands for *stochastic*: the step itself is not random, but its gradient usually comes from a random batch.

# %%
def sgd_step(W, dW, lr):
    """Take one step of gradient descent (the same result as `torch.optim.SGD`).

        W - lr dW

    Args:
        W: the parameters, an array of any shape.
        dW: the gradient of the loss with respect to `W`, of the same shape and dtype.
        lr: the learning rate.

    Returns:
        The new parameters, a new array of the shape and dtype of `W`. `W` is not modified.
    """
    raise NotImplementedError("bigram.sgd_step")


# %% [markdown]
# ## `train_bigram`
#
# *10 min, straightforward*
#
# A training run is a loop: draw a batch, compute its loss and gradient, take a step. From a table of zeros, the first
# loss must be log V.
#
# Why a batch? The gradient of the whole text takes a long time to compute. A few hundred random pairs give nearly the
# same direction at a fraction of the cost. The price is noise: the losses jump, and the table never quite comes to
# rest.
#
# Draw B positions. The current tokens are the ids there, and the next tokens are those one position later. The last of
# the N tokens of a text has no next one, so N − 1 positions are possible; `rng.integers` excludes its upper end.
#
# ```python
# >>> W, losses = train_bigram(train, 27, steps=1000, lr=10.0, batch_size=500, rng=np.random.default_rng(0))
# >>> [round(losses[step], 2) for step in (0, 10, 100, 999)]
# [3.3, 2.93, 2.58, 2.5]
# >>> text = decode(generate_bigram(W, stoi["\n"], 80, np.random.default_rng(6)), itos)
# >>> print(*text.split("\n")[1:-1])
# kaieylien as znn congaalli salidethayavees sst cle miy dr delisine jvorisielan
#
# ```
#
# A learning rate of 10 is unusually large. The formula above shows why you need it: row i has the factor $n_i / B$, and
# each of 27 rows gets only a small part of the batch.

# %%
def train_bigram(ids, vocab_size, steps, lr, batch_size, rng):
    """Train a bigram model by gradient descent, from a table of zeros.

        W = zeros
        repeat `steps` times:
            p = rng.integers(N - 1, size=batch_size)
            loss, dW = bigram_loss(ids[p], ids[p + 1], W)
            W = sgd_step(W, dW, lr)

    Args:
        ids: the text, N integers in [0, V), (N,), N ≥ 2.
        vocab_size: V.
        steps: the number of steps, ≥ 0.
        lr: the learning rate of every step.
        batch_size: B, the number of pairs in a batch.
        rng: a `numpy.random.Generator`. It is called once in each step: `rng.integers(N - 1, size=batch_size)`.

    Returns:
        W: the learned table of scores, (V, V), float64.
        losses: list of Python floats, the loss of each batch before its step.
    """
    raise NotImplementedError("bigram.train_bigram")


# %% [markdown]
# ## On paper
#
# 1. Take a table of zeros, V = 3, and one batch with the pairs (0, 1), (0, 1), (2, 0). Compute `dW` without a computer.
# 2. Add 5 to every entry of one row of `W`. How does the loss change? What follows for the sum of each row of `dW`?

# %% [markdown]
# ## Answers on paper
#
# **1. Row 0 is (2/9, −4/9, 2/9), row 1 is 0, and row 2 is (−2/9, 1/9, 1/9).** All probabilities are ⅓, and B is 3. Row
# 0 has two pairs, both with target 1: twice (⅓, ⅓ − 1, ⅓) / 3. Row 2 is (⅓ − 1, ⅓, ⅓) / 3. These are the numbers in the
# example above.
#
# **2. The loss does not change, so each row of `dW` sums to 0.** Softmax ignores what is added to a whole row. The
# formula agrees: probabilities sum to 1, and so do frequencies.

# %% [markdown]
# ## What could go wrong
#
# With some of these, the model still learns something. The report uses the same words.
#
# - `generate_bigram`: **the most likely token was taken instead of drawing one.** The text then runs into a short loop
#   that repeats without end.
# - `bigram_loss`: **of several pairs with the same token, only the last one is in dW.** `dW[ids] += …` writes each row
#   once, even if it is listed several times. All pairs of a token add to its row.
# - `bigram_loss`: **the gradients were added to the rows of the targets, not of the current tokens.** A row of W was
#   looked up for the current token, so its gradient belongs there.
# - `train_bigram`: **the result of sgd_step was not kept, so W never changes.** sgd_step returns a new array and leaves
#   its argument as it is.
# - `train_bigram`: **the last pair of the text was never drawn.** N tokens have N − 1 pairs, and rng.integers excludes
#   its upper end.

# %% [markdown]
# ## Try it
#
# Train the table for longer and longer, and compare its loss with that of the counts, on the training names and on new
# ones. Then let both tables write, with the same random numbers.
#
# **Guess first.** Will the learned table reach the loss of the counts, stay above it, or get below it? And how similar
# will the names from the two tables be?
#
# Run it: `headway experiment bigram`, or the next cell of the notebook. It trains for a few seconds.

# %%
if __name__ == "__main__":
    from counting import bigram_counts
    from tokenizer import build_vocab, decode, encode, train_val_split

    from autograder.models.training import datasets

    names = datasets.load("names")
    chars, stoi, itos = build_vocab(names)
    train, val = train_val_split(encode(names, stoi))

    def show_losses(label, W):
        on_train, on_val = (bigram_loss(ids[:-1], ids[1:], W)[0] for ids in (train, val))
        print(f"{label:>10}   training {on_train:.4f}   validation {on_val:.4f}")

    counted = np.log(bigram_counts(train, len(chars)))
    for steps in (0, 10, 100, 2000):
        learned, _ = train_bigram(train, len(chars), steps, 10.0, 1000, np.random.default_rng(0))
        show_losses(f"{steps} steps", learned)
    show_losses("counted", counted)
    for label, W in (("counted", counted), ("learned", learned)):
        text = decode(generate_bigram(W, stoi["\n"], 70, np.random.default_rng(1)), itos)
        print(f"{label}:", *text.split("\n")[1:-1])


# %% [markdown]
# ## What came out
#
# ```text
#    0 steps   training 3.2958   validation 3.2958
#   10 steps   training 2.9253   validation 2.9225
#  100 steps   training 2.5410   validation 2.5356
# 2000 steps   training 2.4604   validation 2.4540
#    counted   training 2.4554   validation 2.4496
# counted: ky wajond pharch iadlbiyuribayi minr ke mon shararirara stth
# learned: ky xaisha pharde jadjalyton bxi mino ke mon shararirara stth
# ```
#
# Training starts at log 27 and comes within 0.005 of the counts, on both texts. With the same random numbers, the two
# tables write nearly the same names.
#
# Everything in this course is trained like this: parameters, a loss, its gradient, a step. Only the model in the middle
# will grow, and the table shows why it has to. On its training text, a bigram model cannot beat its counts, because it
# sees only one letter. (On new text, it can: question 4.) Tables for more letters are mostly empty, as you saw in
# `counting`. A transformer needs no table.
#
# 1. How low can the loss of a bigram model get on the training text? Does the trained table have a gradient of 0?
# 2. Which k is best? Compare the two columns for k from 0.000000001 to 100.
# 3. In which rows do the learned and the counted table differ most, and why there? (Look at the factor in the
#    gradient.)
# 4. Train on the first 2,000 letters only. After how many steps is the validation loss lowest?

# %% [markdown]
# ## Answers
#
# **1. To 2.4547, the loss of the counts without smoothing.** There the probabilities are the frequencies, and the
# gradient is 0. (Here k is not exactly 0, because log 0 is not a finite number.) The trained table comes near, and the
# noise of the batches keeps it moving.
#
# ```python
# >>> for W in (np.log(bigram_counts(train, 27, k=1e-9)), counted, learned):
# ...     least, dW = bigram_loss(train[:-1], train[1:], W)
# ...     print(f"loss {least:.4f}   largest gradient {np.abs(dW).max():.6f}")
# loss 2.4547   largest gradient 0.000000
# loss 2.4554   largest gradient 0.000084
# loss 2.4604   largest gradient 0.002334
#
# ```
#
# **2. On the training text, the smallest; on the validation text, one between 0.1 and 1.** Without smoothing, each pair
# that is new in the validation text is nearly impossible, and costs a lot. With a large k, all rows become alike. The
# training text cannot tell you which k is best.
#
# ```python
# >>> for k in (1e-9, 0.01, 0.1, 1.0, 10.0, 100.0):
# ...     show_losses(f"k = {k:g}", np.log(bigram_counts(train, 27, k)))
#  k = 1e-09   training 2.4547   validation 2.4536
#   k = 0.01   training 2.4547   validation 2.4501
#    k = 0.1   training 2.4548   validation 2.4496
#      k = 1   training 2.4554   validation 2.4496
#     k = 10   training 2.4639   validation 2.4576
#    k = 100   training 2.5462   validation 2.5402
#
# ```
#
# **3. In the rows of the two rarest letters, q and x.** The gradient of row i has the factor $n_i / B$, so the rows of
# rare tokens move slowly: after 2,000 steps, they are still on their way. The other rows differ little, and their order
# depends on the batches. An update rule that takes larger steps in rare rows comes in the assignment `training`.
#
# ```python
# >>> distance = np.abs(softmax(learned) - softmax(counted)).sum(axis=1)
# >>> n = np.bincount(train[:-1], minlength=27)
# >>> for i in (*np.argsort(-distance)[:3], *np.argsort(-distance)[-2:]):
# ...     print(repr(chars[i]), n[i], distance[i].round(2))
# 'q' 239 0.24
# 'x' 648 0.15
# 'f' 825 0.13
# 'i' 15934 0.04
# 'a' 30431 0.03
#
# ```
#
# **4. After about 300. Then the table is better on new text than the counts, and longer training makes it worse.** The
# table then approaches the counts of a short text, in which most pairs do not occur. Stopping at the lowest validation
# loss is *early stopping*. Like k, it is a *regularization*: it keeps a model from trusting its training text too much.
#
# ```python
# >>> few = train[:2000]
# >>> def few_and_new(W):  # the loss on the short text, and on the validation text
# ...     return [round(float(bigram_loss(ids[:-1], ids[1:], W)[0]), 4) for ids in (few, val)]
# >>> for k in (1e-9, 1.0):
# ...     print(f"k = {k:g}", few_and_new(np.log(bigram_counts(few, 27, k))))
# k = 1e-09 [2.3245, 3.2119]
# k = 1 [2.4574, 2.5812]
# >>> for steps in (30, 300, 3000):
# ...     print(steps, "steps", few_and_new(train_bigram(few, 27, steps, 10.0, 1000, np.random.default_rng(0))[0]))
# 30 steps [2.6236, 2.7097]
# 300 steps [2.3758, 2.5495]
# 3000 steps [2.3315, 2.5921]
#
# ```

# %% [markdown]
# ## In your own GPT
#
# Your functions can now train a model on any text and let it talk, with a live report and a **checkpoint**, a file with
# the trained table:
#
# ```sh
# headway train --preset bigram
# headway generate model.safetensors
# ```
