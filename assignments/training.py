"""Training, with AdamW, gradient clipping, and a learning rate with warm-up and decay."""

# %% [markdown]
# # Training: many small steps downhill
#
# *Assignment 13 of 21 · 6 functions · about 2 h to write them*
#
# Take a small post-norm model, and train it for 200 steps at the learning rate 0.01. Its loss is still log 6 = 1.8: it
# is guessing among six tokens. Now let the rate grow slowly over the first 100 steps. The loss falls to 0.6, close to
# the best possible 0.55. The gradients were correct both times. All that changed was how far each step went. (You can
# repeat both runs at the end.)
#
# `gpt_loss` gives you the gradients. This lesson turns them into steps:
#
# ```text
#     batch (x, y) ──> loss, gradients ──> clip ──> AdamW step ──> new parameters ──> next batch
#                                                       ^
#                                               learning rate of this step
# ```
#
# ![A map of the whole model. Marked: from the gradients to the new parameters.](figures/map-training.svg)
#
# A mistake in the middle of that line is easy to overlook, because the loss falls all the same. So the checks compare
# your losses with PyTorch's. In float64 and with a learning rate of 0.001, a correct loop agrees to thirteen decimal
# places for a hundred steps; the subtlest mistakes that the checks know show up in the seventh place within twenty
# steps.
#
# All functions here are *pure*: they return new dictionaries and do not change their arguments.

# %%
import itertools
import math
import sys

import numpy as np
from gpt import gpt, gpt_loss
from softmax import cross_entropy

# %% [markdown]
# ## `adamw_step`
#
# *35 min, needs some thought*
#
# Why not just subtract `lr * gradient`? The gradients of single batches are noisy, and those of two parameters can
# differ by a factor of a thousand. **Adam** (Kingma and Ba 2015, algorithm 1) answers with two running averages for
# every parameter:
#
# - `m`, the average *gradient*: the noise cancels, and what the batches have in common remains;
# - `v`, the average *squared gradient*: it measures how large the gradients of this parameter usually are.
#
# The step is the first divided by the root of the second. So parameters with small gradients move as far as those with
# large ones: about `lr` when the gradients are all alike, less when their signs differ. With the gradient g, β₁ = 0.9
# and β₂ = 0.999:
#
# $$m \leftarrow \beta_1 m + (1-\beta_1)\, g \qquad v \leftarrow \beta_2 v + (1-\beta_2)\, g^2$$
#
# The first of two refinements is the **bias correction**. Both averages start at 0. After t steps, the gradients in
# them have a total weight of only $1 - \beta^t$: with β₁ = 0.9, two equal gradients give m = (0.09 + 0.1) g, and 0.19
# is 1 − 0.9². Divide by it:
#
# $$\hat m = \frac{m}{1-\beta_1^t} \qquad \hat v = \frac{v}{1-\beta_2^t}$$
#
# In the first step, $m$ is 10 times too small, but $\sqrt v$ is 32 times too small: without the correction, that step
# would be about three times too long.
#
# The second is **weight decay**: every step pulls every parameter p a little toward 0, with the strength $\lambda$.
# Networks with small parameters often predict better on new data (Krogh and Hertz 1991).
# People used to add $\lambda p$ to the gradient. With plain steps, that amounts to the same thing. But Adam then
# divides the decay by $\sqrt{\hat v}$, too, and parameters with large gradients decay less. Loshchilov and Hutter
# (2019, algorithm 2) multiply the parameter by a number just below 1 instead. That is the W in **AdamW**.
#
# $$p \leftarrow p\,(1 - lr \cdot \lambda) - lr \cdot \frac{\hat m}{\sqrt{\hat v} + \epsilon}$$
#
# Three details matter. The decay acts on the *old* parameter. It is multiplied by the learning rate, as in PyTorch. And
# $\epsilon$, a small number that prevents division by 0, is added *outside* the root, unlike that of layer norm.
#
# In the first step, $\hat m = g$ and $\sqrt{\hat v} = |g|$: every parameter moves by about `lr`, unless its gradient is
# as small as $\epsilon$. The third entry below has the gradient 0 and only decays.
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
# Pascanu, Mikolov and Bengio (2013) plotted the loss of a network with a single hidden unit and found a steep wall in
# it. A step that starts there lands far away. Their remedy is **gradient clipping** (algorithm 1): limit the length of
# the gradient, its *norm*, counting all parameters as *one* long vector. Every array is multiplied by the same number,
# so the direction stays the same.
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
# The root of 3² + 4² is 5, so everything is divided by 5. (PyTorch adds the $10^{-6}$ to avoid division by zero.)

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
# - During the **warm-up**, the rate grows in a straight line from almost 0 to its full value (Vaswani et al. 2017,
#   section 5.3). The first steps are the riskiest: the average `v` contains only a few batches.
# - During the **cosine decay**, it falls along half a wave to a small final value, slowly at both ends (Loshchilov and
#   Hutter 2017, section 3, equation 5, without restarts).
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
# A rate of 0 would waste the first batch, so the warm-up starts at `max_lr / warmup_steps`. Its last step has the full
# rate, and so does the first step of the cosine.
#
# Plot it: `headway plot learning-rate` (add `--solution` if you have not written your function yet).
#
# ![The learning rate over 220 steps for three lengths of the warm-up: a straight line up, then half a cosine wave
# down.](figures/learning-rate.svg)

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
# A training step puts the parts together. It returns the loss *before* the step.
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
# The first loss is log 5 = 1.61.
#
# If a batch does not fit into memory, compute the gradients of equal parts one after the other, and step with their
# mean. This is *gradient accumulation*. Two halves give the gradient of the whole batch:
#
# ```python
# >>> _, whole = gpt_loss(x, y, params, config)
# >>> halves = [gpt_loss(x[i : i + 1], y[i : i + 1], params, config)[1] for i in range(2)]
# >>> all(np.allclose((halves[0][name] + halves[1][name]) / 2, whole[name], atol=1e-6) for name in whole)
# True
#
# ```

