"""Public chance: a draw waits for a round of a beacon that was named before it existed, and no worker waits with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from engine import audit, beacon
from engine import menu as menus
from engine import table as tables
from engine.table_events import (
    RoundDrawn,
    RoundNamed,
    WentSealed,
)
from service.app import App
from service.internet import beacon as beacons
from service.settings import Settings
from service.store.schema import letters
from service.store.schema import tables as rows
from service.tables import access, opening, snapshots
from service.tables.access import Place
from service.tables.history import replays
from service.tables.opening import Invitee
from tests import apps
from tests.beacons import BEACON, Server, run_beacon, sign
from workers import beacon_rounds as rounds
from workers import bots, clock, referee

GUESTS = [Invitee("Anna", "anna@example.org"), Invitee("Berta", "berta@example.org")]


@pytest.fixture
def beacon_server() -> Iterator[Server]:
    with run_beacon() as server:
        yield server


@pytest.fixture
def app(tmp_path: Path, migrated_url: str, clock: apps.FakeTime, beacon_server: Server) -> Iterator[App]:
    """An app that uses the beacon of the tests, on SQLite and on PostgreSQL."""
    with apps.run_app(apps.make_settings(tmp_path, migrated_url, beacon=beacon_server.setting), clock) as app:
        yield app


def start_public_table(app: App, game: str = "carcassonne", guests: list[Invitee] = GUESTS, **how) -> list[Place]:
    made = apps.open_new(app, game, {}, guests, luck="public", **how)
    places = [access.find(app, link) for link in made.links if link]
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    return places


def load_table(app: App, place: Place) -> snapshots.Snapshot:
    return apps.load_table(app, place.table)


def fetch_awaited_round(app: App, clock: apps.FakeTime, server: Server, place: Place) -> None:
    """Publish the awaited round, and let the worker fetch it."""
    waited = load_table(app, place).position.waiting_command
    assert waited
    server.newest = waited.round
    clock.at = max(clock.at, BEACON.time_of(waited.round))
    rounds.run()


def export_whole(app: App, place: Place):
    return replays.Archive(app.store, app.links).export_whole(place.table)


def assert_sound(app: App, place: Place) -> None:
    snapshot = load_table(app, place)
    report = audit.audit(snapshot.game, export_whole(app, place), running=True, verify_signature=beacons.is_signed)
    assert report.finding is None, report.finding


def test_a_draw_waits_for_a_round_that_did_not_exist_when_the_move_was_taken_in(app, clock, beacon_server):
    place = start_public_table(app)[0]
    waited = load_table(app, place).position.waiting_command
    assert waited
    assert BEACON.time_of(waited.round) > app.now() + BEACON.period
    assert load_table(app, place).position.phase == "gathering"
    rounds.run()
    assert beacon_server.requests == 0  # no round is requested before its time
    fetch_awaited_round(app, clock, beacon_server, place)
    assert load_table(app, place).position.phase == "playing"
    assert not load_table(app, place).position.waiting_command
    assert_sound(app, place)


def test_the_verdict_names_the_round_and_holds_no_worker(app, clock, beacon_server):
    places = start_public_table(app)
    fetch_awaited_round(app, clock, beacon_server, places[0])
    place, move = find_drawing_move(app, places)
    verdict = apps.submit(app, place, move)
    assert verdict.accepted
    entry = apps.load_entries(app, load_table(app, place))[verdict.seq]
    assert entry.events == (RoundNamed(BEACON.find_next_round(entry.at)),)
    with app.store.reading() as connection:
        due = connection.execute(select(rows.c.draws_at).where(rows.c.id == place.table)).scalar_one()
    assert due == BEACON.time_of(BEACON.find_next_round(entry.at))


def find_drawing_move(app: App, places: list[Place]) -> tuple[Place, str]:
    """Play on until a seat may make a move that draws."""
    for _ in range(30):
        place, move = apps.find_move(app, places)
        snapshot = load_table(app, place)
        chance = tables.make_chance(snapshot.position, snapshot.row.seed, tables.Move.parse(move), app.now())
        events = tables.play(snapshot.game, snapshot.position, place.seat, tables.Move.parse(move), chance).events
        if isinstance(events[0], RoundNamed):
            return place, move
        assert apps.submit(app, place, move).accepted
    raise AssertionError("nothing was drawn")


def test_while_a_round_is_awaited_no_seat_can_move_and_no_clock_runs(app, clock, beacon_server):
    places = start_public_table(app)
    fetch_awaited_round(app, clock, beacon_server, places[0])
    place, move = find_drawing_move(app, places)
    assert apps.submit(app, place, move).accepted
    for other in places:
        refused = apps.submit(app, other, move)
        assert not refused.accepted
        assert "public beacon" in refused.text
    assert not any(seat.open_since is not None or seat.due_at for seat in load_table(app, place).seats)


def test_the_clock_wakes_the_worker_when_a_round_is_due(app, clock, beacon_server):
    place = start_public_table(app)[0]
    waited = load_table(app, place).position.waiting_command
    clock_now, beacon_server.newest = BEACON.time_of(waited.round), waited.round
    tick_again(app)
    assert "rounds" not in apps.list_woken(app)
    clock.at = clock_now
    tick_again(app)
    assert "rounds" in apps.list_woken(app)


def tick_again(app: App) -> None:
    app.redis.flushall()
    clock.tick(app)


def test_a_whole_game_with_bots_and_automatic_moves_is_played_and_audited(app, clock, beacon_server):
    guests = [GUESTS[0], Invitee("Bot 1"), Invitee("Bot 2")]
    time = opening.Clock(pace=3600, automatic=True)
    place = start_public_table(app, "kurier", guests, clock=time)[0]
    for _ in range(3000):
        snapshot = load_table(app, place)
        if snapshot.position.phase == "over":
            break
        if snapshot.position.waiting_command:
            fetch_awaited_round(app, clock, beacon_server, place)
        elif moves := apps.list_moves(app, place):
            assert apps.submit(app, place, moves[len(moves) // 2]).accepted
        else:
            bots.run()
            referee.run()
        if snapshot.row.length > 120:
            break
    assert_sound(app, place)
    entries = apps.load_entries(app, load_table(app, place))
    named = [entry for entry in entries if isinstance(entry.events[0], RoundNamed)]
    drawn = [entry for entry in entries if isinstance(entry.events[0], RoundDrawn)]
    assert len(drawn) > 3
    assert {entry.seat for entry in named} >= {0, 1, 2}
    assert all(entry.draws for entry in drawn)
    assert not any(draw.size > 1 for entry in entries if entry not in drawn for draw in entry.draws)


def test_a_standing_order_is_followed_as_soon_as_the_draws_are_there(app, clock, beacon_server):
    places = start_public_table(app, "kurier")
    fetch_awaited_round(app, clock, beacon_server, places[0])
    place, move = find_drawing_move(app, places)
    assert apps.submit(app, place, move).accepted
    snapshot = load_table(app, place)
    waited, key = (
        snapshot.position.waiting_command,
        f"round {snapshot.position.waiting_command.round} {sign(snapshot.position.waiting_command.round)}",
    )
    chance = tables.make_chance(snapshot.position, snapshot.row.seed, tables.Move.parse(key), app.now())
    after = tables.play(snapshot.game, snapshot.position, None, tables.Move.parse(key), chance).table
    seat = tables.find_seats_to_move(snapshot.game, after)[0]
    ordered = str(next(menus.iter_moves(tables.menu(snapshot.game, after, seat))))
    other = next(one for one in places if one.seat == seat)
    assert apps.submit(app, other, f"order {ordered}").accepted
    fetch_awaited_round(app, clock, beacon_server, place)
    done = [(entry.seat, entry.move) for entry in apps.load_entries(app, load_table(app, place), waited.seq + 2)]
    assert done[0] == (seat, ordered)
    assert_sound(app, place)


def test_a_silent_beacon_is_asked_again_later_and_the_players_get_one_letter(app, clock, beacon_server):
    places = start_public_table(app)
    beacon_server.down = True
    waited = load_table(app, places[0]).position.waiting_command
    clock.at = BEACON.time_of(waited.round)
    for _ in range(40):
        rounds.run()
        clock.advance(30)
    assert beacon_server.requests < 30
    with app.store.reading() as connection:
        seats = connection.execute(select(letters.c.seat).where(letters.c.kind == "unlit")).scalars().all()
    assert sorted(seats) == [0, 1]
    beacon_server.down = False
    clock.advance(rounds.MAX_PAUSE_S)
    fetch_awaited_round(app, clock, beacon_server, places[0])
    assert load_table(app, places[0]).position.phase == "playing"
    assert_sound(app, places[0])


def test_without_the_beacon_all_players_may_agree_to_go_on_sealed(app, clock, beacon_server):
    anna, berta = start_public_table(app)
    waited = load_table(app, anna).position.waiting_command
    early = apps.submit(app, anna, "sealed")
    assert not early.accepted
    assert "not late yet" in early.text
    clock.at = BEACON.time_of(waited.round) + beacons.LATE_AFTER_S
    assert apps.submit(app, anna, "sealed").accepted
    assert load_table(app, anna).position.seal_request.waiting == (1,)
    assert apps.submit(app, berta, "refuse").accepted
    assert load_table(app, anna).position.seal_request is None
    assert apps.submit(app, berta, "sealed").accepted
    assert apps.submit(app, anna, "agree").accepted
    snapshot = load_table(app, anna)
    assert snapshot.position.phase == "playing"
    assert snapshot.position.beacon is None
    last = apps.load_entries(app, snapshot)[snapshot.row.length - 1]
    assert WentSealed(None) in last.events
    place, move = apps.find_move(app, [anna, berta])
    assert apps.submit(app, place, move).accepted
    assert_sound(app, anna)


def test_another_key_s_signature_and_another_round_are_not_taken(app, beacon_server, monkeypatch):
    from py_arkworks_bls12381 import Scalar

    from tests import beacons as ours

    beacon_server.newest = 10**9
    source = app.settings.beacon_source
    assert beacons.fetch_round(source, 7)
    honest = ours.sign
    monkeypatch.setattr(ours, "sign", lambda number: honest(number, Scalar.from_be_bytes_mod_order(b"7")))
    assert beacons.fetch_round(source, 8) is None
    monkeypatch.setattr(ours, "sign", lambda number: honest(number + 1))
    assert beacons.fetch_round(source, 9) is None


def test_a_setting_chooses_how_new_tables_draw(tmp_path, clock, beacon_server):
    chosen = apps.make_settings(tmp_path, luck="public", beacon=beacon_server.setting)
    with apps.run_app(chosen, clock) as app:
        usual = apps.open_new(app, "kaiser", {}, GUESTS)
        sealed = apps.open_new(app, "kaiser", {}, GUESTS, luck="sealed")
        assert apps.load_table(app, usual.table).position.beacon == BEACON
        assert apps.load_table(app, sealed.table).position.beacon is None


def test_quicknet_is_the_beacon_of_a_server_that_names_none():
    quicknet = Settings().beacon_source.beacon
    signature = "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b"
    assert beacons.is_signed(quicknet.key, 657413, signature)  # a round that came, as others have noted it
    assert not beacons.is_signed(quicknet.key, 657414, signature)
    assert quicknet.find_next_round(1692803367) == 1 + beacon.AHEAD_ROUNDS
