"""The tables, as SQLAlchemy sees them; `migrations/` makes them.

A case is one document (JSON), so that it is read and replaced as a whole; the other columns of its row
are copies for listing and searching.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)

metadata = MetaData()


class UtcTime(TypeDecorator[datetime]):
    """An aware datetime in UTC, also on SQLite, which forgets time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC; a naive time is a mistake of the caller's and raises ValueError."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("times must carry a time zone")
        in_utc = value.astimezone(UTC)
        return in_utc.replace(tzinfo=None) if dialect.name == "sqlite" else in_utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Back with its time zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


cases = Table(
    "cases",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("status", String(32), nullable=False),
    Column("decision", String(32), nullable=True),
    Column("mode", String(32), nullable=False),
    Column("post_excerpt", Text, nullable=False),
    Column("note_excerpt", Text, nullable=False),
    Column("overrides", Integer, nullable=False),
    Column("supernote", Boolean, nullable=False),
    Column("owner", Text, nullable=True),
    Column("shared", Boolean, nullable=False),
    Column("desk", String(16), nullable=False),
    Column("told", Text, key="outcome_line", nullable=False),
    Column("search", Text, nullable=False),
    Column("document", Text, nullable=False),
    Index("cases_by_change", "updated_at", "id"),
    Index("cases_by_owner", "owner", "updated_at"),
    Index("cases_by_shared", "shared", "updated_at"),
)

