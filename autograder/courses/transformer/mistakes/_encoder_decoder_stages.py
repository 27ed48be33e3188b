"""Mistakes in assignment 12 in single stages: norms missing or moved, blocks out of order, ends of texts."""

from autograder.engine.diagnosis.mistake import Mistake

_SELF = 'multihead_attention(x, subset(params, "attn."), n_heads, target_mask)'
_NORMED = "A post-norm block normalizes the stream after each of its three steps."
_POSITIONS = "positions = sinusoidal_positions(np.shape(ids)[-1], d_model).astype(table.dtype)"
_WHICH_BLOCKS = 'encoder_block(x, subset(params, f"encoder.{i}."), config.n_heads, mask)'

STAGES = (
    *(
        Mistake("encoder_decoder.decoder_block", name, title, explanation, hint, edits=edits)
        for name, title, explanation, hint, edits in (
            (
                "norms-before",
                "the norms stand before the steps, not after them",
                "That is GPT-2's block. The transformer of 2017 normalizes the sum.",
                "What is handed to ln1 in the formula: x, or a sum?",
                (
                    (_SELF, _SELF.replace("(x,", "(layernorm(x, **ln1),")),
                    ("after_attention = layernorm(ln1_in, **ln1)", "after_attention = ln1_in"),
                    ("        after_attention, subset(params", "        layernorm(ln1_in, **ln2), subset(params"),
                    ("after_source_attention = layernorm(ln2_in, **ln2)", "after_source_attention = ln2_in"),
                    ("ffn(after_source_attention,", "ffn(layernorm(ln2_in, **ln3),"),
                    ("after_ffn = layernorm(ln3_in, **ln3)", "after_ffn = ln3_in"),
                ),
            ),
            (
                "first-norm-missing",
                "there is no norm after the first step",
                _NORMED,
                "How many norms do the parameters hold, and how many do you use?",
                (("after_attention = layernorm(ln1_in, **ln1)", "after_attention = ln1_in"),),
            ),
            (
                "last-norm-missing",
                "there is no norm after the last step",
                _NORMED,
                "How many norms do the parameters hold, and how many do you use?",
                (("after_ffn = layernorm(ln3_in, **ln3)", "after_ffn = ln3_in"),),
            ),
            (
                "second-norm-twice",
                "ln2 was used after the last step, too, where ln3 belongs",
                "A decoder block has three norms, an encoder block two.",
                "Which of the norms has not been used when your block ends?",
                (("after_ffn = layernorm(ln3_in, **ln3)", "after_ffn = layernorm(ln3_in, **ln2)"),),
            ),
            (
                "masks-exchanged",
                "the two masks were exchanged",
                (
                    "The mask of the target belongs to the self attention, that of the source to the attention to the "
                    "memory."
                ),
                "What does each attention look at? Which mask has as many keys?",
                (
                    (_SELF, _SELF.replace("target_mask", "source_mask")),
                    ("n_heads, source_mask, memory", "n_heads, target_mask, memory"),
                ),
            ),
        )
    ),
    *(
        Mistake("encoder_decoder.encode", name, title, explanation, hint, edits=edits, inside=inside)
        for name, title, explanation, hint, edits, inside in (
            (
                "positions-from-one",
                "the positions were counted from 1",
                "The first token stands at position 0, where all sines are 0 and all cosines 1.",
                "What is row 0 of sinusoidal_positions?",
                ((_POSITIONS, _POSITIONS.replace("[-1], d_model)", "[-1] + 1, d_model)[1:]")),),
                "_embed",
            ),
            (
                "divided",
                "the token vectors were divided by √D, not multiplied",
                "A small table is made large enough to stand beside the positions.",
                "Which operation stands between √D and the table in the formula?",
                (("scale=math.sqrt(d_model)", "scale=1 / math.sqrt(d_model)"),),
                "_embed",
            ),
            (
                "blocks-reversed",
                "the blocks are gone through from the last to the first",
                "That is the order of the backward pass.",
                "Which block reads the embedding?",
                (("for i in range(config.n_layers):", "for i in reversed(range(config.n_layers)):"),),
                "",
            ),
            (
                "decoder-blocks",
                "the parameters of the decoder's blocks were used",
                "Both stacks have attn, ffn, ln1 and ln2, so nothing complains.",
                "Which prefix do the names of the encoder's parameters have?",
                ((_WHICH_BLOCKS, _WHICH_BLOCKS.replace("encoder.{i}", "decoder.{i}")),),
                "",
            ),
        )
    ),
    Mistake(
        "encoder_decoder.decode",
        "upper-triangle",
        "the upper triangle of the causal mask was kept: every position sees itself and the future",
        "A model that sees the next token needs not learn to predict it.",
        "Rows are queries, columns are keys. Which keys may the first query see?",
        edits=(("causal_mask(np.shape(target)[-1])", "causal_mask(np.shape(target)[-1]).T"),),
    ),
    Mistake(
        "encoder_decoder.greedy_decode",
        "end-not-returned",
        "the end token of the longest text is not returned",
        "What was written is returned, and the end token was written, too.",
        "How many tokens come out if the first one is the end token?",
        edits=(
            (
                "return target[..., 1:]",
                (
                    "only_ends = (target == end).all(axis=tuple(range(target.ndim - 1)))\n"
                    "    only_ends[0] = True\n    return target[..., ~only_ends]"
                ),
            ),
        ),
    ),
    Mistake(
        "encoder_decoder.greedy_decode",
        "int32",
        "the tokens are int32",
        "The docstring asks for int64, like all ids in this course.",
        "Which dtype does the docstring name?",
        edits=(("return target[..., 1:]", "return target[..., 1:].astype(np.int32)"),),
    ),
)
