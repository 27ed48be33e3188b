"""Limits of CPU time that do not depend on how fast, or how busy, the processor is; limits of memory."""

import contextlib
import time
import tracemalloc

# CPU seconds that `_work` takes on a quiet core of about 3 GHz.
QUIET_SECONDS = 0.02


def cpu_limit(quiet_seconds: float) -> float:
    """Return a limit of CPU seconds, measured just now: what would be `quiet_seconds` on a quiet core."""
    return quiet_seconds * max(1.0, _work() / QUIET_SECONDS)


def _work() -> float:
    began = time.process_time()
    total = 0
    for number in range(700_000):
        total ^= number
    assert total >= 0
    return time.process_time() - began


@contextlib.contextmanager
def peak_memory_below(limit):
    """Fail if what this block allocates ever needs so many bytes.

    Trace as little as possible: traced, Hypothesis takes a minute to build its table of Unicode characters.
    """
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()
