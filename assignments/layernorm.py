"""Layer normalization, forward and backward, and the RMS norm (bonus)."""

# %% [markdown]
# # Layer normalization: every vector back to the same scale
#
# *Assignment 9 of 21 · 2 functions · about 1 h 15 min to write them · bonus: 2 more, 35 min*
#
# Multiply a vector by fifty random matrices, each of which doubles its length. At the end its values are about
# $10^{15}$. If each matrix halves the length instead, about $10^{-15}$ is left, and the gradients on the way back fare
# no better. (The experiment at the end prints both.) The largest GPT-2 takes 96 steps, 48 of attention and 48 of what
# comes in the next assignment, and nothing so far keeps its values in range.
#
# **Layer normalization**, layer norm for short, comes between the steps and brings every vector to mean 0 and variance
# 1; the model may then give each of the D entries a different scale and center, with two learned vectors: the **gain**
# $\gamma$ and a bias $\beta$, (D,) each.
#
# $$y = \gamma \cdot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta \qquad
#   \mu = \frac{1}{D} \sum_i x_i \qquad \sigma^2 = \frac{1}{D} \sum_i (x_i - \mu)^2$$
#
# (Ba, Kiros and Hinton 2016, section 3; the $\epsilon$ comes from Ioffe and Szegedy 2015, algorithm 1.)
#
# ```text
#     x (B, T, D)     one row = one token at one position = D entries
#     ┌────────────────┐
#     │  1   2   3   6 │ ──>  mean 3, variance 3.5  ──>  (-1.07  -0.53   0.00   1.60)
#     └────────────────┘
# ```
#
# ![A map of the whole model. Marked: layer norm, twice in each block and once after the
# last.](figures/map-layernorm.svg)
#
# The mean and variance are taken over the D entries, the *features*, of *one* vector; other positions and the rest of
# the batch do not matter. Batch normalization, its older relative, does the opposite: it normalizes each feature over
# the batch.
#
# ![A table with a row for each token: layer norm takes mean and variance over a row, batch norm over a
# column.](figures/normalized-axes.svg)

# %%
import functools

import numpy as np
from softmax import as_float

# %% [markdown]
# ## `layernorm`
#
# *15 min, straightforward*
#
# Here is the vector from the picture, with a gain of 1 and a bias of 0:
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
# **Divide by D, not by D - 1.** The *biased* variance divides the sum of the squared distances by D; the *unbiased*
# one, which statistics books recommend for a sample, by D - 1. Layer normalization uses the biased one, and so do
# NumPy's `var` and `std`, but not `torch.var` and `torch.std`. With four features, the results differ by 15%:
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
# **$\epsilon$ belongs inside the root.** Without it, a vector of equal entries would be divided by 0. Some well-known
# implementations add it to the standard deviation, outside the root. With $\epsilon = 10^{-5}$, that matters only for
# very small vectors. In the first example here, the variance is far smaller than $\epsilon$, so the result stays small:
#
# ```python
# >>> layernorm(np.array([0.001, 0.002, 0.003]), np.ones(3), np.zeros(3)).round(4)
# array([-0.3062,  0.    ,  0.3062])
# >>> layernorm(np.array([5.0, 5.0, 5.0]), np.ones(3), np.zeros(3))
# array([0., 0., 0.])
#
# ```
#
# Keep the last axis, with length 1, when you take the mean, so that you can subtract: `(B, T, D)` minus `(B, T, 1)`.
#
# See it: `headway plot layernorm` (add `--solution` if you have not written your function yet).
#
# ![The values of four vectors before and after: afterwards each has mean 0 and standard deviation 1, and the same
# pattern.](figures/layernorm.svg)

# %%


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
    raise NotImplementedError("layernorm.layernorm")


