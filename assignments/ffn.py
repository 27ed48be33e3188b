"""Linear layers, activations, dropout and the feed-forward network, forward and backward."""

# %% [markdown]
# # The feed-forward network: what each position does on its own
#
# *Assignment 10 of 21 · 10 functions · about 2 h 25 min to write them*
#
# Put two linear layers in a row, each with thousands of parameters, and they can do no more than one: x W₁ W₂ is x
# times a single matrix, W₁ W₂. Put a single bend between them, and 64 features learn a sine curve in 1,000 steps, with
# an error of 0.003. (The experiment at the end does this.)
#
# Such a pair of layers is the other half of a transformer. Attention moves information *between* positions, but it only
# averages. The **feed-forward network** works on every position alone: it widens the vector from D to F features (often
# F = 4 D), applies a nonlinear function, the **activation**, and brings the vector back to D (Vaswani et al. 2017,
# section 3.3):
#
# $$\mathrm{ffn}(x) = \mathrm{activation}(x W_1 + b_1)\, W_2 + b_2$$
#
# ```text
#     x (B, T, D)       ── W_1, b_1 ───>  hidden (B, T, F)     wider
#     hidden (B, T, F)  ── activation ─>  (B, T, F)            nonlinear
#     (B, T, F)         ── W_2, b_2 ───>  out (B, T, D)        as wide as before
# ```
#
# ![A map of the whole model. Marked: the feed-forward network, in the second half of a block.](figures/map-ffn.svg)
#
# You will build the parts first, each with its backward pass, and put them together at the end.

# %%
import math

import numpy as np
from softmax import as_float

# %% [markdown]
# ## `relu`
#
# *5 min, straightforward*
#
# The simplest bend is the **ReLU** (rectified linear unit): keep positive values, and replace the others with 0 (Nair
# and Hinton 2010). The first transformer uses it.
#
# ```python
# >>> relu(np.array([-2.0, -0.5, 0.0, 3.0]))
# array([0., 0., 0., 3.])
#
# ```

# %%
def relu(x):
    """Apply the rectified linear unit, max(x, 0), element by element (Nair and Hinton 2010).

    Args:
        x: any shape. Integers are computed in float64.

    Returns:
        Same shape and dtype as `x`.
    """
    raise NotImplementedError("ffn.relu")


# %% [markdown]
# ## `relu_backward`
#
# *5 min, straightforward*
#
# An activation works on each entry alone, so its gradient is `dout`, entry by entry, times an ordinary derivative. What
# is the derivative of ReLU to the right of 0, where its graph is the line out = x, and to the left, where it is flat?
# At 0 itself, there is a corner and no derivative; like PyTorch, this course uses 0.
#
# ```python
# >>> relu_backward(np.array([10.0, -20.0, 30.0, 40.0]), np.array([-2.0, 0.5, 0.0, 3.0]))
# array([  0., -20.,   0.,  40.])
#
# ```

# %%
def relu_backward(dout, x):
    """Return the gradient of `relu(x)`. At x = 0, where there is no derivative, it is 0.

    Args:
        dout: gradient with respect to the output, same shape as `x`.
        x: input of the forward pass, any shape.

    Returns:
        Gradient with respect to `x`, same shape as `x`, in the dtype of the inputs.
    """
    raise NotImplementedError("ffn.relu_backward")


