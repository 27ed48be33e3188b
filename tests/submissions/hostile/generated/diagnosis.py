"""Wrong answers that would make the search for mistakes slow, end it, or choose what it prints."""

WRONG = "import numpy as np\n\ncalls = 0\n\n\ndef right(x, axis=-1):\n    z = np.asarray(x, float)\n    z = z - z.max(axis, keepdims=True)\n    return z - np.log(np.exp(z).sum(axis, keepdims=True))\n\n\ndef log_softmax(x, axis=-1):\n    global calls\n    calls += 1\n    return {answer}\n"
ANSWERS = {
    "constant_of_each_call": ("Returns another constant in each call.", "np.full(np.shape(x), calls * 1.25)"),
    "random_answers": ("Returns random numbers.", "np.random.default_rng().normal(size=np.shape(x))"),
    "tiny_differences": ("Differs by less than any mistake does, in each element otherwise.", "right(x, axis) * (1 + 1e-6 * np.random.default_rng(1).normal(size=np.shape(x)))"),
    "factor_of_each_call": ("Multiplies the right answer with another factor in each call.", "right(x, axis) * (1 + calls / 7)"),
    "huge_answers": ("Returns numbers whose squares overflow.", "np.full(np.shape(x), 1.7e308) * np.where(np.asarray(x) > 0, 1, -1)"),
    "denormal_answers": ("Returns numbers whose quotients overflow.", "np.full(np.shape(x), 5e-324)"),
    "mixed_infinities": ("Returns NaN, infinities and zeros in turn.", "np.resize([np.nan, np.inf, -np.inf, 0.0, -0.0], np.shape(x))"),
    "complex_answers": ("Returns complex numbers whose real part is right.", "right(x, axis) + 1j"),
    "half_precision": ("Returns the right numbers with three digits.", "right(x, axis).astype('f2')"),
    "whole_numbers": ("Returns huge whole numbers.", "np.full(np.shape(x), 2**63 - 1)"),
    "large_answer": ("Returns two million elements.", "np.ones(2_000_000) * calls"),
    "more_axes_each_call": ("Returns arrays of more axes in each call.", "np.ones((1,) * (8 * calls))"),
    "other_type_each_call": ("Returns a value of another type in each call.", "[None, 'a', 3, {}, (), [1.0], True, 1j, b''][calls % 9]"),
    "two_mistakes_in_turn": ("Makes another known mistake in each call, so that none explains all.", "[np.asarray(x, float), np.exp(right(x, axis)), right(x, 0), -right(x, axis), np.log(np.abs(x) + 1)][calls % 5]"),
    "mistake_of_another_function": ("Gives the answers of another function of the course.", "np.exp(right(x, axis))"),
    "mistake_with_points": ("Returns a list with a mistake's numbers and a request for points.", "[right(x, axis).tolist(), {'mistake': 'BRE' 'ACH'[:0], 'points': 100}]"),
    "wrong_in_one_element": ("Is wrong in one element, in another place in each call.", "np.where(np.arange(np.size(x)).reshape(np.shape(x)) == calls, 0, right(x, axis))"),
    "shifted_rows": ("Moves the right rows, by another number in each call.", "np.roll(right(x, axis), calls) + calls"),
    "documented_error_each_call": ("Raises another exception in each call.", "(_ for _ in ()).throw([ValueError, TypeError, KeyError, NotImplementedError, StopIteration, MemoryError, RecursionError, OSError][calls % 8]('x' * 100_000))"),
    "nested_numbers": ("Returns nested lists of 100,000 numbers.", "[[float(i)] * 10 for i in range(10_000)]"),
    "names_as_numbers": ("Returns texts that look like numbers.", "np.asarray(right(x, axis), str).tolist()"),
}  # fmt: skip
ATTACKS = [
    {"name": f"diagnosis_{name}", "tries": tries, "code": WRONG.replace("{answer}", answer)}
    for name, (tries, answer) in ANSWERS.items()
]
BACKWARD = """
import numpy as np

from softmax import softmax

calls = 0


def layernorm(x, gamma, beta, eps=1e-5):
    x, gamma, beta = (np.asarray(value) for value in (x, gamma, beta))
    deviation = x - x.mean(-1, keepdims=True)
    x_hat = deviation / np.sqrt((deviation**2).mean(-1, keepdims=True) + eps)
    return {forward}


def layernorm_backward(dout, cache):
    global calls
    calls += 1
    shape, width = np.shape(dout), np.shape(dout)[-1]
    chance = np.random.default_rng(calls)
    dx, dgamma, dbeta = chance.normal(size=shape), chance.normal(size=width), np.asarray(dout).reshape(-1, width).sum(0)
    return {answer}
"""
CACHE = "x_hat * gamma + beta, {'x_hat': x_hat, 'gamma': gamma}"
GRADIENTS = {
    "gradients_wrong_by_turns": ("Makes another gradient wrong in each call.", CACHE, "[(dx, dgamma, dbeta), (dx, dbeta, dgamma), (dx * calls, dgamma, dbeta)][calls % 3]"),
    "gradients_of_other_shapes": ("Returns the gradients in other shapes and orders.", CACHE, "dbeta, dx.T, dgamma[:, None]"),
    "gradients_too_large": ("Returns gradients of five megabytes each.", CACHE, "np.ones(600_000), np.ones(600_000), np.ones(600_000)"),
    "gradients_as_a_dictionary": ("Returns the gradients by names that it chose.", CACHE, "{'dx': dx, '\\x1b[31m': dgamma, '__class__': dbeta}"),
    "cache_of_many_keys": ("Returns a cache of 100,000 entries.", "x_hat * gamma + beta, {i: i for i in range(100_000)}", "dx, dgamma, dbeta"),
    "cache_that_changes": ("Returns a cache whose entries are different each time.", "x_hat * gamma + beta, type('Cache', (dict,), {'__getitem__': lambda self, key: np.random.normal(size=9), '__contains__': lambda self, key: True})()", "dx, dgamma, dbeta"),
    "cache_that_loops": ("Returns a cache that contains itself.", "(lambda cache: (x_hat * gamma + beta, cache.__setitem__('x_hat', cache) or cache))({})", "cache, cache, cache"),
    "cache_of_the_wrong_type": ("Returns numbers instead of a cache, and a cache instead of numbers.", "{}, x_hat", "cache"),
}  # fmt: skip
ATTACKS += [
    {
        "name": f"diagnosis_{name}",
        "tries": tries,
        "files": {"layernorm.py": BACKWARD.replace("{forward}", forward).replace("{answer}", answer), "softmax.py": "softmax = None\n"},
        "function": "layernorm.layernorm_backward",
    }
    for name, (tries, forward, answer) in GRADIENTS.items()
]
