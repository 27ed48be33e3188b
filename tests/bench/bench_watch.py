"""The latency of `headway watch`: from the write of a file to the verdict in a real pseudo-terminal.

    python tests/bench/bench_watch.py                # softmax and blocks, 30 saves each
    python tests/bench/bench_watch.py --saves 10
    python tests/bench/bench_watch.py --loops        # each wrong save has an endless loop
    python tests/bench/bench_watch.py --against DIR  # in turn with the checkout in DIR (with a .venv) and plain pytest

Each save changes one function from right to wrong or back, so that each verdict differs from the previous one. Prints
medians, and the time of each stage: noticing the save (the operating system, and the wait for further saves), comparing
syntax trees, checking, drawing. The first wrong and the first right save collect checks and fill caches.
"""

import argparse
import itertools
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from measuring import HEADWAY, copy_solutions, make_parser, median_ms, plain_pytest, spread, timed, warm
from support.terminal import Terminal
from support.waiting import wait_until

from autograder.cli import main as headway
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace.session import WatchSession
from autograder.workspace.terminal import BEGIN_FRAME, END_FRAME, InteractiveTerminal

STAGES = ("noticed", "asked", "answered", "drawn")
# What happens up to each stage.
DESCRIPTIONS = ("noticing the save", "comparing syntax trees", "checking", "drawing", "reaching the terminal")
WRONG_BLOCK = """def block(*args, **kwargs):
    out, cache = _right(*args, **kwargs)
    return 1.01 * out, cache


def _right(x"""
CASES = {
    "softmax.softmax": ("z /= z.sum(axis=axis, keepdims=True)", "z /= 2 * z.sum(axis=axis, keepdims=True)"),
    "blocks.block": ("def block(x", WRONG_BLOCK),
}
NUMBERS = {entry.module: entry.number for entry in TRANSFORMER.assignments}
LAST = NUMBERS["generation"]
WRITTEN = {name: (NUMBERS[name.partition(".")[0]], LAST) for name in CASES}  # until which assignment
LOOP = ("z /= z.sum(axis=axis, keepdims=True)", "while True: pass")


def record(timings):
    """Run `headway watch`, and append a line of JSON for each result to a file: when each stage was reached."""
    marks, show = {}, InteractiveTerminal.show

    def marked(method, before, after):
        def run(*args, **options):
            begun = time.time()
            if result := method(*args, **options):
                marks.update({before: begun, after: time.time()})
            return result

        return run

    def marked_show(*args):
        show(*args)
        if "answered" in marks:
            with open(timings, "a", encoding="utf-8") as file:
                file.write(json.dumps({**marks, "drawn": time.time()}) + "\n")
            marks.clear()

    WatchSession.check_changes = marked(WatchSession.check_changes, "noticed", "asked")
    WatchSession.receive = marked(WatchSession.receive, "received", "answered")
    InteractiveTerminal.show = marked_show
    headway(["watch"])


def workspace(folder, until):
    """Create a workspace with solutions up to the assignment `until` and stubs after it."""
    timed(*HEADWAY, "init", folder)
    copy_solutions(folder, [entry.module for entry in TRANSFORMER.assignments if entry.number <= until])


def verdict(terminal, words, seconds=120.0):
    """Wait for a complete frame with a verdict that contains `words`; return the time."""
    deadline = time.monotonic() + seconds
    start = len(terminal.raw)
    while time.monotonic() < deadline:
        terminal.feed(1.0)
        now = time.time()
        end = terminal.raw.rfind(END_FRAME)
        frame = terminal.raw[terminal.raw.rfind(BEGIN_FRAME, start, end) : end] if end > start else ""
        if words in frame and "checking" not in frame:
            return now
    raise SystemExit(f"no verdict with {words!r}:\n{terminal.screen()}")


def measure(function, until, saves, case, words_if_wrong, command=HEADWAY):
    """Return the seconds from write to verdict and of each stage, for each save."""
    right, wrong = case
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "my-gpt"
        workspace(folder, until)
        state = json.loads((folder / ".headway.json").read_text())
        (folder / ".headway.json").write_text(json.dumps({**state, "at": function}))
        timings = Path(scratch) / "timings"
        path = folder / f"{function.partition('.')[0]}.py"
        good = path.read_text()
        assert right in good
        terminal = Terminal([command[0], __file__, "--record", str(timings)], folder, columns=140)
        try:
            terminal.wait_for(f"{function} passes")
            wait_until_quiet(terminal)
            totals, stages = [], []
            for number in range(saves + 2):
                text = good.replace(right, wrong, 1) if number % 2 == 0 else good
                words = words_if_wrong if number % 2 == 0 else " passes."
                started = time.time()
                path.write_text(text)
                seen = verdict(terminal, words)
                wait_until_quiet(terminal)
                marks = marks_after(started, timings)
                times = [started, *(marks[stage] for stage in STAGES), seen]
                totals.append(seen - started)
                stages.append([b - a for a, b in itertools.pairwise(times)])
        finally:
            terminal.close()
    return warm(totals, 2), [statistics.median(column) for column in zip(*warm(stages, 2), strict=True)]