# %%
def train_step(
    params, state, x, y, config, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None
):
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
        rng: a `numpy.random.Generator` for the dropout of `gpt_loss`; None: nothing is dropped.

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
# The loss of a training batch is noisy, and the model is trained on that very text. What counts is the validation loss
# (see `tokenizer`): the mean over many batches of text the model has never seen. It needs only the forward pass.
#
# If the training loss keeps falling while the validation loss rises, the model has begun to memorize: it is
# **overfitting**.
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
# The training loop calls `train_step` for each batch and collects the losses. To resume a run, pass the returned
# parameters and state to the next call:
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
# Keep the losses, but no caches, gradients or old parameters. Ignore `pack` and `unpack` until the last section, "Going
# faster".
#
# For their base model, Vaswani et al. (2017, section 6.1) averaged the last five sets of parameters that they had
# saved. This is *checkpoint averaging*.

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


def train(
    params, config, batches, lr, state=None, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None, rng=None
):
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
        rng: a `numpy.random.Generator` for the dropout of `gpt_loss`; None: nothing is dropped.

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
# A loss that is too high worries everyone. One that is too low is worse: it usually means that the model can read what
# it should predict.
#
# Random tokens reveal such a leak. If every token is one of ten, drawn independently, then no model has a mean loss
# below log 10 = 2.30 on new batches, except by luck. So train on a new random batch in every step: a loss clearly below
# 2.30 means a leak.
#
# Here is one attention layer with two heads, trained correctly; with heads merged by a reshape alone (the mistake from
# `multihead`); and without the causal mask.
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
# The correct model learns that there is nothing to learn. With the reshape, row t no longer belongs to position t. Rows
# 0 to 3 hold head 0: row 0 of the positions 0 and 1, row 1 of 2 and 3, and so on. Position 3 may attend to position 2,
# and that is the target of row 1. So the first four predictions can become certain, and the loss falls to about ½ log
# 10 = 1.15. (Rows 4 to 7 hold head 1, of positions that are not later than their own.) Without the mask, only the last
# target, which is not in the window, is safe: about ⅛ log 10 = 0.29 is left.
#
# To find the leak, change the last token. Only the scores of the last position may change:
#
# ```python
# >>> before, _ = gpt(np.array([[0, 1, 2, 3]]), params, config)
# >>> after, _ = gpt(np.array([[0, 1, 2, 4]]), params, config)
# >>> np.isclose(before, after).all(axis=-1)
# array([[ True,  True,  True, False]])
#
# ```

