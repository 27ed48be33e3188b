"""Wrong answers to assignment 6 as beginners write them; the docstring is what the report should call them."""

import numpy as np


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
    """direct-path-only"""
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


def rmsnorm__keepdims(x, gamma, eps=1e-5):
    """keepdims-missing"""
    return gamma * x / np.sqrt(np.mean(x**2, axis=-1) + eps)


def rmsnorm_backward__direct(dout, x, gamma, eps=1e-5):
    """direct-path-only"""
    r = np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    return dout * gamma / r, (dout * x / r).reshape(-1, x.shape[-1]).sum(axis=0)
