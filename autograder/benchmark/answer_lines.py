"""Read questions from standard input, and write answers to standard output, for the included runners."""

import sys
from collections.abc import Iterator

import msgspec

from autograder.benchmark.records import MAX_LINE, Answer, Question


def read_questions() -> Iterator[Question]:
    """Yield the questions on standard input; exit with one line about a line that is none."""
    decoder = msgspec.json.Decoder(Question)
    while line := sys.stdin.buffer.readline(MAX_LINE + 1):
        if not line.strip():
            continue
        try:
            yield decoder.decode(line)
        except (ValueError, RecursionError) as error:
            sys.exit(f"this line is not a question ({error}). A runner is started by: headway score-benchmark")


def write_answer(answer: Answer) -> None:
    """Write an answer at once."""
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()
