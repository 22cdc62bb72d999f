"""The report of a search: what each service answered, kinds of source, fact-checks, and earlier notes.

Notes under similar posts only point to pages: their words are shown and never used as evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial

import streamlit as st

from crowdnotes.cases import actions, case_findings
from crowdnotes.domain import (
    AFTER_CUTOFF,
    UNDATED,
    Case,
    ClaimMatch,
    EarlierNote,
    Hit,
    Post,
    ProviderOutcome,
    ProviderState,
    Query,
    ReadAs,
    Source,
    SourceCategory,
    first_shown,
)
from crowdnotes.text.languages import LANGUAGE_NAMES, languages_of
from crowdnotes.text.markdown import clip, day, escaped, title
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.quotes import changed_words
from crowdnotes.text.urls import canonical_url, references_in
from crowdnotes.wording import plural
from pages.common.charts import Part, stacked_shares
from pages.common.components import badge, web_link
from pages.common.layout import StepName
from pages.common.session import cases, expander, run_action, workspace

_LABEL_BY_NOTE_STATUS = {"": "not known if X showed it", "CURRENTLY_RATED_NOT_HELPFUL": "rated not helpful on X"}
_MAX_NOTE_CHARACTERS = 400
_MAX_NOTES_SHOWN = 10
_MAX_TITLE_CHARACTERS = 44
_MAX_LINKS_PER_NOTE = 3
_MAX_NAME_CHARACTERS = 20  # in a badge


def earlier_notes(case: Case) -> None:
    """Folded: the notes by which pages were found, those that X showed first. Nothing where there are none."""
    found = case_findings.earlier_notes(case)
    if found:
        expander(
            f"Notes under similar posts: {len(found)}",
            f"notes-{case.id}",
            "signpost",
            partial(_draw_earlier_notes, found),
        )


def _draw_earlier_notes(found: Sequence[tuple[EarlierNote, tuple[Hit, ...]]]) -> None:
    with st.container(key="earlier-notes", gap="small"):
        st.caption("Written under other posts. Read the pages: a note is not evidence.")
        for note, pages in found[:_MAX_NOTES_SHOWN]:
            with st.container(gap=None):
                note_words(note)
                with st.container(horizontal=True, gap="small"):
                    for hit in pages[:_MAX_LINKS_PER_NOTE]:
                        web_link(escaped(hit.title, _MAX_TITLE_CHARACTERS), hit.url)
        if len(found) > _MAX_NOTES_SHOWN:
            st.caption(plural(len(found) - _MAX_NOTES_SHOWN, "1 more note.", "{n} more notes."))


def note_words(note: EarlierNote) -> None:
    """Draw its status on X, when it was written, and its words."""
    if note.shown is None:
        how = badge(
            "gray",
            "visibility_off" if note.status else "help",
            _LABEL_BY_NOTE_STATUS.get(note.status, "not shown by X"),
        )
    elif note.is_shown:
        how = badge("green", "visibility", f"shown by X since {day(note.shown)}")
    else:
        how = badge("gray", "visibility_off", f"shown by X from {day(note.shown)}, but no longer")
    written = f"written {day(note.written)}"
    st.markdown(f"{how} :small[:gray[{written}]]")
    st.markdown(f":small[Note: “{escaped(without_urls(note.text), _MAX_NOTE_CHARACTERS)}”]")


_NOTICE_AREA = StepName.EVIDENCE.value
_GRAVE_NOTICES = frozenset({"retracted", "withdrawn", "a retraction notice", "expression of concern"})
_NOTICES_WITH_OWN_BADGE = _GRAVE_NOTICES | {AFTER_CUTOFF, UNDATED}


def source_badges(
    source: Source,
    post: Post,
    until: date | None,
    page: int | None = None,
    *,
    pasted_by: str = "by hand",
    graves_only: bool = False,
) -> str:
    """Markdown of the badges that apply, the gravest first; empty when there is nothing to say.

    `page` is that of the passage, in a PDF; `pasted_by` says who copied its words. A language is named when it is
    neither the post's nor English.
    With `graves_only` only what must be known before it is opened: retracted, later than the post, a fact-check's
    verdict, no link.
    """
    grave = [notice for notice in source.notices if notice in _GRAVE_NOTICES]
    badges = [badge("red", "report", notice) for notice in sorted(grave, key=lambda notice: notice != "retracted")]
    is_later = until is not None and source.stated_day is not None and source.stated_day > until
    if is_later or AFTER_CUTOFF in source.notices:
        badges.append(badge("red", "event_busy", AFTER_CUTOFF))
    rated = (check.rating for check in source.fact_checks[:1] if check.rating)
    badges += [badge("blue", "fact_check", f"fact-check: {rating}") for rating in rated]
    if graves_only:
        return " ".join([*badges, *([] if source.url else [badge("orange", "link_off", "no link: X needs one")])])
    badges += origin_badges(source, post)
    badges += [badge("orange", "info", notice) for notice in source.notices if notice not in _NOTICES_WITH_OWN_BADGE]
    if source.by_hand:
        badges.append(badge("orange", "content_paste", f"pasted {pasted_by}: not compared with the page"))
    if source.read_as is ReadAs.ABSTRACT:
        badges.append(badge("orange", "short_text", "abstract only"))
    if source.read_as is ReadAs.RECORD:
        badges.append(badge("gray", "dataset", "register's entry"))
    if source.read_as is ReadAs.ARCHIVED:
        badges.append(badge("gray", "inventory_2", "archived copy"))
    if source.stated_day is None or source.date_origin is None:
        badges.append(badge("orange" if UNDATED in source.notices else "gray", "event", "no date"))
    if not source.url:
        badges.append(badge("orange", "link_off", "no link: X needs one"))
    language = (source.language or "").split("-")[0].lower()
    if language not in {"", "en", (post.language or "").split("-")[0].lower()}:
        badges.append(badge("gray", "translate", language_name(language)))
    if page is not None:
        badges.append(badge("gray", "picture_as_pdf", f"page {page}"))
    return " ".join(badges)


def pasted_by(case: Case, source: Source) -> str:
    """Return who pasted its words, to the person at the screen; "by hand" where the case's record does not say."""
    pasted = (event for event in case.events if event.kind == "passage copied in" and event.subject == source.id)
    event = next(pasted, None)
    if event is None:
        return "by hand"
    return "by you" if event.by_key == workspace().actor.key else f"by {clip(event.by, _MAX_NAME_CHARACTERS)}"


