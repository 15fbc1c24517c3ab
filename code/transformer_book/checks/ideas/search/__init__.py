"""Ideas of chapter 17: choosing the next token, searching for a sentence."""
