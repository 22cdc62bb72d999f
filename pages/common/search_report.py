"""The report of a search: what each service answered, the kinds of source, and fact-checks of the claim.

Notes under similar posts: signposts to pages. Their words are shown, and go nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial

import streamlit as st

from crowdnotes.domain import (
    AFTER_CUTOFF,
    UNDATED,
    Case,
    ClaimMatch,
    EarlierNote,
    FetchOutcome,
    Hit,
    Post,
    ProviderOutcome,
    ProviderState,
    Query,
    ReadAs,
    Source,
    SourceCategory,
    StageName,
    first_shown,
)
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.text.languages import LANGUAGE_NAMES, languages_of
from crowdnotes.text.markdown import day, escaped, title
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.quotes import changed_words
from crowdnotes.text.urls import canonical_url, references_in
from crowdnotes.wording import say
from pages.common.charts import Part, stacked_shares
from pages.common.components import badge, web_link
from pages.common.layout import StepName
from pages.common.session import act, fold, workspace

_HOW = {"": "earlier_notes.not_known", "CURRENTLY_RATED_NOT_HELPFUL": "earlier_notes.not_helpful"}
_LONGEST = 400
_NOTES_SHOWN = 10
_TITLE = 44
_LINKS = 3


def earlier_notes(case: Case) -> None:
    """Folded: the notes by which pages were found, those that X showed first. Nothing where there are none."""
    found = workspace().service.earlier_notes(case)
    if found:
        fold(say("earlier_notes.title", n=len(found)), f"notes-{case.id}", "signpost", partial(_notes, found))


def _notes(found: Sequence[tuple[EarlierNote, tuple[Hit, ...]]]) -> None:
    with st.container(key="earlier-notes", gap="small"):
        st.caption(say("earlier_notes.about"))
        for note, pages in found[:_NOTES_SHOWN]:
            with st.container(gap=None):
                note_words(note)
                with st.container(horizontal=True, gap="small"):
                    for hit in pages[:_LINKS]:
                        web_link(escaped(hit.title, _TITLE), hit.url)
        if len(found) > _NOTES_SHOWN:
            st.caption(say("earlier_notes.more", n=len(found) - _NOTES_SHOWN))


def note_words(note: EarlierNote) -> None:
    """How it stands with X, when it was written, and its words."""
    if note.shown is None:
        how = badge(
            "gray", "visibility_off" if note.status else "help", say(_HOW.get(note.status, "earlier_notes.not_shown"))
        )
    elif note.is_shown:
        how = badge("green", "visibility", say("earlier_notes.shown", day=day(note.shown)))
    else:
        how = badge("gray", "visibility_off", say("earlier_notes.no_longer", day=day(note.shown)))
    written = say("earlier_notes.written", day=day(note.written))
    st.markdown(f"{how} :small[:gray[{written}]]")
    st.markdown(f":small[{say('earlier_notes.words', words=escaped(without_urls(note.text), _LONGEST))}]")


_PLACE = StepName.EVIDENCE.value
_GRAVE = frozenset({"retracted", "withdrawn", "a retraction notice", "expression of concern"})
_TOLD_OTHERWISE = _GRAVE | {AFTER_CUTOFF, UNDATED}


def source_badges(
    source: Source, post: Post, until: date | None, page: int | None = None, *, graves_only: bool = False
) -> str:
    """Markdown of the badges that apply, the gravest first; empty when there is nothing to say.

    `page` is that of the passage, in a PDF. A language is named when it is neither the post's nor English.
    With `graves_only` only what must be known before it is opened: retracted, later than the post, a fact-check's
    verdict, no link.
    """
    grave = [notice for notice in source.notices if notice in _GRAVE]
    badges = [badge("red", "report", notice) for notice in sorted(grave, key=lambda notice: notice != "retracted")]
    is_later = until is not None and source.published is not None and source.published > until
    if is_later or AFTER_CUTOFF in source.notices:
        badges.append(badge("red", "event_busy", AFTER_CUTOFF))
    rated = (check.rating for check in source.fact_checks[:1] if check.rating)
    badges += [badge("blue", "fact_check", say("badges.check", rating=rating)) for rating in rated]
    if graves_only:
        return " ".join([*badges, *([] if source.url else [badge("orange", "link_off", say("badges.no_link"))])])
    badges += origin_badges(source, post)
    badges += [badge("orange", "info", notice) for notice in source.notices if notice not in _TOLD_OTHERWISE]
    if source.by_hand:
        badges.append(badge("orange", "content_paste", say("badges.by_hand")))
    if source.read_as is ReadAs.ABSTRACT:
        badges.append(badge("orange", "short_text", say("badges.abstract")))
    if source.read_as is ReadAs.RECORD:
        badges.append(badge("gray", "dataset", say("badges.record")))
    if source.read_as is ReadAs.ARCHIVED:
        badges.append(badge("gray", "inventory_2", say("badges.archived")))
    if source.published is None or source.date_origin is None:
        badges.append(badge("orange" if UNDATED in source.notices else "gray", "event", say("badges.no_date")))
    if not source.url:
        badges.append(badge("orange", "link_off", say("badges.no_link")))
    language = (source.language or "").split("-")[0].lower()
    if language not in {"", "en", (post.language or "").split("-")[0].lower()}:
        badges.append(badge("gray", "translate", language_name(language)))
    if page is not None:
        badges.append(badge("gray", "picture_as_pdf", say("badges.page", page=page)))
    return " ".join(badges)


def origin_badges(source: Source, post: Post, *, short: bool = False) -> list[str]:
    """Whether the post itself or earlier notes refer to it, and through whom it was read."""
    is_linked = source.url and canonical_url(source.url) in set(map(canonical_url, references_in(post.whole_text)))
    found = [badge("blue", "link", say("badges.linked"))] if is_linked else []
    if (note := first_shown(source.notes)) is not None:
        found.append(badge("gray", "signpost", note.cited_in_short if short else note.cited))
    return [*found, *through_badge(source, short=short)]


def through_badge(source: Source, *, short: bool = False) -> list[str]:
    """Through whom it was read, if through anybody."""
    if source.read_as is not ReadAs.THROUGH:
        return []
    words = say("badges.through_short" if short else "badges.through", service=source.read_through)
    return [badge("orange", "cloud_download", words)]


def language_name(code: str | None) -> str:
    """A language by its ISO 639-1 code: "es" is Spanish; one that is not listed stays a code."""
    if not code:
        return say("search.language_unknown")
    code = code.split("-", maxsplit=1)[0].lower()
    return LANGUAGE_NAMES.get(code, say("search.language_code", code=code))


def search_list(searches: Sequence[Query]) -> None:
    """One a line: the words and the purpose. The language at each where they differ, else once above."""
    if not searches:
        return
    codes = languages_of(searches)
    spoken = [escaped(language_name(codes.get(search.text)), 40) for search in searches]
    is_one = len(set(spoken)) == 1
    rows = [f":small[:gray[{say('search.searches', n=len(searches))}, {spoken[0]}]]"] if is_one else []
    for search, language in zip(searches, spoken, strict=True):
        beside = "" if is_one else f" · {language}"
        rows.append(f":small[“{escaped(search.text, 300)}” :gray[{escaped(search.purpose, 160)}{beside}]]")
    st.markdown("  \n".join(rows))


_CHECKS_SHOWN = 2
_FEWEST_KINDS = 2  # one kind alone is no mix


def already_checked(case: Case) -> None:
    """Checks that any search found, each with who published it, their rating, the date and the link."""
    checks = workspace().service.fact_checks(case)
    if not checks:
        return
    with st.container(border=True, key="already-checked", gap="small"):
        st.markdown(f"**:material/fact_check: {say('search.already_checked')}**")
        st.caption(say("search.already_checked_about"))
        for hit, publisher in checks[:_CHECKS_SHOWN]:
            _check(case, hit, publisher)
        rest = checks[_CHECKS_SHOWN:]
        if rest:
            with st.expander(say("search.more_checks", n=len(rest))):
                for hit, publisher in rest:
                    _check(case, hit, publisher)


def _check(case: Case, hit: Hit, publisher: str | None) -> None:
    when = day(hit.published) if hit.published else say("badges.no_date")
    with st.container(gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(title(hit.title, say("search.a_check"), 160), width="stretch")
            web_link(say("search.read_check"), hit.url)
        rating = f":blue-badge[{say('search.rated', rating=escaped(hit.rating, 80))}] " if hit.rating else ""
        st.markdown(f"{rating}:small[:gray[{escaped(publisher or say('sources.no_publisher'), 80)} · {when}]]")
        st.markdown(f":small[{escaped(hit.snippet, 300)}]")
        if hit.check and case.claims and case.claims[0].statement:
            _, new = changed_words(case.claims[0].statement, hit.check.claim)
            only = ", ".join(f"“{hit.check.claim[span.start : span.end]}”" for span in new)
            told = say("search.only_in_check", words=escaped(only, 200)) if new else say("search.same_words")
            st.markdown(f":small[:gray[{told}]]")
        if case.decision is None:
            _match(case, hit.url or hit.title)


_MATCHES = {
    ClaimMatch.SAME: "search.same_claim",
    ClaimMatch.RELATED: "search.related",
    ClaimMatch.OTHER: "search.other_claim",
}


def _match(case: Case, check: str) -> None:
    """Whether it checks the post's claim, by the person."""
    key = f"match-{case.id}-{check}"
    st.session_state[key] = case.claim_matches.get(check)

    def keep() -> None:
        workspace().service.match_claim(case.id, check, st.session_state[key])

    st.segmented_control(
        say("search.match"),
        list(ClaimMatch),
        format_func=lambda match: say(_MATCHES[match]),
        key=key,
        on_change=act,
        args=(_PLACE, keep),
    )


