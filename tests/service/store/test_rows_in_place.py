"""A move changes the row of its table where it lies: no index of `tables` names what moves change."""

from pathlib import Path

from sqlalchemy import text

from service.house import House
from tests import houses
from tests.houses import Clock

COUNTED = text(
    "SELECT n_tup_upd AS changed, n_tup_hot_upd AS in_place FROM pg_stat_user_tables WHERE relname = 'tables'"
)
MOVES = 10


def counted(here: House) -> tuple[int, int]:
    with here.store.reading() as connection:
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
    with here.store.reading() as connection:
        row = connection.execute(COUNTED).one()
    return row.changed, row.in_place


def test_a_move_enters_the_row_of_its_table_in_no_index_anew(
    tmp_path: Path, laid_postgres_url: str, clock: Clock
) -> None:
    with houses.standing(houses.settings(tmp_path, laid_postgres_url), clock) as here:
        places = houses.seated(here)
        changed, in_place = counted(here)
        for _ in range(MOVES):
            clock.move(60)
            place, move = houses.on_turn(here, places)
            assert houses.judged(here, place, move).accepted
        changed_since, in_place_since = (
            now - then for now, then in zip(counted(here), (changed, in_place), strict=True)
        )
        assert changed_since >= MOVES
        assert in_place_since == changed_since
