"""What every game promises to the pages and the post: it can be drawn, told, read and written about at every step."""

from __future__ import annotations

from email.message import EmailMessage
from random import Random

import pytest

from engine import bots, catalogue
from engine import table as tables
from engine.game import Game
from service import create_app
from service.contract import *  # noqa: F403 - what is promised of drawings and prose stands there
from service.contract import NAMES
from service.tables import access
from service.tables.opening import Invited
from tests import apps
from workers.outgoing import pictures, table_letters
from workers.outgoing.letter import LetterRequest

GAMES = list(catalogue.find_all().values())
STEPS = 10


every_game = pytest.mark.parametrize("game", catalogue.find_all().values(), ids=lambda game: game.META.name)


@every_game
def test_page_and_letter_are_written_at_every_step(game: Game, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "png", lambda svg: b"a picture of " + svg[:20].encode())
    random, seats = Random(7), min(game.META.seats)
    with apps.run_app(apps.make_settings(tmp_path), apps.FakeTime()) as app:
        guests = [Invited(name, f"guest{number}@example.org") for number, name in enumerate(NAMES[:seats])]
        opened = apps.open_new(app, game.META.name, {}, guests, 0)
        places = [access.find(app, link) for link in opened.links]
        visitor = create_app(app).test_client()
        for place in places:
            assert visitor.get(f"/t/{place.link}").status_code == 200
            apps.submit(app, place, "sit word")
        for step in range(STEPS):
            look = apps.load_table(app, opened.table)
            waiting = tables.find_seats_to_move(game, look.table)
            if not waiting:
                break
            seat = waiting[0]
            for link in (places[seat].link, opened.watch):
                page = visitor.get(f"/t/{link}")
                assert page.status_code == 200
            assert visitor.get(f"/t/{places[seat].link}/replay").status_code == 200
            assert_readable(written(app, opened.table, look, seat))
            move = bots.pick_random_move(tables.menu(game, look.table, seat), random)
            assert apps.submit(app, places[seat], str(move)).accepted, (step, move)


def written(app, table: str, look, seat: int) -> EmailMessage:
    since = look.seats[seat].open_since
    letter = table_letters.write(app, LetterRequest(table, since, seat, "turn", "guest@example.org", NAMES[seat]))
    assert letter is not None
    return letter


def assert_readable(letter: EmailMessage) -> None:
    plain, html = (letter.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert html is not None
    assert "/t/" in plain.get_content()
    assert len(html.get_content()) < 100_000