def origin_badges(source: Source, post: Post, *, short: bool = False) -> list[str]:
    """Return whether the post itself or earlier notes refer to it, and through whom it was read."""
    is_linked = source.url and canonical_url(source.url) in set(map(canonical_url, references_in(post.whole_text)))
    found = [badge("blue", "link", "linked by the post")] if is_linked else []
    if (note := first_shown(source.notes)) is not None:
        found.append(badge("gray", "signpost", note.cited_in_short if short else note.cited))
    return [*found, *through_badge(source, short=short)]


def through_badge(source: Source, *, short: bool = False) -> list[str]:
    """Through whom it was read, if through anybody."""
    if source.read_as is not ReadAs.THROUGH:
        return []
    words = (
        f"read through {source.read_through}"
        if short
        else f"read through {source.read_through}: not compared with the page"
    )
    return [badge("orange", "cloud_download", words)]


def language_name(code: str | None) -> str:
    """Return a language by its ISO 639-1 code: "es" is Spanish; one that is not listed stays a code."""
    if not code:
        return "unknown language"
    code = code.split("-", maxsplit=1)[0].lower()
    return LANGUAGE_NAMES.get(code, f"language: {code}")


def search_list(searches: Sequence[Query]) -> None:
    """One a line: the words and the purpose. The language at each where they differ, else once above."""
    if not searches:
        return
    codes = languages_of(searches)
    spoken = [escaped(language_name(codes.get(search.text)), 40) for search in searches]
    is_one = len(set(spoken)) == 1
    rows = (
        [f":small[:gray[{plural(len(searches), '{n} set of search words', '{n} sets of search words')}, {spoken[0]}]]"]
        if is_one
        else []
    )
    for search, language in zip(searches, spoken, strict=True):
        spoken_in = "" if is_one else f" · {language}"
        rows.append(f":small[“{escaped(search.text, 300)}” :gray[{escaped(search.purpose, 160)}{spoken_in}]]")
    st.markdown("  \n".join(rows))


