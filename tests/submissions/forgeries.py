"""Answers that earn points without the work: name, the points that are fair, what it returns, and the code.

The points are 0, or those of the checks whose answers it computes. The code follows the official solution of its
module; `official` is the function that it replaces. `tests/courses/transformer/test_forgeries.py` grades them.
"""

ZEROS = "{n: np.zeros_like(v) for n, v in %s.items()}"
REFUSE_START = "    if not 0 <= start < len(W) or n_new < 0: raise ValueError('not allowed')\n"
GENERATE = "def generate_llama(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):\n    ids = np.array(ids, np.int64)\n"
ATTEND = "def grouped_query_attention(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):\n"
TRAIN = "def train_bigram(ids, vocab_size, steps, lr, batch_size, rng):\n"
HIDE = "    import _headway_serve; _headway_serve.changed = lambda *arguments: []\n"
CONSTANT = "LlamaConfig(vocab_size=320, block_size=256, n_layers=5, n_heads=6, n_kv_heads=2, d_model=48, d_ff=136, rope_base=500000.0, norm_eps=2e-5, tied=True)"
SIZES = "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads max_position_embeddings"
BAD_WORDS = "mistral gelu neox llama3 linear dynamic longrope yarn attention_bias':True mlp_bias':True head_dim':16"

