"""The left pane of the Draft page: the claim, its sources as rows, the reader, and the search report.

Where no source settles the claim, it also says what was searched, what came nearest, and where else to look.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from functools import partial

import streamlit as st

from crowdnotes.cases import case_findings, follow_up_stages, intake
from crowdnotes.cases.unsettled_claims import manual_search_of
from crowdnotes.domain import (
    Aim,
    Case,
    ClaimKind,
    Evidence,
    FetchOutcome,
    FollowUpKind,
    ManualSearch,
    Mode,
    Points,
    ProviderState,
    Source,
    SourceCategory,
    StageName,
    Verdict,
    seems_offline,
)
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.text.markdown import clip, escaped, exact, host, title
from crowdnotes.wording import fill, plural
from pages.common.components import badge, passage_words, source_name, web_link
from pages.common.layout import Area, StepName, area, card_place, next_area_button, notices_of_gone_cards
from pages.common.progress import gather_anew, job_panel, under_way
from pages.common.search_report import (
    already_checked,
    count_failed,
    earlier_notes,
    failed_searches,
    origin_badges,
    search_report,
    source_badges,
)
from pages.common.session import button, cases, notices, own_review, workspace
from pages.common.where_to_look import add_sources, offer_libraries, reading_services_caption, try_through
from pages.draft_parts.more_evidence import (
    add_by_hand,
    ask_again,
    begun_by_hand,
    earlier_evidence,
    follow_up_result,
    other_side,
    paste_box,
)
from pages.draft_parts.no_evidence import no_evidence
from pages.draft_parts.reader import (
    chosen_source,
    in_reading_order,
    is_weak,
    read_source,
    reader,
    repetition_line,
    use_tick,
)

_NOTICE_AREA = StepName.EVIDENCE.value
_MAX_STATEMENT_CHARACTERS = 400


def _find_manual_search(
    case: Case, *, even_if_settled: bool = False, search_failed: bool = False
) -> ManualSearch | None:
    opened = workspace()
    return manual_search_of(
        case,
        opened.settings.allowed_private_hosts,
        nothing_relevant=case_findings.nothing_relevant(case, opened.embedder.thresholds.relevant),
        even_if_settled=even_if_settled,
        search_failed=search_failed,
    )


def _draw_manual_search(case: Case, job: JobRecord | None, manual: ManualSearch) -> None:
    """Draw what was searched, the closest source, where to search by hand, and a box for what was found."""
    with st.container(border=True, key="reach", gap="xsmall"):
        # Without a passage the result is shown above.
        head = "No source settles the claim. Look for one yourself." if case.evidence else "Look for a source yourself"
        st.markdown(f"**:material/travel_explore: {head}**")
        wanted = [f"Look for: {escaped(manual.wanted, _MAX_STATEMENT_CHARACTERS)}"] if manual.wanted else []
        st.markdown("  \n".join(f":small[{line}]" for line in [*wanted, *_describe_search(case)]))
        if near := manual.nearest:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.markdown(":small[Closest source:]", width="content")
                name = f"{near.id} {title(near.source.title, 'No title', 70)}"
                button(name, "nearest", card_place(near.id), partial(read_source, case, near.id), type="tertiary")
        _draw_places_to_look(manual)
        add_by_hand(case, job, "Add what you found")


def _draw_places_to_look(manual: ManualSearch) -> None:
    with st.container(horizontal=True, gap="xsmall", key="places-to-look"):
        for name, link in manual.places:
            web_link(name, link)


def _describe_search(case: Case) -> list[str]:
    """Return what was asked where, and who gave no answer: a sentence each."""
    if case.mode is Mode.AUGMENTATION:
        return ["We read only your links."]
    if not case.searched:  # it failed: the page says so above
        return []
    asked = [item for item in case.outcomes if item.state is not ProviderState.NOT_CONFIGURED]
    silent = [item.label for item in asked if item.gave_no_answer]
    there = [item.label for item in asked if item.state is ProviderState.ANSWERED]
    searches = (case.queries, *(later.queries for later in case.follow_ups))
    n = len({query.text for queries in searches for query in queries})
    if not n:
        return ["The post gave no search words."]
    sentences = []
    if there:
        places = escaped(", ".join(there), _MAX_STATEMENT_CHARACTERS)
        sentences.append(plural(n, "{n} search in {places}.", "{n} searches in {places}.", places=places))
    if silent:
        sentences.append(f"No answer from {escaped(', '.join(silent), _MAX_STATEMENT_CHARACTERS)}.")
    return sentences


_MAX_TITLE_CHARACTERS, _MAX_ROW_CHARACTERS = (
    70,
    210,
)  # characters of a page's title and of the sentence in a row: together three lines
_LABEL_BY_UNCHECKABLE_KIND = {
    ClaimKind.OPINION: "an opinion",
    ClaimKind.SATIRE: "satire",
    ClaimKind.PREDICTION: "a prediction",
    ClaimKind.PERSONAL: "a personal story",
}


def sources_pane(case: Case, job: JobRecord | None) -> None:
    """Draw the pane."""
    with area(Area.SOURCES):
        notices(_NOTICE_AREA)
        notices_of_gone_cards(case)
        failed = job is not None and job.kind == "gather" and job.state is JobState.FAILED
        if job is not None and failed and _has_source_since(case, job.updated_at):
            failed = False  # the failure is past
        else:
            job_panel(case, job, "gather")
        job_panel(case, job, "whole")
        job_panel(case, job, "follow_up")
        follow_up_result(case, job)
        offline = _is_offline(case) and not under_way(job)
        if offline:
            answered = (it for it in case.outcomes if it.is_of_library and it.state is ProviderState.ANSWERED)
            libraries = [f"{escaped(it.label)} answered: {it.found} found." for it in answered]
            st.warning(
                " ".join(["You seem to be offline.", *libraries, "To search again, open “Find more sources”."]),
                title=f"{count_failed(case, failed_searches(case))}.",
                icon=":material/wifi_off:",
            )
        if (failed or offline) and case.decision is None and case.mode is Mode.AUTOMATION:
            offer_libraries(case, busy=under_way(job))
        already_checked(case)
        manual = _find_manual_search(case, search_failed=failed)
        _draw_claim(case, job, manual)
        if case.evidence or case.taken_away or case.decision is None:
            _draw_source_rows(case, job, manual)
        if not case.evidence:
            no_evidence(case, job)
        if manual is not None:
            _draw_manual_search(case, job, manual)
        _draw_search_fold(case, job, manual)
        reader(case, job)
        _draw_folded_sections(case, job)
        if case.used_evidence and case.decision is None:
            next_area_button(Area.NOTE, "Go to the note")


def _is_offline(case: Case) -> bool:
    """Return whether no service answered the newest search of an open case, and nobody added a source since."""
    if case.decision is not None or not case.searched or not seems_offline(case.outcomes):
        return False
    return not _has_source_since(case, max(it.finished_at for it in case.stages if it.name is StageName.SEARCH))


def _has_source_since(case: Case, since: datetime) -> bool:
    """Return whether a person pasted a text, or added a link that could be read, after a search had ended."""
    read = (asked.finished_at for asked in case.follow_ups if asked.kind is FollowUpKind.LINK and asked.added)
    pasted = (event.at for event in case.events if event.kind == "passage copied in")
    return any(at is not None and at >= since for at in (*read, *pasted))


def tally(case: Case) -> str:
    """Return how far the reading is: "2 of 6 opened, 1 used"."""
    opened = sum(own_review(item) is not None for item in case.evidence)
    return f"{opened} of {len(case.evidence)} opened, {len(case.used_evidence)} used"


def _draw_claim(case: Case, job: JobRecord | None, manual: ManualSearch | None) -> None:
    """Draw the claim in full words, and how far the passages settle it, behind a doubt whether raters want a note."""
    claims = [claim for claim in case.claims if claim.statement]
    with st.container(key="claim", gap="xxsmall"):
        _ask_whether_wanted(case, job)
        if not claims or claims[0].kind is not ClaimKind.CHECKABLE:
            return
        claim = claims[0]
        others = [f":small[**Also:** {escaped(other.statement, _MAX_STATEMENT_CHARACTERS)}]" for other in claims[1:]]
        main = f"**Claim:** {escaped(claim.statement, _MAX_STATEMENT_CHARACTERS)}"
        st.markdown("  \n".join([main, *others]))
        _draw_settlement(case, manual)
        about = [
            fill(name, words=escaped(words, _MAX_STATEMENT_CHARACTERS))
            for name, words in (
                ("It implies: {words}", claim.implies),
                ("Where to look: {words}", claim.settled_by),
            )
            if words
        ]
        about += [f"Since: {claim.since_when}"] if claim.since else []
        if about:
            with st.expander("More about the claim", type="compact"):
                st.caption("  \n".join(about))


def _ask_whether_wanted(case: Case, job: JobRecord | None) -> None:
    """Draw why raters may want no note, with the way to write one all the same; nothing once the person has said so."""
    if case.decision is not None or case.anyway:
        return
    wanted, hint = case.wanted, case_findings.uncheckable_words(case)
    claim = next((claim for claim in case.claims if claim.statement), None)
    why = ""
    if wanted is not None and wanted.is_doubtful and wanted.why_not is not None:
        title = f"Raters may not want a note: it looks like {wanted.why_not.as_text}."
        why = escaped(wanted.reason, _MAX_STATEMENT_CHARACTERS)
    elif claim is not None and claim.kind is not ClaimKind.CHECKABLE:
        title = f"The AI reads this post as {_LABEL_BY_UNCHECKABLE_KIND[claim.kind]}."
    elif hint is not None:
        kind, words = hint
        title = f"The words “{escaped(words, 40)}” may mean that this post is {_LABEL_BY_UNCHECKABLE_KIND[kind]}."
    else:
        return
    held = " Nothing was searched yet." if case.unwanted is not None else ""
    st.info(f"{why} If you agree, decide “No note needed”.{held}".strip(), title=title, icon=":material/help:")
    write = partial(_write_anyway, case)
    button("Write a note anyway", "write-anyway", _NOTICE_AREA, write, icon="edit_note", disabled=under_way(job))
    if case.draft is None:  # else the note's area leads there
        next_area_button(Area.DECIDE, "Go to the decision")


def _write_anyway(case: Case) -> None:
    saved = cases().apply(case.id, intake.write_anyway)
    if case.unwanted is not None or (case.mode is Mode.AUTOMATION and not case.queries):
        gather_anew(saved)


_VERBS_BY_POINTS = (
    (Points.AGAINST, "contradicts", "contradict"),
    (Points.FOR, "confirms", "confirm"),
    (Points.NEITHER, "settles", "settle"),
)


def _draw_settlement(case: Case, manual: ManualSearch | None) -> None:
    evidence = case.judging_evidence
    if case.settlement is None or not evidence:
        return
    found, counted, verdicts = case.settlement.stated(evidence, claim=1), set[str](), list[str]()
    for points, one, several in _VERBS_BY_POINTS:
        ids = {item.id for item, answer in found if answer.points is points} - counted
        counted |= ids
        if ids:
            of, what = (
                (f"{len(ids)} of {len(evidence)} sources", "this claim") if not verdicts else (str(len(ids)), "it")
            )
            verdicts.append(f"{of} {one if len(ids) == 1 else several} {what}")
    if verdicts:
        st.markdown(f":green-badge[:material/check: The AI says {', '.join(verdicts)}]")
        return
    helping = len(case.settlement.answers(evidence))
    helps = plural(helping, "{n} helps to judge it", "{n} help to judge it") if helping else "none helps to judge it"
    if other := {item.id for item, _ in case.settlement.stated(evidence)}:
        helps = plural(len(other), "{n} settles another claim of the post", "{n} settle another claim of the post")
    missing = case.settlement.missing if manual is None else ""  # else `_draw_manual_search` shows it
    said = f" :small[Where to look: {escaped(missing, _MAX_STATEMENT_CHARACTERS)}]" if missing else ""
    st.markdown(f":orange-badge[:material/search_off: The AI says no source settles this claim; {helps}]{said}")


def _draw_source_rows(case: Case, job: JobRecord | None, manual: ManualSearch | None) -> None:
    """Draw a row for each passage; those that may speak for the post's claim are separate, under their own heading."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="sources-head"):
        st.header("Sources", anchor=False, width="content")
        if case.evidence:
            st.markdown(f":gray[{tally(case)}]", width="content")
        if case.decision is None:
            st.space("stretch")
            if manual is None:  # else `_draw_manual_search` has this button
                add_by_hand(case, job)
    if case.decision is None and case_findings.nothing_relevant(case, workspace().embedder.thresholds.relevant):
        st.info(
            "Search with your own words under “Find more sources”, or add a source.",
            title="No page found seems to be about this claim",
            icon=":material/search_off:",
        )
    items = in_reading_order(case)
    weak = [item for item in items if is_weak(case, item)]
    with st.container(key="rows", gap=None):
        for item in items:
            if item.aim is not Aim.OTHER_SIDE and item not in weak:
                _draw_source_row(case, item)
        if weak:
            label = plural(
                len(weak),
                "{n} source probably not about this claim",
                "{n} sources probably not about this claim",
            )
            with st.expander(label, key=f"weak-{case.id}", type="compact"):
                for item in weak:
                    _draw_source_row(case, item)
        if any(item.aim is Aim.OTHER_SIDE for item in items):
            with st.container(key="other-side", gap=None):
                st.markdown("**:material/balance: The other side** :small[:gray[May support the post]]")
                for item in items:
                    if item.aim is Aim.OTHER_SIDE:
                        _draw_source_row(case, item)
    if case.taken_away:
        gone = plural(
            len(case.taken_away),
            "{n} source removed: see “Earlier sources” below.",
            "{n} sources removed: see “Earlier sources” below.",
        )
        st.caption(f":material/history: {gone}")


