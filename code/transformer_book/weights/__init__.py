"""Weights in files: the book's own checkpoints, and those of others (GPT-2, Llama, GGUF)."""
