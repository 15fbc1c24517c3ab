"""Ideas of chapters 15 and 16: losses, perplexity, schedule, clipping, one update."""
