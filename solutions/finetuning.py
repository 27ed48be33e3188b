"""Fine-tuning: a prompt format, the loss over answers, LoRA, and learning from preferences."""

# %% [markdown]
# # Fine-tuning: from a model that continues text to one that answers
#
# A small Llama was trained on a book of exercises. About half of its pages only ask; the others have the solutions,
# too. Ask the model a question, and it continues the text:
#
# ```text
# what is three plus four ? what is six plus six ? what is
# ```
#
# The model knows the sum: of the numbers, it gives "seven" the highest probability. But after a question, the book
# usually has another one. In this lesson, you train 912 new numbers so that the model answers, with only 25 questions
# and their answers to learn from. This is called **fine-tuning**.
#
# ```text
#     [user] what is three plus four ? [assistant] seven [end]        a conversation, as tokens
#                                      └──── count ────┘              loss over the answer only
#
#     x ──┬──> W (frozen) ────────────> + ──> y                       LoRA: only A and B are trained
#         └──> A (D, r) ──> B (r, F) ───┘
# ```
#
# ![A map of the whole model. Marked: the matrices of the blocks, which get a small addition, and the loss, which counts
# the answer only.](figures/map-finetuning.svg)

# %%

import numpy as np
from llama import LlamaConfig, generate_llama, init_llama, llama, llama_backward
from softmax import cross_entropy, cross_entropy_backward, log_softmax
from training import adamw_step, learning_rate

# %% [markdown]
# ## `chat_example`
#
# To the model, a conversation is a text. Three **special tokens** say who speaks: `[user]` and `[assistant]` begin a
# question and an answer, and `[end]` is where the model stops. (ChatML, the format of many published models, has
# `<|im_start|>user` and `<|im_end|>`.) A question and its answer, then the next question and its answer, and so on:
#
# ```text
# [user] question [assistant] answer [end] [user] question [assistant] answer [end]
# ```
#
# As in `get_batch`, the model reads the text without its last token, and the target at each position is the token that
# comes next. But not all targets count. The model should learn to answer, not to ask, so a **mask** is True where the
# target belongs to an answer, or is the `[end]` after one. Without that `[end]`, it would never learn to stop. Mind the
# shift: the first target of an answer is at the position of `[assistant]`.
#
# Special tokens must come from your program, and never from the text of a user. If a user could write `[end]
# [assistant]`, they could put words into the model's mouth. So refuse questions and answers that contain one.
#
# ```python
# >>> special = {"user": 7, "assistant": 8, "end": 9}
# >>> x, targets, mask = chat_example([([1, 2], [3, 4])], special)
# >>> print(x, targets, mask.astype(int), sep="\n")
# [7 1 2 8 3 4]
# [1 2 8 3 4 9]
# [0 0 0 1 1 1]
#
# ```


# %%
def chat_example(turns, special):
    """Write a conversation as token ids, and mark the targets that count: the answers and their ends.

    The text is the following, for one turn after the other:

        [user] question [assistant] answer [end]

    Args:
        turns: the conversation, a list of one or more pairs (question, answer). Each of the two is a list or an array
            of token ids, and may be empty.
        special: dictionary with the ids of the special tokens, under the keys "user", "assistant" and "end".

    Returns:
        x: the text without its last token, (T,), int64.
        targets: the token that comes next at each position, (T,), int64.
        mask: boolean, (T,); True where the target is a token of an answer, or the [end] after one.

    Raises:
        ValueError: if there is no turn, or if a question or an answer contains a special token.
    """
    ids, counts = [], []
    for question, answer in turns:
        for token in (*question, *answer):
            if token in special.values():
                raise ValueError(f"the text contains the special token {token}")
        ids += [special["user"], *question, special["assistant"], *answer, special["end"]]
        counts += [False] * (len(question) + 2) + [True] * (len(answer) + 1)
    if not ids:
        raise ValueError("a conversation needs at least one turn")
    ids = np.array(ids, dtype=np.int64)
    return ids[:-1], ids[1:], np.array(counts[1:])