# %% [markdown]
# ## `gelu`: one function, two formulas
#
# *15 min, straightforward*
#
# ReLU is a gate that is either open or shut, depending on the sign of x. The **GELU** (Gaussian error linear unit)
# opens the gate gradually. It multiplies x by $\Phi(x)$, the probability that a standard normal random number is
# smaller than x:
#
# $$\mathrm{GELU}(x) = x\, \Phi(x) = \frac{x}{2} \Big( 1 + \mathrm{erf}\Big( \frac{x}{\sqrt 2} \Big) \Big)$$
#
# (Hendrycks and Gimpel 2016, section 2.) For a large x, the result is nearly x; for a very negative x, it is nearly 0;
# and for a slightly negative x, it is a little below 0:
#
# ```python
# >>> gelu_exact(np.array([-3.0, -1.0, 0.0, 1.0, 3.0])).round(4)
# array([-0.004 , -0.1587,  0.    ,  0.8413,  2.996 ])
#
# ```
#
# (The error function, erf, is Φ moved and stretched so that it goes from −1 to 1. NumPy does not have it. `gelu_exact`,
# which is given for comparisons, applies Python's `math.erf` to each entry, which is slow.)
#
# The same paper gives an approximation with tanh. GPT-2 was trained with it, and the course uses it everywhere under
# the plain name `gelu`:
#
# $$\mathrm{gelu}(x) = \frac{x}{2} \Big( 1 + \tanh\Big( \sqrt{2/\pi}\, \big( x + 0.044715\, x^3 \big) \Big) \Big)$$
#
# ```python
# >>> gelu(np.array([-3.0, -1.0, 0.0, 1.0, 3.0])).round(4)
# array([-0.0036, -0.1588,  0.    ,  0.8412,  2.9964])
#
# ```
#
# The two never differ by more than 0.0005: too little to see in a plot, too much to reproduce a trained model exactly.
# In PyTorch, `F.gelu(x)` is the exact form and `F.gelu(x, approximate="tanh")` the other.
#
# ```python
# >>> x = np.linspace(-5, 5, 1001)
# >>> round(float(np.abs(gelu(x) - gelu_exact(x)).max()), 5)
# 0.00047
#
# ```
#
# ### GELU with a sigmoid
#
# The function $\sigma(z) = \frac{1}{1 + e^{-z}}$, the **sigmoid**, rises from 0 to 1. Because $\frac12 (1 + \tanh u) =
# \sigma(2u)$ (write both with $e^u$), GELU is x times the gate $\sigma(2u)$. You may write it either way. If $-2u$ is
# large, `np.exp` overflows to infinity. The gate is then 0, which is correct, but NumPy warns; `np.errstate` switches
# the warning off. (A third form, $x\, \sigma(1.702\, x)$, is off by up to about 0.02.)
#
# ```python
# >>> round(float(np.abs(x / (1 + np.exp(-1.702 * x)) - gelu_exact(x)).max()), 2)
# 0.02
#
# ```
#
# See it: `headway plot activations` (add `--solution` if you have not written your functions yet).
#
# ![ReLU and GELU, and their slopes: GELU is smooth, dips below 0, and its slope goes slightly above
# 1.](figures/activations.svg)

# %%
def gelu_exact(x):
    """Return the exact GELU of every element, x Φ(x). This is `F.gelu(x)` of PyTorch."""
    x = as_float(x)
    erf = np.vectorize(math.erf, otypes=[np.float64])
    return (x * (1 + erf(x / math.sqrt(2))) / 2).astype(x.dtype)


def gelu(x):
    """Apply the Gaussian error linear unit, tanh form, element by element (Hendrycks and Gimpel 2016, section 2).

        gelu(x) = x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))

    This is `F.gelu(x, approximate="tanh")` of PyTorch, and what GPT-2 uses.

    Args:
        x: any shape. Integers are computed in float64.

    Returns:
        Same shape and dtype as `x`.
    """
    raise NotImplementedError("ffn.gelu")


