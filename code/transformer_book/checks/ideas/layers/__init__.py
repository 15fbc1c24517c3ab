"""Ideas of chapters 10 to 14: norms, residuals, dropout, feed-forward, layers, stacks."""
