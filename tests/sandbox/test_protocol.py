"""Whatever a student's process writes, the grader neither crashes nor hangs nor fills its memory: there is a verdict.

The frame reader, the session and everything that looks at a value are given arbitrary bytes, damaged frames and
well-formed frames of arbitrary content: over a socket, and by a real student process that writes them itself.
"""

import contextlib
import json
import os
import socket
import threading
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.calibration import peak_memory_below

from autograder.core import wire_format
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.comparison.compare import compare
from autograder.engine.diagnosis.diagnose import diagnose
from autograder.engine.first_wrong_stage import first_wrong_stage
from autograder.engine.student import Call, RecordedCheck, StudentCode
from autograder.errors import Died, Mismatch, TimedOut, Verdict
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import SocketProcess
from autograder.sandbox.workers import ExitStatus

pytestmark = pytest.mark.slow

LIMITS = Limits(call_seconds=0.3, retry_seconds=0.3, submission_seconds=1e6, result_bytes=1 << 20)
# More than a full header and body of these limits, twice over: as bytes, and as what is built of them.
MEMORY = 100 << 20

NUMBERS = st.integers() | st.integers(-5, 5) | st.floats() | st.sampled_from([10**400, 2**63, -0.0])
SPECIAL = ["<f8", "|b1", "returned", "raised", "missing", "unsendable", "id", "\x1b[2J"]
TEXTS = st.text(max_size=8) | st.sampled_from(SPECIAL)
HEADERS = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from("aslrthdco") | TEXTS, inner, max_size=2)
        | st.builds(lambda tag, value: {tag: value}, st.sampled_from("lthdco"), st.lists(inner, max_size=3))
        | st.builds(lambda code, shape: {"a": [code, shape]}, st.sampled_from([*wire_format.DTYPES]), st.lists(NUMBERS))
    ),
    max_leaves=12,
)
SHAPES = st.lists(st.integers(0, 3), max_size=4)
ARRAYS = st.builds(lambda code, shape: np.ones(shape, code), st.sampled_from([*wire_format.DTYPES]), SHAPES)
HANDLES = [wire_format.Handle(1), wire_format.Handle(99)]
MARKS = st.sampled_from([*HANDLES, wire_format.Rng(3), wire_format.Opaque("x\x1b[2J"), 10**400])
INSTANCES = st.builds(wire_format.Instance, TEXTS, st.dictionaries(TEXTS, st.integers() | ARRAYS, max_size=2))
CONFIGS = st.builds(wire_format.Config, TEXTS, TEXTS, st.dictionaries(TEXTS, st.integers(), max_size=2))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS | ARRAYS | MARKS | CONFIGS | INSTANCES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.tuples(inner)
        | st.just(())
        | st.dictionaries(TEXTS | st.integers(-9, 9), inner, max_size=3)
    ),
    max_leaves=8,
)
STATUSES = st.sampled_from(["returned", "returned", "raised", "missing", "unsendable"]) | VALUES
REPLIES = st.fixed_dictionaries(
    {"status": STATUSES},
    optional=dict.fromkeys(("value", "type", "message", "trace", "line", "modified", "warnings"), VALUES),
)


def framed(header: bytes, body: bytes, announced: tuple[int, int] | None = None) -> bytes:
    sizes = announced or (len(header), len(body))
    return wire_format.PREFIX.pack(wire_format.MAGIC, *sizes) + header + body


@st.composite
def hostile_bytes(draw):
    kind = draw(st.sampled_from(["bytes", "header", "announced", "damaged"]))
    if kind == "bytes":
        return draw(st.binary(max_size=300))
    header = json.dumps(draw(HEADERS)).encode("utf-8", "surrogatepass")
    body = draw(st.binary(max_size=64))
    if kind == "announced":
        return framed(header, body, (draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, 2**64 - 1))))
    frame = bytearray(framed(header, body))
    if kind == "damaged":
        for _ in range(draw(st.integers(1, 5))):
            frame[draw(st.integers(0, len(frame) - 1))] = draw(st.integers(0, 255))
    return bytes(frame)


class ProcessOverASocket(SocketProcess):
    def end(self):
        self.channel.close()
        return ExitStatus(0, 0.0)