# %% [markdown]
# ## `gelu_backward`
#
# *30 min, needs pen and paper*
#
# Again, you need an ordinary derivative. GELU is a product, x times a gate s(x), and both factors change with x. The
# **product rule** adds what each of them contributes: if x rises by h, the first factor rises by h and the second by
# $s'(x)\, h$, so the product rises by
#
# $$s(x) \cdot h + x \cdot s'(x)\, h$$
#
# (The term with h² vanishes as h becomes small.) For the exact form, the gate is $\Phi$, and its derivative is the bell
# curve $\varphi(x) = e^{-x^2/2} / \sqrt{2\pi}$. So the whole derivative is $\Phi(x) + x\, \varphi(x)$. A difference
# quotient agrees:
#
# ```python
# >>> x, h = 1.0, 1e-6
# >>> exact = (1 + math.erf(x / math.sqrt(2))) / 2 + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
# >>> round(exact, 4), round(float(gelu_exact(x + h) - gelu_exact(x - h)) / (2 * h), 4)
# (1.0833, 1.0833)
#
# ```
#
# Now do the same for the tanh form. Write it as three steps, and differentiate each:
#
# $$u = \sqrt{2/\pi}\,(x + 0.044715\,x^3) \qquad s = \tfrac12 (1 + \tanh u) \qquad \mathrm{gelu} = x \cdot s$$
#
# - What is $du/dx$? (The derivative of $x^3$ is $3x^2$.)
# - What is $ds/du$? (The derivative of tanh is in the table in `gradients`: $1 - \tanh^2 u$.)
# - The chain rule multiplies the two: $s'(x) = \frac{ds}{du} \cdot \frac{du}{dx}$. The product rule does the rest.
#
# At x = 1, your numbers should be:
#
# | u | tanh u | s | du/dx | ds/du | s′ | derivative of gelu |
# |---|---|---|---|---|---|---|
# | 0.8336 | 0.6824 | 0.8412 | 0.9049 | 0.2672 | 0.2418 | 1.0830 |
#
# ```python
# >>> gelu_backward(np.ones(5), np.array([-3.0, -1.0, 0.0, 1.0, 3.0])).round(4)
# array([-0.0116, -0.083 ,  0.5   ,  1.083 ,  1.0116])
#
# ```
#
# The slope is 0.5 at 0, a little above 1 on the right, and negative on the left: GELU goes down before it goes up.

# %%
def gelu_backward(dout, x):
    """Return the gradient of `gelu(x)`, the tanh form.

    Args:
        dout: gradient with respect to the output, same shape as `x`.
        x: input of the forward pass, any shape.

    Returns:
        Gradient with respect to `x`, same shape as `x`, in the dtype of the inputs.
    """
    raise NotImplementedError("ffn.gelu_backward")


# %% [markdown]
# ## `linear`
#
# *10 min, straightforward*
#
# An activation has no parameters, but the linear layers before and after it do. You wrote two such layers inside
# `multihead_attention`; here, the layer gets its own function. Our matrices are stored as `(in, out)`, so that the code
# reads like the formula; PyTorch's `nn.Linear` stores the transpose, `(out, in)`.
#
# $$y = x W + b$$
#
# ```python
# >>> W = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])                 # (2, 3): two inputs, three outputs
# >>> linear(np.array([[1.0, 1.0], [2.0, 0.0]]), W, np.array([0.5, 0.0, -0.5]))
# array([[ 1.5,  3. ,  2.5],
#        [ 2.5,  4. , -0.5]])
#
# ```
#
# Flatten the leading axes of x into N rows, multiply `(N, D_in)` by `(D_in, D_out)`, and reshape the result back.
# (NumPy's `@` also accepts x as it is.)

# %%
def linear(x, W, b):
    """Apply the linear layer x W + b to the last axis.

    Args:
        x: (..., D_in).
        W: weights, (D_in, D_out).
        b: bias, (D_out,), or None for a layer without bias.

    Returns:
        (..., D_out), in the dtype of the inputs.
    """
    raise NotImplementedError("ffn.linear")


# %% [markdown]
# ## `linear_backward`
#
# *25 min, needs pen and paper*
#
# Nearly all parameters of a transformer are in layers like this one. Derive the gradients from single entries, as in
# `gradients`, for rows n:
#
# ```text
#     y_nj = Σ_i x_ni W_ij + b_j
#
#     where is x_ni?     in every entry of row n of y,       with the factor  W_ij in y_nj
#     where is W_ij?     in column j of y, in every row n,   with the factor  ?
#     where is b_j?      in column j of y, in every row n,   with the factor  ?
# ```
#
# Multiply each factor by its upstream gradient, add up, and write the sums as matrix products where you can. The first
# line gives $dx_{ni} = \sum_j dout_{nj} W_{ij}$. Here j is summed, and j is the *second* index of both: which of the
# two matrices has to be transposed?
#
# Check the shapes: if N, D_in and D_out are all different, only one product fits, and `db` must not have N rows.
#
# In the example, `dout` picks the first output of the first row and the last output of the second row:
#
# ```python
# >>> dx, dW, db = linear_backward(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.array([[1.0, 1.0], [2.0, 0.0]]), W)
# >>> dx
# array([[1., 0.],
#        [0., 3.]])
# >>> dW
# array([[1., 0., 2.],
#        [1., 0., 0.]])
# >>> db
# array([1., 0., 1.])
#
# ```