# %% [markdown]
# ## On paper
#
# 1. A parameter starts at 0. AdamW has the learning rate 0.1, the default betas, no weight decay and $\epsilon = 0$.
#    The gradient is 1, then −1. Where is the parameter after each step?
# 2. Two arrays have the gradients (6, 0) and (0, 8), and `max_norm` is 5. What does `clip_grad_norm` return? What if
#    each array were clipped by itself?
# 3. Parameters, gradients, m and v are float32, 4 bytes per entry. How much memory is that for GPT-2 with its 124
#    million parameters?
# 4. The rate of Vaswani et al. (2017, section 5.3) is $D^{-0.5} \cdot \min(step^{-0.5},\ step \cdot warmup^{-1.5})$,
#    with steps counted from 1. At which step is it largest? What is left of it after four times as many steps?
# 5. You train the table of `bigram`. A batch does not contain the token 1, but earlier ones did. Row 1 of the gradient
#    is 0. What does `sgd_step` do to row 1 of the table? What does `adamw_step` do?

# %% [markdown]
# ## Answers on paper
#
# **1. At −0.1, then at −0.0947.** At first both corrected averages are 1: a full step. Then m = 0.9 · 0.1 − 0.1 =
# −0.01, because the gradients nearly cancel, and corrected it is −0.01 / 0.19 = −0.0526. Both squares are 1, and so is
# the corrected v. The second step goes back, but only by 0.0053.
#
# ```python
# >>> p, state = {"p": np.array([0.0])}, {}
# >>> for g in (1.0, -1.0):
# ...     p, state = adamw_step(p, {"p": np.array([g])}, state, lr=0.1, eps=0.0, weight_decay=0.0)
# ...     print(p["p"].round(4))
# [-0.1]
# [-0.0947]
#
# ```
#
# **2. (3, 0) and (0, 4).** The norm of all together is 10, so everything is halved. Clipped one by one, they would be
# (5, 0) and (0, 5), which point in another direction.
#
# ```python
# >>> clipped, _ = clip_grad_norm({"a": np.array([6.0, 0.0]), "b": np.array([0.0, 8.0])}, max_norm=5.0)
# >>> clipped["a"].round(4), clipped["b"].round(4)
# (array([3., 0.]), array([0., 4.]))
#
# ```
#
# **3. 16 bytes per parameter, about 2 GB.** That is four times what you need to use the model, without counting the
# forward pass.
#
# ```python
# >>> 4 * 4 * 124_000_000 / 1e9
# 1.984
#
# ```
#
# **4. At the last step of the warm-up; half of it.** Up to there, the second term is the smaller one, a straight line.
# Then it is the first: four times the steps, half the rate. The rates of the paper's base model:
#
# ```python
# >>> for step in (1, 2000, 4000, 16_000):
# ...     print(f"{step:5} {512**-0.5 * min(step**-0.5, step * 4000**-1.5):.2g}")
#     1 1.7e-07
#  2000 0.00035
#  4000 0.0007
# 16000 0.00035
#
# ```
#
# **5. `sgd_step` leaves it as it is; `adamw_step` moves it.** The average m still remembers the earlier gradients, and
# the weight decay acts on every row.
#
# ```python
# >>> from bigram import sgd_step
# >>> W, state = np.ones((2, 2)), {}
# >>> for dW in (np.array([[0.5, -0.5], [0.5, -0.5]]), np.array([[0.5, -0.5], [0.0, 0.0]])):
# ...     plain = sgd_step(W, dW, lr=0.1)
# ...     new, state = adamw_step({"W": W}, {"W": dW}, state, lr=0.1)
# ...     print((plain - W)[1].round(3), (new["W"] - W)[1].round(3))
# ...     W = new["W"]
# [-0.05  0.05] [-0.101  0.099]
# [0. 0.] [-0.068  0.066]
#
# ```

# %% [markdown]
# ## What could go wrong
#
# With most of these mistakes, the loss still falls, which is why they go unnoticed. The report uses the same words.
#
# - `adamw_step`: **the bias correction is missing.** Both averages start at 0. With the default betas, the first steps
#   are about three times too long without the correction.
# - `adamw_step`: **ε was added inside the root.** √(v̂ + 1e-8) is at least 1e-4, so parameters with small gradients
#   hardly move.
# - `adamw_step`: **the weight decay was added to the gradient.** That is Adam with L2 regularization: the decay enters
#   the averages and is divided by √v̂. AdamW keeps it out of both.
# - `learning_rate`: **the cosine counted from step 0, as if there were no warm-up.** After the warm-up, the rate jumps
#   down, because the cosine does not start at its beginning.
# - `train_step`: **every step started with an empty state.** There are then no running averages: each step is treated
#   as the first.

