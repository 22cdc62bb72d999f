"""The crowd of raters: small made worlds of it, and what the public data shows of it."""
