"""Models that were trained elsewhere: import them from a Hugging Face folder, and generate text with them."""
