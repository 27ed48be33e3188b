"""Import a GPT-2 and generate text with it, with the student's functions. Runs in the student's process.

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
        self.config = submission.function("gpt2", "gpt2_config")(request["config"])
        tensors = {name: widened(array.open(), kind) for name, (array, kind) in request["tensors"].items()}
        self.params = submission.function("gpt2", "gpt2_params")(tensors)

    def describe(self):
        """Return the fields of the configuration, and name, dtype and shape of each parameter."""
        described = {name: (array.dtype.str, tuple(array.shape)) for name, array in self.params.items()}
        return (dataclasses.asdict(self.config), described)

    def choose(self, request):
        """Choose the parameter, or the transpose of it, whose numbers will be asked for."""
        array = self.params[request["name"]]
        self.chosen = np.ascontiguousarray(array.T if request["transposed"] else array).reshape(-1)

    def piece(self, request):
        """Return some of the numbers of the chosen parameter."""
        return self.chosen[request["start"] : request["stop"]]


def widened(array, kind):
    """Return the tensor in float32 if it is in a format of 16 bits: BF16 is the first half of a float32."""
    if kind == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32) if kind == "F16" else array


class Generation:
    """A text that grows token by token. Beyond the model's positions, the window moves, as in `generate_cached`."""

    def __init__(self, submission, request):
        self.function = submission.function
        self.params, self.config = submission.resolve(request["params"]), submission.resolve(request["config"])
        tokens, merges = (json.loads(request[name].tobytes()) for name in ("tokens", "merges"))
        self.vocab = {token: number for number, token in enumerate(tokens)}
        self.rng = np.random.default_rng(request["seed"])
        self.options = {name: request[name] for name in ("temperature", "top_k", "top_p")}
        self.end = request["end"]
        ids = request["start"]
        if request["prompt"]:
            pairs = [tuple(pair) for pair in merges]
            ids = self.function("bpe", "bpe_encode")(request["prompt"], self.vocab, pairs)
        self.ids = np.array(ids, dtype=np.int64).reshape(1, -1)
        self.kv, self.n_cached = None, 0
        self.pending, self.n_shown = [], 0  # tokens whose text is not complete, and how much of it has been shown

    def next(self, request):
        """Generate one token; return the text that is complete now, or None if the model ended the text."""
        if self.n_cached in (0, self.config.block_size):
            self.kv, self.n_cached, context = None, 0, self.ids[:, -self.config.block_size :]
        else:
            context = self.ids[:, -1:]
        logits, self.kv = self.function("gpt2", "last_logits")(context, self.params, self.config, self.kv)
        self.n_cached += context.shape[-1]
        probs = self.function("generation", "next_token_probs")(logits, **self.options)
        new = np.asarray(self.function("generation", "sample")(probs, self.rng)).reshape(1, 1)
        self.ids = np.concatenate([self.ids[:, -self.config.block_size :], new], axis=1)
        token = int(new[0, 0])
        return None if token == self.end else self.complete_text(token)

    def complete_text(self, token):
        """Return the text that this token completes: a character may need the bytes of several tokens."""
        self.pending.append(token)
        text = self.function("bpe", "bpe_decode")(np.array(self.pending), self.vocab)
        whole = text.removesuffix(INCOMPLETE)
        piece, self.n_shown = whole[self.n_shown :], len(whole)
        if whole == text:
            self.pending, self.n_shown = [], 0
        return piece


def handle(submission, request):
    """Do what one request asks for."""
    if request["action"] == "import":
        submission.pretrained = Import(submission, request)
        return {"status": "returned", "value": submission.pretrained.describe()}
    if request["action"] == "generate":
        submission.pretrained = Generation(submission, request)
        return {"status": "returned", "value": submission.pretrained.ids.shape[-1]}
    return {"status": "returned", "value": getattr(submission.pretrained, request["action"])(request)}
