"""Readers of pages: HTML, PDF and plain text. `extract.extract` is the way in."""
