"""Registers: each answers as it documents it, and is asked only where the claim calls for it."""

from __future__ import annotations

import json
from datetime import date
from functools import partial
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crowdnotes.domain import FetchOutcome, ProviderState, ReadAs
from crowdnotes.errors import SearchError
from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.evidence.search import ONLINE, is_register, make_online, relevant_providers
from crowdnotes.evidence.search.clinical_trials import ClinicalTrials
from crowdnotes.evidence.search.medicines import DailyMed, OpenFda
from crowdnotes.evidence.search.news import CurrentEvents, Gdelt
from crowdnotes.evidence.search.papers import OpenAlex
from crowdnotes.evidence.search.run import search_all
from crowdnotes.evidence.search.service import Pacer, Service
from crowdnotes.evidence.search.when_to_ask import words_of
from crowdnotes.evidence.search.who import WhoIris, WhoOutbreaks
from crowdnotes.evidence.search.wikimedia import Wikidata
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.settings_sections import FetchSettings, SearchSettings
from tests.evidence.search.conftest import MakeService, ask
from tests.shared import HeldTime

_UNTIL = date(2025, 6, 30)


@pytest.mark.parametrize(
    ("claim", "asked"),
    [
        ("A phase 3 trial in China shows that it works.", {"clinical-trials"}),
        ("Ivermectin makes tumours vanish.", {"clinical-trials", "openfda", "dailymed"}),
        ("They had lead in the cinnamon, now recalled.", {"openfda", "current-events", "gdelt"}),
        ("La ivermectina cura el cáncer, dicen los médicos.", {"clinical-trials", "openfda", "dailymed"}),
        ("A Lancet paper was retracted.", {"openalex"}),
        ("They are pulling a cough syrup off the shelves.", {"openfda"}),
        ("An epidemic of measles, WHO warns.", {"who-outbreaks", "who-iris"}),
        ("The senator who said so has never been one.", {"wikidata"}),
        ("Trialogue on the drugstore's façade, recalibrated.", set()),
    ],
)
def test_a_register_is_asked_only_where_the_claim_speaks_of_what_it_registers(claim: str, asked: set[str]) -> None:
    online = make_online(SearchSettings())
    found = {one.name for one in relevant_providers(online, claim)}
    assert {name for name in found if is_register(name)} == asked
    assert {one.name for one in online if not is_register(one.name)} <= found


def test_whoever_chose_registers_alone_has_them_asked() -> None:
    alone = [one for one in make_online(SearchSettings()) if one.name == "clinical-trials"]
    assert relevant_providers(alone, "The moon is made of cheese.") == alone


def test_every_register_of_the_table_is_a_provider_and_names_are_found_by_their_ending() -> None:
    assert sum(is_register(kind.name) for kind in ONLINE) == 9
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


def test_dailymed_is_asked_for_the_medicines_that_are_named(httpserver: HTTPServer, service: Service) -> None:
    label = {"setid": "ab12", "title": "STROMECTOL (ivermectin) tablet", "published_date": "May 06, 2024"}
    httpserver.expect_request("/spls.json").respond_with_json({"data": [label], "metadata": {}})
    (hit,) = ask(DailyMed(service), "ivermectin cures cancer", until=_UNTIL)
    assert (hit.title, hit.published) == ("STROMECTOL (ivermectin) tablet", date(2024, 5, 6))
    assert hit.url == "https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid=ab12"
    asked = dict(httpserver.log[0][0].args)
    assert asked == {
        "drug_name": "ivermectin", "pagesize": "3", "published_date": "2025-06-30", "published_date_comparison": "lte",
    }  # fmt: skip
    with pytest.raises(SearchError, match="name no medicine"):
        ask(DailyMed(service), "chalk cures cancer")


def _work(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"https://openalex.org/W{number}", "doi": f"https://doi.org/10.1/{number}", "type": "article",
        "display_name": f"Work {number}", "publication_date": "1998-02-28", "is_retracted": False, **more,
    }  # fmt: skip


