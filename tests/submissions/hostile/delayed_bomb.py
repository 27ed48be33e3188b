"""Sets a timer, an exit function and a finalizer that act later.

Held by: sandbox
Right: full points
"""

import atexit
import signal
import weakref


def later(*arguments):
    for place in ("@marks@/later", __file__ + ".later"):
        try:
            open(place, "w").close()
            print("BREACH: later", flush=True)
        except OSError:
            continue


class Thing:
    pass


thing = Thing()
weakref.finalize(thing, later)
atexit.register(later)
signal.signal(signal.SIGALRM, later)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
