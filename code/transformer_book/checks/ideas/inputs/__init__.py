"""Ideas of chapters 1 to 5: counting, vocabularies, batches, embeddings, positions."""
