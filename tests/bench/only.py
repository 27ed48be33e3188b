"""A pytest plugin for the benchmarks: run only the checks of the functions named in $ONLY."""

import os


def pytest_collection_modifyitems(items):
    wanted = os.environ["ONLY"].split(",")
    items[:] = [item for item in items if item.get_closest_marker("graded").args[0] in wanted]
