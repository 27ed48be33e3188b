"""Mistakes in `bigram`."""

from autograder.courses.transformer.bigram.mistakes.generation import MISTAKES as GENERATION
from autograder.courses.transformer.bigram.mistakes.loss import MISTAKES as LOSS
from autograder.courses.transformer.bigram.mistakes.step import MISTAKES as STEP
from autograder.courses.transformer.bigram.mistakes.training import MISTAKES as TRAINING
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(GENERATION, LOSS, STEP, TRAINING)
