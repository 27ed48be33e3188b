"""Mistakes in assignment 1: mean and variance."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("averages.mean_of")
mistake("over-columns", ".sum(axis=-1)", ".sum()", "x.shape[-1]", "x.size").explain("""
    the mean was taken over all numbers, not over each row
    why: One number comes out where one for each row should.
    ask: Along which axis does a row lie?""")

mistake = MISTAKES.for_functions("averages.variance")
mistake("divided-by-n-minus-one", "x.shape[-1]", "(x.shape[-1] - 1)").explain("""
    the sum was divided by n - 1 instead of n
    why: That estimates the variance of a population from a sample; here the numbers are all there is.
    ask: How many distances are averaged?""")
