"""A process and those that it started, as Linux shows them in /proc."""

import contextlib
import re
from pathlib import Path


def children(pid):
    """Yield the processes that a process started; none if it has ended."""
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            yield from map(int, (task / "children").read_text().split())


def family(pid):
    """Yield a process and all below it."""
    yield pid
    for child in children(pid):
        yield from family(child)


def memory_mib(pid):
    """Return the memory that a process holds, in MiB; of pages that processes share, each holds its part."""
    with contextlib.suppress(OSError):
        if size := re.search(r"(?m)^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text()):
            return int(size[1]) / 1024
    return 0.0
