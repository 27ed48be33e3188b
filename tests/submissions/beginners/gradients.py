"""Wrong answers to `gradients` as beginners write them; the docstring is what the report should call them."""

import numpy as np

from gradients import OPERATIONS, matmul_backward, numerical_gradient, sum_to_shape, tape_values

@variants(
    forward=("forward-difference", "(f(up) - f(down)) / (2 * eps)", "(f(up) - f(x)) / eps"),
    no_two=("divided-by-one-step", "/ (2 * eps)", "/ eps"), parentheses=("precedence", "/ (2 * eps)", "/ 2 * eps"),
    integers=("dtype-of-x", "np.array(x, dtype=float)", "np.array(x)", "np.zeros(x.shape)", "np.zeros_like(x)"),
    same_array=("points-are-one-array", "x.copy(), x.copy()", "x, x"),
    enumerate=("rows-at-once", "np.ndindex(x.shape)", "range(x.shape[0])"),
    own_step=("step-always-1e-5", "x = np.array", "eps = 1e-5\n    x = np.array"),
)
def numerical_gradient__right(f, x, eps=1e-6):
    """base"""
    x = np.array(x, dtype=float)
    grad = np.zeros(x.shape)
    for idx in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[idx] += eps
        down[idx] -= eps
        grad[idx] = (f(up) - f(down)) / (2 * eps)
    return grad

@variants(
    not_put_back=("entry-not-restored", "np.asarray(x", "np.array(x", "flat[i] += eps\n        out", "out"),
)
def numerical_gradient__flat_loop_in_place(f, x, eps=1e-6):
    """restored-by-arithmetic"""
    x = np.asarray(x, dtype=np.float64)
    grad = np.zeros_like(x)
    flat, out = x.reshape(-1), grad.reshape(-1)
    for i in range(flat.size):
        flat[i] += eps
        up = f(x)
        flat[i] -= 2 * eps
        down = f(x)
        flat[i] += eps
        out[i] = (up - down) / (2 * eps)
    return grad

def numerical_gradient__everything(f, x, eps=1e-6):
    """all-entries-at-once"""
    return (f(np.asarray(x, float) + eps) - f(np.asarray(x, float) - eps)) / (2 * eps)

@variants(
    one_axis=("one-added-axis-only", "while grad", "if grad"),
    mean=("mean-not-sum", "grad.sum(axis=0)", "grad.mean(axis=0)", "grad.sum(axis=i", "grad.mean(axis=i"),
    growing_axis=(
        "axes-shift-in-the-loop", "while grad.ndim > len(shape)", "for axis in range(grad.ndim - len(shape))",
        "grad.sum(axis=0)", "grad.sum(axis=axis)",
    ),
)
def sum_to_shape__right(grad, shape):
    """base"""
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for i, n in enumerate(shape):
        if n == 1:
            grad = grad.sum(axis=i, keepdims=True)
    return grad

def sum_to_shape__no_keepdims(grad, shape):
    """axes-dropped"""
    extra = len(grad.shape) - len(shape)
    axes = [i for i in range(extra)] + [i + extra for i, n in enumerate(shape) if n == 1]
    return np.sum(grad, axis=tuple(axes))

def sum_to_shape__only_front(grad, shape):
    """repeated-not-summed"""
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    return grad

def sum_to_shape__everything(grad, shape):
    """whole-sum-if-broadcast"""
    if grad.shape == shape:
        return grad
    return np.ones(shape, grad.dtype) * grad.sum()

def sum_to_shape__keepdims_everywhere(grad, shape):
    """axes-kept"""
    extra = grad.ndim - len(shape)
    full = (1,) * extra + tuple(shape)
    for i, n in enumerate(full):
        if n == 1:
            grad = grad.sum(axis=i, keepdims=True)
    return grad

@variants(
    no_transpose=(
        "both-not-transposed", "dout @ b.swapaxes(-1, -2)", "dout @ b", "a.swapaxes(-1, -2) @ dout", "a @ dout",
    ),
    big_t=("both-all-axes-reversed", "b.swapaxes(-1, -2)", "b.T", "a.swapaxes(-1, -2)", "a.T"),
    no_sum=("both-not-summed", "sum_to_shape(da, a.shape), sum_to_shape(db, b.shape)", "da, db"),
    exchanged=(
        "results-exchanged",
        "sum_to_shape(da, a.shape), sum_to_shape(db, b", "sum_to_shape(db, b.shape), sum_to_shape(da, a",
    ),
    order_of_db=("db-order", "a.swapaxes(-1, -2) @ dout", "dout @ a.swapaxes(-1, -2)"),
)
def matmul_backward__right(dout, a, b):
    """base"""
    da = dout @ b.swapaxes(-1, -2)
    db = a.swapaxes(-1, -2) @ dout
    return sum_to_shape(da, a.shape), sum_to_shape(db, b.shape)

