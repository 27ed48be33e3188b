"""Tokens per second of the official solution and of transformers at GPT-2 small's size, with random parameters.

    python tests/bench/bench_gpt2.py                      one thread, then two
    python tests/bench/bench_gpt2.py --threads 1 --rounds 9 --new 64

The model is written as a folder of Hugging Face files and imported by `headway import-model`. Then each library runs in
a process of its own that keeps the model, and they generate the same text in turn, greedily, with their caches:

    last_logits       the loop of `headway generate`: gpt2.last_logits, generation.next_token_probs, generation.sample
    generate_cached   generation.generate_cached
    transformers      GPT2LMHeadModel.generate, eager

Every new token needs every parameter once, so memory is the limit: the bench measures how fast one matrix–vector
product reads memory, in the same rounds, and says how much of that each reaches. Prints medians; ratios are medians of
the ratios within a round, which hold when the machine's speed drifts.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from measuring import ALLOCATOR, HEADWAY, ROOT, Worker, answer_numbers, make_parser, peak_megabytes, ratios, timed

TINY = {"vocab_size": 512, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 2}
SMALL = {"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12}
WORKERS = ("last_logits", "generate_cached", "transformers", "matrix × vector")


def write_folder(folder, sizes):
    """Write a model in the form of Hugging Face's files; its vocabulary is made up, because no text is encoded."""
    import numpy as np
    from safetensors.numpy import save_file

    rng, width = np.random.default_rng(0), sizes["n_embd"]

    def normal(*shape, mean=0.0):
        return rng.standard_normal(shape, dtype=np.float32) * np.float32(0.02) + np.float32(mean)

    tensors = {"wte.weight": normal(sizes["vocab_size"], width), "wpe.weight": normal(sizes["n_positions"], width)}
    for i in range(sizes["n_layer"]):
        for name, shape in (("attn.c_attn", (width, 3 * width)), ("attn.c_proj", (width, width)),
                            ("mlp.c_fc", (width, 4 * width)), ("mlp.c_proj", (4 * width, width))):  # fmt: skip
            tensors |= {f"h.{i}.{name}.weight": normal(*shape), f"h.{i}.{name}.bias": normal(shape[1])}
        for name in ("ln_1", "ln_2"):
            tensors |= {f"h.{i}.{name}.weight": normal(width, mean=1), f"h.{i}.{name}.bias": normal(width)}
    tensors |= {"ln_f.weight": normal(width, mean=1), "ln_f.bias": normal(width)}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "activation_function": "gelu_new", **sizes}
    (folder / "config.json").write_text(json.dumps(config | {"bos_token_id": None, "eos_token_id": None}), "utf-8")
    vocabulary = {f"token{i}": i for i in range(sizes["vocab_size"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), "utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", "utf-8")
    return sum(array.size for array in tensors.values()) - tensors["wpe.weight"].size


def loaded(path):
    """Return the parameters of an imported model and the fields of its configuration; lessons can be imported then."""
    from autograder.models.pretrained import model_file

    sys.path.insert(0, str(ROOT / "solutions"))
    model = model_file.load(path)
    return {name: marker.open() for name, marker in model.params.items()}, model.config.fields


def greedy(last_logits, params, config):
    """Return a function that generates n tokens after a prompt, in the loop of `headway generate`."""
    import numpy as np
    from generation import next_token_probs, sample

    def generate(prompt, n_new):
        rng, context, kv, new = np.random.default_rng(0), np.array(prompt)[None], None, []
        for _ in range(n_new):
            logits, kv = last_logits(context, params, config, kv)
            context = sample(next_token_probs(logits, temperature=0), rng)[:, None]
            new.append(int(context[0, 0]))
        return [*prompt, *new]

    return generate


def official(path, kind):
    """Return a function that generates n tokens after a prompt with the official solution."""
    params, fields = loaded(path)
    import numpy as np
    from generation import generate_cached
    from gpt import GPTConfig
    from gpt2 import last_logits

    config = GPTConfig(**fields)

    def cached(prompt, n_new):
        rng, ids = np.random.default_rng(0), np.array(prompt)[None]
        return generate_cached(ids, params, config, n_new, rng, temperature=0)[0].tolist()

    return cached if kind == "generate_cached" else greedy(last_logits, params, config)


def transformers(folder, threads, dtype="float32"):
    """Return a function that generates n tokens after a prompt with transformers."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(threads)
    dtype = getattr(torch, dtype)
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=dtype).eval()

    def generate(prompt, n_new):
        with torch.no_grad():
            ids = torch.tensor([prompt])
            return model.generate(
                ids, attention_mask=torch.ones_like(ids), min_new_tokens=n_new, max_new_tokens=n_new, do_sample=False,
                pad_token_id=0,
            )[0].tolist()  # fmt: skip

    return generate


def memory_reader(count):
    """Return a function that multiplies matrices of `count` numbers in all by one vector, n times."""
    import numpy as np

    rows, columns = 768, 3072
    matrices = np.ones((max(1, count // (rows * columns)), rows, columns), np.float32)
    x = np.ones((1, rows), np.float32)

    def multiply(prompt, n_new):
        for _ in range(n_new):
            for matrix in matrices:
                x @ matrix
        return []

    return multiply


def work(official, options):
    """Answer numbers of new tokens with ids and memory."""
    kind, (folder, path), threads = options.worker, options.files, options.threads[0]
    if kind.startswith("transformers"):
        generate = transformers(folder, threads, *kind.split()[1:])
    elif kind == "matrix × vector":
        generate = memory_reader(options.count)
    else:
        generate = official(path, kind)
    vocabulary = json.loads((folder / "config.json").read_text("utf-8"))["vocab_size"]
    prompt = [(37 * i) % vocabulary for i in range(1, options.prompt + 1)]
    answer_numbers(lambda n_new: (generate(prompt, n_new), peak_megabytes()))


def start_worker(kind, threads, options):
    variables = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    quiet = {"HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore", "TQDM_DISABLE": "1"}
    command = (sys.executable, sys.argv[0], "--worker", kind, "--threads", threads, "--prompt", options.prompt)
    files = ("--files", *options.files, "--count", options.count)
    return Worker(*command, *files, env={**ALLOCATOR, **variables, **quiet})


def compare(kinds, threads, options):
    """Print the table for one number of threads; end if the texts differ."""
    workers = {kind: start_worker(kind, threads, options) for kind in kinds}
    per_token, texts, peaks = {kind: [] for kind in kinds}, {}, {}
    try:
        for worker in workers.values():
            worker.ask(2)  # imports, page cache
        for _ in range(options.rounds):
            for kind, worker in workers.items():
                (first, _), (rest, (texts[kind], peaks[kind])) = worker.ask(1), worker.ask(options.new + 1)
                per_token[kind].append((rest - first) / options.new)  # Reading the prompt takes as long in both.
    finally:
        for worker in workers.values():
            worker.close()
    if len({tuple(text) for kind, text in texts.items() if text and "bfloat16" not in kind}) > 1:
        sys.exit(f"the generated tokens differ: {texts}")
    print(f"\n{threads} thread{'s' * (threads > 1)}, {options.rounds} rounds of {options.new} tokens, which are equal")
    print(f"{'':23}{'tokens/s':>10}{'to transformers':>17}{'GB/s':>7}{'of the limit':>14}{'peak MiB':>10}")
    for kind, taken in per_token.items():
        size = options.count * (2 if "bfloat16" in kind else 4)
        median = statistics.median(taken)
        ratio = statistics.median(ratios(taken, per_token["transformers"]))
        share = statistics.median(ratios(taken, per_token["matrix × vector"])) * size / options.count / 4
        print(f"{kind:23}{1 / median:10.1f}{ratio:16.2f}x{size / median / 1e9:7.1f}{share:13.0%} {peaks[kind]:9.0f}")


def main(doc, kinds, official, write_folder, sizes, tiny):
    """Run a benchmark of tokens per second: make the model, import it, and compare."""
    parser = make_parser(doc)
    parser.add_argument("--threads", type=int, action="append", help="number of threads (default: 1 and 2)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--new", type=int, default=32, help="new tokens in each round")
    parser.add_argument("--prompt", type=int, default=16, help="tokens of the prompt")
    parser.add_argument("--tiny", action="store_true", help="a tiny model, to see whether the benchmark runs")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--files", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(official, options)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder, path = options.files = Path(scratch, "model"), Path(scratch, "model.safetensors")
        folder.mkdir()
        options.count = write_folder(folder, tiny if options.tiny else sizes)
        cost = timed(*HEADWAY, "import-model", folder, "--solution", "--out", path)
        print(f"imported in {cost.seconds:.1f} s; largest process {cost.megabytes:.0f} MiB")
        print(f"numbers read per token: {options.count:,} parameters, {4 * options.count / 1e6:.0f} MB")
        for threads in options.threads or [1, 2]:
            compare(kinds, threads, options)


if __name__ == "__main__":
    main(__doc__, WORKERS, official, write_folder, SMALL, TINY)
