"""Mistakes in `generation`: generation."""

from autograder.courses.transformer.generation.mistakes.cached import MISTAKES as CACHED
from autograder.courses.transformer.generation.mistakes.options import MISTAKES as OPTIONS
from autograder.courses.transformer.generation.mistakes.probs import MISTAKES as PROBS
from autograder.courses.transformer.generation.mistakes.sample import MISTAKES as SAMPLE
from autograder.courses.transformer.generation.mistakes.text import MISTAKES as TEXT
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(PROBS, OPTIONS, SAMPLE, TEXT, CACHED)