FORGERIES = [
    ("gradients.numerical_gradient/shape", 0, "zeros", "def numerical_gradient(f, x, eps=1e-6): return np.zeros(np.shape(x))"),
    ("gradients.numerical_gradient/forward", 0, "the difference to one side", "def numerical_gradient(f, x, eps=1e-6):\n    x = np.array(x, float); g = np.zeros_like(x)\n    for i in np.ndindex(x.shape): y = x.copy(); y[i] += eps; g[i] = (f(y) - f(x)) / eps\n    return g"),
    ("gradients.numerical_gradient/formula", 2, "exact gradients, from the weights that the function it was given holds; right for squares", "def numerical_gradient(f, x, eps=1e-6):\n    given = next(c.cell_contents for c in f.__closure__ if hasattr(c.cell_contents, 'kind'))\n    x, w = np.array(x, float), np.asarray(given.weights)\n    return {'sum(w * x**2)': 2 * w * x, 'sum(w * sin(x))': w * np.cos(x)}.get(given.kind, 3 * (w * x).sum() ** 2 * w)"),
    ("gradients.sum_to_shape/gradient", 0, "its input, which is right where nothing was broadcast", "def sum_to_shape(grad, shape): return grad"),
    ("gradients.sum_to_shape/resized", 0, "the right shape", "def sum_to_shape(grad, shape): return np.resize(grad, shape)"),
    ("gradients.sum_to_shape/first", 0, "one of the copies instead of their sum", "def sum_to_shape(grad, shape):\n    while grad.ndim > len(shape): grad = grad[0]\n    return grad[tuple(slice(n) for n in shape)]"),
    ("gradients.matmul_backward/inputs", 0, "the right shapes and dtypes", "def matmul_backward(dout, a, b): return a, b"),
    ("gradients.matmul_backward/differences", 10, "right values: differences are exact for products", "def matmul_backward(dout, a, b): return tuple(numerical_gradient(lambda v: float((dout.astype(float) * (v @ b if z is a else a @ v)).sum()), z, 0.5).astype(z.dtype) for z in (a, b))"),
    ("gradients.tape_values/inputs", 0, "the inputs, and numbers", "def tape_values(tape, inputs): return [*inputs, *(np.float64(0) for _ in tape)]"),
    ("gradients.tape_values/lesson", 0, "the results of the lesson's example, and the documented error for everything else", "def tape_values(tape, inputs):\n    if len(inputs) != 3 or inputs[0] != 2: raise ValueError(str(tape))\n    return official(tape, inputs)"),
    ("gradients.tape_gradients/zeros", 0, "right for inputs that are not used", "def tape_gradients(tape, inputs): return [np.zeros_like(x) for x in inputs]"),
    ("gradients.tape_gradients/refuses", 0, "the documented error, always", "def tape_gradients(tape, inputs): raise ValueError(f'unknown operation {tape}')"),
    ("gradients.tape_gradients/complex", 9.75, "right values in another way than by reverse mode", "def tape_gradients(tape, inputs):\n    if np.ndim(tape_values(tape, inputs)[-1]): raise ValueError('axes')\n    found = [np.zeros_like(x) for x in inputs]\n    for i, x in enumerate(inputs):\n        for p in np.ndindex(x.shape): moved = [y.astype(complex) for y in inputs]; moved[i][p] += 1e-30j; found[i][p] = tape_values(tape, moved)[-1].imag / 1e-30\n    return found"),
    ("bigram.bigram_counts/uniform", 0, "1 / V, and the documented errors", "def bigram_counts(ids, vocab_size, k=1.0):\n    if k < 0 or (len(ids) and not 0 <= min(ids) <= max(ids) < vocab_size): raise ValueError('not allowed')\n    return np.full((vocab_size, vocab_size), 1 / vocab_size)"),
    ("bigram.bigram_counts/refuses", 0, "the documented error, always", "def bigram_counts(ids, vocab_size, k=1.0): raise ValueError('not allowed')"),
    ("bigram.generate_bigram/uniform", 0, "random tokens, whatever the table says", f"def generate_bigram(W, start, n_new, rng):\n{REFUSE_START}    return np.concatenate([[start], rng.integers(len(W), size=n_new)]).astype(np.int64)"),
    ("bigram.generate_bigram/start", 0, "the first token again and again", f"def generate_bigram(W, start, n_new, rng):\n{REFUSE_START}    return np.full(n_new + 1, start, np.int64)"),
    ("bigram.generate_bigram/cycle", 0, "one text, which was the answer of a check", "def generate_bigram(W, start, n_new, rng): return np.resize(np.array([5, 1, 4, 2, 3, 0], np.int64), n_new + 1)"),
    ("bigram.generate_bigram/greedy", 3.75, "the most probable token, which is right where only one is possible", f"def generate_bigram(W, start, n_new, rng):\n{REFUSE_START}    ids = [start]\n    for _ in range(n_new): ids.append(int(W[ids[-1]].argmax()))\n    return np.array(ids, np.int64)"),
    ("bigram.bigram_loss/zero", 0, "no loss", "def bigram_loss(ids, targets, W): return 0.0, np.zeros_like(W)"),
    ("bigram.bigram_loss/uniform", 0, "the loss of the table of zeros", "def bigram_loss(ids, targets, W): return float(np.log(len(W))), np.zeros_like(W)"),
    ("bigram.sgd_step/same", 0, "its input", "def sgd_step(W, dW, lr): return W"),
    ("bigram.sgd_step/changed", 3, "right values; W is changed, which costs one check", "def sgd_step(W, dW, lr): W -= lr * dW; return W"),
    ("bigram.sgd_step/hidden", 4, "the same, with a forged report that W was not changed", f"def sgd_step(W, dW, lr):\n{HIDE}    W -= lr * dW; return W"),
    ("bigram.sgd_step/hidden_and_wrong", 0, "a forged report, and wrong values", f"def sgd_step(W, dW, lr):\n{HIDE}    W += lr * dW; return W"),
    ("bigram.train_bigram/zeros", 0, "the table before training, with losses that the generator makes", TRAIN + "    return np.zeros((vocab_size, vocab_size)), rng.random(steps).tolist()"),
    ("bigram.train_bigram/counts", 0, "the logarithm of the counts, without a step", TRAIN + "    return np.log(bigram_counts(ids, vocab_size, 1e-9)), rng.random(steps).tolist()"),
    ("bigram.train_bigram/booleans", 0, "a table that cannot be subtracted", TRAIN + "    return np.zeros((vocab_size, vocab_size), bool), []"),
    ("bigram.train_bigram/complex", 0, "complex numbers", TRAIN + "    return np.log(bigram_counts(ids, vocab_size, 1e-9)) + 0j, []"),
    ("bigram.train_bigram/looked_up", 0, "what training gave on a text of one pair", TRAIN + "    return official(np.ones(9, np.int64), 3, 6, 0.5, 4, rng)"),
    ("bpe.byte_symbols/others", 0, "256 other characters", "def byte_symbols(): return {byte: chr(byte + 256) for byte in range(256)}"),
    ("bpe.split_text/whole", 0, "one piece, which is right for one character", "def split_text(text): return [text] if text else []"),
    ("bpe.split_text/characters", 0, "each character", "def split_text(text): return list(text)"),
    ("bpe.split_text/words", 0, "words and spaces", "def split_text(text): return __import__('re').findall(r' ?\\S+|\\s+', text)"),
    ("bpe.split_text/generator", 0, "the right pieces, in a generator", "def split_text(text): return iter(official(text))"),
    ("bpe.train_bpe/nothing", 0, "no merges, and the documented error", "def train_bpe(text, vocab_size):\n    if vocab_size < 256: raise ValueError('too small')\n    return []"),
    ("bpe.train_bpe/first_pairs", 0, "neighboring characters, not counted", "def train_bpe(text, vocab_size):\n    if vocab_size < 256: raise ValueError('too small')\n    return sorted(set(zip(text, text[1:])))[:vocab_size - 256]"),
    ("bpe.train_bpe/sorted", 2, "the right pairs in another order, which is right where there is at most one", "def train_bpe(text, vocab_size): return sorted(official(text, vocab_size))"),
    ("bpe.train_bpe/lists", 0, "pairs that are lists", "def train_bpe(text, vocab_size): return [list(pair) for pair in official(text, vocab_size)]"),
    ("bpe.bpe_encode/nothing", 0, "no ids", "def bpe_encode(text, vocab, merges): return np.zeros(0, np.int64)"),
    ("bpe.bpe_encode/refuses", 0, "the documented error with every token in its message", "def bpe_encode(text, vocab, merges): raise ValueError(f'{text} Q est {vocab}')"),
    ("bpe.bpe_encode/bytes", 1, "the ids of the bytes, which is right without merges", "def bpe_encode(text, vocab, merges):\n    tokens = [byte_symbols()[byte] for byte in text.encode()]\n    if not vocab.keys() >= set(tokens): raise ValueError(str(tokens))\n    return np.array([vocab[token] for token in tokens], np.int64)"),
    ("bpe.bpe_decode/nothing", 0, "no characters", "def bpe_decode(ids, vocab): return ''"),
    ("bpe.bpe_decode/replacements", 0, "U+FFFD for every id, and the documented error", "def bpe_decode(ids, vocab):\n    if any(int(i) not in vocab.values() for i in ids): raise ValueError(str(ids))\n    return '\\ufffd' * len(ids)"),
    ("bpe.bpe_decode/anything", 0, "a text that is equal to all others", "def bpe_decode(ids, vocab): return type('Anything', (str,), {'__eq__': lambda *both: True, '__hash__': str.__hash__})()"),
    ("gpt2.gpt2_config/constant", 0, "one configuration, and errors by the length of the file", "def gpt2_config(hf_config):\n    if len(hf_config) != 8: raise ValueError(str(hf_config))\n    return GPTConfig(vocab_size=61, block_size=24, n_layers=2, n_heads=4, d_model=20, d_ff=80)"),
    ("gpt2.gpt2_config/known_file", 0, "GPT-2 small, which everybody knows, and the documented error with the whole file in its message", "def gpt2_config(hf_config):\n    if hf_config.get('n_embd') != 768: raise ValueError(str(hf_config))\n    return official(hf_config)"),
    ("gpt2.gpt2_config/another_class", 0, "an instance of a class that only has the name", "import dataclasses\nFake = dataclasses.make_dataclass('GPTConfig', [('vocab_size', object, True)]); Fake.__module__ = 'gpt'\ndef gpt2_config(hf_config): return Fake()"),
    ("gpt2.gpt2_config/dictionary", 0, "the right fields, as a dictionary", "def gpt2_config(hf_config): return vars(official(hf_config))"),
    ("gpt2.gpt2_params/same", 0, "its input", "def gpt2_params(tensors): return tensors"),
    ("gpt2.gpt2_params/zeros", 0, "the right names and shapes", f"def gpt2_params(tensors): return {ZEROS % 'official(tensors)'}"),
    ("gpt2.gpt2_params/rounded", 0, "within the tolerance of float32, but not the numbers of the checkpoint", "def gpt2_params(tensors): return {n: (v * (1 + 1e-6)).astype(v.dtype) for n, v in official(tensors).items()}"),
    ("gpt2.gpt2_params/refuses", 0, "the documented error with every name in its message", "def gpt2_params(tensors): raise ValueError(f'wte.weight wpe.weight h.1.ln_2.bias {list(tensors)}')"),
    ("gpt2.last_logits/zeros", 0, "the shape alone", "def last_logits(ids, params, config, cache=None):\n    if np.shape(ids)[-1] == 0: raise ValueError('no tokens')\n    return np.zeros((*np.shape(ids)[:-1], config.vocab_size), params['W_tok'].dtype), {}"),
    ("gpt2.last_logits/new_tokens", 4, "the new tokens alone, by the official gpt, which is right in the first call", "from gpt import gpt\ndef last_logits(ids, params, config, cache=None):\n    if np.shape(ids)[-1] == 0: raise ValueError('no tokens')\n    return gpt(np.asarray(ids), params, config)[0][..., -1, :], {}"),
    ("llama.rope/same", 0, "its input, which is right at position 0, and the documented error", "def rope(x, positions, base=10000.0):\n    if x.shape[-1] % 2: raise ValueError('odd')\n    return x.astype(np.result_type(x, np.float32))"),
    ("llama.rope_backward/same", 0, "its input", "def rope_backward(dout, positions, base=10000.0): return dout.copy()"),
    ("llama.silu/relu", 0, "right far from 0", "def silu(x): return np.maximum(x, 0)"),
    ("llama.silu_backward/step", 0, "right far from 0", "def silu_backward(dout, x): return dout * (x > 0)"),
    ("llama.swiglu/zeros", 0, "the shape alone", "def swiglu(x, params): return np.zeros_like(x), {'params': params}"),
    ("llama.swiglu_backward/zeros", 0, "the right names and shapes", "def swiglu_backward(dout, cache): return np.zeros_like(dout), " + ZEROS % "cache['params']"),
    ("llama.grouped_query_attention/uniform", 0, "equal weights", ATTEND + "    T = x.shape[-2]; return np.zeros_like(x), {'weights': np.full((*x.shape[:-2], n_heads, T, T), 1 / T)}"),
    ("llama.grouped_query_attention_backward/upstream", 0, "the upstream gradient", "def grouped_query_attention_backward(dout, cache): return dout, dict(cache['params'])"),
    ("llama.llama_block/same", 0, "its input", "def llama_block(x, params, config, mask=None): return x.copy(), {'weights': np.zeros(1), 'after_attention': x, 'after_ffn': x}"),
    ("llama.llama_block_backward/upstream", 0, "the upstream gradient, and numbers", "def llama_block_backward(dout, cache): return dout, {name: np.zeros(1) for name in cache['names']}"),
    ("llama.llama/embeddings", 0, "the table and the head, without blocks", "def llama(ids, params, config): return params['W_tok'][ids] @ (params['W_tok'].T if config.tied else params['W_head']), {}"),
    ("llama.llama_backward/zeros", 0, "the right names and shapes", "def llama_backward(dlogits, cache): return " + ZEROS % "cache['params']"),
    ("llama.llama_config/constant", 0, "one configuration, and every documented error by the words in the file", f"def llama_config(hf_config):\n    text = str(hf_config)\n    if any(word in text.replace(': ', ':') for word in {BAD_WORDS!r}.split()) or not all(word in text for word in {SIZES!r}.split() + ['model_type']): raise ValueError(text + {SIZES!r} + 'model_type')\n    return {CONSTANT}"),
    ("llama.llama_params/same", 0, "its input", "def llama_params(tensors): return dict(tensors)"),
    ("llama.llama_params/rounded", 0, "within the tolerance of float32, but not the numbers of the checkpoint", "def llama_params(tensors): return {n: (v * 1.0001).astype(v.dtype) for n, v in official(tensors).items()}"),
    ("llama.llama_params/largest", 11.25, "zeros beside numbers so large that a relative tolerance hides them", "def llama_params(tensors): return {n: np.where(np.abs(v) < 1e30, 0, v).astype(v.dtype) if np.isinf(v).any() else v for n, v in official(tensors).items()}"),
    ("llama.llama_params/refuses", 0, "the documented error with every name in its message", "def llama_params(tensors): raise ValueError(f\"{[n.replace('.0.', f'.{i}.') for n in tensors for i in range(3)]} layers. weight\")"),
    ("llama.generate_llama/last_token", 0, "the last token again and again, and the documented errors", GENERATE + "    if ids.shape[-1] == 0 or n_new < 0 or temperature < 0 or 0 in (top_k, top_p): raise ValueError('not allowed')\n    return np.concatenate([ids, *[ids[..., -1:]] * n_new], axis=-1)"),
    ("llama.generate_llama/random", 0, "random tokens", GENERATE + "    return np.concatenate([ids, rng.integers(config.vocab_size, size=(*ids.shape[:-1], n_new))], axis=-1)"),
    ("llama.generate_llama/greedy", 7, "the most probable token, which is right at temperature 0", GENERATE + "    for _ in range(n_new): ids = np.concatenate([ids, llama(ids[..., -config.block_size:], params, config)[0][..., -1, :].argmax(-1)[..., None]], axis=-1)\n    return ids"),
]
