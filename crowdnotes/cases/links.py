"""The links that a note cites: which there are, and whether each answered within the last day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from crowdnotes.domain import Case, Draft, LinkCheck, LinkState
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.jobs import Progress
from crowdnotes.text.note_rules import find_urls

CHECK_HOLDS = timedelta(hours=24)  # pages rarely vanish within a day; what is older says little about now
ASKED_AGAIN_AFTER = timedelta(hours=1)  # so that scoring after each edit asks only for links that are new
_KEPT = 50  # checks on record, so that an undo finds its links' checks again


def cited_links(draft: Draft) -> tuple[str, ...]:
    """The links of a note as they stand in it, each once, in order."""
    return tuple(dict.fromkeys(url.url for url in find_urls(draft.text)))


def newest_check(case: Case, url: str, now: datetime) -> LinkCheck | None:
    """The check of this very link under the case's cutoff, if it is not older than a day; None when there is none."""
    found = next((check for check in case.link_checks if check.url == url and _holds(check, case)), None)
    return found if found is not None and now - found.checked_at <= CHECK_HOLDS else None


def unproven_links(case: Case, draft: Draft, now: datetime) -> tuple[tuple[str, LinkCheck | None], ...]:
    """The cited links that did not answer with a 200 within the last day, each with its check, if any."""
    checks = ((url, newest_check(case, url, now)) for url in cited_links(draft))
    return tuple((url, check) for url, check in checks if check is None or check.state is not LinkState.LIVE)


def check_links(
    case: Case, progress: Progress, checker: LinkChecker, clock: Callable[[], datetime], *, afresh: bool
) -> tuple[Mapping[str, object], str]:
    """Ask the note's links; those asked within the last hour only when `afresh`. A dead one fails nothing."""
    if case.draft is None:
        return {}, "There is no note, so no link to check."
    now = clock()
    links = cited_links(case.draft)
    known = {check.url: check for check in case.link_checks if now - check.checked_at <= CHECK_HOLDS}
    missing = links if afresh else not_asked_lately(case, case.draft, now)
    known |= {check.url: check for check in checker.check(missing, progress.check, case.until)}
    cited = {url: known.pop(url) for url in links}
    others = sorted(known.values(), key=lambda check: check.checked_at, reverse=True)[:_KEPT]
    live = sum(check.state is LinkState.LIVE for check in cited.values())
    return {"link_checks": (*cited.values(), *others)}, _summary(live, len(cited))


def not_asked_lately(case: Case, draft: Draft, now: datetime) -> list[str]:
    """The cited links that were not asked within the last hour, or were gone and asked under another cutoff."""
    checks = (check for check in case.link_checks if now - check.checked_at <= ASKED_AGAIN_AFTER)
    lately = {check.url for check in checks if _holds(check, case)}
    return [url for url in cited_links(draft) if url not in lately]


def _holds(check: LinkCheck, case: Case) -> bool:
    """Whether a check answers for the case's cutoff: of a page that is gone, a copy not later than it was sought."""
    return not check.is_gone or check.until == case.until


def _summary(live: int, cited: int) -> str:
    return f"{live} of {cited} links answer" if cited else "The note has no link"
