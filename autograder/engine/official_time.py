"""Measure what the official solution needs for a call, so that the deadline of the student's call fits the work."""

import math
from contextlib import ExitStack, suppress
from typing import Any

from autograder.course import Curriculum
from autograder.engine.official_solutions import official_solutions
from autograder.engine.student import Cache, Call, StudentCode
from autograder.errors import Mismatch, Raised, TimedOut, Verdict
from autograder.sandbox.limits import Limits
from autograder.sandbox.workers import Workers

# An official solution that takes longer is not waited for: the call gets the largest time in any case.
MAX_SECONDS = 0.5
# A short call is measured several times: the first may take several times as long as the others.
RUNS, SHORT_SECONDS = 3, 0.01


class OfficialTimes:
    """The official solutions, in a process like the student's.

    A check may pass on what the student's function returned, of any size: the process has a limit of memory and time.
    """

    def __init__(self, workers: Workers, curriculum: Curriculum, limits: Limits) -> None:
        self._workers, self._curriculum = workers, curriculum
        self._limits = Limits(MAX_SECONDS, submission_seconds=1e9, cpu_seconds=1e9, memory_bytes=limits.memory_bytes)
        self._resources = ExitStack()
        self._code: StudentCode | None = None

    def cpu_seconds(self, calls: list[Call]) -> float | None:
        """Return the CPU time that the official solution needs for the last call of a check.

        It is infinite if the solution needs too long, and None if there is no solution.
        """
        code = self._official_code()
        function = calls[-1].function
        try:
            code.new_check(function.qualified)
            code.load(function)
            args, kwargs = self._arguments(calls[-1], calls, {})
            fastest = math.inf
            for _ in range(RUNS):
                before = self._used(code)
                with suppress(Raised):  # It refuses the input, which takes time, too.
                    code.call(function.qualified, args, kwargs)
                fastest = min(fastest, self._used(code) - before)
                if fastest > SHORT_SECONDS:
                    break
            return fastest
        except TimedOut:
            self.close()  # The next call begins anew: what one input needs must not shorten the time of another.
            return math.inf
        except Verdict:
            return None

    def _arguments(
        self, call: Call, calls: list[Call], answers: dict[int, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a call, with the official caches in place of the student's.

        `answers` holds those of the official functions so far, by the index of the call.
        """

        def official(value: Any) -> Any:
            if not isinstance(value, Cache):
                return value
            for index, earlier in enumerate(calls):
                outputs = earlier.value if isinstance(earlier.value, tuple) else (earlier.value,)
                for position, output in enumerate(outputs):
                    if output is value:
                        if index not in answers:
                            args, kwargs = self._arguments(earlier, calls[:index], answers)
                            answers[index] = self._official_code().call(earlier.function.qualified, args, kwargs)
                        answer = answers[index]
                        return answer[position] if isinstance(answer, tuple) else answer
            raise Mismatch("the cache is not from this check")

        return tuple(map(official, call.args)), {key: official(value) for key, value in call.kwargs.items()}

    def _used(self, code: StudentCode) -> float:
        return activity.cpu_seconds if (activity := code.process.activity()) else code.usage.seconds

    def _official_code(self) -> StudentCode:
        if self._code is None:
            root = self._workers.sandbox.submissions_root  # The sandbox shows no other folder.
            folder = self._resources.enter_context(official_solutions(self._curriculum, root))
            self._code = StudentCode(self._workers, folder, self._curriculum, self._limits)
            self._resources.callback(self._code.close)
        return self._code

    def close(self) -> None:
        """End the process."""
        self._resources.close()
        self._code = None
