"""A branch belongs to its player, replays the same each time, knows no secret, and does not change the game."""

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
from service.app import App
from service.settings import DAY_S
from service.store.schema import entries, letters, seats, submissions
from service.tables import access, branches, joining, seat_commands, standing_orders
from service.tables.access import Place, Unknown
from service.tables.opening import Invitee
from service.tables.snapshots import Snapshot
from tests import apps
from tests.apps import NAMES

GAMES = [pytest.param(game, id=name) for name, game in catalogue.find_all().items()]
every_game = pytest.mark.parametrize("game", GAMES)
MIDDLE, STEPS = 30, 20


def start_table(app: App, game: Any, moves: int = MIDDLE, **chosen: str) -> list[Place]:
    """Play a table to the middle of this game; return its places."""
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in NAMES[: min(game.META.seats)]]
    opened = apps.open_new(app, game.META.name, chosen, guests, DAY_S)
    places = [access.find(app, link) for link in opened.links]
    for place in places:
        apps.submit(app, place, "sit word")
    random = Random(5)
    for _ in range(min(moves, half(game))):
        snapshot = apps.load_table(app, opened.table)
        seat = tables.find_seats_to_move(game, snapshot.position)[0]
        move = bots.pick_random_move(tables.menu(game, snapshot.position, seat), random)
        assert apps.submit(app, places[seat], str(move)).accepted
    return places


@functools.cache
def half(game: Any) -> int:
    """The number of moves after which a game with few players is half over."""
    return sum(1 for _ in bots.play_out(game, game.META.options(), min(game.META.seats), b"how long")) // 2


def find_newest(app: App, place: Place) -> int:
    return apps.count_entries(app, place) - 1


def replay_states(app: App, place: Place, number: int) -> tuple[Any, ...]:
    return apps.load(
        app, branches.play_out, apps.load_table(app, place.table), apps.run_query(app, branches.find, place, number)
    ).states


def wander(app: App, place: Place, number: int, steps: int, seed: int = 1) -> int:
    """Make random moves at the end of a branch, for the seat on turn, and return their number."""
    game, random = apps.load_table(app, place.table).game, Random(seed)
    for step in range(steps):
        state = replay_states(app, place, number)[-1]
        open_menus = [(seat, menu) for seat in range(len(NAMES)) if (menu := menu_of(game, state, seat))]
        if not open_menus:
            return step
        seat, menu = random.choice(open_menus)
        length = len(apps.run_query(app, branches.find, place, number).moves)
        move = str(bots.pick_random_move(menu, random))
        assert apps.change_with_app(app, branches.play, place, number, length, seat, move)[0] == number
    return steps


def menu_of(game: Any, state: Any, seat: int) -> Any:
    return game.menu(state, seat) if seat < len(game.standing(state)) else ()


@every_game
def test_a_branch_played_again_goes_through_the_same_positions(app: App, game: Any) -> None:
    place = start_table(app, game)[0]
    number = apps.change_with_app(app, branches.begin, place, find_newest(app, place))
    made = wander(app, place, number, STEPS)
    first, moves = replay_states(app, place, number), apps.run_query(app, branches.find, place, number).moves
    assert len(first) == made + 1
    for _ in range(made):
        apps.change(app, branches.cut, place, number, len(apps.run_query(app, branches.find, place, number).moves) - 1)
    for step, (seat, move) in enumerate(moves):
        assert apps.change_with_app(app, branches.play, place, number, step, seat, move) == (number, step + 1)
    assert replay_states(app, place, number) == first


@every_game
def test_a_branch_begins_with_what_its_seat_knew(app: App, game: Any) -> None:
    places = start_table(app, game)
    for place in places:
        for seq in (find_newest(app, place), max(find_newest(app, place) - 12, len(places) + 1)):
            number = apps.change_with_app(app, branches.begin, place, seq)
            real, copy = (
                apps.load_past(app, apps.load_table(app, place.table), seq).state,
                replay_states(app, place, number)[0],
            )
            assert game.view(copy, place.seat) == game.view(real, place.seat)
            assert game.menu(copy, place.seat) == game.menu(real, place.seat)


