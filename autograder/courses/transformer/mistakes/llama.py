"""Mistakes in `llama`: rotary positions, SwiGLU, shared keys and values, and the model made of them."""

from autograder.courses.transformer.mistakes._llama_attention import MISTAKES as ATTENTION
from autograder.courses.transformer.mistakes._llama_attention_backward import MISTAKES as ATTENTION_BACKWARD
from autograder.courses.transformer.mistakes._llama_block import MISTAKES as BLOCK
from autograder.courses.transformer.mistakes._llama_block_backward import MISTAKES as BLOCK_BACKWARD
from autograder.courses.transformer.mistakes._llama_config import MISTAKES as CONFIG
from autograder.courses.transformer.mistakes._llama_generation import MISTAKES as GENERATION
from autograder.courses.transformer.mistakes._llama_model import MISTAKES as MODEL
from autograder.courses.transformer.mistakes._llama_model_backward import MISTAKES as MODEL_BACKWARD
from autograder.courses.transformer.mistakes._llama_params import MISTAKES as PARAMS
from autograder.courses.transformer.mistakes._llama_rope import MISTAKES as ROPE
from autograder.courses.transformer.mistakes._llama_silu import MISTAKES as SILU
from autograder.courses.transformer.mistakes._llama_swiglu import MISTAKES as SWIGLU
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
