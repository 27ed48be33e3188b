"""Softmax and cross-entropy, forward and backward."""

# %% [markdown]
# # Softmax: from scores to probabilities
#
# A transformer makes two kinds of choice: which position to look at, and which token comes next. Both start as a row
# of *scores* (also called *logits*): any real numbers, larger meaning more likely. **Softmax** turns the row into
# probabilities: positive numbers that add up to 1, in the same order.
#
# $$\mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# (Bridle 1990; Goodfellow, Bengio and Courville 2016, section 6.2.2.3.)
#
# ```python
# >>> softmax(np.array([1.0, 2.0, 3.0])).round(4)
# array([0.09  , 0.2447, 0.6652])
#
# ```
#
# Only differences between scores matter: adding the same number to every score changes nothing. That is what makes
# the formula usable. `np.exp(1000.0)` overflows to infinity, and infinity divided by infinity is `nan`; but if the
# largest score of the row is subtracted first, the largest exponent is 0 and nothing can overflow.
#
# ```python
# >>> softmax(np.array([1000.0, 1001.0, 1002.0])).round(4)
# array([0.09  , 0.2447, 0.6652])
#
# ```

# %%
import numpy as np


def as_float(x):
    """Given: `x` as an array that can be computed with (float32 stays float32, integers become float64).

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
# The *temperature* divides the scores first. A low temperature sharpens the choice until only the largest score is
# left; a high one flattens it towards "all equally likely".
#
# ```python
# >>> softmax(np.array([1.0, 2.0, 3.0]), temperature=0.5).round(4)
# array([0.0159, 0.1173, 0.8668])
# >>> softmax(np.array([1.0, 2.0, 3.0]), temperature=10.0).round(4)
# array([0.3006, 0.3322, 0.3672])
#
# ```
#
# Scores come with many batch axes, and the row to normalise is not always the last one. Write the sum and the maximum
# with `axis=axis, keepdims=True`, and NumPy's broadcasting does the rest for any number of axes.

# %%
def softmax(x, axis=-1, temperature=1.0):
    """Softmax of `x / temperature` along one axis (Goodfellow et al. 2016, section 6.2.2.3).

        softmax(x)_i = exp(x_i / t) / Σ_j exp(x_j / t)

    Args:
        x: scores, any shape, (..., V) when `axis` is -1. Integers are computed in float64.
        axis: the axis whose entries compete with each other.
        temperature: t > 0. Below 1 sharpens the distribution, above 1 flattens it.

    Returns:
        Probabilities, same shape and dtype as `x`; they sum to 1 along `axis`. Finite for any finite `x`. An entry
        of -inf gets probability 0.

    Raises:
        ValueError: if `temperature` is not positive.
    """
    raise NotImplementedError("softmax.softmax")


# %% [markdown]
# ## `log_softmax`
#
# Losses need the *logarithm* of a probability. `np.log(softmax(x))` loses it: a probability smaller than about
# $10^{-308}$ is rounded to 0, and its logarithm is `-inf`. Take the logarithm on paper instead, where it cancels the
# exponential:
#
# $$\log \mathrm{softmax}(x)_i = x_i - \log \sum_j e^{x_j}$$
#
# ```python
# >>> log_softmax(np.array([0.0, 1000.0]))
# array([-1000.,     0.])
#
# ```

# %%
def log_softmax(x, axis=-1):
    """Logarithm of the softmax along one axis, without underflow (Goodfellow et al. 2016, section 6.2.2.3).

        log_softmax(x)_i = x_i - m - log Σ_j exp(x_j - m),   m = max_j x_j

    Args:
        x: scores, any shape. Integers are computed in float64.
        axis: the axis whose entries compete with each other.

    Returns:
        Log-probabilities (all ≤ 0), same shape and dtype as `x`. Finite for any finite `x`.
    """
    raise NotImplementedError("softmax.log_softmax")


# %% [markdown]
# ## `cross_entropy`
#
# The loss of a language model: how surprised was it by the token that really came next? For one row of scores and the
# index of the right token it is minus the log-probability of that token; for many rows it is the **mean**, so that the
# loss does not depend on the size of the batch. It is measured in nats (natural logarithms).
#
# A model that knows nothing gives every one of $V$ tokens the same score, and its loss is $\log V$: 3.2958 for the 27
# characters of a list of names. Remember that number: the first loss of a training run should be near it.
#
# ```python
# >>> round(cross_entropy(np.zeros((5, 27)), np.array([0, 3, 7, 20, 26])), 4)
# 3.2958
#
# ```

# %%
def cross_entropy(logits, targets):
    """Mean negative log-likelihood of the target classes, in nats (Goodfellow et al. 2016, section 6.2.2).

        loss = -(1/N) Σ_n log_softmax(logits_n)[target_n]

    Args:
        logits: scores, (..., V).
        targets: integer class of each row, (...), each in [0, V).

    Returns:
        The mean over all N rows, as a Python float.
    """
    raise NotImplementedError("softmax.cross_entropy")


# %% [markdown]
# ## `softmax_backward`
#
# Training needs to know how a change of the scores changes the loss. Somebody further down has worked out `dout`, the
# gradient of the loss with respect to the *probabilities*; our part is to turn it into the gradient with respect to
# the *scores*. Raising one score raises its own probability and lowers all the others, so every output depends on
# every input of its row. Written out (with $p$ the probabilities), the whole Jacobian collapses to one line:
#
# $$dx_i = p_i \Big( dout_i - \sum_j dout_j\, p_j \Big)$$
#
# The sum is the part that is easily forgotten. It also makes each row of `dx` add up to 0: pushing all scores up
# together changes nothing.
#
# ```python
# >>> p = softmax(np.array([1.0, 2.0, 3.0]))
# >>> softmax_backward(np.array([1.0, 0.0, 0.0]), p).round(4)
# array([ 0.0819, -0.022 , -0.0599])
#
# ```

# %%
def softmax_backward(dout, probs, axis=-1):
    """Gradient of the loss with respect to the scores, from the gradient with respect to the probabilities.

        dx = probs * (dout - Σ_j dout_j probs_j)

    Args:
        dout: gradient with respect to `probs`, same shape as `probs`.
        probs: what `softmax(x, axis)` returned (temperature 1).
        axis: the axis that `softmax` was taken along.

    Returns:
        Gradient with respect to `x`, same shape and dtype as `probs`.
    """
    raise NotImplementedError("softmax.softmax_backward")


# %% [markdown]
# ## `cross_entropy_backward`
#
# Going back through the logarithm and the softmax at once is simpler than either of them alone: the gradient is what
# the model said minus what was true, divided by the number of rows that the mean was taken over.
#
# $$d\mathit{logits}_n = \frac{\mathrm{softmax}(\mathit{logits}_n) - \mathrm{onehot}(target_n)}{N}$$
#
# ```python
# >>> cross_entropy_backward(np.zeros((2, 4)), np.array([0, 3]))
# array([[-0.375,  0.125,  0.125,  0.125],
#        [ 0.125,  0.125,  0.125, -0.375]])
#
# ```

# %%
def cross_entropy_backward(logits, targets):
    """Gradient of `cross_entropy(logits, targets)` with respect to `logits`.

        dlogits = (softmax(logits) - onehot(targets)) / N

    Args:
        logits: scores, (..., V).
        targets: integer class of each row, (...), each in [0, V).

    Returns:
        Gradient, same shape and dtype as `logits` (float64 for integers).
    """
    raise NotImplementedError("softmax.cross_entropy_backward")
