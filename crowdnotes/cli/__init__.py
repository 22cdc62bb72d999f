"""The command line: everything the pages can do, as JSON."""

from crowdnotes.cli.main import main

__all__ = ["main"]
