"""What is assigned to somebody, or held by them, is found at once."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("queue_by_assigned", "queue", ["assigned", "state"])
    op.create_index("queue_by_holder", "queue", ["holder", "state"])