class OverASocket:
    """Stands in for `Workers`: the other end of the socket is a thread that answers each request as it is told."""

    def __init__(self, answer):
        self._answer = answer

    def start(self, folders, limits, output):
        ours, theirs = socket.socketpair()
        threading.Thread(target=self._speak, args=(theirs,), daemon=True).start()
        return ProcessOverASocket(ours, None)

    def _speak(self, channel):
        with channel, channel.makefile("rb") as file, contextlib.suppress(OSError):
            request = wire_format.read_frame(file.read)
            if request["op"] == "is_stub":  # which imports the module before the first call
                channel.sendall(wire_format.pack({"id": request["id"], "status": "returned", "value": False}))
                request = wire_format.read_frame(file.read)
            channel.sendall(self._answer(request))
            channel.shutdown(socket.SHUT_WR)


def ask(answer, tmp_path, qualified="attention.attention"):
    """One call; what came of it, and the student."""
    student = StudentCode(OverASocket(answer), tmp_path, TRANSFORMER, LIMITS)
    started = time.thread_time()  # CPU time: a busy machine takes no longer over it
    verdict = None
    with peak_memory_below(MEMORY):
        try:
            student.call(qualified, (np.ones((2, 3)),), {})
        except Verdict as error:
            verdict = error
        finally:
            student.close()
    assert time.thread_time() - started < 3
    return verdict, student


fuzz = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@given(HEADERS, st.binary(max_size=64))
@settings(fuzz, max_examples=200)
def test_any_header_is_refused_or_decoded(header, body):
    with contextlib.suppress(wire_format.FrameError):
        wire_format.unpack(framed(json.dumps(header).encode("utf-8", "surrogatepass"), body))


@given(hostile_bytes())
@settings(fuzz, max_examples=100)
def test_unrequested_bytes_count_as_a_dead_process(tmp_path, data):
    verdict, _ = ask(lambda request: data, tmp_path)
    assert isinstance(verdict, (Died, TimedOut))


@given(REPLIES)
@settings(fuzz, max_examples=120)
def test_any_valid_reply_gives_value_or_verdict(tmp_path, reply):
    verdict, student = ask(lambda request: wire_format.pack({**reply, "id": request["id"]}), tmp_path)
    if verdict is None:
        assert reply["status"] == "returned"
        assert isinstance(student.calls[-1].line, int | None)
    else:
        assert "\x1b" not in verdict.message


@pytest.mark.parametrize("line", [10**4000, -(10**4000), 0, -3, True, 1.5, "7"])
@pytest.mark.parametrize("status", ["returned", "raised"])
def test_line_number_is_valid_or_dropped(tmp_path, status, line):
    reply = {"status": status, "value": 0.0, "line": line, "trace": [("softmax.py", line, "softmax", "x")]}
    verdict, student = ask(lambda request: wire_format.pack({**reply, "id": request["id"]}), tmp_path)
    assert student.calls[-1].line is None
    assert verdict is None or len(verdict.message) < 200


FORBIDDEN = [wire_format.Config("/tmp/evil", "run"), wire_format.Rng(1), wire_format.Handle(7)]


@pytest.mark.parametrize("nest", [lambda mark: mark, lambda mark: [mark], lambda mark: (mark,), lambda x: {"a": x}])
@pytest.mark.parametrize("field", ["value", "message", "trace", "unknown"])
@pytest.mark.parametrize("mark", FORBIDDEN, ids=repr)
def test_forbidden_marker_counts_as_a_dead_process(tmp_path, mark, field, nest):
    reply = {"status": "returned", "value": 1.0, field: nest(mark)}
    verdict, _ = ask(lambda request: wire_format.pack({**reply, "id": request["id"]}), tmp_path)
    assert isinstance(verdict, Died) and "not an answer" in verdict.message


@pytest.mark.parametrize("qualified", ["attention.attention", "blocks.block"])
def test_handle_of_an_earlier_call_counts_as_a_dead_process(tmp_path, qualified):
    def answer(request):
        handle = wire_format.Handle(1)
        return wire_format.pack({"id": request["id"], "status": "returned", "value": (np.zeros((2, 3)), handle)})

    student = StudentCode(OverASocket(answer), tmp_path, TRANSFORMER, LIMITS)
    *_, cache = student.call("blocks.block", (np.ones((2, 3)),), {})
    assert cache.handle.number == 1
    student.process.end()
    with pytest.raises(Died, match="did not issue"):
        student.call(qualified, (np.ones((2, 3)),), {})
    student.close()


