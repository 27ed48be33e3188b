"""The GPT."""

from autograder.course.declare import assignment, function, plot

PLOTS = (
    plot("ffn-hidden", "model:ffn_hidden",
         needs="tokenizer.encode layernorm.layernorm ffn.linear ffn.relu ffn.gelu gpt.gpt", trained=True,
         title="Inside the feed-forward networks of a trained model",
         caption="Many hidden values are close to 0 after the activation; which ones depends on the character."),
    plot("attention-heads", "model:heads", needs="tokenizer.encode gpt.gpt", trained=True,
         title="Every head of a trained model",
         caption="Heads differ: some attend to the previous character, some to the first one, some to many."),
    plot("attention-viewer", "viewer:page", needs="tokenizer.encode gpt.gpt", trained=True, suffixes=("html",),
         title="Every head of a trained model, to explore in a browser",
         caption="Point at a character, or use the arrow keys: what does each head attend to from there?"),
    plot("residual-norms", "model:residual_norms", needs="tokenizer.encode gpt.gpt", trained=True,
         title="The length of the residual stream, and of what each layer adds to it",
         caption="The stream grows from layer to layer. Which layers add the most?"),
    plot("residual-stream", "model:residual_stream", needs="tokenizer.encode gpt.gpt", trained=True,
         title="The residual stream at the last position, feature by feature",
         caption="Columns that keep their color are passed on unchanged."),
    plot("logit-lens", "model:logit_lens",
         needs="tokenizer.encode layernorm.layernorm softmax.softmax ffn.linear gpt.gpt", trained=True,
         title="The most likely next token after each block",
         caption="Read a column from top to bottom: from which block on is the prediction the final one?"),
    plot("gradient-norms", "training:gradient_norms",
         needs="tokenizer.encode tokenizer.get_batch gpt.init_gpt gpt.gpt_loss", trained=True,
         title="The gradient norm of each layer, before and after training",
         caption="Every layer should receive a gradient. Which ones receive the largest?"),
)  # fmt: skip

FUNCTIONS = (
    function("init_gpt", "params", "parameters of GPT-2", minutes=25, difficulty=2),
    function("count_parameters", "count", "numel of all parameters", minutes=5, difficulty=1),
    function("gpt", "logits batch position token; cache", "GPT of nn modules", minutes=35, difficulty=2,
             needs="blocks.block layernorm.layernorm embeddings.embed embeddings.sinusoidal_positions ffn.dropout"),
    function("gpt_loss", "loss; grads", "loss and gradients of a GPT of nn modules", minutes=50, difficulty=3,
             needs="gpt.gpt blocks.block_backward layernorm.layernorm_backward "
                   "embeddings.embed_tokens_backward softmax.cross_entropy softmax.cross_entropy_backward "
                   "ffn.dropout_backward"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "The GPT",
    *FUNCTIONS,
    plots=PLOTS,
    outcome="Your GPT is complete, from ids to the loss and every gradient. It has learned nothing yet.",
)