# %%
def linear_backward(dout, x, W):
    """Return the gradients of `linear(x, W, b)`; they do not depend on `b`.

    Args:
        dout: gradient with respect to the output, (..., D_out).
        x: input of the forward pass, (..., D_in).
        W: weights, (D_in, D_out).

    Returns:
        dx: (..., D_in), in the dtype of the inputs.
        dW: (D_in, D_out), summed over all leading axes.
        db: (D_out,), summed over all leading axes (ignore it if there was no bias).
    """
    raise NotImplementedError("ffn.linear_backward")


# %% [markdown]
# ## `dropout`
#
# *15 min, needs some thought*
#
# A wide network can memorize small texts. Geoffrey Hinton got the idea for a remedy at his bank, where the tellers kept
# changing: he supposed that fraud would need employees who cooperate (he told the story on Reddit in 2014). **Dropout**
# keeps features from cooperating: during training, it sets each value to 0 with probability p, anew in every step. No
# feature can then rely on any other (Srivastava et al. 2014, section 4).
#
# The kept values are divided by 1 - p. On average, the output is then the same as the input, and after training,
# dropout simply does nothing:
#
# $$out = x \cdot mask \qquad mask_i = \begin{cases} 0 & \text{with probability } p \\ 1/(1-p) & \text{otherwise}
#   \end{cases}$$
#
# ```python
# >>> out, mask = dropout(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 0.2, np.random.default_rng(0))
# >>> mask
# array([1.25, 1.25, 0.  , 0.  , 1.25])
# >>> out
# array([1.25, 2.5 , 0.  , 0.  , 6.25])
# >>> out, mask = dropout(np.array([1.0, 2.0, 3.0]), 0.2, np.random.default_rng(0), training=False)
# >>> out
# array([1., 2., 3.])
#
# ```
#
# This is *inverted* dropout, as in the common frameworks. The original paper scaled after training instead (its section
# 10 describes the inverted form). There, p is the probability of *keeping* a value; here, as in PyTorch, it is that of
# *dropping* it.
#
# The base model of the first transformer and the first GPT drop one value in ten (Vaswani et al. 2017, section 5.4;
# Radford et al. 2018, section 4.1). The GPT of this course is trained without dropout, so that you can compare it with
# PyTorch digit by digit.

# %%
def dropout(x, p, rng, training=True):
    """Apply inverted dropout, out = x * mask (Srivastava et al. 2014, sections 4 and 10).

    A value is kept where `rng.random(x.shape)` is at least `p`, so the same seed, shape and p drop the same places.

    Args:
        x: any shape. Integers are computed in float64.
        p: probability of dropping a value, 0 ≤ p < 1.
        rng: a `numpy.random.Generator`, or None if `training` is false or `p` is 0: nothing is drawn then.
        training: if false, nothing is dropped.

    Returns:
        out: same shape and dtype as `x`.
        mask: same shape and dtype as `x`: 0 where the value was dropped, 1 / (1 - p) where it was kept. All ones if
            `training` is false or `p` is 0.

    Raises:
        ValueError: if `p` is not in [0, 1).
    """
    raise NotImplementedError("ffn.dropout")


