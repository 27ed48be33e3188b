"""Training."""

from autograder.course.declare import assignment, function, plot

ASSIGNMENT = assignment(
    "Training",
    function("adamw_step", "params; state", "optim.AdamW", minutes=35, difficulty=2),
    function("clip_grad_norm", "grads; norm", "clip_grad_norm_", minutes=15, difficulty=2),
    function("learning_rate", "lr", "LinearLR and CosineAnnealingLR", minutes=20, difficulty=2),
    function(
        "train_step",
        "loss; params; state",
        "loss.backward() and AdamW.step()",
        needs="gpt.gpt_loss training.adamw_step training.clip_grad_norm",
        minutes=15,
        difficulty=1,
    ),
    function(
        "estimate_loss",
        "loss",
        "cross_entropy without gradients",
        needs="gpt.gpt softmax.cross_entropy",
        minutes=15,
        difficulty=2,
    ),
    function(
        "train",
        "params; state; losses",
        "training loop",
        needs="gpt.gpt_loss training.adamw_step training.clip_grad_norm",
        minutes=20,
        difficulty=2,
    ),
    plots=(
        plot(
            "learning-rate",
            "training:schedule",
            needs="training.learning_rate",
            title="The learning rate: warm-up, then a cosine",
            caption="A straight line up, then half a cosine wave down.",
        ),
        plot(
            "loss",
            "training:loss",
            title="The loss during training",
            caption="It starts at the loss of uniform guessing and cannot stay below the entropy of the text.",
            trained=True,
        ),
    ),
    outcome="Your GPT can now learn, with your own functions in every step.",
    command="headway train",
)
