"""A branch turned into standing orders: followed as long as the game goes as it does there, and dropped otherwise."""

from random import Random

import pytest

from engine import bots, catalogue
from engine.refusal import Refused
from service.house import House
from service.plans import branch_orders, branches
from service.plans.branch_orders import OrdersOfBranch
from service.settings import DAY
from service.tables import snapshots, standing_orders
from service.tables.access import Place
from tests import houses
from tests.service.plans.test_branches import newest, states, table_of
from tests.workers.test_orders import last_moves, says
from workers.clock import tick

Moves = list[tuple[int, str]]


@pytest.fixture
def table(any_house: House) -> list[Place]:
    """Two at a table: first the one to move."""
    places = houses.seated(any_house, pace=DAY)
    mover, _ = houses.on_turn(any_house, places)
    return [mover, next(place for place in places if place != mover)]


def branch_of(here: House, place: Place, own: int) -> tuple[int, Moves]:
    """A branch of that seat from the position as it is now, with so many moves of its own, and all its moves."""
    house, game, random = here, snapshots.look(here, place.table).game, Random(own)
    number, made = branches.begin(house, place, newest(here, place)), list[tuple[int, str]]()
    while sum(seat == place.seat for seat, _ in made) < own:
        state = states(here, place, number)[-1]
        seat = next(seat for seat in range(2) if game.menu(state, seat))
        move = str(bots.random_move(game.menu(state, seat), random))
        branches.play(house, place, number, len(made), seat, move)
        made.append((seat, move))
    return number, made


def intention(here: House, place: Place) -> OrdersOfBranch | None:
    found = branch_orders.intentions(here, place)
    assert len(found) <= 1
    return found[0] if found else None


def held(here: House, place: Place) -> list[str]:
    """The moves that a seat still wants done."""
    found = intention(here, place)
    return [one.move for one in found.intended] if found and not found.left else []


def another(here: House, place: Place, move: str) -> str:
    return next(one for one in houses.moves(here, place) if one != move)


def follow(here: House, mover: Place, made: Moves) -> None:
    """The other one plays as in the branch; what follows by itself is not for him to make."""
    before = houses.length(here, mover)
    for seat, move in made:
        if seat == mover.seat:
            says(here, mover, move)
    assert last_moves(here, mover, before)[: len(made)] == made


def test_as_long_as_the_game_goes_so_every_order_is_carried_out(any_house: House, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_house, other, 5)
    assert branch_orders.keep(any_house, other, number) == 5
    assert held(any_house, other) == [move for seat, move in made if seat == other.seat]
    follow(any_house, mover, made)
    assert intention(any_house, other) is None
    assert snapshots.look(any_house, mover.table).seats[other.seat or 0].orders == 0


def test_when_the_game_leaves_the_branch_the_rest_is_dropped(any_house: House, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_house, other, 4)
    branch_orders.keep(any_house, other, number)
    theirs = [place for place, (seat, _) in enumerate(made) if seat == mover.seat]
    later = next(place for place in theirs if any(seat == other.seat for seat, _ in made[:place]))
    follow(any_house, mover, made[:later])
    left = held(any_house, other)
    assert left
    before = houses.length(any_house, mover)
    says(any_house, mover, another(any_house, mover, made[later][1]))
    assert [seat for seat, _ in last_moves(any_house, mover, before)] == [mover.seat]
    found = intention(any_house, other)
    assert found
    assert (found.left, [one.move for one in found.intended]) == (True, left)
    assert snapshots.look(any_house, mover.table).seats[other.seat or 0].orders == 0
    branch_orders.forget(any_house, other, number)
    assert intention(any_house, other) is None


def test_on_ones_own_turn_the_first_is_made_at_once(any_house: House, table: list[Place]) -> None:
    mover, _ = table
    before = houses.length(any_house, mover)
    number, made = branch_of(any_house, mover, 1)
    branch_orders.keep(any_house, mover, number)
    assert last_moves(any_house, mover, before) == made


def test_who_plays_on_by_hand_as_in_the_branch_stays_in_it(any_house: House, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_house, other, 3)
    says(any_house, mover, made[0][1])
    assert branch_orders.keep(any_house, other, number) == 3
    assert branches.find(any_house, other, number).seq < newest(any_house, other)


def test_two_branches_hold_for_two_ways_the_game_may_go(any_house: House, table: list[Place]) -> None:
    mover, other = table
    first, made = branch_of(any_house, other, 2)
    game, house = snapshots.look(any_house, mover.table).game, any_house
    seat, known = made[0]
    second, step = branches.play(house, other, first, 0, seat, another(any_house, mover, known))
    while sum(seat == other.seat for seat, _ in branches.find(house, other, second).moves) < 1:
        state = states(any_house, other, second)[-1]
        seat = next(seat for seat in range(2) if game.menu(state, seat))
        move = str(next(game.menu(state, seat)[0].moves()))
        second, step = branches.play(house, other, second, step, seat, move)
    for number in (first, second):
        branch_orders.keep(house, other, number)
    follow(any_house, mover, list(branches.find(house, other, second).moves))
    assert [(one.number, one.left) for one in branch_orders.intentions(house, other)] == [(first, True)]