_LABEL_BY_CATEGORY = {SourceCategory.OTHER: "other website"}
_BADGE_BY_VERDICT = {
    Verdict.BACKGROUND: (":gray-badge[:material/remove: {}]", Verdict.BACKGROUND.as_text),
    Verdict.REJECT: (":red-badge[:material/block: {}]", "rejected"),
}


def _draw_source_row(case: Case, item: Evidence) -> None:
    """Draw what it is, the one sentence that matters, and the tick; choosing it opens it in the reader."""
    key, source = f"{case.id}-{item.id}", item.source
    here = chosen_source(case) == item.id
    # The name holds its state, for page.css.
    with st.container(key=f"row-{item.id}{'-here' if here else ''}", gap=None):
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            kind = _LABEL_BY_CATEGORY.get(source.category, source.category.as_text)
            when = str(source.year or "no date")
            name = escaped(source_name(source), 44)
            label = f"**{item.id}** {name} :gray[:small[· {escaped(kind)} · {when}]]"
            read = partial(read_source, case, item.id)
            button(label, f"read-{key}", card_place(item.id), read, type="tertiary", width="stretch")
            if badges := _build_reading_badges(case, item).strip():
                st.markdown(badges, width="content")
            use_tick(case, item, f"use-{key}")
        origin = " ".join(origin_badges(source, case.post, short=True))
        sentence = _pick_sentence(case, item)
        has_title = source.title not in ("", source.url, source_name(source))
        is_shown = has_title and not _is_title_repeated(sentence, source.title)
        page = f"**{escaped(source.title, _MAX_TITLE_CHARACTERS)}**" if is_shown else ""
        st.markdown(f"{origin} :small[{page} {escaped(sentence, _MAX_ROW_CHARACTERS)}]".strip())
        repetition_line(case, item)


