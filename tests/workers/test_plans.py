"""A branch turned into standing orders: followed as long as the game goes as it does there, and dropped otherwise."""

from random import Random

import pytest

from engine import bots, catalogue
from engine.refusal import Refused
from service.app import App
from service.settings import DAY_S
from service.tables import branches, standing_orders
from service.tables.access import Place
from service.tables.branch_orders import OrdersOfBranch
from tests import apps
from tests.service.tables.test_branches import find_newest, replay_states, start_table
from tests.workers.test_orders import last_moves, say
from workers.clock import tick

Moves = list[tuple[int, str]]


@pytest.fixture
def table(any_app: App) -> list[Place]:
    """Two at a table: first the one to move."""
    places = apps.start_table(any_app, pace=DAY_S)
    mover, _ = apps.find_move(any_app, places)
    return [mover, next(place for place in places if place != mover)]


def branch_of(app: App, place: Place, own: int) -> tuple[int, Moves]:
    """A branch of that seat from the position as it is now, with so many moves of its own, and all its moves."""
    app, game, random = app, apps.load_table(app, place.table).game, Random(own)
    number, made = apps.change_with_app(app, branches.begin, place, find_newest(app, place)), list[tuple[int, str]]()
    while sum(seat == place.seat for seat, _ in made) < own:
        state = replay_states(app, place, number)[-1]
        seat = next(seat for seat in range(2) if game.menu(state, seat))
        move = str(bots.pick_random_move(game.menu(state, seat), random))
        apps.change_with_app(app, branches.play, place, number, len(made), seat, move)
        made.append((seat, move))
    return number, made


def find_intention(app: App, place: Place) -> OrdersOfBranch | None:
    plans = apps.list_branch_orders(app, place)
    assert len(plans) <= 1
    return plans[0] if plans else None


def list_ordered_moves(app: App, place: Place) -> list[str]:
    """The moves that a seat still wants done."""
    plan = find_intention(app, place)
    return [one.move for one in plan.orders] if plan and plan.can_hold else []


def find_other_move(app: App, place: Place, move: str) -> str:
    return next(one for one in apps.list_moves(app, place) if one != move)


def follow(app: App, mover: Place, made: Moves) -> None:
    """The other one plays as in the branch; what follows by itself is not for him to make."""
    before = apps.count_entries(app, mover)
    for seat, move in made:
        if seat == mover.seat:
            say(app, mover, move)
    assert last_moves(app, mover, before)[: len(made)] == made


def test_as_long_as_the_game_goes_so_every_order_is_carried_out(any_app: App, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_app, other, 5)
    assert apps.order_branch(any_app, other, number) == 5
    assert list_ordered_moves(any_app, other) == [move for seat, move in made if seat == other.seat]
    follow(any_app, mover, made)
    assert find_intention(any_app, other) is None
    assert apps.load_table(any_app, mover.table).seats[other.seat or 0].orders == 0


def test_when_the_game_leaves_the_branch_the_rest_is_dropped(any_app: App, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_app, other, 4)
    apps.order_branch(any_app, other, number)
    theirs = [place for place, (seat, _) in enumerate(made) if seat == mover.seat]
    later = next(place for place in theirs if any(seat == other.seat for seat, _ in made[:place]))
    follow(any_app, mover, made[:later])
    left = list_ordered_moves(any_app, other)
    assert left
    before = apps.count_entries(any_app, mover)
    say(any_app, mover, find_other_move(any_app, mover, made[later][1]))
    assert [seat for seat, _ in last_moves(any_app, mover, before)] == [mover.seat]
    plan = find_intention(any_app, other)
    assert plan
    assert (plan.can_hold, [one.move for one in plan.orders]) == (False, left)
    assert apps.load_table(any_app, mover.table).seats[other.seat or 0].orders == 0
    apps.delete_branch_orders(any_app, other, number)
    assert find_intention(any_app, other) is None


def test_on_ones_own_turn_the_first_is_made_at_once(any_app: App, table: list[Place]) -> None:
    mover, _ = table
    before = apps.count_entries(any_app, mover)
    number, made = branch_of(any_app, mover, 1)
    apps.order_branch(any_app, mover, number)
    assert last_moves(any_app, mover, before) == made


def test_who_plays_on_by_hand_as_in_the_branch_stays_in_it(any_app: App, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_app, other, 3)
    say(any_app, mover, made[0][1])
    assert apps.order_branch(any_app, other, number) == 3
    assert apps.run_query(any_app, branches.find, other, number).seq < find_newest(any_app, other)


def test_two_branches_hold_for_two_ways_the_game_may_go(any_app: App, table: list[Place]) -> None:
    mover, other = table
    first, made = branch_of(any_app, other, 2)
    game, app = apps.load_table(any_app, mover.table).game, any_app
    seat, move = made[0]
    second, step = apps.change_with_app(
        app, branches.play, other, first, 0, seat, find_other_move(any_app, mover, move)
    )
    while sum(seat == other.seat for seat, _ in apps.run_query(app, branches.find, other, second).moves) < 1:
        state = replay_states(any_app, other, second)[-1]
        seat = next(seat for seat in range(2) if game.menu(state, seat))
        move = str(next(game.menu(state, seat)[0].iter_moves()))
        second, step = apps.change_with_app(app, branches.play, other, second, step, seat, move)
    for number in (first, second):
        apps.order_branch(app, other, number)
    follow(any_app, mover, list(apps.run_query(app, branches.find, other, second).moves))
    assert [(one.number, one.can_hold) for one in apps.list_branch_orders(app, other)] == [(first, False)]