def _category_mix(case: Case) -> None:
    """Two bars, found and chosen, over the kinds of source. Nothing without a search, or with one kind only."""
    found = Counter(workspace().service.categories_found(case))
    chosen = Counter(source.category for source in case.sources)
    if len(found) < _FEWEST_KINDS or not chosen:
        return
    with st.container(key="category-mix", gap="xsmall"):
        st.caption(say("search.kinds"))
        stacked_shares(
            [say("search.found", n=found.total()), say("search.chosen", n=chosen.total())],
            [Part(kind.in_words, (found[kind], chosen[kind])) for kind in SourceCategory],
            alt=say("search.kinds_in_words", found=_in_words(found), chosen=_in_words(chosen)),
            between=" → ",
            key=f"category-mix-{case.id}",
        )


def _in_words(counts: Counter[SourceCategory]) -> str:
    kinds: Iterable[tuple[SourceCategory, int]] = sorted(counts.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{number} {kind.in_words}" for kind, number in kinds)


def search_report(case: Case, again: Again) -> None:
    """Folded: each place that was searched, what it found, how fast or why it failed; kinds of source; the words.

    `again` draws what can be done where a place was too slow.
    """
    if not case.outcomes or not case.searched:
        return
    failed = failed_searches(case)
    label = say("search.title", n=len(case.outcomes) - len(failed))
    if failed:
        label += f" :orange[{say('search.no_answer', n=len(failed))}]"
    fold(label, f"searches-{case.id}", "manage_search", partial(_search, case, failed, again))


def _search(case: Case, failed: list[ProviderOutcome], again: Again) -> None:
    with st.container(key="places-searched", gap="xsmall"):
        answered = [item for item in case.outcomes if item.state is ProviderState.ANSWERED]
        if answered:
            st.markdown("  \n".join(_answer(item) for item in answered))
        failures(failed, again)
    _category_mix(case)
    _asked(case)


def _asked(case: Case) -> None:
    """Which words were sent where."""
    if not case.queries:
        return
    asked = [item for item in case.outcomes if item.state is not ProviderState.NOT_CONFIGURED]
    online = ", ".join(escaped(item.label) for item in asked if not _is_library(item))
    own = ", ".join(escaped(item.label) for item in asked if _is_library(item))
    st.caption(say("search.sent_to", places=online) if online else say("search.sent_nowhere"))
    if own:
        st.caption(say("search.looked_up_in", libraries=own))
    search_list(case.queries)


def _is_library(item: ProviderOutcome) -> bool:
    return item.provider.startswith("library:")  # on this machine: nothing is sent


Again = Callable[[ProviderOutcome], None]


def failures(failed: list[ProviderOutcome], again: Again = lambda _: None) -> None:
    """The places that gave no answer, each with its reason, and what `again` draws beside one that was too slow."""
    for item in failed:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.badge(say("search.state", state=item.state.in_words), color="orange", icon=":material/warning:")
            st.markdown(f":small[**{escaped(item.label)}:** {escaped(item.sentence, 300)}]")
            if item.state is ProviderState.TIMED_OUT and not _is_library(item):
                again(item)


def failed_searches(case: Case) -> list[ProviderOutcome]:
    """The places that gave no answer in the newest search; not the same as having found nothing."""
    if not case.searched:
        return []
    return [item for item in case.outcomes if item.state is not ProviderState.ANSWERED]


def no_passage(case: Case, job: JobRecord | None) -> None:
    """What it means that there is nothing to read; nothing while the program is at work, or told why it stopped."""
    gathering = job is not None and job.kind == "gather"
    if job is not None and (job.state.under_way or (gathering and job.state is not JobState.DONE)):
        return
    if not any(stage.name is StageName.PASSAGES for stage in case.stages):
        if case.stages or gathering:
            st.info(say("search.not_yet_next"), title=say("search.not_yet"), icon=":material/hourglass_empty:")
        return
    failed, unread = failed_searches(case), [item for item in case.sources if item.outcome is not FetchOutcome.READ]
    read = len(case.sources) - len(unread)
    if failed:
        words = say("search.failed_next", n=len(failed))
        st.warning(words, title=say("search.failed"), icon=":material/sync_problem:")
    elif read:
        more = f" {say('search.not_read_too', n=len(unread))}" if unread else ""
        st.info(
            say("search.read_unfit_next") + more, title=say("search.read_unfit", n=read), icon=":material/search_off:"
        )
    elif unread and case.searched and case.hits and not _chosen(case, unread):
        words = f"{say('search.unfit_next', n=len(case.hits))} {say('search.not_read_too', n=len(unread))}"
        st.info(words, title=say("search.unfit"), icon=":material/search_off:")
    elif unread:
        st.warning(say("search.unread_next"), title=say("search.unread"), icon=":material/link_off:")
    elif case.hits and case.searched:
        words = say("search.unfit_next", n=len(case.hits))
        st.info(words, title=say("search.unfit"), icon=":material/search_off:")
    else:
        st.info(say("search.nothing_next"), title=say("search.nothing"), icon=":material/search_off:")


def _chosen(case: Case, unread: Sequence[Source]) -> bool:
    """Whether any of these was chosen from what the search found; the others are links of the person's own."""
    found = {canonical_url(hit.url) for hit in case.hits if hit.url}
    return any(item.url and canonical_url(item.url) in found for item in unread)


def _answer(item: ProviderOutcome) -> str:
    said = f" ({escaped(item.sentence, 160)})" if item.sentence else ""
    told = say("search.answer", place=escaped(item.label), n=item.found, seconds=f"{item.seconds:.1f}")
    return f":small[:gray[:material/search: {told}{said}]]"
