"""The winner next to the best existing note, who gave what, and the ranking of all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.cases import supernote_actions
from crowdnotes.domain import Act, Candidate, Case, ExistingNote, SupernoteRound, SupernoteScore
from crowdnotes.domain.base import LOCAL_ENGINE
from crowdnotes.domain.supernote import MAX_TIED_GAP, count_right_of_100
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, in_figures
from crowdnotes.text.note_rules import NOTE_LIMIT, note_length
from crowdnotes.text.table_files import plain_cell
from crowdnotes.wording import fill, plural
from pages.common.charts import Part, Standing, number_line, stacked_shares
from pages.common.components import changed_pieces, marked_text, outside_text
from pages.common.jury import SCORE_AXIS, votes
from pages.common.layout import Area, SupernoteStep, go_to
from pages.common.progress import under_way
from pages.common.session import button, cases, comparison_link_key, workspace
from pages.supernote_parts.given_notes import NO_STATUS, STATUS_WORDS, in_ratings, status_badge
from pages.supernote_parts.header import is_stale

_NOTICE_AREA = SupernoteStep.WINNER.value
_TAKE_WINNER_KEY = "take-winner"
_MIN_GAIN = 0.005  # of the score: less is not seen in two decimals
_MAX_CANDIDATES_ON_LINE = 4  # candidates on the line, the winner among them
_LABEL_BY_JURY_STATUS = {
    "CURRENTLY_RATED_HELPFUL": "would be shown",
    "CURRENTLY_RATED_NOT_HELPFUL": "rated not helpful",
    "NEEDS_MORE_RATINGS": "not shown yet",
}


def winner(case: Case, job: JobRecord | None) -> None:
    """Draw the winner next to the best existing note, how they compare, and who gave what."""
    made = case.finished_round
    if made is None:
        return
    best = made.winning
    if best is None:
        st.warning(
            "See below what each check removed. Use other notes, or ask for more drafts.",
            title="No draft passed every check.",
            icon=":material/filter_alt_off:",
        )
    else:
        if said := _compare_with_best_note(made, best):
            st.markdown(f"**{escaped(said)}**")
        _draw_winner_and_best_note(case, made, best, busy=under_way(job))
        _draw_jury_scores(case, made, best)
        _draw_credit(case, made, best)
    _draw_jury_caveats(made)


def ranking_fold(case: Case, job: JobRecord | None) -> None:
    """Draw, folded, all that passed and the notes that there are, as the jury ranks them."""
    made = case.finished_round
    if made is None:
        return
    with st.expander(
        "Ranking of all drafts and notes",
        key=f"ranking-{case.id}",
        icon=":material/format_list_numbered:",
        on_change="rerun",
    ) as fold:
        if fold.open:
            _draw_ranking(case, made, busy=under_way(job))


def _get_helpful_line() -> float:
    return THRESHOLDS.helpful_intercept


def _has_usable_score(score: SupernoteScore | None) -> bool:
    return score is not None and not score.means_nothing


def _format_origin_notes(candidate: Candidate) -> str:
    return plural(len(candidate.notes), "from note {names}", "from notes {names}", names=", ".join(candidate.notes))


def _draw_jury_caveats(made: SupernoteRound) -> None:
    if not made.measured:
        st.markdown(
            ":gray[:material/do_not_disturb_on: **We did not run the simulated readers (NOT RUN)**, so "
            "nothing is ranked.]"
        )
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(":material/science: **These readers are simulated.**", width="content")
        with st.popover("How far to trust this", icon=":material/info:", type="tertiary"):
            st.markdown(escaped(made.measured))
            st.caption(
                "Side A and side B usually disagree. The score (X's note intercept) is how helpful a note is "
                f"without this disagreement; X shows a note from {_get_helpful_line():.2f}."
            )


# --- the two side by side ---


def _find_note_to_keep(made: SupernoteRound, winner: Candidate) -> str | None:
    """Return the note on the post than which the winner is no better: the same words, or no higher score."""
    gain = _get_gain(made, winner)
    no_gain = made.best_existing if gain is not None and gain < _MIN_GAIN else None
    return _find_same_note(made, winner) or no_gain


def _find_same_note(made: SupernoteRound, winner: Candidate) -> str | None:
    return next((note.id for note in made.notes if note.text.split() == winner.text.split()), None)


def _get_gain(made: SupernoteRound, winner: Candidate) -> float | None:
    mine, theirs = winner.score, made.existing.get(made.best_existing or "")
    if mine is None or theirs is None or mine.means_nothing or theirs.means_nothing:
        return None
    return mine.intercept - theirs.intercept


def _compare_with_best_note(made: SupernoteRound, winner: Candidate) -> str:
    """Return first of all whether the supernote is worth having; "" where there is no score to compare."""
    if (keep := _find_note_to_keep(made, winner)) is not None:
        return f"No gain: keep note {keep}."
    gain = _get_gain(made, winner)
    if gain is None:
        return ""
    if gain < MAX_TIED_GAP:
        return f"Too close to call: note {made.best_existing} may be as good."
    return f"Probably better than note {made.best_existing}."


def _draw_winner_and_best_note(case: Case, made: SupernoteRound, winner: Candidate, *, busy: bool) -> None:
    best = next((note for note in made.notes if note.id == made.best_existing), None)
    stale = case.supernote is not None and is_stale(case.supernote)  # then the one primary button makes candidates anew
    theirs, ours = changed_pieces(best.text if best else "", winner.text)
    with st.grid(2, min_column_width=260):
        with st.container(gap="xsmall", key="the-winner"):
            chooser = "" if _explain_tie(made, winner) else _format_chooser(made.judged)
            st.markdown(f"**The supernote**{chooser}")
            pieces = ours if best else changed_pieces(winner.text, winner.text)[1]
            marked_text(pieces, look="note", key=f"winner-{case.id}-{winner.sha256[:12]}", copy=True)
            st.caption(
                f"{_format_length(winner.text)} · {_format_origin_notes(winner)} · {_format_engine(winner.engine)}"
            )
            if winner.not_run:
                names = ", ".join(f"“{name.as_text}”" for name in winner.not_run)
                st.caption(
                    f":orange[:material/do_not_disturb_on: Not checked (NOT RUN): {names}. Check that yourself.]"
                )
            if same := _find_same_note(made, winner):
                st.caption(f":orange[:material/content_copy: These are the words of {same}, unchanged.]")
            if winner.revised:
                st.caption(f":material/edit_note: Revised: {escaped(winner.revised, 300)}")
            for objection in winner.objections:
                st.caption(f":material/rate_review: {escaped(objection, 300)}")
            _draw_take_button(
                case,
                winner,
                busy=busy,
                key=_TAKE_WINNER_KEY,
                primary=not stale and _find_note_to_keep(made, winner) is None,
            )
        with st.container(gap="xsmall", key="the-best-existing"):
            if best is None:
                st.caption("There is no note to compare with.")
                return
            st.markdown(f"**The best note on the post, {best.id}**{_format_chooser(made.best_by)}")
            marked_text(theirs, look="note", key=f"best-{case.id}-{best.id}-{made.number}", copy=True)
            st.caption(f"{_format_length(best.text)} · {in_ratings(best.ratings)}")
            st.markdown(status_badge(best.status))
            if workspace().may(Act.COMPARE) and case.post.text and best.text != winner.text:
                compare = partial(_start_comparison, case, winner, best)
                about = "Makes a link: readers choose one without knowing who wrote which."
                button("Compare these two", "compare-two", _NOTICE_AREA, compare, icon="compare", help=about)
    if best is not None and best.text != winner.text:
        st.caption("Underlined: only in the supernote. Dotted: only in the other note.")


def _format_chooser(who: str) -> str:
    return f" :small[:gray[chosen by {escaped(who, 120)}]]" if who else ""


def _format_engine(engine: str) -> str:
    return "without AI" if engine == LOCAL_ENGINE else escaped(engine, 60)


def _format_length(text: str) -> str:
    return f"{note_length(text)} of {NOTE_LIMIT} characters"


def _draw_take_button(case: Case, candidate: Candidate, *, busy: bool, key: str, primary: bool = False) -> None:
    if case.decision is not None:
        st.caption("The case is decided. Reopen it on the Draft page to use another text.")
        return
    taken = case.draft is not None and case.draft.sha256 == candidate.sha256
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if taken:
            st.badge("in use", color="blue", icon=":material/check:")
        if taken and key != _TAKE_WINNER_KEY:
            return  # the draft is opened by one button alone: below the winner, else on top
        button(
            "Open in Draft" if taken else "Use this text",
            key,
            _NOTICE_AREA,
            partial(_take_candidate, case, candidate),
            icon="edit_note",
            type="primary" if primary else "secondary",
            disabled=busy,
        )


def _take_candidate(case: Case, candidate: Candidate) -> None:
    cases().apply(case.id, supernote_actions.use_candidate, candidate.sha256)
    go_to(Area.SOURCES)
    st.session_state[_GO_TO_DRAFT_KEY] = True


def _start_comparison(case: Case, winner: Candidate, best: ExistingNote) -> None:
    pair = {"post": case.post.text, "supernote": winner.text, "existing_note": best.text}
    content = json.dumps([pair]).encode()
    made = workspace().comparisons.add("pair.json", content, title=case.post.text, short=True)
    st.session_state[comparison_link_key(made.id)] = True
    st.session_state[_GO_TO_COMPARISONS_KEY] = True


_GO_TO_DRAFT_KEY, _GO_TO_COMPARISONS_KEY = "supernote-goes-on", "supernote-compared"


def goes_on(case: Case) -> None:
    """Go to the Draft page where the person has just taken a text there, or to the comparison just begun."""
    if st.session_state.pop(_GO_TO_DRAFT_KEY, False):
        st.switch_page("pages/draft.py", query_params={"case": case.id})
    if st.session_state.pop(_GO_TO_COMPARISONS_KEY, False):
        st.switch_page("pages/compare.py")


# --- how they compare ---


def _draw_jury_scores(case: Case, made: SupernoteRound, winner: Candidate) -> None:
    st.markdown(escaped(f"{_summarise_jury_scores(made, winner)} {_explain_tie(made, winner)}".strip()))
    best = made.existing.get(made.best_existing or "")
    shown = [("the supernote", winner.score)]
    others = sorted(
        (item for item in made.passed if item.sha256 != winner.sha256 and _has_usable_score(item.score)),
        key=lambda item: -(item.score.intercept if item.score else 0.0),
    )
    shown += [
        (f"draft {_rank_of(made, item)}", item.score)
        for item in sorted(others[: _MAX_CANDIDATES_ON_LINE - 1], key=lambda item: _rank_of(made, item))
    ]
    if best is not None:
        shown.insert(1, (f"best on the post, {made.best_existing}", best))
    standings = [
        Standing(name, score.intercept, score.interval.low, score.interval.high)
        for name, score in shown
        if score is not None and not score.means_nothing
    ]
    if standings:
        number_line(
            standings,
            line=_get_helpful_line(),
            ends=SCORE_AXIS,
            alt=" ".join(
                f"{item.name}: {in_figures(item.value, _get_helpful_line())} ({item.low:.2f} to {item.high:.2f})."
                for item in standings
            ),
            key=f"standing-{case.id}-{made.number}",
        )
        st.caption("Bars are 90 % ranges.")


def _summarise_jury_scores(made: SupernoteRound, winner: Candidate) -> str:
    """Return the picture in a sentence."""
    mine, theirs = winner.score, made.existing.get(made.best_existing or "")
    if mine is None:
        return "We did not run the simulated readers on this text (NOT RUN). The checks decide."
    if mine.means_nothing:
        return "The simulated readers' score means nothing for this text. The checks and the AI decide."
    which = (
        "The simulated readers give it {score}: enough for the {line} that X needs."
        if mine.intercept >= _get_helpful_line()
        else "The simulated readers give it {score}: below the {line} that X needs."
    )
    said = fill(which, score=in_figures(mine.intercept, _get_helpful_line()), line=f"{_get_helpful_line():.2f}")
    if theirs is None or theirs.means_nothing:
        return said
    difference = f"{abs(mine.intercept - theirs.intercept):.2f}"
    more = (
        "The best note on the post, {id}, gets {difference} more."
        if theirs.intercept > mine.intercept
        else "The best note on the post, {id}, gets {difference} less."
    )
    if difference == "0.00":
        return f"{said} The best note on the post, {made.best_existing}, gets the same."
    other = fill(more, id=made.best_existing, difference=difference)
    right = count_right_of_100(mine.intercept - theirs.intercept)
    return (
        f"{said} {other} Where two notes differed so much, the simulated readers found the better one in {right} of "
        "100 pairs."
    )


def _explain_tie(made: SupernoteRound, winner: Candidate) -> str:
    """Return why the supernote is not the draft with the highest score; "" where it is."""
    alike = [item for item in made.tied if item.score is not None]
    best = max(alike, key=lambda item: item.score.intercept if item.score else 0.0, default=None)
    if best is None or best.score is None or winner.score is None or winner.score.intercept >= best.score.intercept:
        return ""
    if winner not in alike:
        return f"Draft {_rank_of(made, best)} has a higher score. Chosen by {made.judged}."
    return (
        f"{len(alike)} drafts, up to {best.score.intercept:.2f}, are too close for them. The notes of the supernote "
        "have the best ratings."
    )


def _rank_of(made: SupernoteRound, candidate: Candidate) -> int:
    return 1 + next(place for place, item in enumerate(made.passed) if item.sha256 == candidate.sha256)


# --- who gave what ---


def _draw_credit(case: Case, made: SupernoteRound, winner: Candidate) -> None:
    if not made.credits:
        return
    lead = max(made.credits, key=lambda item: item.share)
    st.markdown(f"**Where its words come from:** {round(100 * lead.share)} % are from {lead.note}.")
    given = [item for item in made.credits if item.share > 0]
    stacked_shares(
        ["the supernote"],
        [Part(item.note, (round(100 * item.share),)) for item in given],
        alt=", ".join(f"{item.note} {round(100 * item.share)} percent" for item in given),
        between="",
        key=f"credit-{case.id}-{made.number}",
    )
    with st.expander("Each sentence, and the result without each note", icon=":material/attribution:"):
        for number, sentence in enumerate(winner.sentences, start=1):
            words = winner.text[sentence.span.start : sentence.span.end]
            notes = escaped(", ".join(sentence.notes)) or "no note"
            line = f"{number} · from {notes}"
            if carried := ", ".join(dict.fromkeys(item.evidence_id for item in sentence.carriers)):
                line += f" · supported by {escaped(carried)}"
            st.markdown(f":small[:gray[{line}]]")
            outside_text(words, look="quote", key=f"credit-{case.id}-{made.number}-{number}")
        if not _has_usable_score(winner.score):
            st.markdown(":small[We did not work out the result without each note (NOT RUN): this text has no score.]")
            return
        for item in made.credits:
            st.markdown(f":small[**{item.note}**: {_describe_result_without(item.without, item.loss)}]")


def _describe_result_without(without: float | None, loss: float | None) -> str:
    if without is None:
        return "without it, no draft is left with a score"
    if loss is None:
        return f"without it, the best draft gets {without:.2f}"
    if abs(loss) < MAX_TIED_GAP:
        return f"without it, the best draft gets {without:.2f}: no clear difference"
    which = (
        "without it, the best draft gets {score}, {difference} less"
        if loss >= 0
        else "without it, the best draft gets {score}, {difference} more"
    )
    return fill(which, score=f"{without:.2f}", difference=f"{abs(loss):.2f}")


# --- the ranking ---


_RANK_COLUMN, _WHAT_COLUMN, _RANGE_COLUMN, _JURY_COLUMN = "Rank", "What", "90 % range", "Readers"
_INTERCEPT_COLUMN, _GRADE_COLUMN = "Score", "AI, of 10"
_RATERS_COLUMN, _TEXT_COLUMN = "Raters on X", "Text"
_SOURCE_RATING_COLUMN = "Its notes' rating"
_COLUMN_BY_SIDE = {"−": "Side A", "+": "Side B"}


@dataclass(frozen=True, slots=True)
class _RankingRow:
    """A candidate or an existing note in the ranking."""

    key: str
    name: str
    text: str
    score: SupernoteScore | None
    status: str = ""
    candidate: Candidate | None = None
    note: ExistingNote | None = None


def _draw_ranking(case: Case, made: SupernoteRound, *, busy: bool) -> None:
    rows = _list_ranking_rows(made)
    if not rows:
        return
    by_ratings = any(supernote_actions.rate_source_notes(made, item) is not None for item in made.passed)
    st.caption(
        "Ranked by the same simulated readers."
        + (
            f" {len(made.tied)} drafts are too close for them (within {MAX_TIED_GAP:.2f}): these are in the order of "
            f"“{_SOURCE_RATING_COLUMN}”."
            if by_ratings
            else ""
        )
    )
    figures = [in_figures(row.score.intercept, _get_helpful_line()) for row in rows if row.score is not None]
    # As many digits as the longest needs, so that no number below the line reads as the line.
    digits = max((len(number.partition(".")[2]) for number in figures), default=2)
    st.dataframe(
        [_build_ranking_cells(place, row, made) for place, row in enumerate(rows, start=1)],
        hide_index=True,
        placeholder="–",
        alt=f"{len(rows)} texts, ranked. Choose one below to read it in full.",
        height=min(38 + 35 * len(rows), 388),
        key=f"ranking-{case.id}-{made.number}",
        column_config={
            _RANK_COLUMN: st.column_config.NumberColumn(width=50),
            _WHAT_COLUMN: st.column_config.TextColumn(width=125),
            _INTERCEPT_COLUMN: st.column_config.NumberColumn(
                format=f"%.{digits}f", width=100, help=f"X shows a note from {_get_helpful_line():.2f}"
            ),
            _RANGE_COLUMN: st.column_config.TextColumn(width=100),
            _SOURCE_RATING_COLUMN: st.column_config.NumberColumn(
                format="%.3f", width=110, help="Mean rating of its notes, 0 to 1, by their shares of its words"
            ),
            _JURY_COLUMN: st.column_config.TextColumn(width=125),
            _COLUMN_BY_SIDE["−"]: st.column_config.TextColumn(width=90),
            _COLUMN_BY_SIDE["+"]: st.column_config.TextColumn(width=90),
            _RATERS_COLUMN: st.column_config.TextColumn(width=130),
            _TEXT_COLUMN: st.column_config.TextColumn(width=420),
        },
    )
    st.caption("Side A, side B: readers who find it helpful / somewhat helpful / not helpful.")
    by_key = {row.key: (place, row) for place, row in enumerate(rows, start=1)}
    names = {key: f"{place} · {row.name}{_format_short_score(row.score)}" for key, (place, row) in by_key.items()}
    chosen = st.selectbox(
        "Read one in full",
        list(by_key),
        index=None,
        placeholder="Choose by rank",
        format_func=names.__getitem__,
        key=f"read-{case.id}-{made.number}",
    )
    if chosen in by_key:
        _draw_ranked_text(case, by_key[chosen][1], busy=busy)


def _list_ranking_rows(made: SupernoteRound) -> list[_RankingRow]:
    rows = [
        _RankingRow(item.sha256, _name_candidate(made, item), item.text, item.score, candidate=item)
        for item in made.passed
    ]
    for note in made.notes:
        real = STATUS_WORDS[note.status] if note.status else NO_STATUS
        rows.append(_RankingRow(note.id, f"note {note.id}", note.text, made.existing.get(note.id), real, note=note))
    return sorted(rows, key=lambda row: _ranking_sort_key(row, made))


def _ranking_sort_key(row: _RankingRow, made: SupernoteRound) -> tuple[bool, float, int]:
    """By the jury, drafts of equal score in the order of the round; what it cannot judge last."""
    score, place = row.score.intercept if row.score else 0.0, 0
    if row.candidate is not None:
        place = 0 if row.key == made.winner else _rank_of(made, row.candidate)
        alike = made.tied
        if row.key == made.winner or row.candidate in alike:
            score = max((item.score.intercept for item in alike if item.score), default=score)
    return not _has_usable_score(row.score), -score, place


def _name_candidate(made: SupernoteRound, item: Candidate) -> str:
    if item.sha256 == made.winner:
        return "the best"
    return f"draft {_rank_of(made, item)}"


def _build_ranking_cells(place: int, row: _RankingRow, made: SupernoteRound) -> Mapping[str, object]:
    score = row.score
    cells: dict[str, object] = {_RANK_COLUMN: place, _WHAT_COLUMN: row.name}
    if score is None or score.means_nothing:
        cells |= {_INTERCEPT_COLUMN: None, _RANGE_COLUMN: "not run", _JURY_COLUMN: ""}
    else:
        status = _LABEL_BY_JURY_STATUS.get(score.status)
        cells |= {
            _INTERCEPT_COLUMN: score.intercept,
            _RANGE_COLUMN: f"{score.interval.low:.2f} to {score.interval.high:.2f}",
            _JURY_COLUMN: status or score.status,
        }
        for side in (score.negative, score.positive):
            cells[_COLUMN_BY_SIDE[side.side]] = f"{side.helpful} / {side.somewhat_helpful} / {side.not_helpful}"
    if row.candidate is not None:
        rating = supernote_actions.rate_source_notes(made, row.candidate)
        cells |= {} if rating is None else {_SOURCE_RATING_COLUMN: rating}
    if row.candidate is not None and row.candidate.grade is not None:
        cells[_GRADE_COLUMN] = row.candidate.grade
    # The table's own button saves it as CSV.
    return {**cells, _RATERS_COLUMN: row.status, _TEXT_COLUMN: plain_cell(" ".join(row.text.split()))}


def _format_short_score(score: SupernoteScore | None) -> str:
    return (
        f" · {in_figures(score.intercept, _get_helpful_line())}"
        if score is not None and not score.means_nothing
        else ""
    )


def _draw_ranked_text(case: Case, row: _RankingRow, *, busy: bool) -> None:
    with st.container(border=True, gap="xsmall", key="ranked-one"):
        outside_text(row.text, look="note", key=f"ranked-{case.id}-{row.key[:12]}", copy=True)
        if row.note is not None:
            st.markdown(f"{status_badge(row.note.status)} :small[:gray[{in_ratings(row.note.ratings)}]]")
        if row.candidate is not None:
            st.caption(_format_origin_notes(row.candidate))
            for objection in row.candidate.objections:
                st.caption(f":material/rate_review: {escaped(objection, 300)}")
            _draw_take_button(case, row.candidate, busy=busy, key="take-ranked")
        _draw_votes(case, row)


def _draw_votes(case: Case, row: _RankingRow) -> None:
    score = row.score
    if score is None or score.means_nothing:
        return
    votes((score.negative, score.positive), key=f"ranked-votes-{case.id}-{row.key[:12]}")
