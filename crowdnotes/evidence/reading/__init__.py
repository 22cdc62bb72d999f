"""Readers of pages: HTML, PDF and plain text. `document.extract` is the way in."""
