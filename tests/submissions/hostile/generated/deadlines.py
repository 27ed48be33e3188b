"""Calls that never end, or that use more than they seem to: sleep, children, clocks, priorities, many short calls."""

IMPORTS = "import contextlib\nimport ctypes\nimport os\nimport resource\nimport select\nimport signal\nimport socket\nimport sys\nimport threading\nimport time\n\nimport numpy as np\n\n\ndef spin(seconds):\n    ends = time.perf_counter() + seconds\n    while time.perf_counter() < ends:\n        pass\n\n\ndef log_softmax(x, axis=-1):\n    "
BODIES = {
    "sleep_in_slices": ("Sleeps a millisecond at a time, and so is awake at many moments.", "while True: time.sleep(0.001)"),
    "sleep_and_spin": ("Sleeps and computes in turn, and so uses little of both.", "while True: time.sleep(0.03); spin(0.01)"),
    "just_below_the_deadline": ("Computes almost as long as a call may take, in every call.", "spin(0.18)"),
    "sleep_below_the_deadline": ("Sleeps almost as long as a call may take, in every call.", "time.sleep(0.18)"),
    "burn_in_a_thread": ("Computes in threads while the call itself sleeps.", "[threading.Thread(target=spin, args=(99,), daemon=True).start() for _ in range(4)]; time.sleep(99)"),
    "hide_the_clocks": ("Replaces everything that measures time in its process, and loops.", "os.times = time.process_time = time.perf_counter = time.monotonic = resource.getrusage = lambda *a: 0.0\n    while True: pass"),
    "interrupt_itself": ("Gets a signal every millisecond, so that no system call ends.", "signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n    while True: time.sleep(1)"),
    "wait_for_a_pipe": ("Waits for a pipe that it would have to write itself.", "os.read(os.pipe()[0], 1)"),
    "wait_for_a_lock": ("Takes a lock twice.", "lock = threading.Lock(); lock.acquire(); lock.acquire()"),
    "poll": ("Asks a pipe forever whether it has something.", "ends = os.pipe()\n    while True: select.select([ends[0]], [], [], 0)"),
    "lower_its_priority": ("Lowers its priority and loops, so that it is always waiting for the machine.", "with contextlib.suppress(OSError): os.nice(19); os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n    while True: pass"),
    "give_way": ("Gives way to other processes forever.", "while True: os.sched_yield()"),
    "ignore_the_limit": ("Ignores the signal that ends its CPU time.", "for number in range(1, 65):\n        with contextlib.suppress(OSError, ValueError): signal.signal(number, signal.SIG_IGN)\n    while True: pass"),
    "work_in_the_kernel": ("Lets the kernel work: maps and clears memory forever.", "while True: np.zeros(1 << 23).fill(1)"),
    "wait_for_the_disk": ("Writes its output to the disk again and again.", "while True:\n        with contextlib.suppress(OSError): os.write(1, b'x'); os.fsync(1)"),
    "read_the_requests_slowly": ("Reads its own channel a byte at a time.", "while True: os.read(3, 1)"),
    "loop_in_conversion": ("Returns an object that loops when it is converted to an array.", "return type('X', (), {'__array__': lambda self, *a, **k: self.loop(), 'loop': lambda self: [None for _ in iter(int, 1)]})()"),
    "loop_in_a_key": ("Returns a dictionary whose keys take forever to compare.", "key = type('K', (), {'__hash__': lambda self: 1, '__eq__': lambda self, other: spin(99) or False})\n    return {key(): 1, key(): 2}"),
    "loop_in_a_finalizer": ("Leaves an object behind that loops when it is deleted.", "type('F', (), {'__del__': lambda self: spin(99)})()\n    return x"),
    "loop_in_a_warning": ("Warns with a text that takes forever to write.", "import warnings; warnings.warn(type('W', (UserWarning,), {'__str__': lambda self: spin(99) or 'x'})('x'))"),
    "loop_in_a_repr": ("Raises an exception with an attribute that takes forever to read.", "raise type('E', (Exception,), {'__traceback__': property(lambda self: spin(99)), '__str__': lambda self: spin(99) or 'x'})()"),
    "long_power": ("Computes a power in one step that no signal ends.", "return 7 ** (7 ** 9)"),
    "sort_for_ever": ("Sorts a list whose comparisons take time.", "return sorted([type('C', (), {'__lt__': lambda self, other: spin(0.01) or True})() for _ in range(9999)])"),
}  # fmt: skip
CHILDREN = {
    "stop_itself": ("Stops its own process, which then neither runs nor sleeps.", "os.kill(os.getpid(), signal.SIGSTOP)"),
    "burn_in_a_child": ("Computes in children while the call itself waits.", "pids = [os.fork() for _ in range(2)]\n    spin(99)"),
    "burn_in_a_detached_child": ("Computes in a child of a child that has left the group.", "if not os.fork():\n        os.setsid()\n        if not os.fork(): spin(5)\n        os._exit(0)"),
}  # fmt: skip
ATTACKS = [{"name": name, "tries": tries, "code": IMPORTS + body + "\n"} for name, (tries, body) in BODIES.items()]
ATTACKS += [
    {"name": name, "tries": tries, "code": IMPORTS + body + "\n", "held_by": "sandbox"}
    for name, (tries, body) in CHILDREN.items()
]
# What a submission may use in all, however many processes it has.
BUDGETS = {
    "die_after_work": ("Works, and ends its process in every call, so that each has a limit of its own.", "spin(0.12); os._exit(0)"),
    "print_in_every_process": ("Prints as much as it may in every process.", "os.write(1, b'x' * (1 << 20)); os._exit(0)"),
    "errors_in_every_process": ("Writes as many errors as it may in every process.", "os.write(2, b'x\\n' * (1 << 19)); os._exit(1)"),
    "memory_in_every_process": ("Uses most of the memory that it may in every process.", "np.ones(60 << 20); os._exit(0)"),
    "largest_answer_each_call": ("Returns the largest answer in every call.", "return np.ones(2_000_000)"),
    "die_by_every_signal": ("Ends by another signal in every process.", "os.kill(os.getpid(), [signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGTERM, signal.SIGABRT][time.time_ns() % 5])"),
    "close_half_the_channel": ("Closes the channel in one direction.", "socket.socket(fileno=os.dup(3)).shutdown(socket.SHUT_WR); time.sleep(9)"),
    "half_an_answer": ("Sends half of an answer and ends.", "os.write(3, b'HWF1' + bytes(8)); os._exit(0)"),
    "reset_the_channel": ("Closes the channel with unread data in it.", "os.write(3, b'x' * 100_000); os.close(3); os._exit(0)"),
    "answer_after_the_end": ("Answers once more when the call is over.", "import atexit; atexit.register(os.write, 3, b'HWF1' + bytes(12)); os.write(3, b'HWF1' + bytes(12)); return x"),
}  # fmt: skip
ATTACKS += [{"name": name, "tries": tries, "code": IMPORTS + body + "\n"} for name, (tries, body) in BUDGETS.items()]
# Attacks on the process of the grader, which a process without a sandbox could carry out.
KILLS = {
    "kill_the_grader": ("Sends signals to the grader.", "for number in (9, 15, 2, 19):\n        with contextlib.suppress(OSError): os.kill(@grader@, number); print('BREACH')"),
    "starve_the_grader": ("Lowers limits and priority of the grader and of its own parent.", "for pid in (@grader@, os.getppid()):\n        with contextlib.suppress(OSError): resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3)); print('BREACH')\n        with contextlib.suppress(OSError): os.setpriority(os.PRIO_PROCESS, pid, 19); print('BREACH')"),
    "offer_the_grader": ("Makes the system choose the grader when memory is short.", "for pid in (@grader@, os.getppid()):\n        with contextlib.suppress(OSError): open(f'/proc/{pid}/oom_score_adj', 'w').write('1000'); print('BREACH')"),
    "debug_the_grader": ("Attaches to the grader as a debugger.", "for pid in (@grader@, os.getppid()):\n        if ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0: print('BREACH')"),
    "type_for_the_user": ("Types into the terminal of the user.", "import fcntl, termios\n    for number in range(3):\n        with contextlib.suppress(OSError): fcntl.ioctl(number, termios.TIOCSTI, b'x'); print('BREACH')"),
}  # fmt: skip
ATTACKS += [
    {"name": name, "tries": tries, "code": IMPORTS + body + "\n    return x\n", "held_by": "sandbox"}
    for name, (tries, body) in KILLS.items()
]