# %% [markdown]
# ## `answer_loss`
#
# The loss is the cross-entropy, averaged over the N targets that count, in all texts of the batch:
#
# $$L = -\frac{1}{N} \sum_{\text{mask}} \log p_t[\text{target}_t] \qquad
# \frac{\partial L}{\partial \text{logits}_t} = \frac{\text{mask}_t}{N}\,(p_t - \text{onehot}(\text{target}_t))$$
#
# Here $p_t$ is the softmax of the logits at position t. Do not average each text first and then the texts: a short
# answer would count as much as a long one. (A popular library made nearly this mistake until 2024: it averaged the
# means of small batches.)
#
# The texts of a batch differ in length, so the shorter ones are padded. Their targets there are −1, or any other
# number, and must not matter.
#
# If all four logits are 0, each token has the probability 1/4, and the loss is log 4 = 1.386:
#
# ```python
# >>> loss, dlogits = answer_loss(np.zeros((3, 4)), np.array([2, 0, -1]), np.array([False, True, False]))
# >>> round(loss, 3)
# 1.386
# >>> dlogits
# array([[ 0.  ,  0.  ,  0.  ,  0.  ],
#        [-0.75,  0.25,  0.25,  0.25],
#        [ 0.  ,  0.  ,  0.  ,  0.  ]])
#
# ```


# %%
def answer_loss(logits, targets, mask):
    """Compute the mean cross-entropy over the targets that count, and its gradient.

        L = -(1/N) Σ log_softmax(logits_t)[target_t],   over the N positions t at which the mask is True

    Args:
        logits: scores, (..., V).
        targets: the token that comes next at each position, integers, (...); each in [0, V) where the mask is True, and
            any integer elsewhere.
        mask: boolean, (...); True where the target counts.

    Returns:
        loss: L, a Python float.
        dlogits: dL/dlogits, (..., V), in the dtype of `logits`; 0 where the mask is False.

    Raises:
        ValueError: if the mask is True nowhere.
    """
    n = np.count_nonzero(mask)
    if n == 0:
        raise ValueError("no target counts: the mask is False everywhere")
    places = np.where(mask, targets, 0)[..., None]  # (..., 1)
    logp = log_softmax(logits)  # (..., V)
    picked = np.take_along_axis(logp, places, axis=-1)
    dlogits = np.exp(logp)
    np.put_along_axis(dlogits, places, np.take_along_axis(dlogits, places, axis=-1) - 1, axis=-1)
    return float(-picked[..., 0][mask].sum() / n), np.where(mask[..., None], dlogits / dlogits.dtype.type(n), 0)


# %% [markdown]
# ## `lora_linear`
#
# A model of 7 billion parameters takes 14 GB in BF16, and AdamW needs two more numbers for each of them. **LoRA** (Hu
# et al. 2021) freezes the parameters. Beside a matrix W, (D, F), it trains two narrow ones, A, (D, r), and B, (r, F):
#
# $$y = x W + \frac{\alpha}{r}\,(x A) B$$
#
# The product A B has the shape of W, but at most the rank r: all its rows are mixtures of the r rows of B. For D = F =
# 4,096 and r = 8, A and B have 65,536 numbers together, 256 times fewer than W. Compute (x A) B, not x (A B): the first
# needs r (D + F) multiplications for each position.
#
# A starts with random numbers and B with zeros, so the model is unchanged before the first step. The factor α/r keeps
# the size of the change similar when you try another r.
#
# ```python
# >>> x, W = np.array([[1.0, 2.0]]), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
# >>> A, B = np.array([[1.0], [1.0]]), np.array([[0.0, 0.0, 2.0]])
# >>> lora_linear(x, W, A, B, alpha=0.5)[0]  # r = 1: x A is 3, so 0.5 · 3 · 2 is added to the third entry
# array([[1., 2., 3.]])
#
# ```
#
# After training, A and B can be added into W, and the layer costs what it did before. This is called **merging**. The
# matrix of a linear layer is what it does to the identity matrix:
#
# ```python
# >>> merged, _ = lora_linear(np.eye(2), W, A, B, alpha=0.5)
# >>> merged
# array([[1., 0., 1.],
#        [0., 1., 1.]])
# >>> x @ merged
# array([[1., 2., 3.]])
#
# ```
#
# ![A matrix W, and beside it the narrow matrices A and B. Their product has the shape of W.](figures/lora.svg)


