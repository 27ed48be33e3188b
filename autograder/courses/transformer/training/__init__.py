"""Training."""

from autograder.course.declare import assignment, function, plot

PLOTS = (
    plot("learning-rate", "training.plots:learning_rate", needs="training.learning_rate",
         title="The learning rate: warm-up, then a cosine",
         caption="A straight line up, then half a cosine wave down."),
    plot("loss", "training:loss", trained=True, title="The loss during training",
         caption="It starts at the loss of uniform guessing and cannot stay below the entropy of the text."),
)  # fmt: skip

FUNCTIONS = (
    function("adamw_step", "params; state", "optim.AdamW", minutes=35, difficulty=2),
    function("clip_grad_norm", "grads; norm", "clip_grad_norm_", minutes=15, difficulty=2),
    function("learning_rate", "lr", "LinearLR and CosineAnnealingLR", minutes=20, difficulty=2),
    function("train_step", "loss; params; state", "loss.backward() and AdamW.step()", minutes=15, difficulty=1,
             needs="gpt.gpt_loss training.adamw_step training.clip_grad_norm"),
    function("estimate_loss", "loss", "cross_entropy without gradients", minutes=15, difficulty=2,
             needs="gpt.gpt softmax.cross_entropy"),
    function("train", "params; state; losses", "training loop", minutes=20, difficulty=2,
             needs="gpt.gpt_loss training.adamw_step training.clip_grad_norm"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Training",
    *FUNCTIONS,
    plots=PLOTS,
    outcome="Your GPT can now learn, with your own functions in every step.",
    command="headway train",
)
