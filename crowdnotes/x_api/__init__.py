"""To X by its API for AI note writers: posts that notes are asked for, what X scores, and one note once."""
