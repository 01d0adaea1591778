"""What if: a branch is the player's own, is always the same again, knows no secret, and touches nothing real."""

import functools
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import func, select

from engine import bots, catalogue, chance
from engine import table as tables
from engine.refusal import Refused
from service.house import House
from service.plans import branches
from service.settings import DAY
from service.store.schema import entries, letters, seats, submissions
from service.tables import access, opening, snapshots, substitutes
from service.tables.access import Place, Unknown
from service.tables.opening import Invited
from service.tables.snapshots import Snapshot
from tests import houses
from tests.houses import NAMES

GAMES = [pytest.param(game, id=name) for name, game in catalogue.games().items()]
every_game = pytest.mark.parametrize("game", GAMES)
MIDDLE, STEPS = 30, 20


def table_of(here: House, game: Any, moves: int = MIDDLE, **chosen: str) -> list[Place]:
    """The places of a table in the middle of this game."""
    guests = [Invited(name, f"{name.lower()}@example.org") for name in NAMES[: min(game.META.seats)]]
    opened = opening.open_table(here, game.META.name, chosen, guests, DAY)
    places = [access.find(here, link) for link in opened.links]
    for place in places:
        houses.judged(here, place, "sit word")
    random = Random(5)
    for _ in range(min(moves, half(game))):
        look = snapshots.look(here, opened.table)
        seat = tables.waiting_for(game, look.table)[0]
        move = bots.random_move(tables.menu(game, look.table, seat), random)
        assert houses.judged(here, places[seat], str(move)).accepted
    return places


@functools.cache
def half(game: Any) -> int:
    """So many moves, and a game with few players is half over."""
    return sum(1 for _ in bots.playout(game, game.META.options(), min(game.META.seats), b"how long")) // 2


def newest(here: House, place: Place) -> int:
    return houses.length(here, place) - 1


def states(here: House, place: Place, number: int) -> tuple[Any, ...]:
    return branches.line(here, snapshots.look(here, place.table), branches.find(here, place, number)).states


def wander(here: House, place: Place, number: int, steps: int, seed: int = 1) -> int:
    """So many random moves at the end of a branch, for the seat on turn; the result is how many there were."""
    game, random = snapshots.look(here, place.table).game, Random(seed)
    for step in range(steps):
        state = states(here, place, number)[-1]
        open_menus = [(seat, menu) for seat in range(len(NAMES)) if (menu := menu_of(game, state, seat))]
        if not open_menus:
            return step
        seat, menu = random.choice(open_menus)
        length = len(branches.find(here, place, number).moves)
        assert branches.play(here, place, number, length, seat, str(bots.random_move(menu, random)))[0] == number
    return steps


def menu_of(game: Any, state: Any, seat: int) -> Any:
    return game.menu(state, seat) if seat < len(game.standing(state)) else ()


@every_game
def test_a_branch_played_again_goes_through_the_same_positions(house: House, game: Any) -> None:
    place = table_of(house, game)[0]
    number = branches.begin(house, place, newest(house, place))
    made = wander(house, place, number, STEPS)
    first, moves = states(house, place, number), branches.find(house, place, number).moves
    assert len(first) == made + 1
    for _ in range(made):
        branches.cut(house, place, number, len(branches.find(house, place, number).moves) - 1)
    for step, (seat, move) in enumerate(moves):
        assert branches.play(house, place, number, step, seat, move) == (number, step + 1)
    assert states(house, place, number) == first


@every_game
def test_a_branch_begins_with_what_its_seat_knew(house: House, game: Any) -> None:
    places = table_of(house, game)
    for place in places:
        for seq in (newest(house, place), max(newest(house, place) - 12, len(places) + 1)):
            number = branches.begin(house, place, seq)
            real, copy = (
                snapshots.past(house, snapshots.look(house, place.table), seq).state,
                states(house, place, number)[0],
            )
            assert game.view(copy, place.seat) == game.view(real, place.seat)
            assert game.menu(copy, place.seat) == game.menu(real, place.seat)


@every_game
def test_a_branch_is_the_same_whatever_its_seat_cannot_know(house: House, game: Any) -> None:
    place = table_of(house, game)[0]
    look = snapshots.look(house, place.table)
    number = branches.begin(house, place, newest(house, place))
    wander(house, place, number, STEPS)
    before = states(house, place, number)
    for luck in range(5):
        other = game.redeal(look.table.state, place.seat, chance.sealed(bytes(32), luck))
        house.caches.newest.put(place.table, replace(look.table, state=other))
        assert states(house, place, number) == before


@every_game
def test_nothing_of_a_branch_reaches_the_table(house: House, game: Any) -> None:
    place = table_of(house, game, 10)[0]
    house, before = house, kept(house)
    number = branches.begin(house, place, newest(house, place))
    wander(house, place, number, STEPS)
    branches.rename(house, place, number, "A thought")
    branches.deal(house, place, number)
    other = branches.fork(house, place, number, 1)
    branches.cut(house, place, number, 0)
    branches.remove(house, place, other)
    assert kept(house) == before


def kept(here: House) -> list[Any]:
    """Everything that a table consists of."""
    with here.store.reading() as connection:
        counted = [connection.execute(select(func.count()).select_from(one)).scalar() for one in (letters, submissions)]
        return [*counted, connection.execute(select(entries)).all(), connection.execute(select(seats)).all()]


@pytest.fixture
def place(house: House) -> Place:
    """A seat at a table where some moves were made."""
    return table_of(house, catalogue.find("kaiser"), 6)[0]


@pytest.fixture
def number(house: House, place: Place) -> int:
    """A branch of that seat with some moves."""
    number = branches.begin(house, place, newest(house, place))
    wander(house, place, number, 4)
    return number


