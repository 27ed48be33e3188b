"""Answers that are objects: of types that claim to be arrays, numbers, texts or containers, and are not."""

CODE = '''
import itertools

import numpy as np


{classes}


def log_softmax(x, axis=-1):
    {body}
'''
OBJECTS = {
    "array_that_never_ends": (
        "Returns an object whose conversion to an array never ends.",
        "class Lie:\n    def __array__(self, *args, **kwargs):\n        while True: pass",
        "return Lie()",
    ),
    "array_at_a_foreign_address": (
        "Returns an object that claims to be an array at an address of its choice.",
        "class Lie:\n    __array_interface__ = {'shape': (1 << 20,), 'typestr': '<f8', 'data': (8, True), 'version': 3}",
        "return Lie() if np.ndim(x) > 1 else np.asarray(Lie())",
    ),
    "array_of_one_number": (
        "Returns an array of a million million entries that all lie in one place.",
        "",
        "return np.broadcast_to(np.zeros(()), (1 << 20, 1 << 20))",
    ),
    "array_outside_its_memory": (
        "Returns an array whose strides lead out of its memory.",
        "",
        "return np.lib.stride_tricks.as_strided(np.zeros(1), (4, 7), (1 << 40, -(1 << 40)))",
    ),
    "number_with_its_own_dtype": (
        "Returns numbers of a class that calls itself float64, with a dtype and a shape of its own.",
        "class float64(np.float64):\n    dtype = np.dtype(object)\n    shape = (4, 7)\n"
        "    def __array__(self, *args, **kwargs): return np.full((4, 7), self, object)\n"
        "    def __eq__(self, other): return True\n    __hash__ = None\nfloat64.__module__ = 'numpy'",
        "return float64(0.0)",
    ),
    "type_with_a_lying_name": (
        "Returns an object whose type raises, loops and prints when it is asked for its name.",
        "class Meta(type):\n    @property\n    def __qualname__(cls):\n        print('BREACH' * 0)\n        raise SystemExit\n"
        "    def __instancecheck__(cls, other): return True\n    def __eq__(cls, other): return True\n"
        "    def __hash__(cls): return hash(np.ndarray)\nclass Lie(metaclass=Meta):\n"
        "    __class__ = np.ndarray\n    def __getattr__(self, name): raise KeyboardInterrupt",
        "return Lie()",
    ),
    "list_that_grows": (
        "Returns a list that another reference makes longer while it is read.",
        "class Grows:\n    def __init__(self, target): self.target = target\n"
        "    @property\n    def __class__(self):\n        self.target.extend([Grows(self.target)] * 2)\n        return float",
        "answer = []\n    answer.append(Grows(answer))\n    return answer",
    ),
    "dictionary_without_an_end": (
        "Returns a dictionary whose items have no end.",
        "class Lie(dict):\n    def items(self): return zip(itertools.count(), itertools.repeat(0.0))\n"
        "    def __len__(self): return -1\n    def __iter__(self): return itertools.count()\n    keys = __iter__",
        "return Lie(a=1)",
    ),
    "generator_as_an_answer": (
        "Returns a generator without an end, whose items are the rows of an answer.",
        "",
        "return (row for row in itertools.cycle(np.asarray(x)))",
    ),
    "text_that_changes": (
        "Raises an exception whose text is another text at every look, with a length that is not its own.",
        "class Text(str):\n    def __len__(self): return -5\n    def encode(self, *args): return b'\\xff' * 9\n"
        "    def __getitem__(self, key): return self\n    def __str__(self): return self\n"
        "class Odd(Exception):\n    def __str__(self): return Text('<script>fuzz()</script>')\n"
        "Odd.__name__ = Odd.__qualname__ = Text('<img src=x onerror=fuzz()>')",
        "raise Odd(Text('x'))",
    ),
    "group_of_exceptions": (
        "Raises exceptions in groups in groups, each the cause of the other.",
        "",
        "error = ValueError('a')\n    for _ in range(3000): error = ExceptionGroup('g', [error, ValueError('b')])\n"
        "    error.__cause__ = error.__context__ = error\n    raise error",
    ),
    "dtype_of_a_hostile_type": (
        "Returns arrays of long doubles, dates, texts and records with metadata.",
        "",
        "kinds = [np.longdouble, 'M8[ns]', 'U9', np.dtype([('a', 'f8')], metadata={'x': x}), '>f8', np.complex64, 'S0']\n"
        "    return [np.zeros(3, kind) for kind in kinds]",
    ),
}  # fmt: skip
ATTACKS = [
    {"name": f"object_{name}", "tries": tries, "code": CODE.replace("{classes}", classes).replace("{body}", body)}
    for name, (tries, classes, body) in OBJECTS.items()
]
# The loss must be a Python float: a class of that name with any value is none.
ATTACKS.append(
    {
        "name": "object_that_is_called_float",
        "tries": "Returns a loss of a class that is called float and equals everything.",
        "code": "class float(float):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "    def __float__(self): return self\n    def __abs__(self): return 0.0\n    def __sub__(self, other): return 0.0\n"
        "    __rsub__ = __sub__\nfloat.__module__ = 'builtins'\n\n\n"
        "def cross_entropy(logits, targets):\n    return float(0.0)\n",
        "function": "softmax.cross_entropy",
    }
)
