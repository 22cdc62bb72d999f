"""The winner beside the best existing note, who gave what, and the ranking of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from crowdnotes.domain import Candidate, Case, ExistingNote, SupernoteRound, SupernoteScore
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, escaped, in_figures
from crowdnotes.text.note_rules import NOTE_LIMIT, note_length
from pages.view.components import changed_pieces, marked_text, outside_text
from pages.view.given_notes import NO_STATUS, STATUS_WORDS, in_ratings, status_badge
from pages.view.jury import votes
from pages.view.plots import Part, Standing, number_line, stacked_shares
from pages.view.progress import under_way
from pages.view.session import author, button, workspace
from pages.view.steps import SupernoteStep, is_stale
from pages.view.words import say
from pages.view.workbench import Area, go_to

_PLACE = SupernoteStep.WINNER.value
_ENDS = (-0.4, 0.8)  # nearly all note intercepts of the public data lie between
_BESIDE = 4  # candidates on the line, the winner among them
_JURY_STATUS = {
    "CURRENTLY_RATED_HELPFUL": "would be shown",
    "CURRENTLY_RATED_NOT_HELPFUL": "not helpful",
    "NEEDS_MORE_RATINGS": "not shown yet",
}


def winner(case: Case, job: JobRecord | None) -> None:
    """Draw the winner beside the best note that there is, how they stand, and who gave what."""
    made = case.finished_round
    if made is None:
        return
    best = made.winning
    if best is None:
        _nobody()
    else:
        _beside(case, made, best, busy=under_way(job))
        _standing(case, made, best)
        _credit(case, made, best)
    _simulation(made)


def ranking_fold(case: Case, job: JobRecord | None) -> None:
    """Draw, folded, all that passed and the notes that there are, as the jury ranks them."""
    made = case.finished_round
    if made is None:
        return
    with st.expander(
        say("winner.ranking"), key=f"ranking-{case.id}", icon=":material/format_list_numbered:", on_change="rerun"
    ) as fold:
        if fold.open:
            _ranking(case, made, busy=under_way(job))


def _line() -> float:
    return workspace().settings.bridging.helpful_intercept


def _speaks(score: SupernoteScore | None) -> bool:
    return score is not None and not score.means_nothing


def _of_notes(candidate: Candidate) -> str:
    names = ", ".join(candidate.notes)
    return f"{'note' if len(candidate.notes) == 1 else 'notes'} {names}"


def _simulation(made: SupernoteRound) -> None:
    if not made.measured:
        st.markdown(":gray[:material/do_not_disturb_on: **The jury was NOT RUN:** nothing here is ranked by it.]")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(":material/science: **The jury is a simulation.**", width="content")
        with st.popover("How far to trust it", icon=":material/info:", type="tertiary"):
            st.markdown(escaped(made.measured))
            st.caption(
                "The two sides are raters whose factor in the algorithm lies below and above zero: the two camps "
                "that usually disagree. The intercept is what is left of a note's helpfulness when the camps are taken "
                f"out; X shows a note from {_line():.2f}. The same jurors sit for all texts."
            )


def _nobody() -> None:
    st.warning(say("winner.nobody_next"), title=say("winner.nobody"), icon=":material/filter_alt_off:")


# --- the two side by side ---


def _beside(case: Case, made: SupernoteRound, winner: Candidate, *, busy: bool) -> None:
    best = next((note for note in made.notes if note.id == made.best_existing), None)
    stale = case.supernote is not None and is_stale(case.supernote)  # then the one primary button makes candidates anew
    theirs, ours = changed_pieces(best.text if best else "", winner.text)
    with st.grid(2, min_column_width=260):
        with st.container(gap="xsmall", key="the-winner"):
            st.markdown(f"**The supernote** :small[:gray[chosen by {escaped(made.judged or 'nobody', 120)}]]")
            pieces = ours if best else changed_pieces(winner.text, winner.text)[1]
            marked_text(pieces, look="note", key=f"winner-{case.id}-{winner.sha256[:12]}", copy=True)
            st.caption(
                f"{note_length(winner.text)} of {NOTE_LIMIT} characters · from {_of_notes(winner)} · "
                f"{escaped(winner.engine, 60)}"
            )
            if same := [note.id for note in made.notes if note.text.split() == winner.text.split()]:
                st.caption(f":orange[:material/content_copy: These are the words of {same[0]}, unchanged.]")
            if winner.revised:
                st.caption(f":material/edit_note: Revised: {escaped(winner.revised, 300)}")
            for objection in winner.objections:
                st.caption(f":material/rate_review: {escaped(objection, 300)}")
            _take_button(case, winner, busy=busy, key="take-winner", primary=not stale)
        with st.container(gap="xsmall", key="the-best-existing"):
            if best is None:
                st.caption("There is no existing note to set beside it.")
                return
            by = f" :small[:gray[chosen by {escaped(made.best_by, 80)}]]" if made.best_by else ""
            st.markdown(f"**The best existing note, {best.id}**{by}")
            marked_text(theirs, look="note", key=f"best-{case.id}-{best.id}-{made.number}", copy=True)
            st.caption(f"{note_length(best.text)} of {NOTE_LIMIT} characters · {in_ratings(best.ratings)}")
            st.markdown(status_badge(best.status))
    if best is not None and best.text != winner.text:
        st.caption("Underlined: words that only the supernote has. Dotted: words that it leaves out.")


def _take_button(case: Case, candidate: Candidate, *, busy: bool, key: str, primary: bool = False) -> None:
    if case.decision is not None:
        st.caption(say("winner.decided"))
        return
    taken = case.draft is not None and case.draft.sha256 == candidate.sha256
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        button(
            say("winner.go_on" if taken else "winner.take"),
            key,
            _PLACE,
            partial(_take, case, candidate),
            icon="edit_note",
            type="primary" if primary else "secondary",
            disabled=busy,
            help=say("winner.take_about"),
        )
        if taken:
            st.badge("in the draft", color="blue", icon=":material/check:")


def _take(case: Case, candidate: Candidate) -> None:
    workspace().service.take_candidate(case.id, candidate.sha256, author())
    go_to(Area.SOURCES)
    st.session_state[_GOES] = True


_GOES = "supernote-goes-on"


def goes_on(case: Case) -> None:
    """Go to the Draft page where the person has just taken a text there."""
    if st.session_state.pop(_GOES, False):
        st.switch_page("pages/draft.py", query_params={"case": case.id})


# --- where they stand ---


def _standing(case: Case, made: SupernoteRound, winner: Candidate) -> None:
    st.markdown(f"**{say('winner.status')}:** {escaped(_verdict(made, winner))}")
    best = made.existing.get(made.best_existing or "")
    shown = [("the supernote", winner.score)]
    others = [item for item in made.passed if item.sha256 != winner.sha256 and _speaks(item.score)][: _BESIDE - 1]
    shown += [(f"candidate {_rank_of(made, item)}", item.score) for item in others]
    if best is not None:
        shown.insert(1, (f"best existing, {made.best_existing}", best))
    standings = [
        Standing(name, score.intercept, score.interval.low, score.interval.high)
        for name, score in shown
        if score is not None and not score.means_nothing
    ]
    if standings:
        number_line(
            standings,
            line=_line(),
            ends=_ENDS,
            alt=" ".join(f"{item.name}: {item.value:.2f} ({item.low:.2f} to {item.high:.2f})." for item in standings),
            key=f"standing-{case.id}-{made.number}",
        )
        st.caption(say("winner.line_about"))


def _verdict(made: SupernoteRound, winner: Candidate) -> str:
    """The picture in a sentence."""
    mine, theirs = winner.score, made.existing.get(made.best_existing or "")
    if mine is None:
        return "The jury was NOT RUN for this text; the filters carry the choice."
    if mine.means_nothing:
        return "The jury's numbers mean nothing for this text; filters and judge carry the choice."
    reaches = "reaches" if mine.intercept >= _line() else "stays below"
    said = (
        f"At {in_figures(mine.intercept, _line())} the supernote {reaches} the {_line():.2f} from which X shows a note"
    )
    if theirs is None or theirs.means_nothing:
        return f"{said}."
    ahead = mine.intercept - theirs.intercept
    overlap = mine.interval.low < theirs.interval.high and theirs.interval.low < mine.interval.high
    apart = f"{abs(ahead):.2f}"
    level = apart == "0.00"
    beside = "level with" if level else f"{apart} {'above' if ahead > 0 else 'below'}"
    beside += f" the best existing note, {made.best_existing}"
    unsure = " Their ranges overlap: the jury is not sure which is better." if overlap else ""
    return f"{said}; that is {beside}.{unsure}"


def _rank_of(made: SupernoteRound, candidate: Candidate) -> int:
    return 1 + next(place for place, item in enumerate(made.passed) if item.sha256 == candidate.sha256)


# --- who gave what ---


def _credit(case: Case, made: SupernoteRound, winner: Candidate) -> None:
    if not made.credits:
        return
    lead = max(made.credits, key=lambda item: item.share)
    st.markdown(f"**Who gave what:** {round(100 * lead.share)} % of its words are from {lead.note}.")
    given = [item for item in made.credits if item.share > 0]
    stacked_shares(
        ["the supernote"],
        [Part(item.note, (round(100 * item.share),)) for item in given],
        alt=", ".join(f"{item.note} {round(100 * item.share)} percent" for item in given),
        between="",
        key=f"credit-{case.id}-{made.number}",
    )
    with st.expander("Sentence by sentence, and what is lost without each note", icon=":material/attribution:"):
        for number, sentence in enumerate(winner.sentences, start=1):
            words = winner.text[sentence.span.start : sentence.span.end]
            carried = ", ".join(dict.fromkeys(item.evidence_id for item in sentence.carriers))
            behind = f" · carried by {escaped(carried)}" if carried else ""
            st.markdown(f":small[:gray[{number} · from {escaped(', '.join(sentence.notes) or 'no note')}{behind}]]")
            outside_text(words, look="quote", key=f"credit-{case.id}-{made.number}-{number}")
        if not _speaks(winner.score):
            st.markdown(":small[What is lost without each note: NOT RUN, for the jury says nothing of the winner.]")
            return
        for item in made.credits:
            st.markdown(f":small[**{item.note}**: {_without(item.without, item.loss)}]")


def _without(without: float | None, loss: float | None) -> str:
    if without is None:
        return "without it no candidate that the jury can judge is left"
    best = f"without it the best candidate has {without:.2f}"
    if loss is None:
        return best
    return f"{best}, {abs(loss):.2f} {'less' if loss >= 0 else 'more'}"


# --- the ranking ---


@dataclass(frozen=True, slots=True)
class _Row:
    """A candidate or an existing note in the ranking."""

    key: str
    name: str
    text: str
    score: SupernoteScore | None
    status: str = ""
    candidate: Candidate | None = None
    note: ExistingNote | None = None


def _ranking(case: Case, made: SupernoteRound, *, busy: bool) -> None:
    rows = _rows(made)
    if not rows:
        return
    st.caption(say("winner.ranking_about"))
    st.dataframe(
        [_cells(place, row) for place, row in enumerate(rows, start=1)],
        hide_index=True,
        placeholder="–",
        alt=f"{len(rows)} texts, ranked; each can be read in full below.",
        height=min(38 + 35 * len(rows), 388),
        key=f"ranking-{case.id}-{made.number}",
        column_config={
            "Rank": st.column_config.NumberColumn(width=50),
            "What": st.column_config.TextColumn(width=125),
            "Intercept": st.column_config.NumberColumn(format="%.2f", width=80, help=f"X shows a note from {_line()}"),
            "90 % range": st.column_config.TextColumn(width=100),
            "The jury": st.column_config.TextColumn(width=125),
            "One side h / s / n": st.column_config.TextColumn(width=115, help="helpful / somewhat / not helpful"),
            "Other side h / s / n": st.column_config.TextColumn(width=115, help="helpful / somewhat / not helpful"),
            "Raters on X": st.column_config.TextColumn(width=130),
            "Text": st.column_config.TextColumn(width=420),
        },
    )
    st.caption("h / s / n: how many jurors of a side find it helpful, somewhat helpful, not helpful.")
    by_key = {row.key: (place, row) for place, row in enumerate(rows, start=1)}
    names = {key: f"{place} · {row.name}{_in_short(row.score)}" for key, (place, row) in by_key.items()}
    chosen = st.selectbox(
        "Read one in full, and take it",
        list(by_key),
        index=None,
        placeholder="By its rank",
        format_func=names.__getitem__,
        key=f"read-{case.id}-{made.number}",
    )
    if chosen in by_key:
        _one(case, by_key[chosen][1], busy=busy)


def _rows(made: SupernoteRound) -> list[_Row]:
    rows = [
        _Row(item.sha256, _candidate_name(made, item), item.text, item.score, candidate=item) for item in made.passed
    ]
    for note in made.notes:
        real = STATUS_WORDS[note.status] if note.status else NO_STATUS
        rows.append(_Row(note.id, f"existing note {note.id}", note.text, made.existing.get(note.id), real, note=note))
    return sorted(rows, key=lambda row: _order(row, made))


def _order(row: _Row, made: SupernoteRound) -> tuple[bool, float, bool]:
    """By the jury, the winner first among equals; what it cannot judge last."""
    is_winner = row.candidate is not None and row.key == made.winner
    return not _speaks(row.score), -(row.score.intercept if row.score else 0.0), not is_winner


def _candidate_name(made: SupernoteRound, item: Candidate) -> str:
    return "the winner" if item.sha256 == made.winner else f"candidate {_rank_of(made, item)}"


def _cells(place: int, row: _Row) -> Mapping[str, object]:
    score = row.score
    cells: dict[str, object] = {"Rank": place, "What": row.name}
    if score is None or score.means_nothing:
        cells |= {"Intercept": None, "90 % range": "not judged", "The jury": ""}
    else:
        cells |= {
            "Intercept": score.intercept,
            "90 % range": f"{score.interval.low:.2f} to {score.interval.high:.2f}",
            "The jury": _JURY_STATUS.get(score.status, score.status),
        }
        for side in (score.negative, score.positive):
            told = f"{side.helpful} / {side.somewhat_helpful} / {side.not_helpful}"
            cells[f"{'One' if side.side == '−' else 'Other'} side h / s / n"] = told
    if row.candidate is not None and row.candidate.grade is not None:
        cells["Judge of 10"] = row.candidate.grade
    return {**cells, "Raters on X": row.status, "Text": " ".join(row.text.split())}


def _in_short(score: SupernoteScore | None) -> str:
    return f" · intercept {score.intercept:.2f}" if score is not None and not score.means_nothing else ""


def _one(case: Case, row: _Row, *, busy: bool) -> None:
    with st.container(border=True, gap="xsmall", key="ranked-one"):
        outside_text(row.text, look="note", key=f"ranked-{case.id}-{row.key[:12]}", copy=True)
        if row.note is not None:
            st.markdown(f"{status_badge(row.note.status)} :small[:gray[{in_ratings(row.note.ratings)}]]")
        if row.candidate is not None:
            st.caption(f"From {_of_notes(row.candidate)} · {count(len(row.candidate.sentences), 'sentence')}")
            for objection in row.candidate.objections:
                st.caption(f":material/rate_review: {escaped(objection, 300)}")
            _take_button(case, row.candidate, busy=busy, key="take-ranked")
        _votes(case, row)


def _votes(case: Case, row: _Row) -> None:
    score = row.score
    if score is None or score.means_nothing:
        return
    votes((score.negative, score.positive), key=f"ranked-votes-{case.id}-{row.key[:12]}")
