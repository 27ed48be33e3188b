"""Mistakes in `encoder_decoder`: the encoder–decoder."""

from autograder.courses.transformer.mistakes._decoder_block_steps import MISTAKES as STEPS
from autograder.courses.transformer.mistakes._encoder_decoder_backward import MISTAKES as BACKWARD
from autograder.courses.transformer.mistakes._encoder_decoder_blocks import MISTAKES as BLOCKS
from autograder.courses.transformer.mistakes._encoder_decoder_model import MISTAKES as MODEL
from autograder.courses.transformer.mistakes._encoder_decoder_pre_norm import MISTAKES as PRE_NORM
from autograder.courses.transformer.mistakes._encoder_decoder_stacks import MISTAKES as STACKS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(BLOCKS, STEPS, STACKS, MODEL, BACKWARD, PRE_NORM)
