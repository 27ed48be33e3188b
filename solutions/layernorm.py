"""Assignment 6: layer normalization, forward and backward, and the RMS norm (bonus)."""

# %% [markdown]
# # Layer normalization: every vector back to the same scale
#
# Attention is the first of the two steps that a transformer repeats; the next assignment brings the second. Something
# is missing between them. A deep network multiplies and adds many times. If one step doubles its values, the next one
# gets inputs of a scale that it was not trained for. After ten such steps the values are a thousand times larger, or,
# if each step halves them, a thousand times smaller.
#
# **Layer normalization**, layer norm for short, comes between the steps and brings every vector to mean 0 and
# variance 1. The model may then give each of the D entries another scale and another centre, with two learned vectors:
# the **gain** $\gamma$ and a bias $\beta$, (D,) each.
#
# $$y = \gamma \cdot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta \qquad
#   \mu = \frac{1}{D} \sum_i x_i \qquad \sigma^2 = \frac{1}{D} \sum_i (x_i - \mu)^2$$
#
# (Ba, Kiros and Hinton 2016, section 3; the $\epsilon$ is that of Ioffe and Szegedy 2015, algorithm 1.)
#
# ```text
#     x (B, T, D)     one row = one token at one position = D entries
#     ┌────────────────┐
#     │  1   2   3   6 │ ──>  mean 3, variance 3.5  ──>  (-1.07  -0.53   0.00   1.60)
#     └────────────────┘
# ```
#
# The mean and the variance are taken over the D entries, the *features*, of *one* vector. The other positions and the
# rest of the batch do not matter. Batch normalization, its older relative, does the opposite: it normalizes each
# feature over the batch.

# %%
import functools

import numpy as np
from softmax import as_float

# %% [markdown]
# ## `layernorm`
#
# Here is the vector of the picture, with a gain of 1 and a bias of 0:
#
# ```python
# >>> gamma, beta = np.ones(4), np.zeros(4)
# >>> layernorm(np.array([1.0, 2.0, 3.0, 6.0]), gamma, beta).round(4)
# array([-1.069 , -0.5345,  0.    ,  1.6036])
#
# ```
#
# By hand: the mean is 3, the distances from it are -2, -1, 0 and 3, and the variance is (4 + 1 + 0 + 9) / 4 = 3.5. Its
# root, the standard deviation, is 1.8708. Shifting or scaling the vector changes (almost) nothing:
#
# ```python
# >>> layernorm(np.array([1001.0, 1002.0, 1003.0, 1006.0]), gamma, beta).round(4)
# array([-1.069 , -0.5345,  0.    ,  1.6036])
# >>> layernorm(np.array([10.0, 20.0, 30.0, 60.0]), gamma, beta).round(4)
# array([-1.069 , -0.5345,  0.    ,  1.6036])
#
# ```
#
# Two details often go wrong:
#
# **Divide by D, not by D - 1.** There are two variances. The *biased* one divides the sum of the squared distances by
# D. The *unbiased* one, which statistics books recommend for a sample, divides by D - 1. Layer normalization uses the
# biased one. NumPy's `var` and `std` are biased by default. PyTorch's `torch.var` and `torch.std` are unbiased, but its
# `nn.LayerNorm` is biased. With four features the results differ by 15 %; with a thousand the difference is hard to
# see:
#
# ```python
# >>> x = np.array([1.0, 2.0, 3.0, 6.0])
# >>> float(x.var()), round(float(x.var(ddof=1)), 4)
# (3.5, 4.6667)
# >>> round(float(x.std(ddof=1) / x.std()), 4)
# 1.1547
#
# ```
#
# **$\epsilon$ belongs inside the root.** Without it, a vector whose entries are all equal would be divided by 0. Some
# well-known implementations add it to the standard deviation, outside the root. With $\epsilon = 10^{-5}$ the two
# hardly differ on ordinary vectors, but a lot on very small ones. In the first example below every entry is within
# 0.001 of the mean; the variance is far smaller than $\epsilon$, so the result stays small:
#
# ```python
# >>> layernorm(np.array([0.001, 0.002, 0.003]), np.ones(3), np.zeros(3)).round(4)
# array([-0.3062,  0.    ,  0.3062])
# >>> layernorm(np.array([5.0, 5.0, 5.0]), np.ones(3), np.zeros(3))
# array([0., 0., 0.])
#
# ```
#
# The vectors are the rows along the last axis of `x`; all axes before it are batch axes. Keep the last axis, with
# length 1, when you take the mean, so that you can subtract: `(B, T, D)` minus `(B, T, 1)`.
#
# See it: `headway plot layernorm` (add `--solution` if you have not written your function yet).

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("layernorm", globals())