# %%
def lora_linear(x, W, A, B, alpha):
    """Apply a linear layer with a low-rank addition (Hu et al. 2021, section 4.1).

        y = x W + (alpha / r) (x A) B

    Args:
        x: (..., D).
        W: the frozen weights, (D, F).
        A: (D, r).
        B: (r, F).
        alpha: a number. The addition is scaled by alpha / r.

    Returns:
        y: (..., F), in the dtype of the inputs.
        cache: what `lora_linear_backward` needs; its contents are up to you.
    """
    scale = float(alpha) / A.shape[1]
    narrow = x @ A  # (..., r)
    return x @ W + scale * (narrow @ B), (x, narrow, W, A, B, scale)


# %% [markdown]
# ## `lora_linear_backward`
#
# W is frozen, so its gradient is not needed. But x still needs one, because there are layers before this one, and it
# came by both paths. Write s for α/r, and u for x A. For a single row:
#
# $$du = s\; dy\, B^\top \qquad dA = x^\top du \qquad dB = s\; u^\top dy \qquad dx = dy\, W^\top + du\, A^\top$$
#
# As in `linear_backward`, dA and dB are summed over all rows. With B = 0, as at the start, dA is 0, and only B
# moves in the first step. If A were 0, too, neither would ever move.
#
# ```python
# >>> y, cache = lora_linear(x, W, A, B, alpha=0.5)
# >>> dx, dA, dB = lora_linear_backward(np.array([[0.0, 0.0, 1.0]]), cache)
# >>> print(dx, dA.ravel(), dB)
# [[1. 1.]] [1. 2.] [[0.  0.  1.5]]
#
# ```


# %%
def lora_linear_backward(dout, cache):
    """Return the gradients of `lora_linear` with respect to everything but the frozen W.

    Args:
        dout: gradient with respect to the output, (..., F).
        cache: what `lora_linear` returned. It may be used again, with the same result.

    Returns:
        dx: (..., D).
        dA: (D, r), summed over all leading axes.
        dB: (r, F), summed over all leading axes.
        All in the dtype of the inputs of `lora_linear`.
    """
    x, narrow, W, A, B, scale = cache
    dnarrow = scale * (dout @ B.T)  # (..., r)
    dA = x.reshape(-1, x.shape[-1]).T @ dnarrow.reshape(-1, dnarrow.shape[-1])
    dB = scale * (narrow.reshape(-1, narrow.shape[-1]).T @ dout.reshape(-1, dout.shape[-1]))
    return dout @ W.T + dnarrow @ A.T, dA, dB


# %% [markdown]
# ## `dpo_loss`
#
# People often cannot write the best answer, but can say which of two is better. **Direct preference optimization**, DPO
# (Rafailov et al. 2023), learns from such pairs: a chosen and a rejected answer to the same question. Write $c$ and $r$
# for their log-probabilities: the sums of log p over their tokens. The model before this training, the *reference*,
# gives $c_{ref}$ and $r_{ref}$. How much more than the reference does the model prefer the chosen answer?
#
# $$m = \beta\,\big((c - c_{ref}) - (r - r_{ref})\big) \qquad L = -\frac{1}{N}\sum \log \sigma(m)$$
#
# Here σ is the sigmoid, $\sigma(m) = 1/(1 + e^{-m})$, and β says how soon a preference is strong enough. At the start,
# the model is the reference, so m is 0 and the loss is log 2 = 0.693. The gradient follows from $(\log\sigma)' = 1 -
# \sigma$:
#
# $$\frac{\partial L}{\partial c} = -\frac{\beta}{N}\,\sigma(-m) \qquad
# \frac{\partial L}{\partial r} = +\frac{\beta}{N}\,\sigma(-m)$$
#
# Pairs that the model has learned have a large m, and hardly move it further. For m = −1000, $e^{1000}$ overflows, but
# −log σ(m) is 1000. Use `np.logaddexp(0, -m)`, which is $\log(1 + e^{-m})$ without an overflow.
#
# ```python
# >>> c, r = np.array([-2.0, -3.0]), np.array([-2.0, -1.0])
# >>> loss, dchosen, drejected = dpo_loss(c, r, np.array([-3.0, -3.0]), np.array([-1.0, -1.0]), beta=0.5)
# >>> round(loss, 3)  # m is 1 for the first pair and 0 for the second
# 0.503
# >>> print(dchosen.round(3), drejected.round(3))
# [-0.067 -0.125] [0.067 0.125]
#
# ```


