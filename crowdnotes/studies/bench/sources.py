"""Compare the program's sources with those that people cited for the same posts (CrowdNotes+ 7.3, B.1 and B.2).

A reader or a model is shown both sets of a post, sides shuffled, and says which is of more use; a set of sources is
shown by its sites and the words of its titles or addresses, and with passages where every page of both sets was read.
Titles are written as addresses are, so that nobody can guess from their form whose they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from urllib.parse import unquote, urlsplit

from crowdnotes.domain import Case, FetchOutcome, FrozenModel, Source, SourceCategory
from crowdnotes.evidence.source_types import categorise, original_of
from crowdnotes.studies.bench.healthnotes import RunRow
from crowdnotes.studies.bench.notes import OVERALL, Pair, Vote, WinRate, is_left, pair_id, win_rates, worths_by_pair
from crowdnotes.studies.bench.source_study import LostPair, UtilityStudy, Won
from crowdnotes.text.markdown import clip, host

_MAX_TITLE_WORDS = 16  # of a title or an address
_MAX_PASSAGE_CHARACTERS = 600  # characters
_WORD_PATTERN = re.compile(r"[^\W\d_]{2,}")
_URL_NOISE_WORDS = frozenset("www htm html php aspx asp jsp pdf index amp https http web".split())


class CitedSource(FrozenModel):
    """A source of one side. words: of its title, or of its address where no title is known. passage: "" if unread."""

    url: str | None
    kind: SourceCategory
    words: str
    passage: str = ""


class SourcesRow(RunRow):
    """One post: the sources that the program chose, best first, and those that the contributor cited."""

    chosen: tuple[CitedSource, ...] = ()
    cited: tuple[CitedSource, ...] = ()
    failed: bool = False

    @property
    def is_final(self) -> bool:
        """See `RunRow`."""
        return not self.failed

    @property
    def passed(self) -> bool:
        """See `RunRow`: there is something on both sides."""
        return bool(self.chosen and self.cited)

    @property
    def pages_read(self) -> bool:
        """Whether every page of both sides was read."""
        return all(source.passage for source in (*self.chosen, *self.cited))

    @property
    def result_line(self) -> str:
        """See `RunRow`."""
        return self.reason or f"{len(self.chosen)} chosen, {len(self.cited)} cited"


def sources_of(case: Case, most: int | None = None) -> tuple[CitedSource, ...]:
    """Return what the program chose for a case and read, in its order."""
    found: dict[str, CitedSource] = {}
    for item in sorted(case.evidence, key=lambda item: item.rank):
        found.setdefault(item.source.id, _build_cited_source(item.source, item.source.title, item.passage.text))
    return tuple(found.values())[:most]


def cited_sources(urls: Iterable[str], read: Case | None) -> tuple[CitedSource, ...]:
    """Return what a contributor cited, with what a case could read of it."""
    passages = {item.source.id: item.passage.text for item in read.evidence} if read is not None else {}
    sources = {source.url: source for source in read.sources} if read is not None else {}
    found = []
    for url in dict.fromkeys(urls):
        source = sources.get(url)
        if source is None:
            found.append(CitedSource(url=url, kind=categorise(url), words=_normalise_title("", url)))
        else:
            title = source.title if source.outcome is FetchOutcome.READ else ""
            found.append(_build_cited_source(source, title, passages.get(source.id, "")))
    return tuple(found)


def _build_cited_source(source: Source, title: str, passage: str) -> CitedSource:
    words = _normalise_title(title, source.url or "")
    return CitedSource(url=source.url, kind=source.category, words=words, passage=" ".join(passage.split()))


def _normalise_title(title: str, url: str) -> str:
    """Return a title as an address has it: small letters, no marks, no numbers."""
    try:
        path = unquote(urlsplit(original_of(url)).path)
    except ValueError:
        path = ""
    found = [word for word in _WORD_PATTERN.findall((title or path).lower()) if word not in _URL_NOISE_WORDS]
    return " ".join(found[:_MAX_TITLE_WORDS])


def source_pairs(rows: Sequence[SourcesRow]) -> list[Pair]:
    """Return what a blind reader sees, of each post with sources on both sides."""
    found = []
    for row in rows:
        if row.passed:
            own, theirs = (_format_sources(side, pages=row.pages_read) for side in (row.chosen, row.cited))
            left, right = (own, theirs) if is_left(row.note_id) else (theirs, own)
            found.append(Pair(pair=pair_id(row.note_id), post=row.post, left=left, right=right))
    return found


def _format_sources(sources: Sequence[CitedSource], *, pages: bool) -> str:
    lines = []
    for source in sources:
        site = host(original_of(source.url)) if source.url else "no site"
        line = f"{site}: {source.words or 'no words'}"
        lines.append(f"{line}\n{clip(source.passage, _MAX_PASSAGE_CHARACTERS)}" if pages else line)
    return ("\n\n" if pages else "\n").join(f"{number}. {one}" for number, one in enumerate(lines, 1))


def study(
    rows: Sequence[SourcesRow], votes: Sequence[Vote], *, data: str, places: Sequence[str], chosen_by: str,
    made_at: datetime,
    prompt_version: str = "",
) -> UtilityStudy:  # fmt: skip
    """Count the votes. Posts whose note has no link are in no figure but `uncited`."""
    cited = [row for row in rows if row.cited]
    compared = [row for row in cited if row.passed]
    groups = {
        "all": compared,
        **{name: [row for row in compared if row.is_helpful is yes] for name, yes in _IS_HELPFUL_BY_HALF},
    }
    wins = {name: won for name, group in groups.items() if (won := _count_wins(group, votes)) is not None}
    worths = worths_by_pair(compared, votes)
    nothing = sum(not row.chosen and row.is_final for row in cited)
    total = wins["all"].rate * wins["all"].pairs if "all" in wins else 0.0
    chosen = Counter(source.kind for row in compared for source in row.chosen)
    people = Counter(source.kind for row in compared for source in row.cited)
    reasons: dict[str, list[str]] = {}
    for vote in votes:
        reasons.setdefault(vote.pair, []).append(vote.why)
    return UtilityStudy(
        made_at=made_at,
        data=data,
        places=tuple(places),
        chosen_by=chosen_by,
        judged_by=tuple(sorted({vote.reader for vote in votes})),
        prompt_version=prompt_version,
        posts=len(rows),
        uncited=len(rows) - len(cited),
        nothing_found=nothing,
        compared=len(compared),
        pages=sum(row.pages_read for row in compared),
        wins=wins,
        with_none=total / (wins["all"].pairs + nothing) if "all" in wins else None,
        kinds={kind: (chosen[kind], people[kind]) for kind in SourceCategory if chosen[kind] or people[kind]},
        lost=tuple(
            LostPair(note_id=note_id, why=tuple(filter(None, dict.fromkeys(reasons.get(pair_id(note_id), [])))))
            for note_id, each in worths.items()
            if sum(each) < len(each) / 2
        ),
    )


_IS_HELPFUL_BY_HALF = (("helpful", True), ("not helpful", False))


def _count_wins(rows: Sequence[SourcesRow], votes: Sequence[Vote]) -> Won | None:
    rate: WinRate | None = win_rates(rows, votes).get(OVERALL)
    if rate is None:
        return None
    means = [sum(each) / len(each) for each in worths_by_pair(rows, votes).values()]
    return Won(
        pairs=len(means),
        won=sum(mean > 0.5 for mean in means),
        lost=sum(mean < 0.5 for mean in means),
        tied=sum(mean == 0.5 for mean in means),
        rate=rate.rate,
        low=rate.low,
        high=rate.high,
    )
