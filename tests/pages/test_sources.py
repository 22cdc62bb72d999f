"""The sources on the Draft page: a row for each passage, the tick, and passages pasted by hand."""

from __future__ import annotations

from datetime import date

import pytest
from streamlit.proto.TextInput_pb2 import TextInput as TextInputProto

from crowdnotes.cases import actions, intake
from crowdnotes.domain import DateOrigin, Evidence, Mode, Post, Span, Verdict
from tests.fakes import make_evidence
from tests.pages.conftest import PASSAGE, POST, Desk, field, press, read, texts, unfolded
from tests.pages.searches import searched


def test_a_passage_must_be_opened_before_it_can_be_ticked(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(case)
    tick = f"use-{case.id}-E1"
    assert at.checkbox(key=tick).disabled
    assert all(item.key != f"otherwise-{case.id}-E1" for item in at.get("button_group"))
    assert desk.newest(case).evidence[0].reviews == ()
    assert "not opened" in texts(at)

    read(at, case)
    assert bool(desk.newest(case).evidence[0].reviews)
    assert not at.checkbox(key=tick).disabled
    assert "not opened" not in texts(at)

    at.checkbox(key=tick).check().run()
    assert desk.newest(case).used_evidence
    assert "1 of 1 opened, 1 used" in texts(at)

    at.checkbox(key=tick).uncheck().run()
    assert desk.newest(case).evidence[0].verdict is None


def test_a_row_says_how_its_passage_stands(desk: Desk) -> None:
    case, cases = desk.case(), desk.workspace.cases
    cases.apply(case.id, actions.open_passage, "E1")
    cases.apply(case.id, actions.judge, "E1", Verdict.BACKGROUND, "")
    shown = texts(desk.app(case))
    assert "gray-badge[:material/remove: read, not cited]" in shown
    assert "rejected]" not in shown
    cases.apply(case.id, actions.judge, "E1", Verdict.REJECT, "off topic")
    shown = texts(desk.app(case))
    assert "red-badge[:material/block: rejected]" in shown
    assert "read, not cited]" not in shown


def test_sources_that_do_not_fit_are_folded_under_an_honest_line_until_they_are_opened(desk: Desk) -> None:
    def far(number: int, similarity: float) -> Evidence:
        item = make_evidence(number, url=f"https://h{number}.example.org/x")
        passage = item.passage.replace(similarity=similarity)
        return item.replace(passage=passage)

    mixed = searched(desk, evidence=(far(1, 0.29), far(2, 0.6), far(3, 0.28)))
    at = desk.app(mixed)
    assert "2 sources probably not about this claim" in texts(at)
    assert at.button(key="next-source").label == "Read E2"
    read(at, mixed, "E1")
    assert "1 source probably not about this claim" in texts(at)

    assert "No sentence here is close to the post" in texts(at)
    assert "Highlighted" not in texts(at)
    assert "Highlighted: the sentences closest to the post" in texts(read(at, mixed, "E2"))

    weak = desk.app(searched(desk, evidence=(far(1, 0.29),)))
    assert "No page found seems to be about this claim" in texts(weak)
    assert "1 source probably not about this claim" in texts(weak)


def test_a_source_that_repeats_the_post_says_so_and_comes_after_the_others(desk: Desk) -> None:
    repeated = make_evidence(1, "A post claims that 5G masts cause COVID-19.", "https://h1.example.org/x")
    answered = make_evidence(2, "5G masts do not cause COVID-19.", "https://h2.example.org/x")
    case = searched(desk, evidence=(repeated, answered), post=Post(text="5G masts cause COVID-19."))
    at = desk.app(case)
    assert texts(at).count("Repeats the post and does not correct it.") == 1
    assert at.button(key="next-source").label == "Read E2"
    read(at, case, "E1")
    assert texts(at).count("Repeats the post and does not correct it.") == 2


def test_without_a_model_words_of_opinion_give_a_hint(desk: Desk) -> None:
    case = intake.create_case(
        desk.workspace.cases,
        "I think the new library is the ugliest building in town.",
        mode=Mode.AUGMENTATION,
        to_gather=False,
    )
    assert "may mean that this post is an opinion" in texts(desk.app(case))
    assert "may mean" not in texts(desk.app(desk.case()))


def test_a_row_does_not_say_its_title_twice(desk: Desk) -> None:
    case = desk.case()
    source = case.evidence[0].source
    first = case.evidence[0].passage.text.split(".")[0]
    item = case.evidence[0].replace(source=source.replace(title=first))
    desk.workspace.store.update(case.id, lambda case: case.replace(evidence=(item,)))
    assert f"**{first}**" not in texts(desk.app(case))


def test_a_row_shows_a_sentence_and_no_heading_or_question(desk: Desk) -> None:
    heading, question, answer = "Vitamin C and colds", "Does it cure colds?", "No trial found that it cures them."
    item = make_evidence(text=f"{heading}\n{question}\n{answer}")
    text = item.passage.text
    marks = tuple(Span(start=text.index(words), end=text.index(words) + len(words)) for words in (heading, question))
    last = Span(start=text.index(answer), end=len(text))

    def shown(*spans: Span) -> str:
        marked = item.replace(passage=item.passage.replace(marks=spans))
        return texts(desk.app(searched(desk, evidence=(marked,))))

    assert f":small[**Source 1** {answer}]" in shown(*marks, last)
    assert f":small[**Source 1** {heading}]" in shown(*marks)


def test_a_row_shows_the_statement_nearest_to_the_post_not_the_first_in_the_text(desk: Desk) -> None:
    early, answer = "A doctor looks at the history of each cold.", "No trial found that vitamin C cures colds."
    item = make_evidence(text=f"{early} {answer}")
    first, second = Span(start=0, end=len(early)), Span(start=len(early) + 1, end=len(item.passage.text))
    marked = item.replace(passage=item.passage.replace(marks=(first, second), key_sentences=(second, first)))
    assert f":small[**Source 1** {answer}]" in texts(desk.app(searched(desk, evidence=(marked,))))


def test_the_day_on_which_a_file_was_made_is_not_shown_as_the_date_of_what_it_holds(desk: Desk) -> None:
    item = make_evidence(published=date(2025, 7, 7))
    source = item.source.replace(date_origin=DateOrigin.FILE)
    case = searched(desk, evidence=(item.replace(source=source),))
    at = desk.app(case)
    read(at, case)
    assert "7 July 2025 (date of the file)" in texts(at)
    assert "(date from" not in texts(at)


def test_a_pasted_passage_that_cannot_be_taken_stays_typed_and_open(desk: Desk) -> None:
    case = desk.case()
    fold = f"paste-{case.id}-new"
    at = unfolded(desk.app(case), fold)
    field(at, "Title of the page").set_value("My title")
    press(at, "Add this text")
    assert "The text is empty." in texts(at)
    assert field(at, "Title of the page").value == "My title"

    field(at, "Text from the page").set_value("Words of a page on colds.")
    address = field(at, "Address of the page").set_value("not a link")
    assert address.proto.type == TextInputProto.DEFAULT, "a browser sends what is no address, so that it is told"
    press(at, "Add this text")
    assert "The text is empty." not in texts(at)
    assert "“not a link”" in texts(at)

    field(at, "Address of the page").set_value("")
    press(at, "Add this text")
    assert not at.exception
    assert desk.newest(case).evidence[-1].source.title == "My title"
    assert field(at, "Title of the page").value == "", "it waits for the next passage"
    assert "1 text added" in texts(at)
    unfolded(at, f"{fold}-1")
    assert field(at, "Title of the page").value == ""


def test_a_passage_without_a_link_warns_in_its_row_and_at_the_note(desk: Desk) -> None:
    cases = desk.workspace.cases
    case = intake.create_case(cases, POST, mode=Mode.AUGMENTATION)
    for url in (None, "https://trials.example.edu/c"):
        intake.add_passage_by_hand(cases, case.id, url=url, title="Trials", text=f"{PASSAGE} {url or ''}")
    for name in ("E1", "E2"):
        cases.apply(case.id, actions.open_passage, name)
    cases.apply(case.id, actions.judge, "E1", Verdict.USE, "")
    shown = texts(desk.app(case))
    assert shown.count("badge[:material/link_off: no link: X needs one]") == 1
    assert "X needs a link, and no source in use has one." in shown
    cases.apply(case.id, actions.judge, "E2", Verdict.USE, "")
    shown = texts(desk.app(case))
    assert "X needs a link, and" not in shown
    assert "No link: E1. Link to another source." in shown


@pytest.mark.parametrize("day", [None, date(2024, 1, 1)])
def test_a_source_in_use_without_a_date_is_worth_a_look(desk: Desk, day: date | None) -> None:
    case = desk.drafted("A note of my own. https://trials.example.edu/c")
    [item] = case.used_evidence
    dated = item.replace(source=item.source.replace(published=day))
    desk.changed(case, evidence=(dated,))
    assert ("E1 has no date. Does it still hold?" in texts(desk.app(case))) is (day is None)