_MAX_CHECKS_SHOWN = 2
_MIN_CATEGORIES = 2  # one kind alone is no mix


def already_checked(case: Case) -> None:
    """Draw checks that any search found, each with who published it, their rating, the date and the link."""
    checks = case_findings.fact_checks(case)
    if not checks:
        return
    with st.container(border=True, key="already-checked", gap="small"):
        st.markdown("**:material/fact_check: Fact-checks found**")
        st.caption("Someone checked a claim like this one. Is it the same?")
        for hit, publisher in checks[:_MAX_CHECKS_SHOWN]:
            _draw_fact_check(case, hit, publisher)
        rest = checks[_MAX_CHECKS_SHOWN:]
        if rest:
            with st.expander(plural(len(rest), "1 more", "{n} more")):
                for hit, publisher in rest:
                    _draw_fact_check(case, hit, publisher)


def _draw_fact_check(case: Case, hit: Hit, publisher: str | None) -> None:
    when = day(hit.published) if hit.published else "no date"
    with st.container(gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(title(hit.title, "A fact-check", 160), width="stretch")
            web_link("Read the check", hit.url)
        rating = f":blue-badge[rated: {escaped(hit.rating, 80)}] " if hit.rating else ""
        st.markdown(f"{rating}:small[:gray[{escaped(publisher or 'unknown publisher', 80)} · {when}]]")
        st.markdown(f":small[{escaped(hit.snippet, 300)}]")
        if hit.check and case.claims and case.claims[0].statement:
            _, new = changed_words(case.claims[0].statement, hit.check.claim)
            only = ", ".join(f"“{hit.check.claim[span.start : span.end]}”" for span in new)
            difference = (
                f"Not in the post's claim: {escaped(only, 200)}" if new else "The same words as the post's claim."
            )
            st.markdown(f":small[:gray[{difference}]]")
        if case.decision is None:
            _ask_claim_match(case, hit.url or hit.title)


_LABEL_BY_CLAIM_MATCH = {
    ClaimMatch.SAME: "Same claim",
    ClaimMatch.RELATED: "Related",
    ClaimMatch.OTHER: "Another claim",
}


def _ask_claim_match(case: Case, check: str) -> None:
    """Whether it checks the post's claim, by the person."""
    key = f"match-{case.id}-{check}"
    st.session_state[key] = case.claim_matches.get(check)

    def keep() -> None:
        cases().apply(case.id, actions.match_claim, check, st.session_state[key])

    st.segmented_control(
        "Does it check the post's claim?",
        list(ClaimMatch),
        format_func=lambda match: _LABEL_BY_CLAIM_MATCH[match],
        key=key,
        on_change=run_action,
        args=(_NOTICE_AREA, keep),
    )


def _draw_category_mix(case: Case) -> None:
    """Two bars, found and chosen, over the kinds of source. Nothing without a search, or with one kind only."""
    found = Counter(case_findings.categories_found(case, workspace().settings.evidence.categories))
    chosen = Counter(source.category for source in case.sources)
    if len(found) < _MIN_CATEGORIES or not chosen:
        return
    with st.container(key="category-mix", gap="xsmall"):
        st.caption("Kinds of source found and chosen")
        stacked_shares(
            [f"{found.total()} found", f"{chosen.total()} chosen"],
            [Part(kind.as_text, (found[kind], chosen[kind])) for kind in SourceCategory],
            alt=f"Kinds of source found: {_format_category_counts(found)}. Chosen: {_format_category_counts(chosen)}.",
            between=" → ",
            key=f"category-mix-{case.id}",
        )


def _format_category_counts(counts: Counter[SourceCategory]) -> str:
    kinds: Iterable[tuple[SourceCategory, int]] = sorted(counts.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{number} {kind.as_text}" for kind, number in kinds)


def search_report(case: Case, again: Again) -> None:
    """Folded: each place that was searched, what it found, how fast or why it failed; kinds of source; the words.

    `again` draws what can be done where a place was too slow.
    """
    if not case.outcomes or not case.searched:
        return
    failed = failed_searches(case)
    searched = plural(_count_asked(case), "Searched {n} place", "Searched {n} places")
    label = f":orange[{count_failed(case, failed)}]" if failed else searched
    expander(label, f"searches-{case.id}", "manage_search", partial(_draw_search_details, case, failed, again))


def count_failed(case: Case, failed: Sequence[ProviderOutcome]) -> str:
    """Return how many places were searched without an answer: "10 of 11 places gave no answer"."""
    n = _count_asked(case)
    return plural(n, "The search failed", "{failed} of {n} places gave no answer", failed=len(failed))


def _count_asked(case: Case) -> int:
    return sum(item.state is not ProviderState.NOT_ASKED for item in case.outcomes)


def _draw_search_details(case: Case, failed: list[ProviderOutcome], again: Again) -> None:
    with st.container(key="places-searched", gap="xsmall"):
        others = [item for item in case.outcomes if not item.gave_no_answer]
        if others:
            st.markdown("  \n".join(map(_format_answer, others)))
        failures(failed, again)
    _draw_category_mix(case)
    _draw_search_words(case)


def _draw_search_words(case: Case) -> None:
    """Draw which words were sent where."""
    if not case.queries:
        return
    unasked = {ProviderState.NOT_CONFIGURED, ProviderState.NOT_ASKED}
    asked = [item for item in case.outcomes if item.state not in unasked]
    online = [item for item in asked if not item.is_of_library]
    answered = ", ".join(escaped(item.label) for item in online if not item.gave_no_answer)
    silent = ", ".join(escaped(item.label) for item in online if item.gave_no_answer)
    own = ", ".join(escaped(item.label) for item in asked if item.is_of_library)
    sentences = [
        f"Sent to {answered}." if answered else "",
        f"Perhaps not all of these words reached {silent}." if silent else "",
        "" if online else "These words were not sent to any online service.",
        f"Searched on this computer: {own}." if own else "",
    ]
    st.caption(" ".join(filter(None, sentences)))
    search_list(case.queries)


Again = Callable[[ProviderOutcome], None]


def failures(failed: list[ProviderOutcome], again: Again = lambda _: None) -> None:
    """Draw the places that gave no answer with their reason; where one was too slow, what `again` draws."""
    alike: dict[tuple[ProviderState, str], list[ProviderOutcome]] = {}
    for item in failed:
        alike.setdefault((item.state, item.sentence), []).append(item)
    for (state, sentence), items in alike.items():
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.badge(f"search {state.as_text}", color="orange", icon=":material/warning:")
            names = ", ".join(escaped(item.label) for item in items)
            st.markdown(f":small[**{names}:** {escaped(sentence, 300)}]")
        for item in items:
            if state is ProviderState.TIMED_OUT and not item.is_of_library:
                again(item)


def failed_searches(case: Case) -> list[ProviderOutcome]:
    """Return the places that gave no answer in the newest search; not the same as having found nothing."""
    if not case.searched:
        return []
    return [item for item in case.outcomes if item.gave_no_answer]


def _format_answer(item: ProviderOutcome) -> str:
    said = f" ({escaped(item.sentence, 160)})" if item.sentence else ""
    is_answer = item.state is ProviderState.ANSWERED
    answer = f"{item.found} found · {item.seconds:.1f} s" if is_answer else item.state.as_text
    counts = f"{escaped(item.label)}: {answer}"
    return f":small[:gray[:material/search: {counts}{said}]]"
