"""Public luck: a draw waits for a round of a beacon that was named before it existed, and nobody is held up by that."""

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
from service import beacon as beacons
from service.house import House
from service.settings import Settings
from service.store.schema import letters
from service.store.schema import tables as rows
from service.tables import access, archive, opening, snapshots
from service.tables.access import Place
from service.tables.opening import Invited
from tests import houses
from tests.beacons import BEACON, Server, running, sign
from workers import bots, clock, referee, rounds

GUESTS = [Invited("Anna", "anna@example.org"), Invited("Berta", "berta@example.org")]


@pytest.fixture
def beacon_server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def here(tmp_path: Path, laid_url: str, clock: houses.Clock, beacon_server: Server) -> Iterator[House]:
    """A house that knows our beacon, on SQLite and on PostgreSQL."""
    with houses.standing(houses.settings(tmp_path, laid_url, beacon=beacon_server.setting), clock) as found:
        yield found


def opened(here: House, game: str = "carcassonne", guests: list[Invited] = GUESTS, **how) -> list[Place]:
    made = opening.open_table(here, game, {}, guests, luck="public", **how)
    places = [access.find(here, link) for link in made.links if link]
    for place in places:
        assert houses.judged(here, place, "sit word").accepted
    return places


def look(here: House, place: Place) -> snapshots.Snapshot:
    return snapshots.look(here, place.table)


def came(here: House, clock: houses.Clock, server: Server, place: Place) -> None:
    """The awaited round comes, and the worker looks."""
    waited = look(here, place).table.awaited
    assert waited
    server.newest = waited.round
    clock.at = max(clock.at, BEACON.due(waited.round))
    rounds.draw()


def whole(here: House, place: Place):
    return archive.Archive(here.store, here.links).whole(place.table)


def sound(here: House, place: Place) -> None:
    found = look(here, place)
    report = audit.audit(found.game, whole(here, place), running=True, signed=beacons.signed)
    assert report.finding is None, report.finding


def test_a_draw_waits_for_a_round_that_did_not_exist_when_the_move_was_taken_in(here, clock, beacon_server):
    place = opened(here)[0]
    waited = look(here, place).table.awaited
    assert waited
    assert BEACON.due(waited.round) > here.now() + BEACON.period
    assert look(here, place).table.phase == "gathering"
    rounds.draw()
    assert beacon_server.asked == 0  # nothing is looked for before its time
    came(here, clock, beacon_server, place)
    assert look(here, place).table.phase == "playing"
    assert not look(here, place).table.awaited
    sound(here, place)


def test_the_verdict_names_the_round_and_holds_no_worker(here, clock, beacon_server):
    places = opened(here)
    came(here, clock, beacon_server, places[0])
    place, move = drawing(here, places)
    verdict = houses.judged(here, place, move)
    assert verdict.accepted
    entry = snapshots.entries(here, look(here, place))[verdict.seq]
    assert entry.events == (RoundNamed(BEACON.named(entry.at)),)
    with here.store.reading() as connection:
        due = connection.execute(select(rows.c.draws_at).where(rows.c.id == place.table)).scalar_one()
    assert due == BEACON.due(BEACON.named(entry.at))


def drawing(here: House, places: list[Place]) -> tuple[Place, str]:
    """Play on until a seat may make a move that draws."""
    for _ in range(30):
        place, move = houses.on_turn(here, places)
        found = look(here, place)
        luck = tables.luck(found.table, found.row.seed, tables.Move.read(move), here.now())
        events = tables.play(found.game, found.table, place.seat, tables.Move.read(move), luck).events
        if isinstance(events[0], RoundNamed):
            return place, move
        assert houses.judged(here, place, move).accepted
    raise AssertionError("nothing was drawn")


def test_while_a_round_is_awaited_nobody_can_move_and_no_clock_runs(here, clock, beacon_server):
    places = opened(here)
    came(here, clock, beacon_server, places[0])
    place, move = drawing(here, places)
    assert houses.judged(here, place, move).accepted
    for other in places:
        refused = houses.judged(here, other, move)
        assert not refused.accepted
        assert "public beacon" in refused.said
    assert not any(seat.open_since is not None or seat.due_at for seat in look(here, place).seats)


def test_the_clock_rings_when_a_round_is_due(here, clock, beacon_server):
    place = opened(here)[0]
    waited = look(here, place).table.awaited
    clock_now, beacon_server.newest = BEACON.due(waited.round), waited.round
    queued = here.bells.queue("bots")
    queued.empty()
    workers_clock_rings(here)
    assert "workers.rounds.draw" not in [job.func_name for job in queued.jobs]
    clock.at = clock_now
    workers_clock_rings(here)
    assert "workers.rounds.draw" in [job.func_name for job in queued.jobs]


def workers_clock_rings(here: House) -> None:
    here.bells.answered("rounds")
    clock.ring(here)


