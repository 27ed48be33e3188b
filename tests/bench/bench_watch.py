"""The latency of `headway watch`: from the write of a file to the verdict in a real pseudo-terminal.

    python tests/bench/bench_watch.py                # softmax and blocks, 30 saves each
    python tests/bench/bench_watch.py --saves 10
    python tests/bench/bench_watch.py --loops        # each wrong save has an endless loop
    python tests/bench/bench_watch.py --against DIR  # in turn with the checkout in DIR (with a .venv) and plain pytest

Each save changes one function from right to wrong or back, so that each verdict differs from the previous one. Prints
medians, and the time of each stage: noticing the save (the operating system, and the wait for further saves), comparing
syntax trees, checking, drawing.
"""

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from bench_check import plain  # noqa: E402
from support.terminal import Terminal  # noqa: E402

from autograder.courses.transformer import TRANSFORMER  # noqa: E402
from autograder.workspace.terminal import BEGIN_FRAME, END_FRAME  # noqa: E402

HEADWAY = [sys.executable, "-m", "autograder.cli"]
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
LOOP = ("z /= z.sum(axis=axis, keepdims=True)", "while True: pass")


def workspace(folder, until):
    """Create a workspace with solutions up to the assignment `until` and stubs after it."""
    subprocess.run([*HEADWAY, "init", folder], check=True, capture_output=True)
    for assignment in TRANSFORMER.assignments:
        if assignment.number <= until:
            shutil.copy(ROOT / "solutions" / f"{assignment.module}.py", folder)


def verdict(terminal, words, seconds=60.0):
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
        terminal = Terminal([*command, "watch"], folder, columns=140, HEADWAY_TIMINGS=str(timings))
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
                if number >= 2:  # the first ones collect checks and fill caches
                    marks = json.loads(timings.read_text().splitlines()[-1])
                    times = [started, *(marks[stage] for stage in STAGES), seen]
                    totals.append(seen - started)
                    stages.append([b - a for a, b in itertools.pairwise(times)])
        finally:
            terminal.close()
    return totals, [statistics.median(column) for column in zip(*stages, strict=True)]


def wait_until_quiet(terminal, seconds=0.7):
    """Until the background checks are over: nothing more is drawn."""
    while terminal.feed(seconds):
        pass


def one_shot(runs):
    """Whole processes: `--help` and completion, milliseconds."""
    completion = {"_HEADWAY_COMPLETE": "bash_complete", "COMP_WORDS": "headway check sof", "COMP_CWORD": "2"}
    for name, arguments, environment in (("headway --help", ["--help"], {}), ("completion", [], completion)):
        taken = []
        for _ in range(runs):
            started = time.perf_counter()
            subprocess.run(
                [*HEADWAY, *arguments], env={**os.environ, **environment}, check=True, stdout=subprocess.DEVNULL
            )
            taken.append(time.perf_counter() - started)
        print(
            f"{name:<24}{1e3 * statistics.median(taken):8.0f} ms   ({1e3 * min(taken):.0f} to {1e3 * max(taken):.0f})"
        )


def compare(other, saves, rounds=2):
    """Print medians of right and of wrong saves, here and in another checkout, measured in turn, with plain pytest."""
    headways = {"here": HEADWAY, "there": [str(other / ".venv" / "bin" / "python"), *HEADWAY[1:]]}
    print(f"{'':16}{'':8}{'wrong':>8}{'right':>8}   medians of {rounds} rounds of {saves} saves each, ms")
    for function, until in (("softmax.softmax", 12), ("blocks.block", 12)):
        module = function.partition(".")[0]
        totals = {name: ([], []) for name in headways}
        pytests = []
        for number in range(rounds):
            order = list(headways.items())[:: 1 if number % 2 else -1]
            for name, command in order:
                seconds, _ = measure(function, until, saves, CASES[function], "differs from", command)
                for kind in (0, 1):
                    totals[name][kind].extend(seconds[kind::2])
            pytests.append(plain([module], ROOT / "solutions", "-k", "not dropout"))  # whose generator is Headway's
        for name, kinds in totals.items():
            wrong, right = (1e3 * statistics.median(values) for values in kinds)
            print(f"{function:<16}{name:<8}{wrong:8.0f}{right:8.0f}", flush=True)
        usual = statistics.median(totals["here"][0] + totals["here"][1])
        seconds = statistics.median(pytests)
        print(f"{function:<16}plain pytest: {1e3 * seconds:.0f} ms, {seconds / usual:.1f} times as long", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saves", type=int, default=30)
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--against", type=Path, metavar="DIR")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {options.saves} saves, medians, ms")
    print(f"{'':44}{'total':>7}   " + "   ".join(DESCRIPTIONS))
    if options.against:
        compare(options.against, options.saves)
        return
    if options.loops:
        totals, _ = measure("softmax.softmax", 12, options.saves, LOOP, "was stopped")
        wrong = totals[::2]
        spread = f"({min(wrong):.2f} to {max(wrong):.2f})"
        print(f"an endless loop in softmax.softmax: {statistics.median(wrong):.2f} s {spread}")
        return
    for function, until in (
        ("softmax.softmax", 3),
        ("softmax.softmax", 14),
        ("blocks.block", 10),
        ("blocks.block", 14),
    ):
        totals, stages = measure(function, until, options.saves, CASES[function], "differs from")
        label = f"{function}, assignments 1 to {until} written"
        spread = f"({1e3 * min(totals):.0f} to {1e3 * max(totals):.0f})"
        parts = [f"{1e3 * stage:{len(word)}.1f}" for stage, word in zip(stages, DESCRIPTIONS, strict=True)]
        print(f"{label:<44}{1e3 * statistics.median(totals):7.0f}   {'   '.join(parts)}   {spread}", flush=True)
    one_shot(max(5, options.saves // 2))


if __name__ == "__main__":
    main()
