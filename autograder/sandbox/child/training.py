"""Train the student's model with the student's functions, some steps at a time. Runs in the student's process.

Parameters and optimizer state stay here between requests; losses and text are sent back. Step i draws its batch with a
generator seeded by (seed, i), and what it drops with another, so that an interrupted run resumes exactly as if it had
not been interrupted.
"""

import numpy as np

VALIDATION_WINDOWS = 1024
VALIDATION_BATCH = 64
DROPOUT_SEED = 1_000_000  # makes the seeds of dropout different from those of the batches


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
        self.batch_size, self.seed = request["batch_size"], request["seed"]
        self.block_size = request["model"]["block_size"]
        self.params, self.state = request["params"], request["state"]
        self.prepare(request["model"])

    def prepare(self, model):
        """Make the configuration, and the initial parameters of a new run."""
        self.configure("gpt", "GPTConfig", "init_gpt", vocab_size=len(self.chars), **model)

    def configure(self, module, config, init, **fields):
        self.config = self.function(module, config)(**fields)
        if self.params is None:
            self.params = self.function(module, init)(self.config, np.random.default_rng(self.seed))

    def describe(self):
        """Return the numbers of characters in the vocabulary and in both parts of the text, and that of parameters."""
        return (len(self.chars), len(self.train_ids), len(self.val_ids), self.count_parameters())

    def count_parameters(self):
        return int(self.function("gpt", "count_parameters")(self.params))

    def batch(self, ids, size, *seed):
        return self.function("tokenizer", "get_batch")(ids, size, self.block_size, np.random.default_rng(seed))

    def batches(self, numbers, rng):
        """Yield the batch of each step, and seed the generator of dropout for the step."""
        for number in numbers:
            if rng is not None:
                seeded = np.random.default_rng((self.seed, number, DROPOUT_SEED))
                rng.bit_generator.state = seeded.bit_generator.state
            yield self.batch(self.train_ids, self.batch_size, self.seed, number)

    def steps(self, request):
        """Do steps `first` to `first + count - 1` and return their losses."""
        numbers = range(request["first"], request["first"] + request["count"])
        rng = np.random.default_rng() if getattr(self.config, "dropout", 0) else None
        batches = self.batches(numbers, rng)
        is_constant = request["schedule"] == "constant"
        rates = request["lr"] if is_constant else [self.rate(number, request) for number in numbers]
        train = self.function("training", "train")
        dropout = {} if rng is None else {"rng": rng}
        self.params, self.state, losses = train(self.params, self.config, batches, rates, state=self.state, **dropout)
        return [float(loss) for loss in losses]

    def rate(self, number, request):
        lr, total = request["lr"], request["total"]
        if request["schedule"] == "constant":
            return lr
        return self.function("training", "learning_rate")(number, lr, lr / 10, total // 20, total)

    def validation_batches(self):
        """Return windows of the validation text, the same ones every time."""
        count = VALIDATION_WINDOWS // VALIDATION_BATCH
        return [self.batch(self.val_ids, VALIDATION_BATCH, self.seed, 0, i) for i in range(count)]

    def validation(self, request):
        """Return the loss on the validation text."""
        return float(self.function("training", "estimate_loss")(self.params, self.config, self.validation_batches()))

    def start_text(self, request):
        """Begin a text with the prompt."""
        self.text_ids = np.asarray(self.function("tokenizer", "encode")(request["prompt"], self.stoi))
        self.text_rng = np.random.default_rng(request["seed"])
        self.text_options = {name: request[name] for name in ("temperature", "top_k", "top_p")}

    def more_text(self, request):
        """Append at most `length` characters to the text and return them.

        Every new token draws one number from the same generator, so the sizes of the pieces do not matter.
        """
        ids = np.asarray(self.new_tokens(request["length"]))
        self.text_ids = np.concatenate([self.text_ids, ids])
        return self.function("tokenizer", "decode")(ids, self.itos)

    def new_tokens(self, count):
        """Return `count` tokens generated after those of the text."""
        return self.generated(self.function("generation", "generate_cached"), count)

    def generated(self, generate, count):
        prompt = self.text_ids[None]
        ids = generate(prompt, self.params, self.config, count, self.text_rng, **self.text_options)
        return np.asarray(ids)[0, prompt.shape[-1] :]

    def snapshot(self, request):
        """Return everything that a checkpoint needs, as data."""
        return (dict(self.params), dict(self.state or {}), self.chars)


class BigramRun(TrainingRun):
    """A training run of the bigram model, whose only parameter is the table W."""

    def prepare(self, model):
        if self.params is None:
            self.params = {"W": np.zeros((len(self.chars), len(self.chars)))}

    def count_parameters(self):
        return int(self.params["W"].size)

    def steps(self, request):
        """Do the steps of `train_bigram` from the current table: a run that is shown live is made in many parts."""
        loss_of, step = self.function("bigram", "bigram_loss"), self.function("bigram", "sgd_step")
        losses, table = [], self.params["W"]
        for number in range(request["first"], request["first"] + request["count"]):
            loss, gradient = loss_of(*self.batch(self.train_ids, self.batch_size, self.seed, number), table)
            table = step(table, gradient, request["lr"])
            losses.append(float(loss))
        self.params = {"W": table}
        return losses

    def loss_on(self, ids, table):
        return float(self.function("bigram", "bigram_loss")(ids[:-1], ids[1:], table)[0])

    def validation(self, request):
        """Return the loss on the whole validation text."""
        return self.loss_on(self.val_ids, self.params["W"])

    def losses_beside_counts(self, request):
        """Return the losses on the training and the validation text, of the table and of counting."""
        counted = np.log(self.function("counting", "bigram_counts")(self.train_ids, len(self.chars)))
        texts, tables = (self.train_ids, self.val_ids), (self.params["W"], counted)
        return [[self.loss_on(ids, table) for ids in texts] for table in tables]

    def new_tokens(self, count):
        """Return `count` tokens generated after the last one of the text, the only one that matters."""
        table, temperature = self.params["W"], self.text_options["temperature"]
        if temperature == 0:  # Only the largest score of each row is left.
            table = np.where(np.arange(len(table)) == table.argmax(axis=1)[:, None], 0.0, -np.inf)
        else:
            table = table / temperature
        return self.function("bigram", "generate_bigram")(table, int(self.text_ids[-1]), count, self.text_rng)[1:]


class AdamWRun(TrainingRun):
    """A training run whose loop is here, because the course has none for its model."""

    def steps(self, request):
        step, losses = self.function("training", "adamw_step"), []
        for number in range(request["first"], request["first"] + request["count"]):
            batch = self.batch(self.train_ids, self.batch_size, self.seed, number)
            loss, gradients = self.loss_and_gradients(*batch)
            self.params, self.state = step(self.params, gradients, self.state or {}, self.rate(number, request))
            losses.append(loss)
        return losses


class EncoderDecoderRun(AdamWRun):
    """A training run of the encoder–decoder: it reads a window of the text and learns to write it again.

    The target vocabulary has one more token, the last, with which every target starts.
    """

    def prepare(self, model):
        fields = {name: value for name, value in model.items() if name != "block_size"}
        sizes = {"vocab_source": len(self.chars), "vocab_target": len(self.chars) + 1}
        self.configure("encoder_decoder", "TransformerConfig", "init_transformer", **sizes, **fields)

    def count_parameters(self):
        return sum(value.size for value in self.params.values())

    def loss_and_cache(self, source):
        """Return the mean loss of the source's tokens as the answer, its gradient, and the cache."""
        start = np.full((len(source), 1), len(self.chars))
        target = np.concatenate([start, source[:, :-1]], axis=1)
        log_probs, cache = self.function("encoder_decoder", "transformer")(source, target, self.params, self.config)
        chosen = (source[..., None] == np.arange(log_probs.shape[-1])).astype(log_probs.dtype)
        dlog_probs = -chosen / log_probs.dtype.type(source.size)
        return float((log_probs * dlog_probs).sum()), dlog_probs, cache

    def loss_and_gradients(self, source, _):
        loss, dlog_probs, cache = self.loss_and_cache(source)
        return loss, self.function("encoder_decoder", "transformer_backward")(dlog_probs, cache)

    def validation(self, request):
        """Return the loss on windows of the validation text, the same ones every time."""
        source, _ = self.batch(self.val_ids, VALIDATION_BATCH, self.seed, 0, 0)
        return self.loss_and_cache(source)[0]

    def new_tokens(self, count):
        """Read the prompt and return at most `count` tokens of the answer."""
        prompt = self.text_ids[None]
        write = self.function("encoder_decoder", "greedy_decode")
        length = min(count, prompt.shape[-1])
        ids = write(prompt, self.params, self.config, start=len(self.chars), end=-1, max_length=length)
        return np.array([i for i in np.asarray(ids)[0].tolist() if i < len(self.chars)], dtype=int)


class LlamaRun(AdamWRun):
    """A training run of a Llama, with the loss and the optimizer of the GPT."""

    def prepare(self, model):
        self.configure("llama", "LlamaConfig", "init_llama", vocab_size=len(self.chars), **model)

    def loss_and_gradients(self, x, y):
        logits, cache = self.function("llama", "llama")(x, self.params, self.config)
        dlogits = self.function("softmax", "cross_entropy_backward")(logits, y)
        gradients = self.function("llama", "llama_backward")(dlogits, cache)
        return float(self.function("softmax", "cross_entropy")(logits, y)), gradients

    def validation(self, request):
        """Return the loss on the validation text, on the same windows as that of a GPT."""
        model, loss_of = self.function("llama", "llama"), self.function("softmax", "cross_entropy")
        losses = [loss_of(model(x, self.params, self.config)[0], y) for x, y in self.validation_batches()]
        return float(np.mean(losses))

    def new_tokens(self, count):
        return self.generated(self.function("llama", "generate_llama"), count)


RUNS = {"gpt": TrainingRun, "bigram": BigramRun, "encoder-decoder": EncoderDecoderRun, "llama": LlamaRun}