def test_a_study_is_told_to_be_retracted_and_what_replies_to_it_is_found(
    httpserver: HTTPServer, service: Service
) -> None:
    study = _work(1, is_retracted=True, abstract_inverted_index={"children": [1], "Twelve": [0]})
    httpserver.expect_request("/works", query_string={
        "search": "MMR Lancet study", "filter": "to_publication_date:2025-06-30", "per_page": "5",
        "select": "id,doi,display_name,publication_date,is_retracted,type,abstract_inverted_index",
    }).respond_with_json({"results": [study, _work(2)]})  # fmt: skip
    httpserver.expect_request("/works").respond_with_json({"results": [_work(3, type="retraction", is_retracted=True)]})
    hits = ask(OpenAlex(service), "MMR Lancet study", until=_UNTIL)
    assert [(hit.doi, hit.notices) for hit in hits] == [
        ("10.1/1", ("retracted",)), ("10.1/3", ("a retraction notice",)), ("10.1/2", ()),
    ]  # fmt: skip
    assert hits[0].snippet == "Twelve children"
    assert httpserver.log[1][0].args["filter"].startswith("cites:W1,type:erratum|retraction")


def test_openalex_whose_day_is_used_up_is_left_alone(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/works").respond_with_json({"error": "Rate limit exceeded"}, status=429)
    provider = OpenAlex.make(SearchSettings.model_validate({"openalex_url": httpserver.url_for("")}))
    for _ in range(2):
        with pytest.raises(SearchError) as raised:
            ask(provider, "measles study")
        assert raised.value.state is ProviderState.RATE_LIMITED
    assert len(httpserver.log) == 1


def test_an_outbreak_is_looked_up_by_its_disease(httpserver: HTTPServer, service: Service) -> None:
    report = {
        "Title": "Measles - United States of America", "UrlName": "2025-DON561",
        "PublicationDateAndTime": "2025-03-27T18:00:00Z", "Overview": "<p>301 cases&nbsp;were reported.</p>",
    }  # fmt: skip
    httpserver.expect_request("/").respond_with_json({"@odata.context": "…", "value": [report, {"Title": "x"}]})
    (hit,) = ask(WhoOutbreaks(service), "no measles outbreak in Texas", until=_UNTIL)
    assert (hit.url, hit.published) == (
        "https://www.who.int/emergencies/disease-outbreak-news/item/2025-DON561", date(2025, 3, 27),
    )  # fmt: skip
    assert hit.snippet == "301 cases were reported."
    asked = httpserver.log[0][0].args
    named = "contains(Title,'Measles') or contains(Title,'measles') or contains(Title,'MEASLES')"
    assert asked["$filter"] == f"({named}) and PublicationDateAndTime le 2025-06-30T23:59:59Z"
    with pytest.raises(SearchError, match="name none of its diseases"):
        ask(WhoOutbreaks(service), "outbreak of laughter")
    ask(WhoOutbreaks(service), "is the yellow fever outbreak real")
    assert "contains(Title,'Yellow Fever')" in httpserver.log[-1][0].args["$filter"]


@pytest.mark.parametrize("page", [25, 50, 100])
def test_the_newest_outbreaks_come_first_though_the_service_ignores_the_order(
    httpserver: HTTPServer, service: Service, page: int
) -> None:
    reports = [
        {"Title": "Measles", "UrlName": f"DON{number}", "PublicationDateAndTime": f"{1900 + number}-03-27T18:00:00Z"}
        for number in range(1, 121)
    ]

    def oldest_first(request: Request) -> Response:
        skipped = int(request.args.get("$skip", 0))
        found = [one for one in reports if one["PublicationDateAndTime"] <= "2010"]
        return Response(json.dumps({"value": found[skipped : skipped + page]}))

    httpserver.expect_request("/").respond_with_handler(oldest_first)
    hits = ask(WhoOutbreaks(service), "no measles outbreak in Texas", until=date(2009, 12, 31))
    assert [hit.published for hit in hits] == [date(year, 3, 27) for year in (2009, 2008, 2007, 2006, 2005)]


def test_reports_that_were_not_looked_at_are_named(httpserver: HTTPServer, service: Service) -> None:
    def oldest_first(request: Request) -> Response:
        skipped = int(request.args.get("$skip", 0))
        reports = [
            {"Title": "Measles", "UrlName": f"DON{number}", "PublicationDateAndTime": f"{1500 + number}-03-27"}
            for number in range(skipped, skipped + 20)
        ]
        return Response(json.dumps({"value": reports}))

    httpserver.expect_request("/").respond_with_handler(oldest_first)
    found = search_all([WhoOutbreaks(service)], ["no measles outbreak in Texas"])
    (outcome,) = found.outcomes
    assert (outcome.state, len(found.hits)) == (ProviderState.ANSWERED, 10)
    assert outcome.sentence.startswith("It has over 300 reports on measles")


def test_a_service_that_sorts_is_asked_once_and_one_that_repeats_itself_not_for_ever(
    httpserver: HTTPServer, service: Service
) -> None:
    reports = [
        {"Title": "Measles", "UrlName": f"DON{number}", "PublicationDateAndTime": f"{2020 - number}-03-27T18:00:00Z"}
        for number in range(60)
    ]
    httpserver.expect_request("/").respond_with_json({"value": reports})
    ask(WhoOutbreaks(service), "a measles outbreak")
    assert len(httpserver.log) == 1
    httpserver.clear()
    httpserver.expect_request("/").respond_with_json({"value": reports[::-1]})
    assert ask(WhoOutbreaks(service), "a measles outbreak")[0].published == date(2020, 3, 27)
    assert len(httpserver.log) == 2


def test_clinicaltrials_that_lets_nobody_in_says_what_to_do_instead(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/studies").respond_with_data("<html>Forbidden</html>", status=403)
    with pytest.raises(SearchError, match="in your browser") as raised:
        ask(ClinicalTrials(service), "measles trial")
    assert raised.value.state is ProviderState.FAILED


def test_a_publication_of_iris_keeps_to_the_cutoff_by_what_it_states(httpserver: HTTPServer, service: Service) -> None:
    def found(handle: str, issued: str) -> dict[str, Any]:
        fields = {"dc.title": "Guideline", "dc.date.issued": issued, "dc.description.abstract": "On sugars."}
        item = {"handle": handle, "name": "x", "metadata": {name: [{"value": value}] for name, value in fields.items()}}
        return {"_embedded": {"indexableObject": item}}

    objects = [found("10665/1", "2015"), found("10665/2", "2025-07"), found("10665/3", "2023-05-15"), {}]
    answer = {"_embedded": {"searchResult": {"_embedded": {"objects": objects}}}}
    httpserver.expect_request("/discover/search/objects").respond_with_json(answer)
    hits = ask(WhoIris(service), "WHO guideline sugars", until=_UNTIL)
    assert [(hit.url, hit.published) for hit in hits] == [
        ("https://iris.who.int/handle/10665/1", None), ("https://iris.who.int/handle/10665/3", date(2023, 5, 15)),
    ]  # fmt: skip


def _time(day: str, precision: int = 11) -> dict[str, Any]:
    return {"datavalue": {"value": {"time": f"+{day}T00:00:00Z", "precision": precision}}}


def test_a_persons_dates_and_offices_are_told_up_to_the_cutoff(httpserver: HTTPServer, service: Service) -> None:
    office = {
        "mainsnak": {"datavalue": {"value": {"id": "Q30"}}},
        "qualifiers": {"P580": [_time("1984-00-00", 9)], "P582": [_time("2026-01-01")]},
    }
    later = {"mainsnak": {"datavalue": {"value": {"id": "Q30"}}}, "qualifiers": {"P580": [_time("2026-02-01")]}}
    person = {
        "labels": {"en": {"value": "Jo Doe"}}, "descriptions": {"en": {"value": "immunologist"}},
        "claims": {
            "P569": [{"mainsnak": _time("1940-12-24")}], "P570": [{"mainsnak": _time("2025-12-01")}],
            "P39": [office, later],
        },
    }  # fmt: skip
    place = {"labels": {"en": {"value": "director"}}}

    def answer(request: Request) -> Response:
        if request.args["action"] == "wbsearchentities":
            return Response(json.dumps({"search": [{"id": "Q1"}] if request.args["search"] == "Jo Doe" else []}))
        return Response(json.dumps({"entities": {"Q1": person, "Q30": place}}))

    httpserver.expect_request("/api.php").respond_with_handler(answer)
    (hit,) = ask(Wikidata(service), "Did Jo Doe die in office?", until=_UNTIL)
    assert (hit.title, hit.url, hit.published) == ("Jo Doe (Q1)", "https://www.wikidata.org/wiki/Q1", None)
    assert hit.snippet == "Jo Doe: immunologist. Born: 1940-12-24. Position held: director from 1984."
    with pytest.raises(SearchError, match="name no person or body") as error:
        ask(Wikidata(service), "did nobody die in office?")
    assert error.value.state is ProviderState.NOT_ASKED


_REUTERS, _BBC = "[https://www.reuters.com/a (Reuters)]", "[https://www.bbc.co.uk/b (BBC)]"
_DAY = f"""{{{{Current events|year=2025|month=06|day=12|content=
<!-- All news items below this line -->
;Disasters and accidents
*[[Air India Flight 171]]
**A [[Boeing 787|Boeing 787]] of [[Air India]] crashes in [[Ahmedabad]], killing '''241''' people. {_REUTERS} {_BBC}
;Health and environment
*The [[Food and Drug Administration]] recalls cinnamon. [https://www.fda.gov/r (FDA)]
*A line [http://10.0.0.1/x (Inside)] that is private recalls cinnamon too.
<!-- All news items above this line -->|}}}}"""


def _events(httpserver: HTTPServer, wikitext: str) -> None:
    def answer(request: Request) -> Response:
        if request.args.get("list") == "search":
            return Response(json.dumps({"query": {"search": [{"title": "Portal:Current events/2025 June 12"}]}}))
        there = {"revisions": [{"slots": {"main": {"content": wikitext}}}]}
        titles = request.args["titles"].split("|")
        pages = [
            {"title": title} | (there if title.endswith("2025 June 12") else {"missing": True}) for title in titles
        ]
        return Response(json.dumps({"query": {"pages": pages}}))

    httpserver.expect_request("/api.php").respond_with_handler(answer)


def test_a_day_of_current_events_leads_to_the_news_that_tells_of_it(httpserver: HTTPServer, service: Service) -> None:
    _events(httpserver, _DAY)
    (crash,) = ask(CurrentEvents(service), "an Air India plane crashed on June 12, 2025", until=_UNTIL)
    assert (crash.url, crash.published) == ("https://www.reuters.com/a", date(2025, 6, 12))
    assert crash.snippet == "A Boeing 787 of Air India crashes in Ahmedabad, killing 241 people."
    assert crash.title.startswith("Air India Flight 171: ")
    (recall,) = ask(CurrentEvents(service), "cinnamon recalled", until=_UNTIL)
    assert recall.url == "https://www.fda.gov/r"
    asked = [request.args for request, _ in httpserver.log]
    assert (asked[0]["srnamespace"], asked[0]["list"]) == ("100", "search")
    assert asked[1]["titles"].startswith("Portal:Current events/2025 June 12|Portal:Current events/2025 June 30|")


def test_days_after_the_cutoff_are_not_asked_for_and_one_shared_word_is_too_few(
    httpserver: HTTPServer, service: Service
) -> None:
    _events(httpserver, _DAY)
    assert ask(CurrentEvents(service), "cinnamon recalled", until=date(2025, 6, 11)) == []
    assert not any("June 12" in request.args.get("titles", "") for request, _ in httpserver.log)
    assert ask(CurrentEvents(service), "India says it is fine", until=_UNTIL) == []


@pytest.mark.parametrize("wikitext", ["", "*" * 5_000, "*[https://a.org/x y", "**[https://a.org/x (A)]", "{{" * 500])
def test_whatever_stands_on_a_day_page_nothing_breaks(httpserver: HTTPServer, service: Service, wikitext: str) -> None:
    _events(httpserver, wikitext)
    assert ask(CurrentEvents(service), "cinnamon recalled", until=_UNTIL) == []


def _gdelt(httpserver: HTTPServer, path: str) -> Gdelt:
    """An address of its own for each test: whoever asks one address shares its pause."""
    return Gdelt.make(SearchSettings.model_validate({"gdelt_url": httpserver.url_for(path)}))


def test_a_second_search_of_gdelt_in_a_row_learns_that_it_has_to_wait(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = HeldTime()
    held = partial(Pacer, clock=clock.monotonic, sleep=clock.sleep)
    monkeypatch.setattr("crowdnotes.evidence.search.service.Pacer", held)
    httpserver.expect_request("/twice").respond_with_json({})
    ask(_gdelt(httpserver, "/twice"), "pope hospital")
    with pytest.raises(SearchError, match="one request every 6 seconds: search again in") as raised:
        ask(_gdelt(httpserver, "/twice"), "pope rome")
    assert "too often" not in raised.value.message
    clock.now += 5.5
    ask(_gdelt(httpserver, "/twice"), "pope rome")


def test_news_is_asked_for_in_its_language_and_within_the_cutoff(httpserver: HTTPServer) -> None:
    article = {"url": "https://n.org/1", "title": "Pope in hospital", "seendate": "20250620T101500Z", "domain": "n.org"}
    httpserver.expect_request("/some").respond_with_json({"articles": [article]})
    (hit,) = ask(_gdelt(httpserver, "/some"), "the Pope is in hospital", until=_UNTIL, language="es")
    assert (hit.title, hit.published) == ("Pope in hospital", date(2025, 6, 20))
    asked = httpserver.log[0][0].args
    assert (asked["query"], asked["enddatetime"]) == ("pope hospital sourcelang:spanish", "20250630235959")


@pytest.mark.parametrize(("status", "body"), [(429, "Please limit requests"), (200, "Please limit requests to one")])
def test_gdelt_that_is_busy_is_asked_once_and_then_left_alone(httpserver: HTTPServer, status: int, body: str) -> None:
    httpserver.expect_request(f"/{status}").respond_with_data(body, status=status)
    for _ in range(2):
        with pytest.raises(SearchError) as raised:
            ask(_gdelt(httpserver, f"/{status}"), "pope hospital")
        assert raised.value.state is ProviderState.RATE_LIMITED
    assert len(httpserver.log) == 1


@pytest.mark.parametrize(
    "body", ["The specified phrase is too short.", "\ufeff\n Queries containing OR'd terms must be surrounded by ()."]
)
def test_gdelt_that_refuses_a_search_is_quoted(httpserver: HTTPServer, body: str) -> None:
    where = f"/quoted{len(body)}"
    httpserver.expect_request(where).respond_with_data(body)
    with pytest.raises(SearchError) as raised:
        ask(_gdelt(httpserver, where), "pope hospital")
    assert raised.value.state is ProviderState.FAILED
    assert body.strip("\ufeff\n ") in raised.value.message


@pytest.mark.parametrize(
    ("title", "read"),
    [
        (rb"A \'study\' says no \- is it\?", "A 'study' says no - is it?"),
        (rb"in C:\Windows \\ or \u00e9", "in C:\\Windows \\ or é"),
        (b"a\ttab and a\nbreak", "a tab and a break"),
        (b'an "open" mark', None),
        (b"a byte \xff", "a byte �"),
    ],
)
@pytest.mark.parametrize("end", [b"]}", b""])
def test_one_bad_title_does_not_lose_the_news(
    httpserver: HTTPServer, title: bytes, read: str | None, end: bytes
) -> None:
    where = f"/bad{title.hex()}{len(end)}"
    body = b'{"articles": [ { "url": "https://n.org/1", "title": "%b" }, {"url": "https://n.org/2", "title": "B"} %b'
    httpserver.expect_request(where).respond_with_data(body % (title, end))
    found = [hit.title for hit in ask(_gdelt(httpserver, where), "pope hospital")]
    assert found == ([read, "B"] if read else ["B"])


def test_news_of_which_there_is_none_is_no_error(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/none").respond_with_json({})
    assert ask(_gdelt(httpserver, "/none"), "pope hospital") == []
