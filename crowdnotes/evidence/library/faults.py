"""What SQLite and the disk say about a library, as a sentence for the user."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from crowdnotes.errors import LibraryError


@contextmanager
def as_library_error(name: str) -> Iterator[None]:
    """Raise LibraryError, with the library's name and what to do, for sqlite3.Error and OSError."""
    try:
        yield
    except sqlite3.Error as error:
        if "full" in str(error):
            raise LibraryError("The disk is full; nothing was added.", "Make room, then try again.") from error
        raise LibraryError(
            f"The library “{name}” cannot be read or written ({error}).", "Remove it and add it again."
        ) from error
    except OSError as error:
        raise LibraryError(
            f"The library “{name}” cannot be read or written ({error.strerror}).",
            "Check the disk's space and the folder's permissions.",
        ) from error
