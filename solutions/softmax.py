"""Assignment 2: softmax and cross-entropy, forward and backward."""

# %% [markdown]
# # Softmax: from scores to probabilities
#
# The tokenizer gives us examples to learn from: windows of text, and the character that comes next. What should a
# model's prediction look like? Not a single token, but a row with one number for each token of the vocabulary, larger
# meaning "more likely". Such raw numbers are called **scores** or **logits**; they can be any numbers, including
# negative ones.
#
# Two things are missing. The scores have to be turned into probabilities, so that you can draw a token or compute an
# average. And you need a measure of how wrong a prediction was, and of how each score should change to improve it. In
# this assignment you write both.
#
# **Softmax** turns a row of scores into probabilities: positive numbers that sum to 1, in the same order.
#
# $$\mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# (Bridle 1990; Goodfellow, Bengio and Courville 2016, section 6.2.2.3.) Three scores, by hand:
#
# ```text
#     scores            1        2        3
#     exponentials      2.718    7.389   20.086      their sum is 30.193
#     probabilities     0.090    0.245    0.665      each divided by the sum
# ```
#
# ```python
# >>> np.exp(np.array([1.0, 2.0, 3.0])).round(3), round(float(np.exp(np.array([1.0, 2.0, 3.0])).sum()), 3)
# (array([ 2.718,  7.389, 20.086]), 30.193)
# >>> softmax(np.array([1.0, 2.0, 3.0])).round(4)
# array([0.09  , 0.2447, 0.6652])
#
# ```

# %%
import numpy as np


def as_float(x):
    """Given: return `x` as a floating-point array (float32 stays float32, integers become float64).

    Args:
        x: any array or nested list of numbers.

    Returns:
        The same array if it is already floating point (no copy), else a float64 copy.
    """
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


# %% [markdown]
# ## `softmax`
#
# Taken literally, the formula fails for large scores: `np.exp(1000.0)` overflows to infinity, and infinity divided by
# infinity is `nan`, "not a number". But only the *differences* between scores matter: adding the same number to all of
# them multiplies every exponential by the same factor, and the fraction stays the same. So subtract the largest score
# of the row first. The largest exponent is then 0, and nothing can overflow.
#
# ```python
# >>> softmax(np.array([1000.0, 1001.0, 1002.0])).round(4)
# array([0.09  , 0.2447, 0.6652])
#
# ```
#
# The scores are first divided by the **temperature**. A low temperature sharpens the distribution until only the
# largest score matters; a high one flattens it towards "all equally likely".
#
# ```python
# >>> softmax(np.array([1.0, 2.0, 3.0]), temperature=0.5).round(4)
# array([0.0159, 0.1173, 0.8668])
# >>> softmax(np.array([1.0, 2.0, 3.0]), temperature=10.0).round(4)
# array([0.3006, 0.3322, 0.3672])
#
# ```
#
# Scores come in batches: (B, T, V) means one row of V scores for each of T positions in each of B texts. NumPy repeats
# an axis of length 1 as often as the other array needs it, which is called **broadcasting**; and `keepdims=True` keeps
# the axis that was summed, with length 1. Here a table (2, 3) is divided by its row sums (2, 1):
#
# ```python
# >>> table = np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 4.0]])
# >>> table / table.sum(axis=-1, keepdims=True)
# array([[0.25, 0.25, 0.5 ],
#        [0.3 , 0.3 , 0.4 ]])
#
# ```
#
# Do the same with `axis=axis`, for the maximum and for the sum, and your function works for any number of axes.
# (`axis=-1` means the last axis, but callers can pass any other.)
#
# See it: `headway plot softmax-temperatures` and `headway plot softmax-overflow` (before your function is written, with
# `--solution`).

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("softmax-temperatures", globals())

# %% tags=["active-ipynb"]
# show("softmax-overflow", globals())


