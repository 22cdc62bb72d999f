"""Jobs are carried by Procrastinate's queue on PostgreSQL; a process that takes a job over gets a fence."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("fence", sa.Integer, nullable=False, server_default="0"))
    op.add_column("jobs", sa.Column("queue_id", sa.BigInteger, nullable=True))
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        from procrastinate.schema import SchemaManager

        # As it is in 3.10. A newer Procrastinate brings files of changes, and they a migration of their own.
        # By the driver itself: SQLAlchemy would read "%" in it as a place for a value.
        connection.connection.driver_connection.execute(SchemaManager.get_schema())
