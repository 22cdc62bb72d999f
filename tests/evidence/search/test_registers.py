"""Registers: each answers as it documents it, and is asked only where the claim calls for it."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import FetchOutcome, ReadAs
from crowdnotes.errors import SearchError
from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.evidence.search import ONLINE, called_for, is_register, make_online
from crowdnotes.evidence.search.clinical_trials import ClinicalTrials
from crowdnotes.evidence.search.openfda import OpenFda
from crowdnotes.evidence.search.service import Service
from crowdnotes.evidence.search.when_to_ask import words_of
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.settings import FetchSettings, SearchSettings
from tests.evidence.search.conftest import MakeService, ask

_UNTIL = date(2025, 6, 30)


@pytest.mark.parametrize(
    ("claim", "asked"),
    [
        ("A phase 3 trial in China shows that it works.", {"clinical-trials"}),
        ("Ivermectin makes tumours vanish.", {"clinical-trials", "openfda"}),
        ("They recalled all the cinnamon with lead in it.", {"openfda"}),
        ("El ensayo clínico y la vacuna no sirven.", {"clinical-trials"}),
        ("Trialogue on the drugstore's façade, recalibrated.", set()),
    ],
)
def test_a_register_is_asked_only_where_the_claim_speaks_of_what_it_registers(claim: str, asked: set[str]) -> None:
    online = make_online(SearchSettings())
    found = {one.name for one in called_for(online, claim)}
    assert {name for name in found if is_register(name)} == asked
    assert {one.name for one in online if not is_register(one.name)} <= found


def test_whoever_chose_registers_alone_has_them_asked() -> None:
    alone = [one for one in make_online(SearchSettings()) if one.name == "clinical-trials"]
    assert called_for(alone, "The moon is made of cheese.") == alone


def test_every_register_of_the_table_is_a_provider_and_names_are_found_by_their_ending() -> None:
    assert sum(is_register(kind.name) for kind in ONLINE) == 2
    assert words_of("substance", "Pfizer's PAXLOVID, not molnupiravir or nivolumab; a servant") == [
        "paxlovid", "molnupiravir", "nivolumab",
    ]  # fmt: skip


def _study(**status: Any) -> dict[str, Any]:
    return {
        "hasResults": True,
        "protocolSection": {
            "identificationModule": {"nctId": "NCT04510194", "briefTitle": "Metformin and long COVID"},
            "statusModule": {
                "overallStatus": "ACTIVE_NOT_RECRUITING",
                "studyFirstPostDateStruct": {"date": "2020-08-12", "type": "ACTUAL"},
                "lastUpdatePostDateStruct": {"date": "2025-01-02"},
                "resultsFirstPostDateStruct": {"date": "2024-03-04"},
                **status,
            },
            "designModule": {"phases": ["PHASE2", "PHASE3"], "enrollmentInfo": {"count": 1323}},
            "sponsorCollaboratorsModule": {"leadSponsor": {"name": "University of Minnesota"}},
            "descriptionModule": {"briefSummary": "Does metformin prevent severe disease?"},
        },
    }


def test_a_trial_is_told_with_its_phase_its_status_and_its_results(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/studies").respond_with_json({"studies": [_study(), {"protocolSection": {}}]})
    (hit,) = ask(ClinicalTrials(service), "metformin long covid trial", until=_UNTIL)
    assert (hit.url, hit.published) == ("https://clinicaltrials.gov/study/NCT04510194", date(2020, 8, 12))
    assert hit.snippet == (
        "Phase: Phase 2, Phase 3. People enrolled: 1323. Sponsor: University of Minnesota. "
        "Status: Active not recruiting. Results were posted on 2024-03-04. Does metformin prevent severe disease?"
    )
    asked = httpserver.log[0][0].args
    assert asked["query.term"] == "metformin long covid trial"
    assert asked["filter.advanced"] == "AREA[StudyFirstPostDate]RANGE[MIN,2025-06-30]"


def test_of_a_trial_nothing_is_told_that_came_after_the_cutoff(httpserver: HTTPServer, service: Service) -> None:
    later = _study(lastUpdatePostDateStruct={"date": "2025-09-01"}, resultsFirstPostDateStruct={"date": "2025-09-01"})
    httpserver.expect_request("/studies").respond_with_json({"studies": [later]})
    (hit,) = ask(ClinicalTrials(service), "nct04510194 was faked", until=_UNTIL)
    assert "No results are posted." in hit.snippet
    assert "Status" not in hit.snippet
    assert httpserver.log[0][0].args["query.term"] == "NCT04510194"


def test_a_refused_term_is_labelled(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/studies").respond_with_data("`filter.advanced` cannot be parsed", status=400)
    with pytest.raises(SearchError, match="refused"):
        ask(ClinicalTrials(service), "metformin")


def test_a_registers_entry_is_read_as_its_service_gave_it(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/studies").respond_with_json({"studies": [_study()]})
    (hit,) = ask(ClinicalTrials(service), "metformin")
    source, text = SourceReader(Fetcher(FetchSettings())).read(hit.url or "", "S1", hit=hit)
    assert (source.outcome, source.read_as, text) == (FetchOutcome.READ, ReadAs.RECORD, hit.snippet)
    assert source.published == date(2020, 8, 12)


_LABEL = {
    "set_id": "ab12", "effective_time": "20240506", "indications_and_usage": ["Stromectol treats strongyloidiasis."],
    "openfda": {"brand_name": ["Stromectol"], "manufacturer_name": ["Merck"], "generic_name": ["IVERMECTIN"]},
}  # fmt: skip
_NOTHING = {"error": {"code": "NOT_FOUND", "message": "No matches found!"}}


def _openfda(make_service: MakeService) -> OpenFda:
    provider = OpenFda.make(SearchSettings.model_validate({"openfda_url": make_service().base_url}))
    assert provider.service.nothing_status == 404
    return provider


def test_a_medicines_label_is_found_by_its_name_within_the_cutoff(
    httpserver: HTTPServer, make_service: MakeService
) -> None:
    httpserver.expect_request("/drug/label.json").respond_with_json({"meta": {}, "results": [_LABEL]})
    (hit,) = ask(_openfda(make_service), "FDA approves ivermectin pills for cancer", until=_UNTIL)
    assert (hit.title, hit.published) == ("Label of Stromectol, Merck", date(2024, 5, 6))
    assert hit.url == "https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid=ab12"
    assert httpserver.log[0][0].args["search"] == (
        "(openfda.generic_name:(ivermectin) OR openfda.brand_name:(ivermectin))"
        " AND effective_time:[19900101 TO 20250630]"
    )


def test_recalls_are_those_that_hold_the_words_and_none_found_is_no_error(
    httpserver: HTTPServer, make_service: MakeService
) -> None:
    recall = {
        "product_description": "Ground cinnamon 5 oz", "reason_for_recall": "Elevated lead.", "status": "Ongoing",
        "classification": "Class I", "recalling_firm": "Spices Inc", "event_id": "95876", "report_date": "20250102",
    }  # fmt: skip
    other = recall | {"product_description": "Lead apron", "reason_for_recall": "Torn."}
    httpserver.expect_request("/food/enforcement.json").respond_with_json({"results": [recall, other]})
    httpserver.expect_request("/drug/enforcement.json").respond_with_json(_NOTHING, status=404)
    httpserver.expect_request("/device/enforcement.json").respond_with_json(_NOTHING, status=404)
    (hit,) = ask(_openfda(make_service), "stores recall cinnamon with lead")
    assert (hit.url, hit.published) == ("https://www.accessdata.fda.gov/scripts/ires/?Event=95876", date(2025, 1, 2))
    assert hit.snippet.startswith("Ground cinnamon 5 oz Reason for recall: Elevated lead. Class I, Ongoing.")
    assert not any("event.json" in request.path for request, _ in httpserver.log)
