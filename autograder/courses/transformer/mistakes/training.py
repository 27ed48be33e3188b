"""Mistakes in `training`: training."""

from autograder.courses.transformer.mistakes._training_adamw import MISTAKES as ADAMW
from autograder.courses.transformer.mistakes._training_clipping import MISTAKES as CLIPPING
from autograder.courses.transformer.mistakes._training_loop import MISTAKES as LOOP
from autograder.courses.transformer.mistakes._training_rate import MISTAKES as RATE
from autograder.courses.transformer.mistakes._training_state import MISTAKES as STATE
from autograder.courses.transformer.mistakes._training_steps import MISTAKES as STEPS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(ADAMW, STATE, CLIPPING, RATE, STEPS, LOOP)
