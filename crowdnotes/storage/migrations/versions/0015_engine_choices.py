"""The engine that a person chose, and that an admin chose for everybody."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "engine_choices",
        sa.Column("person", sa.String(512), primary_key=True),
        sa.Column("base_url", sa.Text, nullable=True),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("chosen_over", sa.Text, nullable=False),
    )
