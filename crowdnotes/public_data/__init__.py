"""X's public data: the index, note stories, surges and delays, and small made worlds to try the algorithm on."""
