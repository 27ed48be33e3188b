"""The words for what became of a check and of a submission."""

from typing import Literal

CheckStatus = Literal["passed", "failed", "error", "timeout", "not_started", "blocked"]
# Why a check did not pass, where a report treats it differently; empty for every other reason.
Failure = Literal["", "unreadable_file", "failed_import", "slow_import", "documented_error", "missing"]
# failed: an internal error of Headway; waiting: not graded yet
SubmissionStatus = Literal["graded", "missing", "unreadable", "failed", "waiting"]
# Whether an assignment counts for a student; "not counted": its weight or its points are 0.
Counts = Literal["counts", "dropped", "excused", "not counted"]
