"""Train the student's GPT with the student's functions, some steps at a time. Runs in the student's process.

Parameters and optimizer state stay here between requests; losses and text are sent back. Step i draws its batch with a
generator seeded by (seed, i), so that an interrupted run resumes exactly as if it had not been interrupted.
"""

import os
import sys
import time

import numpy as np

VALIDATION_WINDOWS = 1024
VALIDATION_BATCH = 64


class FunctionTimer:
    """A profile function that charges time to the innermost running function of the submission."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "")
        self.seconds = {}
        self.stack = []
        self.last = time.perf_counter()

    def __call__(self, frame, event, argument):
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if not code.co_filename.startswith(self.folder):
            return
        now = time.perf_counter()
        if self.stack:
            name = self.stack[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self.last
        if event == "call":
            module = os.path.basename(code.co_filename).removesuffix(".py")
            inner = code.co_name.startswith("<") and self.stack  # A comprehension is charged to its function.
            self.stack.append(self.stack[-1] if inner else f"{module}.{code.co_name}")
        elif self.stack:
            self.stack.pop()
        self.last = time.perf_counter()


class TrainingRun:
    """One training run: the text as ids, the configuration, the parameters, the optimizer state."""

    def __init__(self, submission, request):
        self.submission = submission
        self.function = submission.function
        chars, self.stoi, self.itos = self.function("tokenizer", "build_vocab")(request["text"])
        self.chars = list(chars)
        if request["chars"] is not None and self.chars != list(request["chars"]):
            raise ValueError("the text's characters are not those of the checkpoint's vocabulary")
        ids = self.function("tokenizer", "encode")(request["text"], self.stoi)
        self.train_ids, self.val_ids = self.function("tokenizer", "train_val_split")(ids)
        self.config = self.function("gpt", "GPTConfig")(vocab_size=len(self.chars), **request["model"])
        self.batch_size, self.seed = request["batch_size"], request["seed"]
        self.params, self.state = request["params"], request["state"]
        if self.params is None:
            self.params = self.function("gpt", "init_gpt")(self.config, np.random.default_rng(self.seed))

    def batch(self, ids, size, *seed):
        return self.function("tokenizer", "get_batch")(ids, size, self.config.block_size, np.random.default_rng(seed))

    def steps(self, request):
        """Do steps `first` to `first + count - 1` and return their losses."""
        numbers = range(request["first"], request["first"] + request["count"])
        batches = (self.batch(self.train_ids, self.batch_size, self.seed, number) for number in numbers)
        rates = request["lr"]
        if request["schedule"] == "cosine":
            rate = self.function("training", "learning_rate")
            total = request["total"]
            rates = [rate(number, request["lr"], request["lr"] / 10, total // 20, total) for number in numbers]
        train = self.function("training", "train")
        self.params, self.state, losses = train(self.params, self.config, batches, rates, state=self.state)
        return [float(loss) for loss in losses]

    def validation(self, request):
        """Return the loss on the validation text, on the same windows every time."""
        size = min(VALIDATION_BATCH, VALIDATION_WINDOWS)
        batches = [self.batch(self.val_ids, size, self.seed, 0, i) for i in range(VALIDATION_WINDOWS // size)]
        return float(self.function("training", "estimate_loss")(self.params, self.config, batches))

    def sample(self, request):
        """Generate `length` characters after the prompt."""
        prompt = self.function("tokenizer", "encode")(request["prompt"], self.stoi)[None]
        rng = np.random.default_rng(request["seed"])
        generate = self.function("generation", "generate_cached")
        ids = generate(prompt, self.params, self.config, request["length"], rng, temperature=request["temperature"])
        return self.function("tokenizer", "decode")(np.asarray(ids)[0], self.itos)

    def profile(self, request):
        """Do some more steps; return their seconds, and the seconds by "module.function" of the submission.

        NumPy's time is charged to the function of the submission that called it.
        """
        timer = FunctionTimer(self.submission.folder)
        started = time.perf_counter()
        sys.setprofile(timer)
        try:
            self.steps(request)
        finally:
            sys.setprofile(None)
        return (time.perf_counter() - started, dict(timer.seconds))

    def timed_steps(self, request):
        """Do steps; return their seconds, without the communication with this process, and their losses."""
        started = time.perf_counter()
        losses = self.steps(request)
        return (time.perf_counter() - started, losses)

    def tokens(self, request):
        """Return the training text as ids."""
        return np.asarray(self.train_ids)

    def snapshot(self, request):
        """Return everything that a checkpoint needs, as data."""
        return (dict(self.params), dict(self.state or {}), self.chars)


def handle(submission, request):
    """Do what one request of the trainer asks for."""
    if request["action"] == "start":
        submission.training_run = TrainingRun(submission, request)
        run = submission.training_run
        sizes = (len(run.chars), len(run.train_ids), len(run.val_ids))
        count = int(run.function("gpt", "count_parameters")(run.params))
        return {"status": "returned", "value": (*sizes, count)}
    return {"status": "returned", "value": getattr(submission.training_run, request["action"])(request)}
