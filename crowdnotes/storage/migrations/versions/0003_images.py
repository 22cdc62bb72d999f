"""The bytes of attached images; and since when a case claims a text, so that a deletion spares a newer one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("case_texts", sa.Column("claimed_at", _TIME, nullable=True))
    op.create_table(
        "images",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("stored_at", _TIME, nullable=False),
    )
    op.create_table(
        "case_images",
        sa.Column("case_id", sa.String(64), sa.ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("claimed_at", _TIME, nullable=True),
    )
    op.create_index("case_images_by_image", "case_images", ["sha256"])
