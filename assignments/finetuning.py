"""Fine-tuning: a prompt format, the loss over answers, LoRA, and learning from preferences."""

# %% [markdown]
# # Fine-tuning: from a model that continues text to one that answers
#
# *Assignment 20 of 21 · 5 functions · about 2 h 30 min to write them*
#
# A small Llama was trained on a book of exercises. Half of its pages only ask; the others have the solutions, too. Ask
# the model a question, and it continues the text:
#
# ```text
# what is three plus four ? what is three plus three ? what is
# ```
#
# The model knows the sum: of all numbers, it gives "seven" the highest probability, 0.47. But "what" gets 0.50. To make
# it answer, you train 3,648 new numbers with only 25 questions and their answers. This is called *fine-tuning*.
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

import sys

import numpy as np
from llama import LlamaConfig, generate_llama, init_llama, llama, llama_backward
from softmax import cross_entropy, cross_entropy_backward, log_softmax
from training import adamw_step, learning_rate

# %% [markdown]
# ## `chat_example`
#
# *30 min, needs some thought*
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
# comes next. But not all targets count. The model should learn to answer, not to ask, so a mask is True where the
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
    raise NotImplementedError("finetuning.chat_example")


# %% [markdown]
# ## `answer_loss`
#
# *35 min, needs some thought*
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
    raise NotImplementedError("finetuning.answer_loss")


# %% [markdown]
# ## `lora_linear`
#
# *15 min, straightforward*
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
# After training, A and B can be added into W, and the layer costs what it did before. This is called *merging*. The
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
    raise NotImplementedError("finetuning.lora_linear")


# %% [markdown]
# ## `lora_linear_backward`
#
# *35 min, needs some thought*
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
    raise NotImplementedError("finetuning.lora_linear_backward")


# %% [markdown]
# ## `dpo_loss`
#
# *35 min, needs some thought*
#
# People often cannot write the best answer, but can say which of two is better. **Direct preference optimization**, DPO
# (Rafailov et al. 2023), learns from N such pairs: a chosen and a rejected answer to the same question. In the formula,
# each name stands for a log-probability, the sum of log p over the tokens of that answer: with the model, or with the
# *reference*, the model before this training. How much more than the reference does the model prefer the chosen answer?
# This is the margin m:
#
# $$m = \beta\,\big((chosen - chosen_{ref}) - (rejected - rejected_{ref})\big) \qquad
# L = -\frac{1}{N}\sum \log \sigma(m)$$
#
# Here σ is the sigmoid, $\sigma(m) = 1/(1 + e^{-m})$, and β says how soon a preference is strong enough. At the start,
# the model is the reference, so m is 0 and the loss is log 2 = 0.693. The gradient follows from $(\log\sigma)' = 1 -
# \sigma$:
#
# $$\frac{\partial L}{\partial\,chosen} = -\frac{\beta}{N}\,\sigma(-m) \qquad
# \frac{\partial L}{\partial\,rejected} = +\frac{\beta}{N}\,\sigma(-m)$$
#
# Pairs that the model has learned have a large m, and hardly move it further. For m = −1000, $e^{1000}$ overflows, but
# −log σ(m) is 1000. Use `np.logaddexp(0, -m)`, which is $\log(1 + e^{-m})$ without an overflow.
#
# ```python
# >>> chosen, rejected = np.array([-2.0, -3.0]), np.array([-2.0, -1.0])
# >>> loss, dchosen, drejected = dpo_loss(chosen, rejected, np.array([-3.0, -3.0]), np.array([-1.0, -1.0]), beta=0.5)
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
    raise NotImplementedError("finetuning.dpo_loss")


# %% [markdown]
# ## A model, a book, and a way to fine-tune
#
# All of this is given. The book has sums of the numbers from zero to six, and the model has one block and 28,800
# parameters. Your `llama` calls its linear layers where you cannot reach them, so `merge` puts the merged matrices into
# the parameters before each step. The gradient of a merged matrix is all that `lora_linear_backward` needs, because the
# merged matrix is what `lora_linear` returned.

