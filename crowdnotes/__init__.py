"""CrowdNotes: write Community Notes from evidence that a person has read."""

__version__ = "0.1.0"

# Told to services that want to know whom to ask about a program. It has no public page yet: put its address here.
PROJECT_PAGE = "https://crowdnotes.example/about"
