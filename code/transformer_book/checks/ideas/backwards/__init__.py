"""Ideas of chapter 29: the gradient of every part, by hand."""