# %% [markdown]
# ## Try it
#
# What can two blocks do that one cannot? Each text of this task lists six different tokens in random order, then goes
# around the same cycle from any start: 3 0 5 1 4 2, and then 1 4 2 3 0 5 1. The first token of the second part cannot
# be predicted, but all the others can: 4 came after 1 before, so 4 comes after 1 again. Train a model of one block and
# one of two, for 150 steps each.
#
# **Guess first.** How often is each model right in the second part? A head of the single block can find the earlier 1.
# Can it also find the token that came after it?
#
# Run it: `headway experiment training`, or the next cell of the notebook.

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
# Two blocks predict most of these tokens; one block does not. (Both have learned the last one, which closes the cycle.)
# A head that finds the earlier 1 finds just a 1. To find the token *after* it, an earlier block must first have moved
# information: what one block writes into the stream, a head of the next can use as a key.
#
# Elhage et al. (2021) found pairs of heads that do this in small attention-only models. The first stores, at each
# position, which token came before it; the second attends to the position where "1" is stored. Such second heads are
# called **induction heads**; the evidence for them in large models is less direct (Olsson et al. 2022). Does this model
# have one?
#
# 1. With one block, the results rise from position to position. What has this model learned?
# 2. With an induction head, the later 1 attends to the position right after the earlier 1. Does it? In `cache`, find
#    the weight of the earlier 1 itself, of the position after it, and so on around the cycle.

# %% [markdown]
# ## Answers
#
# **1. It has learned to rule out tokens.** Five are left at the first position, then four, three, two, one. A guess
# among these is right this often:
#
# ```python
# >>> print([f"{1 / left:.0%}" for left in (5, 4, 3, 2, 1)])
# ['20%', '25%', '33%', '50%', '100%']
#
# ```
#
# **2. No.** The second block gives little weight to the answer, and more to the tokens after it. These can be ruled
# out, so perhaps it does what the single block does, only better. The explanation above was plausible, and wrong for
# this model.
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
# ## Try it: an ablation
#
# What is a part of a model good for? Take it out, train the rest in the same way, and compare. This is called an
# **ablation**. Train a model of six blocks on the same task six times: with all its parts; without the residual
# connections; without dividing the scores by √K; with post-norm; with post-norm and a warm-up of 100 steps; and with
# post-norm and a third of the rate.
#
# **Guess first.** Which runs learn the task, and which do not? (The best possible loss is log(720) / 12 = 0.55: one of
# the twelve predictions has six equally likely answers, the others five, four, three, two or one.)
#
# Run it: `headway experiment training ablation`. It takes about 20 seconds.

