"""A page of any kind to its words: see `document` for the way in."""
