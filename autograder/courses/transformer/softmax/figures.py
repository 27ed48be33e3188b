"""The map: the other pictures of the lesson are plots of `headway plot`."""

from autograder.courses.transformer.common.figures.maps import gpt_map

FIGURES = {"map-softmax": gpt_map("softmax")}
PLOTTED = ("softmax-temperatures", "softmax-overflow")