# %%
if __name__ == "__main__" and "ablation" in sys.argv:
    from attention import causal_mask
    from blocks import prefixed, subset
    from embeddings import embed, embed_tokens_backward
    from ffn import ffn, ffn_backward, linear, linear_backward
    from layernorm import layernorm, layernorm_backward
    from multihead import multihead_attention, multihead_attention_backward
    from softmax import cross_entropy_backward

    D, H = 32, 2
    PARTS = ("attn", "ffn") * 6  # six blocks

    def batch(rng, size):
        first = rng.permuted(np.tile(np.arange(6), (size, 1)), axis=1)
        places = (rng.integers(6, size=(size, 1)) + np.arange(7)) % 6
        texts = np.concatenate([first, np.take_along_axis(first, places, axis=1)], axis=1)
        return texts[:, :-1], texts[:, 1:]

    def start(rng):
        p = {"W_tok": rng.normal(size=(6, D)), "W_pos": rng.normal(size=(12, D)), "W_head": rng.normal(size=(D, 6)) / D}
        shapes = {"attn": {"W_qkv": (D, 3 * D), "W_o": (D, D)}, "ffn": {"W_1": (D, 2 * D), "W_2": (2 * D, D)}}
        for i, part in enumerate(PARTS):
            p |= {f"{i}.{name}": rng.normal(size=shape) / np.sqrt(shape[0]) for name, shape in shapes[part].items()}
            p |= {f"{i}.ln.gamma": np.ones(D), f"{i}.ln.beta": np.zeros(D)}
        return p | {"ln.gamma": np.ones(D), "ln.beta": np.zeros(D)}

    def loss_and_grads(ids, targets, p, residual=True, scaled=True, post=False):
        unscale = np.where(np.arange(3 * D) < D, 1.0 if scaled else math.sqrt(D / H), 1.0)  # makes the queries longer
        x, saved = embed(ids, p["W_tok"], p["W_pos"]), []
        for i, part in enumerate(PARTS):
            ln = subset(p, f"{i}.ln.")
            W = {name: value * unscale if name == "W_qkv" else value for name, value in subset(p, f"{i}.").items()}
            W = {name: value for name, value in W.items() if name.startswith("W")}
            into = x if post else layernorm(x, **ln)
            out, cache = multihead_attention(into, W, H, causal_mask(12)) if part == "attn" else ffn(into, W)
            total = x + out if residual else out
            saved.append((x, total, cache))
            x = layernorm(total, **ln) if post else total
        final = layernorm(x, **subset(p, "ln."))
        logits, grads, dln = linear(final, p["W_head"], None), {}, {}
        dx, grads["W_head"], _ = linear_backward(cross_entropy_backward(logits, targets), final, p["W_head"])
        dx, grads["ln.gamma"], grads["ln.beta"] = layernorm_backward(dx, x, p["ln.gamma"])
        for i, part in reversed([*enumerate(PARTS)]):
            x, total, cache = saved[i]
            if post:
                dx, dln["gamma"], dln["beta"] = layernorm_backward(dx, total, p[f"{i}.ln.gamma"])
            dbranch, dW = (multihead_attention_backward if part == "attn" else ffn_backward)(dx, cache)
            if not post:
                dbranch, dln["gamma"], dln["beta"] = layernorm_backward(dbranch, x, p[f"{i}.ln.gamma"])
            dW = {name: value * unscale if name == "W_qkv" else value for name, value in dW.items()}
            grads |= prefixed(dW, f"{i}.") | prefixed(dln, f"{i}.ln.")
            dx = dx + dbranch if residual else dbranch
        grads |= {"W_tok": embed_tokens_backward(dx, ids, 6), "W_pos": dx.sum(axis=0)}
        return cross_entropy(logits, targets), grads

    def losses(warmup=1, rate=0.01, **changes):
        rng = np.random.default_rng(0)
        p, state, found = start(rng), {}, []
        for step in range(200):
            loss, grads = loss_and_grads(*batch(rng, 32), p, **changes)
            p, state = adamw_step(p, grads, state, lr=rate * min(1, (step + 1) / warmup))
            found.append(loss)
        return np.mean(np.reshape(found, (10, 20)), axis=1)  # one mean for every 20 steps

    print("all parts            ", *(f"{loss:.1f}" for loss in losses()))
    print("no residual          ", *(f"{loss:.1f}" for loss in losses(residual=False)))
    print("no scale             ", *(f"{loss:.1f}" for loss in losses(scaled=False)))
    print("post-norm            ", *(f"{loss:.1f}" for loss in losses(post=True)))
    print("post-norm and warm-up", *(f"{loss:.1f}" for loss in losses(post=True, warmup=100)))
    print("post-norm, rate 0.003", *(f"{loss:.1f}" for loss in losses(post=True, rate=0.003)))


# %% [markdown]
# ## What came out: an ablation
#
# ```text
# all parts             1.6 1.0 0.8 0.7 0.6 0.6 0.6 0.6 0.6 0.6
# no residual           1.8 1.8 1.8 1.8 1.8 1.8 1.8 1.8 1.8 1.8
# no scale              1.7 1.5 1.3 1.2 1.1 1.1 1.1 1.1 1.0 1.0
# post-norm             1.8 1.7 1.7 1.8 1.8 1.8 1.8 1.8 1.8 1.8
# post-norm and warm-up 1.7 1.5 1.3 1.1 0.9 0.8 0.7 0.6 0.6 0.6
# post-norm, rate 0.003 1.7 1.4 1.2 1.0 0.8 0.7 0.7 0.6 0.6 0.6
# ```
#
# (Each number is the mean loss of 20 steps, and may differ a little on another machine.) Without residual connections
# the loss stays at log 6. Without the scale, the scores start four times as large (√K is 4 here), the weights are
# sharper, and learning is slow. Post-norm fails at the full rate, and succeeds with a warm-up.
#
# So does post-norm need a warm-up? Not at the rate 0.003. An ablation shows what a part does *in this setting*. In a
# paper, look for several seeds (of the random numbers), and for a rate that was tuned for each variant.

