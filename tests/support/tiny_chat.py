"""A tiny Llama with random parameters that reads conversations, in the files that Hugging Face's libraries write."""

import warnings
from pathlib import Path

from support.tiny_gpt2 import TEXT

LENGTH = 512  # positions
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA3 = (
    "{{ '<|begin_of_text|>' }}{% for message in messages %}{{ '<|start_header_id|>' + message['role'] + "
    "'<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
SPECIAL = {
    CHATML: ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    LLAMA3: ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
}


def make_chat_model(folder: Path, template: str = CHATML, length: int = LENGTH) -> tuple[object, object]:
    """Write the files; return the model and the tokenizer of transformers."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    special = SPECIAL[template]
    tokenizer = Tokenizer(models.BPE())
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), level])
    tokenizer.decoder = decoders.ByteLevel()
    options = {"special_tokens": special, "initial_alphabet": level.alphabet(), "show_progress": False}
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=320, **options))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=special[-1], chat_template=template)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=len(fast), max_position_embeddings=length, hidden_size=48, intermediate_size=64,
            num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2, tie_word_embeddings=True,
            rope_parameters={"rope_type": "default", "rope_theta": 100000.0}, bos_token_id=None,
            eos_token_id=fast.eos_token_id,
        )  # fmt: skip
        model = LlamaForCausalLM(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn(parameter.shape) * 0.15)
        model.save_pretrained(folder)
        fast.save_pretrained(folder)
    return model, fast
