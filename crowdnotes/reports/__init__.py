"""Reports: the overview of all cases, and blind comparisons of notes with their results."""
