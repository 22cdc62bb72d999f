"""Find cases by the person they are assigned to, or who holds them, without a scan."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("queue_by_assigned", "queue", ["assigned", "state"])
    op.create_index("queue_by_holder", "queue", ["holder", "state"])
