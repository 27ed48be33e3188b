"""A course that reuses an assignment of the built-in course. Its own assignment also imports one that it leaves out."""

from autograder.course.declare import course
from autograder.course.selection import built_in_assignments

COURSE = course(__name__, *built_in_assignments("softmax"), "pooling", name="mixed", title="Softmax and pooling")
