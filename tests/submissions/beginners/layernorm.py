"""Wrong answers to `layernorm` as beginners write them; the docstring is what the report should call them."""

import numpy as np

from softmax import as_float

@variants(
    std=("eps-outside-root", "np.sqrt(var + eps)", "(np.sqrt(var) + eps)"),
    std_no_eps=("no-eps", "var + eps", "var"),
    sqrt_of_std=("root-of-standard-deviation", "var + eps", "np.sqrt(var) + eps"),
    var_plus_eps_squared=("eps-squared", "var + eps", "var + eps**2"),
    max_eps=("eps-as-smallest", "np.sqrt(var + eps)", "np.maximum(np.sqrt(var), eps)"),
    variance=("no-root", "np.sqrt(var + eps)", "(var + eps)"),
    unbiased=("unbiased-variance", "x.var(axis=-1", "x.var(ddof=1, axis=-1"),
    ddof_eps_outside=(
        "eps-outside-root unbiased-variance", "x.var(axis=-1", "x.var(ddof=1, axis=-1",
        "np.sqrt(var + eps)", "(np.sqrt(var) + eps)",
    ),
    one_pass=("one-pass-variance", "x.var(axis=-1, keepdims=True)", "(x**2).mean(axis=-1, keepdims=True) - mean**2"),
    keepdims=(
        "keepdims-missing", "x.mean(axis=-1, keepdims=True)", "x.mean(-1)",
        "x.var(axis=-1, keepdims=True)", "x.var(-1)",
    ),
    first_axis=("first-axis", "x.mean(axis=-1", "x.mean(axis=0", "x.var(axis=-1", "x.var(axis=0"),
    second_axis=("second-axis", "x.mean(axis=-1", "x.mean(axis=1", "x.var(axis=-1", "x.var(axis=1"),
    axes12=(
        "axes-without-batch", "mean = x.mean(axis=-1", "axes = tuple(range(1, x.ndim))\n    mean = x.mean(axis=axes",
        "x.var(axis=-1", "x.var(axis=axes",
    ),
    everything=("all-axes", "x.mean(axis=-1", "x.mean(axis=None", "x.var(axis=-1", "x.var(axis=None"),
    gamma_axis=("gain-as-column", "gamma *", "gamma[:, None] *", "+ beta", "+ beta[:, None]"),
    one_plus_gain=("one-plus-gain", "gamma *", "(1 + gamma) *"),
    float64=("float64", "mean = x", "x = np.asarray(x, dtype=np.float64)\n    mean = x"),
)
def layernorm__right(x, gamma, beta, eps=1e-5):
    """base"""
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta

def _rows(a): return a.reshape(-1, a.shape[-1])

@variants(
    first_axis_sum=("summed-over-one-axis", "_rows(dout * n).sum(0), _rows(dout)", "(dout * n).sum(0), dout"),
    direct=("direct-path-only", "dx = g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True)", "dx = g"),
    direct_and_one_axis=(
        "direct-path-only summed-over-one-axis", "_rows(dout * n).sum(0), _rows(dout)", "(dout * n).sum(0), dout",
        "dx = g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True)", "dx = g",
    ),
    no_gain=("gain-missing", "g = dout * gamma", "g = dout"),
    gain_in_one_term=("gain-missing-in-variance", "(g * n).mean", "(dout * n).mean"),
    one_pass=("one-pass-variance", "x.var(-1, keepdims=True)", "(x**2).mean(-1, keepdims=True) - mean**2"),
    dbeta_of_a_vector=(
        "one-number-for-a-vector-of-dbeta", "_rows(dout).sum(0)", "dout.sum(axis=tuple(range(dout.ndim - 1)) or None)",
    ),
    loop_keeps_the_last=(
        "last-text-only-of-dgamma", "_rows(dout * n)", "_rows((dout * n)[-1] if x.ndim > 2 else dout * n)",
    ),
)
def layernorm_backward__right(dout, x, gamma, eps=1e-5):
    """base"""
    mean = x.mean(-1, keepdims=True)
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    n = (x - mean) / std
    g = dout * gamma
    dx = g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True)
    return dx / std, _rows(dout * n).sum(0), _rows(dout).sum(0)

def rmsnorm__mean(x, gamma, eps=1e-5):
    """mean-subtracted"""
    x = x - x.mean(axis=-1, keepdims=True)
    return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)

def rmsnorm_backward__direct(dout, x, gamma, eps=1e-5):
    """direct-path-only"""
    r = np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    return dout * gamma / r, (dout * x / r).reshape(-1, x.shape[-1]).sum(axis=0)