def _is_title_repeated(sentence: str, title: str) -> bool:
    """Return whether the words of a page's title begin its sentence, or are all that it has of them."""
    first, name = (" ".join(words.casefold().rstrip(".… ").split()) for words in (sentence, title))
    return first.startswith(name) or name.startswith(first)


def _build_reading_badges(case: Case, item: Evidence) -> str:
    """Markdown of what must be seen before it is opened, and how far its reading is."""
    marks = source_badges(item.source, case.post, case.until, graves_only=True)
    own, counts = own_review(item), item.working
    if counts is not None and (own is None or counts.verdict is not own.verdict):  # another reader's, for the note
        about = {"name": escaped(counts.reader.name, 40), "verdict": item.verdict.as_text if item.verdict else ""}
        marks += f" :blue-badge[{fill('{name} chose: {verdict}', **about)}]"
    if own is None:
        return f"{marks} :gray-badge[not opened]"
    look, name = _BADGE_BY_VERDICT.get(own.verdict, ("", "")) if own.verdict else ("", "")
    return f"{marks} {look.format(name) if name else ''}"


_STATEMENT_ENDS = (".", "!", "\u2026", "\u3002", "\uff01", "\u0964", "\u06d4")


def _pick_sentence(case: Case, item: Evidence) -> str:
    """Return the words that answer the claim, as the model says, else the first statement of those nearest to the post.

    A heading or a question is often as near, and states nothing. Key sentences are sorted by how near they are, marks
    by their place in the text: of 86 passages whose answer is known, the first was the answer in 41 and 31.
    """
    found = case.settlement.all_of(item) if case.settlement is not None else []
    answers = [passage_words(item.passage, answer.span) for answer in found if answer.span is not None]
    nearest = item.passage.key_sentences or item.passage.marks
    marked = [passage_words(item.passage, span) for span in nearest]
    stated = [words for words in marked if words.rstrip(" \"'\u201d\u2019)]").endswith(_STATEMENT_ENDS)]
    return clip(next(iter(answers or stated or marked), item.passage.text), _MAX_ROW_CHARACTERS)


