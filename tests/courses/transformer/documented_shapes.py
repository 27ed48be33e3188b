"""Appended to a module of the course: each function refuses arrays whose shapes its docstring does not allow."""


def _refuse_undocumented_shapes(names):
    import functools
    import inspect
    import re

    import numpy as np

    shape = re.compile(r"(?<![\w`*])\((\.\.\.|\w+)((?:, ?\w+)*),?\)")

    def documented(function):
        """Return the names of the axes by parameter; "..." stands for any number of leading axes."""
        arguments = (inspect.getdoc(function) or "").partition("Args:")[2].partition("\n\n")[0]
        found = {}
        for listed, text in re.findall(r"^    ((?:\w+, )*\w+): (.*(?:\n      .*)*)", arguments, re.M):
            if (match := shape.search(text)) and "broadcast" not in text and " or " not in text.split(".")[0]:
                axes = [axis.strip() for axis in f"{match[1]}{match[2]}".split(",")]
                if axes[0] == "B" and "leading axes" in " ".join(text.split()):
                    axes[0] = "..."
                found |= dict.fromkeys(listed.split(", "), axes)
        return found

    def check_shapes(function, given):
        for name, axes in documented(function).items():
            if isinstance(value := given.get(name), np.ndarray):
                fits = value.ndim >= len(axes) - 1 if axes[0] == "..." else value.ndim == len(axes)
                assert fits, f"{function.__name__}: {name} {value.shape} is documented as {axes}"

    def strict(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            result = function(*args, **kwargs)  # Before, because wrong shapes may be a documented error.
            check_shapes(function, inspect.signature(function).bind(*args, **kwargs).arguments)
            return result

        return call

    for name, value in names.items():
        if inspect.isfunction(value) and value.__module__ == names["__name__"] and not name.startswith("_"):
            names[name] = strict(value)


_refuse_undocumented_shapes(globals())
