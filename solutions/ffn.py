"""Assignment 7: linear layers, activations, dropout and the feed-forward network, forward and backward."""

# %% [markdown]
# # The feed-forward network: what each position does on its own
#
# Attention moves information *between* positions: it averages what others have to say. What is missing is somebody who
# does something with it. The other half of a transformer works on every position alone: widen the vector from D to F
# features (usually F = 4 D), bend it with a nonlinear function, the **activation**, and bring it back to D. That is the
# **feed-forward network**.
#
# $$\mathrm{ffn}(x) = \mathrm{activation}(x W_1 + b_1)\, W_2 + b_2$$
#
# ```text
#     x (B, T, D)       ── W_1, b_1 ───>  hidden (B, T, F)     wider
#     hidden (B, T, F)  ── activation ─>  (B, T, F)            bent
#     (B, T, F)         ── W_2, b_2 ───>  out (B, T, D)        as wide as before
# ```
#
# (Vaswani et al. 2017, section 3.3.) Without the bend, two linear layers in a row would be no more than one. We build
# the parts first, each with its backward pass, and put them together at the end.

# %%
import math

import numpy as np
from softmax import as_float

# %% [markdown]
# ## `relu`
#
# The simplest bend there is, the **ReLU** (rectified linear unit): keep what is positive, replace the rest by 0 (Nair
# and Hinton 2010). It is the activation of the first transformer.
#
# ```python
# >>> relu(np.array([-2.0, -0.5, 0.0, 3.0]))
# array([0., 0., 0., 3.])
#
# ```


# %%
def relu(x):
    """Rectified linear unit, max(x, 0), element by element (Nair and Hinton 2010).

    Args:
        x: any shape. Integers are computed in float64.

    Returns:
        Same shape and dtype as `x`.
    """
    return np.maximum(as_float(x), 0)


# %% [markdown]
# ## `relu_backward`
#
# Where the input was positive, the output moves exactly with it, and the gradient passes. Elsewhere nothing moves, and
# the gradient stops. At 0 itself there is a corner and no derivative; like PyTorch, we say 0.
#
# ```python
# >>> relu_backward(np.array([10.0, 20.0, 30.0, 40.0]), np.array([-2.0, -0.5, 0.0, 3.0]))
# array([ 0.,  0.,  0., 40.])
#
# ```


# %%
def relu_backward(dout, x):
    """Gradient of `relu(x)`: `dout` where x > 0, else 0 (also at x = 0).

    Args:
        dout: gradient with respect to the output, same shape as `x`.
        x: what went in, any shape.

    Returns:
        Gradient with respect to `x`, same shape as `x`, same dtype as `dout`.
    """
    return as_float(dout) * (as_float(x) > 0)


# %% [markdown]
# ## `gelu`: one function, two formulas
#
# ReLU decides by the sign alone: pass or stop. The **GELU** (Gaussian error linear unit) opens the gate gradually. It
# multiplies x by $\Phi(x)$, the probability that a standard normal random number is smaller than x:
#
# $$\mathrm{GELU}(x) = x\, \Phi(x) = \frac{x}{2} \Big( 1 + \mathrm{erf}\Big( \frac{x}{\sqrt 2} \Big) \Big)$$
#
# (Hendrycks and Gimpel 2016, section 2.) A large x passes whole, a very negative one is stopped, and a small negative
# one leaks through:
#
# ```python
# >>> gelu_exact(np.array([-3.0, -1.0, 0.0, 1.0, 3.0])).round(4)
# array([-0.004 , -0.1587,  0.    ,  0.8413,  2.996 ])
#
# ```
#
# When GELU was new the error function, erf, was slow, so the same paper gives an approximation with tanh. GPT-2 was
# trained with that one, and we use it everywhere under the plain name `gelu`:
#
# $$\mathrm{gelu}(x) = \frac{x}{2} \Big( 1 + \tanh\Big( \sqrt{2/\pi}\, \big( x + 0.044715\, x^3 \big) \Big) \Big)$$
#
# ```python
# >>> gelu(np.array([-3.0, -1.0, 0.0, 1.0, 3.0])).round(4)
# array([-0.0036, -0.1588,  0.    ,  0.8412,  2.9964])
#
# ```
#
# The two are never more than 0.0005 apart. That is little enough to look the same in a plot and too much to reproduce
# somebody's numbers with. Beware of the names: in PyTorch `F.gelu(x)` is the exact form and
# `F.gelu(x, approximate="tanh")` the other.
#
# ```python
# >>> x = np.linspace(-5, 5, 1001)
# >>> round(float(np.abs(gelu(x) - gelu_exact(x)).max()), 5)
# 0.00047
#
# ```
#
# ### Two ways to make it fast
#
# **Powers.** `x**3` calls the general power function: it takes some forty times longer than `x * x * x`.
#
# **The gate.** The function $\sigma(z) = \frac{1}{1 + e^{-z}}$, the **sigmoid**, rises from 0 to 1. Because
# $\frac12 (1 + \tanh u) = \sigma(2u)$, the whole of GELU is x times a gate $\sigma(2u)$, and one `np.exp` is cheaper
# than one `np.tanh`. It is the same function: codes that write it in one way or the other agree to the last digits. Do
# mind large $-2u$: the exponential overflows to infinity. The gate is then 0, which is right, but NumPy warns about it;
# `np.errstate` is there to say that you know. (Some codes have a third GELU, $x\, \sigma(1.702\, x)$. That one is *not*
# the same: it is off by 0.02 at worst.)
#
# ```python
# >>> round(float(np.abs(x / (1 + np.exp(-1.702 * x)) - gelu_exact(x)).max()), 2)
# 0.02
#
# ```
#
# See it: `headway plot activations` (before your function is written, with `--solution`).

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("activations", globals())


