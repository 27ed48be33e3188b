"""Measure grading a generated class of any size: time, memory, killed and resumed runs, a second run, Dask.

    python tests/bench/bench_scale.py [--count 2000] [--assignment NAME]... [--kills 10] [--cluster]

Without --assignment, the whole course is graded. One uninterrupted run gives the seconds per submission after the first
100 and overall, the CPU time of the grading processes (without the students' processes), and the memory (proportional
set size) of all of them. The class is then graded again with `kill -9` at random moments and compared document by
document. Then one submission is changed and graded again. With --cluster, the class is also graded on a Dask cluster of
one and of two workers.
"""

import contextlib
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import generated
from measuring import ENVIRONMENT, ROOT, grade_command, make_parser, timed
from support.dask_processes import cluster
from support.process_tree import family, memory_mib
from support.reading import checks_of
from support.softmax_class import documents


class Bench:
    def __init__(self, options, scratch):
        self.options = options
        self.folder = scratch / "class"
        self.scratch = scratch
        print(f"{options.count} submissions: {generated.generate(self.folder, options.count, options.seed)}")

    def command(self, out, *arguments):
        settings = ("-j", self.options.processes, "--call-seconds", "2", *arguments)
        return grade_command(self.folder, self.scratch / out, self.options.assignment, *settings)

    def grade(self, out):
        return subprocess.Popen(self.command(out), stdout=subprocess.DEVNULL, cwd=ROOT, env=ENVIRONMENT)

    def run(self, out, *arguments):
        return timed(*self.command(out, *arguments), exits=(0, 3)).seconds

    def done(self, out):
        with contextlib.suppress(FileNotFoundError):
            return (self.scratch / out / "journal.jsonl").read_bytes().count(b"\n")
        return 0

    def growth(self):
        """Measure rate and memory during one run, between certain counts of finished submissions."""
        run, started = self.grade("whole"), time.perf_counter()
        count = self.options.count
        marks = sorted({mark for mark in (10, 110, count // 2, count - 104, count - 4) if 0 < mark < count})
        seen = []
        for mark in marks:
            while self.done("whole") < mark and run.poll() is None:
                time.sleep(0.05)
            held = sum(map(memory_mib, family(run.pid)))
            seen.append((mark, time.perf_counter() - started, cpu_time(run.pid), held))
        run.wait()
        took = time.perf_counter() - started
        print(f"  whole run {took:.1f} s, {took / self.options.count * 1e3:.1f} ms each, start-up included")
        for (a, since, used, _), (b, until, used_then, held) in itertools.pairwise(seen):
            each, cpu = ((then - first) / max(1, b - a) * 1e3 for first, then in ((since, until), (used, used_then)))
            print(f"  submissions {a:>5} to {b:>5}: {each:7.1f} ms each, CPU {cpu:.1f}; at the end {held:.0f} MiB")
        self.whole = took

    def killed(self):
        rng = random.Random(self.options.seed)
        moments = sorted(rng.uniform(0.02, 0.9) for _ in range(self.options.kills))
        lost = 0
        for moment in moments:
            run = self.grade("killed")
            while self.done("killed") < moment * self.options.count and run.poll() is None:
                time.sleep(rng.uniform(0.01, 0.2))
            before = self.done("killed")
            run.kill()
            run.wait()
            time.sleep(0.5)
            lost = max(lost, before - self.done("killed"))
        self.run("killed")
        whole, again = documents(self.scratch / "whole"), documents(self.scratch / "killed")
        differ = [name for name in whole if whole[name] != again.get(name)]
        print(f"  kill -9 at {len(moments)} moments, each time resumed: {len(whole)} documents, {len(differ)} differ")
        print(f"  results that were written and then lost: {lost}")
        if differ or lost > 0:
            sys.exit(f"these documents differ: {differ[:10]}")

    def second(self):
        unchanged = self.run("whole")
        changed = next(self.folder.glob("*-right")) / "softmax.py"
        changed.write_text(changed.read_text() + "# changed\n")
        print(f"  the same command again: {unchanged:.2f} s; with one submission changed: {self.run('whole'):.2f} s")

    def cluster(self):
        for workers in range(1, self.options.cluster + 1):
            with cluster(workers, self.scratch) as (address, _):
                took = self.run(f"cluster{workers}", "--cluster", address)
            whole, there = documents(self.scratch / "whole"), documents(self.scratch / f"cluster{workers}")
            differ = [name for name in whole if whole[name] != there.get(name)]
            # The time for a diagnosis is limited: a process may find a name for which another had no time left.
            for check in (check for name in differ for one in (whole, there) for check in checks_of(one[name])):
                check["mistake"] = None
            if whole != there:
                sys.exit("Dask gives other documents")
            same = f"the same documents, {len(differ)} of them with other names of mistakes"
            print(f"  Dask, {workers} worker(s): {took:.1f} s, {self.options.count / took:.1f}/s, {same}")


def cpu_time(pid):
    """Return the seconds of CPU time of a process and its living descendants."""
    total = 0
    for process in family(pid):
        with contextlib.suppress(OSError):
            total += sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--assignment", action="append", default=[])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--cluster", type=int, nargs="?", const=2, default=0, metavar="WORKERS", help="at most so many")
    parser.add_argument("-j", dest="processes", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headway-bench-", ignore_cleanup_errors=True) as scratch:
        bench = Bench(options, Path(scratch))
        bench.growth()
        if options.kills:
            bench.killed()
        bench.cluster()
        bench.second()


if __name__ == "__main__":
    main()