# %% [markdown]
# ## Try it: three sizes
#
# How much does a larger model help? Take a text whose best possible loss is known: with probability 0.9, the token
# after a and b is the entry (a, b) of a table, and otherwise it is one of the 20 tokens at random. Train models with D
# = 8, 16 and 32 on the same 400 batches.
#
# **Guess first.** By what factor does the number of parameters grow each time D is doubled? How close does each model
# come to the best possible loss?
#
# Run it: `headway experiment training scaling`. It takes about 10 seconds.

# %%
if __name__ == "__main__" and "scaling" in sys.argv:
    from gpt import GPTConfig, count_parameters, init_gpt

    V, T = 20, 16
    table = np.random.default_rng(0).integers(V, size=(V, V))

    def batch(rng, size):
        text = list(rng.integers(V, size=(2, size)))
        for _ in range(T - 1):
            follows = rng.random(size) < 0.9
            text.append(np.where(follows, table[text[-2], text[-1]], rng.integers(V, size=size)))
        text = np.stack(text, axis=1)  # (B, T + 1)
        return text[:, :-1], text[:, 1:]

    def loss_of(d_model):
        rng = np.random.default_rng(0)
        config = GPTConfig(vocab_size=V, block_size=T, n_layers=2, n_heads=2, d_model=d_model, init_std=0.1)
        params = {name: value.astype(np.float64) for name, value in init_gpt(config, rng).items()}
        rates = [learning_rate(step, 0.01, 0.001, 40, 400) for step in range(400)]
        params, _, _ = train(params, config, (batch(rng, 32) for _ in rates), rates)
        return count_parameters(params), estimate_loss(params, config, [batch(np.random.default_rng(1), 500)])

    follows, other = 0.9 + 0.1 / V, 0.1 / V  # the probabilities of the token in the table, and of each other token
    entropy = -follows * math.log(follows) - (V - 1) * other * math.log(other)
    best = (math.log(V) + (T - 1) * entropy) / T  # the second token cannot be predicted
    for d_model in (8, 16, 32):
        n, loss = loss_of(d_model)
        print(f"D {d_model:2}   {n:5} parameters   loss {loss:.2f}   above the best possible: {loss - best:.2f}")


# %% [markdown]
# ## What came out: three sizes
#
# ```text
# D  8    2048 parameters   loss 1.85   above the best possible: 1.11
# D 16    7168 parameters   loss 1.06   above the best possible: 0.31
# D 32   26624 parameters   loss 0.79   above the best possible: 0.05
# ```
#
# The parameters grow by a factor of about 3.6 each time, because most of them are in matrices with D² entries. In large
# language models, the distance from the best possible loss falls as a power of the number of parameters (ten times
# as many leave less than half of it), if data and steps grow with it (Kaplan et al. 2020; Hoffmann et al. 2022). So
# people train small models, fit the curve, and predict the loss of a large one before paying for it.

# %% [markdown]
# ## Try it: induction heads
#
# The model of the first experiment had no induction head. Can you make one appear? Take two layers of attention alone,
# with two heads each. This time, neither ruling out tokens nor counting positions can solve the task: each text repeats
# a random sequence of 5 to 9 different tokens until 16 positions are full.
#
# The experiment prints the mean weight of each head: in layer 0 on the previous position, in layer 1 on the position
# *after* the earlier occurrence of the same token. It also prints the share of correct predictions when the head's rows
# of `W_o` are set to 0.
#
# **Guess first.** Which heads does the model need?
#
# Run it: `headway experiment training induction`.

