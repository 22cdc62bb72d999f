"""Texts and images lie with the case they are of; the audit trail is in its document alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "contents",
        sa.Column("case_id", sa.String(64), sa.ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_index("contents_by_sha256", "contents", ["sha256"])
    for claims, kept, column in (("case_texts", "source_texts", "text"), ("case_images", "images", "content")):
        op.execute(
            f"INSERT INTO contents (case_id, sha256, content) SELECT claim.case_id, claim.sha256, kept.{column} FROM "
            f"{claims} claim JOIN {kept} kept ON kept.sha256 = claim.sha256"
        )
        op.drop_table(claims)
        op.drop_table(kept)
    op.drop_table("events")
