"""The list of cases shows overrides, the note and supernotes; searching ignores accents."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from crowdnotes.storage.tables import storable_text
from crowdnotes.text.tokens import folded

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_cases = sa.table("cases", *map(sa.column, ("id", "search", "document", "overrides", "note_excerpt", "supernote")))


def upgrade() -> None:
    op.add_column("cases", sa.Column("overrides", sa.Integer, nullable=False, server_default="0"))
    op.add_column("cases", sa.Column("note_excerpt", sa.Text, nullable=False, server_default=""))
    op.add_column("cases", sa.Column("supernote", sa.Boolean, nullable=False, server_default=sa.false()))
    connection = op.get_bind()
    for case_id in connection.scalars(sa.select(_cases.c.id)).all():
        row = connection.execute(sa.select(_cases.c.search, _cases.c.document).where(_cases.c.id == case_id)).one()
        known = {"search": folded(row.search)} | _new_columns(row.document)
        connection.execute(sa.update(_cases).where(_cases.c.id == case_id).values(known))


def _new_columns(document: str) -> dict[str, object]:
    """What the new columns hold of a stored case; nothing where it cannot be read, as opening it will say."""
    try:
        stored = json.loads(document)
        return {
            "overrides": len((stored.get("decision") or {}).get("overrides", ())),
            "note_excerpt": storable_text(" ".join((stored.get("draft") or {}).get("text", "").split())[:160]),
            "supernote": stored.get("supernote") is not None,
        }
    except (ValueError, TypeError, AttributeError):
        return {}
