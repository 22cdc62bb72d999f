"""The first tables: cases, their audit trail, the texts of their sources, and jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "cases",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("decision", sa.String(32), nullable=True),
        sa.Column("mode", sa.String(32), nullable=False),
        sa.Column("post_excerpt", sa.Text, nullable=False),
        sa.Column("search", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("cases_by_age", "cases", ["created_at", "id"])
    op.create_table(
        "events",
        sa.Column("case_id", sa.String(64), sa.ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_table(
        "source_texts",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("text", sa.LargeBinary, nullable=False),
        sa.Column("stored_at", _TIME, nullable=False),
    )
    op.create_table(
        "case_texts",
        sa.Column("case_id", sa.String(64), sa.ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("sha256", sa.String(64), primary_key=True),
    )
    op.create_index("case_texts_by_text", "case_texts", ["sha256"])
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("case_id", sa.String(64), nullable=False),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("heartbeat", sa.Float, nullable=False),
        sa.Column("under_way", sa.Boolean, nullable=False),
        sa.Column("cancel_asked", sa.Boolean, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("jobs_by_case", "jobs", ["case_id", "started_at"])
    op.create_index(
        "one_job_a_case",
        "jobs",
        ["case_id"],
        unique=True,
        sqlite_where=sa.text("under_way = 1"),
        postgresql_where=sa.text("under_way"),
    )
