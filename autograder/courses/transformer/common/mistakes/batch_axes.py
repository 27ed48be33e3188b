"""Functions that need a fixed number of batch axes, in any layer."""

from functools import partial

from autograder.engine.diagnosis.mistake import MistakeEntry


def add_batch_axes_mistakes(mistake: "partial[MistakeEntry]", line: str, array: str = "x") -> None:
    """Add the mistakes of unpacking the shape of `array` into a fixed number of sizes, before `line`."""
    for name, unpacked, words in (
        ("one", "_, _, _", f"needs exactly one batch axis: B, T, D = {array}.shape"),
        ("no", "_, _", f"works only without batch axes: T, D = {array}.shape"),
    ):
        mistake(f"exactly-{name}-batch-axis", line, f"{unpacked} = {array}.shape\n    {line}").explain(f"""
            the function {words}
            why: There may be any number of batch axes, or none.
            ask: How can you read the sizes from the end of the shape, whatever comes before them?""")
