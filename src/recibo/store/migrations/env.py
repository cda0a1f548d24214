"""Run by alembic over the connection that `recibo.store.db.migrate` opens."""

from alembic import context

from recibo.store.tables import Table

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
