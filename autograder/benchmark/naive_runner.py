"""A runner that calls every implementation wrong and names the first candidate: what knowing nothing scores."""

from autograder.benchmark.answer_lines import read_questions, write_answer
from autograder.benchmark.records import Answer


def main() -> None:
    """Answer every question on standard input."""
    for question in read_questions():
        write_answer(Answer(question.id, True, question.candidates[0].id if question.candidates else None))


if __name__ == "__main__":
    main()
