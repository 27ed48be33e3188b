"""Attacks in one call: each function is `log_softmax`, under the name of the attack; its docstring says what it tries.

A process of its own holds each of them, and earns 0 points. The code above the functions is part of every attack.
"""

import ctypes
import gc
import itertools
import json
import os
import pickle
import re
import signal
import struct
import sys
import time

import numpy as np

CALLS = itertools.count()


def _request_id():
    frame = sys._getframe()
    while "request" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["request"]["id"]


def _send_text(text):
    data = struct.pack("<4sIQ", b"HWF1", len(text), 0) + text
    while data:
        data = data[os.write(3, data) :]


def _send(header):
    _send_text(json.dumps(header).encode())


def _in_turn(answers):
    return answers[next(CALLS) % len(answers)]


class _Bomb:
    def __reduce__(self):
        return os.system, ("touch @marks@/pickle",)


def abort(x, axis=-1):
    """Aborts."""
    os.abort()


def all_nan(x, axis=-1):
    """Returns NaN everywhere: it is not different from anything by more than a tolerance."""
    return np.full(np.shape(x), np.nan)


def announce_a_huge_frame(x, axis=-1):
    """Announces an answer of an exabyte."""
    os.write(3, struct.pack("<4sIQ", b"HWF1", 10, 1 << 60))


def answer_from_a_timer(x, axis=-1):
    """Answers the requests to come from a timer that goes on after its function has returned."""

    def forge(number, frame):
        while frame is not None and "request" not in frame.f_locals:
            frame = frame.f_back
        last = frame.f_locals["request"]["id"] if frame else 1
        for guess in (last, last + 1, 0):
            _send({"d": [["id", guess], ["status", "returned"], ["value", 0.0], ["passed", True]]})

    signal.signal(signal.SIGALRM, forge)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    return x


def array_protocol(x, axis=-1):
    """Returns an object that claims to be an array when it is asked."""

    class Claims:
        __array_priority__ = 1e9
        shape, dtype, ndim = (), np.dtype(float), 0

        def __array__(self, *arguments, **more):
            raise SystemExit(0)

        def __eq__(self, other):
            return True

        @property
        def __class__(self):
            return np.ndarray

    return Claims()


def ask_for_input(x, axis=-1):
    """Waits for somebody to type."""
    return float(input())


def close_the_channel(x, axis=-1):
    """Closes every descriptor it has."""
    os.closerange(0, 100)
    return x


def colliding_keys(x, axis=-1):
    """Returns a dictionary whose hundred thousand keys have the same hash: to build it takes the grader minutes."""
    pairs = [[number * (2**61 - 1), 0] for number in range(1, 140_000)]
    _send({"d": [["id", _request_id()], ["value", {"d": pairs}]]})
    os._exit(0)


def drip(x, axis=-1):
    """Sends its answer one byte at a time, forever."""
    os.write(3, struct.pack("<4sIQ", b"HWF1", 1 << 20, 0))
    while True:
        os.write(3, b" ")
        time.sleep(0.01)


def endless_traceback(x, axis=-1):
    """Recurses through a thousand lines of traceback."""
    return endless_traceback(x, axis)


def equal_to_everything(x, axis=-1):
    """Returns numbers and texts that are equal to everything."""

    class Number(float):
        def __eq__(self, other):
            return True

        def __sub__(self, other):
            return 0.0

        __rsub__ = __sub__
        __hash__ = float.__hash__

    return Number(0)


def escape_in_an_exception(x, axis=-1):
    """Raises an exception whose name and text are commands to the terminal."""
    evil = type("Evil\x1b[2J<script>", (Exception,), {})
    raise evil("\x1b]0;owned\x07 <img src=x onerror=alert(1)> " + "y" * 1_000_000)


def escape_in_names(x, axis=-1):
    """Returns objects whose types, and dictionaries whose keys, have commands to the terminal for names."""
    evil = "\x1b[2J\x1b]0;owned\x07\u202e"
    return _in_turn([type(evil, (), {})(), {evil: 1}, {evil * 20_000: {evil: []}}, [evil], evil])


def exit_in_a_call(x, axis=-1):
    """Ends its process with exit code 0 in the middle of a call."""
    os._exit(0)


def flood_output(x, axis=-1):
    """Prints without end."""
    while True:
        os.write(1, b'y' * 100_000)


def forge_a_verdict(x, axis=-1):
    """Finds the number of the request on the stack and answers it with a verdict instead of a value."""
    verdict = [["status", "passed"], ["passed", True], ["points", 100], ["earned", 100]]
    _send({"d": [["id", _request_id()], *verdict]})
    os._exit(0)


def forge_answers(x, axis=-1):
    """Writes answers in advance, for every number that could be asked first."""
    for number in range(200):
        _send({"d": [["id", number], ["status", "returned"], ["value", 0]]})
    return x


def forge_nested_types(x, axis=-1):
    """Answers with the marks that stand for handles, generators and configurations, in lists, tuples and dictionaries."""
    from _headway_frames import Config, Handle, Rng

    marks = [Handle(1), Rng(1), Config("@marks@/payload", "run", {"command": "touch @marks@/config"})]
    nested = [answer for mark in marks for answer in ([mark], (mark, mark), {"value": mark}, [({"a": [mark]},)])]
    return _in_turn([*nested, {marks[0]: 1}, {marks[1]: 1}])


def forge_types(x, axis=-1):
    """Answers with the marks that stand for handles, generators and configurations."""
    from _headway_frames import Config, Handle, Opaque, Rng

    config = Config("os", "system", {"command": "touch @marks@/config"})
    return _in_turn([Handle(7), Rng(1), config, Opaque("x" * 10_000)])


