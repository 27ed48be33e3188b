"""Generation."""

from autograder.course.declare import assignment, function

ASSIGNMENT = assignment(
    "Generation",
    function(
        "next_token_probs",
        "probs batch token",
        "topk, sort and softmax",
        needs="softmax.softmax",
        minutes=40,
        difficulty=2,
    ),
    function("sample", "ids batch", "multinomial", minutes=15, difficulty=2),
    function(
        "generate",
        "ids batch position",
        "loop over a GPT of nn modules",
        needs="gpt.gpt generation.next_token_probs generation.sample",
        minutes=20,
        difficulty=2,
    ),
    function(
        "generate_cached",
        "ids batch position",
        "loop over a GPT of nn modules",
        needs="generation.generate",
        minutes=50,
        difficulty=2,
    ),
    outcome="Your GPT can now write, token by token, and its cache saves it from reading everything again.",
    command="headway generate model.safetensors --lines 10",
)
