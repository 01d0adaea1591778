"""A database of another version is left alone; an empty one gets the newest schema."""

import pytest
from sqlalchemy import Column, MetaData, Text, text

from engine.refusal import Refused
from service import create_app
from service.app import App
from service.store.schema import REVISION, make_revision, metadata
from workers.commands import checkups

OTHER = "9999_other"


def set_revision(app: App, revision: str) -> None:
    with app.store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})


def test_a_database_of_another_version_is_refused_and_not_changed(any_app: App) -> None:
    any_app.open()
    set_revision(any_app, OTHER)
    assert create_app(any_app).test_client().get("/readyz").status_code == 503
    with pytest.raises(Refused, match="Another version of Depesche"):
        any_app.open()
    assert any_app.store.find_revision() == OTHER
    assert "warning" in {
        finding.verdict for finding in checkups.check_all(any_app.settings) if finding.about == "schema"
    }


def test_another_schema_has_another_revision() -> None:
    """Before 1.0 a database that was made from an older schema is refused, and does not fail later."""
    other = MetaData()
    for table in metadata.sorted_tables:
        table.to_metadata(other)
    assert make_revision(other) == REVISION
    other.tables["seats"].append_column(Column("colour", Text))
    assert make_revision(other) != REVISION


def test_an_empty_database_gets_the_newest_schema(any_app: App) -> None:
    any_app.open()
    assert any_app.store.is_current()