@variants(
    batchnorm_formula=("divided-by-rows", "(x - mean) / D + dmean / D", "(x - mean) / len(x) + dmean / len(x)"),
    dvar_sign=("variance-sign", "-0.5", "0.5"), dvar_power=("two-divisions-missing-in-variance-path", "-1.5", "-0.5"),
    dvar_no_two=("square-without-factor", "2 * (x - mean)", "(x - mean)"),
)
def layernorm_backward__by_mean_and_variance(dout, x, gamma, eps=1e-5):
    """base"""
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    xh = (x - mean) / np.sqrt(var + eps)
    dxh = dout * gamma
    D = x.shape[-1]
    dvar = (dxh * (x - mean) * -0.5 * (var + eps) ** -1.5).sum(-1, keepdims=True)
    dmean = (-dxh / np.sqrt(var + eps)).sum(-1, keepdims=True)
    dx = dxh / np.sqrt(var + eps) + dvar * 2 * (x - mean) / D + dmean / D
    return dx, (dout * xh).reshape(-1, D).sum(0), dout.reshape(-1, D).sum(0)

@variants(
    keepdims=("keepdims-missing", "x.std(-1, keepdims=True)", "np.sqrt(np.mean(x**2, axis=-1) + eps)"),
    std=("variance-for-square", "x.std(-1, keepdims=True)", "np.sqrt(x.var(-1, keepdims=True) + eps)"),
    std_plus_eps=("standard-deviation-plus-eps", "x.std(-1, keepdims=True)", "(x.std(-1, keepdims=True) + eps)"),
    norm=("sum-for-mean", "x.std(-1, keepdims=True)", "np.sqrt((as_float(x)**2).sum(-1, keepdims=True) + eps)"),
    norm_plus_eps=("length", "x.std(-1, keepdims=True)", "(np.linalg.norm(x, axis=-1, keepdims=True) + eps)"),
    first_axis=("first-axis", "x.std(-1, keepdims=True)", "np.sqrt((as_float(x)**2).mean(0) + eps)"),
    all=("all-axes", "x.std(-1, keepdims=True)", "np.sqrt((as_float(x)**2).mean() + eps)"),
    eps_fixed=("eps-always", "x.std(-1, keepdims=True)", "np.sqrt((as_float(x)**2).mean(-1, keepdims=True) + 1e-5)"),
)
def rmsnorm__std_no_eps(x, gamma, eps=1e-5):
    """standard-deviation"""
    return gamma * x / x.std(-1, keepdims=True)

def rmsnorm_backward__layernorm(dout, x, gamma, eps=1e-5):
    """layer-normalization"""
    x, dout = as_float(x), as_float(dout)
    d = x.shape[-1]
    mean = x.mean(-1, keepdims=True)
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    n = (x - mean) / std
    g = dout * gamma
    dx = (g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True)) / std
    return dx, (dout * n).reshape(-1, d).sum(0)

def rmsnorm_backward__square(dout, x, gamma, eps=1e-5):
    """one-division-missing-in-second-term"""
    d = x.shape[-1]
    r = np.sqrt((as_float(x)**2).mean(-1, keepdims=True) + eps)
    g = dout * gamma
    dx = g / r - x * (g * x).mean(-1, keepdims=True) / r**2
    return dx, (dout * x / r).reshape(-1, d).sum(0)

def layernorm_backward__numerical_sum(dout, x, gamma, eps=1e-5):
    """difference-quotient"""
    h = 1e-4
    x = as_float(x)
    f = lambda z, g: np.sum(g * (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + eps) * dout)
    dx = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        p, m = x.copy(), x.copy(); p[i] += h; m[i] -= h
        dx[i] = (f(p, gamma) - f(m, gamma)) / 2 / h
    n = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return dx, (dout * n).reshape(-1, x.shape[-1]).sum(0), dout.reshape(-1, x.shape[-1]).sum(0)

def layernorm_backward__two_axes(dout, x, gamma, eps=1e-5):
    """two-axes-expected"""
    N, D = x.shape
    s = np.sqrt(x.var(1, keepdims=True) + eps)
    xn = (x - x.mean(1, keepdims=True)) / s
    g = gamma * dout
    dx = (D * g - g.sum(1, keepdims=True) - xn * (g * xn).sum(1, keepdims=True)) / (D * s)
    return dx, (dout * xn).sum(0), dout.sum(0)

def layernorm__bias_first_and_integers(x, gamma, beta, eps=1e-5):
    """bias-inside-gain integers-truncated"""
    dtype = np.asarray(x).dtype
    x = as_float(x)
    xn = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return (gamma * (xn + beta)).astype(dtype)

def rmsnorm_backward__eps_outside_and_x(dout, x, gamma, eps=1e-5):
    """eps-outside-root dgamma-from-x"""
    d = x.shape[-1]
    r = np.sqrt((x * x).mean(-1, keepdims=True)) + eps
    g = dout * gamma
    dx = (g - x / r * (g * x / r).mean(-1, keepdims=True)) / r
    return dx, (dout * x).reshape(-1, d).sum(0)