# %% [markdown]
# ## `dropout_backward`
#
# *5 min, straightforward*
#
# In $out_i = x_i \cdot mask_i$, the mask was drawn at random, but it does not depend on x: for the gradient, it is a
# constant factor. It must be the mask of the *same* forward pass. A new draw would give a gradient to values that had
# no influence.
#
# ```python
# >>> dropout_backward(np.array([1.0, 1.0, 2.0, 2.0]), np.array([2.0, 0.0, 0.0, 2.0]))
# array([2., 0., 0., 4.])
#
# ```

# %%
def dropout_backward(dout, mask):
    """Return the gradient of `dropout`.

    Args:
        dout: gradient with respect to the output, any shape.
        mask: the mask that `dropout` returned, same shape.

    Returns:
        Gradient with respect to `x`, same shape as `dout`, in the dtype of the inputs.
    """
    raise NotImplementedError("ffn.dropout_backward")


# %% [markdown]
# ## `ffn`
#
# *15 min, straightforward*
#
# Now put the parts together. As in multi-head attention, parameters come in one dictionary, and you return the output
# and a cache.
#
# | step | shape |
# |---|---|
# | `x` | (..., D) |
# | hidden, `W_1` is (D, F) | (..., F) |
# | activation, element by element | (..., F) |
# | out, `W_2` is (F, D) | (..., D) |
#
# ```python
# >>> params = {"W_1": np.array([[1.0, -1.0]]), "b_1": np.array([0.0, 0.5]), "W_2": np.array([[2.0], [3.0]])}
# >>> out, cache = ffn(np.array([[1.0], [-1.0]]), params, activation="relu")
# >>> out
# array([[2. ],
#        [4.5]])
#
# ```
#
# By hand, for the second row: hidden is (-1, 1 + 0.5), ReLU turns it into (0, 1.5), and 2 · 0 + 3 · 1.5 = 4.5. There is
# no `b_2`: a bias that is absent from the dictionary is not added.

# %%
def ffn(x, params, activation="gelu"):
    """Apply the position-wise feed-forward network (Vaswani et al. 2017, section 3.3).

        out = activation(x W_1 + b_1) W_2 + b_2

    Args:
        x: (..., D).
        params: `W_1` (D, F), `b_1` (F,), `W_2` (F, D), `b_2` (D,). Each bias may be absent.
        activation: "gelu" (the tanh form) or "relu".

    Returns:
        out: (..., D), in the dtype of the inputs.
        cache: what `ffn_backward` needs; its contents are up to you.

    Raises:
        ValueError: if `activation` is neither "gelu" nor "relu".
    """
    raise NotImplementedError("ffn.ffn")


# %% [markdown]
# ## `ffn_backward`
#
# *20 min, needs some thought*
#
# Take the same three steps in the opposite order, each with a backward function that you already have. Each needs
# `dout` and what *its own* forward function got. Fill in the table on paper before you write any code:
#
# | step, from the end | gets | needs from the cache | gives |
# |---|---|---|---|
# | second linear layer | `dout` (..., D) | its input and `W_2` | gradient of its input (..., F), `W_2`, `b_2` |
# | activation | gradient of its output (..., F) | ? | ? |
# | first linear layer | ? | ? | dx (..., D), `W_1`, `b_1` |
#
# ```python
# >>> dx, grads = ffn_backward(np.array([[1.0], [1.0]]), cache)
# >>> dx
# array([[ 2.],
#        [-3.]])
# >>> sorted(grads)
# ['W_1', 'W_2', 'b_1']
# >>> grads["W_2"]
# array([[1. ],
#        [1.5]])
#
# ```

# %%
def ffn_backward(dout, cache):
    """Return the gradients of `ffn`.

    Args:
        dout: gradient with respect to the output, (..., D).
        cache: the cache that `ffn` returned. It is not changed: a second call returns the same result.

    Returns:
        dx: gradient with respect to `x`, (..., D), in the dtype of the inputs.
        grads: dict with the same keys as `params`; each gradient has the shape and dtype of its parameter.
    """
    raise NotImplementedError("ffn.ffn_backward")


