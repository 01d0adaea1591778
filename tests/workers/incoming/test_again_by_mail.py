"""A finished game is played again by one word of a mail, and its last letter tells how the scores went."""

from __future__ import annotations

import re
from email.message import EmailMessage

import pytest
from sqlalchemy import func, select

from service.app import App
from service.store.schema import tables
from service.tables import access
from service.tables.access import Place
from tests import apps
from tests.workers.incoming.test_inbox import deliver, list_answer_kinds
from workers.outgoing import game_review
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write


@pytest.fixture
def finished(app: App) -> list[Place]:
    """A table of two where both have had enough."""
    places = apps.start_table(app)
    assert apps.submit(app, places[0], "resign").accepted
    assert apps.load_table(app, places[0].table).position.phase == "over"
    return places


def count(app: App) -> int:
    with app.store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(tables)).scalar_one())


@pytest.mark.parametrize("line", ["again", "Again, please!", "nochmal", "Nog een keer graag", "encore", "rematch"])
def test_one_word_opens_a_rematch_where_the_sender_sits(app: App, finished: list[Place], line: str) -> None:
    old = finished[0].table
    deliver(app, finished[1], line)
    with app.store.reading() as connection:
        (new,) = connection.execute(select(tables.c.id).where(tables.c.id != old)).scalars().all()
    snapshot = apps.load_table(app, new)
    assert (snapshot.names, [seat.status for seat in snapshot.seats]) == (("Berta", "Anna"), ["taken", "invited"])
    assert list_answer_kinds(app) == ["accepted"]
    deliver(app, finished[0], "again")
    assert count(app) == 2  # who asks second finds it laid, and sits down
    snapshot = apps.load_table(app, new)
    assert ([seat.status for seat in snapshot.seats], snapshot.position.phase) == (["taken", "taken"], "playing")
    late = next(seat for seat in snapshot.seats if seat.name == "Anna")
    place = Place(new, late.seat, access.make_seat_link(app, late))
    deliver(app, place, "Yes, gladly!")  # to the invitation, which was on its way
    assert "refused" not in list_answer_kinds(app)


@pytest.mark.parametrize("line", ["once again you won", "I would play again some day", "well played"])
def test_talk_about_playing_again_lays_nothing(app: App, finished: list[Place], line: str) -> None:
    deliver(app, finished[1], line)
    assert count(app) == 1


def test_while_a_game_goes_on_the_word_does_nothing(app: App) -> None:
    places = apps.start_table(app)
    deliver(app, places[0], "again")
    assert count(app) == 1


def write_last_letter(app: App, place: Place, language: str = "en") -> EmailMessage:
    snapshot = apps.load_table(app, place.table)
    seat = snapshot.seats[place.seat or 0]
    order = LetterRequest(place.table, snapshot.row.length - 1, seat.seat, "over", "a@example.org", seat.name, language)
    made = write(app, order)
    assert made is not None
    return made


def test_the_last_letter_offers_it_and_shows_how_the_scores_went(app: App) -> None:
    places = apps.start_table(app)
    while apps.load_table(app, places[0].table).position.phase != "over":
        place, move = apps.find_move(app, places)
        assert apps.submit(app, place, move).accepted
    letter = write_last_letter(app, places[0], "de")
    plain, shown = (str(letter.get_body((form,)).get_content()) for form in ("plain", "html"))
    assert "Antworte mit einem Wort: nochmal" in " ".join(plain.split())
    assert f"Noch einmal spielen: http://127.0.0.1:8765/t/{places[0].link}" in plain.replace("\n", " ")
    _, _, after = plain.partition("So liefen die Punkte:")
    bars = re.findall(
        rf"^  ([{game_review.BAR_CHARACTERS}]{{{game_review.BARS_PER_ROW}}}) (\w+)$",
        after.partition(":")[0],
        re.MULTILINE,
    )
    assert [name for _, name in bars] == ["Anna", "Berta"]
    scores = apps.load_table(app, places[0].table)
    ends = [one.score for one in scores.game.standing(scores.position.state)]
    assert re.search(rf'alt="Anna: [-\d → ]*→ {ends[0]}; Berta: [-\d → ]*→ {ends[1]}"', shown)
