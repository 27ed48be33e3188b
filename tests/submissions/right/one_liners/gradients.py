"""As short as it goes."""

import numpy as np


def numerical_gradient(f, x, eps=1e-6):
    x, at = np.float64(x), np.arange(np.size(x)).reshape(np.shape(x))
    return np.reshape([(f(x + eps * (at == k)) - f(x - eps * (at == k))) / eps / 2 for k in range(at.size)], x.shape)


def sum_to_shape(grad, shape):
    return grad.sum(tuple(i - grad.ndim for i in range(grad.ndim) if ((1,) * grad.ndim + shape)[i - grad.ndim] == 1)).reshape(shape)


def matmul_backward(dout, a, b):
    return sum_to_shape(dout @ b.mT, a.shape), sum_to_shape(a.mT @ dout, b.shape)


OPS = {"add": (np.add, lambda d, o, a, b: [d, d]), "mul": (np.multiply, lambda d, o, a, b: [d * b, d * a]),
       "matmul": (np.matmul, lambda d, o, a, b: matmul_backward(d, a, b)), "tanh": (np.tanh, lambda d, o, a: [d * (1 - o * o)]),
       "exp": (np.exp, lambda d, o, a: [d * o]), "log": (np.log, lambda d, o, a: [d / a]), "sum": (np.sum, lambda d, o, a: [d + 0 * a])}


def tape_values(tape, inputs):
    if unknown := {op for op, _ in tape} - set(OPS): raise ValueError(*unknown)
    return tape_values(tape[1:], [*inputs, OPS[tape[0][0]][0](*[inputs[i] for i in tape[0][1]])]) if tape else list(inputs)


def tape_gradients(tape, inputs):
    values = tape_values(tape, inputs)
    if np.size(values[-1]) > 1: raise ValueError("not a scalar")
    grads = [v * 0 for v in values[:-1]] + [values[-1] ** 0]
    for k in range(len(values))[:len(inputs) - 1:-1]:
        for i, part in zip(tape[k - len(inputs)][1], OPS[tape[k - len(inputs)][0]][1](grads[k], values[k], *[values[j] for j in tape[k - len(inputs)][1]])):
            grads[i] = grads[i] + sum_to_shape(part, values[i].shape)
    return grads[:len(inputs)]
