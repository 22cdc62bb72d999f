"""The judges of helpfulness (gate 3): their boundary, and the registry that makes the one that is set."""