def matmul_backward__first_axis(dout, a, b):
    """both-first-axis-summed"""
    da = dout @ np.swapaxes(b, -1, -2)
    db = np.swapaxes(a, -1, -2) @ dout
    if da.ndim > a.ndim:
        da = da.sum(0)
    if db.ndim > b.ndim:
        db = db.sum(0)
    return da, db

@variants(
    alias=("inputs-appended-to", "list(inputs)", "inputs"),
    no_check=(
        "key-error", 'if op not in OPERATIONS:\n            raise ValueError(f"unknown operation {op!r}")\n        ', "",
    ),
    results_only=("inputs-left-out", "return values", "return values[len(inputs):]"),
    last_axis=(
        "operation-1-sum", "OPERATIONS[op](*[values[i] for i in arguments])",
        'values[arguments[0]].sum(-1) if op == "sum" else OPERATIONS[op](*[values[i] for i in arguments])',
    ),
    if_chain=(
        "operation-22-matmul", "OPERATIONS[op](*[values[i]",
        '(np.dot if op == "matmul" else OPERATIONS[op])(*[values[i]',
    ),
)
def tape_values__right(tape, inputs):
    """base"""
    values = list(inputs)
    for op, arguments in tape:
        if op not in OPERATIONS:
            raise ValueError(f"unknown operation {op!r}")
        values.append(OPERATIONS[op](*[values[i] for i in arguments]))
    return values

def _contributions(op, dout, out, used):
    if op == "add":
        return [dout, dout]
    if op == "mul":
        return [dout * used[1], dout * used[0]]
    if op == "matmul":
        return matmul_backward(dout, *used)
    if op == "tanh":
        return [dout * (1 - out**2)]
    if op == "exp":
        return [dout * out]
    if op == "log":
        return [dout / used[0]]
    return [dout * np.ones_like(used[0])]

@variants(
    overwrites=("overwritten", "grads[i] = grads[i] + sum_to_shape", "grads[i] = sum_to_shape"),
    forward=("forward-order last-step-only", "reversed(range(len(tape)))", "range(len(tape))"),
    no_broadcast=(
        "not-summed any-last-value-accepted", "sum_to_shape(part, values[i].shape)", "part",
        'if values[-1].shape != ():\n        raise ValueError("not a scalar")\n    ', "",
    ),
    tanh_of_input=("tanh-of-argument", "values[n], [", 'values[args[0]] if op == "tanh" else values[n], ['),
)
def tape_gradients__right(tape, inputs):
    """base"""
    values = tape_values(tape, inputs)
    if values[-1].shape != ():
        raise ValueError("not a scalar")
    grads = [np.zeros_like(v) for v in values]
    grads[-1] = np.ones_like(values[-1])
    for k in reversed(range(len(tape))):
        op, args = tape[k]
        n = len(inputs) + k
        for i, part in zip(args, _contributions(op, grads[n], values[n], [values[i] for i in args])):
            grads[i] = grads[i] + sum_to_shape(part, values[i].shape)
    return grads[: len(inputs)]

def tape_gradients__dictionary(tape, inputs):
    """unused-are-numbers"""
    values = tape_values(tape, inputs)
    if values[-1].shape != ():
        raise ValueError("not a scalar")
    grads = {len(values) - 1: np.ones_like(values[-1])}
    for k in reversed(range(len(tape))):
        op, args = tape[k]
        n = len(inputs) + k
        if n in grads:
            for i, part in zip(args, _contributions(op, grads[n], values[n], [values[i] for i in args])):
                grads[i] = grads.get(i, 0.0) + sum_to_shape(part, values[i].shape)
    return [grads.get(i, 0.0) for i in range(len(inputs))]

def tape_gradients__in_place_first(tape, inputs):
    """shared-arrays"""
    values = tape_values(tape, inputs)
    if values[-1].shape != ():
        raise ValueError("not a scalar")
    grads = [None] * len(values)
    grads[-1] = np.ones_like(values[-1])
    for k in reversed(range(len(tape))):
        op, args = tape[k]
        n = len(inputs) + k
        if grads[n] is None:
            continue
        for i, part in zip(args, _contributions(op, grads[n], values[n], [values[i] for i in args])):
            if np.shape(part) != np.shape(values[i]):
                part = sum_to_shape(part, values[i].shape)
            if grads[i] is None:
                grads[i] = part
            else:
                grads[i] += part
    return [np.zeros_like(x) if g is None else g for g, x in zip(grads, inputs)]

def tape_gradients__by_quotients(tape, inputs):
    """difference-quotient"""
    if tape_values(tape, inputs)[-1].shape != ():
        raise ValueError("not a scalar")
    grads = []
    for k in range(len(inputs)):
        f = lambda x: tape_values(tape, inputs[:k] + [x] + inputs[k + 1 :])[-1]
        grads.append(numerical_gradient(f, inputs[k]))
    return grads
