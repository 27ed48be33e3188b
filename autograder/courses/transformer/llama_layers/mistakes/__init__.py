"""Mistakes in `llama_layers`: rotary positions, SwiGLU, and shared keys and values."""

from autograder.courses.transformer.llama_layers.mistakes.attention import MISTAKES as ATTENTION
from autograder.courses.transformer.llama_layers.mistakes.attention_backward import MISTAKES as ATTENTION_BACKWARD
from autograder.courses.transformer.llama_layers.mistakes.rope import MISTAKES as ROPE
from autograder.courses.transformer.llama_layers.mistakes.silu import MISTAKES as SILU
from autograder.courses.transformer.llama_layers.mistakes.swiglu import MISTAKES as SWIGLU
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(ROPE, SILU, SWIGLU, ATTENTION, ATTENTION_BACKWARD)
