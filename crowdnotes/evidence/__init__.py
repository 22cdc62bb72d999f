"""From searches and links to evidence: search, choose, fetch, read, and find the best passage of each source."""
