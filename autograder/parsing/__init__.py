"""Parse submitted code: notebooks, the functions in them, the names that functions use.

A parser is something to attack: a few lines can cost it minutes and gigabytes, or end its process. Graders therefore
never call these functions. They ask `sandbox/source_reader.py`, and a sandboxed process loads this package by its path
and calls them there (`requests.py`). So the files import only the standard library and, relatively, each other.

Only code for the user's own files or for Headway's own sources imports them: a running notebook, the generator of
notebooks. `tests/sandbox/test_trusted_parsing.py` has the list.
"""


class Unreadable(Exception):
    """The source cannot be read, or is too large; the text gives the reason."""
