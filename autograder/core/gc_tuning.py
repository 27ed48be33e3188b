"""How often Python looks for garbage: seldom. What start-up makes lives to the end, and nearly all else is arrays."""

import gc

THRESHOLD = 100_000


def raise_gc_threshold(*, spare: bool = False) -> None:
    """Search after 100,000 new objects, not 700: with the default, a tenth of the time goes into it.

    Args:
        spare: leave out what is there now, from now on.
    """
    if spare:
        gc.collect()
        gc.freeze()
    gc.set_threshold(THRESHOLD)