@every_game
def test_a_branch_does_not_depend_on_hidden_information(app: App, game: Any) -> None:
    place = start_table(app, game)[0]
    snapshot = apps.load_table(app, place.table)
    number = apps.change_with_app(app, branches.begin, place, find_newest(app, place))
    wander(app, place, number, STEPS)
    before = replay_states(app, place, number)
    for number_of_deal in range(5):
        other = game.redeal(snapshot.position.state, place.seat, chance.make_sealed(bytes(32), number_of_deal))
        app.caches.positions.put(place.table, replace(snapshot.position, state=other))
        assert replay_states(app, place, number) == before


@every_game
def test_nothing_of_a_branch_reaches_the_table(app: App, game: Any) -> None:
    place = start_table(app, game, 10)[0]
    app, before = app, dump_database(app)
    number = apps.change_with_app(app, branches.begin, place, find_newest(app, place))
    wander(app, place, number, STEPS)
    apps.change(app, branches.rename, place, number, "A thought")
    apps.change_with_app(app, branches.deal, place, number)
    other = apps.change(app, branches.fork, place, number, 1)
    apps.change(app, branches.cut, place, number, 0)
    apps.change(app, branches.remove, place, other)
    assert dump_database(app) == before


LAST_BOXES = (
    "bridges_castles tower revolts wheel plague",
    "princess_dragon fairy count king_robber bathhouses",
    "leipzig darmstadt tunnel princess_dragon tower",
)
"""All boxes of Carcassonne that came last, as far as they go together."""


@pytest.mark.parametrize("boxes", LAST_BOXES)
def test_what_if_and_undo_at_tables_with_the_last_boxes_of_carcassonne(app: App, boxes: str) -> None:
    game = catalogue.find("carcassonne")
    places = start_table(app, game, 24, **dict.fromkeys(boxes.split(), "on"))
    place, before = places[0], dump_database(app)
    number = apps.change_with_app(app, branches.begin, place, find_newest(app, place))
    made = wander(app, place, number, 12)
    assert len(replay_states(app, place, number)) == made + 1
    assert dump_database(app) == before
    position = apps.load_table(app, place.table).position
    mover = tables.find_seats_to_move(game, position)[0]
    move = bots.pick_random_move(tables.menu(game, position, mover), Random(1))
    assert apps.submit(app, places[mover], str(move)).accepted
    assert apps.submit(app, places[mover], "undo").accepted
    for other in places:
        if apps.load_table(app, place.table).position.undo_request:
            apps.submit(app, other, "agree")
    assert apps.load_table(app, place.table).position.state == position.state


def dump_database(app: App) -> list[Any]:
    """Everything that a table consists of."""
    with app.store.reading() as connection:
        counted = [connection.execute(select(func.count()).select_from(one)).scalar() for one in (letters, submissions)]
        return [*counted, connection.execute(select(entries)).all(), connection.execute(select(seats)).all()]


@pytest.fixture
def place(app: App) -> Place:
    """A seat at a table where some moves were made."""
    return start_table(app, catalogue.find("kaiser"), 6)[0]


@pytest.fixture
def number(app: App, place: Place) -> int:
    """A branch of that seat with some moves."""
    number = apps.change_with_app(app, branches.begin, place, find_newest(app, place))
    wander(app, place, number, 4)
    return number


def test_another_move_at_an_earlier_step_begins_another_branch(app: App, place: Place, number: int) -> None:
    moves = apps.run_query(app, branches.find, place, number).moves
    seat, move = moves[1]
    game = apps.load_table(app, place.table).game
    state = replay_states(app, place, number)[1]
    other = next(str(move) for entry in game.menu(state, seat) for move in entry.iter_moves() if str(move) != move)
    assert apps.change_with_app(app, branches.play, place, number, 1, seat, move) == (number, 2)
    forked, step = apps.change_with_app(app, branches.play, place, number, 1, seat, other)
    assert (forked != number, step) == (True, 2)
    assert apps.run_query(app, branches.find, place, forked).moves == (moves[0], (seat, other))
    assert apps.run_query(app, branches.find, place, number).moves == moves
    assert replay_states(app, place, forked)[:2] == replay_states(app, place, number)[:2]


def test_an_empty_branch_is_not_begun_twice(app: App, place: Place) -> None:
    first = apps.change_with_app(app, branches.begin, place, find_newest(app, place))
    assert apps.change_with_app(app, branches.begin, place, find_newest(app, place)) == first
    assert apps.change_with_app(app, branches.begin, place, find_newest(app, place) - 1) != first
    apps.change(app, branches.rename, place, first, " The  first ")
    assert apps.run_query(app, branches.find, place, first).name == "The first"
    assert apps.change_with_app(app, branches.begin, place, find_newest(app, place)) != first


