"""CrowdNotes: write Community Notes from evidence that a person has read."""

__version__ = "0.1.0"
