"""Tables as objects, behind the functions of the contract."""

import numpy as np


class Vocabulary:
    def __init__(self, size):
        self.size = size

    def require(self, ids):
        ids = np.array(ids)
        if not np.logical_and(ids >= 0, ids < self.size).all():
            raise ValueError(f"ids must lie between 0 and {self.size - 1}")
        return ids

    def one_hot(self, ids):
        ids = self.require(ids)
        out = np.zeros((ids.size, self.size))
        out[np.arange(ids.size), ids.ravel()] = 1.0
        return out.reshape(*ids.shape, self.size)


class Table:
    def __init__(self, weights):
        weights = np.array(weights)
        self.weights = weights if weights.dtype.kind == "f" else weights.astype(np.float64)

    def __call__(self, ids):
        return np.take(self.weights, Vocabulary(len(self.weights)).require(ids), axis=0)

    @staticmethod
    def backward(dout, ids, vocab_size):
        dout = np.asarray(dout)
        gradient = Table(np.zeros((vocab_size, dout.shape[-1]), dout.dtype)).weights
        np.add.at(gradient, Vocabulary(vocab_size).require(ids), dout)
        return gradient


class Waves(Table):
    """e^{i angle}: the sine is its imaginary part, the cosine the real one."""

    def __init__(self, length, d_model):
        exponents = np.arange((d_model + 1) // 2) * 2.0 / d_model
        turning = np.exp(1j * np.arange(length)[:, None] * np.power(10000.0, -exponents))
        table = np.zeros((length, turning.shape[1] * 2))
        table[:, ::2], table[:, 1::2] = turning.imag, turning.real
        super().__init__(table[:, :d_model])


def one_hot(ids, vocab_size):
    return Vocabulary(vocab_size).one_hot(ids)


def embed_tokens(ids, W_tok):
    return Table(W_tok)(ids)


def embed_tokens_backward(dout, ids, vocab_size):
    return Table.backward(dout, ids, vocab_size)


def sinusoidal_positions(length, d_model):
    return Waves(length, d_model).weights


def embed(ids, W_tok, W_pos, scale=1.0):
    positions = np.arange(np.shape(ids)[-1])
    return np.add(np.multiply(Table(W_tok)(ids), scale), Table(W_pos)(positions))
