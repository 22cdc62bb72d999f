"""Where comparisons and answers are kept, and everything that a page or command may do with them.

An answer is one row by comparison, participant and pair: none counts twice, however often it is sent.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, Engine, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from crowdnotes.cases.permissions import require
from crowdnotes.domain import (
    Act,
    Answer,
    Choice,
    Comparison,
    ComparisonResults,
    ComparisonSummary,
    CurrentUser,
    Rating,
    Sheet,
)
from crowdnotes.errors import ComparisonNotFoundError, InputError, StoreError
from crowdnotes.reports.comparison_files import read_pairs
from crowdnotes.storage.database import insert_into, reading, writing
from crowdnotes.storage.tables import comparison_answers, comparisons, storable_text
from crowdnotes.text.markdown import clip

_PARTICIPANT_PATTERN = re.compile(r"[A-Za-z0-9_-]{8,64}")
_MAX_TITLE_CHARACTERS = 120
_MAX_NAME_CHARACTERS = 40  # it is shown next to plots, on a phone too
_ANSWER_COLUMNS = ("participant", "pair", "first_at", "at")  # fields of an answer that have a column of their own


class Comparisons:
    """Comparisons in a database opened by `open_database`, as `current_user` may use them.

    Safe for threads and processes. Participants have no account: by a link they may call `sheets` and `answer`; all
    else raises NotAllowedError without the right to it. Raises ComparisonNotFoundError for an unknown or deleted id,
    and other kinds of StoreError.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime], current_user: CurrentUser) -> None:
        self._engine = engine
        self._clock = clock
        self._current_user = current_user

    def acting_as(self, current_user: CurrentUser) -> Comparisons:
        """Return the same for another person."""
        return Comparisons(self._engine, self._clock, current_user)

    @staticmethod
    def new_participant() -> str:
        """Return an id that nobody can guess."""
        return secrets.token_hex(12)

    @staticmethod
    def is_participant(given: str) -> bool:
        """Return whether a text from the page's address can be a participant's id; study services bring their own."""
        return _PARTICIPANT_PATTERN.fullmatch(given) is not None

    def add(
        self,
        file: str,
        content: bytes,
        *,
        title: str = "",
        names: tuple[str, str] = ("", ""),
        each: int = 0,
        short: bool = False,
    ) -> Comparison:
        """Return a comparison of the pairs in a file; `each` participant sees so many, all with 0.

        With `short` they say only which note helps more.
        Without a title it is called like the file, and the notes as the file's columns say. Raises InputError.
        """
        self._require()
        found = read_pairs(file, content)
        first, second = (
            _shorten_title(given)[:_MAX_NAME_CHARACTERS] or known
            for given, known in zip(names, found.names, strict=True)
        )
        if first == second:
            raise InputError("Both kinds of note have the same name.", "Call them differently.")
        made = Comparison(
            id=secrets.token_hex(16),  # a word that begins with "-" is an option to the command line
            created_at=self._clock(),
            title=_shorten_title(title) or _shorten_title(file),
            names=(first, second),
            pairs=found.pairs,
            each=min(each, len(found.pairs)) if each > 0 else len(found.pairs),
            short=short,
            sides_unknown=found.sides_unknown,
        )
        row = {
            "id": made.id,
            "created_at": made.created_at,
            "title": made.title,
            "pairs": len(made.pairs),
            "document": made.model_dump_json(),
        }
        with writing(self._engine) as connection:
            connection.execute(insert(comparisons).values(row))
        return made

    def summaries(self) -> list[ComparisonSummary]:
        """Return the newest first."""
        self._require()
        answers = comparison_answers.c
        query = (
            select(
                *(comparisons.c[name] for name in ("id", "created_at", "title", "pairs")),
                func.count(answers.participant.distinct()).label("participants"),
                func.count(answers.participant).label("answers"),
            )
            .outerjoin(comparison_answers, answers.comparison_id == comparisons.c.id)
            .group_by(comparisons.c.id)
            .order_by(comparisons.c.created_at.desc(), comparisons.c.id)
        )
        with reading(self._engine) as connection:
            return [ComparisonSummary.model_validate(dict(row)) for row in connection.execute(query).mappings()]

    def get(self, comparison_id: str) -> Comparison:
        """With its pairs."""
        self._require()
        return self._get(comparison_id)

    def each(self, comparison_id: str) -> int:
        """Return how many pairs a participant sees."""
        return self._get(comparison_id).each

    def is_short(self, comparison_id: str) -> bool:
        """Return whether participants say only which note helps more."""
        return self._get(comparison_id).short

    def _require(self) -> None:
        require(self._current_user(), Act.COMPARE)

    def _get(self, comparison_id: str) -> Comparison:
        with reading(self._engine) as connection:
            return _load_comparison(connection, comparison_id)

    def delete(self, comparison_id: str) -> None:
        """Delete it and its answers."""
        self._require()
        with writing(self._engine) as connection:
            if not connection.execute(delete(comparisons).where(_match_comparison(comparison_id))).rowcount:
                raise ComparisonNotFoundError("There is no such comparison.")

    def sheets(self, comparison_id: str, participant: str) -> list[Sheet]:
        """Return the pairs of a participant as they see them, in their order, with what they answered."""
        with reading(self._engine) as connection:
            comparison = _load_comparison(connection, comparison_id)
            known = {answer.pair: answer for answer in _load_answers(connection, comparison_id, participant)}
        sheets = []
        for pair in comparison.seen_by(participant):
            notes = (pair.first, pair.second)
            left, right = notes if comparison.first_is_left(participant, pair.id) else notes[::-1]
            sheets.append(Sheet(pair=pair.id, post=pair.post, left=left, right=right, answer=known.get(pair.id)))
        return sheets

    def answer(
        self,
        comparison_id: str,
        participant: str,
        pair: str,
        *,
        left: Rating | None = None,
        right: Rating | None = None,
        chosen: Choice,
    ) -> Answer:
        """Keep what a participant says of a pair, in the place of what they said before.

        Raises InputError for a pair that they do not see, and for a missing rating if the comparison is not `short`.
        """
        now = self._clock()
        comparison = self._get(comparison_id)
        if not self.is_participant(participant) or pair not in {one.id for one in comparison.seen_by(participant)}:
            raise InputError("This pair is none of yours.", "Open the link again.")
        if not comparison.short and (left is None or right is None):
            raise InputError("Both notes need a rating.")
        given = Answer(
            participant=participant,
            pair=pair,
            left=left,
            right=right,
            chosen=chosen,
            first_is_left=comparison.first_is_left(participant, pair),
            first_at=now,
            at=now,
        )
        values = {"at": now, "document": given.model_dump_json(exclude=set(_ANSWER_COLUMNS))}
        key = {"comparison_id": comparison_id, "participant": participant, "pair": pair}
        with writing(self._engine) as connection:
            row = insert_into(connection, comparison_answers).values(**key, first_at=now, **values)
            try:
                connection.execute(row.on_conflict_do_update(index_elements=list(key), set_=values))
            except IntegrityError as error:  # deleted meanwhile
                raise ComparisonNotFoundError("There is no such comparison.") from error
        return given

    def answers(self, comparison_id: str) -> list[Answer]:
        """All, in the order of their first coming."""
        self._require()
        with reading(self._engine) as connection:
            return _load_answers(connection, comparison_id)

    def results(self, comparison_id: str) -> ComparisonResults:
        """See `comparison_results.results`."""
        from crowdnotes.reports.comparison_results import results

        return results(self.get(comparison_id), self.answers(comparison_id))

    def exported(self, comparison_id: str, *, votes: bool = False) -> str:
        """Return the answers as CSV, or as the votes that `crowdnotes bench compare` counts.

        Raises InputError for votes on notes that were not shuffled by it: their sides are not those it counts by.
        """
        from crowdnotes.reports.comparison_export import as_csv, as_votes

        comparison, answers = self.get(comparison_id), self.answers(comparison_id)
        if votes and not comparison.sides_unknown:
            raise InputError("Votes are of pairs.jsonl, whose sides are shuffled.", "Here the results count them.")
        return as_votes(answers) if votes else as_csv(comparison, answers)


