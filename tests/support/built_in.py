"""What the engine knows of the built-in course, without its package in each call."""

from functools import partial

from autograder.authoring import promises
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis import mistake, variants
from autograder.engine.diagnosis import mutations as mutated

_PACKAGE = TRANSFORMER.package

find_promise_problems = partial(promises.find_problems, package=_PACKAGE)
broken_source = partial(promises.broken_source, package=_PACKAGE)
function_docstring = partial(variants.function_docstring, package=_PACKAGE)
imported_modules = partial(variants.imported_modules, package=_PACKAGE)
instance_of = partial(variants.instance_of, package=_PACKAGE)
mistakes_of_function = partial(mistake.mistakes_of_function, package=_PACKAGE)
mistakes_of_module = partial(mistake.mistakes_of_module, package=_PACKAGE)
module_with_mistakes = partial(variants.module_with_mistakes, package=_PACKAGE)
mutations = partial(mutated.mutations, package=_PACKAGE)
parameter_names = partial(variants.parameter_names, package=_PACKAGE)
promises_of_module = partial(promises.promises_of_module, package=_PACKAGE)
solution_module = partial(variants.solution_module, package=_PACKAGE)
solution_source = partial(variants.solution_source, package=_PACKAGE)
source_with_mistakes = partial(variants.source_with_mistakes, package=_PACKAGE)
