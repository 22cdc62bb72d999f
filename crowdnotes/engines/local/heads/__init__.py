"""Small trained heads: linear weights over features that can be named, hashed words and sentence vectors.

Weights are plain arrays in assets/judges, with a model card and measured figures each; `crowdnotes train`
makes them (`studies/`). Nothing here learns.
"""
