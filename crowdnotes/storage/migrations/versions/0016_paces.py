"""How often each service was asked lately, by whichever process."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "paces",
        sa.Column("service", sa.String(64), primary_key=True),
        sa.Column("document", sa.Text, nullable=False),
    )
