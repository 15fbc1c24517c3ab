"""Ideas of chapters 6 to 9: softmax, attention, masks, heads."""