# %%
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
WORDS = [*NUMBERS, "what", "is", "plus", "?", ".", "[user]", "[assistant]", "[end]"]
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
    """Given: return n pages of the book, (n, 15); each second one has the solutions, too."""
    pages = []
    for _ in range(n):
        page, solved = [], rng.random() < 0.5
        while len(page) < 15:
            a, b = rng.integers(7, size=2)
            page += question(a, b) + (read(f"{NUMBERS[a + b]} .") if solved else [])
        pages.append(page[:15])
    return np.array(pages)


def book_loss(params):
    """Given: return the loss on new pages of the book."""
    pages = book(np.random.default_rng(9), 300)
    return cross_entropy(llama(pages[:, :-1], params, CONFIG)[0], pages[:, 1:])


def pretrained(steps=600):
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
    """Given: return x, targets and mask of conversations, with a row for each; shorter ones are padded."""
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


def fine_tune(params, gradients, r=4, alpha=8, steps=100, rate=0.003):
    """Given: fine-tune with LoRA, or with r = 0 all parameters; return the new parameters, merged.

    `gradients(step, params)` returns the gradient of every parameter, as `llama_backward` does.
    """
    new, state = init_lora(params, r, np.random.default_rng(3)) if r else params, {}
    for step in range(steps):
        merged, caches = merge(params, new, alpha) if r else (new, {})
        grads = gradients(step, merged)
        grads = lora_gradients(grads, caches) if r else grads
        new, state = adamw_step(new, grads, state, learning_rate(step, rate, 0, 10, steps), weight_decay=0.0)
    return merge(params, new, alpha)[0] if r else new


def from_answers(conversations, counts=lambda targets, mask: mask):
    """Given: return the function `gradients` of `fine_tune` that learns from the answers in conversations."""

    def gradients(step, params):
        some = np.random.default_rng(step).integers(len(conversations), size=16)
        x, targets, mask = batch_of([conversations[i] for i in some])
        logits, cache = llama(x, params, CONFIG)
        return llama_backward(answer_loss(logits, targets, counts(targets, mask))[1], cache)

    return gradients


def split(seed):
    """Given: return 25 random sums to train on, and the 24 others."""
    order = np.random.default_rng(seed).permutation(len(SUMS))
    return [SUMS[i] for i in order[:25]], [SUMS[i] for i in order[25:]]


def conversations(sums, end=""):
    """Given: return a conversation for each sum, with the right answer and after it the text `end`."""
    return [[(question(a, b), read(NUMBERS[a + b] + end))] for a, b in sums]


def answers(params, sums, n_new=2):
    """Given: return what the model answers to the questions, each at most n_new tokens, without the [end]."""
    prompts = np.array([[SPECIAL["user"], *question(a, b), SPECIAL["assistant"]] for a, b in sums])
    ids = generate_llama(prompts, params, CONFIG, n_new, np.random.default_rng(0), temperature=0)
    return [write(row).partition(" [end]")[0] for row in ids[:, prompts.shape[1] :]]


def correct(params, sums):
    """Given: return the share of the questions that the model answers correctly, and then stops."""
    return np.mean([NUMBERS[a + b] == answer for (a, b), answer in zip(sums, answers(params, sums), strict=True)])


# %% [markdown]
# ## On paper
#
# 1. A conversation has two turns. The questions have 6 and 4 tokens, the answers 3 and 1. How many tokens does `x`
#    have, and how many targets count?
# 2. How many multiplications does (x A) B need for one position, and how many x W, with D = F = 4,096 and r = 8?
# 3. The model gives the chosen and the rejected answer the same log-probabilities as the reference does. What are the
#    gradients for a single pair, with β = 0.1?

# %% [markdown]
# ## Answers on paper
#
# **1. 19 and 6.** The text has 14 tokens of the two people and three special tokens for each turn. Its last token is
# not in `x`. Each answer counts, and so does the end of each.
#
# ```python
# >>> x, _, mask = chat_example([([1] * 6, [2] * 3), ([3] * 4, [4])], special)
# >>> len(x), int(mask.sum())
# (19, 6)
#
# ```
#
# **2. 65,536, and 256 times as many.**
#
# ```python
# >>> 8 * (4096 + 4096), 4096 * 4096 // (8 * (4096 + 4096))
# (65536, 256)
#
# ```
#
# **3. −0.05 for the chosen answer and 0.05 for the other one.** Here m is 0, and σ(0) is a half.
#
# ```python
# >>> dpo_loss(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1), beta=0.1)[1:]
# (array([-0.05]), array([0.05]))
#
# ```