# %% [markdown]
# ## `layernorm_backward`
#
# *1 h, needs pen and paper*
#
# This backward pass takes some work, because every $x_i$ changes *every* output of its row. Take it apart into three
# steps, and go from the last to the first. For one row:
#
# $$c_i = x_i - \mu \qquad \hat x_i = \frac{c_i}{\sigma}
#   \quad \text{with} \quad \sigma^2 = \frac{1}{D} \sum_j c_j^2 + \epsilon \qquad y_i = \gamma_i \hat x_i + \beta_i$$
#
# ```text
#          ┌──> mean ──┐         ┌──> root mean square σ ──┐
#     x ───┴───────── (−) ── c ──┴────────────────────── (÷) ── x̂ ── (· γ) ── (+ β) ── y
# ```
#
# At each step, ask on paper: where is one entry used, and with what factor? Follow the vector from above, with `dout` =
# (1, 0, 0, 0), gains of 1, and the letters of the picture:
#
# ```python
# >>> x = np.array([1.0, 2.0, 3.0, 6.0])
# >>> c = x - x.mean()
# >>> sigma = np.sqrt((c * c).mean() + 1e-5)
# >>> x_hat = c / sigma
#
# ```
#
# **Gain and bias.** Row n has $y_{ni} = \gamma_i \hat x_{ni} + \beta_i$. The same $\gamma_i$ and $\beta_i$ serve every
# row, so their gradients are sums over all rows. What factor does each have in $y_{ni}$? And for g, the gradient that
# arrives at $\hat x$: in which entries of y is $\hat x_{ni}$, and with what factor?
#
# **The division.** Now go from g to the gradient of c. There are two paths, because $c_j$ is used in the numerator and
# in σ.
#
# - Directly: $c_j$ is in $\hat x_j$ only, with the factor $1/\sigma$.
# - Through σ: first, how fast does σ change with $c_j$? Differentiate $\sigma^2 = \frac{1}{D} \sum_j c_j^2 + \epsilon$
#   on both sides: $2 \sigma \cdot d\sigma/dc_j = 2 c_j / D$, so
#
# $$\frac{d\sigma}{dc_j} = \frac{c_j}{D\, \sigma} = \frac{\hat x_j}{D}$$
#
# Next, how fast does $\hat x_i = c_i / \sigma$ change with σ? The derivative of $1/\sigma$ is $-1/\sigma^2$, so the
# answer is $-c_i/\sigma^2 = -\hat x_i/\sigma$, for *every* i. So multiply each $g_i$ by the answer for i, add over all
# i, and multiply the sum by $d\sigma/dc_j$. A sum over i divided by D is a mean: write it as one.
#
# Are the two pieces correct? Move one entry of c a little, and then σ:
#
# ```python
# >>> moved = c + np.array([1e-6, 0.0, 0.0, 0.0])
# >>> slope = (np.sqrt((moved * moved).mean() + 1e-5) - sigma) / 1e-6
# >>> round(float(slope), 4), round(float(x_hat[0] / 4), 4)
# (-0.2673, -0.2673)
# >>> bool(np.allclose((c / (sigma + 1e-6) - x_hat) / 1e-6, -x_hat / sigma, atol=1e-5))
# True
#
# ```
#
# With g = (1, 0, 0, 0), both paths together give the gradient of c: (0.3818, −0.0764, 0, 0.2291). The direct path alone
# would give (0.5345, 0, 0, 0).
#
# **The mean.** Last, go from dc, the gradient of c, to that of x. Written out, $c_i = x_i - \frac{1}{D} \sum_j x_j$. So
# $x_j$ is in $c_j$ with the factor 1, and through the mean in *every* $c_i$ with the factor $-1/D$. Add both:
#
# $$dx_j = dc_j - \frac{1}{D} \sum_i dc_i = dc_j - \mathrm{mean}(dc)$$
#
# Subtracting a mean has a backward pass that subtracts a mean. So each row of dx adds up to 0, as it must: shifting a
# vector does not change the output.
#
# You now have every step from `dout` to dx. (Ioffe and Szegedy 2015, section 3, do the same for batch normalization.)
# Collect them on paper before you write code. The second question below combines dc and dx into one formula.
#
# ```python
# >>> dx, dgamma, dbeta = layernorm_backward(np.array([1.0, 0.0, 0.0, 0.0]), x, np.ones(4))
# >>> dx.round(4)
# array([ 0.2482, -0.21  , -0.1336,  0.0954])
# >>> dgamma.round(4), dbeta
# (array([-1.069,  0.   ,  0.   ,  0.   ]), array([1., 0., 0., 0.]))
#
# ```
#
# Never test a layer norm with a `dout` of ones: if $\gamma$ is 1 as well, the true `dx` is 0, and a function that
# always returns 0 looks right.

