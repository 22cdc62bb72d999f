"""Libraries for all machines on one database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "shared_libraries",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("info", sa.Text, nullable=False),
    )
    op.create_table(
        "library_parts",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
