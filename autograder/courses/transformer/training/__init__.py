"""Training."""

from autograder.curriculum.declare import assignment, function

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
    outcome="Your GPT can now learn, with your own functions in every step.",
    command="headway train",
)
