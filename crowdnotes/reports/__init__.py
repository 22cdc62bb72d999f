"""Blind comparisons of notes: pairs from a file, answers by many at once, and what they come to."""
