"""Benchmarks of the program's steps on data of one's own: each reads a file, measures, and says what it measured."""
