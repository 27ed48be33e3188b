"""Limits of CPU time that do not depend on how fast, or how busy, the processor is."""

import time

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
