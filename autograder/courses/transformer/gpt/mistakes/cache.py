"""Mistakes in `gpt`: the entries of the GPT's cache, which only one check reads."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STAGE = "block_cache[stage]"
_TOKENS = 'params["W_tok"][np.asarray(ids)]'

mistake = MISTAKES.for_functions("gpt.gpt")
for name, other in (("after_attention", "after_ffn"), ("after_ffn", "after_attention")):
    mistake(f"{name}-is-{other}", _STAGE, f'block_cache["{other}" if stage == "{name}" else stage]').explain(f"""
    the entry {name} of the cache holds the stream of {other}
    why: The scores are right, but plots and comparisons read the wrong stage.
    ask: At which point of a block is the stream that you store under this name?""")
mistake(
    "input-for-after-attention",
    "x, block_cache = block(x,",
    "before = x\n        x, block_cache = block(x,",
    _STAGE,
    'before if stage == "after_attention" else block_cache[stage]',
).explain("""
    the entry after_attention of the cache holds the stream before the block
    why: The scores are right, but plots and comparisons read the wrong stage.
    ask: At which point of a block is the stream that you store under this name?""")
for stage, start in (("after_attention", "before"), ("after_ffn", 'block_cache["after_attention"]')):
    mistake(
        f"{stage}-without-stream",
        "x, block_cache = block(x,",
        "before = x\n        x, block_cache = block(x,",
        _STAGE,
        f'block_cache[stage] - {start} if stage == "{stage}" else block_cache[stage]',
    ).explain(f"""
    the entry {stage} of the cache holds what the step added, not the stream after it
    why: The entry is the whole residual stream, with the sum of all steps so far.
    ask: Is the residual connection included in what you store?""")
mistake(
    "weights-averaged", _STAGE, 'block_cache[stage].mean(axis=-3) if stage == "weights" else block_cache[stage]'
).explain(
    """
    the weights in the cache were averaged over the heads
    why: Every head has its own weights, (B, H, T, T).
    ask: How many axes should the weights of a batch have?"""
)
mistake("stages-of-first-block", _STAGE, "block_caches[0][stage]").explain("""
    the entries of block 1 in the cache hold the stages of block 0
    why: The scores are right, but plots and comparisons read the wrong block.
    ask: Which block's cache do you read in the second iteration?""")
for name in ("weights", "after_attention", "after_ffn"):
    mistake(
        f"{name}-not-stored",
        f'cache[f"blocks.{{i}}.{{stage}}"] = {_STAGE}',
        f'if stage != "{name}":\n                cache[f"blocks.{{i}}.{{stage}}"] = {_STAGE}',
    ).explain(f"""
    the cache has no entry blocks.0.{name}
    why: The plots read the stages by these names.
    ask: Which names does the docstring list for the cache?""")
for name, old, new, text in (
    ("embedded-not-stored", '{"embedded": x}', "{}", "the cache has no entry embedded"),
    (
        "embedded-without-positions",
        '{"embedded": x}',
        f'{{"embedded": {_TOKENS}}}',
        "the positions are missing in the entry embedded of the cache",
    ),
    ("final-norm-not-stored", '"final_norm": final, ', "", "the cache has no entry final_norm"),
    (
        "final-norm-before-norm",
        '"final_norm": final',
        '"final_norm": x',
        "the entry final_norm of the cache holds the stream before the last layer norm",
    ),
    (
        "final-norm-is-scores",
        '"final_norm": final',
        '"final_norm": logits',
        "the entry final_norm of the cache holds the scores",
    ),
    (
        "embedded-overwritten",
        '"final_norm": final',
        '"embedded": x, "final_norm": final',
        "the entry embedded of the cache holds the stream after the last block",
    ),
    (
        "final-norm-of-last-position",
        '"final_norm": final',
        '"final_norm": final[..., -1:, :]',
        "the entry final_norm of the cache holds the last position only",
    ),
):
    mistake(name, old, new).explain(f"""
    {text}
    why: The scores are right, but plots and comparisons read the stages by these names.
    ask: What does the docstring say about this entry?""")