def test_kept_again_a_branch_replaces_its_orders(any_house: House, table: list[Place]) -> None:
    _, other = table
    number, made = branch_of(any_house, other, 3)
    branch_orders.keep(any_house, other, number)
    branches.cut(any_house, other, number, len(made) - 1)
    assert branch_orders.keep(any_house, other, number) == 2
    assert len(held(any_house, other)) == 2
    says(any_house, other, "order fly moon")
    assert [order.move for order in standing_orders.of_seat(any_house, other) if not order.after] == ["fly moon"]
    says(any_house, other, "cancel")
    assert standing_orders.of_seat(any_house, other) == []


def test_a_move_taken_back_takes_the_game_back_into_the_branch(any_house: House, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_house, other, 2)
    assert [seat for seat, _ in made] == [mover.seat, other.seat, mover.seat, other.seat]
    branch_orders.keep(any_house, other, number)
    says(any_house, mover, made[0][1])
    says(any_house, mover, "undo")
    says(any_house, other, "agree")
    assert held(any_house, other) == [made[3][1]]  # the first was done, and is not done again unasked
    for place, (_, move) in zip((mover, other, mover), made[:3], strict=True):
        says(any_house, place, move)
    assert last_moves(any_house, mover, newest(any_house, mover)) == made[3:]


def test_an_undo_to_before_the_branch_leaves_it(any_house: House, table: list[Place]) -> None:
    mover, other = table
    for place in (mover, other):
        says(any_house, place, houses.moves(any_house, place)[0])
    number, _ = branch_of(any_house, other, 2)
    branch_orders.keep(any_house, other, number)
    says(any_house, mover, "undo")
    says(any_house, other, "agree")
    says(any_house, mover, houses.moves(any_house, mover)[0])
    found = intention(any_house, other)
    assert found
    assert found.left


def test_a_move_made_for_who_was_late_counts_like_any_other(
    any_house: House, clock: houses.Clock, table: list[Place]
) -> None:
    _, other = table
    number, made = branch_of(any_house, other, 2)
    branch_orders.keep(any_house, other, number)
    before = houses.length(any_house, other)
    clock.move(DAY + 1)
    tick(any_house)
    (_, move), *then = last_moves(any_house, other, before)
    found = intention(any_house, other)
    assert found
    if str(move).endswith(made[0][1]):
        assert (then, found.left) == (made[1:2], False)
    else:
        assert (then, found.left) == ([], True)


def test_only_where_the_game_is_can_orders_be_made(any_house: House, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_house, other, 2)
    says(any_house, mover, another(any_house, mover, made[0][1]))
    with pytest.raises(Refused, match="gone another way"):
        branch_orders.keep(any_house, other, number)
    empty = branches.begin(any_house, other, newest(any_house, other))
    with pytest.raises(Refused, match="make one first"):
        branch_orders.keep(any_house, other, empty)
    with pytest.raises(Refused, match="only players"):
        branch_orders.forget(any_house, Place(other.table, None, ""), number)


def test_orders_from_branches_have_a_limit(any_house: House, table: list[Place]) -> None:
    number, _ = branch_of(any_house, table[1], standing_orders.MOST_PLANNED + 1)
    with pytest.raises(Refused, match="20 orders from branches"):
        branch_orders.keep(any_house, table[1], number)


def test_after_the_end_there_is_nothing_to_order(any_house: House, table: list[Place]) -> None:
    number, _ = branch_of(any_house, table[1], 1)
    says(any_house, table[0], "resign")
    with pytest.raises(Refused, match="is over"):
        branch_orders.keep(any_house, table[1], number)


@pytest.mark.parametrize("name", catalogue.games())
def test_other_luck_is_another_way(house: House, name: str) -> None:
    """Where something is drawn that falls otherwise at the table, no order is carried out blindly."""
    places = table_of(house, catalogue.find(name), 6)
    mover, _ = houses.on_turn(house, places)
    number, made = branch_of(house, mover, 6)
    before = houses.length(house, mover)
    branch_orders.keep(house, mover, number)
    real = last_moves(house, mover, before)
    assert real == made[: len(real)]
    copy = states(house, mover, number)[len(real)]
    game, now = snapshots.look(house, mover.table).game, snapshots.look(house, mover.table).table.state
    as_there = game.view(now, mover.seat) == game.view(copy, mover.seat)
    found = intention(house, mover)
    assert found is not None or len(real) == len(made)
    if found and game.menu(now, mover.seat):
        if made[len(real)][0] != mover.seat:  # there somebody else was to move next, so that our own move tells
            says(house, mover, houses.moves(house, mover)[0])
            found = intention(house, mover)
        assert found
        assert found.left
        assert not as_there or game.menu(now, mover.seat) != game.menu(copy, mover.seat)
