"""Runs the migrations on the connection it is given."""

from alembic import context

from service.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
context.run_migrations()