def test_another_move_at_an_earlier_step_begins_another_branch(house: House, place: Place, number: int) -> None:
    moves = branches.find(house, place, number).moves
    seat, known = moves[1]
    game = snapshots.look(house, place.table).game
    state = states(house, place, number)[1]
    other = next(str(move) for entry in game.menu(state, seat) for move in entry.moves() if str(move) != known)
    assert branches.play(house, place, number, 1, seat, known) == (number, 2)
    forked, step = branches.play(house, place, number, 1, seat, other)
    assert (forked != number, step) == (True, 2)
    assert branches.find(house, place, forked).moves == (moves[0], (seat, other))
    assert branches.find(house, place, number).moves == moves
    assert states(house, place, forked)[:2] == states(house, place, number)[:2]


def test_an_empty_branch_is_not_begun_twice(house: House, place: Place) -> None:
    first = branches.begin(house, place, newest(house, place))
    assert branches.begin(house, place, newest(house, place)) == first
    assert branches.begin(house, place, newest(house, place) - 1) != first
    branches.rename(house, place, first, " The  first ")
    assert branches.find(house, place, first).name == "The first"
    assert branches.begin(house, place, newest(house, place)) != first


def test_dealing_anew_cuts_the_moves_that_no_longer_fit(house: House) -> None:
    game = catalogue.find("carcassonne")
    place = table_of(house, game, 8)[0]
    number = branches.begin(house, place, newest(house, place))
    wander(house, place, number, STEPS)
    moves = branches.find(house, place, number).moves
    lost = branches.deal(house, place, number)
    assert 0 < lost < len(moves)
    assert branches.find(house, place, number).moves == moves[:-lost]
    assert len(states(house, place, number)) == len(moves) - lost + 1


def test_after_the_end_everything_lies_open(house: House, clock: houses.Clock) -> None:
    game = catalogue.find("turfmaster")
    places = table_of(house, game, 12)
    place, seq = places[0], newest(house, places[0])
    real = snapshots.look(house, place.table).table.state
    before = branches.begin(house, place, seq)
    assert houses.judged(house, places[1], "resign").accepted
    clock.move(1)
    after = branches.begin(house, place, seq)
    assert after != before
    assert states(house, place, after)[0] == real
    assert states(house, place, before)[0] != real


def test_a_branch_belongs_to_one_seat_alone(house: House, place: Place, number: int) -> None:
    other = Place(place.table, 1, "")
    assert branches.of(house, other) == []
    deeds: list[Callable[[House, Place, int], Any]] = [
        branches.find,
        branches.deal,
        branches.remove,
        lambda house, place, number: branches.cut(house, place, number, 0),
        lambda house, place, number: branches.fork(house, place, number, 0),
        lambda house, place, number: branches.rename(house, place, number, "mine"),
        lambda house, place, number: branches.play(house, place, number, 0, 0, "move"),
    ]
    for deed in deeds:
        with pytest.raises(Unknown, match="no such branch"):
            deed(house, other, number)
    assert len(branches.of(house, place)) == 1


def test_who_looks_on_has_no_branches(house: House, place: Place) -> None:
    watching = Place(place.table, None, "")
    with pytest.raises(Refused, match="only players"):
        branches.begin(house, watching, 9)
    with pytest.raises(Refused, match="only players"):
        branches.of(house, watching)


def test_before_the_game_there_is_nothing_to_try_out(house: House, place: Place) -> None:
    for seq in (0, 2):
        with pytest.raises(Refused, match="has not begun"):
            branches.begin(house, place, seq)
    gathering = houses.opened(house)[0]
    with pytest.raises(Refused, match="has not begun"):
        branches.begin(house, gathering, 5)


def test_there_are_limits(house: House, place: Place, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(branches.MOST - 1):
        branches.fork(house, place, number, 0)
    with pytest.raises(Refused, match="20 branches already"):
        branches.fork(house, place, number, 0)
    monkeypatch.setattr(branches, "LONGEST", 5)
    assert wander(house, place, number, 1) == 1
    with pytest.raises(Refused, match="at most 5 moves"):
        wander(house, place, number, 1)
    for name in ("x" * 41, "a\u202eb"):
        with pytest.raises(Refused, match="at most 40"):
            branches.rename(house, place, number, name)


@pytest.mark.parametrize(
    ("seat", "text", "sentence"),
    [(7, "move A11 A5", "nothing to do"), (0, "fly to the moon", "one of"), (1, "fly to the moon", "one of")],
)
def test_what_is_not_possible_there_is_refused(
    house: House, place: Place, number: int, seat: int, text: str, sentence: str
) -> None:
    look: Snapshot = snapshots.look(house, place.table)
    waiting = [one for one in (0, 1) if look.game.menu(states(house, place, number)[-1], one)]
    wanted = sentence if seat in (*waiting, 7) else "nothing to do"
    with pytest.raises(Refused, match=wanted):
        branches.play(house, place, number, 4, seat, text)


def test_a_substitute_finds_no_branches(house: House, clock: houses.Clock) -> None:
    from service.timing import Clock
    from workers.clock import tick

    places = houses.seated(house, 3, pace=Clock(DAY, late="seat", offer_after=1))
    mover, _ = houses.on_turn(house, places)
    branches.begin(house, mover, newest(house, mover))
    clock.move(DAY + 1)
    tick(house)
    seat = snapshots.look(house, mover.table).seats[mover.seat or 0]
    link = substitutes.take(house, substitutes.link(house, seat), Invited("Eva", "eva@example.org"))
    assert branches.of(house, access.find(house, link)) == []
