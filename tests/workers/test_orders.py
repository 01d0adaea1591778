"""Standing orders and moves without a choice: done by the same referee, at the first moment they are possible."""

from random import Random
from typing import Any

import pytest
from sqlalchemy import select

from engine import audit, chance
from engine import game as games
from engine import menu as menus
from engine.games import kaiser
from engine.menu import Choice, Move
from service.app import App
from service.settings import DAY_S
from service.store.schema import letters
from service.tables import standing_orders
from service.tables.access import Place
from service.tables.history import replays
from service.timing import Clock
from tests import apps
from workers import bots, referee
from workers.clock import tick
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write


def say(app: App, place: Place, text: str) -> None:
    verdict = apps.submit(app, place, text)
    assert verdict.accepted, verdict.text


def list_waiting(app: App, place: Place) -> list[str]:
    return [order.move for order in apps.list_orders(app, place)]


def last_moves(app: App, place: Place, since: int) -> list[tuple[int | None, str | None]]:
    return [(entry.seat, entry.move) for entry in apps.load_entries(app, apps.load_table(app, place.table), since)]


@pytest.fixture
def table(any_app: App) -> list[Place]:
    """Two players at a table; the first is to move."""
    places = apps.start_table(any_app, pace=DAY_S)
    mover, _ = apps.find_move(any_app, places)
    return [mover, next(place for place in places if place != mover)]


def list_replies(app: App, mover: Place, move: str, other: Place) -> list[str]:
    """Return the moves that the other seat could make after this move."""
    snapshot = apps.load_table(app, mover.table)
    random_chance = chance.make_from_random(Random(1))
    assert mover.seat is not None
    assert other.seat is not None
    after = games.play(snapshot.game, snapshot.position.state, mover.seat, Move.parse(move), random_chance).state
    return [str(one) for one in menus.iter_moves(kaiser.menu(after, other.seat))]


def find_turn_change(app: App, mover: Place, other: Place) -> tuple[str, str]:
    """Play to the last move of the mover's turn; return it, and a move that the other seat can make then."""
    while True:
        move = apps.list_moves(app, mover)[0]
        if wishes := list_replies(app, mover, move, other):
            return move, wishes[0]
        say(app, mover, move)


def test_an_order_is_done_at_once_when_its_turn_comes(any_app: App, table: list[Place]) -> None:
    mover, other = table
    move, wish = find_turn_change(any_app, mover, other)
    say(any_app, other, f"order {wish}")
    assert list_waiting(any_app, other) == [wish]
    before = apps.count_entries(any_app, mover)
    say(any_app, mover, move)
    assert last_moves(any_app, other, before) == [(mover.seat, move), (other.seat, wish)]
    assert list_waiting(any_app, other) == []


def test_an_ordered_turn_sends_no_letter(any_app: App, table: list[Place]) -> None:
    mover, other = table
    move, wish = find_turn_change(any_app, mover, other)
    say(any_app, other, f"order {wish}")
    say(any_app, mover, move)
    while apps.list_moves(any_app, other):  # the rest of his turn
        say(any_app, other, apps.list_moves(any_app, other)[0])
    with any_app.store.reading() as connection:
        owed = connection.execute(select(letters).where(letters.c.seat == other.seat, letters.c.kind == "turn")).all()
    orders_of = [LetterRequest(row.table, row.seq, row.seat, row.kind, "x@example.org", "X") for row in owed]
    assert orders_of
    assert [write(any_app, order) for order in orders_of] == [None] * len(orders_of)


def test_an_order_given_on_ones_turn_is_done_now(any_app: App, table: list[Place]) -> None:
    mover, _ = table
    before, move = apps.count_entries(any_app, mover), apps.list_moves(any_app, mover)[0]
    say(any_app, mover, f"order {move}")
    assert last_moves(any_app, mover, before)[0] == (mover.seat, move)
    assert list_waiting(any_app, mover) == []


def test_an_order_that_is_not_possible_waits_and_can_be_cancelled(any_app: App, table: list[Place]) -> None:
    mover, other = table
    for text in ("order fly moon", "order swim sea"):
        say(any_app, other, text)
    say(any_app, mover, apps.list_moves(any_app, mover)[0])
    assert list_waiting(any_app, other) == ["fly moon", "swim sea"]
    first = apps.list_orders(any_app, other)[0].id
    assert not apps.submit(any_app, mover, f"cancel {first}").accepted  # another's
    say(any_app, other, f"cancel {first}")
    assert list_waiting(any_app, other) == ["swim sea"]
    say(any_app, other, "cancel")
    assert list_waiting(any_app, other) == []
    assert "no such order" in apps.submit(any_app, other, "cancel").text


@pytest.mark.parametrize("text", ["order", f"order {'x' * 101}", "cancel x", "cancel 99", "cancel ²"])
def test_an_order_that_makes_no_sense_is_refused(any_app: App, table: list[Place], text: str) -> None:
    verdict = apps.submit(any_app, table[1], text)
    assert not verdict.accepted
    assert "fault" not in verdict.text