def test_forged_cache_counts_as_a_dead_process(tmp_path):
    reply = {"status": "returned", "value": (np.zeros((2, 3)), {"weights": np.zeros((2, 3))})}
    verdict, _ = ask(lambda request: wire_format.pack({**reply, "id": request["id"]}), tmp_path, "blocks.block")
    assert isinstance(verdict, Died) and "in place of the cache" in verdict.message


@given(VALUES.filter(lambda value: type(value) is not int))
@settings(fuzz, max_examples=50)
def test_answer_with_wrong_id_counts_as_a_dead_process(tmp_path, number):
    verdict, _ = ask(lambda request: wire_format.pack({"id": number, "status": "returned", "value": 1}), tmp_path)
    assert isinstance(verdict, Died)


EXPECTED = {
    "softmax.log_softmax": np.zeros((2, 3)), "softmax.cross_entropy": 0.5,
    "attention.attention": (np.zeros((2, 3)), {"weights": np.zeros((2, 3)), "scores": np.zeros(())}),
    "tokenizer.build_vocab": (["a", "b"], {"a": 0, "b": 1}, {0: "a", 1: "b"}), "tokenizer.encode": np.array([0, 1]),
    "tokenizer.decode": "ab", "gpt.count_parameters": 12,
}  # fmt: skip


@given(VALUES, st.sampled_from(list(EXPECTED)))
@settings(fuzz, max_examples=200)
def test_any_value_can_be_compared_and_diagnosed(value, qualified):
    value = wire_format.unpack(wire_format.pack(value))
    function, expected = TRANSFORMER.functions[qualified], EXPECTED[qualified]
    agrees = False
    with contextlib.suppress(Mismatch):
        compare(value, expected, function)
        agrees = True
    call = Call(function, (np.ones((2, 3)),), {}, value)
    assert first_wrong_stage(call, expected) is None or isinstance(value, tuple)
    assert not agrees or np.shape(value) == np.shape(expected) or isinstance(expected, tuple)


ODD = [
    None, "text", (), [], {}, 10**400, float("nan"), True, np.zeros((0, 2**38)), np.full((2, 3), 1j),
    wire_format.Opaque("x"), wire_format.Instance("gpt.GPTConfig", {"d_model": np.ones(2)}),
]  # fmt: skip


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_diagnosis_survives_any_value(value):
    call = Call(TRANSFORMER.functions["softmax.softmax"], (np.ones((2, 3)),), {}, value)
    checks = [RecordedCheck("softmax.softmax::rows", False, (call,))]
    found = diagnose("softmax.softmax", checks, package=TRANSFORMER.package)
    assert {diagnosis.id for diagnosis in found.values()} <= {"softmax.softmax/placeholder-none"}


@pytest.mark.parametrize("piece", [1, 3, 4096])
def test_byte_sized_chunks_do_not_fill_the_memory(tmp_path, piece):
    """An answer that comes in small pieces costs its own size, not that of its pieces."""

    def answer(request):
        return framed(b" ", b"x" * (LIMITS.result_bytes // 4), (1, LIMITS.result_bytes))

    class Dripping(OverASocket):
        def _speak(self, channel):
            with channel, channel.makefile("rb") as file, contextlib.suppress(OSError):
                wire_format.read_frame(file.read)
                data = answer(None)
                for start in range(0, len(data), piece):
                    channel.sendall(data[start : start + piece])

    student = StudentCode(Dripping(None), tmp_path, TRANSFORMER, LIMITS)
    with peak_memory_below(4 * LIMITS.result_bytes), pytest.raises((Died, TimedOut)):
        student.softmax.softmax(np.ones(3))
    student.close()


WRITES = """
import os

def softmax(data):
    data = bytes(data)
    while data:
        data = data[os.write(3, data) :]
    os._exit(0)

def log_softmax(x):
    return 42
"""


@given(hostile_bytes())
@settings(fuzz, max_examples=60)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="its channel has another number where there is no server")
def test_process_that_writes_anything_is_contained(workers, tmp_path, data):
    (tmp_path / "softmax.py").write_text(WRITES)
    student = StudentCode(workers, tmp_path, TRANSFORMER, LIMITS)
    try:
        with pytest.raises((Died, TimedOut)):
            student.call("softmax.softmax", (np.frombuffer(data, np.uint8),), {})
        assert student.call("softmax.log_softmax", (1,), {}) == 42
    finally:
        student.close()