def huge_numbers(x, axis=-1):
    """Sends numbers of a million digits and shapes that overflow."""
    _send({"a": ["<f8", [0, 2**40 - 1, 2**40 - 1, 2**40 - 1]]})
    _send({"a": ["<f8", [2**39] * 16]})
    _send_text(b"9" * 1_000_000)


def kill_itself(x, axis=-1):
    """Tries to kill its own process."""
    os.kill(os.getpid(), signal.SIGKILL)
    return x


def list_of_arrays(x, axis=-1):
    """Returns two hundred thousand small arrays, whose text would be very long."""
    return [np.zeros(0)] * 150_000


def loop_ignoring_signals(x, axis=-1):
    """Loops with every signal blocked and ignored."""
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        pass


def loop_in_a_regular_expression(x, axis=-1):
    """Loops in the matching of a regular expression."""
    return re.match("(a|aa)+$", "a" * 100 + "b")


def loop_in_an_exception(x, axis=-1):
    """Raises an exception whose text takes forever to compute."""

    class Endless(Exception):
        def __str__(self):
            while True:
                pass

    raise Endless


def loop_in_c(x, axis=-1):
    """Loops in C, where Python sees no signal."""
    return sum(range(10**15))


def loop_in_python(x, axis=-1):
    """Loops forever in Python."""
    while True:
        pass


def masked(x, axis=-1):
    """Returns a masked array of which every element is masked, and so different from nothing."""
    return np.ma.masked_all(np.shape(x))


def memory_at_once(x, axis=-1):
    """Allocates a terabyte at once."""
    return np.ones(1 << 37)


def memory_bit_by_bit(x, axis=-1):
    """Allocates memory until there is none left."""
    hoard = []
    while True:
        hoard.append(bytearray(b'x') * (1 << 26))


def memory_in_a_number(x, axis=-1):
    """Computes a number with billions of digits."""
    return 9 ** 9 ** 9 ** 9


def ndarray_subclass(x, axis=-1):
    """Returns a subclass of ndarray that is equal and close to everything."""

    class Equal(np.ndarray):
        def __eq__(self, other):
            return np.ones(np.shape(other), bool)

        def __array_ufunc__(self, *arguments, **more):
            return np.ones(self.shape, bool)

        def __array_function__(self, *arguments, **more):
            return True

        def __sub__(self, other):
            return np.zeros(self.shape)

        __rsub__ = __sub__

    return np.zeros(np.shape(x)).view(Equal)


def nest_deeply(x, axis=-1):
    """Sends a header of a hundred thousand nested lists."""
    _send_text(b'{"l":[' * 100_000 + b"]}" * 100_000)


def never_read(x, axis=-1):
    """Reads the requests away under the harness and never answers."""
    while True:
        os.read(3, 1 << 16)


def object_dtype(x, axis=-1):
    """Returns an array of objects that agree with everything."""

    class Agrees:
        def __eq__(self, other):
            return True

        __sub__ = __rsub__ = __abs__ = lambda self, other=None: 0.0
        __hash__ = None

    return np.full(np.shape(x), Agrees(), dtype=object)


def overflow_the_stack(x, axis=-1):
    """Recurses until the stack of C is full."""
    sys.setrecursionlimit(1 << 30)
    return overflow_the_stack([x])


def patch_numpy_testing(x, axis=-1):
    """Replaces NumPy's comparison functions and returns zeros."""
    for name in ("assert_allclose", "assert_array_equal", "assert_equal"):
        setattr(np.testing, name, lambda *arguments, **more: None)
    np.allclose = np.array_equal = lambda *arguments, **more: True
    return np.zeros(np.shape(x))


def raise_the_testers_exceptions(x, axis=-1):
    """Raises exceptions with the names that test frameworks take for a pass or a skip."""
    names = ["Skipped", "XFailed", "Exit", "Passed", "OutcomeException", "GeneratorExit", "StopIteration"]
    raise type(_in_turn(names), (BaseException,), {"__module__": "_pytest.outcomes"})("passed")


def return_a_pickle_bomb(x, axis=-1):
    """Returns an object, and an array of objects, that run a command when they are unpickled."""
    return _Bomb() if np.ndim(x) else np.array([_Bomb()], dtype=object)


def return_itself(x, axis=-1):
    """Returns a list that contains itself."""
    y = []
    y.append(y)
    return y


def return_too_many(x, axis=-1):
    """Returns a list of millions of lists."""
    return [[]] * 5_000_000


def return_too_much(x, axis=-1):
    """Returns an array of half a gigabyte."""
    return np.zeros(1 << 26)


def search_the_heap(x, axis=-1):
    """Searches all live objects and the frames above for expected values."""
    frame = sys._getframe()
    while frame:
        for name, value in frame.f_locals.items():
            if "expected" in name or "reference" in name:
                return value
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "expected" in thing:
            return thing["expected"]
    return x


def segfault(x, axis=-1):
    """Reads from address 0."""
    return ctypes.string_at(0)


def send_a_pickle(x, axis=-1):
    """Writes a pickle to the channel that runs a command where it is loaded."""
    os.write(3, pickle.dumps(_Bomb()))


def sleep(x, axis=-1):
    """Sleeps for a day."""
    time.sleep(86_400)


def sparse_output(x, axis=-1):
    """Makes its output look like a terabyte."""
    os.lseek(1, 1 << 40, 0)
    os.write(1, b'x')
    return x


def use_up_the_time(x, axis=-1):
    """Takes just less than the limit in every call: the sum is limited too."""
    time.sleep(0.18)
