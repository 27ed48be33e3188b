"""What diagnosis and promises know of the built-in course, without its package in each call."""

from functools import partial

from autograder.authoring import promises
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis import mistake, mutations, variants


def __getattr__(name):
    for module in (promises, mistake, mutations, variants):
        if name in vars(module):
            return partial(vars(module)[name], package=TRANSFORMER.package)
    raise AttributeError(name)
