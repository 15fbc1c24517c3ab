"""Ideas of chapter 24: source and target as one sequence, what sees what, what is asked."""
