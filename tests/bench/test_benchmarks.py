"""Every benchmark runs: both of its sides, once, with its smallest arguments."""

import os
import sys
from importlib.util import find_spec

import pytest
from support.chromium import BROWSER, DRIVER
from support.commands import run_program
from support.paths import ROOT

BENCH = ROOT / "tests" / "bench"
SLOW_IMPORTS = str(ROOT / "tests" / "support" / "slow_imports")  # of nbgrader
SOFTMAX = "--function softmax.softmax"
SMALLEST = {
    "bench_chat.py": ("--tiny --rounds 1 --new 16 --threads 1",),
    "bench_check.py": ("--rounds 0",),
    "bench_class.py": ("--rounds 0 --sample 1 --submissions 1",),
    "bench_gpt2.py": ("--tiny --rounds 1 --new 16 --threads 1",),
    "bench_nbgrader.py": ("--rounds 0 --sample 1 --students 1",),
    "bench_sandbox.py": ("--rounds 0", "--rate --graders 1 --seconds 0"),
    "bench_scale.py": ("--count 2 --assignment softmax --kills 1 --cluster 1",),
    "bench_serve.py": (f"--checks 1 --until 4 {SOFTMAX}",),
    "bench_term.py": ("--students 2 --sample 1",),
    "bench_training.py": ("--presets A --rounds 1",),
    "bench_watch.py": (
        f"--saves 0 --until 4 {SOFTMAX}",
        f"--saves 0 --until 4 {SOFTMAX} --against . --rounds 1",
        "--saves 0 --until 4 --loops",
    ),
}
NEEDED = {
    "bench_chat.py": "transformers", "bench_gpt2.py": "transformers", "bench_class.py": "nbgrader",
    "bench_nbgrader.py": "nbgrader", "bench_scale.py": "distributed", "bench_serve.py": "selenium",
}  # fmt: skip


def test_benchmarks_are_all_run_and_described():
    scripts = {path.name for path in BENCH.glob("bench_*.py")}
    assert scripts == SMALLEST.keys()
    described = (BENCH / "README.md").read_text("utf-8")
    assert {name for name in scripts if f"`python tests/bench/{name}" not in described} == set()


@pytest.mark.slow
@pytest.mark.drawn(2)
@pytest.mark.parametrize(("script", "arguments"), [(name, each) for name, runs in SMALLEST.items() for each in runs])
def test_benchmark_with_smallest_arguments_runs(script, arguments, tmp_path):
    if not find_spec(NEEDED.get(script, "pytest")):
        pytest.skip(f"{NEEDED[script]} is not installed")
    if script == "bench_serve.py" and not (BROWSER and DRIVER):
        pytest.skip("no Chromium with chromedriver: apt-get install chromium chromium-driver")
    (tmp_path / ".venv").symlink_to(sys.prefix)  # the checkout to compare with
    environment = {**os.environ, "PYTHONPATH": SLOW_IMPORTS}
    done = run_program(sys.executable, BENCH / script, *arguments.split(), cwd=tmp_path, env=environment)
    assert done.stdout and not done.stderr
