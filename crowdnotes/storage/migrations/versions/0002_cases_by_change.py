"""Cases are listed by their newest change, no longer by age."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("cases_by_change", "cases", ["updated_at", "id"])
    op.drop_index("cases_by_age", "cases")
