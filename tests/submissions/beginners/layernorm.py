"""Wrong answers to `layernorm` as beginners write them; the docstring is what the report should call them."""

import numpy as np

from softmax import as_float

def layernorm__std(x, gamma, beta, eps=1e-5):
    """eps-outside-root"""
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, keepdims=True) + eps) + beta

def layernorm__unbiased(x, gamma, beta, eps=1e-5):
    """unbiased-variance"""
    var = x.var(axis=-1, keepdims=True, ddof=1)
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(var + eps) + beta

def layernorm__keepdims(x, gamma, beta, eps=1e-5):
    """keepdims-missing"""
    return gamma * (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + eps) + beta

def layernorm__second_axis(x, gamma, beta, eps=1e-5):
    """second-axis"""
    mean = x.mean(axis=1, keepdims=True)
    var = x.var(axis=1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta

def layernorm__everything(x, gamma, beta, eps=1e-5):
    """all-axes"""
    return gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta

def layernorm__variance(x, gamma, beta, eps=1e-5):
    """no-root"""
    mean = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    return gamma * (x - mean) / (var + eps) + beta

def layernorm__std_no_eps(x, gamma, beta, eps=1e-5):
    """no-eps"""
    mean = np.mean(x, axis=-1, keepdims=True)
    std = np.std(x, axis=-1, keepdims=True)
    return gamma * ((x - mean) / std) + beta

def layernorm__first_axis(x, gamma, beta, eps=1e-5):
    """first-axis"""
    mean = np.mean(x, axis=0)
    var = np.var(x, axis=0)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta

def layernorm_backward__first_axis_sum(dout, x, gamma, eps=1e-5):
    """summed-over-one-axis"""
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    std = np.sqrt(var + eps)
    xhat = (x - mean) / std
    g = dout * gamma
    dx = (g - g.mean(axis=-1, keepdims=True) - xhat * (g * xhat).mean(axis=-1, keepdims=True)) / std
    return dx, (dout * xhat).sum(axis=0), dout.sum(axis=0)

def layernorm_backward__direct(dout, x, gamma, eps=1e-5):
    """direct-path-only"""
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    std = np.sqrt(var + eps)
    xhat = (x - mean) / std
    d = x.shape[-1]
    return dout * gamma / std, (dout * xhat).reshape(-1, d).sum(axis=0), dout.reshape(-1, d).sum(axis=0)

def layernorm_backward__direct_and_one_axis(dout, x, gamma, eps=1e-5):
    """direct-path-only summed-over-one-axis"""
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    std = np.sqrt(var + eps)
    xhat = (x - mean) / std
    return dout * gamma / std, (dout * xhat).sum(axis=0), dout.sum(axis=0)

def layernorm_backward__no_gain(dout, x, gamma, eps=1e-5):
    """gain-missing"""
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    std = np.sqrt(var + eps)
    xhat = (x - mean) / std
    d = x.shape[-1]
    dx = (dout - dout.mean(axis=-1, keepdims=True) - xhat * (dout * xhat).mean(axis=-1, keepdims=True)) / std
    return dx, (dout * xhat).reshape(-1, d).sum(axis=0), dout.reshape(-1, d).sum(axis=0)

def rmsnorm__mean(x, gamma, eps=1e-5):
    """mean-subtracted"""
    x = x - x.mean(axis=-1, keepdims=True)
    return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)

def rmsnorm_backward__direct(dout, x, gamma, eps=1e-5):
    """direct-path-only"""
    r = np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    return dout * gamma / r, (dout * x / r).reshape(-1, x.shape[-1]).sum(axis=0)

def layernorm__one_pass(x, gamma, beta, eps=1e-5):
    """one-pass-variance"""
    x = as_float(x)
    mean = x.mean(-1, keepdims=True)
    var = (x**2).mean(-1, keepdims=True) - mean**2
    return gamma * (x - mean) / np.sqrt(var + eps) + beta

def layernorm_backward__one_pass(dout, x, gamma, eps=1e-5):
    """one-pass-variance"""
    x, dout = as_float(x), as_float(dout)
    d = x.shape[-1]
    mean = x.mean(-1, keepdims=True)
    std = np.sqrt((x**2).mean(-1, keepdims=True) - mean**2 + eps)
    n = (x - mean) / std
    g = dout * gamma
    dx = (g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True)) / std
    return dx, (dout * n).reshape(-1, d).sum(0), dout.reshape(-1, d).sum(0)

def layernorm__ddof_eps_outside(x, gamma, beta, eps=1e-5):
    """eps-outside-root unbiased-variance"""
    return gamma * (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True, ddof=1) + eps) + beta