# %%
def layernorm_backward(dout, x, gamma, eps=1e-5):
    """Return the gradients of `layernorm(x, gamma, beta, eps)`; they do not depend on `beta`.

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
    raise NotImplementedError("layernorm.layernorm_backward")


# %% [markdown]
# ## Bonus: `rmsnorm`
#
# *10 min, straightforward*
#
# Do you need all of that? Llama and many later models subtract no mean and add no bias. What remains, the **RMS norm**,
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
# By hand: the mean of the squares is 12.5, its root is 3.5355, and the first entry is 1 / 3.5355 = 0.2828.

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
    raise NotImplementedError("layernorm.rmsnorm")


# %% [markdown]
# ## Bonus: `rmsnorm_backward`
#
# *25 min, needs pen and paper*
#
# Start from c in the picture of layer normalization: $\hat x = x / r$ with $r^2 = \frac{1}{D} \sum_j x_j^2 + \epsilon$.
# One of the three steps does not exist here. Which one? Do the other two again, with x in place of c and r in place of
# σ.
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

    Args:
        dout: gradient with respect to the output, (..., D).
        x: input of the forward pass, (..., D).
        gamma: gain, (D,).
        eps: the same as in the forward pass.

    Returns:
        dx: (..., D), in the dtype of the inputs.
        dgamma: (D,), summed over all leading axes.
    """
    raise NotImplementedError("layernorm.rmsnorm_backward")


# %% [markdown]
# ## On paper
#
# Let every gain be 1 and $\epsilon$ be 0.
#
# 1. A row is x = (2, 4, 6), and its `dout` is (0, 0, 1). Compute $\sigma$, $\hat x$, the gradient of c, and dx.
# 2. What is the mean of $\hat x$ over a row? Use it to compute the mean of dc, and write dx as a single formula.
# 3. What is dx if `dout` is the same number everywhere in a row? And if it is $\hat x$ itself? Which two changes of a
#    vector have no effect on its layer norm, and what do they have to do with these two answers?

# %% [markdown]
# ## Answers on paper
#
# **1. dx is (0.1021, −0.2041, 0.1021).** The mean is 4, so c = (−2, 0, 2), and the variance is (4 + 0 + 4) / 3 = 2.667.
# So $\sigma$ = 1.633 and $\hat x$ = (−1.2247, 0, 1.2247). The mean of $g \hat x$ is 1.2247 / 3 = 0.4082. The gradient
# of c is (0.3062, 0, 0.3062): in the last entry, the path through $\sigma$ takes away half of the 0.6124 from the
# direct path. Its mean is 0.2041, so dx = (0.1021, −0.2041, 0.1021).
#
# ```python
# >>> dx, _, _ = layernorm_backward(np.array([0.0, 0.0, 1.0]), np.array([2.0, 4.0, 6.0]), np.ones(3), eps=0.0)
# >>> dx.round(4)
# array([ 0.1021, -0.2041,  0.1021])
#
# ```
#
# **2. It is 0.** The mean was subtracted. So the term of dc that contains $\hat x$ has the mean 0, the mean of dc is
# mean(g)/$\sigma$, and in dx, $1/\sigma$ can be taken out of all terms. (The formula is in the third hint:
# `headway hint layernorm.layernorm_backward --more`.)
#
# **3. It is 0 in both cases.** Adding one number to all entries has no effect, and stretching the distances from the
# mean has none either. The paths through the mean and through σ remove the part of a gradient that lies in these two
# directions.
#
# ```python
# >>> x = np.array([[1.0, 2.0, 3.0, 6.0]])
# >>> for dout in (np.ones((1, 4)), layernorm(x, np.ones(4), np.zeros(4), eps=0.0)):
# ...     dx, _, _ = layernorm_backward(dout, x, np.ones(4), eps=0.0)
# ...     print(bool(np.abs(dx).max() < 1e-12))
# True
# True
#
# ```

