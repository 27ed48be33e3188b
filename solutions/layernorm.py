"""Assignment 6: layer normalization, forward and backward, and the RMS norm (bonus)."""

# %% [markdown]
# # Layer normalization: every vector back to the same scale
#
# Attention is the first of the two things that a transformer does again and again; the next assignment brings the
# second. Between them something is missing. A deep network multiplies and adds many times. If one step makes its
# numbers twice as large, the next one sees inputs that it was not tuned for, and after ten steps the numbers have
# exploded or died out.
#
# **Layer normalization**, layer norm for short, stands between the steps and brings every vector to mean 0 and
# variance 1. The model may then choose another scale and another centre for each of the D numbers, with two learned
# vectors: the **gain** $\gamma$ and a bias $\beta$, (D,) each.
#
# $$y = \gamma \cdot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta \qquad
#   \mu = \frac{1}{D} \sum_i x_i \qquad \sigma^2 = \frac{1}{D} \sum_i (x_i - \mu)^2$$
#
# (Ba, Kiros and Hinton 2016, section 3; the $\epsilon$ is that of Ioffe and Szegedy 2015, algorithm 1.)
#
# ```text
#     x (B, T, D)     one row = one token at one position = D numbers
#     ┌────────────────┐
#     │  1   2   3   6 │ ──>  mean 3, variance 3.5  ──>  (-1.07  -0.53   0.00   1.60)
#     └────────────────┘
# ```
#
# The mean and the variance are taken over the D numbers, the *features*, of *one* vector. Neither the rest of the batch
# nor the other positions have a say. Batch normalization, its older relative, does the opposite.

# %%
import functools

import numpy as np
from softmax import as_float

# %% [markdown]
# ## `layernorm`
#
# The vector of the picture, with a gain of 1 and a bias of 0:
#
# ```python
# >>> gamma, beta = np.ones(4), np.zeros(4)
# >>> layernorm(np.array([1.0, 2.0, 3.0, 6.0]), gamma, beta).round(4)
# array([-1.069 , -0.5345,  0.    ,  1.6036])
#
# ```
#
# By hand: the mean is 3, the distances to it are -2, -1, 0 and 3, and the variance is (4 + 1 + 0 + 9) / 4 = 3.5, whose
# root, the standard deviation, is 1.8708. Shifting the vector, or stretching it, makes (almost) no difference:
#
# ```python
# >>> layernorm(np.array([1001.0, 1002.0, 1003.0, 1006.0]), gamma, beta).round(4)
# array([-1.069 , -0.5345,  0.    ,  1.6036])
# >>> layernorm(np.array([10.0, 20.0, 30.0, 60.0]), gamma, beta).round(4)
# array([-1.069 , -0.5345,  0.    ,  1.6036])
#
# ```
#
# Two details that everybody gets wrong once:
#
# **Divide by D, not by D - 1.** There are two variances. The *biased* one divides the sum of the squared distances by
# D; the *unbiased* one, the estimate that statistics books recommend for a sample, divides by D - 1. Layer
# normalization uses the biased one. NumPy's `var` and `std` are biased by default; PyTorch's `torch.var` and
# `torch.std` are unbiased, while its `nn.LayerNorm` is biased. With four features the results are 15 % apart, with a
# thousand nobody would notice:
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
# well-known codes add it to the standard deviation, outside the root. With $\epsilon = 10^{-5}$ the two hardly differ
# on ordinary vectors, and a lot on very small ones. Here every entry is within 0.001 of the mean; the variance is far
# smaller than $\epsilon$, and the result stays small:
#
# ```python
# >>> layernorm(np.array([0.001, 0.002, 0.003]), np.ones(3), np.zeros(3)).round(4)
# array([-0.3062,  0.    ,  0.3062])
# >>> layernorm(np.array([5.0, 5.0, 5.0]), np.ones(3), np.zeros(3))
# array([0., 0., 0.])
#
# ```
#
# The vectors are the rows along the last axis of `x`; everything before it is batch. Keep that axis when you take the
# mean, with length 1: `(B, T, D)` minus `(B, T, 1)`.
#
# One more thing, if you want it fast: `x.mean(axis=-1)` is a slow way to add up many short rows. The same sums are the
# product with a vector of ones, `(N, D) @ (D,)`, and products are what NumPy does best. The sum of the squares of every
# row is `np.vecdot` of the matrix with itself.
#
# See it: `headway plot layernorm` (before your function is written, with `--solution`).

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("layernorm", globals())


