"""Softmax and cross-entropy, forward and backward."""

# %% [markdown]
# # Softmax: from scores to probabilities
#
# A model gives three tokens the **scores** −1, 0 and 1. How likely is each of them? Dividing by the sum fails: the sum
# is 0. Add 2 to each score, and dividing gives 1/6, 2/6 and 3/6; add 100 instead, and all three come out near 1/3. This
# lesson's answer is 0.09, 0.24 and 0.67, whatever you add. But type its formula into NumPy, add 1000 to the scores, and
# all three are `nan`, "not a number".
#
# A model's prediction is such a row: one score, or **logit**, for each token of the vocabulary, where larger means
# "more likely". You will write the function that turns it into probabilities, the measure of how wrong they were, and
# the gradients that say how each score should change.
#
# The function is the **softmax**. Its probabilities are positive and sum to 1, and a larger score gets a larger one:
#
# $$\mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# The exponential makes every score positive and keeps the order. (The name comes from Bridle 1990.)
#
# By hand, after adding 2:
#
# ```text
#     scores            1        2        3
#     exponentials      2.718    7.389   20.086      their sum is 30.193
#     probabilities     0.090    0.245    0.665      each divided by the sum
# ```
#
# ![A map of the whole model. Marked: both places of softmax, and the loss.](figures/map-softmax.svg)
#
# ```python
# >>> np.exp(np.array([1.0, 2.0, 3.0])).round(3), round(float(np.exp(np.array([1.0, 2.0, 3.0])).sum()), 3)
# (array([ 2.718,  7.389, 20.086]), 30.193)
# >>> softmax(np.array([1.0, 2.0, 3.0])).round(4)
# array([0.09  , 0.2447, 0.6652])
#
# ```
#
# The next cell gives you `as_float`. Begin by calling it on the scores.

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
# The `nan` comes from `np.exp(1000.0)`, which overflows to infinity; infinity divided by infinity is `nan`. But only
# the *differences* between scores matter: adding a number to all of them multiplies every exponential by the same
# factor, which cancels. So subtract the largest score of the row first. Then the largest exponent is 0, and nothing
# overflows.
#
# ```python
# >>> softmax(np.array([1000.0, 1001.0, 1002.0])).round(4)
# array([0.09  , 0.2447, 0.6652])
#
# ```
#
# Then divide by the **temperature**. A low one concentrates the probability on the largest score; a high one flattens
# the *distribution*, as the probabilities of a row are called together. "Temperature" is meant literally: Boltzmann
# (1868) assigned these probabilities to the states of a gas, with minus the energy as the score.
#
# ```python
# >>> softmax(np.array([1.0, 2.0, 3.0]), temperature=0.5).round(4)
# array([0.0159, 0.1173, 0.8668])
# >>> softmax(np.array([1.0, 2.0, 3.0]), temperature=10.0).round(4)
# array([0.3006, 0.3322, 0.3672])
#
# ```
#
# Divide after you subtract: a large score divided by a small temperature can overflow, and infinity minus infinity is
# `nan`, too.
#
# Scores come in batches: in (B, T, V), each of T positions in each of B texts has a row of V scores. With
# `keepdims=True`, a sum keeps its axis with length 1, so that it can be broadcast. Here a table (2, 3) is divided by
# its row sums (2, 1):
#
# ```python
# >>> table = np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 4.0]])
# >>> table / table.sum(axis=-1, keepdims=True)
# array([[0.25, 0.25, 0.5 ],
#        [0.3 , 0.3 , 0.4 ]])
#
# ```
#
# Do the same along `axis=axis`, for the maximum and for the sum.
#
# See it: `headway plot softmax-temperatures` and `headway plot softmax-overflow`. (Not written yet? Add `--solution`.)
#
# ![The probabilities of one row of scores as bars, at temperature 1 and at 0.1, where the largest score has nearly
# all.](figures/temperature.svg)
#
# ![Three lines: the correct function works for all scores up to 1000; the naive formula becomes nan at 709.8 in float64
# and at 88.7 in float32.](figures/softmax-overflow.svg)

