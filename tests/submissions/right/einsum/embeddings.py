"""Everything as a sum over named indices."""

import numpy as np


def _float(a):
    a = np.asarray(a)
    return a if np.issubdtype(a.dtype, np.floating) else a.astype(float)


def one_hot(ids, vocab_size):
    ids = np.asarray(ids)
    if ids.min(initial=0) < 0 or ids.max(initial=0) >= vocab_size:
        raise ValueError("token id out of range")
    return np.eye(vocab_size)[ids]


def embed_tokens(ids, W_tok):
    W_tok = _float(W_tok)
    hot = one_hot(ids, W_tok.shape[0]).astype(W_tok.dtype)
    return np.einsum("...v,vd->...d", hot, W_tok)


def embed_tokens_backward(dout, ids, vocab_size):
    dout = _float(dout)
    hot = one_hot(ids, vocab_size).astype(dout.dtype)
    width = dout.shape[-1]
    return np.einsum("nv,nd->vd", hot.reshape(-1, vocab_size), dout.reshape(-1, width))


def sinusoidal_positions(length, d_model):
    pairs = (d_model + 1) // 2
    frequencies = np.exp(-np.log(10000.0) * 2 * np.arange(pairs) / d_model)
    angles = np.einsum("t,i->ti", np.arange(length), frequencies)
    both = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (T, pairs, 2)
    return both.reshape(length, 2 * pairs)[:, :d_model]


def embed(ids, W_tok, W_pos, scale=1.0):
    T = np.asarray(ids).shape[-1]
    if T > len(W_pos):
        raise ValueError("the text is longer than the table of positions")
    out = embed_tokens(ids, W_tok)
    out *= scale
    out += _float(W_pos)[:T]
    return out
