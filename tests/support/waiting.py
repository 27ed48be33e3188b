"""Wait for other processes, however busy the machine is."""

import time


def wait_until(true, seconds=120, what=lambda: "it never happened"):
    """Ask until it is true; fail with what `what` says if that takes longer than `seconds`."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, what()
        time.sleep(0.02)


def is_running(pid):
    """Return whether a process has not ended, where there is /proc."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
