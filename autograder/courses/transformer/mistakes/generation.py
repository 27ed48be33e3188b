"""Mistakes in `generation`: generation."""

from autograder.courses.transformer.mistakes._generation_cached import MISTAKES as CACHED
from autograder.courses.transformer.mistakes._generation_forms import MISTAKES as FORMS
from autograder.courses.transformer.mistakes._generation_options import MISTAKES as OPTIONS
from autograder.courses.transformer.mistakes._generation_probs import MISTAKES as PROBS
from autograder.courses.transformer.mistakes._generation_sample import MISTAKES as SAMPLE
from autograder.courses.transformer.mistakes._generation_steps import MISTAKES as STEPS
from autograder.courses.transformer.mistakes._generation_text import MISTAKES as TEXT
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(PROBS, OPTIONS, SAMPLE, TEXT, CACHED, STEPS, FORMS)