# %%
@functools.cache
def _ones(length, dtype):
    """A vector of ones, made once: multiplying by it adds up."""
    return np.ones(length, dtype=dtype)


def _rows(x):
    """All vectors of x, (..., D), as the rows of one matrix, (N, D)."""
    x = as_float(x)
    return x.reshape(-1, x.shape[-1])


def _normalize(x, eps):
    """`x` (N, D) with mean 0 and variance 1 in every row, (N, D), and the standard deviations, (N, 1)."""
    d = x.shape[-1]
    centred = x - (x @ _ones(d, x.dtype) / d)[:, None]
    std = np.sqrt(np.vecdot(centred, centred) / d + float(eps))[:, None]
    centred /= std
    return centred, std


def layernorm(x, gamma, beta, eps=1e-5):
    """Layer normalization over the last axis (Ba, Kiros and Hinton 2016, section 3).

        y = gamma * (x - mean(x)) / sqrt(var(x) + eps) + beta

    Args:
        x: vectors, (..., D). Integers are computed in float64.
        gamma: gain, (D,).
        beta: bias, (D,).
        eps: added to the variance, inside the root.

    Returns:
        Same shape and dtype as `x`. The variance is the biased one: the mean of the D squared distances.
    """
    y, _ = _normalize(_rows(x), eps)  # (N, D)
    y *= gamma
    y += beta
    return y.reshape(np.shape(x))


# %% [markdown]
# ## `layernorm_backward`
#
# Write $\hat x$ for the normalized vector (before gain and bias) and $\sigma$ for the root that it was divided by. Gain
# and bias are easy. Each of them was used for every row, so its gradient is a *sum over all rows*:
#
# $$d\gamma = \sum_{rows} dout \cdot \hat x \qquad d\beta = \sum_{rows} dout$$
#
# For `x` there are three paths. Every $x_i$ appears directly, in the mean, and in the variance; and through the mean
# and the variance it moves *every* output of its row. With $g = dout \cdot \gamma$, the gradient that arrives at
# $\hat x$, the three collapse to
#
# $$dx = \frac{1}{\sigma} \Big( g - \mathrm{mean}(g) - \hat x \cdot \mathrm{mean}(g \cdot \hat x) \Big)$$
#
# (The derivation is that of Ioffe and Szegedy 2015, section 3, with the mean taken over the features.) The second term
# is the path through the mean: `dx` adds up to 0, because shifting a vector changes nothing. The third is the path
# through the variance, because stretching it changes (almost) nothing either.
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
# By hand, the first number: g is (1, 0, 0, 0), its mean 0.25; the mean of g times $\hat x$ is −1.069 / 4 = −0.2673; so
# it is (1 − 0.25 − 1.069 · 0.2673) / 1.8708 = 0.2482.
#
# This is also why a layer norm must never be tested with a gradient of ones: when $\gamma$ is 1 as well, the true `dx`
# is 0, and a function that answers 0 to everything looks right.


