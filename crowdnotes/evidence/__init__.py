"""From hits and links to evidence: search, fetch, read, and the passages worth a person's time."""
