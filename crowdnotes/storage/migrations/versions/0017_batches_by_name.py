"""Batches by the name of their file, with their budgets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rows", sa.Integer, nullable=True),
        sa.Column("budget", sa.Float, nullable=True),
        sa.Column("day_budget", sa.Float, nullable=True),
    )
    op.execute(
        "INSERT INTO batches (id, name, created_at, rows)"
        " SELECT batch, substr(batch, 1, 12), CURRENT_TIMESTAMP, count(*) FROM batch_rows GROUP BY batch"
    )
