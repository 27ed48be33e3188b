"""Fine-tuning."""

from autograder.course.declare import assignment, function

ASSIGNMENT = assignment(
    "Fine-tuning",  # its title; replace it
    # One entry for each function that students write in finetuning.py. Replace the outputs with the names of what it returns,
    # each followed by the names of its axes ("out row column; cache" for two). If PyTorch has the function, say what it
    # is called there, as the third argument. A function can also have needs="finetuning.another", the functions that it
    # should be built on, and bonus=True.
    function("finetuning", "out row column", minutes=15, difficulty=1),
    outcome="Replace this sentence: what the student's work can do now.",
)