# %%
_SLOPE = math.sqrt(2 / math.pi)  # Python floats: they do not turn float32 into float64
_CUBIC = 0.044715


def _gelu_gate(x):
    """(1 + tanh u) / 2 = 1 / (1 + exp(-2u)), with u = √(2/π) (x + 0.044715 x³): how far the gate is open."""
    gate = np.empty_like(x)
    with np.errstate(over="ignore"):  # exp overflows to infinity where the gate is shut: 1 / infinity is right
        np.multiply(x, x, out=gate)
        gate *= -2 * _SLOPE * _CUBIC
        gate -= 2 * _SLOPE
        gate *= x  # -2u
        np.exp(gate, out=gate)
    gate += 1
    return np.reciprocal(gate, out=gate)


def _gelu_backward(dout, x, gate):
    """Gradient of x * gate(x), with the gate at hand: dout * gate * (1 + x (1 - gate) d(2u)/dx)."""
    dx = np.empty_like(x)
    np.multiply(x, x, out=dx)
    dx *= 6 * _SLOPE * _CUBIC
    dx += 2 * _SLOPE  # d(2u)/dx
    dx *= x
    dx *= 1 - gate
    dx += 1
    dx *= gate
    dx *= dout
    return dx


def gelu(x):
    """Gaussian error linear unit in its tanh form, element by element (Hendrycks and Gimpel 2016, section 2).

        gelu(x) = x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))

    This is `F.gelu(x, approximate="tanh")` of PyTorch, and what GPT-2 uses.

    Args:
        x: any shape. Integers are computed in float64.

    Returns:
        Same shape and dtype as `x`.
    """
    x = as_float(x)
    return x * _gelu_gate(x)


# %% [markdown]
# ## `gelu_exact`
#
# NumPy has no error function. Python has one that takes one number at a time, `math.erf`, and `np.vectorize` turns it
# into a function on arrays: slow, and good enough for comparing. Give it `otypes`, or it fails on an array without
# elements.


# %%
_erf = np.vectorize(math.erf, otypes=[np.float64])


def gelu_exact(x):
    """Gaussian error linear unit, element by element (Hendrycks and Gimpel 2016, section 2).

        gelu_exact(x) = x Φ(x) = x/2 (1 + erf(x / √2))

    This is `F.gelu(x)` of PyTorch.

    Args:
        x: any shape, also without elements. Integers are computed in float64.

    Returns:
        Same shape and dtype as `x`.
    """
    x = as_float(x)
    phi = 0.5 * (1 + _erf(x / math.sqrt(2)))  # float64, the normal distribution function
    return (x * phi).astype(x.dtype)