# %% [markdown]
# ## On paper
#
# 1. A linear layer has W = [[1, 2], [0, 1]]. Two rows go in, (1, 0) and (2, 3), and `dout` is [[1, 0], [0, 1]]. Compute
#    dx, dW and db.
# 2. The sigmoid in GELU's gate, $\sigma(z) = 1 / (1 + e^{-z})$, has a derivative that needs no new exponential: write
#    it with $\sigma(z)$ alone. (The derivative of $1/a$ is $-1/a^2$.)
# 3. With ReLU, `ffn` is called with a single row x for which all F values of hidden are negative. Which of the
#    gradients are 0: dx, those of `W_1`, `b_1`, `W_2`, `b_2`?

# %% [markdown]
# ## Answers on paper
#
# **1. The bias gets (1, 1).** Row n of dx is a sum over the outputs: (1, 0) for the first row, and (2, 1) for the
# second. dW collects both rows: the first, (1, 0), has `dout` only in output 0, and the second, (2, 3), only in
# output 1. db adds up each column of `dout`.
#
# ```python
# >>> dx, dW, db = linear_backward(np.eye(2), np.array([[1.0, 0.0], [2.0, 3.0]]), np.array([[1.0, 2.0], [0.0, 1.0]]))
# >>> dx
# array([[1., 0.],
#        [2., 1.]])
# >>> dW
# array([[1., 2.],
#        [0., 3.]])
# >>> db
# array([1., 1.])
#
# ```
#
# **2. It is the sigmoid times one minus the sigmoid.** With $a = 1 + e^{-z}$, the derivative is $e^{-z} / a^2$. One
# factor $1/a$ is $\sigma(z)$, and $e^{-z}/a = 1 - \sigma(z)$. So it is $\sigma(z)\,(1 - \sigma(z))$, at most ¼, at z =
# 0.
#
# ```python
# >>> def sigmoid(z):
# ...     return 1 / (1 + math.exp(-z))
# >>> round((sigmoid(2 + 1e-6) - sigmoid(2 - 1e-6)) / 2e-6, 6), round(sigmoid(2) * (1 - sigmoid(2)), 6)
# (0.104994, 0.104994)
#
# ```
#
# **3. All except that of `b_2`.** ReLU is shut, so nothing goes back to hidden, and dx, `W_1` and `b_1` get nothing.
# The gradient of `W_2` is made of the activated values, which are all 0. Only `b_2` is added after the gate.
#
# ```python
# >>> shut = {"W_1": np.ones((2, 3)), "b_1": np.full(3, -9.0), "W_2": np.ones((3, 2)), "b_2": np.zeros(2)}
# >>> out, cache = ffn(np.ones((1, 2)), shut, activation="relu")
# >>> dx, grads = ffn_backward(np.ones((1, 2)), cache)
# >>> [name for name, grad in (grads | {"x": dx}).items() if grad.any()]
# ['b_2']
#
# ```

# %% [markdown]
# ## What could go wrong
#
# The report quotes these mistakes when it recognizes them.
#
# - `gelu`: **the exact GELU with erf was used, not the tanh form.** The two never differ by more than 0.0005. GPT-2 was
#   trained with the tanh form.
# - `gelu_backward`: **the gate was treated as a constant: only (1 + tanh u)/2 is left.** GELU is x times a gate that
#   depends on x, so the product rule gives two terms.
# - `dropout`: **the kept values were divided by p instead of 1 - p.** With p = 0.5 the mistake stays hidden.
# - `dropout`: **values were dropped although training is false.** After training the predictions would then be random,
#   and worse.
# - `ffn_backward`: **the slope of the activation was taken at its output instead of its input.** ReLU hides it, because
#   its output is positive exactly where its input is. GELU does not.

