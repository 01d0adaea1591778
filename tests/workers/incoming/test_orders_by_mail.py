"""Orders that wait for a move of another player, written in a mail in the words of each language."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from engine import chance
from engine import menu as menus
from engine.menu import Menu
from service.app import App
from service.store.batch import Batch
from service.tables import access, standing_orders
from service.tables.access import Place
from service.tables.locked_table import lock_table
from service.tables.opening import Invitee
from service.text.move_words import make_vocabulary
from tests import apps
from tests.apps import FakeTime
from tests.workers.incoming.test_inbox import deliver, last_letter, report, text
from tests.workers.test_orders import find_turn_change
from workers.incoming import mail_orders
from workers.incoming.mail_orders import ConditionalOrder


@pytest.fixture
def app(tmp_path, clock: FakeTime) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path, sender="table@games.example"), clock) as app:
        yield app


@pytest.fixture
def table(app: App) -> tuple[Place, Place]:
    """The player to move, and the other."""
    places = apps.start_table(app)
    mover, _ = apps.find_move(app, places)
    return mover, next(place for place in places if place != mover)


def list_conditional(app: App, place: Place) -> list[str]:
    with app.store.reading() as db:
        orders = standing_orders.list_orders(db, place.table, place.seat or 0)
    return [order.move for order in orders if order.after]


def plan(app: App, mover: Place, other: Place) -> tuple[str, str, str]:
    """The name of the player to move, one of that player's moves, and a move of the other that is possible then."""
    mover_name = apps.load_table(app, mover.table).names[mover.seat or 0]
    move, reply = find_turn_change(app, mover, other)
    return mover_name, move, reply


WAYS = (
    "if {who} {move} then {reply}",
    "If {who} plays {cells}, then {reply}, please",
    "order if {cells} then {reply}",
    "Wenn {who} {cells} zieht, dann {reply}",
    "Falls {who} {cells} spielt, {reply}",
    "Als {who} {cells} speelt, dan {reply}",
    "Si {who} joue {cells}, alors {reply}",
)


@pytest.mark.parametrize("way", WAYS)
def test_a_line_with_if_is_noted_confirmed_and_done(app, table, way):
    mover, other = table
    who, move, reply = plan(app, mover, other)
    deliver(app, other, way.format(who=who, move=move, cells=move.removeprefix("move "), reply=reply))
    assert list_conditional(app, other) == [reply]
    assert f"If {who} makes exactly this move: {move} – this is done: {reply}." in text(last_letter(app, other))
    assert apps.submit(app, mover, move).accepted
    assert list_conditional(app, other) == []
    assert str(apps.load_entries(app, apps.load_table(app, mover.table), 0)[-1].move) == reply


def test_another_move_than_the_one_that_was_named_plays_nothing(app, table):
    mover, other = table
    who, move, reply = plan(app, mover, other)
    deliver(app, other, f"if {who} {move} then {reply}")
    assert apps.submit(app, mover, apps.list_moves(app, mover)[-1]).accepted
    assert apps.list_moves(app, other)


@pytest.mark.parametrize(
    "way",
    [
        "if {who} Z99 Z98 then {reply}",
        "if {who} {move} then move Z99 Z98",
        "if {who} does not {move} then {reply}",
        "if {move} and {move} then {reply}",
    ],
)
def test_what_is_not_clear_is_asked_about_and_not_noted(app, table, way):
    mover, other = table
    who, move, reply = plan(app, mover, other)
    deliver(app, other, way.format(who=who, move=move, reply=reply))
    assert list_conditional(app, other) == []
    assert report(app)[-1][1] == "refused"
    assert "is not clear" in text(last_letter(app, other))


@pytest.mark.parametrize(
    "line", ["If you like, then let us play again soon", "Wenn du magst, spielen wir dann nochmal"]
)
def test_talk_that_begins_with_if_is_talk(app, table, line):
    deliver(app, table[1], line)
    assert "There is no move in this mail" in text(last_letter(app, table[1]))


def test_a_mail_full_of_conditions_without_moves_is_talk_after_few_comparisons(app, table, monkeypatch):
    compared = list[str]()
    parse = mail_orders.parse_move_line
    monkeypatch.setattr(mail_orders, "parse_move_line", lambda text, *rest: compared.append(text) or parse(text, *rest))
    lines = [f"if {', '.join(['qx'] * 100)} then zz"] * 60
    deliver(app, table[1], *lines)
    assert list_conditional(app, table[1]) == []
    assert len(compared) < 60 * 60


def test_a_line_with_if_tells_nothing_of_the_cards_of_others(app, monkeypatch):
    """In worlds that look the same to its writer, a line is compared with the same moves."""
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in ("Anna", "Berta")]
    opened = apps.open_new(app, "turfmaster", {}, guests, 0)
    for link in opened.links:
        assert apps.submit(app, access.find(app, link), "sit word").accepted
    mover = apps.find_move(app, [access.find(app, link) for link in opened.links])[0].seat
    assert mover is not None
    writer = 1 - mover
    with app.store.writing() as db:
        locked = lock_table(app, Batch(db), opened.table)
        game, position = locked.game, locked.position
        deals = [
            game.redeal(position.state, writer, chance.make_sealed(seed, 0)) for seed in (b"one", b"two", b"three")
        ]
        other_menus = [{str(move) for move in menus.iter_moves(game.menu(deal, mover))} for deal in deals]
        told_apart = set.union(*other_menus) - set.intersection(*other_menus)
        vocabulary = make_vocabulary(game, ("Anna", "Berta"))
        worlds = [replace(locked, position=replace(position, state=deal)) for deal in deals]
        assert told_apart
        read = list[list[Menu]]()
        monkeypatch.setattr(mail_orders, "_parse_part", lambda _, menu, __: read[-1].append(menu))
        for world in worlds:
            read.append([])
            assert not mail_orders.is_about_moves(world, writer, ConditionalOrder(("J9 C10",), "B3"), vocabulary)
    assert len(read[0]) == 4
    assert read[0] == read[1] == read[2]
