"""Marks on a paper that its reader must see, in one spelling whoever reports them."""

from __future__ import annotations

import re

PREPRINT = "preprint"
RETRACTED = "retracted"
RETRACTION_NOTICE = "a retraction notice"

# Publication types of PubMed and Europe PMC, their kinds of comment and correction, and the types of
# update that Crossref and Retraction Watch record. What a notice is about comes before what it is.
_NOTICES = (
    (r"^retraction ?of\b|^retraction of publication$", RETRACTION_NOTICE),
    (r"^retracted publication$|^(?:partial[ _]?)?retraction(?: ?in)?$|^removal$", RETRACTED),
    (r"^withdraw(?:al|n)(?: ?in)?$", "withdrawn"),
    (r"^expression[ _-]?of[ _-]?concern(?: ?in)?$", "expression of concern"),
    (r"^(?:erratum|corrigendum|correct(?:ion|ed))(?: ?in)?$", "corrected since"),
    (r"^preprint$", PREPRINT),
)


def notice_of(kind: str) -> str | None:
    """The notice that a publication type, relation or update type stands for; None for any other."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).strip().lower()
    return next((notice for pattern, notice in _NOTICES if re.search(pattern, spaced)), None)
