"""Assignment 10: training, with AdamW, gradient clipping, and a learning rate with warm-up and decay."""

# %% [markdown]
# # Training: many small steps downhill
#
# *Assignment 10 of 12 · 6 functions · about 2 h*
#
# `gpt_loss` returns the loss and its gradient: for every parameter, the direction in which the loss grows. In the last
# experiment, two hundred steps in the opposite direction were enough for a model to learn two names. To train on a
# million characters, you need to make such steps fast and stable:
#
# ```text
#     batch (x, y) ──> loss, gradients ──> clip ──> AdamW step ──> new parameters ──> next batch
#                                                       ^
#                                               learning rate of this step
# ```
#
# A small mistake in the middle part is easy to overlook, because the loss falls all the same. So the checks compare
# your training loop with PyTorch's loss by loss, from the same parameters and the same batches. In float64 and with a
# learning rate of 0.001, the losses of a correct loop agree with PyTorch's to thirteen decimal places for a hundred
# steps; the subtlest mistakes that the checks know show in the seventh place within twenty. (Larger rates amplify
# rounding errors.)
#
# All functions here are *pure*: they return new dictionaries and do not change their arguments. That costs a little
# memory, and it makes mistakes much easier to find.

# %%
import itertools
import math

import numpy as np
from gpt import gpt, gpt_loss
from softmax import cross_entropy

# %% [markdown]
# ## `adamw_step`
#
# *35 min, needs pen and paper*
#
# Subtracting `lr * gradient`, as in the last experiment, is plain **gradient descent**. It has two problems: the
# gradients of single batches are noisy, and one learning rate must serve parameters whose gradients differ by factors
# of a thousand. **Adam** (Kingma and Ba 2015, algorithm 1) solves both with two running averages for every single
# parameter:
#
# - `m`, the average *gradient*: the noise of single batches cancels, and what they have in common remains;
# - `v`, the average *squared gradient*: it measures how large the gradients of this parameter usually are.
#
# The step is the first divided by the root of the second. A parameter with small gradients moves as far as one with
# large gradients: about `lr` when its gradients are all alike, less when their signs differ. With the gradient g and
# the constants β₁ and β₂ (0.9 and 0.999), the averages are updated like this:
#
# $$m \leftarrow \beta_1 m + (1-\beta_1)\, g \qquad v \leftarrow \beta_2 v + (1-\beta_2)\, g^2$$
#
# Two refinements follow. The first is the **bias correction**. Both averages start at 0. After t steps, the gradients
# in an average have the total weight $1 - \beta^t$; the rest is still the initial 0. Divide by that weight:
#
# $$\hat m = \frac{m}{1-\beta_1^t} \qquad \hat v = \frac{v}{1-\beta_2^t}$$
#
# Here t counts from 1, is shared by all parameters, and increases by one per step. Without the correction, the first
# steps are about three times too long: with $\beta_1 = 0.9$ and $\beta_2 = 0.999$, $m$ is 10 times too small in the
# first step, but $\sqrt v$ is 32 times too small.
#
# The second is **weight decay**: every step pulls every parameter p a little towards 0, so that none grows large
# without need. Its strength is $\lambda$. The older method adds $\lambda p$ to the gradient. But then the decay enters
# the averages and is divided by $\sqrt{\hat v}$, so that parameters with large gradients decay less than others.
# Loshchilov and Hutter (2019, algorithm 2) take it out of the gradient: they multiply the parameter by a number just
# below 1. That is the W in **AdamW**.
#
# $$p \leftarrow p\,(1 - lr \cdot \lambda) - lr \cdot \frac{\hat m}{\sqrt{\hat v} + \epsilon}$$
#
# Three details matter. The decay acts on the *old* parameter. It is multiplied by the learning rate (in PyTorch and
# here; in the paper it follows the schedule, but not the size of the rate). And $\epsilon$, a small number against
# division by 0, is added *outside* the root, unlike that of layer norm. In this course the decay acts on every
# parameter, as it does in PyTorch by default; many training scripts exclude biases and norms.
#
# In the very first step, $\hat m = g$ and $\sqrt{\hat v} = |g|$: every parameter moves by about `lr`, even if its
# gradient is small (unless it is as small as $\epsilon$). (The third entry below has the gradient 0, and only decays.)
#
# ```python
# >>> params = {"W": np.array([1.0, 1.0, 1.0])}
# >>> grads = {"W": np.array([5.0, -0.001, 0.0])}
# >>> params, state = adamw_step(params, grads, {}, lr=0.1, weight_decay=0.01)
# >>> params["W"].round(4)
# array([0.899, 1.099, 0.999])
# >>> state["step"], state["m"]["W"][:1].round(4)
# (1, array([0.5]))
#
# ```

