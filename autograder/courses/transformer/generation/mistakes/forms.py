"""Mistakes in `generation`: the forms of a GPT that generate_cached has to follow (norm, positions, biases)."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PRE, _LAST = 'pre = config.norm == "pre"', 'if config.norm == "pre":'
