"""Mistakes in the backward pass of an encoder–decoder: pre-norm, the last norms, and the bias of the head."""

from autograder.engine.diagnosis.mistake import MistakeEntry, Mistakes

MISTAKES = Mistakes()

_PRE = 'pre = cache["norm"] == "pre"'
_RETURN = "{name: grads[name] for name in params}"

mistake = MISTAKES.for_functions("encoder_decoder.transformer_backward")


def _in_block(name: str, *edits: str) -> MistakeEntry:
    return mistake(name, *edits, inside="_decoder_block_backward")


_in_block("always-post", _PRE, "pre = False").explain("""
    the backward pass of a decoder block is always that of post-norm
    why: With pre-norm, the gradient of a branch goes through the norm after it has come back through the step.
    ask: How does your backward pass find out which form was used?""")
_in_block("always-pre", _PRE, "pre = True").explain("""
    the backward pass of a decoder block is always that of pre-norm
    why: With post-norm, the gradient goes through the norm first, before it reaches the step and the stream.
    ask: How does your backward pass find out which form was used?""")
for number, step in ((1, "the self attention"), (2, "the source attention"), (3, "ffn")):
    old = f'dbranch = through(dbranch, "ln{number}", dln{number}) if pre'
    _in_block(
        f"branch-{number}-norm-skipped",
        old,
        f'_ = through(dbranch, "ln{number}", dln{number}) if pre else None\n    dbranch = dbranch if pre',
    ).explain(f"""
        with "pre", the gradient of the branch of {step} did not go through ln{number}
        why: The norm is at the start of the branch, so it comes last in the backward pass.
        ask: What do you do with the gradient that comes back through {step}?""")

# The last norms and the bias of the head.
for stack, given, new in (
    (
        "decoder",
        "dx, dgamma, dbeta = layernorm_backward(dx, decoded,",
        "_, dgamma, dbeta = layernorm_backward(dx, decoded,",
    ),
    (
        "encoder",
        "dx, dgamma, dbeta = layernorm_backward(dmemory, encoded,",
        "_, dgamma, dbeta = layernorm_backward(dmemory, encoded,",
    ),
):
    mistake(f"last-norm-of-{stack}-skipped", given, new).explain(f"""
        with pre-norm, the gradient did not go through the last norm of the {stack}
        why: The norm comes between the last block and what reads its output.
        ask: What is the first step back into the {stack}?""")
    mistake(
        f"gamma-beta-exchanged-{stack}",
        f'"{stack}.ln_f.gamma": dgamma, "{stack}.ln_f.beta": dbeta',
        f'"{stack}.ln_f.gamma": dbeta, "{stack}.ln_f.beta": dgamma',
    ).explain(f"""
        the gradients of gamma and beta of the last norm of the {stack} were swapped
        why: Both have the shape (D,), so there is no error message.
        ask: In which order does layernorm_backward return them?""")
mistake("head-reads-unnormed", "linear_backward(dscores, normed,", "linear_backward(dscores, decoded,").explain("""
    with pre-norm, the head's gradient was computed with the stream from before the last norm
    why: The head multiplies the output of the last norm.
    ask: Which array is the input of the head in the forward pass?""")
mistake(
    "head-bias-averaged",
    _RETURN,
    '{n: grads[n] / (dlog_probs[..., 0].size if n == "b_head" else 1) for n in params}',
).explain("""
    the gradient of b_head was averaged over the positions, not summed
    why: dlog_probs already contains the mean of the loss.
    ask: By what do you divide, and why?""")
mistake("no-gradient-of-b_head", _RETURN, '{n: grads[n] for n in params if n != "b_head"}').explain("""
    the gradient of b_head was not returned
    why: A parameter without a gradient is never trained.
    ask: Which keys does `params` have, and which keys does your dict have?""")