# %%
def adamw_step(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    """Take one step of AdamW (Loshchilov and Hutter 2019, algorithm 2; the same results as `torch.optim.AdamW`).

        t = t + 1
        m = β₁ m + (1 - β₁) g                        v = β₂ v + (1 - β₂) g²
        p = p (1 - lr λ) - lr m̂ / (√v̂ + ε)          with m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ)

    Args:
        params: dictionary of parameters p, arrays of any shapes.
        grads: dictionary of gradients g, same keys and shapes.
        state: `{}` before the first step, later the state returned by the previous step: `step`, the number t of steps
            already taken (int), and `m` and `v`, dictionaries with the keys and shapes of `params`.
        lr: the learning rate.
        betas: β₁ and β₂.
        eps: ε, added outside the root.
        weight_decay: λ. It acts on every parameter.

    Returns:
        params: the new parameters, with the same keys, shapes and dtypes.
        state: the new state, with `step`, `m` and `v`.
        No argument is modified, and no array in one.
    """
    raise NotImplementedError("training.adamw_step")


# %% [markdown]
# ## `clip_grad_norm`
#
# *15 min, needs some thought*
#
# Occasionally a batch has a huge gradient, and a single step along it can undo the work of many steps before it.
# **Gradient clipping** (Pascanu, Mikolov and Bengio 2013, algorithm 1) limits the length of the gradient, its *norm*,
# where the gradients of all parameters count as *one* long vector. The direction does not change: every array is
# multiplied by the same number. Clipping each array separately changes the direction, and is a common mistake.
#
# $$\|g\| = \sqrt{\textstyle\sum_{\text{all arrays}} \sum_i g_i^2} \qquad
#   g \leftarrow g \cdot \min\Big(1,\ \frac{max\_norm}{\|g\| + 10^{-6}}\Big)$$
#
# ```python
# >>> clipped, norm = clip_grad_norm({"a": np.array([3.0, 0.0]), "b": np.array([[4.0]])}, max_norm=1.0)
# >>> norm
# 5.0
# >>> clipped["a"].round(4), clipped["b"].round(4)
# (array([0.6, 0. ]), array([[0.8]]))
#
# ```
#
# The root of 3² + 4² is 5, so everything is divided by 5. The $10^{-6}$ is PyTorch's, against division by zero. A
# gradient that is short enough is not changed: clipping never makes a gradient longer.

# %%
def clip_grad_norm(grads, max_norm):
    """Scale all gradients together so that their common norm is at most `max_norm` (Pascanu et al. 2013, algorithm 1).

        norm = √(Σ over all arrays of Σ g²)          g = g · min(1, max_norm / (norm + 1e-6))

    The results are those of `torch.nn.utils.clip_grad_norm_`, but nothing is changed in place.

    Args:
        grads: dictionary of gradients.
        max_norm: the largest norm allowed.

    Returns:
        grads: dictionary with the same keys, shapes and dtypes.
        norm: the norm before clipping, a Python float.
    """
    raise NotImplementedError("training.clip_grad_norm")


# %% [markdown]
# ## `learning_rate`
#
# *20 min, needs some thought*
#
# The steps should be short at first, then long, then short again.
#
# - During the **warm-up**, the learning rate grows in a straight line from almost 0 to its full value (Vaswani et al.
#   2017, section 5.3). The first steps are the riskiest: the average `v` contains only a few batches and is unreliable.
# - During the **cosine decay**, it falls along half a wave to a small final value: slowly at first, while there is much
#   to learn, and slowly again at the end, so that training settles (Loshchilov and Hutter 2017, section 3, equation 5,
#   without restarts).
#
# With 4 steps of warm-up and 12 steps in all:
#
# ```python
# >>> rates = [learning_rate(step, max_lr=1.0, min_lr=0.1, warmup_steps=4, total_steps=12) for step in range(14)]
# >>> np.array(rates).round(3)
# array([0.25 , 0.5  , 0.75 , 1.   , 1.   , 0.966, 0.868, 0.722, 0.55 ,
#        0.378, 0.232, 0.134, 0.1  , 0.1  ])
#
# ```
#
# Steps are counted from 0. Many schedules start with a learning rate of 0, so that the first batch has no effect; this
# one starts at `max_lr / warmup_steps`. The last step of the warm-up has the full rate, and so has the first step of
# the cosine.
#
# Plot the schedule with `headway plot learning-rate` (add `--solution` if you have not written your function yet).

# %%
def learning_rate(step, max_lr, min_lr, warmup_steps, total_steps):
    """Return the learning rate of a step: linear warm-up, half a cosine, then constant.

    The cosine is that of Loshchilov and Hutter (2017, section 3, equation 5).

        step < warmup_steps:                   max_lr (step + 1) / warmup_steps
        warmup_steps ≤ step < total_steps:     min_lr + (max_lr - min_lr) (1 + cos(π progress)) / 2
                                               with progress = (step - warmup_steps) / (total_steps - warmup_steps)
        step ≥ total_steps:                    min_lr

    Args:
        step: the number of the step, counted from 0.
        max_lr: the rate at the end of the warm-up.
        min_lr: the rate at `total_steps` and afterwards.
        warmup_steps: the number of steps of the warm-up; 0 means none.
        total_steps: the step at which `min_lr` is reached, counted from 0, including the warm-up.

    Returns:
        The learning rate, a Python float.

    Raises:
        ValueError: if `step` or `warmup_steps` is negative, or `warmup_steps` is larger than `total_steps`.
    """
    raise NotImplementedError("training.learning_rate")


# %% [markdown]
# ## `train_step`
#
# *15 min, straightforward*
#
# A training step combines these parts: loss and gradients, clipping (if a `max_norm` is given), AdamW. It returns the
# loss *before* the step.
#
# ```python
# >>> from gpt import GPTConfig, init_gpt
# >>> config = GPTConfig(vocab_size=5, block_size=4, n_layers=1, n_heads=2, d_model=8)
# >>> params, state = init_gpt(config, np.random.default_rng(0)), {}
# >>> x, y = np.array([[0, 1, 2, 3], [3, 2, 1, 0]]), np.array([[1, 2, 3, 4], [2, 1, 0, 4]])
# >>> for step in range(3):
# ...     loss, params, state = train_step(params, state, x, y, config, lr=0.01)
# ...     print(state["step"], round(loss, 2))
# 1 1.61
# 2 1.56
# 3 1.51
#
# ```
#
# The first loss is log 5 = 1.61, as it should be.

# %%
def train_step(params, state, x, y, config, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None):
    """Take one training step on one batch: `gpt_loss`, `clip_grad_norm`, `adamw_step`.

    Args:
        params: dictionary of the GPT's parameters.
        state: the state of AdamW; `{}` before the first step.
        x: token ids, (B, T).
        y: the tokens that come next, (B, T).
        config: a `GPTConfig`.
        lr: the learning rate of this step.
        betas: β₁ and β₂ of AdamW.
        eps: ε of AdamW.
        weight_decay: λ of AdamW.
        max_norm: the largest norm of the gradient; None: no clipping.

    Returns:
        loss: the loss of this batch before the step, a Python float.
        params: the new parameters.
        state: the new state.
        No argument is modified.
    """
    raise NotImplementedError("training.train_step")


# %% [markdown]
# ## `estimate_loss`
#
# *15 min, needs some thought*
#
# How good is the model? The loss of a training batch is noisy, and it is measured on text that the model is trained on.
# What counts is the validation loss of assignment 1: the mean over many batches of text that the model has never been
# trained on. It needs no gradients, so the forward pass is enough.
#
# If the training loss keeps falling while the validation loss rises, the model has begun to memorize the training text:
# it is **overfitting**.
#
# ```python
# >>> round(estimate_loss(params, config, [(x, y), (y, x)]), 2)
# 1.56
#
# ```

# %%
def estimate_loss(params, config, batches):
    """Return the mean loss over several batches.

    Args:
        params: dictionary of the GPT's parameters.
        config: a `GPTConfig`.
        batches: an iterable of pairs (x, y), token ids and the tokens that come next, each (B, T).

    Returns:
        The mean cross-entropy over all tokens of all batches, a Python float. Every token counts the same, even if the
        batches have different sizes.

    Raises:
        ValueError: if there is no batch.
    """
    raise NotImplementedError("training.estimate_loss")


# %% [markdown]
# ## `train`
#
# *20 min, needs some thought*
#
# The training loop calls `train_step` for each batch and collects the losses. The caller provides the batches and the
# learning rate of each step, so nothing in here is random, and a run can be stopped and resumed: pass the returned
# parameters and state to the next call, with the next batches and rates, and the results are the same as those of an
# uninterrupted run.
#
# ```python
# >>> params = init_gpt(config, np.random.default_rng(0))
# >>> params, state, losses = train(params, config, [(x, y)] * 60, lr=0.01)
# >>> params, state, more = train(params, config, [(x, y)] * 40, lr=[0.001] * 40, state=state)
# >>> state["step"], len(losses), len(more)
# (100, 60, 40)
# >>> losses[0] > 1.5 and more[-1] < 0.1
# True
#
# ```
#
# Keep the losses, which are single floats, but no caches, gradients or old parameters: memory should not grow with the
# number of steps. `batches` may be a generator that creates each batch only when it is needed.
#
# ### Going faster
#
# This section is optional. Calling `train_step` in a loop is correct, and it passes all checks. For small models,
# though, AdamW makes about a dozen NumPy calls for each of some fifty arrays, and with arrays as small as 16 × 16 the
# calls take more time than the arithmetic. AdamW does the same to every entry, whatever the shape of its array. So you
# can put all parameters end to end into *one* long array, and the gradients into another, in the same order. A single
# `adamw_step` of a dictionary with one entry then updates everything. The model still gets its named matrices, as views
# into the long array.
#
# This helps only small models: with 16 features and 4 layers a training step should be noticeably faster, with 64
# features you may see no difference. Two helper functions are given.
#
# ```python
# >>> arrays = {"a": np.array([[1.0, 2.0]]), "b": np.array([3.0])}
# >>> flat = pack(arrays, like=arrays)
# >>> flat
# array([1., 2., 3.])
# >>> unpack(10 * flat, like=arrays)
# {'a': array([[10., 20.]]), 'b': array([30.])}
#
# ```
#
# On most Linux systems (those with glibc), the C library may return freed memory to the system and request it again, at
# every step. Set `MALLOC_TRIM_THRESHOLD_=2147483648 MALLOC_MMAP_THRESHOLD_=1073741824` in the environment *before*
# Python starts, and it keeps the memory. Measure whether that makes a difference on your machine; Headway sets both
# when it runs your functions.

# %%
def pack(arrays, like):
    """Given: concatenate all arrays of a dictionary into one new flat array, in the order of the names in `like`."""
    return np.concatenate([arrays[name] for name in like], axis=None)


def unpack(flat, like):
    """Given: undo `pack`. Return views into `flat`, with the names and shapes of `like`."""
    arrays, start = {}, 0
    for name, array in like.items():
        arrays[name] = flat[start : start + array.size].reshape(array.shape)
        start += array.size
    return arrays


def train(params, config, batches, lr, state=None, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None):
    """Train a GPT: one AdamW step for each batch.

    The result is that of calling `train_step` for each batch in turn. Training ends when there are no more batches, or
    no more learning rates; one of the two may be endless.

    Args:
        params: dictionary of the GPT's parameters.
        config: a `GPTConfig`.
        batches: an iterable of pairs (x, y), token ids and the tokens that come next, each (B, T).
        lr: the learning rate: a number for all steps, or an iterable with one number for each batch.
        state: the state of AdamW that an earlier call returned, to resume that run; None or `{}` for a new run.
        betas: β₁ and β₂ of AdamW.
        eps: ε of AdamW.
        weight_decay: λ of AdamW.
        max_norm: the largest norm of the gradient; None: no clipping.

    Returns:
        params: the trained parameters, with the keys, shapes and dtypes of `params`.
        state: the state of AdamW after the last step: `step`, `m`, `v` (unchanged if there was no batch).
        losses: list of Python floats, the loss of each batch before its step.
        No argument is modified.
    """
    raise NotImplementedError("training.train")


# %% [markdown]
# ## Why is my loss impossibly low?
#
# A loss that is too high worries everyone. One that is too low is worse: usually the model can read the tokens that it
# should predict. Nothing fails and the loss falls quickly, but the model learns to look up the answer, and not to
# predict it.
#
# Random tokens show the leak. If every token is drawn from ten, all equally likely and independent of the others, then
# nothing can be predicted: on new batches, no model has a mean loss below log 10 = 2.30, apart from luck. So draw a new
# random batch for every step, and train. If the loss falls clearly below this number, the model reads what it should
# not.
#
# Try it with a small model: one attention with two heads between the tables and the output head. It is trained as it
# should be; with heads that are merged by a reshape alone (the mistake of assignment 5), forward and backward; and
# without the causal mask.
#
# ```python
# >>> from attention import causal_mask
# >>> from embeddings import embed, embed_tokens_backward
# >>> from ffn import linear, linear_backward
# >>> from multihead import merge_heads, multihead_attention, multihead_attention_backward, split_heads
# >>> from softmax import cross_entropy_backward
# >>> def reshape_alone(x):  # what a merge without the swap makes of the heads in x, (B, T, D)
# ...     return split_heads(x, 2).reshape(x.shape)
# >>> def reshape_alone_backward(dout):
# ...     return merge_heads(dout.reshape(32, 2, 8, 8))
# >>> def same(x):
# ...     return x
# >>> def loss_on_random_tokens(after=same, after_backward=same, mask=causal_mask(8)):
# ...     rng, state, losses = np.random.default_rng(0), {}, []
# ...     shapes = {"W_tok": (10, 16), "W_pos": (8, 16), "W_qkv": (16, 48), "W_head": (16, 10)}
# ...     p = {name: rng.normal(scale=0.3, size=shape) for name, shape in shapes.items()}
# ...     for _ in range(300):
# ...         ids = rng.integers(10, size=(32, 9))
# ...         x, y = ids[:, :-1], ids[:, 1:]  # (B, T) = (32, 8)
# ...         embedded = embed(x, p["W_tok"], p["W_pos"])  # (B, T, D), D = 16
# ...         out, cache = multihead_attention(embedded, {"W_qkv": p["W_qkv"], "W_o": np.eye(16)}, 2, mask)
# ...         out = after(out)
# ...         logits = linear(out, p["W_head"], None)
# ...         losses.append(cross_entropy(logits, y))
# ...         dout, dW_head, _ = linear_backward(cross_entropy_backward(logits, y), out, p["W_head"])
# ...         dx, grads = multihead_attention_backward(after_backward(dout), cache)
# ...         grads = {"W_qkv": grads["W_qkv"], "W_head": dW_head}
# ...         grads |= {"W_tok": embed_tokens_backward(dx, x, 10), "W_pos": dx.sum(axis=0)}
# ...         p, state = adamw_step(p, grads, state, lr=0.01)
# ...     return round(float(np.mean(losses[-20:])), 1)
# >>> loss_on_random_tokens()
# 2.3
# >>> loss_on_random_tokens(reshape_alone, reshape_alone_backward)
# 1.2
# >>> loss_on_random_tokens(mask=None)
# 0.3
#
# ```
#
# The correct model learns that there is nothing to learn. With the reshape, row t of the first four holds head 0 of the
# positions 2t and 2t + 1, and position 2t + 1 may attend to position t + 1, where the target of row t stands. Half of
# the predictions can become certain: the loss falls to about ½ log 10 = 1.15. Without the mask only the last target is
# safe, because it is not in the window, and about ⅛ log 10 = 0.29 is left.
#
# To find the leak, change the last token and see which scores change. Only those of the last position may:
#
# ```python
# >>> before, _ = gpt(np.array([[0, 1, 2, 3]]), params, config)
# >>> after, _ = gpt(np.array([[0, 1, 2, 4]]), params, config)
# >>> np.isclose(before, after).all(axis=-1)
# array([[ True,  True,  True, False]])
#
# ```

# %% [markdown]
# ## What could go wrong
#
# These mistakes are easy to make here. Read them before you write the functions, and again when a check fails: the
# report uses the same words when it recognizes one.
#
# - `adamw_step`: **the bias correction is missing.** Both averages start at 0. With the default betas, the first steps
#   are about three times too long without the correction.
# - `adamw_step`: **ε was added inside the root.** √(v̂ + 1e-8) is at least 1e-4, so parameters with small gradients
#   hardly move.
# - `adamw_step`: **the weight decay was added to the gradient.** That is Adam with L2 regularization: the decay enters
#   the averages and is divided by √v̂. AdamW keeps it out of both.
# - `clip_grad_norm`: **every array was clipped separately.** All gradients together are one long vector. Clipping each
#   array changes its direction, and the whole can still be too long.
# - `learning_rate`: **the cosine counts from step 0, as if there were no warm-up.** After the warm-up, the rate jumps
#   down, because the cosine does not start at its beginning.
# - `train_step`: **every step started with an empty state.** There are then no running averages: each step is treated
#   as the first.
# - `estimate_loss`: **the losses of the batches were averaged without regard to their sizes.** Every token counts
#   equally: a batch of two tokens must not weigh as much as one of two hundred.

# %% [markdown]
# ## Try it
#
# What can two blocks do that one cannot? Each text of this task has six different tokens in random order, and then the
# same six in the same cyclic order, starting anywhere, until the first of them comes round again: 3 0 5 1 4 2, and then
# 1 4 2 3 0 5 1. The first token of the second part cannot be predicted, but all the others can: 4 came after 1 before,
# so 4 comes after 1 again. Train a model of one block and a model of two blocks on this task, 150 steps each.
#
# **Guess first.** How often is each model right, at the positions of the second part? For the model with one block,
# consider this: a head can find the earlier 1. Can it also find the token that came after it?
#
# Run it: `python training.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    from gpt import GPTConfig, init_gpt

    def batch(rng, size):
        first = rng.permuted(np.tile(np.arange(6), (size, 1)), axis=1)  # (B, 6)
        places = (rng.integers(6, size=(size, 1)) + np.arange(7)) % 6  # the same cycle, from another start
        texts = np.concatenate([first, np.take_along_axis(first, places, axis=1)], axis=1)  # (B, 13)
        return texts[:, :-1], texts[:, 1:]

    def learn(n_layers):
        rng = np.random.default_rng(0)
        config = GPTConfig(vocab_size=6, block_size=12, n_layers=n_layers, n_heads=1, d_model=24, init_std=0.1)
        params = {name: value.astype(np.float64) for name, value in init_gpt(config, rng).items()}
        params, _, _ = train(params, config, (batch(rng, 32) for _ in range(150)), lr=0.01)
        return params, config

    x, y = batch(np.random.default_rng(1), 500)
    for n_layers in (1, 2):
        params, config = learn(n_layers)
        logits, cache = gpt(x, params, config)
        right = (logits.argmax(axis=-1) == y)[:, 6:].mean(axis=0)  # the six predictions in the second part
        print("blocks:", n_layers, [f"{share:.0%}" for share in right])


# %% [markdown]
# ## What came out
#
# ```text
# blocks: 1 ['20%', '25%', '33%', '49%', '100%', '100%']
# blocks: 2 ['80%', '92%', '96%', '97%', '100%', '99%']
# ```
#
# The model with two blocks predicts most of these tokens, the one with one block does not. (The last prediction closes
# the cycle: the answer is the token that the second part began with, and both models have learned that.) A head that
# finds the earlier 1 finds a 1. To find the token *after* it, an earlier block must first have moved information: what
# one block writes into the stream, a head of the next block can use as a key. That is an advantage of depth.
#
# In small models of two blocks of attention alone, pairs of heads were found to do it like this: the first head stores,
# at each position, which token came before it; the second attends to the position where "1" is stored (Elhage et al.
# 2021). Such second heads are called **induction heads**; there is evidence of them in large models, too, but it is
# less direct (Olsson et al. 2022). Does this model do the same?
#
# 1. The model with one block does not guess at random: its results rise from position to position. What has it learned?
# 2. If there is an induction head, the later 1 attends to the position right after the earlier 1. Check this in
#    `cache`: how much weight goes to the earlier 1 itself, to the position after it, to the next, and so on round the
#    cycle?

# %% [markdown]
# ## Answers
#
# **1. It has learned to rule out tokens.** The six tokens are all different. Five are left at the first position, then
# four, three, two, one. A guess among these is right this often:
#
# ```python
# >>> print([f"{1 / left:.0%}" for left in (5, 4, 3, 2, 1)])
# ['20%', '25%', '33%', '50%', '100%']
#
# ```
#
# **2. There is no peak at the position after it.** The second block gives little weight to the answer, and more to the
# tokens after it. These can be ruled out, so perhaps it does what the single block does, only better. All tokens of a
# cycle are different here, so a model can solve the task without an induction head, and this one does. To find out what
# a network does, measure it: a plausible explanation of the result is not enough.
#
# ```python
# >>> earlier = (x[:, None, :6] == x[:, 6:, None]).argmax(axis=-1)  # for the six later tokens, (B, 6)
# >>> weights = cache["blocks.1.weights"][:, 0, 6:]  # (B, 6, 12)
# >>> for after in range(6):
# ...     places = (earlier + after) % 6
# ...     print(after, np.take_along_axis(weights, places[..., None], axis=-1).mean().round(2))
# 0 0.0
# 1 0.04
# 2 0.22
# 3 0.27
# 4 0.18
# 5 0.09
#
# ```

# %% [markdown]
# ## In your own GPT
#
# You have now written everything that is needed to train a GPT. `headway train` trains one on a whole text with your
# functions, and `headway plot loss` plots its losses.
