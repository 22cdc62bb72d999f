"""Fitting judges, jury and raters again: a file each."""
