"""Import a GPT-2 or a Llama and generate text with it, with the student's functions. Runs in the student's process.

The parameters are mapped from the model's file: they are never copied, and never sent over the socket. What an import
makes of them is sent back in pieces, because this process can write no file.
"""

import dataclasses
import json

import numpy as np

INCOMPLETE = "\ufffd"  # what a decoder makes of bytes that are not a whole character


class Import:
    """The parameters of a model in the course's form, made from the tensors of a checkpoint."""

    def __init__(self, submission, request):
        module, tensors = request["module"], {}
        self.config = submission.function(module, f"{module}_config")(request["config"])
        self.is_bf16 = False
        for name, (array, kind) in request["tensors"].items():
            tensors[name] = array.open()
            if kind == "BF16":
                # As numbers of another format of 16 bits, which keep their dtype: so the function makes views of the
                # mapped file, and not a copy of the model that has twice its size.
                self.is_bf16, tensors[name] = True, tensors[name].view(np.float16)
        self.params = submission.function(module, f"{module}_params")(tensors)

    def describe(self):
        """Return the fields of the configuration, and name, dtype and shape of each parameter."""
        described = {name: (array.dtype.str, tuple(array.shape)) for name, array in self.params.items()}
        return (dataclasses.asdict(self.config), described)

    def choose(self, request):
        """Choose the parameter, or the transpose of it, whose numbers will be asked for."""
        array = self.params[request["name"]]
        self.chosen = np.ascontiguousarray(array.T if request["transposed"] else array).reshape(-1)

    def piece(self, request):
        """Return some of the numbers of the chosen parameter, in float32 if they have 16 bits."""
        numbers = self.chosen[request["start"] : request["stop"]]
        if numbers.dtype != np.float16:
            return numbers
        if self.is_bf16:  # the first half of a float32
            return (numbers.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        return numbers.astype(np.float32)


class Tokenizer:
    """The student's functions of `bpe` with the vocabulary of a model."""

    def __init__(self, submission, request):
        self.function = submission.function
        self.tokens, merges = (json.loads(request[name]) for name in ("tokens", "merges"))
        self.vocab = {token: number for number, token in enumerate(self.tokens)}
        self.merges = [tuple(pair) for pair in merges]
        self.special, self.front = request["special"], request["front"]
        self.text_only = {token: self.vocab[token] for token in self.vocab.keys() - {*self.special}}
        # A function that knows nothing of these options is enough for a model that does not need them.
        options = {name: request[name] for name in ("pattern", "ignore_merges")}
        self.options = {name: value for name, value in options.items() if value}

    def encode(self, text, special=True):
        """Return the ids of a text. Unless `special`, the names of special tokens in it are text like any other."""
        vocab, options = self.text_only, self.options
        if special and self.special:
            vocab, options = self.vocab, {**options, "special_tokens": self.special}
        return self.function("bpe", "bpe_encode")(text, vocab, self.merges, **options).tolist()

    def decode(self, ids):
        """Return the text of some ids."""
        return self.function("bpe", "bpe_decode")(np.array(ids), {self.tokens[number]: number for number in ids})


class Generation:
    """A text that grows token by token. Beyond the model's positions, the window moves, as in `generate_cached`."""

    def __init__(self, submission, request):
        self.function, self.module = submission.function, request["module"]
        self.params, self.config = submission.resolve(request["params"]), submission.resolve(request["config"])
        self.tokenizer = Tokenizer(submission, request["tokenizer"])
        self.rng = np.random.default_rng(request["seed"])
        self.options = {name: request[name] for name in ("temperature", "top_k", "top_p")}
        self.ends = request["ends"]
        ids = request["start"]
        if request["prompt"]:
            ids = [*self.tokenizer.front, *self.tokenizer.encode(request["prompt"])]
        self.ids = np.array(ids, dtype=np.int64).reshape(1, -1)
        self.kv, self.n_cached = None, 0
        self.pending, self.n_shown = [], 0  # tokens whose text is not complete, and how much of it has been shown

    def describe(self):
        """Return the number of tokens of the prompt."""
        return self.ids.shape[-1]

    def next(self, request):
        """Generate one token; return the text that is complete now, or None if the model ended the text."""
        if self.n_cached in (0, self.config.block_size):
            self.kv, self.n_cached, context = None, 0, self.ids[:, -self.config.block_size :]
        else:
            context = self.ids[:, -1:]
        logits = self.predict(context)
        self.n_cached += context.shape[-1]
        token = self.draw(logits)
        self.ids = np.concatenate([self.ids[:, -self.config.block_size :], [[token]]], axis=1)
        return None if token in self.ends else self.complete_text(token)

    def predict(self, ids):
        """Have the model read the next tokens, shape (1, T); return the scores of the token after them."""
        logits, self.kv = self.function(self.module, "last_logits")(ids, self.params, self.config, self.kv)
        if np.shape(logits) != (1, len(self.tokenizer.tokens)) or not np.isfinite(logits).all():
            raise ValueError("last_logits must return a finite score for each token, shape (1, V)")
        return logits

    def draw(self, logits, **options):
        """Return a token that is drawn from the model's prediction."""
        probs = self.function("generation", "next_token_probs")(logits, **{**self.options, **options})
        return int(np.asarray(self.function("generation", "sample")(probs, self.rng)).reshape(()))

    def complete_text(self, token):
        """Return the text that this token completes: a character may need the bytes of several tokens."""
        self.pending.append(token)
        text = self.tokenizer.decode(self.pending)
        whole = text.removesuffix(INCOMPLETE)
        piece, self.n_shown = whole[self.n_shown :], len(whole)
        if whole == text:
            self.pending, self.n_shown = [], 0
        return piece


class Chat(Generation):
    """A conversation. Which tokens are read is decided by the caller; the keys and values of all of them are kept."""

    def encode(self, request):
        """Return the ids of special tokens and texts in turn. No text contains a special token."""
        ids = []
        for is_special, text in request["parts"]:
            ids += [self.tokenizer.vocab[text]] if is_special else self.tokenizer.encode(text, special=False)
        return ids

    def read(self, request):
        """Read some tokens: the next ones, or the first ones of a conversation that is read anew."""
        self.kv = None if request["anew"] else self.kv
        self.logits = self.predict(np.array([request["ids"]], dtype=np.int64))

    def answer(self, request):
        """Draw the next token; return it with the text that is complete now."""
        if request["is_first"]:
            self.pending, self.n_shown = [], 0
        token = self.draw(self.logits, temperature=request["temperature"])
        return token, "" if token in request["ends"] else self.complete_text(token)

    def texts(self, request):
        """Return the text of each token."""
        return [self.tokenizer.decode([number]) for number in request["ids"]]


MODELS = {"import": Import, "generate": Generation, "chat": Chat}
