"""Mistakes in `encoder_decoder`: the encoder–decoder."""

from autograder.courses.transformer.encoder_decoder.mistakes.backward import MISTAKES as BACKWARD
from autograder.courses.transformer.encoder_decoder.mistakes.blocks import MISTAKES as BLOCKS
from autograder.courses.transformer.encoder_decoder.mistakes.decoder_block_steps import MISTAKES as STEPS
from autograder.courses.transformer.encoder_decoder.mistakes.model import MISTAKES as MODEL
from autograder.courses.transformer.encoder_decoder.mistakes.stacks import MISTAKES as STACKS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(BLOCKS, STEPS, STACKS, MODEL, BACKWARD)
