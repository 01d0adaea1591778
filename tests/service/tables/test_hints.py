"""Hints: who may ask, what a hint knows, and how often it may be asked for."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from engine import bots as playing
from engine import menu as menus
from engine.refusal import Refused
from service.house import House
from service.store.schema import hints as rows
from service.tables import access, hints, opening, snapshots
from service.tables.access import Place
from service.tables.opening import Invited
from service.timing import Clock as TableClock
from tests import houses
from tests.houses import Clock
from workers import bots, process_pool
from workers import clock as timekeeping

ANNA, BERT = Invited("Anna", "anna@example.org"), Invited("Bert", "bert@example.org")
BOT = Invited("Bot")


@pytest.fixture
def here(tmp_path, clock: Clock) -> Iterator[House]:
    with houses.standing(houses.settings(tmp_path), clock) as here:
        yield here


def table(here: House, *guests: Invited, game: str = "kaiser", agreed: bool = False) -> list[Place]:
    """The places of people at a table that has begun."""
    made = opening.open_table(here, game, {}, guests, TableClock(0, hints=agreed))
    places = [access.find(here, link) for link in made.links if link]
    for place in places:
        houses.judged(here, place, "sit word")
    return places


def turn_of(here: House, *guests: Invited, game: str = "kaiser", agreed: bool = False) -> Place:
    """The place of the player on turn; where a bot begins, it moves first."""
    places = table(here, *guests, game=game, agreed=agreed)
    while not any(houses.moves(here, place) for place in places):
        bots.move()
        houses.referee.hear()
    return houses.on_turn(here, places)[0]


def hinted(here: House, place: Place) -> hints.GoodMove | None:
    number = hints.ask(here, place)
    bots.answer_hints(here)
    return hints.find(here, place, number)


def test_against_bots_alone_a_good_move_is_shown(here):
    place = turn_of(here, ANNA, BOT)
    hint = hinted(here, place)
    assert str(hint.move) in houses.moves(here, place)
    assert hint.length == houses.length(here, place)


def test_a_tile_is_shown_with_what_goes_on_it(here):
    """The second move is one that may follow the first, and the whole turn is told when the hint is asked for again."""
    place = turn_of(here, ANNA, BOT, game="carcassonne")
    hint = hinted(here, place)
    houses.judged(here, place, str(hint.move))
    assert hint.then[0].verb in ("figure", "pass")
    assert str(hint.then[0]) in houses.moves(here, place)


def test_among_people_hints_are_off_unless_the_table_agreed(here):
    with pytest.raises(Refused, match="did not agree"):
        hints.ask(here, turn_of(here, ANNA, BERT))
    assert hinted(here, turn_of(here, ANNA, BERT, agreed=True)).move


def test_what_a_table_agreed_on_stands_in_its_log(here):
    place = turn_of(here, ANNA, BERT, agreed=True)
    opened = snapshots.entries(here, snapshots.look(here, place.table), 0, 1)[0]
    assert "clock.hints=true" in opened.move


def test_out_of_turn_and_looking_on_there_is_no_hint(here):
    places = table(here, ANNA, BERT, agreed=True)
    with pytest.raises(Refused, match="your own turn"):
        hints.ask(here, houses.waiting(here, places))
    with pytest.raises(Refused, match="looking on"):
        hints.ask(here, Place(places[0].table, None, ""))


def test_who_has_resigned_on_his_turn_gets_no_hint(here):
    place = turn_of(here, ANNA, BERT, BOT, agreed=True)
    houses.judged(here, place, "resign")
    with pytest.raises(Refused, match="your own turn"):
        hints.ask(here, place)


@pytest.mark.parametrize("game", ["kurier", "turfmaster"])
def test_a_hint_hangs_on_nothing_that_its_seat_cannot_know(here, monkeypatch, game):
    """At every table that looks alike to this seat the hint is the same."""
    place = turn_of(here, ANNA, BOT, game=game)
    look = snapshots.look(here, place.table)
    hint = hinted(here, place)
    other = look.game.redeal(look.table.state, place.seat, playing.loose(Random(7)))
    elsewhere = replace(look, table=replace(look.table, state=other))
    assert hints._thought(here, elsewhere, place.seat, process_pool.do) == hint.moves


def test_asked_twice_it_is_the_same_hint(here):
    place = turn_of(here, ANNA, BOT)
    assert hints.ask(here, place) == hints.ask(here, place)
    with here.store.reading() as connection:
        assert len(connection.execute(select(rows)).all()) == 1


def test_hints_are_limited_by_the_hour(here, clock, monkeypatch):
    monkeypatch.setattr(hints, "PER_HOUR", 2)
    place = turn_of(here, ANNA, BERT, agreed=True)
    for _ in range(2):
        hints.ask(here, place)
        houses.judged(here, place, houses.moves(here, place)[0])
        reply = Place(place.table, 1 - place.seat, "")
        houses.judged(here, reply, houses.moves(here, reply)[0])
    with pytest.raises(Refused, match="many hints"):
        hints.ask(here, place)
    clock.move(3_601)
    assert hints.ask(here, place)


def test_a_hint_that_the_game_has_overtaken_is_none(here):
    place = turn_of(here, ANNA, BERT, agreed=True)
    number = hints.ask(here, place)
    houses.judged(here, place, houses.moves(here, place)[0])
    bots.answer_hints(here)
    assert hints.find(here, place, number) is None
    assert hints.waiting(here) == []


def test_a_hint_is_told_to_its_own_seat_alone(here):
    places = table(here, ANNA, BERT, agreed=True)
    place, _ = houses.on_turn(here, places)
    number = hints.ask(here, place)
    bots.answer_hints(here)
    assert hints.find(here, houses.waiting(here, places), number) is None


def test_trouble_with_one_hint_holds_no_other_up(here, monkeypatch):
    bad, good = turn_of(here, ANNA, BOT), turn_of(here, ANNA, BOT)
    first, second = hints.ask(here, bad), hints.ask(here, good)
    answer = hints.answer
    broken = lambda house, number, aside: 1 / 0 if number == first else answer(house, number, aside)  # noqa: E731
    monkeypatch.setattr(hints, "answer", broken)
    bots.answer_hints(here)
    assert hints.find(here, good, second).move


def test_the_clock_rings_again_for_a_hint_whose_bell_was_lost(here):
    place = turn_of(here, ANNA, BERT, agreed=True)
    hints.ask(here, place)
    here.redis.flushall()
    timekeeping.ring(here)
    assert here.bells.queue("bots").count == 1


def test_a_hint_goes_before_the_next_bot(here, monkeypatch):
    """A hundred bots may wait; a person who asks waits for one move of one bot."""
    place = turn_of(here, ANNA, BERT, agreed=True)
    asked, seen = [], []

    def moving(house, where):
        if not asked:
            asked.append(hints.ask(here, place))
        seen.append(hints.find(here, place, asked[0]).move is not None)

    monkeypatch.setattr(bots, "waiting", lambda _: [("one", 0), ("other", 0)])
    monkeypatch.setattr(bots, "_move", moving)
    bots.move()
    assert seen == [False, True]
    assert menus.allows(
        snapshots.menu(snapshots.look(here, place.table), place.seat), hints.find(here, place, asked[0]).move
    )
