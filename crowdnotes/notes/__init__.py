"""One note from many (the Supernotes paper): existing notes, candidates, filters, ranking, credit, watching."""
