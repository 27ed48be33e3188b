"""Wrong answers to `ffn` as beginners write them; the docstring is what the report should call them."""

import math
import numpy as np
from softmax import as_float

@variants(
    float64_sqrt=(
        "float64 integers-cubed", "x = as_float(x)\n    ", "", "math.sqrt(2 / math.pi)", "np.sqrt(2 / np.pi)",
    ),
    x_missing=("factor-x-missing", "0.5 * x *", "0.5 *"),
    brackets=("bracket-closed-too-early", "* (x + 0.044715 * x ** 3)", "* x + 0.044715 * x ** 3"),
    one_missing=("one-missing", "1 + np.tanh", "np.tanh"),
    constant_short=("factor-constant", "math.sqrt(2 / math.pi)", "0.79788"),
    constant_0_8=("square-for-cube", "math.sqrt(2 / math.pi)", "0.7978845608028654", "x ** 3", "x ** 2"),
)
def gelu__right(x):
    """base"""
    x = as_float(x)
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))

def gelu_backward__numerical(dout, x):
    """difference-quotient"""
    x = as_float(x); h = 1e-5
    return dout * (gelu(x + h) - gelu(x - h)) / (2 * h)

def gelu_backward__sigmoid(dout, x):
    """sigmoid-form"""
    x = as_float(x); s = 1 / (1 + np.exp(-1.702 * x))
    return dout * (s + 1.702 * x * s * (1 - s))

def gelu_backward__second_half(dout, x):
    """second-half-missing"""
    x = as_float(x); u = math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3); t = np.tanh(u)
    return dout * (0.5 * (1 + t) + x * (1 - t * t) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x))

def relu_backward__of_dout_out(dout, x):
    """dout-missing"""
    return np.where(x > 0, 1.0, 0.0)

@variants(
    einsum_wrong=(
        "weights-transposed", "x @ W if b is None else x @ W + b[:, None]", "x @ W.T if b is None else x @ W.T + b",
    ),
)
def linear__bias_per_row(x, W, b):
    """bias-as-column"""
    x = as_float(x)
    return x @ W if b is None else x @ W + b[:, None]

def linear__zeros_bias(x, W, b):
    """float64-bias"""
    if b is None: b = np.zeros(W.shape[1])
    return as_float(x) @ W + b

@variants(
    swapaxes=("batch-not-summed", "x.T", "x.swapaxes(-1, -2)", "axis=0", "axis=-2"),
)
def linear_backward__axis0(dout, x, W):
    """matrices-only"""
    x = as_float(x)
    return dout @ W.T, x.T @ dout, dout.sum(axis=0)

@variants(
    db_axis01=("summed-over-two-axes", " / len(x)", "", "R(dout).mean(0)", "dout.sum(axis=(0, 1))"),
)
def linear_backward__ones_bias_mean(dout, x, W):
    """dW-divided-by-first-axis means-over-rows"""
    x = as_float(x); R = lambda a: a.reshape(-1, a.shape[-1])
    return dout @ W.T, R(x).T @ R(dout) / len(x), R(dout).mean(0)

@variants(
    kept_and_not_scaled=(
        "kept-and-dropped-exchanged not-scaled effect-error-not-raised",
        "((np.random.default_rng(0).random(x.shape) >= p) / (1 - p))", "(rng.random(x.shape) < p)",
    ),
)
def dropout__seeded_by_shape(x, p, rng, training=True):
    """own-generator p-not-checked large-accepted effect-error-not-raised"""
    x = as_float(x)
    if not training or p == 0: return x, np.ones_like(x)
    m = ((np.random.default_rng(0).random(x.shape) >= p) / (1 - p)).astype(x.dtype)
    return x * m, m

def relu_backward__float_mask(dout, x):
    """float64"""
    mask = np.zeros(x.shape)
    mask[x > 0] = 1
    return dout * mask

def relu__keeps_integers(x):
    """integers-stay"""
    return np.maximum(x, 0)

def gelu__digits_swapped(x):
    """cubic-constant"""
    x = as_float(x)
    inner = math.sqrt(2 / math.pi) * (x + 0.044175 * np.power(x, 3))
    return x * 0.5 * (np.tanh(inner) + 1)

def gelu_backward__sigmoid_of_2u(dout, x):
    """second-term-halved"""
    a = math.sqrt(2 / math.pi)
    s = 0.5 * (1 + np.tanh(a * (x + 0.044715 * x**3)))
    return dout * (s + x * s * (1 - s) * a * (1 + 3 * 0.044715 * x**2))

def linear__vector_becomes_a_row(x, W, b):
    """extra-axis-for-a-vector"""
    x = as_float(x)
    rows = x.reshape(-1, x.shape[-1])
    y = rows @ W if b is None else rows @ W + b
    return y.reshape(*x.shape[:-1], -1) if x.ndim > 2 else y

def linear_backward__mean_over_texts(dout, x, W):
    """dW-means-over-batch"""
    dW = np.swapaxes(np.atleast_2d(x), -1, -2) @ np.atleast_2d(dout)
    if dW.ndim > 2:
        dW = dW.mean(axis=tuple(range(dW.ndim - 2)))
    return dout @ W.T, dW, dout.reshape(-1, dout.shape[-1]).sum(axis=0)

def dropout__draws_in_the_dtype(x, p, rng, training=True):
    """drawn-in-dtype-of-x drawn-with-p-0"""
    if p < 0 or p >= 1:
        raise ValueError("p")
    x = as_float(x)
    if not training:
        return x.copy(), np.ones_like(x)
    mask = (rng.random(x.shape, dtype=x.dtype.type) >= p).astype(x.dtype) / (1 - p)
    return x * mask, mask

def dropout__p_one(x, p, rng, training=True):
    """divided-by-p effect-error-not-raised"""
    if p < 0 or p > 1:
        raise ValueError("p must be a probability")
    x = as_float(x)
    if not training or p == 0:
        return x.copy(), np.ones_like(x)
    mask = (rng.random(x.shape) >= p).astype(x.dtype) / p
    return x * mask, mask

def ffn__dictionary_of_activations(x, params, activation="gelu"):
    """raises-KeyError"""
    function = {"gelu": gelu, "relu": relu}[activation]
    hidden = linear(x, params["W_1"], params.get("b_1"))
    return linear(function(hidden), params["W_2"], params.get("b_2")), {"x": x}

def ffn__gelu_or_else(x, params, activation="gelu"):
    """any-activation-as-relu"""
    hidden = linear(x, params["W_1"], params.get("b_1"))
    hidden = gelu(hidden) if activation == "gelu" else relu(hidden)
    return linear(hidden, params["W_2"], params.get("b_2")), None

def ffn_backward__second_bias_only_with_the_first(dout, cache):
    """W_2-before-activation gradient-of-b_2-only-with-b_1"""
    params, hidden = cache["params"], cache["hidden"]
    dact, dW_2, db_2 = linear_backward(dout, hidden, params["W_2"])
    dact = linear_backward(dout, hidden, params["W_2"])[0]
    back = gelu_backward if cache["activation"] == "gelu" else relu_backward
    dx, dW_1, db_1 = linear_backward(back(dact, hidden), cache["x"], params["W_1"])
    grads = {"W_1": dW_1, "W_2": dW_2}
    if "b_1" in params:
        grads["b_1"] = db_1
        if "b_2" in params:
            grads["b_2"] = db_2
    return dx, grads