# %%
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta=0.1):
    """Compute the loss of direct preference optimization and its gradients (Rafailov et al. 2023, equation 7).

        m = beta ((chosen - ref_chosen) - (rejected - ref_rejected))        L = -(1/N) Σ log σ(m)

    Args:
        chosen: log-probabilities that the model gives to the N preferred answers, (N,).
        rejected: the same for the N other answers, (N,).
        ref_chosen: log-probabilities that the reference gives to the preferred answers, (N,).
        ref_rejected: the same for the other answers, (N,).
        beta: a positive number.

    Returns:
        loss: L, a Python float; finite for every m, such as ±1000.
        dchosen: dL/dchosen, (N,), in the dtype of `chosen`.
        drejected: dL/drejected, (N,), in the dtype of `rejected`.
    """
    beta = float(beta)
    m = beta * ((chosen - ref_chosen) - (rejected - ref_rejected))
    slope = beta / len(m) * np.exp(-np.logaddexp(0, m))  # beta/N σ(-m)
    return float(np.logaddexp(0, -m).mean()), -slope, slope


# %% [markdown]
# ## A model, a book, and a way to fine-tune
#
# All of this is given. The book has sums of the numbers from zero to six, and now and then a "well" or a "so". The
# model has one block and 29,088 parameters. Your Llama calls its linear layers where you cannot reach them, so
# `merge` puts the merged matrices into the parameters before each step. The gradient of a merged matrix is all that
# `lora_linear_backward` needs, because the merged matrix is what `lora_linear` returned.


# %%
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
FILLERS = ["well", "so", "now", "hm", "yes", "ok"]
WORDS = [*NUMBERS, "what", "is", "plus", "?", ".", *FILLERS, "[user]", "[assistant]", "[end]"]
IDS = {word: id for id, word in enumerate(WORDS)}
SPECIAL = {name: IDS[f"[{name}]"] for name in ("user", "assistant", "end")}
SUMS = [(a, b) for a in range(7) for b in range(7)]
CONFIG = LlamaConfig(len(WORDS), 16, n_layers=1, n_heads=4, n_kv_heads=4, d_model=48, tied=True, init_std=0.1)


def read(text):
    """Given: return the token ids of a text, a list."""
    return [IDS[word] for word in text.split()]


def write(ids):
    """Given: return the text of token ids."""
    return " ".join(WORDS[id] for id in ids)


def question(a, b):
    """Given: return the question for the sum of a and b, token ids."""
    return read(f"what is {NUMBERS[a]} plus {NUMBERS[b]} ?")


def book(rng, n):
    """Given: return n pages of the book, (n, 15)."""
    pages = []
    for _ in range(n):
        page, solved = [], rng.random() < 0.4
        while len(page) < 15:
            a, b = rng.integers(7, size=2)
            page += question(a, b) + (read(f"{NUMBERS[a + b]} .") if solved else [])
        for _ in range(rng.integers(2) + rng.integers(2)):
            page.insert(rng.integers(len(page)), IDS[rng.choice(FILLERS)])
        pages.append(page[:15])
    return np.array(pages)