def test_a_whole_game_with_bots_and_automatic_moves_is_played_and_audited(here, clock, beacon_server):
    guests = [GUESTS[0], Invited("Bot 1"), Invited("Bot 2")]
    time = opening.Clock(pace=3600, automatic=True)
    place = opened(here, "kurier", guests, clock=time)[0]
    for _ in range(3000):
        found = look(here, place)
        if found.table.phase == "over":
            break
        if found.table.awaited:
            came(here, clock, beacon_server, place)
        elif moves := houses.moves(here, place):
            assert houses.judged(here, place, moves[len(moves) // 2]).accepted
        else:
            bots.move()
            referee.hear()
        if found.row.length > 120:
            break
    sound(here, place)
    entries = snapshots.entries(here, look(here, place))
    named = [entry for entry in entries if isinstance(entry.events[0], RoundNamed)]
    drawn = [entry for entry in entries if isinstance(entry.events[0], RoundDrawn)]
    assert len(drawn) > 3
    assert {entry.seat for entry in named} >= {0, 1, 2}
    assert all(entry.draws for entry in drawn)
    assert not any(draw.size > 1 for entry in entries if entry not in drawn for draw in entry.draws)


def test_a_standing_order_is_followed_as_soon_as_the_draws_are_there(here, clock, beacon_server):
    places = opened(here, "kurier")
    came(here, clock, beacon_server, places[0])
    place, move = drawing(here, places)
    assert houses.judged(here, place, move).accepted
    found = look(here, place)
    waited, key = found.table.awaited, f"round {found.table.awaited.round} {sign(found.table.awaited.round)}"
    luck = tables.luck(found.table, found.row.seed, tables.Move.read(key), here.now())
    after = tables.play(found.game, found.table, None, tables.Move.read(key), luck).table
    seat = tables.waiting_for(found.game, after)[0]
    ordered = str(next(menus.moves(tables.menu(found.game, after, seat))))
    other = next(one for one in places if one.seat == seat)
    assert houses.judged(here, other, f"order {ordered}").accepted
    came(here, clock, beacon_server, place)
    done = [(entry.seat, entry.move) for entry in snapshots.entries(here, look(here, place), waited.seq + 2)]
    assert done[0] == (seat, ordered)
    sound(here, place)


def test_a_beacon_that_does_not_answer_is_asked_again_later_and_the_players_are_told_once(here, clock, beacon_server):
    places = opened(here)
    beacon_server.down = True
    waited = look(here, places[0]).table.awaited
    clock.at = BEACON.due(waited.round)
    for _ in range(40):
        rounds.draw()
        clock.move(30)
    assert beacon_server.asked < 30
    with here.store.reading() as connection:
        told = connection.execute(select(letters.c.seat).where(letters.c.kind == "unlit")).scalars().all()
    assert sorted(told) == [0, 1]
    beacon_server.down = False
    clock.move(rounds.LONGEST)
    came(here, clock, beacon_server, places[0])
    assert look(here, places[0]).table.phase == "playing"
    sound(here, places[0])


def test_without_the_beacon_all_players_may_agree_to_go_on_sealed(here, clock, beacon_server):
    anna, berta = opened(here)
    waited = look(here, anna).table.awaited
    early = houses.judged(here, anna, "sealed")
    assert not early.accepted
    assert "not late yet" in early.said
    clock.at = BEACON.due(waited.round) + beacons.LATE
    assert houses.judged(here, anna, "sealed").accepted
    assert look(here, anna).table.sealing.waiting == (1,)
    assert houses.judged(here, berta, "refuse").accepted
    assert look(here, anna).table.sealing is None
    assert houses.judged(here, berta, "sealed").accepted
    assert houses.judged(here, anna, "agree").accepted
    found = look(here, anna)
    assert found.table.phase == "playing"
    assert found.table.beacon is None
    last = snapshots.entries(here, found)[found.row.length - 1]
    assert WentSealed(None) in last.events
    place, move = houses.on_turn(here, [anna, berta])
    assert houses.judged(here, place, move).accepted
    sound(here, anna)


def test_another_key_s_signature_and_another_round_are_not_taken(here, beacon_server, monkeypatch):
    from py_arkworks_bls12381 import Scalar

    from tests import beacons as ours

    beacon_server.newest = 10**9
    source = here.settings.beacon_source
    assert beacons.fetched(source, 7)
    honest = ours.sign
    monkeypatch.setattr(ours, "sign", lambda number: honest(number, Scalar.from_be_bytes_mod_order(b"7")))
    assert beacons.fetched(source, 8) is None
    monkeypatch.setattr(ours, "sign", lambda number: honest(number + 1))
    assert beacons.fetched(source, 9) is None


def test_the_house_says_how_new_tables_draw(tmp_path, clock, beacon_server):
    chosen = houses.settings(tmp_path, luck="public", beacon=beacon_server.setting)
    with houses.standing(chosen, clock) as here:
        usual = opening.open_table(here, "kaiser", {}, GUESTS)
        sealed = opening.open_table(here, "kaiser", {}, GUESTS, luck="sealed")
        assert snapshots.look(here, usual.table).table.beacon == BEACON
        assert snapshots.look(here, sealed.table).table.beacon is None


def test_quicknet_is_the_beacon_of_a_house_that_names_none():
    quicknet = Settings().beacon_source.beacon
    known = "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b"
    assert beacons.signed(quicknet.key, 657413, known)  # a round that came, as others have noted it
    assert not beacons.signed(quicknet.key, 657414, known)
    assert quicknet.named(1692803367) == 1 + beacon.AHEAD
