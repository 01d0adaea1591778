"""A move updates the row of its table in place: no index of `tables` has a column that moves change."""

from pathlib import Path

from sqlalchemy import text

from service.app import App
from tests import apps
from tests.apps import FakeTime

COUNT_UPDATES = text(
    "SELECT n_tup_upd AS changed, n_tup_hot_upd AS in_place FROM pg_stat_user_tables WHERE relname = 'tables'"
)
MOVES = 10


def count_updates(app: App) -> tuple[int, int]:
    with app.store.reading() as connection:
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
    with app.store.reading() as connection:
        row = connection.execute(COUNT_UPDATES).one()
    return row.changed, row.in_place


def test_a_move_changes_no_index_of_its_table_row(tmp_path: Path, new_postgres_url: str, clock: FakeTime) -> None:
    with apps.run_app(apps.make_settings(tmp_path, new_postgres_url), clock) as app:
        places = apps.start_table(app)
        changed, in_place = count_updates(app)
        for _ in range(MOVES):
            clock.advance(60)
            place, move = apps.find_move(app, places)
            assert apps.submit(app, place, move).accepted
        changed_since, in_place_since = (
            now - then for now, then in zip(count_updates(app), (changed, in_place), strict=True)
        )
        assert changed_since >= MOVES
        assert in_place_since == changed_since