def test_a_new_deal_cuts_the_moves_that_no_longer_fit(app: App) -> None:
    game = catalogue.find("carcassonne")
    place = start_table(app, game, 8)[0]
    number = apps.change_with_app(app, branches.begin, place, find_newest(app, place))
    wander(app, place, number, STEPS)
    moves = apps.run_query(app, branches.find, place, number).moves
    lost = apps.change_with_app(app, branches.deal, place, number)
    assert 0 < lost < len(moves)
    assert apps.run_query(app, branches.find, place, number).moves == moves[:-lost]
    assert len(replay_states(app, place, number)) == len(moves) - lost + 1


def test_after_the_end_branches_know_all_secrets(app: App, clock: apps.FakeTime) -> None:
    game = catalogue.find("turfmaster")
    places = start_table(app, game, 12)
    place, seq = places[0], find_newest(app, places[0])
    real = apps.load_table(app, place.table).position.state
    before = apps.change_with_app(app, branches.begin, place, seq)
    assert apps.submit(app, places[1], "resign").accepted
    clock.advance(1)
    after = apps.change_with_app(app, branches.begin, place, seq)
    assert after != before
    assert replay_states(app, place, after)[0] == real
    assert replay_states(app, place, before)[0] != real


def test_a_branch_belongs_to_one_seat_alone(app: App, place: Place, number: int) -> None:
    other = Place(place.table, 1, "")
    assert apps.run_query(app, branches.list_branches, other) == []
    deeds: list[Callable[[App, Place, int], Any]] = [
        lambda app, place, number: apps.run_query(app, branches.find, place, number),
        lambda app, place, number: apps.change_with_app(app, branches.deal, place, number),
        lambda app, place, number: apps.change(app, branches.remove, place, number),
        lambda app, place, number: apps.change(app, branches.cut, place, number, 0),
        lambda app, place, number: apps.change(app, branches.fork, place, number, 0),
        lambda app, place, number: apps.change(app, branches.rename, place, number, "mine"),
        lambda app, place, number: apps.change_with_app(app, branches.play, place, number, 0, 0, "move"),
    ]
    for deed in deeds:
        with pytest.raises(Unknown, match="no such branch"):
            deed(app, other, number)
    assert len(apps.run_query(app, branches.list_branches, place)) == 1


def test_who_looks_on_has_no_branches(app: App, place: Place) -> None:
    watching = Place(place.table, None, "")
    with pytest.raises(Refused, match="only players"):
        apps.change_with_app(app, branches.begin, watching, 9)
    with pytest.raises(Refused, match="only players"):
        apps.run_query(app, branches.list_branches, watching)


def test_before_the_game_there_is_nothing_to_try_out(app: App, place: Place) -> None:
    for seq in (0, 2):
        with pytest.raises(Refused, match="has not begun"):
            apps.change_with_app(app, branches.begin, place, seq)
    gathering = apps.open_table(app)[0]
    with pytest.raises(Refused, match="has not begun"):
        apps.change_with_app(app, branches.begin, gathering, 5)


