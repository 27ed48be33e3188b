"""Entry by entry, in plain Python: lists of numbers, recursion instead of a tape that is run backwards."""

import itertools
import math

import numpy as np


def numerical_gradient(f, x, eps=1e-6):
    numbers = np.array(x, dtype=float)
    result = []
    for k in range(numbers.size):
        moved = []
        for step in (eps, -eps):
            copy = numbers.flatten()
            copy[k] += step
            moved.append(float(f(copy.reshape(numbers.shape))))
        result.append((moved[0] - moved[1]) / (eps + eps))
    return np.array(result, dtype=float).reshape(numbers.shape)


def sum_to_shape(grad, shape):
    added = grad.ndim - len(shape)
    out = np.zeros(shape, dtype=grad.dtype)
    groups = {}
    for place in itertools.product(*map(range, grad.shape)):
        target = tuple(0 if length == 1 else i for i, length in zip(place[added:], shape))
        groups.setdefault(target, []).append(float(grad[place]))
    for target, numbers in groups.items():
        out[target] = math.fsum(numbers)
    return out


def matmul_backward(dout, a, b):
    batch = dout.shape[:-2]
    wide_a = np.broadcast_to(a, batch + a.shape[-2:])
    wide_b = np.broadcast_to(b, batch + b.shape[-2:])
    da, db = np.zeros(wide_a.shape, dtype=dout.dtype), np.zeros(wide_b.shape, dtype=dout.dtype)
    for at in np.ndindex(batch):
        for i, j, k in itertools.product(range(a.shape[-2]), range(b.shape[-1]), range(a.shape[-1])):
            da[at][i, k] += dout[at][i, j] * wide_b[at][k, j]
            db[at][k, j] += dout[at][i, j] * wide_a[at][i, k]
    return sum_to_shape(da, a.shape), sum_to_shape(db, b.shape)


def tape_values(tape, inputs):
    values = [*inputs]
    for op, arguments in tape:
        used = [values[i] for i in arguments]
        if op == "add":
            value = used[0] + used[1]
        elif op == "mul":
            value = used[0] * used[1]
        elif op == "matmul":
            value = used[0] @ used[1]
        elif op == "tanh":
            value = np.tanh(used[0])
        elif op == "exp":
            value = np.exp(used[0])
        elif op == "log":
            value = np.log(used[0])
        elif op == "sum":
            value = used[0].sum()
        else:
            raise ValueError("there is no operation " + op)
        values += [value]
    return values


def tape_gradients(tape, inputs):
    values = tape_values(tape, inputs)
    if values[-1].ndim:
        raise ValueError("not a scalar")
    known = {}

    def gradient(number):
        """The sum over all uses of a number, each by the gradient of the entry that uses it."""
        if number in known:
            return known[number]
        total = np.zeros_like(values[number])
        if number == len(values) - 1:
            total = total + np.ones_like(values[-1])
        for entry, (op, arguments) in enumerate(tape):
            for position, argument in enumerate(arguments):
                if argument == number:
                    total = total + contribution(op, arguments, position, len(inputs) + entry)
        known[number] = total
        return total

    def contribution(op, arguments, position, result):
        dout, used = gradient(result), [values[i] for i in arguments]
        if op == "matmul":
            return matmul_backward(dout, *used)[position]
        if op == "add":
            factor = np.ones_like(values[result])
        elif op == "mul":
            factor = used[1 - position]
        elif op == "tanh":
            factor = 1 / np.cosh(used[0]) ** 2
        elif op == "exp":
            factor = np.exp(used[0])
        elif op == "log":
            factor = 1 / used[0]
        else:
            factor = np.ones_like(used[0])
        return sum_to_shape(np.asarray(dout * factor), used[position].shape)

    return [gradient(number) for number in range(len(inputs))]
