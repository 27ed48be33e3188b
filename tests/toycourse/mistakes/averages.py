"""Mistakes in assignment 1: mean and variance."""

from autograder.engine.diagnosis.mistake import Mistake

MISTAKES = (
    Mistake(
        "averages.mean_of",
        "over-columns",
        "the mean was taken over all numbers, not over each row",
        "One number comes out where one for each row should.",
        "Along which axis does a row lie?",
        edits=((".sum(axis=-1)", ".sum()"), ("x.shape[-1]", "x.size")),
    ),
    Mistake(
        "averages.variance",
        "divided-by-n-minus-one",
        "the sum was divided by n - 1 instead of n",
        "That estimates the variance of a population from a sample; here the numbers are all there is.",
        "How many distances are averaged?",
        edits=(("x.shape[-1]", "(x.shape[-1] - 1)"),),
    ),
)