# %% [markdown]
# ## `gelu_backward`
#
# The derivative of the tanh form. The product rule gives two terms: one for the x in front, one for the x inside. Write
# $u = \sqrt{2/\pi}\,(x + 0.044715\,x^3)$ and remember that the derivative of $\tanh u$ is $1 - \tanh^2 u$:
#
# $$\frac{d\,\mathrm{gelu}}{dx} = \frac{1 + \tanh u}{2} + \frac{x}{2} \big( 1 - \tanh^2 u \big) \frac{du}{dx}
#   \qquad \frac{du}{dx} = \sqrt{2/\pi}\, \big( 1 + 3 \cdot 0.044715\, x^2 \big)$$
#
# With the gate $s = \sigma(2u)$ it reads $s\, \big( 1 + x\, (1 - s) \cdot 2\, du/dx \big)$.
#
# ```python
# >>> gelu_backward(np.ones(5), np.array([-3.0, -1.0, 0.0, 1.0, 3.0])).round(4)
# array([-0.0116, -0.083 ,  0.5   ,  1.083 ,  1.0116])
#
# ```
#
# The slope is 0.5 at 0, goes a little above 1 to the right, and is negative on the left: GELU goes down before it goes
# up.


# %%
def gelu_backward(dout, x):
    """Gradient of `gelu(x)`, the tanh form.

        dx = dout * ((1 + tanh u)/2 + x/2 (1 - tanh² u) du/dx)
        u = √(2/π) (x + 0.044715 x³)      du/dx = √(2/π) (1 + 3 · 0.044715 x²)

    Args:
        dout: gradient with respect to the output, same shape as `x`.
        x: what went in, any shape.

    Returns:
        Gradient with respect to `x`, same shape and dtype as `x`.
    """
    x = as_float(x)
    return _gelu_backward(dout, x, _gelu_gate(x))


# %% [markdown]
# ## `linear`
#
# An activation has no parameters. The linear layers on both sides of it have: every output is a weighted sum of all
# inputs, plus a bias. You wrote two of them inside `multihead_attention`; here the layer gets a function of its own.
# Our matrices are stored `(in, out)`, so that the code reads like the formula; PyTorch's `nn.Linear` stores the
# transpose, `(out, in)`.
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
# The leading axes of x are only a list of vectors. One large product of `(N, D_in)` with `(D_in, D_out)` is faster than
# the stack of small ones that NumPy computes for a 3-D `x`: flatten, multiply, and give the result its shape back.


# %%
def linear(x, W, b):
    """Linear layer x W + b on the last axis.

    Args:
        x: (..., D_in). Integers are computed in float64.
        W: weights, (D_in, D_out).
        b: bias, (D_out,), or None for a layer without bias.

    Returns:
        (..., D_out), same dtype as `x`.
    """
    x = as_float(x)
    d_in, d_out = W.shape
    out = x.reshape(-1, d_in) @ W  # (N, D_out)
    if b is not None:
        out += b
    return out.reshape(*x.shape[:-1], d_out)


# %% [markdown]
# ## `linear_backward`
#
# The formulas are those of the last function of assignment 5. Given `dout`, the gradient with respect to $y$, with all
# leading axes flattened to N rows:
#
# $$dx = dout\, W^\top \qquad dW = x^\top dout \qquad db = \sum_{rows} dout$$
#
# If you forget them, look at the shapes: `(N, D_out)` and `(D_in, D_out)` only fit together in one way that gives
# `(N, D_in)`. And a `db` that still has N rows is the mistake to look for.
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
    """Gradients of `linear(x, W, b)`; they do not depend on `b`.

        dx = dout Wᵀ        dW = xᵀ dout        db = Σ_rows dout

    Args:
        dout: gradient with respect to the output, (..., D_out).
        x: what went in, (..., D_in).
        W: weights, (D_in, D_out).

    Returns:
        dx: (..., D_in).
        dW: (D_in, D_out), summed over all leading axes.
        db: (D_out,), summed over all leading axes (ignore it if there was no bias).
    """
    x = as_float(x)
    d_in, d_out = W.shape
    dout_rows = as_float(dout).reshape(-1, d_out)  # (N, D_out)
    dx = (dout_rows @ W.T).reshape(x.shape)
    dW = x.reshape(-1, d_in).T @ dout_rows
    db = np.ones(len(dout_rows), dtype=dout_rows.dtype) @ dout_rows  # the sum over the rows, faster than .sum(axis=0)
    return dx, dW, db


