"""Training steps per second of the NumPy solution and of PyTorch on the same machine.

    python tests/bench/bench_training.py                        # presets A, B, C; eager and fused AdamW
    python tests/bench/bench_training.py --compile              # and torch.compile with fused AdamW
    python tests/bench/bench_training.py --presets A --rounds 30

Each contestant has its own process (NumPy's does not import PyTorch) with one thread, and waits while the others run.
Every round runs each of them for a few steps, so that other load on the machine affects all alike. The times are
medians over the rounds; the speed against eager PyTorch is the median of the ratios within a round, so it need not be
the quotient of the times. All start from the same parameters and see the same batches; their losses are compared first.
"""

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable

from measuring import ALLOCATOR, ROOT, Worker, answer_numbers, make_parser, ratios

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# vocabulary, width, heads, layers, context, batch, learning rate, timed seconds per contestant and round
PRESETS = {
    "A": (27, 64, 4, 2, 16, 32, 0.004, 0.15), "B": (65, 64, 4, 4, 32, 16, 1e-3, 0.4),
    "C": (65, 128, 4, 4, 64, 12, 1e-3, 1.0), "D": (65, 384, 6, 6, 256, 8, 1e-3, 4.0),
}  # fmt: skip
CONTESTANTS = ["NumPy", "torch eager", "torch fused", "torch fused + compile"]
N_BATCHES = 64


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--presets", nargs="+", choices=PRESETS, default=["A", "B", "C"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--compile", action="store_true", help="include torch.compile (needs a C++ compiler)")
    parser.add_argument("--untied", action="store_true", help="an output head of its own, not the token table")
    parser.add_argument("--solutions", default=str(ROOT / "solutions"), metavar="DIR")
    parser.add_argument("--plain-malloc", action="store_true", help="do not set up the memory allocator")
    parser.add_argument("--contestant", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        serve(options)
        return
    for preset in options.presets:
        compare(preset, options)


def compare(preset: str, options: argparse.Namespace) -> None:
    """Run all contestants in turn and print a table."""
    names = CONTESTANTS if options.compile else CONTESTANTS[:-1]
    environment = {**ONE_THREAD, **({} if options.plain_malloc else ALLOCATOR)}
    command = [sys.executable, __file__, "--presets", preset, "--solutions", options.solutions]
    command += ["--untied"] if options.untied else []
    workers = {name: Worker(*command, "--contestant", name, env=environment) for name in names}
    vocab, width, heads, layers, context, batch, _, seconds = PRESETS[preset]
    first = {name: worker.ask(20)[1] for name, worker in workers.items()}
    difference = max(abs(a - b) for losses in first.values() for a, b in zip(first["NumPy"], losses, strict=True))
    if difference > 1e-3:
        raise SystemExit(f"the losses of the first 20 steps differ by {difference:.1e}: the models are not the same")
    # Steps per turn.
    counts = {name: max(2, round(seconds * 10 / worker.ask(10)[0])) for name, worker in workers.items()}
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(options.rounds):
        for name, worker in workers.items():
            times[name].append(worker.ask(counts[name])[0] / counts[name])
    for worker in workers.values():
        worker.close()

    sizes = f"{vocab} tokens, width {width}, {heads} heads, {layers} layers, context {context}, batch {batch}"
    print(f"\n{preset}: {sizes}")
    print(f"{options.rounds} rounds; the losses of the first 20 steps differ by at most {difference:.0e}")
    print(f"{'':24}{'ms per step':>12}{'fastest':>10}{'steps/s':>10}{'median ratio to eager':>23}")
    for name, taken in times.items():
        median = statistics.median(taken)
        # Within a round the two were measured one after the other, so load on the machine largely cancels out.
        ratio = statistics.median(ratios(taken, times["torch eager"]))
        print(f"{name:24}{1e3 * median:12.3f}{1e3 * min(taken):10.3f}{1 / median:10.1f}{ratio:22.2f}x", flush=True)


def serve(options: argparse.Namespace) -> None:
    """Run one contestant: read numbers of steps, answer with the seconds they took and the losses."""
    sys.path.insert(0, options.solutions)
    import numpy as np
    from gpt import GPTConfig, init_gpt

    vocab, width, heads, layers, context, batch, lr, _ = PRESETS[options.presets[0]]
    config = GPTConfig(vocab, context, n_layers=layers, n_heads=heads, d_model=width, tied=not options.untied)
    rng = np.random.default_rng(0)
    params = init_gpt(config, rng)
    tokens = rng.integers(0, vocab, (N_BATCHES, batch, context + 1))
    batches = [(part[:, :-1].copy(), part[:, 1:].copy()) for part in tokens]
    if options.contestant == "NumPy":
        run = numpy_trainer(params, config, batches, lr)
    else:
        fused, compiled = "fused" in options.contestant, "compile" in options.contestant
        from torch_baseline import torch_trainer

        run = torch_trainer(params, config, itertools.cycle(batches), lr, fused=fused, compiled=compiled)
    answer_numbers(run)


def numpy_trainer(params, config, batches, lr) -> Callable[[int], list[float]]:
    """Return a function that runs some steps of the solution's `train`."""
    from training import train

    endless, state = itertools.cycle(batches), {}

    def run(steps: int) -> list[float]:
        nonlocal params, state
        params, state, losses = train(params, config, itertools.islice(endless, steps), lr, state=state)
        return losses

    return run


if __name__ == "__main__":
    main()
