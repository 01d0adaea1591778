"""What every game promises to the pages and the post: it can be drawn, told, read and written about at every step."""

from __future__ import annotations

from email.message import EmailMessage
from random import Random
from xml.etree import ElementTree

import pytest

from engine import bots, catalogue
from engine import table as tables
from engine.game import Game
from service import create_app
from service.tables import access, opening, snapshots
from service.tables.opening import Invited
from service.text import drawing
from service.text.drawing import Scene, Voice
from tests import houses
from tests.engine.cases import Case, cases, game_of, some
from workers.outgoing import envelopes, letters, pictures

NAMES = ("Anna", "Bertrand the Younger", "Clara", "Dora", "Emil", "Frieda", "Gustav", "Hanna")
COLUMNS = 80
STEPS = 30


def plain_cases() -> list[Case]:
    """Every game in the catalogue at every number of seats, with the options as they come."""
    return [case for case in cases() if case.game in catalogue.games().values() and not case.chosen]


every_case = pytest.mark.parametrize("case", plain_cases(), ids=str)
every_game = pytest.mark.parametrize("game", catalogue.games().values(), ids=lambda game: game.META.name)


@every_case
def test_the_board_is_drawn_and_told_at_every_step(case):
    readers = (None, *range(case.seats))
    for number, position in enumerate(some(game_of(case, b"a lantern"), 60)):
        me = readers[number % len(readers)]
        menu = case.game.menu(position.state, me) if me is not None else ()
        scene = Scene(case.game, case.game.view(position.state, me), drawing.players(NAMES[: case.seats]), me, menu)
        ElementTree.fromstring(drawing.board_svg(scene))
        text = drawing.board_text(scene)
        assert max(map(len, text.splitlines())) <= COLUMNS
        voice = Voice(case.game, NAMES[: case.seats], me=me)
        assert voice.alt(scene.view)
        for entry in menu:
            assert voice.verb(entry.verb)
            for move in list(entry.moves())[:50] if entry.count() < 5_000 else []:
                assert all(voice.token(entry.verb, token) for token in move.args)


@every_case
def test_every_event_is_told_to_everybody_without_a_fault(case):
    for me in (None, *range(case.seats)):
        voice = Voice(case.game, NAMES[: case.seats], me=me)
        told = [
            voice.tell(heard)
            for position in game_of(case, b"a lantern")
            for event in position.events
            if (heard := case.game.hear(event, me)) is not None
        ]
        assert sum(map(bool, told)) >= len(game_of(case, b"a lantern")) / 2
        assert not any("None" in sentence for sentence in told)


@every_game
def test_page_and_letter_are_written_at_every_step(game: Game, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "png", lambda svg: b"a picture of " + svg[:20].encode())
    random, seats = Random(7), min(game.META.seats)
    with houses.standing(houses.settings(tmp_path), houses.Clock()) as here:
        guests = [Invited(name, f"guest{number}@example.org") for number, name in enumerate(NAMES[:seats])]
        opened = opening.open_table(here, game.META.name, {}, guests, 0)
        places = [access.find(here, link) for link in opened.links]
        visitor = create_app(here).test_client()
        for place in places:
            assert visitor.get(f"/t/{place.link}").status_code == 200
            houses.judged(here, place, "sit word")
        for step in range(STEPS):
            look = snapshots.look(here, opened.table)
            waiting = tables.waiting_for(game, look.table)
            if not waiting:
                break
            seat = waiting[0]
            for link in (places[seat].link, opened.watch):
                page = visitor.get(f"/t/{link}")
                assert page.status_code == 200
            assert visitor.get(f"/t/{places[seat].link}/replay").status_code == 200
            assert_readable(written(here, opened.table, look, seat))
            move = bots.random_move(tables.menu(game, look.table, seat), random)
            assert houses.judged(here, places[seat], str(move)).accepted, (step, move)


def written(here, table: str, look, seat: int) -> EmailMessage:
    since = look.seats[seat].open_since
    letter = letters.write(here, envelopes.LetterOrder(table, since, seat, "turn", "guest@example.org", NAMES[seat]))
    assert letter is not None
    return letter


def assert_readable(letter: EmailMessage) -> None:
    plain, html = (letter.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert html is not None
    assert "/t/" in plain.get_content()
    assert len(html.get_content()) < 100_000
