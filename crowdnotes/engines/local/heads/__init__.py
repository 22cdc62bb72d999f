"""Small trained heads, one linear pipeline each, and the reader that gives one of them its vectors.

The files are in assets/judges, with a model card and measured figures each; `crowdnotes train` makes them (`studies/`).
"""
