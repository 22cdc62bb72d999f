"""Each override that a decision lists is one exception, in the list of cases too."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_cases = sa.table("cases", *map(sa.column, ("id", "document", "overrides")))


def upgrade() -> None:
    connection = op.get_bind()
    for case_id in connection.scalars(sa.select(_cases.c.id).where(_cases.c.overrides > 0)).all():
        document = connection.scalar(sa.select(_cases.c.document).where(_cases.c.id == case_id))
        try:
            n = len(json.loads(document)["decision"]["overrides"])
        except (ValueError, TypeError, KeyError):
            continue  # opening it will say so
        connection.execute(sa.update(_cases).where(_cases.c.id == case_id).values(overrides=n))
