"""Mistakes in `gpt2`: running a GPT-2 checkpoint."""

from autograder.courses.transformer.gpt2.mistakes.cache import MISTAKES as CACHE
from autograder.courses.transformer.gpt2.mistakes.config import MISTAKES as CONFIG
from autograder.courses.transformer.gpt2.mistakes.logits import MISTAKES as LOGITS
from autograder.courses.transformer.gpt2.mistakes.params import MISTAKES as PARAMS
from autograder.courses.transformer.gpt2.mistakes.tensors import MISTAKES as TENSORS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(CONFIG, PARAMS, TENSORS, CACHE, LOGITS)