# %%
@functools.cache
def _ones(length, dtype):
    """Return a vector of ones, made once. The product with it is a sum, usually faster than `sum` for short rows."""
    return np.ones(length, dtype=dtype)


def _rows(x):
    """Return all vectors of x, (..., D), as the rows of one matrix, (N, D)."""
    x = as_float(x)
    return x.reshape(-1, x.shape[-1])


def _normalize(x, eps):
    """Return `x` (N, D) with mean 0 and variance 1 in every row, (N, D), and the standard deviations, (N, 1)."""
    d = x.shape[-1]
    centred = x - (x @ _ones(d, x.dtype) / d)[:, None]
    std = np.sqrt(np.vecdot(centred, centred) / d + float(eps))[:, None]
    centred /= std
    return centred, std


def layernorm(x, gamma, beta, eps=1e-5):
    """Normalize each vector along the last axis, layer normalization (Ba, Kiros and Hinton 2016, section 3).

        y = gamma * (x - mean(x)) / sqrt(var(x) + eps) + beta

    Args:
        x: vectors, (..., D). Integers are computed in float64.
        gamma: gain, (D,).
        beta: bias, (D,).
        eps: added to the variance, inside the root.

    Returns:
        Same shape as `x`, in the dtype of the inputs. The variance is the biased one: the mean of the D squared
        distances.
    """
    y, _ = _normalize(_rows(x), eps)  # (N, D)
    y *= gamma
    y += beta
    return y.reshape(np.shape(x))


# %% [markdown]
# ## `layernorm_backward`
#
# Write $\hat x$ for the normalized vector (before gain and bias) and $\sigma$ for the root that it was divided by,
# $\epsilon$ included. The gradients of gain and bias are easy. All rows used the same gain and bias, so each gradient
# is a *sum over all rows*:
#
# $$d\gamma = \sum_{rows} dout \cdot \hat x \qquad d\beta = \sum_{rows} dout$$
#
# For `x` there are three paths. Every $x_i$ appears directly, in the mean, and in the variance; and through the mean
# and the variance it changes *every* output of its row. With $g = dout \cdot \gamma$, the gradient that arrives at
# $\hat x$, the three paths add up to
#
# $$dx = \frac{1}{\sigma} \Big( g - \mathrm{mean}(g) - \hat x \cdot \mathrm{mean}(g \cdot \hat x) \Big)$$
#
# (The derivation is that of Ioffe and Szegedy 2015, section 3, with the means taken over the features.) The second term
# is the path through the mean. Because of it each row of `dx` adds up to 0: shifting a vector does not change the
# output. The third term is the path through the variance: scaling a vector changes (almost) nothing either.
#
# ```python
# >>> dx, dgamma, dbeta = layernorm_backward(np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0, 6.0]), np.ones(4))
# >>> dx.round(4)
# array([ 0.2482, -0.21  , -0.1336,  0.0954])
# >>> dgamma.round(4), dbeta
# (array([-1.069,  0.   ,  0.   ,  0.   ]), array([1., 0., 0., 0.]))
#
# ```
#
# By hand, the first entry: g is (1, 0, 0, 0), with mean 0.25. The mean of g times $\hat x$ is −1.069 / 4 = −0.2673. So
# the entry is (1 − 0.25 − 1.069 · 0.2673) / 1.8708 = 0.2482.
#
# This is also why you should never test a layer norm with a `dout` of ones: if $\gamma$ is 1 as well, the true `dx` is
# 0, and a function that always returns 0 looks right.


# %%
def layernorm_backward(dout, x, gamma, eps=1e-5):
    """Return the gradients of `layernorm(x, gamma, beta, eps)`; they do not depend on `beta`.

        dx = (g - mean(g) - x̂ mean(g x̂)) / std   with g = dout * gamma, x̂ = (x - mean(x)) / std, std = √(var(x) + eps)
        dgamma = Σ_rows dout * x̂                 dbeta = Σ_rows dout

    Args:
        dout: gradient with respect to the output, (..., D).
        x: input of the forward pass, (..., D).
        gamma: gain, (D,).
        eps: the same as in the forward pass.

    Returns:
        dx: (..., D), in the dtype of the inputs.
        dgamma: (D,), summed over all leading axes.
        dbeta: (D,), summed over all leading axes.
    """
    normalized, std = _normalize(_rows(x), eps)  # (N, D), (N, 1)
    dout = _rows(dout)
    d = dout.shape[-1]
    product = dout * normalized  # (N, D)
    ones = _ones(len(dout), dout.dtype)
    dgamma, dbeta = ones @ product, ones @ dout  # sums over all rows

    dx = dout * gamma  # g
    dx -= (dout @ gamma / d)[:, None]  # mean(g): the sum of g over a row is the product of dout and gamma
    normalized *= (product @ gamma / d)[:, None]  # x̂ mean(g x̂)
    dx -= normalized
    dx /= std
    return dx.reshape(np.shape(x)), dgamma, dbeta