# %% tags=["active-ipynb"]
# from autograder.models.plots import show
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
        Probabilities, same shape and dtype as `x`; they sum to 1 along `axis`. Finite for any finite
        `x / temperature`. An entry of -inf gets probability 0 if another entry of its row is finite.

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
# The loss needs the *logarithms* of the probabilities. `np.log(softmax(x))` will not do: a probability below about
# $10^{-324}$ is rounded to 0, and its logarithm is `-inf`. Take the logarithm on paper instead, where it cancels the
# exponential:
#
# $$\log \mathrm{softmax}(x)_i = x_i - \log \sum_j e^{x_j}$$
#
# ```python
# >>> log_softmax(np.array([0.0, 1000.0]))
# array([-1000.,     0.])
#
# ```
#
# Here, too, subtract the largest score m first: $(x_i - m) - \log \sum_j e^{x_j - m}$ is the same number. (So is
# $x_i - (m + \log \sum_j e^{x_j - m})$ on paper; but if m is huge, the small logarithm is lost in that sum.)


# %%
def log_softmax(x, axis=-1):
    """Return the logarithm of the softmax along one axis, without underflow (Goodfellow et al. 2016, section 6.2.2.3).

        log_softmax(x)_i = x_i - m - log Σ_j exp(x_j - m),   m = max_j x_j

    Args:
        x: scores, any shape. Integers are computed in float64.
        axis: the axis whose entries compete with each other.

    Returns:
        Log-probabilities (all ≤ 0), same shape and dtype as `x`. Finite if all differences of scores are finite.
    """
    z = as_float(x)
    z = z - z.max(axis=axis, keepdims=True)  # (..., V)
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


# %% [markdown]
# ## `cross_entropy`
#
# How surprised was the model by the token that came next, the target? For one row of scores, the loss is minus the
# logarithm of the target's probability: 0 if the model was certain and correct, and larger the less it expected the
# target. For many rows, it is the *mean*, so that the size of the batch does not matter. This is the **cross-entropy**,
# the loss of every model in this course. (Its exponential is the perplexity of `counting`; its unit, with natural
# logarithms, is the nat.)
#
# In the row [1, 2, 3], target 0 has the probability 0.09003, and −log 0.09003 = 2.4076:
#
# ```python
# >>> round(cross_entropy(np.array([[1.0, 2.0, 3.0]]), np.array([0])), 4)
# 2.4076
#
# ```
#
# A model that gives each of the $V$ tokens the same score has the loss $\log V$: 3.2958 for the 27 characters in the
# list of names. Remember this number: a training run should start near it.
#
# ```python
# >>> round(cross_entropy(np.zeros((5, 27)), np.array([0, 3, 7, 20, 26])), 4)
# 3.2958
#
# ```
#
# Where the text leaves a choice, the loss cannot be 0 on average. If "a" and "b" come next equally often, the best
# prediction is ½ and ½, and its loss is log 2 = 0.69. The lowest average loss that any prediction can reach is the
# **entropy** of what comes next; what a prediction loses above it is the *Kullback–Leibler (KL) divergence*. Where only
# one token can come next, the entropy is 0, and the KL divergence is the cross-entropy.
#
# To take one entry out of each row, index with two lists, rows and columns, which are combined in pairs. (With `:` for
# the rows, you get both columns of *every* row.) Such an index can also stand on the left, as in
# `table[rows, columns] -= 1`.
#
# ```python
# >>> table = np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 4.0]])
# >>> table[np.arange(2), [2, 0]]
# array([2., 3.])
#
# ```
#
# If there are more axes in front, merge them into one: `reshape(-1, V)`, and `reshape(-1)` for the targets.


# %%
def cross_entropy(logits, targets):
    """Return the mean of -log(probability of the target), in nats (Goodfellow et al. 2016, section 6.2.2).

        loss = -(1/N) Σ_n log_softmax(logits_n)[target_n]

    Args:
        logits: scores, (..., V).
        targets: the correct token of each row, an array of integers, (...), each in [0, V).

    Returns:
        The mean over all N rows, as a Python float.
    """
    logp = log_softmax(logits)  # (..., V)
    picked = np.take_along_axis(logp, np.asarray(targets)[..., None], axis=-1)  # (..., 1)
    return float(-picked.mean())