@variants(
    var_plus_eps_squared=("eps-squared", "(-1, keepdims=True) + eps", "(-1, keepdims=True)**2 + eps**2"),
    max_eps=("eps-as-smallest", "sqrt(x.std(-1, keepdims=True) + eps)", "maximum(x.std(-1, keepdims=True), eps)"),
)
def layernorm__sqrt_of_std(x, gamma, beta, eps=1e-5):
    """root-of-standard-deviation"""
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.std(-1, keepdims=True) + eps) + beta

def layernorm__gamma_axis(x, gamma, beta, eps=1e-5):
    """gain-as-column"""
    n = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return gamma[:, None] * n + beta[:, None]

def layernorm__one_plus_gain(x, gamma, beta, eps=1e-5):
    """one-plus-gain"""
    n = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return (1 + gamma) * n + beta

def layernorm__axes12(x, gamma, beta, eps=1e-5):
    """axes-without-batch"""
    ax = tuple(range(1, x.ndim))
    n = (x - x.mean(ax, keepdims=True)) / np.sqrt(x.var(ax, keepdims=True) + eps)
    return gamma * n + beta

def layernorm__float64(x, gamma, beta, eps=1e-5):
    """float64"""
    x = np.asarray(x, dtype=np.float64)
    n = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return gamma.astype(np.float64) * n + beta

def layernorm_backward__batchnorm_formula(dout, x, gamma, eps=1e-5):
    """divided-by-rows"""
    N = x.shape[0]
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    xh = (x - mean) / np.sqrt(var + eps)
    dxh = dout * gamma
    D = x.shape[-1]
    dvar = (dxh * (x - mean) * -0.5 * (var + eps) ** -1.5).sum(-1, keepdims=True)
    dmean = (-dxh / np.sqrt(var + eps)).sum(-1, keepdims=True)
    dx = dxh / np.sqrt(var + eps) + dvar * 2 * (x - mean) / N + dmean / N
    return dx, (dout * xh).reshape(-1, D).sum(0), dout.reshape(-1, D).sum(0)

@variants(
    dvar_power=("two-divisions-missing-in-variance-path", "0.5 * (var + eps) ** -1", "-0.5 * (var + eps) ** -0"),
    dvar_no_two=("square-without-factor", "* 0.5 *", "* -0.5 *", "2 * (x - mean)", "(x - mean)"),
)
def layernorm_backward__dvar_sign(dout, x, gamma, eps=1e-5):
    """variance-sign"""
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    xh = (x - mean) / np.sqrt(var + eps)
    dxh = dout * gamma
    D = x.shape[-1]
    dvar = (dxh * (x - mean) * 0.5 * (var + eps) ** -1.5).sum(-1, keepdims=True)
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

def layernorm_backward__dbeta_of_a_vector(dout, x, gamma, eps=1e-5):
    """one-number-for-a-vector-of-dbeta"""
    lead = tuple(range(dout.ndim - 1))
    mu, v = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    xn = (x - mu) / np.sqrt(v + eps)
    g = dout * gamma
    dx = (g - g.mean(-1, keepdims=True) - xn * (g * xn).mean(-1, keepdims=True)) / np.sqrt(v + eps)
    return dx, (dout * xn).sum(axis=lead), dout.sum(axis=lead or None)

def layernorm_backward__gain_in_one_term(dout, x, gamma, eps=1e-5):
    """gain-missing-in-variance"""
    s = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
    xn = (x - x.mean(-1, keepdims=True)) * s
    g = gamma * dout
    dx = s * (g - g.mean(-1, keepdims=True) - xn * (dout * xn).mean(-1, keepdims=True))
    d = x.shape[-1]
    return dx, (dout * xn).reshape(-1, d).sum(0), dout.reshape(-1, d).sum(0)

def layernorm_backward__loop_keeps_the_last(dout, x, gamma, eps=1e-5):
    """last-text-only-of-dgamma"""
    s = np.sqrt(x.var(-1, keepdims=True) + eps)
    xn = (x - x.mean(-1, keepdims=True)) / s
    g = gamma * dout
    dx = (g - g.mean(-1, keepdims=True) - xn * (g * xn).mean(-1, keepdims=True)) / s
    texts = (dout * xn)[None] if x.ndim < 3 else dout * xn
    for text in texts:
        dgamma = text.reshape(-1, x.shape[-1]).sum(0)
    return dx, dgamma, dout.reshape(-1, x.shape[-1]).sum(0)

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

def rmsnorm__default(x, gamma, eps=1e-6):
    """default-of-eps"""
    x = as_float(x)
    return gamma * x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)

def rmsnorm_backward__eps_outside_and_x(dout, x, gamma, eps=1e-5):
    """eps-outside-root dgamma-from-x"""
    d = x.shape[-1]
    r = np.sqrt((x * x).mean(-1, keepdims=True)) + eps
    g = dout * gamma
    dx = (g - x / r * (g * x / r).mean(-1, keepdims=True)) / r
    return dx, (dout * x).reshape(-1, d).sum(0)