# %%
if __name__ == "__main__" and "induction" in sys.argv:
    from attention import causal_mask
    from blocks import prefixed, subset
    from embeddings import embed, embed_tokens_backward
    from ffn import linear, linear_backward
    from multihead import multihead_attention, multihead_attention_backward
    from softmax import cross_entropy_backward

    V, T, D, H = 16, 16, 32, 2

    def batch(rng, size):
        period = rng.integers(5, 10, size=(size, 1))
        tokens = rng.permuted(np.tile(np.arange(V), (size, 1)), axis=1)
        text = np.take_along_axis(tokens, np.arange(T + 1) % period, axis=1)
        return text[:, :-1], text[:, 1:], period

    def forward(ids, p, without=None):
        x, caches = embed(ids, p["W_tok"], p["W_pos"]), []
        for layer in range(2):
            W = subset(p, f"{layer}.")
            if without and without[0] == layer:
                rows = np.arange(D) // (D // H)  # which head writes through which row of W_o
                W["W_o"] = W["W_o"] * (rows != without[1])[:, None]
            out, cache = multihead_attention(x, W, H, causal_mask(T))
            x = x + out
            caches.append(cache)
        return linear(x, p["W_head"], None), x, caches

    rng = np.random.default_rng(0)
    p = {"W_tok": rng.normal(size=(V, D)), "W_pos": rng.normal(size=(T, D)), "W_head": rng.normal(size=(D, V)) / D}
    for layer in range(2):
        shapes = {"W_qkv": (D, 3 * D), "W_o": (D, D)}
        p |= {f"{layer}.{name}": rng.normal(size=shape) / np.sqrt(D) for name, shape in shapes.items()}
    state = {}
    for _ in range(600):
        ids, targets, _ = batch(rng, 32)
        logits, x, caches = forward(ids, p)
        dx, dhead, _ = linear_backward(cross_entropy_backward(logits, targets), x, p["W_head"])
        grads = {"W_head": dhead}
        for layer in (1, 0):
            dbranch, dweights = multihead_attention_backward(dx, caches[layer])
            dx = dx + dbranch
            grads |= prefixed(dweights, f"{layer}.")
        grads |= {"W_tok": embed_tokens_backward(dx, ids, V), "W_pos": dx.sum(axis=0)}
        p, state = adamw_step(p, grads, state, lr=0.01, weight_decay=0.0)

    ids, targets, period = batch(np.random.default_rng(1), 500)
    known = np.arange(T) >= period  # (B, T): the sequence has begun again, so the next token is known

    def correct(without=None):
        return (forward(ids, p, without)[0].argmax(axis=-1) == targets)[known].mean()

    print(f"all heads: {correct():.0%} correct")
    caches = forward(ids, p)[2]
    t = np.arange(T)
    for layer, looks_at in ((0, t - 1 + np.zeros_like(period)), (1, t - period + 1)):
        for head in range(H):
            counts = known if layer else t >= np.ones_like(period)
            weights = caches[layer]["weights"][:, head]  # (B, T, T)
            weight = np.take_along_axis(weights, np.maximum(looks_at, 0)[..., None], axis=-1)[..., 0][counts].mean()
            place = ("previous", "after the earlier one")[layer]
            right = correct(without=(layer, head))
            print(f"layer {layer}, head {head}: weight {weight:.1f} ({place}); without it {right:.0%} correct")


# %% [markdown]
# ## What came out: induction heads
#
# ```text
# all heads: 100% correct
# layer 0, head 0: weight 0.1 (previous); without it 99% correct
# layer 0, head 1: weight 0.6 (previous); without it 26% correct
# layer 1, head 0: weight 0.8 (after the earlier one); without it 51% correct
# layer 1, head 1: weight 0.6 (after the earlier one); without it 99% correct
# ```
#
# Here they are: both heads of layer 1 attend to the position after the earlier occurrence, and head 1 of layer 0 to the
# previous position. (The exact numbers depend on rounding.)
#
# Weights alone do not prove that a head matters. The ablation does: without the previous-token head, the keys of layer
# 1 no longer show which token came before, and the predictions break down. In layer 1, head 0 can do the work alone.
# Head 1 attends to the same position, but without head 0 it gets only half of the predictions right.

# %% [markdown]
# ## Try it: masked tokens
#
# A GPT predicts the *next* token. In models such as BERT, some tokens of a text are replaced by a special *mask token*,
# and the model predicts what was there (Devlin et al. 2019, section 3.1). There is no causal mask: a position may use
# both sides. Train a block on each of the two tasks. The text is a random walk: on a circle of ten tokens, each is one
# step to the left or right of the one before it.
#
# **Guess first.** Two tokens can follow each token, so the best possible loss of next-token prediction is log 2 = 0.69.
# What is it for a masked token between two known neighbors? (How often do they leave two possibilities?)
#
# Run it: `headway experiment training masked`.

