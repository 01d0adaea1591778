"""Every game can be drawn, described, parsed and written about in letters at every step."""

from __future__ import annotations

import inspect
from email.message import EmailMessage
from random import Random

import pytest

from engine import bots, catalogue
from engine import table as tables
from engine.contract.cases import list_editions, name_edition
from engine.game import Game
from service import create_app
from service.app import App
from service.contract import *  # noqa: F403 - the tests of drawings and prose are there
from service.contract import NAMES
from service.tables import access, hints
from service.tables.opening import Invitee, OpenedTable
from service.timing import Clock
from tests import apps
from workers import bots as bot_jobs
from workers import referee
from workers.outgoing import table_letters
from workers.outgoing.letter import LetterRequest

GAMES = list(catalogue.find_all().values())
STEPS, OLDER_STEPS = 6, 2  # the second for editions in which no new table is opened
PAGES = ("board.svg", "replay", "log.txt", "log.json", "whatif")


# The newest edition of each game and the oldest one; a release tests those in between.
EDITIONS = [
    pytest.param(edition, marks=[pytest.mark.release] if 1 < edition.META.edition < game.META.edition else [])
    for game in GAMES
    for edition in list_editions(game)
]
every_edition = pytest.mark.parametrize("game", EDITIONS, ids=name_edition)


@pytest.fixture
def new_table(game: Game, app: App, monkeypatch: pytest.MonkeyPatch) -> OpenedTable:
    """A table in this edition, as one opened before the newest edition came."""
    guests = [Invitee(name, f"guest{number}@example.org") for number, name in enumerate(NAMES[: min(game.META.seats)])]
    with monkeypatch.context() as before:
        before.setitem(catalogue.find_all(), game.META.name, game)
        before.setattr(catalogue, "find", inspect.unwrap(catalogue.find))  # which would remember it
        new_table = apps.open_new(app, game.META.name, {}, guests, Clock(0, hints=True))
    assert apps.load_table(app, new_table.table).game is game
    return new_table


@every_edition
def test_page_and_letter_are_written_at_every_step(game: Game, app: App, new_table: OpenedTable) -> None:
    random, visitor = Random(7), create_app(app).test_client()
    places = [access.find(app, link) for link in new_table.links]
    for place in places:
        assert visitor.get(f"/t/{place.link}").status_code == 200
        apps.submit(app, place, "sit word")
    for step in range(STEPS if game in GAMES else OLDER_STEPS):
        snapshot = apps.load_table(app, new_table.table)
        waiting = tables.find_seats_to_move(game, snapshot.position)
        if not waiting:
            break
        seat = waiting[0]
        for path in (places[seat].link, new_table.watch, *(f"{places[seat].link}/{page}" for page in PAGES)):
            assert visitor.get(f"/t/{path}").status_code == 200, path
        assert_readable(write_letter(app, new_table.table, snapshot, seat))
        move = bots.pick_random_move(tables.menu(game, snapshot.position, seat), random)
        assert apps.submit(app, places[seat], str(move)).accepted, (step, move)


@every_edition
def test_bots_play_and_hints_are_found(game: Game, app: App, new_table: OpenedTable) -> None:
    places = [access.find(app, link) for link in new_table.links]
    for place in places:
        apps.submit(app, place, "sit word")
    seat = next(iter(tables.find_seats_to_move(game, apps.load_table(app, new_table.table).position)))
    number = apps.ask_hint(app, places[seat])
    bot_jobs.answer_hints(app)
    hint = apps.run_query(app, hints.find, places[seat], number)
    assert hint
    assert hint.move
    for place in places:
        apps.submit(app, place, "resign")
    for _ in range(STEPS):
        length = apps.count_entries(app, places[0])
        bot_jobs.run()
        referee.run()
        if apps.load_table(app, new_table.table).position.phase == "over":
            return
        assert apps.count_entries(app, places[0]) > length


def write_letter(app, table: str, snapshot, seat: int) -> EmailMessage:
    since = snapshot.seats[seat].open_since
    letter = table_letters.write(app, LetterRequest(table, since, seat, "turn", "guest@example.org", NAMES[seat]))
    assert letter is not None
    return letter


def assert_readable(letter: EmailMessage) -> None:
    plain, html = (letter.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert html is not None
    assert "/t/" in plain.get_content()
    assert len(html.get_content()) < 100_000
