"""One reason for a gate that also covers those behind it is one override, in the list of cases too."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_cases = sa.table("cases", *map(sa.column, ("id", "document", "overrides")))


def upgrade() -> None:
    connection = op.get_bind()
    for case_id in connection.scalars(sa.select(_cases.c.id).where(_cases.c.overrides > 1)).all():
        document = connection.scalar(sa.select(_cases.c.document).where(_cases.c.id == case_id))
        try:
            n = _reasons_given(json.loads(document))
        except (ValueError, TypeError, KeyError):
            continue  # opening it will say so
        connection.execute(sa.update(_cases).where(_cases.c.id == case_id).values(overrides=n))


def _reasons_given(stored: dict) -> int:
    """Return how many different reasons were given, of a case as it is stored."""
    given = ((item["obstacle"], item["reason"]) for item in stored["decision"]["overrides"])
    # The two kinds that a reason covers together begin with that word, and no other does.
    return len(
        {reason if of["kind"].startswith("gate") else (of["kind"], of.get("subject", "")) for of, reason in given}
    )