# %%
def softmax(x, axis=-1, temperature=1.0):
    """Return the softmax of `x / temperature` along one axis (Goodfellow et al. 2016, section 6.2.2.3).

        softmax(x)_i = exp(x_i / t) / Σ_j exp(x_j / t)

    Args:
        x: scores, any shape, (..., V) when `axis` is -1. Integers are computed in float64.
        axis: the axis whose entries compete with each other.
        temperature: t > 0. Below 1 it sharpens the distribution, above 1 it flattens it.

    Returns:
        Probabilities, same shape and dtype as `x`; they sum to 1 along `axis`. Finite for any finite `x`. An entry
        of -inf gets probability 0 if another entry of its row is finite.

    Raises:
        ValueError: if `temperature` is not positive.
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    z = as_float(x)
    z = (z - z.max(axis=axis, keepdims=True)) / float(temperature)  # (..., V), the largest entry of each row is 0
    np.exp(z, out=z)
    z /= z.sum(axis=axis, keepdims=True)
    return z


# %% [markdown]
# ## `log_softmax`
#
# You have probabilities; the loss will need their *logarithms*. `np.log(softmax(x))` is not accurate enough: a
# probability smaller than about $10^{-324}$ is rounded to 0, and its logarithm is `-inf`. Take the logarithm on paper
# instead, where it cancels the exponential:
#
# $$\log \mathrm{softmax}(x)_i = x_i - \log \sum_j e^{x_j}$$
#
# ```python
# >>> log_softmax(np.array([0.0, 1000.0]))
# array([-1000.,     0.])
#
# ```
#
# Here too, subtract the largest score first, for the same reason as before.


# %%
def log_softmax(x, axis=-1):
    """Return the logarithm of the softmax along one axis, without underflow (Goodfellow et al. 2016, section 6.2.2.3).

        log_softmax(x)_i = x_i - m - log Σ_j exp(x_j - m),   m = max_j x_j

    Args:
        x: scores, any shape. Integers are computed in float64.
        axis: the axis whose entries compete with each other.

    Returns:
        Log-probabilities (all ≤ 0), same shape and dtype as `x`. Finite if the differences between all scores are.
    """
    z = as_float(x)
    z = z - z.max(axis=axis, keepdims=True)  # (..., V)
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


# %% [markdown]
# ## `cross_entropy`
#
# How surprised was the model by the token that actually came next, the target? For one row of scores the loss is minus
# the logarithm of the target's probability: 0 if the model was certain and correct, and larger the less it expected the
# target. For many rows it is the *mean*, so that it does not depend on the size of the batch. This number is the
# **cross-entropy**, and it is the loss of every model in this course. (With natural logarithms its unit is the nat.)
#
# For the row [1, 2, 3] from above and the target 0, whose probability is 0.0900, the loss is −log 0.0900 = 2.4076:
#
# ```python
# >>> round(cross_entropy(np.array([[1.0, 2.0, 3.0]]), np.array([0])), 4)
# 2.4076
#
# ```
#
# A model that gives each of the $V$ tokens the same score has the loss $\log V$: 3.2958 for the 27 characters of a list
# of names. Remember this number: the first loss of a training run should be near it.
#
# ```python
# >>> round(cross_entropy(np.zeros((5, 27)), np.array([0, 3, 7, 20, 26])), 4)
# 3.2958
#
# ```
#
# Where the text leaves a choice, no prediction has a loss of 0 on average. If "a" and "b" come next equally often, the
# best prediction is ½ and ½, and its loss is log 2 = 0.69. The lowest average loss that any prediction can reach is
# called the **entropy** of what comes next.
#
# How do you take one entry out of each row with NumPy? Index with two lists, the rows and the columns, which are
# combined in pairs. (With `:` in place of the rows you get both columns of *every* row.)
#
# ```python
# >>> table = np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 4.0]])
# >>> table[np.arange(2), [2, 0]]
# array([2., 3.])
#
# ```
#
# If there are more axes in front, `reshape(-1, V)` first merges them into one axis of rows. (`np.take_along_axis` needs
# no reshape: it selects along one axis, with indices that have as many axes as the array.)


# %%
def cross_entropy(logits, targets):
    """Return the mean negative log-likelihood of the target classes, in nats (Goodfellow et al. 2016, section 6.2.2).

        loss = -(1/N) Σ_n log_softmax(logits_n)[target_n]

    Args:
        logits: scores, (..., V).
        targets: integer class of each row, (...), each in [0, V).

    Returns:
        The mean over all N rows, as a Python float.
    """
    logp = log_softmax(logits)  # (..., V)
    picked = np.take_along_axis(logp, np.asarray(targets)[..., None], axis=-1)  # (..., 1)
    return float(-picked.mean())


# %% [markdown]
# ## `softmax_backward`
#
# The loss measures how wrong a prediction is. To improve the model, you need to know what to change. For each number in
# the model: if it is raised a little, how fast does the loss rise? That is a derivative, and the array of all these
# derivatives is the **gradient**. Training takes a small step against the gradient; how small is set by the **learning
# rate**. That is the whole idea; most of this course is about computing gradients.
#
# Gradients are computed from the end. The **forward pass** goes from the text to the loss, one function after the
# other. The **backward pass** goes back through the same functions in reverse: each backward function receives the
# gradient with respect to the *output* of its forward function (called `dout` in this course: the upstream gradient)
# and returns the gradient with respect to the *input* (`dx`). So every function needs a partner, and `softmax_backward`
# is the first.
#
# Here `dout` is the gradient with respect to the probabilities. Raising one score raises its own probability and lowers
# all the others, so every output depends on every input of its row. Written out, with $p$ for the probabilities, all of
# this simplifies to one line:
#
# $$dx_i = p_i \Big( dout_i - \sum_j dout_j\, p_j \Big)$$
#
# The sum is easy to forget. It also makes each row of `dx` sum to 0: raising all scores by the same amount changes
# nothing. And where one p is nearly 1 and the others nearly 0, all of `dx` is small compared with `dout`: the softmax
# is **saturated**.
#
# As an example, let the loss be the first probability itself. Its derivative with respect to the first probability is
# 1, and 0 with respect to the others:
#
# ```python
# >>> p = softmax(np.array([1.0, 2.0, 3.0]))
# >>> softmax_backward(np.array([1.0, 0.0, 0.0]), p).round(4)
# array([ 0.0819, -0.022 , -0.0599])
#
# ```
#
# Is that correct? You can check any gradient without theory: change one input a little, and see how the loss changes.
# If the first score rises by 0.0001, the first probability rises by 0.0819 times as much:
#
# ```python
# >>> moved = softmax(np.array([1.0001, 2.0, 3.0]))
# >>> round(float(moved[0] - p[0]) / 0.0001, 4)
# 0.0819
#
# ```


# %%
def softmax_backward(dout, probs, axis=-1):
    """Return the gradient with respect to the scores, from the gradient with respect to the probabilities.

        dx = probs * (dout - Σ_j dout_j probs_j)

    Args:
        dout: upstream gradient, with respect to `probs`, of the same shape and dtype.
        probs: the result of `softmax(x, axis)` (temperature 1).
        axis: the axis along which `softmax` was taken.

    Returns:
        Gradient with respect to `x`, same shape as `probs`, in the dtype of the inputs.
    """
    probs = as_float(probs)
    dout = as_float(dout)
    dx = dout - np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)  # vecdot: the sum of the products
    dx *= probs
    return dx


# %% [markdown]
# ## `cross_entropy_backward`
#
# The last function of the forward pass comes first in the backward pass: the gradients of your GPT will start here.
# Going back through the logarithm and the softmax together is simpler than through either alone. The gradient is the
# prediction minus the truth, divided by the number of rows N that the mean was taken over. The truth is written as a
# **one-hot** row: 1 at the target, and 0 everywhere else.
#
# $$d\mathit{logits}_n = \frac{\mathrm{softmax}(\mathit{logits}_n) - \mathrm{onehot}(target_n)}{N}$$
#
# In this example there are two rows of four equal scores, so every probability is 0.25. The targets are 0 and 3. At the
# targets the gradient is (0.25 − 1) / 2 = −0.375: a step against it raises these scores.
#
# ```python
# >>> cross_entropy_backward(np.zeros((2, 4)), np.array([0, 3]))
# array([[-0.375,  0.125,  0.125,  0.125],
#        [ 0.125,  0.125,  0.125, -0.375]])
#
# ```


# %%
def cross_entropy_backward(logits, targets):
    """Return the gradient of `cross_entropy(logits, targets)` with respect to `logits`.

        dlogits = (softmax(logits) - onehot(targets)) / N

    Args:
        logits: scores, (..., V).
        targets: integer class of each row, (...), each in [0, V).

    Returns:
        Gradient, same shape and dtype as `logits` (float64 for integers).
    """
    targets = np.asarray(targets)
    dlogits = softmax(logits)  # (..., V)
    rows = dlogits.reshape(-1, dlogits.shape[-1])  # (N, V), a view: softmax returns a new contiguous array
    rows[np.arange(len(rows)), targets.reshape(-1)] -= 1.0
    dlogits /= targets.size
    return dlogits


# %% [markdown]
# ## What could go wrong
#
# These mistakes are easy to make here. Read them before you write the functions, and again when a check fails: the
# report uses the same words when it recognizes one.
#
# - `softmax`: **the largest score was not subtracted first.** exp(1000) overflows to infinity, and the result becomes
#   nan or infinite. The mistake stays hidden with small scores.
# - `softmax`: **`axis` was ignored: the last axis was always used.** Along any other axis, the probabilities do not sum
#   to 1.
# - `softmax`: **keepdims=True is missing from the maximum and the sum.** The reduced axis is then gone, and
#   broadcasting matches the maxima and sums with the wrong axis. Most shapes give an error, but a square matrix
#   silently gives wrong results.
# - `log_softmax`: **the logarithm was taken of a finished softmax.** A probability that is rounded to 0 has the
#   logarithm -inf, even where -1000 is correct.
# - `cross_entropy`: **the softmax was taken twice.** Probabilities were used as scores. They differ by at most 1, so
#   the loss can never get close to 0.
# - `cross_entropy`: **the losses of the rows were summed, not averaged.** The loss then grows with the size of the
#   batch, and so do the gradients.
# - `softmax_backward`: **the sum over the row is missing.** Raising one score lowers all other probabilities of the
#   row. The sum accounts for that.
# - `cross_entropy_backward`: **the gradient was not divided by the number of rows.** The loss is a mean over N rows, so
#   each row contributes 1/N of its own gradient.

# %% [markdown]
# ## Try it
#
# Why this loss, and not simply the squared distance between the probabilities and the one-hot row? Both are 0 for a
# perfect prediction and large for a wrong one. Let a model of three scores learn with each of them: 100 steps against
# the gradient, from a start at which class 0 has a *lead* over the correct class 1.
#
# **Guess first.** Which of the two losses ends with a high probability for class 1, after a lead of 1, 5 and 20?
#
# Run it: `python softmax.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    onehot = np.array([[0.0, 1.0, 0.0]])
    for lead in (1.0, 5.0, 20.0):
        entropic = squared = np.array([[lead, 0.0, 0.0]])
        for _ in range(100):
            entropic = entropic - cross_entropy_backward(entropic, [1])
            p = softmax(squared)
            squared = squared - softmax_backward(2 * (p - onehot), p)  # of the loss Σ (p - onehot)²
        print(f"lead {lead:4}   cross-entropy {softmax(entropic)[0, 1]:.2f}   squares {softmax(squared)[0, 1]:.2f}")

# %% [markdown]
# ## What came out
#
# ```text
# lead  1.0   cross-entropy 0.99   squares 0.96
# lead  5.0   cross-entropy 0.99   squares 0.96
# lead 20.0   cross-entropy 0.99   squares 0.00
# ```
#
# Both correct a small error. But the squared loss does not recover from a prediction that was wrong and confident:
# after 100 steps it is as wrong as before. The softmax is saturated: its backward pass multiplies by p, which is nearly
# 0 for the correct class, and where p is nearly 1, the difference in parentheses is nearly 0. The logarithm in the
# cross-entropy cancels exactly that factor.
#
# 1. How large are the two gradients at a lead of 20? And can an entry in the gradient of the cross-entropy ever be
#    larger than 1?
# 2. Ten rows have the same scores, but different targets: seven times 0, twice 1, once 2. Where does training end, and
#    with what loss?

# %% [markdown]
# ## Answers
#
# **1. One is about a hundred million times as large as the other.** For one row, an entry in the gradient of the
# cross-entropy is a probability, or a probability minus 1: its size is never above 1, whatever the lead.
#
# ```python
# >>> wrong = np.array([[20.0, 0.0, 0.0]])
# >>> cross_entropy_backward(wrong, [1]).round(4)
# array([[ 1., -1.,  0.]])
# >>> p = softmax(wrong)
# >>> print(f"{np.abs(softmax_backward(2 * (p - onehot), p)).max():.0e}")
# 1e-08
#
# ```
#
# **2. At the probabilities 0.7, 0.2 and 0.1, and not with a loss of 0.** The scores are the same in every row, so they
# cannot show which target it will be. The remaining loss, −0.7 log 0.7 − 0.2 log 0.2 − 0.1 log 0.1, is the entropy of
# the targets, the lowest loss that one prediction for all ten rows can reach.
#
# ```python
# >>> scores, targets = np.zeros(3), np.array([0] * 7 + [1] * 2 + [2])
# >>> for _ in range(1000):
# ...     scores -= cross_entropy_backward(np.tile(scores, (10, 1)), targets).sum(axis=0)
# >>> softmax(scores).round(3), round(cross_entropy(np.tile(scores, (10, 1)), targets), 4)
# (array([0.7, 0.2, 0.1]), 0.8018)
# >>> frequencies = np.array([0.7, 0.2, 0.1])
# >>> round(float(-(frequencies * np.log(frequencies)).sum()), 4)
# 0.8018
#
# ```
