"""The abilities of the student's model after each assignment, with a command that shows each one.

They are shown when an assignment passes. Plots are not listed here, because Headway finds those that a lesson mentions.
"""

# assignment: (sentence, command; empty if there is none)
OUTCOMES = {
    "tokenizer": ("Your model can now read: text becomes ids, and ids become text again.", ""),
    "gradients": (
        "You can now compute how a result changes with each number behind it. Training uses these gradients.",
        "",
    ),
    "softmax": ("Your model can now turn scores into probabilities, and you can measure how wrong they are.", ""),
    "bigram": (
        "You have a language model that learns: it invents names, letter by letter.",
        "headway train --preset bigram --out bigram.safetensors",
    ),
    "embeddings": ("Each token is now a vector that training can change, and says where in the text it stands.", ""),
    "attention": ("Each position of your model can now use the positions before it, and chooses which.", ""),
    "multihead": ("Your model can now attend to several things at once, one with each head.", ""),
    "layernorm": ("Your model can now be deep: its vectors keep their size from block to block.", ""),
    "ffn": ("Each position can now work on what it has gathered from the others.", ""),
    "blocks": ("You have a transformer block with all its gradients. A GPT is a stack of these.", ""),
    "gpt": ("Your GPT is complete, from ids to the loss and every gradient. It has learned nothing yet.", ""),
    "training": ("Your GPT can now learn, with your own functions in every step.", "headway train"),
    "generation": (
        "Your GPT can now write, token by token, and its cache saves it from reading everything again.",
        "headway generate model.safetensors --lines 10",
    ),
    "encoder_decoder": (
        "Your model can now read one text and write another of a different length, as a translator does.",
        "headway train --preset annotated --out copy.safetensors",
    ),
    "bpe": ("You can now split any text into the tokens of GPT-2, and join them again.", ""),
    "gpt2": (
        "Your code can now run the published GPT-2.",
        "headway import-model gpt2 --out gpt2.safetensors",
    ),
    "llama": (
        "Your code can now run and train a Llama.",
        "headway train --preset llama --out llama.safetensors",
    ),
}
