"""CrowdNotes: write Community Notes from evidence that a person has read."""

import os

# Read by OpenMP when PyTorch is loaded. Its threads otherwise spin while they wait for each other: on two cores that
# others use too, 256 short texts took 22 s to embed instead of 0.8 s, and twelve times the processor's time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.1.0"

# Sent to services that want a contact for each program. It has no public page yet: put its address here.
PROJECT_PAGE = "https://crowdnotes.example/about"
