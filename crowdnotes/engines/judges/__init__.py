"""Who judges helpfulness (gate 3): a file a judge, and the registry that makes the one that is set."""
