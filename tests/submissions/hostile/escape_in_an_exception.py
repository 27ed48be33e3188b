"""Raises an exception whose name and text are commands to the terminal.

Held by: process
Right: 0 points
"""

Evil = type("Evil\x1b[2J<script>", (Exception,), {})


def log_softmax(x, axis=-1):
    raise Evil("\x1b]0;owned\x07 <img src=x onerror=alert(1)> " + "y" * 1_000_000)