# %% [markdown]
# ## `softmax_backward`
#
# Training takes small steps against the gradient of the loss; the **learning rate** sets how small. So every function
# needs a partner that turns the upstream gradient `dout` into the gradient of its input, `dx`. Derive this one on
# paper; the last step is left to you.
#
# **Two scores.** For x = (log 3, 0), the exponentials are 3 and 1, their sum is s = 4, and p = (3/4, 1/4). Raise the
# first score: the first exponential rises at the rate 3 (the derivative of $e^x$ is $e^x$), and so does the sum. Add
# the two effects:
#
# - A larger numerator makes its fraction larger, at the rate of the numerator divided by s.
# - A larger sum makes *every* fraction smaller. The derivative of 1/s is −1/s², here −1/16; multiply it by the
#   numerator and by the rate of the sum.
#
# ```text
#                           by its numerator    by the sum
#                           rate / s            - numerator · rate / s²
#     raise x_0: rate 3
#     p_0, numerator 3      3/4                 - 3 · 3 / 16     =  12/16 - 9/16  =   3/16
#     p_1, numerator 1      0                   - 1 · 3 / 16                      =  -3/16
#
#     raise x_1: rate 1
#     p_0, numerator 3      0                   - 3 · 1 / 16                      =  -3/16
#     p_1, numerator 1      1/4                 - 1 · 1 / 16     =   4/16 - 1/16  =   3/16
# ```
#
# These derivatives, in a table with a row for each output and a column for each input, are the **Jacobian**. Difference
# quotients agree (3/16 is 0.1875):
#
# ```python
# >>> from gradients import numerical_gradient
# >>> x = np.array([np.log(3.0), 0.0])
# >>> np.array([numerical_gradient(lambda x: softmax(x)[i], x) for i in range(2)]).round(4)
# array([[ 0.1875, -0.1875],
#        [-0.1875,  0.1875]])
#
# ```
#
# **Any number of scores.** Now the same with letters. The numerator of $p_i = e^{x_i} / s$ contains $x_j$ only if i =
# j, and then contributes $e^{x_i} / s = p_i$. The sum contains every score, and contributes
# $-e^{x_i} \cdot e^{x_j} / s^2 = -p_i\, p_j$. Add the two, with $\delta_{ij}$ for "1 if i = j, else 0":
#
# $$\frac{\partial p_i}{\partial x_j} = p_i \,(\delta_{ij} - p_j)$$
#
# Where one p is nearly 1 and the others nearly 0, all of these are nearly 0, and changing the scores has hardly any
# effect: the softmax is **saturated**.
#
# **From the Jacobian to the gradient.** A score changes the loss through every probability of its row. As in
# `gradients`, multiply each factor by its upstream gradient, and add:
#
# $$dx_j = \sum_i dout_i \,\frac{\partial p_i}{\partial x_j} = \sum_i dout_i\; p_i \,(\delta_{ij} - p_j)$$
#
# Such a sum is a **vector–Jacobian product**. Every backward function computes one, and hardly any builds the Jacobian,
# with its V² entries for each row.
#
# **The last step is yours.** Multiply out the parentheses, so that the sum becomes a difference of two sums. In the
# first, $\delta_{ij}$ is 0 for all i but one. In the second, take out the factor that does not depend on i; what is
# left is a single number for each row. Keep it as an axis of length 1, and write the function for all j at once. With
# dout = (1, 0), it gives the first row of the Jacobian above:
#
# ```python
# >>> softmax_backward(np.array([1.0, 0.0]), np.array([0.75, 0.25]))
# array([ 0.1875, -0.1875])
#
# ```
#
# One check needs no numbers: each row of `dx` sums to 0, because raising all scores of a row by the same amount changes
# nothing.