# %% [markdown]
# ## Bonus: `rmsnorm`
#
# Llama and many later models omit half of it: they subtract no mean and add no bias. What remains, the **RMS norm**,
# divides the vector by its *root mean square*. It needs fewer operations, and its authors found the results comparable.
#
# $$y = \gamma \cdot \frac{x}{\sqrt{\frac{1}{D} \sum_i x_i^2 + \epsilon}}$$
#
# (Zhang and Sennrich 2019, section 4. They leave out the $\epsilon$; implementations add it.)
#
# ```python
# >>> rmsnorm(np.array([1.0, 2.0, 3.0, 6.0]), np.ones(4)).round(4)
# array([0.2828, 0.5657, 0.8485, 1.6971])
#
# ```
#
# By hand: the squares are 1, 4, 9 and 36, their mean is 12.5, and its root is 3.5355. The first entry is 1 / 3.5355 =
# 0.2828.


# %%
def rmsnorm(x, gamma, eps=1e-5):
    """Divide each vector along the last axis by its root mean square (Zhang and Sennrich 2019, section 4).

        y = gamma * x / sqrt(mean(x²) + eps)

    Args:
        x: vectors, (..., D). Integers are computed in float64.
        gamma: gain, (D,).
        eps: added to the mean square, inside the root.

    Returns:
        Same shape as `x`, in the dtype of the inputs.
    """
    x = as_float(x)
    y = x / np.sqrt(np.vecdot(x, x) / x.shape[-1] + float(eps))[..., None]  # (..., D)
    y *= gamma
    return y


# %% [markdown]
# ## Bonus: `rmsnorm_backward`
#
# As in layer normalization, but without the path through the mean, because no mean was subtracted:
#
# $$dx = \frac{1}{r} \Big( g - \hat x \cdot \mathrm{mean}(g \cdot \hat x) \Big) \qquad
#   r = \sqrt{\mathrm{mean}(x^2) + \epsilon} \qquad \hat x = x / r \qquad g = dout \cdot \gamma$$
#
# ```python
# >>> dx, dgamma = rmsnorm_backward(np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0, 6.0]), np.ones(4))
# >>> dx.round(4), dgamma.round(4)
# (array([ 0.2772, -0.0113, -0.017 , -0.0339]), array([0.2828, 0.    , 0.    , 0.    ]))
#
# ```


# %%
def rmsnorm_backward(dout, x, gamma, eps=1e-5):
    """Return the gradients of `rmsnorm(x, gamma, eps)`.

        dx = (g - x̂ mean(g x̂)) / r     with g = dout * gamma, x̂ = x / r, r = √(mean(x²) + eps)
        dgamma = Σ_rows dout * x̂

    Args:
        dout: gradient with respect to the output, (..., D).
        x: input of the forward pass, (..., D).
        gamma: gain, (D,).
        eps: the same as in the forward pass.

    Returns:
        dx: (..., D), in the dtype of the inputs.
        dgamma: (D,), summed over all leading axes.
    """
    x = as_float(x)
    dout = as_float(dout)
    d = x.shape[-1]
    rms = np.sqrt(np.vecdot(x, x) / d + float(eps))[..., None]  # (..., 1)
    normalized = x / rms  # (..., D)
    dgamma = (dout * normalized).reshape(-1, d).sum(axis=0)

    g = dout * gamma  # (..., D)
    dx = g - normalized * (np.vecdot(g, normalized) / d)[..., None]
    dx /= rms
    return dx, dgamma


