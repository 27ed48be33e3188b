"""The resource limits of a submission. The grader or the system enforces them, never the student's process itself."""

import math
from dataclasses import dataclass, replace

from autograder.core.wire_format import MAX_BODY


@dataclass(frozen=True)
class Limits:
    """The resource limits of one submission."""

    call_seconds: float = 60.0  # CPU time of one call, at most; most calls get less (see `engine/official_time.py`)
    least_seconds: float = 1.0  # CPU time that every call gets
    later_seconds: float = 0.3  # the same once another function of the submission has timed out
    retry_seconds: float = 0.05  # the same for a function that has timed out itself, or whose prerequisite has
    load_seconds: float = 5.0  # CPU time of importing a module, of which a student's own experiments may be a part
    submission_seconds: float = 300.0  # wall time of all calls of one submission together
    cpu_seconds: float = 300.0  # CPU time of all processes of one submission together
    grader_seconds: float = 60.0  # CPU time of the grader itself, which looks for the mistakes of one submission
    memory_bytes: int = 2 << 30  # address space of one process
    output_bytes: int = 8 << 20  # text that all processes of one submission may print together
    shown_bytes: int = 4000  # printed text kept for the report, per check
    result_bytes: int = 64 << 20  # arrays returned by one call

    @classmethod
    def for_training(cls, call_seconds: float) -> "Limits":
        """Return limits for training one's own model on one's own machine: only each call is limited."""
        return cls(
            call_seconds, submission_seconds=math.inf, cpu_seconds=math.inf, memory_bytes=1 << 46, result_bytes=MAX_BODY
        )

    def within(self, cpu_seconds: float) -> "Limits":
        """Return these limits for a submission that may use no more than this CPU time."""
        return replace(
            self, cpu_seconds=min(self.cpu_seconds, cpu_seconds), grader_seconds=min(self.grader_seconds, cpu_seconds)
        )

    def for_child(self, cpu_used: float = 0.0, printed: int = 0) -> dict[str, int]:
        """Return the limits of a new process, after earlier ones used this CPU time and printed so many bytes."""
        left = self.cpu_seconds - cpu_used
        return {
            "result_bytes": self.result_bytes,
            "output_bytes": max(0, self.output_bytes - printed),
            "memory_bytes": self.memory_bytes,
            "cpu_seconds": 0 if math.isinf(left) else max(1, math.ceil(left)),  # 0 means no limit.
        }