# %% [markdown]
# ## Try it
#
# ReLU stops a gradient completely where its input is negative. If that is so for *every* input, the feature is called
# dead. Here is a network of 64 features that starts with biases of −2: nearly all features are below 0 for all inputs
# between −1 and 1. It should learn the curve sin 3x in 1,000 steps, with ReLU and with GELU, from the same start.
#
# **Guess first.** How many features are silent (never above 0) at the end? And which of the two learns the curve?
#
# Run it: `headway experiment ffn`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    x = np.linspace(-1, 1, 101)[:, None]  # (101, 1)
    y = np.sin(3 * x)

    def start(bias):
        rng = np.random.default_rng(0)
        params = {"W_1": rng.normal(size=(1, 64)), "b_1": np.full(64, bias)}
        return params | {"W_2": rng.normal(size=(64, 1)) / 8, "b_2": np.zeros(1)}

    def learn(params, activation, steps, rate):
        for _ in range(steps):
            out, cache = ffn(x, params, activation)
            _, grads = ffn_backward(2 * (out - y) / len(x), cache)  # the loss is the mean of (out - y)²
            params = {name: value - rate * grads[name] for name, value in params.items()}
        return params

    for activation in ("relu", "gelu"):
        for steps in (0, 1000):
            params = learn(start(-2.0), activation, steps, rate=0.1)
            silent = (linear(x, params["W_1"], params["b_1"]) <= 0).all(axis=0).sum()
            error = ((ffn(x, params, activation)[0] - y) ** 2).mean()
            print(f"{activation} after {steps:4} steps: {silent} of 64 silent, error {error:.3f}")


# %% [markdown]
# ## What came out
#
# ```text
# relu after    0 steps: 63 of 64 silent, error 0.518
# relu after 1000 steps: 63 of 64 silent, error 0.137
# gelu after    0 steps: 63 of 64 silent, error 0.452
# gelu after 1000 steps: 60 of 64 silent, error 0.003
# ```
#
# With ReLU, a dead feature stays dead: no input opens its gate, so no gradient ever reaches its bias. The network has
# to use the one feature that is alive. With GELU, most features stay below 0, too, but to the left of 0, GELU has a
# slope and a dip that can be used. (Below −5 or so, it is nearly as flat as ReLU.)
#
# 1. For how many of the 64 features is the gradient of `W_1` exactly 0 at this start, with ReLU and with GELU?
# 2. Real networks do not start with biases of −2. How do features die in practice? Start with biases of 0, and take ten
#    steps with a learning rate of 1 instead of 0.1.

# %% [markdown]
# ## Answers
#
# **1. For the silent ones with ReLU, for none with GELU.**
#
# ```python
# >>> for activation in ("relu", "gelu"):
# ...     out, cache = ffn(x, start(-2.0), activation)
# ...     _, grads = ffn_backward(2 * (out - y) / len(x), cache)
# ...     print(activation, (grads["W_1"] == 0).sum())
# relu 63
# gelu 0
#
# ```
#
# **2. Steps that are too long kill them.** A few such steps push all features below 0, and there is no way back:
#
# ```python
# >>> for rate in (0.1, 1.0):
# ...     params = learn(start(0.0), "relu", 10, rate)
# ...     print(rate, (linear(x, params["W_1"], params["b_1"]) <= 0).all(axis=0).sum())
# 0.1 1
# 1.0 64
#
# ```

# %% [markdown]
# ## In your own GPT
#
# After you have trained your GPT (`headway train`, in the assignment `training`), see what this part does:
# `headway plot ffn-hidden`.
#
# In this plot of a small model trained on names, each dot is one feature at one position. Most outputs are small, a few
# are large, and no straight line would predict them.
#
# ![Input and output of a feed-forward network as dots: most outputs are near 0, some are far from
# it.](figures/ffn-scatter.svg)

# %% [markdown]
# ## Going faster
#
# Skip this until your code is correct. Both activations are x times a gate, and the backward pass needs the gate again.
# A tanh is expensive, so `ffn` keeps the gate in the cache: with $s = \sigma(2u)$, question 2 on paper gives
# $s'(x) = s\,(1 - s) \cdot 2\,du/dx$, without a new tanh.
#
# One large product of all rows is usually faster than a small one for each text. And a product with a vector of ones
# usually sums the rows faster than `sum`:
#
# ```python
# >>> rows = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
# >>> np.ones(2) @ rows, rows.sum(axis=0)
# (array([5., 7., 9.]), array([5., 7., 9.]))
#
# ```