# %% [markdown]
# ## What could go wrong
#
# These mistakes are easy to make here. Read them before you write the functions, and again when a check fails: the
# report uses the same words when it recognizes one.
#
# - `layernorm`: **the variance was divided by D - 1, not by D.** Statistics books, torch.var and torch.std divide by
#   D - 1. Layer normalization uses the plain mean of the squared distances. With few features the result is several
#   percent too small.
# - `layernorm`: **eps was added to the standard deviation, outside the root.** On ordinary vectors the
#   mistake hardly shows. On very small ones the result is far too large, and with a large eps it is too small.
# - `layernorm`: **the mean and the variance were taken over the first axis.** That is what batch normalization does:
#   each feature over the batch. Here it is each vector over its features.
# - `layernorm_backward`: **the path through the variance is missing in dx.** The variance depends on every entry of the
#   row, so each entry also changes the output by changing the divisor.
# - `layernorm_backward`: **the path through the mean is missing in dx.** Shifting a vector changes nothing in the
#   output, so each row of dx must add up to 0.
# - `layernorm_backward`: **dgamma and dbeta are means over the rows instead of sums.** All rows used the same
#   parameters, so their contributions are added.
# - `rmsnorm`: **the mean was subtracted, as in layer normalization.** The RMS norm uses no mean. Rows whose mean is 0
#   come out right.

# %% [markdown]
# ## Try it
#
# Multiply vectors by fifty random matrices, one after the other, as a very deep network would. The entries of the
# matrices are such that each step keeps the length of a vector about the same (size 1), halves it (0.5), or doubles it
# (2). Send ten vectors forward and a random gradient backward, without a layer norm and with one after every matrix.
#
# **Guess first.** Without the norm, how large are the values at the top, and how large is the gradient at the bottom?
# With the norm, what difference do the three sizes still make?
#
# Run it: `python layernorm.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    D, gamma, beta = 64, np.ones(64), np.zeros(64)
    for size in (0.5, 1.0, 2.0):
        for normed in (False, True):
            rng = np.random.default_rng(0)
            x, steps = rng.normal(size=(10, D)), []
            for _ in range(50):
                W = size * rng.normal(size=(D, D)) / np.sqrt(D)
                steps.append((x @ W, W))
                x = layernorm(x @ W, gamma, beta) if normed else x @ W
            dx = rng.normal(size=(10, D))
            for y, W in reversed(steps):
                if normed:
                    dx, _, _ = layernorm_backward(dx, y, gamma)
                dx = dx @ W.T
            print(f"size {size}   {'with' if normed else 'no'} norm:   up {x.std():.1g}   down {dx.std():.1g}")

# %% [markdown]
# ## What came out
#
# ```text
# size 0.5   no norm:   up 8e-16   down 6e-16
# size 0.5   with norm:   up 1   down 0.8
# size 1.0   no norm:   up 0.9   down 0.7
# size 1.0   with norm:   up 1   down 0.8
# size 2.0   no norm:   up 1e+15   down 8e+14
# size 2.0   with norm:   up 1   down 0.8
# ```
#
# Without the norm, a factor of 2 becomes $2^{50}$, forward and backward: no learning rate fits such values. With it,
# the three networks behave the same. The norm removes whatever factor the matrix has introduced, and its backward pass
# divides the gradient by the same factor.
#
# 1. Double the input of a layer norm, and leave `dout` as it is. What happens to `dx`?
# 2. A layer norm removes the mean and the scale of a vector. Take the shortest vectors that have both, with two entries
#    each. What does `layernorm` make of them, what can its backward pass return, and what does `rmsnorm` keep?

# %% [markdown]
# ## Answers
#
# **1. It is halved.** The output does not change, so a step of the same size in the doubled input matters half as much.
# (Not exactly: $\epsilon$ is not doubled.)
#
# ```python
# >>> dout, y = np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0, 6.0])
# >>> for factor in (1.0, 2.0):
# ...     print(layernorm_backward(dout, factor * y, np.ones(4))[0].round(4))
# [ 0.2482 -0.21   -0.1336  0.0954]
# [ 0.1241 -0.105  -0.0668  0.0477]
#
# ```
#
# **2. Only which of the two entries is larger.** Of the D entries, fixing the mean and the variance leaves D − 2 free.
# With 64 or 768 entries that is a small loss; with two nothing is left. A small change of one of the two entries
# changes nothing, so `dx` is (nearly) 0 for any `dout`. The RMS norm keeps the direction.
#
# ```python
# >>> x = np.array([[3.0, 5.0], [-2.0, 400.0], [0.1, -7.0]])
# >>> layernorm(x, np.ones(2), np.zeros(2)).round(2)
# array([[-1.,  1.],
#        [-1.,  1.],
#        [ 1., -1.]])
# >>> dx, _, _ = layernorm_backward(np.random.default_rng(0).normal(size=(3, 2)), x, np.ones(2))
# >>> bool(np.abs(dx).max() < 1e-4)
# True
# >>> rmsnorm(x, np.ones(2)).round(2)
# array([[ 0.73,  1.21],
#        [-0.01,  1.41],
#        [ 0.02, -1.41]])
#
# ```
