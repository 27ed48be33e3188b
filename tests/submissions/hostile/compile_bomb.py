"""Makes the compiler work for a very long time.

Held by: process
Right: 0 points
"""

for text in ("(" * 100_000, "-" * 1_000_000 + "1", "x" + ".x" * 200_000, "[" * 5000 + "]" * 5000):
    try:
        compile(text, "bomb", "eval")
    except (SyntaxError, MemoryError, RecursionError):
        continue
