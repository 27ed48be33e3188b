"""Mistakes in `training`: training."""

from autograder.courses.transformer.training.mistakes.adamw import MISTAKES as ADAMW
from autograder.courses.transformer.training.mistakes.clipping import MISTAKES as CLIPPING
from autograder.courses.transformer.training.mistakes.loop import MISTAKES as LOOP
from autograder.courses.transformer.training.mistakes.rate import MISTAKES as RATE
from autograder.courses.transformer.training.mistakes.state import MISTAKES as STATE
from autograder.courses.transformer.training.mistakes.steps import MISTAKES as STEPS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(ADAMW, STATE, CLIPPING, RATE, STEPS, LOOP)
