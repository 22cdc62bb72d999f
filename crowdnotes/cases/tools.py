"""What the stages of a case work with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crowdnotes.embedding import Embedder
from crowdnotes.engines import Engine
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.evidence.search import SearchProvider
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.jury import Jury
from crowdnotes.settings import Settings


@dataclass(frozen=True, slots=True)
class Tools:
    """The boundaries, each safe to share between threads.

    `providers` gives every online provider and one for each library that is named. `jury`
    reads the model when it is first asked for.
    """

    engine: Engine
    embedder: Embedder
    reader: SourceReader
    libraries: Libraries
    providers: Callable[[Sequence[str]], Sequence[SearchProvider]]
    settings: Settings
    links: LinkChecker
    jury: Callable[[], Jury]