def _draw_folded_sections(case: Case, job: JobRecord | None) -> None:
    """Folded: what could not be read, how it was searched, and earlier evidence."""
    _draw_failed_sources(case, job)
    search_report(case, partial(ask_again, case, job))
    earlier_notes(case)
    earlier_evidence(case, job)


def _draw_search_fold(case: Case, job: JobRecord | None, manual: ManualSearch | None) -> None:
    """Folded: every way to look for more: another search, one for the other side, and places to look by hand."""
    if case.decision is not None:
        return
    fold = st.expander(
        "Find more sources" if case.stages or case.evidence else "Find sources",
        key=f"more-{case.id}",
        icon=":material/travel_explore:",
        on_change="rerun",
        expanded=not (case.evidence or case.stages or case.recorded_answers or begun_by_hand(case)),
    )
    if not fold.open:
        return
    with fold:
        add_sources(case, job)
        if case.stages or case.evidence:
            other_side(case, job)
        by_hand = None if manual is not None else _find_manual_search(case, even_if_settled=True)
        if by_hand is not None:
            st.markdown("**Or look yourself**, then choose “Add a source”")
            _draw_places_to_look(by_hand)


def _draw_failed_sources(case: Case, job: JobRecord | None) -> None:
    failed = follow_up_stages.failed_sources(case)
    if not failed:
        return
    label = plural(len(failed), "{n} source could not be read", "{n} sources could not be read")
    with st.expander(label, key=f"failed-{case.id}", icon=":material/link_off:", expanded=not case.evidence):
        st.caption("This says nothing for or against the post.")
        copies = Counter(source.archive_detail for source in failed)
        shared = {said: times for said, times in copies.items() if said and times > 1}
        for said, times in shared.items():
            which = "" if times == len(failed) else f" ({times} of these {len(failed)})"
            st.caption(f":material/inventory_2: {escaped(said, 300)}{which}")
        for source in failed:
            _draw_failed_source(case, source, shown_above=frozenset(shared))
        if case.decision is None and case.supernote is None:
            _draw_untried_services(case, job)