def test_there_are_limits(app: App, place: Place, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(branches.MAX_BRANCHES - 1):
        apps.change(app, branches.fork, place, number, 0)
    with pytest.raises(Refused, match="20 branches already"):
        apps.change(app, branches.fork, place, number, 0)
    monkeypatch.setattr(branches, "MAX_MOVES", 5)
    assert wander(app, place, number, 1) == 1
    with pytest.raises(Refused, match="at most 5 moves"):
        wander(app, place, number, 1)
    for name in ("x" * 41, "a\u202eb"):
        with pytest.raises(Refused, match="at most 40"):
            apps.change(app, branches.rename, place, number, name)


@pytest.mark.parametrize(
    ("seat", "text", "sentence"),
    [(7, "move A11 A5", "nothing to do"), (0, "fly to the moon", "one of"), (1, "fly to the moon", "one of")],
)
def test_an_impossible_move_in_a_branch_is_refused(
    app: App, place: Place, number: int, seat: int, text: str, sentence: str
) -> None:
    snapshot: Snapshot = apps.load_table(app, place.table)
    waiting = [one for one in (0, 1) if snapshot.game.menu(replay_states(app, place, number)[-1], one)]
    expected = sentence if seat in (*waiting, 7) else "nothing to do"
    with pytest.raises(Refused, match=expected):
        apps.change_with_app(app, branches.play, place, number, 4, seat, text)


def test_a_substitute_finds_no_branches(app: App, clock: apps.FakeTime) -> None:
    from service.timing import Clock
    from workers.clock import tick

    places = apps.start_table(app, 3, pace=Clock(DAY_S, late="seat", offer_after=1))
    mover, _ = apps.find_move(app, places)
    apps.change_with_app(app, branches.begin, mover, find_newest(app, mover))
    clock.advance(DAY_S + 1)
    tick(app)
    seat = apps.load_table(app, mover.table).seats[mover.seat or 0]
    link = joining.take_offered_seat(app, joining.make_offer_token(app, seat), Invitee("Eva", "eva@example.org"))
    assert apps.run_query(app, branches.list_branches, access.find(app, link)) == []


def play_branch(app: App, place: Place, moves: list[tuple[int, str]]) -> int:
    """Begin a branch of Kaiser with these moves, and return its number."""
    number = apps.change_with_app(app, branches.begin, place, find_newest(app, place))
    for step, (seat, move) in enumerate(moves):
        apps.change_with_app(app, branches.play, place, number, step, seat, move)
    return number


def list_texts(app: App, place: Place, number: int) -> list[str]:
    return [move for _, move in apps.run_query(app, branches.find, place, number).moves]


@pytest.fixture
def branch(app: App) -> tuple[Place, int, list[str]]:
    """The place that waits in a new game of Kaiser, and a branch in which the other player moves a stone to and fro."""
    waiter = apps.find_waiting(app, apps.start_table(app))
    assert waiter.seat is not None
    theirs, own = "AB"[1 - waiter.seat], "AB"[waiter.seat]
    moves = [f"move {theirs}11 {theirs}6", f"move {own}11 {own}6", f"move {theirs}6 {theirs}11"]
    seats = (1 - waiter.seat, waiter.seat, 1 - waiter.seat)
    return waiter, play_branch(app, waiter, list(zip(seats, moves, strict=True))), moves


def test_a_move_is_taken_out_of_a_branch_and_what_is_impossible_then_is_left_out(
    app: App, branch: tuple[Place, int, list[str]]
) -> None:
    place, number, moves = branch
    apps.change(app, branches.take_out, place, number, 2)
    assert list_texts(app, place, number) == [moves[0], moves[2]]
    assert len(replay_states(app, place, number)) == 2  # the first position, and the one after the first move


def test_a_move_is_made_sooner_where_that_is_possible(app: App, branch: tuple[Place, int, list[str]]) -> None:
    place, number, moves = branch
    with pytest.raises(Refused, match="first move of its player"):
        apps.change_with_app(app, branches.move_sooner, place, number, 1)
    with pytest.raises(Refused, match="In this order"):
        apps.change_with_app(app, branches.move_sooner, place, number, 3)  # the stone has not gone there yet
    assert list_texts(app, place, number) == moves
    seat = 1 - (place.seat or 0)
    later = moves[0].replace("11", "10").replace("6", "3")
    other, _ = apps.change_with_app(app, branches.play, place, number, 2, seat, later)
    apps.change_with_app(app, branches.move_sooner, place, other, 3)
    assert list_texts(app, place, other) == [later, moves[1], moves[0]]


def test_own_moves_are_ordered_whatever_the_others_play(app: App, branch: tuple[Place, int, list[str]]) -> None:
    place, number, moves = branch
    assert apps.order_branch(app, place, number, always=True) == 1
    (order,) = apps.list_orders(app, place)
    assert (order.move, order.after, order.branch) == (moves[1], "", None)


def order_two_branches(app: App, place: Place, longer: bool = False) -> tuple[list[int], list[str]]:
    """Order a branch for each of two moves of the other player; return their numbers, and the own moves."""
    assert place.seat is not None
    theirs, own = "AB"[1 - place.seat], "AB"[place.seat]
    given = [f"move {theirs}11 {theirs}6", f"move {theirs}10 {theirs}3"]
    moves = [f"move {own}11 {own}6", f"move {own}10 {own}3"]
    numbers = []
    for other, move in zip(given, moves, strict=True):
        number = play_branch(app, place, [(1 - place.seat, other), (place.seat, move)])
        if longer:
            game, state = apps.load_table(app, place.table).game, replay_states(app, place, number)[-1]
            option = next(one for one in game.menu(state, 1 - place.seat)[0].options if one[0] == f"{theirs}13")
            apps.change_with_app(app, branches.play, place, number, 2, 1 - place.seat, " ".join(("move", *option)))
        assert apps.order_branch(app, place, number) == 1
        numbers.append(number)
    return numbers, moves


def list_plan(app: App, place: Place) -> list[tuple[int, str]]:
    return [(order.branch, order.move) for order in apps.list_orders(app, place)]


def test_a_branch_is_tried_before_the_one_that_was_before_it(app: App) -> None:
    place = apps.find_waiting(app, apps.start_table(app))
    numbers, moves = order_two_branches(app, place)
    apps.change(app, seat_commands.move_branch_up, place, numbers[1])
    assert list_plan(app, place) == [(numbers[1], moves[1]), (numbers[0], moves[0])]
    for wrong in (numbers[1], 999):
        with pytest.raises(Refused, match="no such branch"):
            apps.change(app, seat_commands.move_branch_up, place, wrong)


def test_an_order_goes_to_the_end_of_another_branch_where_its_seat_is_to_move(app: App) -> None:
    place = apps.find_waiting(app, apps.start_table(app))
    numbers, moves = order_two_branches(app, place, longer=True)
    first = apps.list_orders(app, place)[0]
    apps.move_order(app, place, first.id, numbers[1])
    assert list_plan(app, place) == [(numbers[1], moves[1]), (numbers[1], moves[0])]
    assert list_texts(app, place, numbers[1])[1::2] == [moves[1], moves[0]]
    assert moves[0] not in list_texts(app, place, numbers[0])


def test_orders_of_two_branches_are_exchanged_where_the_seat_is_not_to_move_at_the_end(app: App) -> None:
    place = apps.find_waiting(app, apps.start_table(app))
    numbers, moves = order_two_branches(app, place)
    first = apps.list_orders(app, place)[0]
    apps.move_order(app, place, first.id, numbers[1])
    assert list_plan(app, place) == [(numbers[0], moves[1]), (numbers[1], moves[0])]
    with pytest.raises(Refused, match="no such order"):
        apps.move_order(app, place, first.id, numbers[0])
    with pytest.raises(Unknown):
        apps.move_order(app, place, apps.list_orders(app, place)[0].id, 999)


def test_a_refused_move_of_an_order_changes_neither_branch(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    place = apps.find_waiting(app, apps.start_table(app))
    numbers, moves = order_two_branches(app, place, longer=True)
    texts = [list_texts(app, place, number) for number in numbers]
    monkeypatch.setattr(standing_orders, "MAX_BRANCH_ORDERS", 1)
    with pytest.raises(Refused, match="at a time"):
        apps.move_order(app, place, apps.list_orders(app, place)[0].id, numbers[1])
    assert [list_texts(app, place, number) for number in numbers] == texts
    assert list_plan(app, place) == [(numbers[0], moves[0]), (numbers[1], moves[1])]


def test_an_order_is_not_moved_to_an_empty_branch_where_the_seat_is_not_to_move(app: App) -> None:
    place = apps.find_waiting(app, apps.start_table(app))
    order_two_branches(app, place)
    empty = apps.change_with_app(app, branches.begin, place, find_newest(app, place))
    with pytest.raises(Refused, match="not possible in that branch"):
        apps.move_order(app, place, apps.list_orders(app, place)[0].id, empty)


def test_an_order_is_tried_before_the_one_that_was_before_it(app: App) -> None:
    places = apps.start_table(app)
    waiter = apps.find_waiting(app, places)
    for move in ("move A1 A2", "move A2 A3", "move A3 A5"):
        assert apps.submit(app, waiter, f"order {move}").accepted
    ids = [order.id for order in apps.list_orders(app, waiter)]
    apps.change(app, seat_commands.move_order_up, waiter, ids[2])
    assert [order.move[5:] for order in apps.list_orders(app, waiter)] == ["A1 A2", "A3 A5", "A2 A3"]
    assert [order.id for order in apps.list_orders(app, waiter)] == ids
    for wrong in (ids[0], 999):
        with pytest.raises(Refused, match="no such order"):
            apps.change(app, seat_commands.move_order_up, waiter, wrong)
    with pytest.raises(Refused, match="no such order"):
        apps.change(app, seat_commands.move_order_up, next(place for place in places if place != waiter), ids[2])
