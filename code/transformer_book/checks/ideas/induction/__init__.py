"""Ideas of chapter 26: how much of an induction head a head is, and what it is needed for."""
