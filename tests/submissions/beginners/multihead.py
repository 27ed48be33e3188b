"""Wrong answers to assignment 5 as beginners write them; the docstring is what the report should call them."""

import numpy as np

from attention import attention
from multihead import merge_heads, split_heads


def split_heads__reshape(x, n_heads):
    """reshaped-without-exchange"""
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


def split_heads__three_axes(x, n_heads):
    """one-batch-axis-only"""
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads).transpose(0, 2, 1, 3)


def split_heads__not_exchanged(x, n_heads):
    """not-exchanged"""
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads)


def split_heads__list(x, n_heads):
    """-"""
    return np.split(x, n_heads, axis=-1)


def merge_heads__reshape(x):
    """reshaped-without-exchange"""
    B, H, T, K = x.shape
    return x.reshape(B, T, H * K)


def merge_heads__four_axes(x):
    """one-batch-axis-only"""
    B, H, T, K = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, H * K)


def multihead_attention__three_axes(x, params, n_heads, mask=None, memory=None):
    """memory-ignored"""
    B, T, D = x.shape
    qkv = x @ params["W_qkv"] + params["b_qkv"]
    q, k, v = qkv[..., :D], qkv[..., D : 2 * D], qkv[..., 2 * D :]
    out, w = attention(split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads), mask)
    return merge_heads(out) @ params["W_o"] + params["b_o"], {"weights": w}


def multihead_attention__no_output_projection(x, params, n_heads, mask=None, memory=None):
    """no-output-projection"""
    D = x.shape[-1]
    b = params.get("b_qkv", np.zeros(3 * D))
    source = x if memory is None else memory
    q = x @ params["W_qkv"][:, :D] + b[:D]
    k = source @ params["W_qkv"][:, D : 2 * D] + b[D : 2 * D]
    v = source @ params["W_qkv"][:, 2 * D :] + b[2 * D :]
    out, w = attention(split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads), mask)
    return merge_heads(out), {"weights": w}


def multihead_attention__biases_required(x, params, n_heads, mask=None, memory=None):
    """input-bias-required"""
    D = x.shape[-1]
    b = params["b_qkv"]
    source = x if memory is None else memory
    q = x @ params["W_qkv"][:, :D] + b[:D]
    k = source @ params["W_qkv"][:, D : 2 * D] + b[D : 2 * D]
    v = source @ params["W_qkv"][:, 2 * D :] + b[2 * D :]
    out, w = attention(split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads), mask)
    return merge_heads(out) @ params["W_o"] + params["b_o"], {"weights": w}


def multihead_attention__memory_ignored(x, params, n_heads, mask=None, memory=None):
    """memory-ignored"""
    D = x.shape[-1]
    qkv = x @ params["W_qkv"] + params.get("b_qkv", 0)
    q, k, v = np.split(qkv, 3, axis=-1)
    out, w = attention(split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads), mask)
    return merge_heads(out) @ params["W_o"] + params.get("b_o", 0), {"weights": w}
