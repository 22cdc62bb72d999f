"""A case has an owner, and may be shared; so far all were of the one person whose program it is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_OWNER = " ".join(("local", "owner"))  # issuer and subject of `domain.people.LOCAL_OWNER`, as they were then


def upgrade() -> None:
    op.add_column("cases", sa.Column("owner", sa.Text, nullable=True))
    op.add_column("cases", sa.Column("shared", sa.Boolean, nullable=False, server_default=sa.false()))
    op.execute(sa.update(sa.table("cases", sa.column("owner"))).values(owner=_OWNER))
    op.create_index("cases_by_owner", "cases", ["owner", "updated_at"])
    op.create_index("cases_by_shared", "cases", ["shared", "updated_at"])
