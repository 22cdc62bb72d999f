"""Statuses of the index's notes, by its fit and on X, and how many notes another line would show."""

from __future__ import annotations

from crowdnotes.bridging.model import NoteStatus, RuleName
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.domain import FrozenModel
from crowdnotes.public_data.database import Connection, how_many
from crowdnotes.public_data.indexing import last_fit
from crowdnotes.public_data.replay import WHY_X_DIFFERS
from crowdnotes.wording import fill


class Verdicts(FrozenModel):
    """How many notes have each status, in the order of `STATUSES`: by the fit, and on X; the latter empty if not known.

    reach: how many notes have a score of at least the line. shown_at: how many the rules show with other lines. held:
    the rules that decided of notes over the line that are not shown, each with how many, most first. both, same: notes
    with a status here and on X, and how many have the same. deleted: with a record or score, without text.
    """

    reckoned: tuple[int, int, int]
    on_x: tuple[int, int, int] | None
    reach: int
    line: float
    shown_at: tuple[tuple[float, int], ...]
    held: tuple[tuple[RuleName, int], ...]
    both: int
    same: int
    deleted: int
    locked: int
    raters: str = ""

    @property
    def sentence(self) -> str:
        """By the fit."""
        return _write_status_sentence(
            (
                "By these ratings, {helpful:,} of {n:,} notes with enough ratings would be shown, {not_helpful:,} "
                "would be rated not helpful and {waiting:,} would wait."
            ),
            self.reckoned,
        )

    @property
    def about_x(self) -> str:
        """What X said of them, and why the two can differ."""
        if self.on_x is None:
            return f"We do not know what X decided: this data has no status history. {WHY_X_DIFFERS}"
        named = dict(zip(("helpful", "not_helpful", "waiting"), self.on_x, strict=True))
        same = self.same / self.both if self.both else 0.0
        record = fill(
            (
                "X's own record: {helpful:,} of {n:,} notes shown, {not_helpful:,} rated not helpful, {waiting:,} "
                "waiting. Of the {both:,} in both, {same:.0%} have the same status."
            ),
            n=sum(self.on_x),
            both=self.both,
            same=same,
            **named,
        )
        return f"{record} {WHY_X_DIFFERS}"

    @property
    def about_line(self) -> str:
        """What another line would do; "" in an index whose fit did not ask."""
        if not self.shown_at:
            return ""
        (low_line, low), (high_line, high) = self.shown_at
        said = (
            f"Is {self.line:.2f} the right line? Here it makes no difference: {low_line:.2f} and {high_line:.2f} show "
            f"{low:,} notes too."
            if low == high == self.reckoned[0]
            else f"Is {self.line:.2f} the right line? It shows {self.reckoned[0]:,} notes, {low_line:.2f} {low:,} and "
            f"{high_line:.2f} {high:,}. The data does not say which is right: a lower line lets through notes on "
            "which the sides agree less."
        )
        if not self.held:
            return said
        rule, most = self.held[0]
        held = sum(many for _, many in self.held)
        held_back = (
            f"Other rules hold back {held:,} of the {self.reach:,} notes that reach {self.line:.2f}, most often "
            f"“{rule.as_text}” ({most:,})."
        )
        return f"{said} {held_back}"

    @property
    def about_power(self) -> str:
        """What X did to notes, as far as the data shows."""
        said = []
        if self.deleted:
            said.append(f"Notes without their text, deleted by their author or by X: {self.deleted:,}.")
        if self.locked:
            said.append(f"Notes whose status X locked: {self.locked:,}.")
        return " ".join(said)


STATUSES = (NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL, NoteStatus.NEEDS_MORE_RATINGS)


def verdicts(connection: Connection, thresholds: Thresholds = THRESHOLDS) -> Verdicts | None:
    """Count them; None where no note has a status by the fit."""
    fit = last_fit(connection)
    if not fit.statuses:
        return None
    line = thresholds.helpful_intercept
    decided = connection.execute(
        "SELECT decided_by, count(*) FILTER (status <> ?) AS held, count(*) AS n FROM scores WHERE intercept >= ?"
        " GROUP BY decided_by ORDER BY held DESC, decided_by",
        [NoteStatus.HELPFUL.value, line],
    ).fetchall()
    recorded = connection.execute("SELECT status, count(*) FROM history WHERE status <> '' GROUP BY status").fetchall()
    return Verdicts(
        reckoned=_order_counts(fit.statuses),
        on_x=_order_counts(dict(recorded)) if recorded else None,
        reach=sum(n for _, _, n in decided),
        line=line,
        shown_at=fit.shown_at,
        held=tuple((RuleName(rule), held) for rule, held, _ in decided if held),
        both=fit.on_x,
        same=fit.as_on_x,
        raters="" if fit.whose is None else fit.whose.sentence,
        deleted=how_many(
            connection,
            "SELECT count(*) FROM (SELECT note FROM history UNION SELECT note FROM scores)"
            " ANTI JOIN notes USING (note)",
        ),
        locked=how_many(connection, "SELECT count(*) FROM history WHERE locked_at IS NOT NULL AND locked_status <> ''"),
    )


def _order_counts(by_status: dict[str, int]) -> tuple[int, int, int]:
    helpful, not_helpful, waiting = (by_status.get(status.value, 0) for status in STATUSES)
    return helpful, not_helpful, waiting


def _write_status_sentence(words: str, counts: tuple[int, int, int]) -> str:
    helpful, not_helpful, waiting = counts
    return fill(words, n=sum(counts), helpful=helpful, not_helpful=not_helpful, waiting=waiting)
