"""CrowdNotes: write Community Notes from evidence that a person has read."""

__version__ = "0.1.0"

# Sent to services that want a contact for each program. It has no public page yet: put its address here.
PROJECT_PAGE = "https://crowdnotes.example/about"
