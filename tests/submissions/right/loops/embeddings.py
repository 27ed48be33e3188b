"""One number after the other."""

import math

import numpy as np


def _dtype(a):
    return a.dtype if a.dtype.kind == "f" else np.dtype(float)


def _check(index, size):
    if not 0 <= index < size:
        raise ValueError(f"there is no token {index} in a vocabulary of {size}")


def one_hot(ids, vocab_size):
    ids = np.asarray(ids)
    out = np.zeros(ids.shape + (vocab_size,))
    for place in np.ndindex(ids.shape):
        _check(ids[place], vocab_size)
        out[place + (ids[place],)] = 1
    return out


def embed_tokens(ids, W_tok):
    ids, W_tok = np.asarray(ids), np.asarray(W_tok)
    out = np.empty(ids.shape + W_tok.shape[1:], _dtype(W_tok))
    for place in np.ndindex(ids.shape):
        _check(ids[place], len(W_tok))
        out[place] = W_tok[ids[place]]
    return out


def embed_tokens_backward(dout, ids, vocab_size):
    dout, ids = np.asarray(dout), np.asarray(ids)
    dW = np.zeros((vocab_size, dout.shape[-1]), _dtype(dout))
    for place in np.ndindex(ids.shape):
        _check(ids[place], vocab_size)
        dW[ids[place]] += dout[place]
    return dW


def sinusoidal_positions(length, d_model):
    table = np.zeros((length, d_model))
    for pos in range(length):
        for column in range(d_model):
            angle = pos / math.pow(10000, (column - column % 2) / d_model)
            table[pos, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def embed(ids, W_tok, W_pos, scale=1.0):
    out, W_pos = embed_tokens(ids, W_tok), np.asarray(W_pos)
    if out.shape[-2] > len(W_pos):
        raise ValueError("not enough positions")
    for t in range(out.shape[-2]):
        out[..., t, :] = scale * out[..., t, :] + W_pos[t]
    return out
