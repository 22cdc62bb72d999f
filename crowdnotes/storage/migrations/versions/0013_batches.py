"""Batches: a row of a file each is a case; what it may cost is set aside before it begins."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "batch_rows",
        sa.Column("batch", sa.String(64), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("case_id", sa.String(64), nullable=True),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("dollars", sa.Float, nullable=False),
        sa.Column("day", sa.String(10), nullable=True),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("batch_rows_by_state", "batch_rows", ["batch", "state", "number"])
    op.create_index("batch_rows_by_day", "batch_rows", ["day"])
