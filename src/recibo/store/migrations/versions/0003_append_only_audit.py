"""The audit log only grows, and is found by who acted"""

import sqlalchemy as sa
from alembic import op

from recibo.store import append_only

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for actor in ("actor_user_id", "actor_api_key_id"):
        op.create_index(
            op.f(f"ix_audit_events_org_id_{actor}_id"),
            "audit_events",
            ["org_id", actor, "id"],
            unique=False,
            sqlite_where=sa.text(f"{actor} IS NOT NULL"),
            postgresql_where=sa.text(f"{actor} IS NOT NULL"),
        )
    append_only.create_triggers(op.get_bind())
