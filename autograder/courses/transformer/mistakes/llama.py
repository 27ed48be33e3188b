"""Mistakes in `llama`: rotary positions, SwiGLU, shared keys and values, and the model made of them."""

from autograder.courses.transformer.mistakes._llama_attention import MISTAKES as ATTENTION
from autograder.courses.transformer.mistakes._llama_attention_backward import MISTAKES as ATTENTION_BACKWARD
from autograder.courses.transformer.mistakes._llama_rope import MISTAKES as ROPE
from autograder.courses.transformer.mistakes._llama_silu import MISTAKES as SILU
from autograder.courses.transformer.mistakes._llama_swiglu import MISTAKES as SWIGLU
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(ROPE, SILU, SWIGLU, ATTENTION, ATTENTION_BACKWARD)
