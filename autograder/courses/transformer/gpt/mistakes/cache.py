"""Mistakes in `gpt`: the entries of the GPT's cache, which only one check reads."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STAGE = "block_cache[stage]"

mistake = MISTAKES.for_functions("gpt.gpt")
for name in ("weights", "after_attention", "after_ffn"):
    mistake(
        f"{name}-not-stored",
        f'cache[f"blocks.{{i}}.{{stage}}"] = {_STAGE}',
        f'if stage != "{name}":\n                cache[f"blocks.{{i}}.{{stage}}"] = {_STAGE}',
    ).explain(f"""
    the cache has no entry blocks.0.{name}
    why: The plots read the stages by these names.
    ask: block returns its own cache, with {name} in it. Where does your loop copy it, and under which name?""")
for name, old, new, text in (
    ("embedded-not-stored", '{"embedded": x}', "{}", "the cache has no entry embedded"),
    (
        "final-norm-before-norm",
        '"final_norm": final',
        '"final_norm": x',
        "the entry final_norm of the cache holds the stream before the last layer norm",
    ),
):
    mistake(name, old, new).explain(f"""
    {text}
    why: The scores are right, but plots and comparisons read the stages by these names.
    ask: Which entry of your cache is x before the first block, and which one, times the head, gives the scores?""")
