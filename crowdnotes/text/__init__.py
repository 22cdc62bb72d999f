"""Pure functions over words: X's note rules, lint, sentences, languages."""
