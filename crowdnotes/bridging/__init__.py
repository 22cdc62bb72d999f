"""The Community Notes algorithm: public data, matrix factorization, notes scored with raters frozen, status.

`factorization.fit` and `scoring.score_notes` are the two solves; `public_files` and `ratings` bring the data in;
`rules.decide` gives one note its status, `public_scoring` every note of a download.
"""