# %% [markdown]
# ## `dropout`
#
# A wide network learns small texts by heart. One remedy is **dropout**: while training, set every value to 0 with
# probability p, at random and anew at every step. No feature can then rely on one particular other feature being there
# (Srivastava et al. 2014, section 4).
#
# The values that survive are divided by 1 - p. On average the output is then the same as the input, and when training
# is over dropout simply does nothing:
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
# This is called *inverted* dropout, and every framework does it this way. The original paper did not scale while
# training and multiplied the parameters by the keep probability afterwards (its section 10 describes the inversion). It
# also calls the probability of *keeping* a value p; ours, like PyTorch's, is the probability of *dropping* it.
#
# The first transformer and the first GPT drop one value in ten (Vaswani et al. 2017, section 5.4; Radford et al. 2018,
# section 4.1). The GPT of this course trains without dropout, so that it can be compared with PyTorch digit by digit.


# %%
def dropout(x, p, rng, training=True):
    """Inverted dropout (Srivastava et al. 2014, sections 4 and 10): out = x * mask.

    A value is kept where `rng.random(x.shape)` is at least `p`; so one seed drops the same places everywhere.

    Args:
        x: any shape. Integers are computed in float64.
        p: probability of dropping a value, 0 ≤ p < 1.
        rng: a `numpy.random.Generator`. Nothing is drawn from it if `training` is false or `p` is 0.
        training: if false, nothing is dropped.

    Returns:
        out: same shape and dtype as `x`.
        mask: same shape and dtype as `x`: 0 where the value was dropped, 1 / (1 - p) where it was kept. All ones if
            `training` is false or `p` is 0.

    Raises:
        ValueError: if `p` is not in [0, 1).
    """
    if not 0 <= p < 1:
        raise ValueError(f"p must be in [0, 1), got {p}")
    x = as_float(x)
    mask = np.ones_like(x)
    if training and p > 0:
        mask *= rng.random(x.shape) >= p
        mask /= 1 - float(p)
    return x * mask, mask


# %% [markdown]
# ## `dropout_backward`
#
# A value that was dropped had no influence, a value that was kept was multiplied by a constant. So the gradient takes
# the same mask: the *same* one, not a new draw.
#
# ```python
# >>> dropout_backward(np.array([1.0, 1.0, 2.0, 2.0]), np.array([2.0, 0.0, 0.0, 2.0]))
# array([2., 0., 0., 4.])
#
# ```


# %%
def dropout_backward(dout, mask):
    """Gradient of `dropout`: dx = dout * mask.

    Args:
        dout: gradient with respect to the output, any shape.
        mask: the mask that `dropout` returned, same shape.

    Returns:
        Gradient with respect to `x`, same shape as `dout`.
    """
    return as_float(dout) * mask


# %% [markdown]
# ## `ffn`
#
# Now put the parts together: linear, activation, linear. As in multi-head attention the parameters travel in one
# dictionary, and output and cache come back.
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
# By hand, for the second row: hidden is (-1, 1 + 0.5), ReLU makes it (0, 1.5), and 2 · 0 + 3 · 1.5 = 4.5. Here D is 1
# and F is 2, and there is no `b_2`: a bias that is not in the dictionary is not added.


# %%
def ffn(x, params, activation="gelu"):
    """Position-wise feed-forward network (Vaswani et al. 2017, section 3.3).

        out = activation(x W_1 + b_1) W_2 + b_2

    Args:
        x: (..., D). Integers are computed in float64.
        params: `W_1` (D, F), `b_1` (F,), `W_2` (F, D), `b_2` (D,). Each bias may be absent.
        activation: "gelu" (the tanh form) or "relu".

    Returns:
        out: (..., D), same dtype as `x`.
        cache: dictionary for `ffn_backward`, with what you like.

    Raises:
        ValueError: if `activation` is neither "gelu" nor "relu".
    """
    if activation not in ("gelu", "relu"):
        raise ValueError(f'activation must be "gelu" or "relu", got {activation!r}')
    x = as_float(x)
    hidden = linear(x, params["W_1"], params.get("b_1"))  # (..., F)
    # Both activations are x times a gate. The backward pass needs the gate again, and GELU's is expensive: keep it.
    gate = _gelu_gate(hidden) if activation == "gelu" else hidden > 0
    activated = hidden * gate
    out = linear(activated, params["W_2"], params.get("b_2"))  # (..., D)
    cache = {
        "x": x,
        "params": dict(params),
        "activation": activation,
        "hidden": hidden,
        "gate": gate,
        "activated": activated,
    }
    return out, cache