# %% [markdown]
# ## What could go wrong
#
# Look here for your mistake if a check fails. The report uses the same words.
#
# - `chat_example`: **the mask was not shifted with the targets.** It then marks where an answer is read, not where it
#   is predicted. The target at [assistant] counts.
# - `chat_example`: **the [end] after an answer did not count.** The model then never learns to stop.
# - `answer_loss`: **each text was averaged first, and then the texts.** A token of a short answer then counts more than
#   one of a long answer.
# - `answer_loss`: **the sum was divided by the number of all positions.** Texts with long questions or much padding
#   would get small gradients. Divide by the targets that count.
# - `lora_linear`: **the addition was not divided by r.** With another r, the change would have another
#   size, and alpha would have to be chosen again.
# - `lora_linear_backward`: **dx left out the path through W.** W is frozen, but the layers before it still learn
#   through it.
# - `dpo_loss`: **the reference was left out.** The loss then asks for a large difference, also where there was one
#   before.

# %% [markdown]
# ## Try it
#
# Fine-tune the model of the book with the answers to 25 of the 49 sums, three times, each time with other sums. Compare
# LoRA with r = 1 and r = 4, and training all parameters, at two learning rates. Ask all 49 questions afterward, and
# measure the loss on the book again. It was 0.69. A model that is trained on something new often gets worse at what it
# could do before. This is called **catastrophic forgetting**.
#
# **Guess first.** How many of the 24 other questions are answered correctly? Which way forgets the most? What is the
# rank of the change of a matrix?
#
# Run it: `headway experiment finetuning`, or the next cell of the notebook. It takes about half a minute.

# %%
if __name__ == "__main__":
    params = pretrained()
    print(f"before: {correct(params, SUMS):.0%} correct, loss on the book {book_loss(params):.2f}")
    print("                   rate   trained    others      book      rank")
    for r, rate in ((1, 0.003), (4, 0.003), (0, 0.003), (0, 0.001)):
        results = []
        for seed in (0, 1, 2):
            trained, new = split(seed)
            tuned = fine_tune(params, from_answers(conversations(trained)), r, rate=rate)
            results.append((correct(tuned, trained), correct(tuned, new), book_loss(tuned)))
        known, other, loss = np.mean(results, axis=0)
        rank = np.linalg.matrix_rank(tuned["blocks.0.ffn.W_gate"] - params["blocks.0.ffn.W_gate"])
        way = f"LoRA, r = {r}" if r else "all parameters"
        print(f"{way:17} {rate:5} {known:9.0%} {other:9.0%} {loss:9.2f} {rank:9}")


# %% [markdown]
# ## What came out
#
# ```text
# before: 0% correct, loss on the book 0.69
#                    rate   trained    others      book      rank
# LoRA, r = 1       0.003       99%       79%      2.36         1
# LoRA, r = 4       0.003      100%       92%      2.39         4
# all parameters    0.003      100%       86%      2.97        48
# all parameters    0.001      100%       85%      0.99        48
# ```
#
# Before, the model answers nothing. After 100 steps, it answers most of the questions that it was never trained on,
# because it knew the sums from the book. What it had to learn was to say them.
#
# The change of each matrix has at most the rank r. All four ways forget the book. LoRA does not protect from that: at
# the same learning rate it forgot a little less than training all parameters, but with a smaller rate, training all
# parameters forgot by far the least. (These are means of three runs of one small model.)
#
# 1. After "what is three plus four ?", how probable are "what" and "seven" before fine-tuning?
# 2. How many numbers does LoRA train with r = 1, and with r = 4? How many parameters does the model have?
# 3. When all parameters were trained, the change had the rank 48. Which share of it, measured by the squares of its
#    singular values, is in the largest four?
# 4. Add the gradient on 16 pages of the book to that of the answers, in each step. What happens to the two losses?

