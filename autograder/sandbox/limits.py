"""What one submission may use. Each limit is enforced from outside or by the system, never by the student's process."""

import math
from dataclasses import dataclass

from autograder.core.wire_format import MAX_BODY


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Attributes:
        call_seconds: wall time of one call, seconds. No thread can be started, so it bounds the call's CPU time too.
        retry_seconds: wall time of a call to a function that already ran out of time once, seconds.
        submission_seconds: wall time of all calls of one submission together, seconds.
        cpu_seconds: CPU time of all processes of one submission together, seconds.
        memory_bytes: address space of one process, bytes.
        output_bytes: what may be printed in the life of one process, bytes.
        shown_bytes: how much of it is kept for the report, bytes per check.
        result_bytes: the arrays of one answer, bytes.
    """

    call_seconds: float = 10.0
    retry_seconds: float = 1.0
    submission_seconds: float = 300.0
    cpu_seconds: float = 300.0
    memory_bytes: int = 2 << 30
    output_bytes: int = 8 << 20
    shown_bytes: int = 4000
    result_bytes: int = 64 << 20

    @classmethod
    def for_training(cls, call_seconds: float) -> "Limits":
        """For one's own model on one's own machine: training takes as long, and as much memory, as it takes."""
        return cls(
            call_seconds,
            submission_seconds=math.inf,
            cpu_seconds=math.inf,
            memory_bytes=1 << 46,
            result_bytes=MAX_BODY,
        )

    def for_child(self, cpu_used: float = 0.0) -> dict[str, int]:
        """What the student's process is told to limit itself to, after `cpu_used` seconds in processes before it."""
        left = self.cpu_seconds - cpu_used
        return {
            "result_bytes": self.result_bytes,
            "output_bytes": self.output_bytes,
            "memory_bytes": self.memory_bytes,
            "cpu_seconds": 0 if math.isinf(left) else max(1, math.ceil(left)),  # 0: not limited
        }
