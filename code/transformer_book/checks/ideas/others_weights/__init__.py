"""Ideas of chapter 28: the weights of others, cut and put into another order."""