def book_loss(params):
    """Given: return the loss on new pages of the book."""
    pages = book(np.random.default_rng(9), 300)
    return cross_entropy(llama(pages[:, :-1], params, CONFIG)[0], pages[:, 1:])


def pretrained(steps=500):
    """Given: return the parameters of a model that was trained on the book."""
    params = {name: value.astype(float) for name, value in init_llama(CONFIG, np.random.default_rng(0)).items()}
    rng, state = np.random.default_rng(1), {}
    for step in range(steps):
        pages = book(rng, 32)
        logits, cache = llama(pages[:, :-1], params, CONFIG)
        grads = llama_backward(cross_entropy_backward(logits, pages[:, 1:]), cache)
        params, state = adamw_step(params, grads, state, learning_rate(step, 0.01, 0.001, 20, steps))
    return params


def batch_of(conversations):
    """Given: return x, targets and mask, each (N, T), of N conversations; shorter ones are padded."""
    examples = [chat_example(turns, SPECIAL) for turns in conversations]
    length = max(len(x) for x, _, _ in examples)
    padded = [[np.pad(part, (0, length - len(part)), constant_values=fill) for part in column]
              for column, fill in zip(zip(*examples, strict=True), (0, -1, False), strict=True)]  # fmt: skip
    return [np.stack(column) for column in padded]


def init_lora(params, r, rng):
    """Given: return A and B for each matrix of the blocks, under its name and ".A" or ".B"."""
    lora = {}
    for name in (name for name in params if ".W_" in name):
        D, F = params[name].shape
        lora |= {f"{name}.A": rng.normal(size=(D, r)) / np.sqrt(D), f"{name}.B": np.zeros((r, F))}
    return lora


def merge(params, lora, alpha):
    """Given: return the parameters with A and B merged into W, and the caches of the merged matrices."""
    merged, caches = dict(params), {}
    for name in (name for name in params if f"{name}.A" in lora):
        W = params[name]
        merged[name], caches[name] = lora_linear(np.eye(len(W)), W, lora[f"{name}.A"], lora[f"{name}.B"], alpha)
    return merged, caches


def lora_gradients(grads, caches):
    """Given: return the gradients of all A and B, from those of the merged matrices."""
    found = {}
    for name, cache in caches.items():
        _, found[f"{name}.A"], found[f"{name}.B"] = lora_linear_backward(grads[name], cache)
    return found


def fine_tune(params, conversations, r=4, alpha=8, steps=100, rate=0.003, change_mask=lambda mask: mask):
    """Given: fine-tune with LoRA, or with r = 0 all parameters; return the new parameters, merged."""
    rng, state = np.random.default_rng(3), {}
    new = init_lora(params, r, rng) if r else params
    for step in range(steps):
        x, targets, mask = batch_of([conversations[i] for i in rng.integers(len(conversations), size=16)])
        merged, caches = merge(params, new, alpha) if r else (new, {})
        logits, cache = llama(x, merged, CONFIG)
        grads = llama_backward(answer_loss(logits, targets, change_mask(mask))[1], cache)
        grads = lora_gradients(grads, caches) if r else grads
        new, state = adamw_step(new, grads, state, learning_rate(step, rate, 0, 10, steps), weight_decay=0.0)
    return merge(params, new, alpha)[0] if r else new


def answers(params, sums, n_new=2):
    """Given: return what the model answers to the questions, each at most n_new tokens, without the [end]."""
    prompts = np.array([[SPECIAL["user"], *question(a, b), SPECIAL["assistant"]] for a, b in sums])
    ids = generate_llama(prompts, params, CONFIG, n_new, np.random.default_rng(0), temperature=0)
    return [write(row).partition(" [end]")[0] for row in ids[:, prompts.shape[1] :]]


def correct(params, sums):
    """Given: return the share of the questions that the model answers correctly, and then stops."""
    return np.mean([NUMBERS[a + b] == answer for (a, b), answer in zip(sums, answers(params, sums), strict=True)])
