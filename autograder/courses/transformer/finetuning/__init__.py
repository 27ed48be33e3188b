"""Fine-tuning."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("chat_example", "x position; targets position; mask position", "", minutes=30, difficulty=2),
    function("answer_loss", "loss; dlogits batch position token", "cross_entropy and its gradient", minutes=35,
             difficulty=2, needs="softmax.log_softmax"),
    function("lora_linear", "y batch d_out; cache", "linear", minutes=15, difficulty=1),
    function("lora_linear_backward", "dx batch d_in; dA d_in rank; dB rank d_out", "gradient of linear", minutes=35,
             difficulty=2, needs="finetuning.lora_linear"),
    function("dpo_loss", "loss; dchosen pair; drejected pair", "logsigmoid and its gradient", minutes=35,
             difficulty=2),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Fine-tuning",
    *FUNCTIONS,
    outcome="Your Llama can now learn to answer questions, and to prefer one answer to another.",
)
