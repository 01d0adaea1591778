"""Hints: who may ask, what a hint knows, and how often it may be asked for."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from msgspec.structs import replace
from sqlalchemy import select, update

from engine import chance
from engine import menu as menus
from engine.refusal import Refused
from service.app import App
from service.store.schema import hints as rows
from service.store.schema import seats
from service.tables import access, hints, snapshots
from service.tables.access import Place
from service.tables.opening import Invitee
from service.timing import Clock
from tests import apps
from tests.apps import FakeTime
from workers import bots, process_pool
from workers import clock as timekeeping

ANNA, BERT = Invitee("Anna", "anna@example.org"), Invitee("Bert", "bert@example.org")
BOT = Invitee("Bot")


@pytest.fixture
def app(tmp_path, clock: FakeTime) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path), clock) as app:
        yield app


def table(app: App, *guests: Invitee, game: str = "kaiser", agreed: bool = False) -> list[Place]:
    """The places of people at a table that has begun."""
    made = apps.open_new(app, game, {}, guests, Clock(0, hints=agreed))
    places = [access.find(app, link) for link in made.links if link]
    for place in places:
        apps.submit(app, place, "sit word")
    return places


def turn_of(app: App, *guests: Invitee, game: str = "kaiser", agreed: bool = False) -> Place:
    """The place of the player on turn; where a bot begins, it moves first."""
    places = table(app, *guests, game=game, agreed=agreed)
    while not any(apps.list_moves(app, place) for place in places):
        bots.run()
        apps.referee.run()
    return apps.find_move(app, places)[0]


def get_hint(app: App, place: Place) -> hints.GoodMove | None:
    number = apps.ask_hint(app, place)
    bots.answer_hints(app)
    return apps.run_query(app, hints.find, place, number)


def test_against_bots_alone_a_good_move_is_shown(app):
    place = turn_of(app, ANNA, BOT)
    hint = get_hint(app, place)
    assert str(hint.move) in apps.list_moves(app, place)
    assert hint.length == apps.count_entries(app, place)


def test_a_tile_is_shown_with_what_goes_on_it(app):
    """The second move may follow the first, and a repeated request shows the whole turn."""
    place = turn_of(app, ANNA, BOT, game="carcassonne")
    hint = get_hint(app, place)
    apps.submit(app, place, str(hint.move))
    assert hint.then[0].verb in ("figure", "pass")
    assert str(hint.then[0]) in apps.list_moves(app, place)


def test_among_people_hints_are_off_unless_the_table_agreed(app):
    with pytest.raises(Refused, match="did not agree"):
        apps.ask_hint(app, turn_of(app, ANNA, BERT))
    assert get_hint(app, turn_of(app, ANNA, BERT, agreed=True)).move


def test_a_player_without_an_address_is_no_bot(app):
    places = table(app, ANNA, BERT)
    with app.store.writing() as db:
        own = (seats.c.table == places[1].table, seats.c.seat == places[1].seat)
        db.execute(update(seats).where(*own).values(person=None, proven=False))
    place = apps.find_move(app, places)[0]
    if place == places[1]:
        apps.submit(app, place, apps.list_moves(app, place)[0])
    with pytest.raises(Refused, match="did not agree"):
        apps.ask_hint(app, places[0])


def test_the_log_records_what_a_table_agreed_on(app):
    place = turn_of(app, ANNA, BERT, agreed=True)
    opened = apps.load_entries(app, apps.load_table(app, place.table), 0, 1)[0]
    assert "clock.hints=true" in opened.move


def test_out_of_turn_and_looking_on_there_is_no_hint(app):
    places = table(app, ANNA, BERT, agreed=True)
    with pytest.raises(Refused, match="your own turn"):
        apps.ask_hint(app, apps.find_waiting(app, places))
    with pytest.raises(Refused, match="looking on"):
        apps.ask_hint(app, Place(places[0].table, None, ""))


def test_who_has_resigned_on_his_turn_gets_no_hint(app):
    place = turn_of(app, ANNA, BERT, BOT, agreed=True)
    apps.submit(app, place, "resign")
    with pytest.raises(Refused, match="your own turn"):
        apps.ask_hint(app, place)


@pytest.mark.parametrize("game", ["kurier", "turfmaster"])
def test_a_hint_hangs_on_nothing_that_its_seat_cannot_know(app, monkeypatch, game):
    """At every table that looks alike to this seat the hint is the same."""
    place = turn_of(app, ANNA, BOT, game=game)
    snapshot = apps.load_table(app, place.table)
    hint = get_hint(app, place)
    other = snapshot.game.redeal(snapshot.position.state, place.seat, chance.make_from_random(Random(7)))
    other_table = replace(snapshot, position=replace(snapshot.position, state=other))
    assert hints._compute(app, other_table, place.seat, process_pool.run) == hint.moves


def test_asked_twice_it_is_the_same_hint(app):
    place = turn_of(app, ANNA, BOT)
    assert apps.ask_hint(app, place) == apps.ask_hint(app, place)
    with app.store.reading() as connection:
        assert len(connection.execute(select(rows)).all()) == 1


def test_hints_are_limited_by_the_hour(app, clock, monkeypatch):
    monkeypatch.setattr(hints, "MAX_PER_HOUR", 2)
    place = turn_of(app, ANNA, BERT, agreed=True)
    for _ in range(2):
        apps.ask_hint(app, place)
        apps.submit(app, place, apps.list_moves(app, place)[0])
        reply = Place(place.table, 1 - place.seat, "")
        apps.submit(app, reply, apps.list_moves(app, reply)[0])
    with pytest.raises(Refused, match="many hints"):
        apps.ask_hint(app, place)
    clock.advance(3_601)
    assert apps.ask_hint(app, place)


def test_a_hint_that_the_game_has_overtaken_is_none(app):
    place = turn_of(app, ANNA, BERT, agreed=True)
    number = apps.ask_hint(app, place)
    apps.submit(app, place, apps.list_moves(app, place)[0])
    bots.answer_hints(app)
    assert apps.run_query(app, hints.find, place, number) is None
    assert apps.run_query(app, hints.list_unanswered) == []


def test_only_the_own_seat_reads_a_hint(app):
    places = table(app, ANNA, BERT, agreed=True)
    place, _ = apps.find_move(app, places)
    number = apps.ask_hint(app, place)
    bots.answer_hints(app)
    assert apps.run_query(app, hints.find, apps.find_waiting(app, places), number) is None


def test_trouble_with_one_hint_holds_no_other_up(app, monkeypatch):
    bad, good = turn_of(app, ANNA, BOT), turn_of(app, ANNA, BOT)
    first, second = apps.ask_hint(app, bad), apps.ask_hint(app, good)
    answer = hints.answer
    broken = lambda app, number, aside: 1 / 0 if number == first else answer(app, number, aside)  # noqa: E731
    monkeypatch.setattr(hints, "answer", broken)
    bots.answer_hints(app)
    assert apps.run_query(app, hints.find, good, second).move


def test_the_clock_wakes_a_worker_for_a_hint_whose_wakeup_was_lost(app):
    place = turn_of(app, ANNA, BERT, agreed=True)
    apps.ask_hint(app, place)
    app.redis.flushall()
    timekeeping.wake_workers(app, apps.find_due(app))
    assert "bots" in apps.list_woken(app)


def test_a_hint_goes_before_the_next_bot(app, monkeypatch):
    """A hundred bots may wait; a person who asks waits for one move of one bot."""
    place = turn_of(app, ANNA, BERT, agreed=True)
    numbers, seen = [], []

    def move_bot(app, where):
        if not numbers:
            numbers.append(apps.ask_hint(app, place))
        seen.append(apps.run_query(app, hints.find, place, numbers[0]).move is not None)

    monkeypatch.setattr(bots, "list_bot_tasks", lambda *_: [bots.BotTask("one", "one"), bots.BotTask("other", "other")])
    monkeypatch.setattr(bots, "_move", move_bot)
    bots.run()
    assert seen == [False, True]
    snapshot = apps.load_table(app, place.table)
    menu = snapshots.open_menu(snapshot.game, snapshot.position, place.seat)
    assert menus.allows(menu, apps.run_query(app, hints.find, place, numbers[0]).move)