def test_kept_again_a_branch_replaces_its_orders(any_app: App, table: list[Place]) -> None:
    _, other = table
    number, made = branch_of(any_app, other, 3)
    apps.order_branch(any_app, other, number)
    apps.change(any_app, branches.cut, other, number, len(made) - 1)
    assert apps.order_branch(any_app, other, number) == 2
    assert len(list_ordered_moves(any_app, other)) == 2
    say(any_app, other, "order fly moon")
    assert [order.move for order in apps.list_orders(any_app, other) if not order.after] == ["fly moon"]
    say(any_app, other, "cancel")
    assert apps.list_orders(any_app, other) == []


def test_a_move_taken_back_takes_the_game_back_into_the_branch(any_app: App, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_app, other, 2)
    assert [seat for seat, _ in made] == [mover.seat, other.seat, mover.seat, other.seat]
    apps.order_branch(any_app, other, number)
    say(any_app, mover, made[0][1])
    say(any_app, mover, "undo")
    say(any_app, other, "agree")
    assert list_ordered_moves(any_app, other) == [made[3][1]]  # the first was done, and is not done again unasked
    for place, (_, move) in zip((mover, other, mover), made[:3], strict=True):
        say(any_app, place, move)
    assert last_moves(any_app, mover, find_newest(any_app, mover)) == made[3:]


def test_an_undo_to_before_the_branch_leaves_it(any_app: App, table: list[Place]) -> None:
    mover, other = table
    for place in (mover, other):
        say(any_app, place, apps.list_moves(any_app, place)[0])
    number, _ = branch_of(any_app, other, 2)
    apps.order_branch(any_app, other, number)
    say(any_app, mover, "undo")
    say(any_app, other, "agree")
    say(any_app, mover, apps.list_moves(any_app, mover)[0])
    plan = find_intention(any_app, other)
    assert plan
    assert not plan.can_hold


def test_a_move_made_for_a_late_player_counts_like_any_other(
    any_app: App, clock: apps.FakeTime, table: list[Place]
) -> None:
    _, other = table
    number, made = branch_of(any_app, other, 2)
    apps.order_branch(any_app, other, number)
    before = apps.count_entries(any_app, other)
    clock.advance(DAY_S + 1)
    tick(any_app)
    (_, move), *then = last_moves(any_app, other, before)
    plan = find_intention(any_app, other)
    assert plan
    if str(move).endswith(made[0][1]):
        assert (then, plan.can_hold) == (made[1:2], True)
    else:
        assert (then, plan.can_hold) == ([], False)


def test_only_where_the_game_is_can_orders_be_made(any_app: App, table: list[Place]) -> None:
    mover, other = table
    number, made = branch_of(any_app, other, 2)
    say(any_app, mover, find_other_move(any_app, mover, made[0][1]))
    with pytest.raises(Refused, match="gone another way"):
        apps.order_branch(any_app, other, number)
    empty = apps.change_with_app(any_app, branches.begin, other, find_newest(any_app, other))
    with pytest.raises(Refused, match="make one first"):
        apps.order_branch(any_app, other, empty)
    with pytest.raises(Refused, match="only players"):
        apps.delete_branch_orders(any_app, Place(other.table, None, ""), number)


def test_orders_from_branches_have_a_limit(any_app: App, table: list[Place]) -> None:
    number, _ = branch_of(any_app, table[1], standing_orders.MAX_BRANCH_ORDERS + 1)
    with pytest.raises(Refused, match="20 orders from branches"):
        apps.order_branch(any_app, table[1], number)


def test_after_the_end_there_is_nothing_to_order(any_app: App, table: list[Place]) -> None:
    number, _ = branch_of(any_app, table[1], 1)
    say(any_app, table[0], "resign")
    with pytest.raises(Refused, match="is over"):
        apps.order_branch(any_app, table[1], number)


@pytest.mark.parametrize("name", catalogue.find_all())
def test_other_luck_is_another_way(app: App, name: str) -> None:
    """No order is carried out blindly if a draw at the table differs from the branch."""
    places = start_table(app, catalogue.find(name), 6)
    mover, _ = apps.find_move(app, places)
    number, made = branch_of(app, mover, 6)
    before = apps.count_entries(app, mover)
    apps.order_branch(app, mover, number)
    real = last_moves(app, mover, before)
    assert real == made[: len(real)]
    copy = replay_states(app, mover, number)[len(real)]
    game, now = apps.load_table(app, mover.table).game, apps.load_table(app, mover.table).position.state
    as_there = game.view(now, mover.seat) == game.view(copy, mover.seat)
    plan = find_intention(app, mover)
    assert plan is not None or len(real) == len(made)
    if plan and game.menu(now, mover.seat):
        if (
            made[len(real)][0] != mover.seat
        ):  # another seat was to move next there, so that this seat's own move shows the difference
            say(app, mover, apps.list_moves(app, mover)[0])
            plan = find_intention(app, mover)
        assert plan
        assert not plan.can_hold
        assert not as_there or game.menu(now, mover.seat) != game.menu(copy, mover.seat)
