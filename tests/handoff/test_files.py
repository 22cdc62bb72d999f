"""What leaves the program says what the case holds, and nothing in it runs anywhere."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Decision, DecisionKind, Draft, Event, Override, Post, Verdict
from crowdnotes.handoff import cases_csv, form_labels, post_url, to_json, to_markdown
from crowdnotes.testing import make_case, make_evidence

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
NOTE = "According to Example Health, no link was found. https://health.example.org/review"


def _decided(**changes: object):  # type: ignore[no-untyped-def]
    decision = Decision(
        kind=DecisionKind.APPROVED,
        by="ann",
        at=AT,
        overrides=(Override(check="correctness", reason="their own words"),),
    )
    return make_case(
        evidence=(make_evidence(1, opened_at=AT, verdict=Verdict.USE, reason="plain"),),
        draft=Draft(text=NOTE, evidence_ids=("E1",), engine="person", written_at=AT),
        tags=("misleadingFactualError",),
        decision=decision,
    ).model_copy(update=changes)


def test_markdown_holds_note_evidence_tags_decision_and_override() -> None:
    page = to_markdown(_decided())
    for part in (
        NOTE,
        "It contains a factual error",
        "https://health.example.org/review",
        "their own words",
        "approved",
    ):
        assert part in page


def test_json_is_the_whole_case() -> None:
    case = _decided()
    assert type(case).model_validate(json.loads(to_json(case))) == case


def test_outside_text_stays_text_in_markdown() -> None:
    nasty = "# Not a heading\n```\n<script>alert(1)</script> ![x](http://evil.example/p.png)"
    page = to_markdown(_decided(post=Post(text=nasty)))
    assert f"````text\n{nasty}\n````" in page


def test_an_address_is_shown_as_it_is_and_never_as_markup() -> None:
    nasty = "https://x.com/<img/src=x/onerror=alert(1)>"
    item = make_evidence(1, opened_at=AT, verdict=Verdict.USE)
    item = item.model_copy(update={"source": item.source.model_copy(update={"url": f"{nasty}`b`"})})
    page = to_markdown(_decided(post=Post(text="a", url=nasty), evidence=(item,)))
    assert f"\n`{nasty}`\n" in page
    assert f"\n`` {nasty}`b` ``\n" in page
    assert page.count("<img") == 2


def test_names_in_the_audit_trail_are_escaped() -> None:
    event = Event(at=AT, by="<b>ann</b>", kind="decided")
    assert r"\<b\>ann" in to_markdown(_decided(events=(event,)))


def test_csv_has_a_row_a_case_and_defuses_formulas() -> None:
    rows = list(csv.DictReader(io.StringIO(cases_csv([_decided(post=Post(text='=HYPERLINK("http://evil")'))]))))
    assert len(rows) == 1
    assert rows[0]["post"].startswith("'=")
    assert rows[0]["decision"] == "approved"
    assert rows[0]["overrides"] == "correctness: their own words"


@given(st.text(max_size=80))
def test_no_cell_begins_like_a_formula_and_no_text_is_lost(text: str) -> None:
    case = make_case(post=Post(text=text))
    (row,) = csv.DictReader(io.StringIO(cases_csv([case]), newline=""))
    assert row["post"][:1] not in {"=", "+", "-", "@", "\t", "\r"} or row["post"] == ""
    assert row["post"].removeprefix("'") in {text, text.removeprefix("'")}


def test_labels_are_those_of_xs_form_in_its_order() -> None:
    case = make_case(tags=("misleadingSatire", "misleadingFactualError"))
    assert form_labels(case) == [
        "It contains a factual error",
        "It is a joke or satire that might be misinterpreted as a fact",
    ]


def test_only_an_address_on_x_is_opened_as_the_post() -> None:
    assert post_url(make_case(post=Post(text="a", url="https://x.com/a/status/1"))) == "https://x.com/a/status/1"
    for url in (None, "https://x.com.evil.example/a", "javascript:alert(1)", "https://evil.example/x.com"):
        assert post_url(make_case(post=Post(text="a", url=url))) is None
