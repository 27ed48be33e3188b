"""Mistakes in `gpt2`: running a GPT-2 checkpoint."""

from autograder.courses.transformer.mistakes._gpt2_cache import MISTAKES as CACHE
from autograder.courses.transformer.mistakes._gpt2_config import MISTAKES as CONFIG
from autograder.courses.transformer.mistakes._gpt2_logits import MISTAKES as LOGITS
from autograder.courses.transformer.mistakes._gpt2_params import MISTAKES as PARAMS
from autograder.courses.transformer.mistakes._gpt2_tensors import MISTAKES as TENSORS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(CONFIG, PARAMS, TENSORS, CACHE, LOGITS)
