"""Whole runs: an experiment, a pretraining, several processes, an evaluation, new pairs."""