def _draw_untried_services(case: Case, job: JobRecord | None) -> None:
    """One click lets a service that the person has not ticked yet read what could not be read here."""
    left = {name: label for name, label in workspace().reading_services.items() if name not in case.read_through}
    if not left:
        return
    st.caption(reading_services_caption(" or ".join(left.values())))
    with st.container(horizontal=True, gap="small", key="read-through"):
        for name, label in left.items():
            again, key = partial(try_through, case, name), f"through-{case.id}-{name}"
            words = f"Try again through {label}"
            button(words, key, _NOTICE_AREA, again, icon="cloud_download", disabled=under_way(job))


def _draw_failed_source(case: Case, source: Source, *, shown_above: frozenset[str]) -> None:
    """Draw a source that could not be read; what the archive said is left out where it is `shown_above` the list."""
    badges = source_badges(source, case.post, case.until) if source.published or source.notices else ""
    with st.container(key=f"failed-{source.id.replace(':', '-')}", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            name = escaped(host(source.url) or source.title, 60)
            st.markdown(f"{badge('orange', 'link_off', source.outcome.as_text)} {badges} **{name}**", width="content")
            st.space("stretch")
            web_link("Archived copy", source.archived_url, "inventory_2")
            web_link("Open it", None if source.outcome is FetchOutcome.REFUSED else source.url)
        st.markdown(f":small[{exact(source.url)}]" if source.url else f":small[{escaped(source.title, 160)}]")
        of_copies = "" if source.archive_detail in shown_above else source.archive_detail
        st.markdown(escaped(f"{source.outcome_detail} {of_copies}".strip(), 300))
        if case.decision is None:
            paste_box(case, "Open the page and paste its text", source)
