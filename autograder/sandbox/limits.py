"""The resource limits of a submission. The grader or the system enforces them, never the student's process itself."""

import math
from dataclasses import dataclass

from autograder.core.wire_format import MAX_BODY


@dataclass(frozen=True)
class Limits:
    """The resource limits of one submission.

    Attributes:
        call_seconds: wall time of one call, seconds. Threads cannot be started, so this bounds the CPU time, too.
        retry_seconds: wall time of a call to a function that has already timed out once, seconds.
        submission_seconds: wall time of all calls of one submission together, seconds.
        cpu_seconds: CPU time of all processes of one submission together, seconds.
        memory_bytes: address space of one process, bytes.
        output_bytes: text that one process may print, bytes.
        shown_bytes: printed text kept for the report, bytes per check.
        result_bytes: arrays returned by one call, bytes.
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
        """Return limits for training one's own model on one's own machine: only each call is limited."""
        return cls(
            call_seconds, submission_seconds=math.inf, cpu_seconds=math.inf, memory_bytes=1 << 46, result_bytes=MAX_BODY
        )

    def for_child(self, cpu_used: float = 0.0) -> dict[str, int]:
        """Return the limits that the student's process sets for itself.

        Args:
            cpu_used: CPU time used by earlier processes of the same submission, seconds.
        """
        left = self.cpu_seconds - cpu_used
        return {
            "result_bytes": self.result_bytes,
            "output_bytes": self.output_bytes,
            "memory_bytes": self.memory_bytes,
            "cpu_seconds": 0 if math.isinf(left) else max(1, math.ceil(left)),  # 0 means no limit.
        }
