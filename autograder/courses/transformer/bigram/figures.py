"""The map of the bigram model."""

from autograder.courses.transformer.common.figures.maps import gpt_map

FIGURES = {"map-bigram": gpt_map("bigram")}
