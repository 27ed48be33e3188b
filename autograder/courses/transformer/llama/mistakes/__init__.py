"""Mistakes in `llama`: rotary positions, SwiGLU, shared keys and values, and the model made of them."""

from autograder.courses.transformer.llama.mistakes.attention import MISTAKES as ATTENTION
from autograder.courses.transformer.llama.mistakes.attention_backward import MISTAKES as ATTENTION_BACKWARD
from autograder.courses.transformer.llama.mistakes.block import MISTAKES as BLOCK
from autograder.courses.transformer.llama.mistakes.block_backward import MISTAKES as BLOCK_BACKWARD
from autograder.courses.transformer.llama.mistakes.config import MISTAKES as CONFIG
from autograder.courses.transformer.llama.mistakes.generation import MISTAKES as GENERATION
from autograder.courses.transformer.llama.mistakes.model import MISTAKES as MODEL
from autograder.courses.transformer.llama.mistakes.model_backward import MISTAKES as MODEL_BACKWARD
from autograder.courses.transformer.llama.mistakes.params import MISTAKES as PARAMS
from autograder.courses.transformer.llama.mistakes.rope import MISTAKES as ROPE
from autograder.courses.transformer.llama.mistakes.silu import MISTAKES as SILU
from autograder.courses.transformer.llama.mistakes.swiglu import MISTAKES as SWIGLU
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(
    ROPE,
    SILU,
    SWIGLU,
    ATTENTION,
    ATTENTION_BACKWARD,
    BLOCK,
    BLOCK_BACKWARD,
    MODEL,
    MODEL_BACKWARD,
    CONFIG,
    PARAMS,
    GENERATION,
)
