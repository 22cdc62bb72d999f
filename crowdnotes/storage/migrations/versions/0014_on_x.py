"""To X by its API: what was sent or was to be, and what X makes of texts before they are sent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "on_x",
        sa.Column("post_id", sa.String(20), primary_key=True),
        sa.Column("test_mode", sa.Boolean, primary_key=True),
        sa.Column("case_id", sa.String(64), nullable=False),
        sa.Column("text_sha256", sa.String(64), nullable=False),
        sa.Column("attempt", sa.String(16), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("note_id", sa.String(20), nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("results", sa.Text, nullable=False),
    )
    op.create_index("on_x_by_time", "on_x", ["at"])
    op.create_table(
        "x_scores",
        sa.Column("case_id", sa.String(64), sa.ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("text_sha256", sa.String(64), primary_key=True),
        sa.Column("score", sa.Float, nullable=False),
    )
