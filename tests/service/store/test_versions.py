"""Old and new versions side by side: a newer shape that only added something is lived with, another is refused."""

import pytest
from sqlalchemy import Column, Text, select, text
from sqlalchemy.schema import CreateColumn

from engine.refusal import Refused
from service import create_app
from service.commands import checkups
from service.house import House
from service.store import facts
from service.store.connect import CONTRACTED
from service.store.schema import tables
from tests import houses

NEWER = "9999_newer"


def renewed(house: House, contracted: str = "") -> None:
    """A newer version has been here: it added a column that this one does not know, or took something away."""
    added = CreateColumn(Column("newer", Text, nullable=False, server_default="")).compile(house.store.engine)
    with house.store.writing() as connection:
        connection.execute(text(f"ALTER TABLE tables ADD COLUMN {added}"))
        connection.execute(text("UPDATE alembic_version SET version_num = :newer"), {"newer": NEWER})
        facts.note(connection, CONTRACTED, contracted)


def test_a_process_of_the_old_version_goes_on_beside_the_new_one(any_house: House) -> None:
    any_house.open()
    places = houses.seated(any_house)
    renewed(any_house)
    client = create_app(any_house).test_client()
    assert client.get("/readyz").status_code == 200
    place, move = houses.on_turn(any_house, places)
    assert houses.judged(any_house, place, move).accepted
    houses.seated(any_house)
    with any_house.store.reading() as connection:
        assert connection.execute(select(tables.c.id)).all()


def test_it_is_also_started_again_and_changes_nothing(any_house: House) -> None:
    any_house.open()
    renewed(any_house, contracted="0016_moved")  # what was taken away then, this version does not need either
    any_house.open()
    assert any_house.store.revision() == NEWER
    (finding,) = [one for one in checkups.all_of(any_house.settings) if one.about == "schema"]
    assert (finding.verdict, "a newer version made it" in finding.what) == ("well", True)


def test_a_version_whose_columns_are_gone_says_so_and_is_not_ready(any_house: House) -> None:
    any_house.open()
    renewed(any_house, contracted=NEWER)
    assert create_app(any_house).test_client().get("/readyz").status_code == 503
    with pytest.raises(Refused, match="A newer Depesche has renewed this database"):
        any_house.open()
    assert any_house.store.revision() == NEWER
    assert "odd" in {one.verdict for one in checkups.all_of(any_house.settings) if one.about == "schema"}


def test_an_older_shape_is_renewed(any_house: House) -> None:
    assert not any_house.store.fits() or any_house.store.is_current()
    any_house.open()
    assert any_house.store.fits()
    assert any_house.store.is_current()