# %%
def layernorm_backward(dout, x, gamma, eps=1e-5):
    """Gradients of `layernorm(x, gamma, beta, eps)`; they do not depend on `beta`.

        dx = (g - mean(g) - x̂ mean(g x̂)) / std   with g = dout * gamma, x̂ = (x - mean(x)) / std, std = √(var(x) + eps)
        dgamma = Σ_rows dout * x̂                 dbeta = Σ_rows dout

    Args:
        dout: gradient with respect to the output, (..., D).
        x: what went in, (..., D).
        gamma: gain, (D,).
        eps: the same as in the forward pass.

    Returns:
        dx: (..., D), same dtype as `x`.
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
    dx -= (dout @ gamma / d)[:, None]  # mean(g): the sum over g of a row is the product of dout and gamma
    normalized *= (product @ gamma / d)[:, None]  # x̂ mean(g x̂)
    dx -= normalized
    dx /= std
    return dx.reshape(np.shape(x)), dgamma, dbeta


# %% [markdown]
# ## Bonus: `rmsnorm`
#
# Llama and most models since then leave out half of it: no mean is subtracted and no bias is added. What remains, the
# **RMS norm**, is the division by the *root mean square* of the vector. It is cheaper and works as well.
#
# $$y = \gamma \cdot \frac{x}{\sqrt{\frac{1}{D} \sum_i x_i^2 + \epsilon}}$$
#
# (Zhang and Sennrich 2019, section 4; they leave out the $\epsilon$, every implementation puts it in.)
#
# ```python
# >>> rmsnorm(np.array([1.0, 2.0, 3.0, 6.0]), np.ones(4)).round(4)
# array([0.2828, 0.5657, 0.8485, 1.6971])
#
# ```
#
# By hand: the squares are 1, 4, 9 and 36, their mean is 12.5, its root 3.5355, and 1 / 3.5355 = 0.2828.


# %%
def rmsnorm(x, gamma, eps=1e-5):
    """Root mean square normalization over the last axis (Zhang and Sennrich 2019, section 4).

        y = gamma * x / sqrt(mean(x²) + eps)

    Args:
        x: vectors, (..., D). Integers are computed in float64.
        gamma: gain, (D,).
        eps: added to the mean square, inside the root.

    Returns:
        Same shape and dtype as `x`.
    """
    x = as_float(x)
    y = x / np.sqrt(np.vecdot(x, x) / x.shape[-1] + float(eps))[..., None]  # (..., D)
    y *= gamma
    return y


# %% [markdown]
# ## Bonus: `rmsnorm_backward`
#
# As for the layer norm, but without the path through the mean, because no mean was taken:
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
    """Gradients of `rmsnorm(x, gamma, eps)`.

        dx = (g - x̂ mean(g x̂)) / r     with g = dout * gamma, x̂ = x / r, r = √(mean(x²) + eps)
        dgamma = Σ_rows dout * x̂

    Args:
        dout: gradient with respect to the output, (..., D).
        x: what went in, (..., D).
        gamma: gain, (D,).
        eps: the same as in the forward pass.

    Returns:
        dx: (..., D), same dtype as `x`.
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
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
#
# - `layernorm`: **the variance was divided by D - 1, not by D.** Statistics books, torch.var and torch.std divide by
#   D - 1; layer normalization takes the plain mean of the squared distances. With few features the result is several
#   percent too small.
# - `layernorm`: **eps was added to the standard deviation, outside the root.** On ordinary vectors hardly anything
#   shows; on small ones, or with a large eps, the result is far too large.
# - `layernorm`: **the mean and the variance are taken over the first axis.** This is batch normalization: every feature
#   over the batch, instead of every vector over its features.
# - `layernorm_backward`: **the path through the variance is missing in dx.** The variance depends on every entry of the
#   row, so each entry also moves the output by moving the divisor.
# - `layernorm_backward`: **the path through the mean is missing in dx.** Shifting a vector changes nothing, so each row
#   of dx must add up to 0.
# - `layernorm_backward`: **dgamma and dbeta are means over the rows instead of sums.** Each row used the same gain and
#   bias, and what they contribute adds up.
# - `rmsnorm`: **the mean is subtracted, as in layer normalization.** The RMS norm takes no mean. Rows whose mean is 0
#   come out right.

# %% [markdown]
# ## Try it
#
# Fifty random matrices, one after the other, as a very deep network would have them. Their entries are such that a
# vector keeps its length (size 1), is halved at every step (0.5), or doubled (2). Send ten vectors up, and a random
# gradient back down, without a layer norm and with one after every matrix.
#
# **Guess first.** How large are the numbers at the top without the norm, and how large is the gradient at the bottom?
# And with the norm: what difference do the three sizes still make?
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
# Without the norm, a factor of 2 becomes $2^{50}$, forward and backward: no learning rate fits such numbers. With it,
# the three networks are the same: the norm takes out whatever factor the matrix has put in, and its backward divides
# the gradient by the same factor.
#
# 1. Double what goes into a layer norm, and leave `dout` as it is. What happens to `dx`?
# 2. What is left of a vector when its mean and its length are taken away? Take the shortest vectors that have both, two
#    numbers each. What does `layernorm` make of them, what can its backward answer, and what does `rmsnorm` leave?

# %% [markdown]
# ## Answers
#
# **1. It is halved.** The output stays what it was, so a step on the doubled scale counts for half. (Not exactly:
# $\epsilon$ is not doubled.)
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
# **2. Only which of the two is the larger.** The mean takes one number away and the variance another; a vector of D
# numbers keeps D − 2, and with 64 or 768 nobody misses them. Moving one of the two numbers a little changes nothing, so
# `dx` is (nearly) 0 whatever `dout` is. The RMS norm keeps the direction.
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
