"""The judges of helpfulness (gate 3), one file each, and the registry that makes the one that is set."""
