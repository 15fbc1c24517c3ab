"""Looks into a trained model: its weights of attention, changes of its parts, induction heads."""
