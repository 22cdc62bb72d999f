"""What a service gives for a paper, and the boundary that services stand behind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Protocol

from crowdnotes.evidence.abstracts.paper import Paper
from crowdnotes.evidence.search.base import Check
from crowdnotes.evidence.search.plain import plain_text

LEAST = 80  # characters; "No abstract available" is none
_MOST = 8_000


@dataclass(frozen=True, slots=True)
class Abstract:
    """A paper's abstract as plain text, and what the service says of the paper.

    `not_before` is the first day on which it can have come out, where only a month or a year is known too.
    `notices` are marks that a reader must see, in the spelling of `evidence.search.notices`.
    """

    service: str
    title: str
    text: str
    published: date | None = None
    doi: str | None = None
    pmid: str | None = None
    notices: tuple[str, ...] = ()
    not_before: date | None = None


class AbstractService(Protocol):
    """One place to ask. Implementations are safe to share between threads."""

    @property
    def label(self) -> str:
        """As a person knows it, e.g. "Europe PMC"."""
        ...

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """The abstract of that very paper; None when it is not known here or has none.

        Raises SearchError for whatever the service does wrong, and whatever `check` raises.
        """
        ...


def plain_abstract(markup: str) -> str | None:
    """An abstract as plain text of at most 8,000 characters; None for what is too short to be one."""
    text = plain_text(markup, _MOST)
    return text if len(text) >= LEAST else None
