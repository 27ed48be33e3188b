"""Mistakes in `gradients`."""

from autograder.courses.transformer.mistakes._gradients_matmul import MISTAKES as MATMUL
from autograder.courses.transformer.mistakes._gradients_quotients import MISTAKES as QUOTIENTS
from autograder.courses.transformer.mistakes._gradients_reverse import MISTAKES as REVERSE
from autograder.courses.transformer.mistakes._gradients_sums import MISTAKES as SUMS
from autograder.courses.transformer.mistakes._gradients_tape import MISTAKES as TAPE
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(QUOTIENTS, SUMS, MATMUL, TAPE, REVERSE)