def marks_after(moment, timings):
    """Wait until `headway watch` has recorded the result of a save; return when it reached each stage."""
    found = []

    def read():
        marks = map(json.loads, timings.read_text().splitlines() if timings.is_file() else ())
        found.extend(record for record in marks if record.get("noticed", 0.0) > moment)
        return found

    wait_until(read)
    return found[0]


def wait_until_quiet(terminal, seconds=0.7):
    """Until the background checks are over: nothing more is drawn."""
    while terminal.feed(seconds):
        pass


def one_shot(runs):
    """Whole processes: `--help` and completion, milliseconds."""
    completion = {"_HEADWAY_COMPLETE": "bash_complete", "COMP_WORDS": "headway check sof", "COMP_CWORD": "2"}
    for name, arguments, environment in (("headway --help", ["--help"], {}), ("completion", [], completion)):
        taken = [timed(*HEADWAY, *arguments, env=environment).seconds for _ in range(runs)]
        print(f"{name:<24}{spread(taken, scale=1e3)} ms")


def compare(other, functions, until, saves, rounds):
    """Print medians of right and of wrong saves, here and in another checkout, measured in turn, with plain pytest."""
    headways = {"here": HEADWAY, "there": [str(other.absolute() / ".venv" / "bin" / "python"), *HEADWAY[1:]]}
    print(f"{'':16}{'':8}{'wrong':>8}{'right':>8}   medians of {rounds} rounds of {saves} saves each, ms")
    for function in functions:
        module = function.partition(".")[0]
        totals = {name: ([], []) for name in headways}
        pytests = []
        for number in range(rounds):
            order = list(headways.items())[:: 1 if number % 2 else -1]
            for name, command in order:
                seconds, _ = measure(function, until, saves, CASES[function], "differs from", command)
                for kind in (0, 1):
                    totals[name][kind].extend(seconds[kind::2])
            # The generator of dropout is Headway's.
            pytests.append(plain_pytest(bundled("solutions"), [module], "-k", "not dropout").seconds)
        for name, kinds in totals.items():
            print(f"{function:<16}{name:<8}" + "".join(f"{median_ms(kind):>8}" for kind in kinds), flush=True)
        times = statistics.median(pytests) / statistics.median(totals["here"][0] + totals["here"][1])
        print(f"{function:<16}plain pytest: {median_ms(pytests)} ms, {times:.1f} times as long", flush=True)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--saves", type=int, default=30, help="after two that fill caches; 0: only these two")
    parser.add_argument("--function", choices=CASES, help="only this one")
    parser.add_argument("--until", type=int, help="number of the last assignment that is written")
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--record", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--against", type=Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=2, help="with --against")
    options = parser.parse_args()
    if options.record:
        record(options.record)
    functions = [options.function] if options.function else list(CASES)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {options.saves} saves, medians, ms")
    if options.against:
        compare(options.against, functions, options.until or LAST, options.saves, options.rounds)
        return
    if options.loops:
        totals, _ = measure("softmax.softmax", options.until or LAST, options.saves, LOOP, "was stopped")
        print(f"an endless loop in softmax.softmax: {spread(totals[::2], '.2f')} s")
        return
    print(f"{'':44}{'total':>7}   " + "   ".join(DESCRIPTIONS))
    for function in functions:
        for until in [options.until] if options.until else WRITTEN[function]:
            totals, stages = measure(function, until, options.saves, CASES[function], "differs from")
            label = f"{function}, assignments 1 to {until} written"
            parts = [f"{1e3 * stage:{len(word)}.1f}" for stage, word in zip(stages, DESCRIPTIONS, strict=True)]
            print(f"{label:<44}{median_ms(totals):>7}   {'   '.join(parts)}   {spread(totals, scale=1e3)}", flush=True)
    one_shot(max(1, options.saves // 2))


if __name__ == "__main__":
    main()