# %% [markdown]
# ## `ffn_backward`
#
# The same three steps in the opposite order, each with the backward function that you already have. What comes out has
# a gradient for `x` and one for *every* parameter that was given, under the same names: no bias, no gradient for it.
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
    """Gradients of `ffn`.

    Args:
        dout: gradient with respect to the output, (..., D).
        cache: what `ffn` returned. It is not changed: a second call gives the same answer.

    Returns:
        dx: (..., D).
        grads: dictionary with the same keys and shapes as the parameters.
    """
    params, hidden, gate = cache["params"], cache["hidden"], cache["gate"]
    grads = {}
    dactivated, grads["W_2"], grads["b_2"] = linear_backward(dout, cache["activated"], params["W_2"])
    dhidden = _gelu_backward(dactivated, hidden, gate) if cache["activation"] == "gelu" else dactivated * gate
    dx, grads["W_1"], grads["b_1"] = linear_backward(dhidden, cache["x"], params["W_1"])
    return dx, {name: grads[name] for name in params}


# %% [markdown]
# ## What could go wrong
#
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
#
# - `gelu`: **this is the exact GELU, with erf; the assignment's gelu is the tanh form.** The two are never more than
#   0.0005 apart. GPT-2 was trained with the tanh form.
# - `gelu_backward`: **the gate was taken for a constant: only (1 + tanh u)/2 is left.** GELU is x times a gate that
#   depends on x: the product rule has two terms.
# - `linear_backward`: **db is dout, not summed over the rows.** Every row used the same bias: its gradient has the
#   shape (D_out,). Otherwise b - lr * db broadcasts.
# - `dropout`: **the kept values were divided by p instead of 1 - p.** With p = 0.5 nothing shows.
# - `dropout`: **values are dropped although training is false.** In use the answers would be random, and worse.
# - `ffn`: **there is no activation between the two layers.** Two linear layers in a row are no more than one.
# - `ffn_backward`: **the slope of the activation was taken at its output instead of its input.** ReLU hides it, because
#   its output is positive where its input is. GELU does not.

# %% [markdown]
# ## Try it
#
# ReLU stops a gradient completely where its input is negative. What if that is so for *every* input? Such a feature is
# called dead. Here is a network of 64 features that starts with biases of −2: nearly all features are below 0 for all
# inputs between −1 and 1. It shall learn the curve sin 3x in 1,000 steps, with ReLU and with GELU, from the same start.
#
# **Guess first.** How many features are silent (never above 0) at the end? And which of the two learns the curve?
#
# Run it: `python ffn.py`, or the next cell of the notebook.

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
            _, grads = ffn_backward(2 * (out - y) / len(x), cache)  # of the mean of (out - y)²
            params = {name: value - rate * grads[name] for name, value in params.items()}
        return params

    for activation in ("relu", "gelu"):
        for steps in (0, 1000):
            params = learn(start(-2.0), activation, steps, rate=0.1)
            silent = (linear(x, params["W_1"], params["b_1"]) <= 0).all(axis=0).sum()
            error = ((ffn(x, params, activation)[0] - y) ** 2).mean()
            print(f"{activation} after {steps:4} steps: {silent} of 64 silent, error {error:.4f}")

# %% [markdown]
# ## What came out
#
# ```text
# relu after    0 steps: 63 of 64 silent, error 0.5177
# relu after 1000 steps: 63 of 64 silent, error 0.1366
# gelu after    0 steps: 63 of 64 silent, error 0.4521
# gelu after 1000 steps: 60 of 64 silent, error 0.0028
# ```
#
# With ReLU a dead feature stays dead: no input opens its gate, so no gradient ever reaches its bias. The network makes
# do with the one feature that is alive. With GELU most features stay below 0, too, but they work all the same: left of
# 0 there is a slope, and a dip that can be used. (Far to the left, below −5 or so, GELU is as flat as ReLU.)
#
# 1. For how many of the 64 features is the gradient of `W_1` exactly 0 at this start, with ReLU and with GELU?
# 2. Nobody starts with biases of −2. How do features die in practice? Start with biases of 0, and take ten steps with
#    the rate 1 instead of 0.1.

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
# **2. Steps that are too long kill them.** One of them throws the biases far below 0, and there is no way back:
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
# When your GPT is trained (`headway train`, assignment 10), look at this part at work: `headway plot ffn-hidden`.

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("ffn-hidden", globals())
