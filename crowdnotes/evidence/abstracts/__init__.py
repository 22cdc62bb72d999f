"""The abstract of a paper whose page cannot be read, by DOI, PubMed id or PMC id.

Asked in turn, until one has it: Europe PMC, PubMed, Crossref.
"""

from crowdnotes.evidence.abstracts.base import Abstract, AbstractService
from crowdnotes.evidence.abstracts.finding import AbstractFinder, make_finder
from crowdnotes.evidence.abstracts.paper import Paper, paper_of

__all__ = ["Abstract", "AbstractFinder", "AbstractService", "Paper", "make_finder", "paper_of"]
