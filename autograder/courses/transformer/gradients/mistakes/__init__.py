"""Mistakes in `gradients`."""

from autograder.courses.transformer.gradients.mistakes.matmul import MISTAKES as MATMUL
from autograder.courses.transformer.gradients.mistakes.quotients import MISTAKES as QUOTIENTS
from autograder.courses.transformer.gradients.mistakes.reverse import MISTAKES as REVERSE
from autograder.courses.transformer.gradients.mistakes.sums import MISTAKES as SUMS
from autograder.courses.transformer.gradients.mistakes.tape import MISTAKES as TAPE
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(QUOTIENTS, SUMS, MATMUL, TAPE, REVERSE)