def _shorten_title(text: str) -> str:
    return clip(" ".join(storable_text(text).split()), _MAX_TITLE_CHARACTERS)


def _match_comparison(comparison_id: str) -> ColumnElement[bool]:
    # Ids come from the address bar too, with whatever characters.
    return comparisons.c.id == storable_text(comparison_id)


def _load_comparison(connection: Connection, comparison_id: str) -> Comparison:
    document = connection.scalar(select(comparisons.c.document).where(_match_comparison(comparison_id)))
    if document is None:
        raise ComparisonNotFoundError("There is no such comparison.")
    with _raise_on_newer_version():
        return Comparison.model_validate_json(document)


def _load_answers(connection: Connection, comparison_id: str, participant: str | None = None) -> list[Answer]:
    column = comparison_answers.c
    query = select(comparison_answers).where(column.comparison_id == storable_text(comparison_id))
    if participant is not None:
        query = query.where(column.participant == storable_text(participant))
    with _raise_on_newer_version():
        return [
            Answer.model_validate({**json.loads(row["document"]), **{name: row[name] for name in _ANSWER_COLUMNS}})
            for row in connection.execute(query.order_by(column.first_at, column.participant)).mappings()
        ]


@contextmanager
def _raise_on_newer_version() -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise StoreError("This comparison was saved by a newer version of CrowdNotes.", "Update CrowdNotes.") from error
