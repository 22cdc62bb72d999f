"""One approved note to X, once: what is meant to be sent is written down before the call, and looked up after a crash.

A row says by post what was sent or meant to be. Before anything else, a row without a known end is looked up among the
account's notes on X, and only when it was left alone for longer than a call can take.
"""

from __future__ import annotations

import html
import secrets
from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import ColumnElement, Engine, Update, delete, func, select, update

from crowdnotes.cases.cases import Cases
from crowdnotes.cases.export import is_demonstration
from crowdnotes.domain import (
    Act,
    Actor,
    Case,
    Classification,
    DecisionKind,
    Draft,
    Event,
    FrozenModel,
    OnX,
    OnXState,
    text_sha256,
)
from crowdnotes.errors import InputError, WorkflowError, XError, XFault
from crowdnotes.storage.database import insert_into, now_of, reading, writing
from crowdnotes.storage.tables import cases, on_x, storable_text, x_scores
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.pasted import post_number
from crowdnotes.x_api.client import WrittenNote, XClient

_QUOTA_PERIOD, _MAX_POSTS_PER_DAY = timedelta(days=1), 250  # X's limit on calls that send a note
_CALL_TIMEOUTS_UNTIL_STALE = 3  # times as long as a call may take: the call has then surely ended

TAGS = {
    "misleadingFactualError": "factual_error",
    "misleadingManipulatedMedia": "manipulated_media",
    "misleadingOutdatedInformation": "outdated_information",
    "misleadingMissingImportantContext": "missing_important_context",
    "misleadingUnverifiedClaimAsFact": "disputed_claim_as_fact",
    "misleadingSatire": "misinterpreted_satire",
    "misleadingOther": "other",
}
"""The tags of the public data in the API's names."""

_LABEL_BY_STATUS = {
    "currently_rated_helpful": "rated helpful, shown",
    "currently_rated_not_helpful": "rated not helpful",
    "needs_more_ratings": "needs more ratings",
    "needs_your_help": "needs more ratings",
    "firm_reject": "rejected",
    "insufficient_consensus": "raters do not agree",
    "minimum_ratings_not_met": "too few ratings",
}


class Followed(FrozenModel):
    """All notes that were sent: those that X lists, and those that it does not, or of which no answer ever came."""

    listed: tuple[OnX, ...]
    not_listed: tuple[OnX, ...]


