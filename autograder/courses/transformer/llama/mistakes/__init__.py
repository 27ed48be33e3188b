"""Mistakes in `llama`: the block, the model, its checkpoints, and texts."""

from autograder.courses.transformer.llama.mistakes.block import MISTAKES as BLOCK
from autograder.courses.transformer.llama.mistakes.block_backward import MISTAKES as BLOCK_BACKWARD
from autograder.courses.transformer.llama.mistakes.config import MISTAKES as CONFIG
from autograder.courses.transformer.llama.mistakes.generation import MISTAKES as GENERATION
from autograder.courses.transformer.llama.mistakes.model import MISTAKES as MODEL
from autograder.courses.transformer.llama.mistakes.model_backward import MISTAKES as MODEL_BACKWARD
from autograder.courses.transformer.llama.mistakes.params import MISTAKES as PARAMS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(BLOCK, BLOCK_BACKWARD, MODEL, MODEL_BACKWARD, CONFIG, PARAMS, GENERATION)
