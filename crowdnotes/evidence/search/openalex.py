"""OpenAlex: a study, whether it was retracted, and the letters, corrections and retractions that cite it.

GET {base}/works?search=&filter=to_publication_date:YYYY-MM-DD&select=&per_page= and ?filter=cites:W…,type:erratum|…;
without a key a hundred searches a day, with a free one a thousand. https://developers.openalex.org/api-reference/authentication
"""

from __future__ import annotations

from datetime import date
from typing import Self

from pydantic import BaseModel, Field, SecretStr

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.provider import (
    RETRACTED,
    RETRACTION_NOTICE,
    JsonObject,
    OnlineProvider,
    dig,
    first_hits,
    make_hit,
    parse_json,
    plain_query,
    records,
    string,
)
from crowdnotes.evidence.search.service import COURTEOUS, Check, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.text.dates import parse_date

_QUIET_SECONDS = 600.0  # what a day allows is used up
_FIELDS = "id,doi,display_name,publication_date,is_retracted,type,abstract_inverted_index"
_REPLIES = "type:erratum|retraction|letter|editorial"
_MOST_REPLIES = 3
_LONGEST = 600  # words of an abstract
_DOI = "https://doi.org/"


class OpenAlexOptions(BaseModel):
    """OpenAlex."""

    openalex_url: str = Field("https://api.openalex.org", description="OpenAlex")
    openalex_key: SecretStr | None = Field(None, description="a free key of OpenAlex: without it, 100 searches a day")


class OpenAlex(OnlineProvider):
    """See `SearchProvider`."""

    name = "openalex"
    label = "OpenAlex"
    brings = "brings.openalex"
    options = OpenAlexOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """One query of a case: each costs some of what a day allows."""
        own = search.of(OpenAlexOptions)
        key = own.openalex_key.get_secret_value() if own.openalex_key else ""
        service = open_service(search, own.openalex_url, COURTEOUS, quiet_seconds=_QUIET_SECONDS)
        return cls(service, {"api_key": key} if key else {}, most_queries=1)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Studies, and after them what replies to the nearest one."""
        asked = plain_query(query, 300)
        if not asked:
            return []
        bound = [f"to_publication_date:{until.isoformat()}"] if until else []
        studies = self._works(limit, check, bound, search=asked)
        nearest = string(studies[0], "id").rpartition("/")[2] if studies else ""
        replies = self._works(_MOST_REPLIES, check, [f"cites:{nearest}", _REPLIES, *bound]) if nearest.isalnum() else []
        return first_hits((self._hit(work, query) for work in [*studies[:1], *replies, *studies[1:]]), limit, until)

    def _works(self, limit: int, check: Check, bounds: list[str], **more: str) -> list[JsonObject]:
        params: dict[str, str | int] = {"select": _FIELDS, "per_page": limit, **more, **self.credentials}
        if bounds:
            params["filter"] = ",".join(bounds)
        return records(parse_json(self.service.get("/works", params, check)), "results")

    def _hit(self, work: JsonObject, query: str) -> Hit | None:
        doi = string(work, "doi")
        if not doi.startswith(_DOI):
            return None
        notice = RETRACTION_NOTICE if string(work, "type") == "retraction" else None
        notice = RETRACTED if dig(work, "is_retracted") is True and notice is None else notice
        return make_hit(
            self.name,
            query,
            title=string(work, "display_name"),
            snippet=_abstract(dig(work, "abstract_inverted_index")),
            url=doi,
            published=parse_date(string(work, "publication_date")),
            doi=doi.removeprefix(_DOI),
            notices=[notice] if notice else [],
        )


def _abstract(places: object) -> str:
    """The abstract, whose words are given with the places where they stand; "" where there is none."""
    if not isinstance(places, dict):
        return ""
    words = {
        place: word
        for word, found in places.items()
        if isinstance(found, list)
        for place in found
        if isinstance(place, int) and 0 <= place < _LONGEST
    }
    return " ".join(words[place] for place in sorted(words))