class ToX:
    """What one person may do on X, for whom X is set up. Safe for threads and processes.

    Raises NotAllowedError; WorkflowError and InputError where a note may not be sent; XError; StoreError.
    """

    def __init__(self, engine: Engine, cases: Cases, client: XClient) -> None:
        self._engine = engine
        self._cases = cases
        self.client = client
        self._settled_after = timedelta(seconds=cases.settings.x.seconds * _CALL_TIMEOUTS_UNTIL_STALE)

    def with_cases(self, cases: Cases) -> ToX:
        """Return what another person may do on X, with their cases."""
        return ToX(self._engine, cases, self.client)

    @property
    def test_mode(self) -> bool:
        """See `XClient.test_mode`."""
        return self.client.test_mode

    def require(self) -> None:
        """Raise NotAllowedError where the person may not ask X."""
        self._cases.require(Act.SEND_TO_X)

    # --- before approval ---

    def evaluate(self, case_id: str) -> float:
        """Ask X what it makes of the note as it is, and keep that; see `XClient.evaluate`."""
        case = self._cases.get(case_id, Act.SEND_TO_X)
        draft = _require_sendable_draft(case)
        score = self.client.evaluate(_require_post_id(case), draft.text)
        of_note = {"case_id": case_id, "text_sha256": draft.sha256}
        with writing(self._engine) as connection:
            row = insert_into(connection, x_scores).values(**of_note, score=score)
            connection.execute(row.on_conflict_do_update(index_elements=list(of_note), set_={"score": score}))
        return score

    def score(self, case: Case) -> float | None:
        """Return what X made of the note as it is now; None before it was asked."""
        if case.draft is None:
            return None
        mine = (x_scores.c.case_id == case.id, x_scores.c.text_sha256 == case.draft.sha256)
        with reading(self._engine) as connection:
            return connection.scalar(select(x_scores.c.score).where(*mine))

    # --- after it ---

    def sent(self, case: Case) -> OnX | None:
        """Return what was sent to the case's post, or meant to be; None of a post that is not on X."""
        number = post_number(case.post.url or "")
        if number is None:
            return None
        with reading(self._engine) as connection:
            row = connection.execute(select(on_x).where(*self._of(str(number)))).mappings().first()
        return None if row is None else OnX.model_validate(dict(row))

    def submit(self, case_id: str, seen: str) -> OnX:
        """Send the approved note, whose text has the sha256 `seen`, unless it was sent or may have been.

        Where an earlier try has no known end, X is asked for the account's notes first.
        """

        def on_its_way(newest: Case, by: Actor) -> Case:
            _require_approved_draft(newest, seen)
            return self._with_event(newest, by, "being sent to X", self._mode())

        case = self._cases.get(case_id, Act.SEND_TO_X)
        draft, post_id = _require_approved_draft(case, seen), _require_post_id(case)
        mine = self._intend(case_id, post_id, draft)
        earlier = None if mine is not None else self._unfinished(case)
        if earlier is not None:
            if (found := self._look_up(earlier, case)) is not None:
                return self._arrived(earlier, found, case_id)
            mine = self._taken_over(earlier, case_id, draft)
        assert mine is not None  # noqa: S101 - one of the two, or an error
        try:
            # Once more, on the newest version, in the step that puts it on record: what is sent is that very text.
            case = self._cases.update(Act.SEND_TO_X, case_id, on_its_way)
        except Exception:
            if earlier is None:
                self._forget(mine)
            raise
        return self._sent(case, mine)

    def _sent(self, case: Case, mine: OnX) -> OnX:
        draft, tags = _require_sendable_draft(case), [TAGS[tag] for tag in case.tags if tag in TAGS]
        misleads = case.classification is Classification.MISLEADING
        try:
            note_id = self.client.submit(
                mine.post_id, draft.text, case.classification.value.lower(), tags if misleads else []
            )
        except XError as error:
            if error.fault is XFault.HAS_NOTE and (found := self._look_up(mine, case)) is not None:
                return self._arrived(mine, found, case.id)
            if error.surely_not:
                self._forget(mine)
                self._record(case.id, "not taken by X", error.message)
            raise
        return self._arrived(mine, WrittenNote(note_id, mine.post_id, draft.text), case.id)

    def follow(self, case_id: str) -> OnX:
        """Ask X for the note's status; a change goes into the case's audit trail."""
        case = self._cases.get(case_id, Act.SEND_TO_X)
        row = self._require_row(case)
        found = self._look_up(row, case)
        if found is None:
            raise WorkflowError("not on X", "X does not list the note.", "Try again in a minute.")
        return self._arrived(row, found, row.case_id)

    def follow_all(self) -> Followed:
        """Do as `follow` for every note whose case is there, with one look through the account's notes."""
        self.require()
        with reading(self._engine) as connection:
            mine = select(on_x).join(cases, cases.c.id == on_x.c.case_id).where(on_x.c.test_mode == self.test_mode)
            rows = [OnX.model_validate(dict(row)) for row in connection.execute(mine).mappings()]
        written = {note.id: note for note in self.client.written()} if rows else {}
        listed = [self._arrived(row, written[row.note_id], row.case_id) for row in rows if row.note_id in written]
        return Followed(listed=tuple(listed), not_listed=tuple(row for row in rows if row.note_id not in written))

    def withdraw(self, case_id: str) -> Case:
        """Delete the note on X; another one may then be sent."""
        row = self._require_row(self._cases.get(case_id, Act.SEND_TO_X))
        if row.state is not OnXState.SENT:
            raise WorkflowError("not on X", "X does not list the note.", "Try again in a minute.")
        try:
            self.client.delete(row.note_id)
        except XError as error:
            if error.fault is not XFault.NOT_THERE:
                raise
        self._forget(row)
        return self._record(row.case_id, "deleted on X", row.note_id)

    @staticmethod
    def as_text(sent: OnX) -> str:
        """Return its status on X, with what a test found."""
        return ", ".join(filter(None, (status_in_words(sent.status), sent.results)))

    # --- the row ---

    def _of(self, post_id: str) -> tuple[ColumnElement[bool], ...]:
        return on_x.c.post_id == post_id, on_x.c.test_mode == self.test_mode

    def _intend(self, case_id: str, post_id: str, draft: Draft) -> OnX | None:
        """Return the row of a note that nobody sent or meant to send so far, written; None where there is one."""
        with writing(self._engine) as connection:
            now = now_of(connection)
            recent = select(func.count()).select_from(on_x).where(on_x.c.at > now - _QUOTA_PERIOD)
            if (connection.scalar(recent) or 0) >= _MAX_POSTS_PER_DAY:
                raise XError(XFault.DAY)
            mine = OnX(
                post_id=post_id,
                test_mode=self.test_mode,
                case_id=case_id,
                text_sha256=draft.sha256,
                attempt=secrets.token_hex(8),
                at=now,
                state=OnXState.OPEN,
            )
            row = mine.model_dump() | {"state": mine.state.value}
            # By what it gives back: of such an insert PostgreSQL's driver does not count the rows.
            added = insert_into(connection, on_x).values(row).on_conflict_do_nothing().returning(on_x.c.post_id)
            return mine if connection.scalar(added) is not None else None

    def _unfinished(self, case: Case) -> OnX:
        """Return the row that there is, where its end is not known and nobody is at it; else WorkflowError."""
        row = self._require_row(case)
        if row.state is OnXState.SENT:
            raise WorkflowError(
                "sent before",
                f"You already sent a note on this post: {row.note_id} on X.",
                "X takes one note a post. Delete that one first: `crowdnotes x delete CASE`.",
            )
        with reading(self._engine) as connection:
            is_settled = now_of(connection) - row.at > self._settled_after
        if not is_settled:
            raise WorkflowError(
                "being sent",
                "We are sending the note, or X has not answered yet.",
                "Try again in a minute. We then check with X before sending anything.",
            )
        return row

    def _taken_over(self, row: OnX, case_id: str, draft: Draft) -> OnX:
        with writing(self._engine) as connection:
            changes = {"case_id": case_id, "text_sha256": draft.sha256, "attempt": secrets.token_hex(8)}
            mine = row.replace(**changes, at=now_of(connection))
            if not connection.execute(self._change(row, {**changes, "at": mine.at})).rowcount:
                raise WorkflowError(
                    "being sent",
                    "We are sending the note, or X has not answered yet.",
                    "Try again in a minute. We then check with X before sending anything.",
                )
        return mine

    def _change(self, row: OnX, values: Mapping[str, object]) -> Update:
        return update(on_x).where(*self._of(row.post_id), on_x.c.attempt == row.attempt).values(values)

    def _forget(self, row: OnX) -> None:
        with writing(self._engine) as connection:
            connection.execute(delete(on_x).where(*self._of(row.post_id), on_x.c.attempt == row.attempt))

    def _require_row(self, case: Case) -> OnX:
        row = self.sent(case)
        if row is None:
            raise WorkflowError("not on X", "Nothing was sent on this post.")
        return row

    # --- what X says ---

    def _look_up(self, row: OnX, case: Case) -> WrittenNote | None:
        """Return the account's note on that post, the one that was sent; WorkflowError where it is another one."""
        found = next((note for note in self.client.written() if note.post_id == row.post_id), None)
        if found is None or (row.note_id and found.id == row.note_id):
            return found
        meant = [draft.text for draft in (case.draft, *case.revisions) if draft and draft.sha256 == row.text_sha256]
        if row.case_id == case.id and not any(
            _normalise_note_text(text) == _normalise_note_text(found.text) for text in meant
        ):
            raise WorkflowError(
                "another note",
                f"You have another note on this post: {found.id} on X.",
                "X takes one note a post. Nothing was sent.",
            )
        return found

    def _arrived(self, row: OnX, found: WrittenNote, case_id: str) -> OnX:
        """Keep what X says of it, then record it in the case; a crash between the two is mended by `follow`."""
        said = {"status": storable_text(found.status)[:64], "results": storable_text(found.results)[:500]}
        known = {"state": OnXState.SENT, "note_id": found.id, **said}
        with writing(self._engine) as connection:
            connection.execute(self._change(row, {**known, "state": OnXState.SENT.value}))
        now = row.replace(**known)
        self._record(case_id, "sent to X", f"{self._mode()} {found.id}".strip(), once=True)
        if found.status:
            self._record(case_id, "status on X", f"{found.id}: {self.as_text(now)}", once=True)
        return now

    def _mode(self) -> str:
        return "as a test" if self.test_mode else ""

    def _record(self, case_id: str, kind: str, detail: str, *, once: bool = False) -> Case:
        def change(case: Case, by: Actor) -> Case:
            last = next((event for event in reversed(case.events) if event.kind == kind), None)
            return (
                case
                if once and last is not None and last.detail == detail
                else self._with_event(case, by, kind, detail)
            )

        return self._cases.update(Act.SEND_TO_X, case_id, change)

    def _with_event(self, case: Case, by: Actor, kind: str, detail: str) -> Case:
        """Return the case with a line in its audit trail, also a decided one: that is what is sent."""
        event = Event(at=self._cases.now(), by=by.name, by_key=by.key, kind=kind, detail=detail)
        return case.replace(updated_at=event.at, events=(*case.events, event))


