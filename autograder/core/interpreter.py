"""Make Python start and run faster, and measure the CPU time that the grader itself uses."""

import atexit
import gc
import sys
import time

# The time of this thread. Pyodide has no threads and no such function; there it is the time of the process.
cpu_seconds = getattr(time, "thread_time", time.process_time)


def cpu_seconds_of(pid: int | None) -> float | None:
    """Return the CPU time that another process has used so far; None where this system has no clock for it."""
    try:
        return time.clock_gettime(~pid << 3 | 2) if pid else None  # see clock_getcpuclockid(3)
    except (AttributeError, OSError):
        return None


def raise_gc_threshold(*, freeze: bool = False) -> None:
    """Collect garbage after 100,000 new objects, not 700; `freeze` excludes all present objects from collections.

    Nearly all objects made at start-up live until the end, and nearly all later ones are arrays, which need no
    collector. With its default threshold, it takes a tenth of the run time. At exit, Python would search all objects
    for garbage several times, although the system frees their memory anyway, so they are excluded from that, too.
    """
    if freeze:
        gc.collect()
        gc.freeze()
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)


def skip_slow_imports() -> None:
    """Keep jsonschema, which nbformat and nbgrader import, from importing `rfc3987_syntax`.

    That module parses 39 grammars: 1.3 s of CPU time at every start. jsonschema does without it, and then does not
    check the format "iri", which no schema of notebooks has.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # An import of it raises ImportError.
