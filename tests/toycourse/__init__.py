"""A course of two functions, as a third party's package would bring it. The least that there is to write."""

from autograder.course.declare import course

COURSE = course(__name__, "averages", name="toy", title="Mean and variance")
