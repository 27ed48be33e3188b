"""Mistakes in `blocks`: the transformer block."""

from autograder.courses.transformer.mistakes._blocks_backward import MISTAKES as BACKWARD
from autograder.courses.transformer.mistakes._blocks_dropout import MISTAKES as DROPOUT
from autograder.courses.transformer.mistakes._blocks_forward import MISTAKES as FORWARD
from autograder.courses.transformer.mistakes._blocks_steps import MISTAKES as STEPS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(FORWARD, STEPS, BACKWARD, DROPOUT)