def test_the_list_is_short_and_says_everything_once(any_app: App, table: list[Place]) -> None:
    other = table[1]
    for number in range(standing_orders.MAX_ORDERS):
        say(any_app, other, f"order fly {number}")
    assert "at a time" in apps.submit(any_app, other, "order fly 9").text
    say(any_app, other, "cancel")
    say(any_app, other, "order fly 1")
    assert "already" in apps.submit(any_app, other, "order FLY 1").text


def test_no_order_is_carried_out_in_a_pause(any_app: App, table: list[Place]) -> None:
    mover, other = table
    say(any_app, other, "pause")
    say(any_app, mover, "agree")
    before, move = apps.count_entries(any_app, mover), apps.list_moves(any_app, mover)[0]
    say(any_app, mover, f"order {move}")
    assert apps.count_entries(any_app, mover) == before
    say(any_app, mover, "resume")
    assert last_moves(any_app, mover, before)[1] == (mover.seat, move)


def test_an_order_over_which_the_game_fails_is_dropped_and_nothing_else(
    any_app: App, table: list[Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    mover, _ = table
    move, before, decide = apps.list_moves(any_app, mover)[0], apps.count_entries(any_app, mover), kaiser.decide

    def sick(*position: Any) -> Any:
        raise ZeroDivisionError("in the rules")

    monkeypatch.setattr(kaiser, "decide", sick)
    say(any_app, mover, f"order {move}")
    assert apps.count_entries(any_app, mover) == before
    assert list_waiting(any_app, mover) == []
    monkeypatch.setattr(kaiser, "decide", decide)
    say(any_app, mover, move)


def test_after_a_missed_deadline_orders_are_followed_too(any_app: App, clock: apps.FakeTime) -> None:
    places = apps.start_table(any_app, pace=DAY_S)
    mover, _ = apps.find_move(any_app, places)
    other = next(place for place in places if place != mover)
    for row in range(5):
        say(any_app, other, f"order fly {row}")
    clock.advance(DAY_S)
    tick(any_app)
    assert len(list_waiting(any_app, other)) == 5


# Moves without a choice


def offer_first_move_only(monkeypatch: pytest.MonkeyPatch, *seats: int) -> None:
    """Offer these seats only the first move of their menu from now on."""
    menu = kaiser.menu

    def offer_first(state: Any, seat: int) -> Any:
        moves = list(menus.iter_moves(menu(state, seat)))
        return (Choice(moves[0].verb, (moves[0].args,)),) if moves and seat in seats else menu(state, seat)

    monkeypatch.setattr(kaiser, "menu", offer_first)


def list_moves_since_start(app: App, place: Place) -> list[Any]:
    entries = apps.load_entries(app, apps.load_table(app, place.table))
    return entries[next(entry.seq for entry in entries if entry.move == "start") + 1 :]


@pytest.mark.parametrize("automatic", [True, False])
def test_moves_without_a_choice_are_made_by_themselves_where_the_table_agreed(
    any_app: App, monkeypatch: pytest.MonkeyPatch, automatic: bool
) -> None:
    offer_first_move_only(monkeypatch, 0, 1)
    place = apps.start_table(any_app, pace=Clock(DAY_S, automatic=automatic))[0]
    entries = list_moves_since_start(any_app, place)
    assert (len(entries) > 1) == automatic
    assert all(entry.seat is not None and not entry.draws for entry in entries)
    assert len(entries) <= standing_orders.MAX_MOVES_IN_A_ROW


def test_an_automatic_move_that_was_taken_back_stays_so(any_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    offer_first_move_only(monkeypatch, 0)
    one, other = apps.start_table(any_app, pace=Clock(DAY_S, automatic=True))
    while not any(entry.seat == 0 for entry in list_moves_since_start(any_app, one)):
        say(any_app, other, apps.list_moves(any_app, other)[0])
    before = apps.load_table(any_app, one.table).position.last
    say(any_app, one, "undo")
    if apps.load_table(any_app, one.table).position.undo_request:
        say(any_app, other, "agree")
    after = apps.load_table(any_app, one.table).position.last
    assert before
    assert after is None or after.seq < before.seq
    assert len(apps.list_moves(any_app, one)) == 1


def test_a_log_with_automatic_moves_passes_the_audit(any_app: App, clock: apps.FakeTime) -> None:
    """Everything that time can bring, at one table, and the log of it."""
    places = apps.start_table(any_app, 3, pace=Clock(DAY_S, late="seat", offer_after=1, grace=60))
    for seat, text in ((0, "pause"), (1, "agree"), (2, "agree"), (1, "resume"), (2, "vacation 2027-02-01 2027-02-02")):
        say(any_app, places[seat], text)
    say(any_app, places[2], "home")
    clock.advance(DAY_S + 60)
    tick(any_app)
    for place in places[:2]:
        apps.submit(any_app, place, "resign")
    apps.submit(any_app, places[2], "back")
    apps.submit(any_app, places[2], "resign")
    for place in places:
        apps.submit(any_app, place, "back")
        apps.submit(any_app, place, "resign")
    bots.run()
    referee.run()
    export = apps.run_query(any_app, replays.export_for_place, places[0])
    assert export.seed
    report = audit.audit(kaiser, export)
    assert report.finding is None
    assert report.replayed == len(export.entries)
