"""The moderators' queue, who has a case open, a case's state with the moderators, what was deleted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("cases", sa.Column("desk", sa.String(16), nullable=False, server_default="drafting"))
    op.add_column("cases", sa.Column("told", sa.Text, nullable=False, server_default=""))
    cases = sa.table("cases", sa.column("desk"), sa.column("decision"))
    op.execute(sa.update(cases).where(cases.c.decision.is_not(None)).values(desk="decided"))
    of_case = sa.ForeignKey("cases.id", ondelete="CASCADE")
    op.create_table(
        "queue",
        sa.Column("case_id", sa.String(64), of_case, primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("submitted_at", _TIME, nullable=False),
        sa.Column("turn", _TIME, nullable=False),
        sa.Column("owner", sa.Text, nullable=True),
        sa.Column("ratings", sa.Integer, nullable=False),
        sa.Column("close", sa.Boolean, nullable=False),
        sa.Column("disagree", sa.Boolean, nullable=False),
        sa.Column("several", sa.Boolean, nullable=False),
        sa.Column("raised", sa.Boolean, nullable=False),
        sa.Column("readers", sa.Integer, nullable=False),
        sa.Column("read_by", sa.Text, nullable=False),
        sa.Column("holder", sa.Text, nullable=True),
        sa.Column("holder_name", sa.Text, nullable=False),
        sa.Column("held_until", _TIME, nullable=True),
        sa.Column("assigned", sa.Text, nullable=True),
        sa.Column("assigned_name", sa.Text, nullable=False),
    )
    op.create_index("queue_by_turn", "queue", ["state", "turn", "case_id"])
    op.create_index("queue_by_time", "queue", ["state", "submitted_at", "case_id"])
    op.create_table(
        "presence",
        sa.Column("case_id", sa.String(64), sa.ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("person", sa.String(512), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("seen_at", _TIME, nullable=False),
    )
    op.create_table(
        "tombstones",
        sa.Column("case_id", sa.String(64), primary_key=True),
        sa.Column("deleted_at", _TIME, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("by_key", sa.Text, nullable=False),
    )
