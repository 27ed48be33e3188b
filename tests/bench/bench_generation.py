"""Tokens per second with and without the key/value cache, and the time per token as the text grows.

    python tests/bench/bench_generation.py
    python tests/bench/bench_generation.py --context 256 --width 64 --rounds 7

The two run in turn with one thread, from the same prompt and the same random numbers. Prints medians; the speed-up is
the median of the ratios within a round. The tokens are compared, too.
"""

import os
import statistics
import sys
import time

from measuring import ALLOCATOR, ROOT, make_parser, ratios

ENVIRONMENT = {**ALLOCATOR, "OPENBLAS_NUM_THREADS": "1"}


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--context", type=int, default=256, help="block size; the text grows from one token to it")
    parser.add_argument("--vocab", type=int, default=65)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--solutions", default=str(ROOT / "solutions"), metavar="DIR")
    options = parser.parse_args()
    if any(os.environ.get(key) != value for key, value in ENVIRONMENT.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ENVIRONMENT})
    sys.path.insert(0, options.solutions)

    import numpy as np
    from generation import generate, generate_cached
    from gpt import GPTConfig, init_gpt

    config = GPTConfig(
        options.vocab, options.context, n_layers=options.layers, n_heads=options.heads, d_model=options.width
    )
    params = init_gpt(config, np.random.default_rng(0))
    prompt = np.zeros((options.batch, 1), dtype=np.int64)
    n_new = options.context - 1
    times: dict[str, list[float]] = {"generate": [], "generate_cached": []}
    same = 0
    for seed in range(options.rounds):
        texts = []
        for function in (generate, generate_cached):
            started = time.perf_counter()
            texts.append(function(prompt, params, config, n_new, np.random.default_rng(seed)))
            times[function.__name__].append((time.perf_counter() - started) / n_new)
        same += bool((texts[0] == texts[1]).all())
    print(
        f"width {options.width}, {options.heads} heads, {options.layers} layers, batch {options.batch}: "
        f"from 1 token to {options.context}, {options.rounds} rounds, equal tokens in {same}"
    )
    print(f"{'':20}{'ms per token':>14}{'tokens/s':>12}{'speed-up':>9}")
    for name, taken in times.items():
        median = statistics.median(taken)
        ratio = statistics.median(ratios(taken, times["generate"]))
        print(f"{name:20}{1e3 * median:14.3f}{options.batch / median:12.0f}{ratio:8.1f}x")

    print("\nms per token, by length of the text")
    points = [round(options.context * part / 8) for part in range(1, 8)]
    print(f"{'':20}" + "".join(f"{point:>9}" for point in points))
    for function in (generate, generate_cached):
        costs = []
        for point in points:
            start = np.zeros((options.batch, point), dtype=np.int64)
            costs.append(statistics.median(_marginal(function, start, params, config) for _ in range(options.rounds)))
        print(f"{function.__name__:20}" + "".join(f"{1e3 * cost:9.3f}" for cost in costs))


def _marginal(function, prompt, params, config) -> float:
    """Return the seconds per token of 16 more tokens, after a first one that reads the prompt."""
    import numpy as np

    taken = []
    for n_new in (1, 17):
        started = time.perf_counter()
        function(prompt, params, config, n_new, np.random.default_rng(0))
        taken.append(time.perf_counter() - started)
    return (taken[1] - taken[0]) / 16


if __name__ == "__main__":
    main()
