"""Ideas of chapter 27: LoRA, and what a draw may choose."""
