"""Local libraries: tables and folders on this machine as evidence that needs no network."""

from crowdnotes.evidence.library.catalogue import Libraries
from crowdnotes.evidence.library.index import Columns, LibraryDocument, LibraryInfo
from crowdnotes.evidence.library.sharing import SharedLibraries

__all__ = ["Columns", "Libraries", "LibraryDocument", "LibraryInfo", "SharedLibraries"]
