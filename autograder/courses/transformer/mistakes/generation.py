"""Mistakes in assignment 11: generation."""

from autograder.courses.transformer.mistakes import (
    _generation_cached,
    _generation_probs,
    _generation_sample,
    _generation_text,
)
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(
    _generation_probs.MISTAKES, _generation_sample.MISTAKES, _generation_text.MISTAKES, _generation_cached.MISTAKES
)