# %%
def softmax_backward(dout, probs, axis=-1):
    """Return the gradient with respect to the scores, from the gradient with respect to the probabilities.

        dout_i = dL/dprobs_i,   dx_j = dL/dx_j,   where probs = softmax(x) and L is the loss

    Args:
        dout: upstream gradient, with respect to `probs`, of the same shape and dtype.
        probs: the result of `softmax(x, axis)` (temperature 1).
        axis: the axis along which `softmax` was taken.

    Returns:
        Gradient with respect to `x`, same shape as `probs`, in the dtype of the inputs.
    """
    probs = as_float(probs)
    dout = as_float(dout)
    dx = dout - (dout * probs).sum(axis=axis, keepdims=True)
    dx *= probs
    return dx


# %% [markdown]
# ## `cross_entropy_backward`
#
# The gradients of your GPT will start here. Going back through the logarithm and the softmax together is simpler than
# one at a time: write the loss of a single row, with the target y, in terms of the scores.
#
# $$L = -\log p_y = -x_y + \log \sum_j e^{x_j}$$
#
# What does each of the two terms do when one score $x_i$ rises?
#
# - The first contains only the score of the target: its derivatives are −1 there and 0 everywhere else. (A row of zeros
#   with a single 1 is **one-hot**; this is minus the one-hot row of the target.)
# - The second is the logarithm of a sum. By the chain rule, its derivative is that of the logarithm, at the sum, times
#   that of the sum with respect to $x_i$. Write it down: you have computed it before.
#
# Add the two, and you have the gradient of one row. The loss of a batch is the *mean* over N rows (B · T of them for
# logits (B, T, V)). If the loss of one row grows by 1, by how much does the mean grow? Every entry of the gradient has
# that factor.
#
# Take two rows of four equal scores, with the targets 0 and 3. Work out the first row on paper before you read the
# result.
#
# ```python
# >>> cross_entropy_backward(np.zeros((2, 4)), np.array([0, 3]))
# array([[-0.375,  0.125,  0.125,  0.125],
#        [ 0.125,  0.125,  0.125, -0.375]])
#
# ```
#
# A step against this gradient raises the scores of the targets and lowers all others.