# %% [markdown]
# ## What could go wrong
#
# The report uses the words of this list.
#
# - `layernorm`: **the variance was divided by D - 1, not by D.** Statistics books, torch.var and torch.std divide by
#   D - 1. Layer normalization uses the plain mean of the squared distances. With few features the result is several
#   percent too small.
# - `layernorm`: **eps was added to the standard deviation, outside the root.** On ordinary vectors the mistake hardly
#   shows. On very small ones the result is far too large, and with a large eps it is too small.
# - `layernorm_backward`: **the path through the variance is missing in dx.** The variance depends on every entry of the
#   row, so each entry also changes the output by changing the divisor.
# - `layernorm_backward`: **the path through the mean is missing in dx.** Shifting a vector changes nothing in the
#   output, so each row of dx must add up to 0.
# - `layernorm_backward`: **dgamma and dbeta are means over the rows instead of sums.** All rows used the same
#   parameters, so their contributions are added.

# %% [markdown]
# ## Try it
#
# Now run the fifty matrices. Each keeps the length of a vector about the same (size 1), halves it (0.5), or doubles it
# (2). Send ten vectors forward and a random gradient backward, without a layer norm and with one after every matrix.
#
# **Guess first.** With the norm, what difference do the three sizes still make, to the values at the top and to the
# gradient at the bottom?
#
# Run it: `headway experiment layernorm`, or the next cell of the notebook.

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
# Without the norm, a factor of 2 becomes $2^{50}$ in both directions: no learning rate fits such values. With it, the
# three networks behave the same: the norm removes the factor of the matrix, and its backward pass divides the gradient
# by it.
#
# 1. Double the input of a layer norm, and leave `dout` as it is. What happens to `dx`?
# 2. A layer norm removes the mean and the scale of a vector. Take the shortest vectors that have both, with two entries
#    each. What does `layernorm` turn them into, what can its backward pass return, and what does `rmsnorm` keep?

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
# **2. Only which of the two entries is larger.** Fixing the mean and the variance leaves D − 2 of the D entries free.
# With 64 or 768, that is a small loss; with two, nothing is left. A small change of one entry changes nothing, so `dx`
# is (nearly) 0 for any `dout`. The RMS norm keeps the direction.
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

# %% [markdown]
# ## In your own GPT
#
# Your model can now be deep: whatever size its vectors have grown to, the next block gets them at the same scale.
#
# ```python
# >>> x = np.random.default_rng(0).normal(size=(3, 4))
# >>> for scale in (1, 1000):
# ...     print(layernorm(scale * x, np.ones(4), np.zeros(4))[0].round(3))
# [-0.209 -1.124  1.616 -0.283]
# [-0.209 -1.124  1.616 -0.283]
#
# ```

# %% [markdown]
# ## Going faster
#
# Skip this until your code is correct. With the vectors as the rows of one matrix (N, D), a product with a vector of
# ones usually sums short rows faster than `sum` does, and `np.vecdot(c, c)` adds the squares of a row without storing
# them:
#
# ```python
# >>> rows = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
# >>> rows @ np.ones(3), np.ones(2) @ rows  # the sums of the rows, and of the columns
# (array([ 6., 15.]), array([5., 7., 9.]))
#
# ```