# %%
if __name__ == "__main__" and "masked" in sys.argv:
    from attention import causal_mask
    from blocks import block, block_backward
    from embeddings import embed, embed_tokens_backward
    from ffn import linear, linear_backward
    from softmax import cross_entropy_backward

    V, T, D = 10, 8, 24

    def batch(rng, size, objective):
        steps = rng.choice([-1, 1], size=(size, T))
        text = (rng.integers(V, size=(size, 1)) + np.cumsum(steps, axis=1)) % V
        if objective == "next":
            return text[:, :-1], text[:, 1:], np.ones((size, T - 1), dtype=bool)
        hidden = np.arange(T) == rng.integers(1, T - 1, size=(size, 1))  # one token of each text, not at an end
        return np.where(hidden, V, text), text, hidden  # the id V is the mask token

    def start(rng):
        shapes = {"attn.W_qkv": (D, 3 * D), "attn.W_o": (D, D), "ffn.W_1": (D, 4 * D), "ffn.W_2": (4 * D, D)}
        p = {name: rng.normal(size=shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}
        p |= {f"ln{i}.gamma": np.ones(D) for i in (1, 2)} | {f"ln{i}.beta": np.zeros(D) for i in (1, 2)}
        p |= {"W_tok": rng.normal(size=(V + 1, D)), "W_pos": rng.normal(size=(T, D))}
        return p | {"W_head": rng.normal(size=(D, V)) / D}

    def loss_and_grads(p, ids, targets, asked):  # only the positions where `asked` is True count
        mask = causal_mask(T - 1) if ids.shape[1] < T else None
        inside = {name: value for name, value in p.items() if "." in name}
        x, cache = block(embed(ids, p["W_tok"], p["W_pos"]), inside, 2, mask)
        logits, dx = linear(x[asked], p["W_head"], None), np.zeros_like(x)
        dlogits = cross_entropy_backward(logits, targets[asked])
        dx[asked], dhead, _ = linear_backward(dlogits, x[asked], p["W_head"])
        dx, grads = block_backward(dx, cache)
        dW_pos = np.zeros((T, D))
        dW_pos[: ids.shape[1]] = dx.sum(axis=0)
        grads |= {"W_tok": embed_tokens_backward(dx, ids, V + 1), "W_pos": dW_pos, "W_head": dhead}
        return cross_entropy(logits, targets[asked]), grads

    for objective in ("next", "masked"):
        rng = np.random.default_rng(0)
        p, state = start(rng), {}
        for step in range(400):
            _, grads = loss_and_grads(p, *batch(rng, 64, objective))
            p, state = adamw_step(p, grads, state, learning_rate(step, 0.01, 0.0001, 20, 400))
        loss, _ = loss_and_grads(p, *batch(np.random.default_rng(1), 2000, objective))
        print(f"{objective} token: loss {loss:.2f}")


# %% [markdown]
# ## What came out: masked tokens
#
# ```text
# next token: loss 0.70
# masked token: loss 0.35
# ```
#
# Both are close to the best possible. If the neighbors are two steps apart, the token between them is certain. If they
# are equal, there are two possibilities. Each case occurs half of the time, so the best loss is ½ log 2 = 0.35.
#
# A masked model sees both sides. But here it learns from one position of each text, while the other learns from seven.
# And it cannot write a text token by token.

# %% [markdown]
# ## In your own GPT
#
# `headway train` now trains a GPT with your functions, by default on the names of the assignment `bigram`, and
# `headway plot loss` plots its losses. Counting pairs gave a validation loss of 2.45 there; this GPT ends near 2.05.
#
# Those losses are per *token*, so longer tokens have larger losses. To compare models with different tokenizers, use
# *bits per character*: add up the loss over a text, and divide by ln 2 (for bits) and by the number of characters. Here
# a token is a character:
#
# ```python
# >>> [round(loss / math.log(2), 2) for loss in (2.45, 2.05)]
# [3.53, 2.96]
#
# ```
#
# ![The loss of a small GPT on names: it falls quickly at first, then slowly, and the validation loss stays a little
# higher.](figures/loss.svg)

# %% [markdown]
# ## Going faster
#
# Calling `train_step` in a loop passes all checks; skip this section until it does. AdamW makes about a dozen NumPy
# calls for each of some fifty arrays, and in small models these calls take more time than the arithmetic. But AdamW
# treats all entries alike. So put all parameters end to end into *one* long array, and the gradients into another. One
# `adamw_step` then updates everything. The model still gets its named matrices, as views into the long array.
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
# With 16 features and 4 layers, you should notice the difference; with 64 features, perhaps not.
