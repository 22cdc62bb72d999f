"""ClinicalTrials.gov: is there such a trial, in which phase, how did it end, are there results; without a key.

GET {base}/studies?query.term=&filter.advanced=AREA[StudyFirstPostDate]RANGE[MIN,YYYY-MM-DD]&fields=&pageSize=; in a
term OR in capitals. About 50 requests a minute are let through. An entry is shown as it is now: with a cutoff
nothing is said of what was changed after it. https://clinicaltrials.gov/data-api/api
"""

from __future__ import annotations

import re
from datetime import date
from typing import Self

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.search.provider import (
    JsonObject,
    OnlineProvider,
    all_then_any,
    dig,
    first_hits,
    make_hit,
    parse_json,
    records,
    string,
    strings,
)
from crowdnotes.evidence.search.service import Check, Pace, open_service
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import parse_date
from crowdnotes.text.urls import trials_in
from crowdnotes.wording import fill

_PACE = Pace(45, 66.0, 3)
_REQUESTED_FIELDS = (
    "NCTId|BriefTitle|OverallStatus|WhyStopped|Phase|StudyFirstPostDate|LastUpdatePostDate|ResultsFirstPostDate"
    "|EnrollmentCount|LeadSponsorName|Condition|InterventionName|BriefSummary|HasResults"
)


class ClinicalTrialsOptions(BaseModel):
    """ClinicalTrials.gov."""

    clinical_trials_url: str = Field("https://clinicaltrials.gov/api/v2", description="the API of ClinicalTrials.gov")


class ClinicalTrials(OnlineProvider):
    """See `SearchProvider`. Its pages are built by script: an entry is read as its service gives it."""

    name = "clinical-trials"
    label = "ClinicalTrials.gov"
    brings = "trials: phase, status, results"
    options = ClinicalTrialsOptions
    gives_entries = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: the claim's words, and the medical terms."""
        service = open_service(search, search.of(ClinicalTrialsOptions).clinical_trials_url, _PACE)
        return cls(service, at_once=3, most_queries=3)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Trials by their number where the query has one; else with all words, else with any."""
        bound = {"filter.advanced": f"AREA[StudyFirstPostDate]RANGE[MIN,{until.isoformat()}]"} if until else {}

        def ask(term: str) -> list[JsonObject]:
            params = {"query.term": term, "fields": _REQUESTED_FIELDS, "pageSize": str(limit), **bound}
            try:
                return records(parse_json(self.service.get("/studies", params, check)), "studies")
            except SearchError as error:
                if error.status != 403:
                    raise
                raise SearchError(
                    "It blocks this program or network (403).",
                    ProviderState.FAILED,
                    "Search at clinicaltrials.gov in your browser and paste the trial's link.",
                ) from error

        numbers = trials_in(query)
        found = ask(" OR ".join(numbers)) if numbers else all_then_any(query, ask)
        return first_hits((self._hit(record, query, until) for record in found), limit)

    def _hit(self, record: JsonObject, query: str, until: date | None) -> Hit | None:
        entry = dig(record, "protocolSection")
        number = string(entry, "identificationModule", "nctId")
        if trials_in(number) != [number.upper()]:
            return None
        return make_hit(
            self.name,
            query,
            title=f"{string(entry, 'identificationModule', 'briefTitle')} ({number})",
            snippet=" ".join(_describe_trial(entry, until)),
            url=f"https://clinicaltrials.gov/study/{number}",
            published=parse_date(string(entry, "statusModule", "studyFirstPostDateStruct", "date")),
        )


def _describe_trial(entry: object, until: date | None) -> list[str]:
    """Return the entry in sentences: phase, size, sponsor, status, whether there are results, what it is for."""
    status = dig(entry, "statusModule")
    facts = {
        "Conditions: {value}.": ", ".join(strings(entry, "conditionsModule", "conditions")),
        "Phase: {value}.": ", ".join(map(_format_constant, strings(entry, "designModule", "phases"))),
        "People enrolled: {value}.": string(entry, "designModule", "enrollmentInfo", "count"),
        "Sponsor: {value}.": string(entry, "sponsorCollaboratorsModule", "leadSponsor", "name"),
    }
    changed = parse_date(string(status, "lastUpdatePostDateStruct", "date"))
    if until is None or (changed is not None and changed <= until):
        facts["Status: {value}."] = _format_constant(string(status, "overallStatus"))
        facts["Why it was stopped: {value}"] = string(status, "whyStopped")
    posted = parse_date(string(status, "resultsFirstPostDateStruct", "date"))
    there = posted is not None and (until is None or posted <= until)
    results = f"Results were posted on {posted}." if there else "No results are posted."
    sentences = [fill(name, value=value) for name, value in facts.items() if value]
    return [*sentences, results, string(entry, "descriptionModule", "briefSummary")]


def _format_constant(name: str) -> str:
    """Return a value of a list as the site shows it: PHASE2 is "Phase 2", NOT_YET_RECRUITING "Not yet recruiting"."""
    return re.sub(r"(?<=[a-z])(?=\d)", " ", name.replace("_", " ").capitalize())
