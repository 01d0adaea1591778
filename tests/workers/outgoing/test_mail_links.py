"""Links of letters that open a mail with a move filled in: each is played as it is, and only in its turn."""

import html
import re
from collections.abc import Iterator
from email.message import EmailMessage
from urllib.parse import parse_qs, urlsplit

import pytest

from engine import catalogue
from engine import table as tables
from service.app import App
from service.tables.access import Place
from service.text import move_words
from service.text.languages import LANGUAGES
from tests import apps
from tests.apps import FakeTime
from tests.workers.incoming.corpus import find_mover
from tests.workers.incoming.test_inbox import deliver, last_letter, text
from tests.workers.outgoing.test_letters import body, open_table, play_until_choice, write_letter
from workers.incoming.move_parser import parse_move_line

LINK = re.compile(r"mailto:[^\s\"<>]+")


@pytest.fixture
def app(tmp_path, clock: FakeTime) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path, sender="table@games.example"), clock) as app:
        yield app


def list_mails(letter: EmailMessage, kind: str) -> list[tuple[str, str, str]]:
    """Return recipient, subject and text of each mail that a link of a letter opens, as RFC 6068 says."""
    links = [html.unescape(link) for link in LINK.findall(body(letter, kind))]
    parts = [urlsplit(link) for link in dict.fromkeys(links)]
    assert all("+" not in part.query for part in parts)  # some mail programs take it for a space
    fields = [(part.path, parse_qs(part.query, strict_parsing=True)) for part in parts]
    return [(to, *(field[name][0] for name in ("subject", "body"))) for to, field in fields]


def compute_menu(app: App, place: Place) -> tables.Menu:
    table = apps.load_table(app, place.table)
    return tables.menu(table.game, table.position, place.seat or 0)


@pytest.mark.parametrize("game", catalogue.find_all())
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_link_of_a_letter_opens_a_mail_with_a_move_of_the_menu(app, game, language):
    place = play_until_choice(app, game)[0]
    letter, table = write_letter(app, place, "turn", language), apps.load_table(app, place.table)
    menu, vocabulary = compute_menu(app, place), move_words.make_vocabulary(table.game, table.names)
    offered = {str(move) for entry in menu for move in entry.iter_moves()}
    for kind in ("plain", "html"):
        mails = list_mails(letter, kind)
        assert {to for to, _, _ in mails} == {app.links.make_reply_address(app.settings, table.seats[place.seat])}
        assert {subject for _, subject, _ in mails} == {f"{letter['Subject']} #{table.seats[place.seat].open_since}"}
        moves = {str(parse_move_line(move, menu, vocabulary)) for _, _, move in mails if not move.endswith(" ")}
        assert moves
        assert moves <= offered


def test_a_mail_of_a_link_is_played_in_its_turn_and_no_later(app):
    place = play_until_choice(app)[0]
    _, subject, move = list_mails(write_letter(app, place, "turn"), "html")[0]
    deliver(app, place, move, Subject=subject)
    after = find_mover(app, place.table)
    assert after is not None
    assert after.seat != place.seat
    assert apps.submit(app, after, apps.list_moves(app, after)[0]).accepted
    length = apps.load_table(app, place.table).position.length
    deliver(app, place, apps.list_moves(app, place)[0], Subject=subject)
    assert apps.load_table(app, place.table).position.length == length
    assert "a letter of an earlier turn" in text(last_letter(app, place))


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_invitation_is_accepted_by_its_link(app, language):
    place = open_table(app)[1]
    seat = apps.load_table(app, place.table).seats[1]
    letter = write_letter(app, place, "invitation", language)
    ((to, subject, word),) = list_mails(letter, "plain")
    assert (to, subject) == (app.links.make_reply_address(app.settings, seat), letter["Subject"])
    deliver(app, place, word)
    assert apps.load_table(app, place.table).seats[1].status == "taken"
