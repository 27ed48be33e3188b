"""Mistakes in `blocks`: the transformer block."""

from autograder.courses.transformer.blocks.mistakes.backward import MISTAKES as BACKWARD
from autograder.courses.transformer.blocks.mistakes.dropout import MISTAKES as DROPOUT
from autograder.courses.transformer.blocks.mistakes.forward import MISTAKES as FORWARD
from autograder.courses.transformer.blocks.mistakes.steps import MISTAKES as STEPS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(FORWARD, STEPS, BACKWARD, DROPOUT)
