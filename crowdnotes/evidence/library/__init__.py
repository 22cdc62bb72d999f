"""Local libraries: tables and folders on this machine as evidence that needs no network."""

from crowdnotes.evidence.library.catalogue import Libraries
from crowdnotes.evidence.library.folders import FILE_KINDS
from crowdnotes.evidence.library.records import Columns, LibraryDocument, LibraryInfo
from crowdnotes.evidence.library.tables import TABLE_KINDS

COLUMN_PARTS = tuple(Columns.model_fields)

__all__ = ["COLUMN_PARTS", "FILE_KINDS", "TABLE_KINDS", "Columns", "Libraries", "LibraryDocument", "LibraryInfo"]
