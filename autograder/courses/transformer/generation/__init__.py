"""Generation."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("next_token_probs", "probs batch token", "topk, sort and softmax", minutes=40, difficulty=2,
             needs="softmax.softmax"),
    function("sample", "ids batch", "multinomial", minutes=15, difficulty=2),
    function("generate", "ids batch position", "loop over a GPT of nn modules", minutes=20, difficulty=2,
             needs="gpt.gpt generation.next_token_probs generation.sample"),
    function("generate_cached", "ids batch position", "loop over a GPT of nn modules", minutes=50, difficulty=2,
             needs="generation.generate"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Generation",
    *FUNCTIONS,
    outcome="Your GPT can now write, token by token, and its cache saves it from reading everything again.",
    command="headway generate model.safetensors --lines 10",
)