# %% [markdown]
# ## Answers
#
# **1. 0.50 and 0.47.** The model cannot know which kind of page this is: half of them go on with "what".
#
# ```python
# >>> text = np.array(question(3, 4))
# >>> probs = np.exp(log_softmax(llama(text, params, CONFIG)[0][-1]))
# >>> [round(float(probs[IDS[word]]), 2) for word in ("what", "seven")]
# [0.5, 0.47]
# >>> write(generate_llama(text, params, CONFIG, 8, np.random.default_rng(0), temperature=0))
# 'what is three plus four ? what is three plus three ? what is'
#
# ```
#
# **2. 912 and 3,648, of 28,800.** The matrices of this model are small, so the difference is not as large as above.
#
# ```python
# >>> [sum(value.size for value in init_lora(params, r, np.random.default_rng(0)).values()) for r in (1, 4)]
# [912, 3648]
# >>> sum(value.size for value in params.values())
# 28800
#
# ```
#
# **3. 0.83.** Most of the change has a low rank of its own. This is the reason why LoRA loses so little.
#
# ```python
# >>> change = tuned["blocks.0.ffn.W_gate"] - params["blocks.0.ffn.W_gate"]
# >>> squares = np.linalg.svd(change, compute_uv=False) ** 2
# >>> round(float(squares[:4].sum() / squares.sum()), 2)
# 0.83
#
# ```
#
# **4. The loss on the book is 0.72, nearly as before, and the answers are as good.** This is called *rehearsal*. It
# needs the old data, which you often do not have.
#
# ```python
# >>> def with_book(learn):
# ...     def gradients(step, params):
# ...         pages, grads = book(np.random.default_rng(step), 16), learn(step, params)
# ...         logits, cache = llama(pages[:, :-1], params, CONFIG)
# ...         found = llama_backward(cross_entropy_backward(logits, pages[:, 1:]), cache)
# ...         return {name: grads[name] + found[name] for name in grads}
# ...     return gradients
# >>> trained, new = split(0)
# >>> tuned = fine_tune(params, with_book(from_answers(conversations(trained))))
# >>> round(float(book_loss(tuned)), 2), f"{correct(tuned, new):.0%}"
# (0.72, '88%')
#
# ```

# %% [markdown]
# ## Try it: which targets count
#
# Fine-tune the model three times with LoRA: with your mask, with all targets, and with a mask that leaves out the
# `[end]`. Then ask it three questions that it was not trained on, and let it write eight tokens each time.
#
# **Guess first.** What does a model write that never learned to stop? Does it hurt to learn the questions, too?
#
# Run it: `headway experiment finetuning mask`, or the next cell of the notebook. It takes about half a minute.

# %%
if __name__ == "__main__" and "mask" in sys.argv:
    params = pretrained()
    trained, new = split(0)
    ways = {
        "the answer and its end": lambda targets, mask: mask,
        "all targets": lambda targets, mask: targets >= 0,  # Those of the padding are -1.
        "the answer without its end": lambda targets, mask: mask & (targets != SPECIAL["end"]),
    }
    for way, counts in ways.items():
        tuned = fine_tune(params, from_answers(conversations(trained), counts))
        print(f"{way}: {correct(tuned, new):.0%} of the other sums")
        for (a, b), answer in zip(new[:3], answers(tuned, new[:3], n_new=8), strict=True):
            print(f"    {write(question(a, b))} -> {answer}")


# %% [markdown]
# ## What came out: which targets count
#
# ```text
# the answer and its end: 88% of the other sums
#     what is four plus two ? -> six
#     what is one plus one ? -> two
#     what is five plus three ? -> eight
# all targets: 83% of the other sums
#     what is four plus two ? -> six
#     what is one plus one ? -> two
#     what is five plus three ? -> eight
# the answer without its end: 0% of the other sums
#     what is four plus two ? -> six plus six ? what is six plus
#     what is one plus one ? -> two plus six ? what is six plus
#     what is five plus three ? -> eight eight eight eight eight eight eight eight
# ```
#
# This is the conversation that was promised: the model answers, and stops. Without a target for the end, it knows the
# answer, too, but goes on until it is stopped.
#
# To learn the questions as well does little harm here: 20 of the 24 others were right, not 21. All questions have the
# same form, and it is one that the model knows. Where questions are long and answers short, most of the gradient would
# come from the questions.