def status_in_words(status: str) -> str:
    """Return X's status as a person reads it; an unknown one as X says it."""
    known = _LABEL_BY_STATUS.get(status.lower())
    return known or status


def _require_post_id(case: Case) -> str:
    number = post_number(case.post.url or "")
    if number is None:
        raise InputError("The case has no post on X.", "Give the post's address, as https://x.com/…/status/…")
    return str(number)


def _require_sendable_draft(case: Case) -> Draft:
    """Return the note, if it may be sent to X at all."""
    if case.recorded_answers or is_demonstration(case):
        raise WorkflowError("demonstration", "A demonstration uses invented pages and is never sent to X.")
    if case.draft is None:
        raise WorkflowError("no note", "There is no note.")
    if not any(url.has_scheme for url in find_urls(case.draft.text)):
        raise InputError("X wants a link in the note that begins with https://.", "Write the whole link.")
    return case.draft


def _require_approved_draft(case: Case, seen: str) -> Draft:
    """Return the approved note, where it is the one that the person has seen."""
    draft, decision = _require_sendable_draft(case), case.decision
    if decision is None or decision.kind is not DecisionKind.APPROVED:
        raise WorkflowError("not approved", "Only approved notes are sent to X.", "Approve it first.")
    if not decision.text_sha256 == text_sha256(draft.text) == seen:
        raise WorkflowError(
            "changed", "The note changed since you approved it.", "Read and approve it again, then send it."
        )
    if case.classification is Classification.MISLEADING and not any(tag in TAGS for tag in case.tags):
        raise InputError("X wants at least one reason why the post is misleading.", "Reopen the case and tick one.")
    return draft


def _normalise_note_text(text: str) -> str:
    """Return the text without what X may change in it: escapes for HTML, and white space."""
    return " ".join(html.unescape(text).split())