# %%
def cross_entropy_backward(logits, targets):
    """Return the gradient of `cross_entropy(logits, targets)` with respect to `logits`.

        dlogits = dL/dlogits,   where L = cross_entropy(logits, targets)

    Args:
        logits: scores, (..., V).
        targets: the correct token of each row, an array of integers, (...), each in [0, V).

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
# ## On paper
#
# 1. The scores 0, 0 and log 2 have the probabilities 1/4, 1/4 and 1/2. Write down the Jacobian. What are the sums of
#    its rows and columns, and why?
# 2. With these probabilities, what is dx for dout = (8, 0, 4)? And if all entries of dout are equal?
# 3. For these scores and the target 2, the loss is −log p₂. Go the long way: take its derivatives with respect to the
#    three *probabilities* as dout, and compute dx. Is it what `cross_entropy_backward` returns?

# %% [markdown]
# ## Answers on paper
#
# **1. All sums are 0.** The diagonal has 1/4 · 3/4, 1/4 · 3/4 and 1/2 · 1/2; the other entries are −p times p. Here is
# the Jacobian times 16:
#
# ```python
# >>> p = softmax(np.array([0.0, 0.0, np.log(2.0)]))
# >>> jacobian = np.diag(p) - np.outer(p, p)  # p_i δ_ij - p_i p_j
# >>> (16 * jacobian).round(6)
# array([[ 3., -1., -2.],
#        [-1.,  3., -2.],
#        [-2., -2.,  4.]])
#
# ```
#
# The sum of a column is the effect of one score on the sum of all probabilities, which stays 1. That of a row is the
# effect of raising all scores together: none, because only differences count.
#
# **2. (1, −1, 0), and 0 everywhere.** For the first entry, multiply dout by the first column and add: (8 · 3 − 0 · 1 −
# 4 · 2) / 16 = 1. If all entries of dout are equal, dx is that number times the sums of the columns.
#
# ```python
# >>> dout = np.array([8.0, 0.0, 4.0])
# >>> np.allclose(dout @ jacobian, [1.0, -1.0, 0.0])
# True
# >>> np.allclose(softmax_backward(dout, p), [1.0, -1.0, 0.0])
# True
# >>> np.allclose(softmax_backward(np.ones(3), p), 0.0)
# True
#
# ```
#
# **3. Yes: (1/4, 1/4, −1/2).** The derivative of −log p₂ with respect to p₂ is −1/p₂ = −2; the other two are 0. So dx
# is −2 times the last row of the Jacobian.
#
# ```python
# >>> softmax_backward(np.array([0.0, 0.0, -2.0]), p).round(6)
# array([ 0.25,  0.25, -0.5 ])
# >>> cross_entropy_backward(np.array([[0.0, 0.0, np.log(2.0)]]), np.array([2])).round(6)
# array([[ 0.25,  0.25, -0.5 ]])
#
# ```

# %% [markdown]
# ## What could go wrong
#
# A check fails? It may be one of these mistakes. The report uses the same words when it recognizes one.
#
# - `softmax`: **the largest score was not subtracted first.** exp(1000) overflows to infinity, and the result becomes
#   nan or infinite. The mistake stays hidden with small scores.
# - `softmax`: **keepdims=True is missing from the maximum and the sum.** The reduced axis is then gone, and
#   broadcasting matches the maxima and sums with the wrong axis. Most shapes give an error, but a square matrix
#   silently gives wrong results.
# - `log_softmax`: **the logarithm was taken of a finished softmax.** A probability that is rounded to 0 has the
#   logarithm -inf, even where -1000 is correct.
# - `cross_entropy`: **the softmax was taken twice.** Probabilities were used as scores. They differ by at most 1, so
#   the loss can never get close to 0.
# - `softmax_backward`: **the sum over the row is missing.** Raising one score lowers all other probabilities of the
#   row. The sum accounts for that.

# %% [markdown]
# ## Try it
#
# Why this loss, and not the squared distance between the probabilities and the one-hot row? Brier (1950) scored weather
# forecasts that way. Let a model of three scores learn with each loss: 100 steps against the gradient, from a start
# where token 0 has a *lead* over the correct token 1.
#
# **Guess first.** Which loss ends with a high probability for token 1, after a lead of 1, 5 and 20?
#
# Run it: `headway experiment softmax`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    onehot = np.array([[0.0, 1.0, 0.0]])
    for lead in (1.0, 5.0, 20.0):
        entropic = squared = np.array([[lead, 0.0, 0.0]])
        for _ in range(100):
            entropic = entropic - cross_entropy_backward(entropic, np.array([1]))
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
# Both correct a small error. But with squares, a prediction that is wrong and very confident stays so: the softmax is
# saturated, and all entries of its Jacobian are nearly 0. The logarithm in the cross-entropy makes up for that: its
# derivative brings the factor −1/p, which is large where p is small.
#
# 1. How large are the two gradients at a lead of 20? Can an entry of the cross-entropy's gradient ever be larger than
#    1?
# 2. Ten rows share their scores, but not their targets: seven times 0, twice 1, once 2. Where does training end, and
#    with what loss?

# %% [markdown]
# ## Answers
#
# **1. The cross-entropy's is about a hundred million times as large.** But its entries, for one row, are probabilities
# and a probability minus 1: never larger than 1.
#
# ```python
# >>> wrong = np.array([[20.0, 0.0, 0.0]])
# >>> cross_entropy_backward(wrong, np.array([1])).round(4)
# array([[ 1., -1.,  0.]])
# >>> p = softmax(wrong)
# >>> print(f"{np.abs(softmax_backward(2 * (p - onehot), p)).max():.0e}")
# 1e-08
#
# ```
#
# **2. At the probabilities 0.7, 0.2 and 0.1, and not with a loss of 0.** What remains is the entropy of the targets.
# (Rows that share their scores add their gradients.)
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

# %% [markdown]
# ## Going faster
#
# Skip this until your code is correct. `(a * b).sum(axis=-1)` stores all the products before adding them. `np.vecdot`
# does both in one pass:
#
# ```python
# >>> a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
# >>> (a * b).sum(axis=-1), np.vecdot(a, b)
# (array([17., 53.]), array([17., 53.]))
#
# ```
#
# `z = z / total` makes a new array; `z /= total` and `np.exp(z, out=z)` write into `z`. Do this only with an array that
# your own function has made, never with an argument: the caller still needs it.
