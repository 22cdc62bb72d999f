"""Whether the Wayback Machine has a copy of a page, and of which day.

GET {base}/wayback/available?url=…&timestamp=YYYYMMDDhhmmss answers {"archived_snapshots": {"closest": {"available",
"status", "timestamp", "url"}}}, the copy nearest to the timestamp, or to now; no "closest" when there is none.
https://archive.org/help/wayback_api.php
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import date

from crowdnotes.errors import FetchError, InputError, SearchError
from crowdnotes.evidence.search.provider import dig, parse_json, string, unexpected
from crowdnotes.evidence.search.service import Pace, Service, open_service
from crowdnotes.evidence.source_types import is_archived
from crowdnotes.evidence.ssrf_guard import Deadline, check_url
from crowdnotes.settings import Settings
from crowdnotes.text.dates import parse_date
from crowdnotes.text.markdown import day
from crowdnotes.text.note_rules import top_level_domains

_BEFORE_FIRST_COPY = "19960101000000"  # before its first copy: the nearest to it is a page's oldest
_NON_WEB_DOMAINS = frozenset({"arpa", "onion"})  # in the list of top-level domains, and not the public web's
# No limit of this service is published. Users report of the archive's other one, which searches copies, that 30
# requests a minute are served, and none for an hour to who goes on asking after a 429, which it also gives to first
# requests: https://github.com/internetarchive/wayback/issues/274
_PACE = Pace(25, 66.0, 2)
_QUIET_SECONDS = 300.0
_NAME = "The Wayback Machine"
_COPY_URL = "https://web.archive.org/web/{timestamp}/{url}"


@dataclass(frozen=True, slots=True)
class ArchivedCopy:
    """A link to a copy, the same without the archive's frame around it, and the day on which it was made."""

    url: str
    as_it_was: str
    made: date


@dataclass(frozen=True, slots=True)
class Wayback:
    """Safe to share between threads. `seconds` bound all that is asked about one page.

    The addresses of `private_hosts`, names or "name:port", are sent to nobody.
    """

    service: Service
    seconds: float
    private_hosts: frozenset[str] = frozenset()

    def ask(self, url: str, until: date | None, check: Callable[[], None]) -> tuple[ArchivedCopy | None, str]:
        """Return the newest copy of a page, and a sentence for the user; none and "" where nothing was asked.

        With `until`, the copy nearest to that day if it is not later, else the oldest one if that is not.
        Nothing is asked about an address that is not public or leads to a copy already. Raises nothing but
        what `check` raises.
        """
        page = self.public_address(url)
        if page is None:
            return None, ""
        try:
            copy = self._copy_of(page, until, Deadline(self.seconds, check).check)
        except SearchError as error:
            return None, f"{_NAME}: {error.message}"
        except FetchError:
            return None, f"{_NAME}: It did not answer in time."
        if copy:
            return copy, f"{_NAME} has a copy of {day(copy.made)}."
        if until:
            return None, f"{_NAME} has no copy up to {day(until)}."
        return None, f"{_NAME} has no copy."

    def _copy_of(self, page: str, until: date | None, check: Callable[[], None]) -> ArchivedCopy | None:
        if until is None:
            return self._nearest(page, {}, check)
        for moment in (f"{until:%Y%m%d}235959", _BEFORE_FIRST_COPY):
            found = self._nearest(page, {"timestamp": moment}, check)
            if found is None or found.made <= until:
                return found
        return None

    def _nearest(self, page: str, moment: dict[str, str], check: Callable[[], None]) -> ArchivedCopy | None:
        answer = parse_json(self.service.get("/wayback/available", {"url": page} | moment, check))
        if not isinstance(dig(answer, "archived_snapshots"), dict):
            raise unexpected()
        closest = dig(answer, "archived_snapshots", "closest")
        if dig(closest, "available") is not True or string(closest, "status") != "200":
            return None
        timestamp = string(closest, "timestamp")
        made = parse_date(timestamp[:8])  # of YYYYMMDDhhmmss
        if made is None:
            raise unexpected()
        # The link is made here: what the service calls the copy's address is only its word.
        link, as_it_was = (_COPY_URL.format(timestamp=f"{timestamp}{form}", url=page) for form in ("", "id_"))
        return ArchivedCopy(link, as_it_was, made)

    def public_address(self, url: str) -> str | None:
        """See `public_address`; none of an archived copy."""
        return None if is_archived(url) else public_address(url, self.private_hosts)


def public_address(url: str, private_hosts: Collection[str] = ()) -> str | None:
    """Return the address without its fragment, as another service may get it; None for one that is not public.

    None, too, for one with a query: it may hold a key to what only this person is to see. The name of a
    host of an inner network, or of `private_hosts`, is sent to nobody.
    """
    try:
        target = check_url(url)
    except (InputError, FetchError):
        return None
    name, _, end = target.host.rpartition(".")
    is_private = any(entry.partition(":")[0] == target.host for entry in private_hosts)
    # Hosts of an inner network end in no public top-level domain; nor do addresses written in digits.
    is_site = bool(name) and end in top_level_domains() - _NON_WEB_DOMAINS and not is_private
    return target.url if is_site and "?" not in target.url else None


def make_wayback(settings: Settings) -> Wayback | None:
    """Return the real thing; None when it may not be asked."""
    archive = settings.archive
    if not archive.ask:
        return None
    service = open_service(settings.search, archive.url, _PACE, quiet_seconds=_QUIET_SECONDS)
    service = replace(service, request_seconds=archive.seconds)
    return Wayback(service, archive.seconds, frozenset(settings.allowed_private_hosts))