# What the moderators' queue sorts and filters by, for cases that were submitted once: narrow rows, so that 100,000 of
# them are looked through in a moment. `read_by` are keys of people, each between lines.
queue = Table(
    "queue",
    metadata,
    Column("case_id", String(64), ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
    Column("state", String(16), nullable=False),
    Column("submitted_at", UtcTime, nullable=False),
    Column("turn", UtcTime, nullable=False),
    Column("owner", Text, nullable=True),
    Column("ratings", Integer, nullable=False),
    Column("close", Boolean, nullable=False),
    Column("disagree", Boolean, nullable=False),
    Column("several", Boolean, nullable=False),
    Column("raised", Boolean, nullable=False),
    Column("readers", Integer, nullable=False),
    Column("read_by", Text, nullable=False),
    Column("holder", Text, nullable=True),
    Column("holder_name", Text, nullable=False),
    Column("held_until", UtcTime, nullable=True),
    Column("assigned", Text, nullable=True),
    Column("assigned_name", Text, nullable=False),
    Index("queue_by_turn", "state", "turn", "case_id"),
    Index("queue_by_time", "state", "submitted_at", "case_id"),
    Index("queue_by_assigned", "assigned", "state"),
    Index("queue_by_holder", "holder", "state"),
)

# Who has a case open now, by the database's clock.
presence = Table(
    "presence",
    metadata,
    Column("case_id", String(64), ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
    Column("person", String(512), primary_key=True),
    Column("name", Text, nullable=False),
    Column("seen_at", UtcTime, nullable=False),
)

# That a case was deleted, when and by whom; nothing of what it held.
tombstones = Table(
    "tombstones",
    metadata,
    Column("case_id", String(64), primary_key=True),
    Column("deleted_at", UtcTime, nullable=False),
    Column("by", Text, nullable=False),
    Column("by_key", Text, nullable=False),
)

# The texts of a case's sources and the images of its post, by their sha256. Bytes, because a page's text may hold
# characters that a text column refuses (see `storable_text`), and offsets and hashes are of the exact text.
contents = Table(
    "contents",
    metadata,
    Column("case_id", String(64), ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
    Column("sha256", String(64), primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Index("contents_by_sha256", "sha256"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("case_id", String(64), nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("owner", Text, nullable=False),
    Column("heartbeat", Float, nullable=False),
    Column("under_way", Boolean, nullable=False),
    Column("cancel_asked", Boolean, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("queue_id", BigInteger, nullable=True),
    Column("document", Text, nullable=False),
    Index("jobs_by_case", "case_id", "started_at"),
    # The database itself keeps a case from having two jobs at once, whichever process asks.
    Index(
        "one_job_a_case",
        "case_id",
        unique=True,
        sqlite_where=text("under_way = 1"),
        postgresql_where=text("under_way"),
    ),
)

# Files whose rows are cases each, by the sha256 of the file, see `crowdnotes.batches`; `rows` when all are read.
batches = Table(
    "batches",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("rows", Integer, nullable=True),
    Column("budget", Float, nullable=True),
    Column("day_budget", Float, nullable=True),
)
# Their rows. `dollars` are set aside while it runs, then what it cost; `day` is when it began. A row that is not done
# keeps its post in `document`.
batch_rows = Table(
    "batch_rows",
    metadata,
    Column("batch", String(64), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("case_id", String(64), nullable=True),
    Column("reason", Text, nullable=False),
    Column("dollars", Float, nullable=False),
    Column("day", String(10), nullable=True),
    Column("document", Text, nullable=False),
    Index("batch_rows_by_state", "batch", "state", "number"),
    Index("batch_rows_by_day", "day"),
)

# Libraries that all machines use, see `crowdnotes.evidence.library.sharing`: which content a name has, and contents
# in parts by the sha256 of the whole.
shared_libraries = Table(
    "shared_libraries",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("info", Text, nullable=False),
)
library_parts = Table(
    "library_parts",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("part", Integer, primary_key=True),
    Column("at", UtcTime, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

# How often each service was asked lately, see `crowdnotes.storage.rate_limits`.
paces = Table(
    "paces",
    metadata,
    Column("service", String(64), primary_key=True),
    Column("document", Text, nullable=False),
)

# What was sent to X, or was to be, by the post: written before the call, see `crowdnotes.x_api.submission`. A row
# outlives its case, so that nothing is sent twice. `attempt` names the try whose end is waited for.
on_x = Table(
    "on_x",
    metadata,
    Column("post_id", String(20), primary_key=True),
    Column("test_mode", Boolean, primary_key=True),
    Column("case_id", String(64), nullable=False),
    Column("text_sha256", String(64), nullable=False),
    Column("attempt", String(16), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("state", String(16), nullable=False),
    Column("note_id", String(20), nullable=False),
    Column("status", Text, nullable=False),
    Column("results", Text, nullable=False),
    Index("on_x_by_time", "at"),
)
# What X makes of a text that is not sent.
x_scores = Table(
    "x_scores",
    metadata,
    Column("case_id", String(64), ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
    Column("text_sha256", String(64), primary_key=True),
    Column("score", Float, nullable=False),
)

# The newest row is the program that writes now.
programs = Table(
    "programs",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("version", Text, nullable=False),
    Column("since", UtcTime, nullable=False),
)

# Blind comparisons: the pairs of each in one document, and what was answered, one row for a participant and a pair.
comparisons = Table(
    "comparisons",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("created_at", UtcTime, nullable=False),
    Column("title", Text, nullable=False),
    Column("pairs", Integer, nullable=False),
    Column("document", Text, nullable=False),
)
comparison_answers = Table(
    "comparison_answers",
    metadata,
    Column("comparison_id", String(64), ForeignKey("comparisons.id", ondelete="CASCADE"), primary_key=True),
    Column("participant", String(64), primary_key=True),
    Column("pair", String(64), primary_key=True),
    Column("first_at", UtcTime, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("document", Text, nullable=False),
)

# Those who signed in. Their role, and whether they are disabled, is looked up at every act.
people = Table(
    "people",
    metadata,
    Column("issuer", String(255), primary_key=True),
    Column("subject", String(255), primary_key=True),
    Column("name", String(80), nullable=False),
    Column("role", String(32), nullable=False),
    Column("disabled_at", UtcTime, nullable=True),
    Column("first_seen", UtcTime, nullable=False),
    Column("last_seen", UtcTime, nullable=False),
)

# The engine that a person chose, by their key, or an admin for everybody ("" as the person). It holds while the engine
# that is set is the one it was chosen over: who sets another one is not held to it.
engine_choices = Table(
    "engine_choices",
    metadata,
    Column("person", String(512), primary_key=True),
    Column("base_url", Text, nullable=True),
    Column("model", Text, nullable=False),
    Column("chosen_over", Text, nullable=False),
)

_UNSTORABLE = {0: "\ufffd"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def storable_text(value: str) -> str:
    """`value` as every database can hold it: NUL and lone surrogates become U+FFFD, one for one.

    PostgreSQL refuses NUL, and no UTF-8 can hold a lone surrogate. Offsets stay what they were.
    """
    return value.translate(_UNSTORABLE)