# %% [markdown]
# ## Try it: preferences
#
# Fine-tune the model so that about half of its answers end with a full stop, "seven .", and the others do not. Then
# show it pairs with DPO: for each of the 25 sums, the answer with a full stop is the chosen one, and the answer without
# it the rejected one. Do so with fewer and more steps, and with a larger learning rate.
#
# **Guess first.** The loss depends only on the margin, that is, on the difference between the two answers. Must the
# chosen answer become more probable when the loss falls?
#
# Run it: `headway experiment finetuning preferences`, or the next cell of the notebook. It takes about half a
# minute.

# %%
if __name__ == "__main__" and "preferences" in sys.argv:
    trained, new = split(0)
    tuned = fine_tune(pretrained(), from_answers(conversations(trained) + conversations(trained, " .")))
    good, bad = batch_of(conversations(trained, " .")), batch_of(conversations(trained))

    def log_probs(params, batch):
        x, targets, mask = batch
        logp = log_softmax(llama(x, params, CONFIG)[0])
        return np.where(mask, np.take_along_axis(logp, targets[..., None], axis=-1)[..., 0], 0).sum(axis=1)

    reference = log_probs(tuned, good), log_probs(tuned, bad)

    def gradients(step, params):
        slopes = dpo_loss(log_probs(params, good), log_probs(params, bad), *reference)[1:]
        grads = dict.fromkeys(params, 0)
        for (x, targets, mask), dlogp in zip((good, bad), slopes, strict=True):
            logits, cache = llama(x, params, CONFIG)
            dlogits = answer_loss(logits, targets, mask)[1] * -np.count_nonzero(mask)  # of the sum of log p
            found = llama_backward(dlogits * dlogp[:, None, None], cache)
            grads = {name: grads[name] + found[name] for name in params}
        return grads

    print("steps   rate   loss   chosen  rejected  with stop   without")
    for steps, rate in ((0, 0), (30, 0.001), (100, 0.001), (100, 0.003)):
        now = fine_tune(tuned, gradients, steps=steps, rate=rate)
        chosen, rejected = log_probs(now, good), log_probs(now, bad)
        loss, _, _ = dpo_loss(chosen, rejected, *reference)
        right = [NUMBERS[a + b] for a, b in new]
        said = answers(now, new, n_new=3)
        with_stop = np.mean([f"{number} ." == answer for number, answer in zip(right, said, strict=True)])
        without = np.mean([number == answer for number, answer in zip(right, said, strict=True)])
        means = f"{chosen.mean():8.1f} {rejected.mean():9.1f}"
        print(f"{steps:5} {rate:6} {loss:6.2f} {means} {with_stop:10.0%} {without:9.0%}")


# %% [markdown]
# ## What came out: preferences
#
# ```text
# steps   rate   loss   chosen  rejected  with stop   without
#     0      0   0.69     -0.9      -1.0        67%       17%
#    30  0.001   0.52     -0.2      -4.0        71%        0%
#   100  0.001   0.23     -0.5     -14.1        71%        0%
#   100  0.003   0.20     -4.6     -19.9         8%        0%
# ```
#
# Chosen and rejected are the mean log-probabilities of the answers in the pairs. The last two columns are the shares of
# the 24 other sums with a right answer, with a full stop and without.
#
# After 30 gentle steps, all is as hoped: the chosen answers have become more probable, also for sums that were in no
# pair, and the rejected ones hardly occur. Then the loss falls further while the chosen answers become *less* probable
# again: it is enough that the rejected ones fall faster. The last line has the lowest loss, and a broken model.
#
# So do not judge by the loss of DPO. Look at log p of the chosen answers, and ask the model.
