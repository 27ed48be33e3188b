"""Mistakes in the backward pass of an encoder–decoder: pre-norm, the last norms, and the bias of the head."""

from autograder.engine.diagnosis.mistake import MistakeEntry, Mistakes

MISTAKES = Mistakes()

_RETURN = "{name: grads[name] for name in params}"

mistake = MISTAKES.for_functions("encoder_decoder.transformer_backward")


def _in_block(name: str, *edits: str) -> MistakeEntry:
    return mistake(name, *edits, inside="_decoder_block_backward")
