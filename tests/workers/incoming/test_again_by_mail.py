"""A finished game is played again by one word of a mail, and its last letter tells how the scores went."""

from __future__ import annotations

import re
from email.message import EmailMessage

import pytest
from sqlalchemy import func, select

from service.house import House
from service.store.schema import tables
from service.tables import access, snapshots
from service.tables.access import Place
from tests import houses
from tests.workers.incoming.test_inbox import answered, posted
from workers.outgoing import curves
from workers.outgoing.envelopes import LetterOrder
from workers.outgoing.letters import write


@pytest.fixture
def finished(house: House) -> list[Place]:
    """A table of two where both have had enough."""
    places = houses.seated(house)
    assert houses.judged(house, places[0], "resign").accepted
    assert snapshots.look(house, places[0].table).table.phase == "over"
    return places


def count(here: House) -> int:
    with here.store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(tables)).scalar_one())


@pytest.mark.parametrize("line", ["again", "Again, please!", "nochmal", "Nog een keer graag", "encore", "rematch"])
def test_one_word_lays_the_table_again_and_who_asks_sits_there(house: House, finished: list[Place], line: str) -> None:
    old = finished[0].table
    posted(house, finished[1], line)
    with house.store.reading() as connection:
        (new,) = connection.execute(select(tables.c.id).where(tables.c.id != old)).scalars().all()
    look = snapshots.look(house, new)
    assert (look.names, [seat.status for seat in look.seats]) == (("Berta", "Anna"), ["taken", "invited"])
    assert answered(house) == ["accepted"]
    posted(house, finished[0], "again")
    assert count(house) == 2  # who asks second finds it laid, and sits down
    look = snapshots.look(house, new)
    assert ([seat.status for seat in look.seats], look.table.phase) == (["taken", "taken"], "playing")
    late = next(seat for seat in look.seats if seat.name == "Anna")
    place = Place(new, late.seat, access.link_of(house, late))
    posted(house, place, "Yes, gladly!")  # to the invitation, which was on its way
    assert "refused" not in answered(house)


@pytest.mark.parametrize("line", ["once again you won", "I would play again some day", "well played"])
def test_talk_about_playing_again_lays_nothing(house: House, finished: list[Place], line: str) -> None:
    posted(house, finished[1], line)
    assert count(house) == 1


def test_while_a_game_goes_on_the_word_does_nothing(house: House) -> None:
    places = houses.seated(house)
    posted(house, places[0], "again")
    assert count(house) == 1


def over(here: House, place: Place, language: str = "en") -> EmailMessage:
    look = snapshots.look(here, place.table)
    seat = look.seats[place.seat or 0]
    order = LetterOrder(place.table, look.row.length - 1, seat.seat, "over", "a@example.org", seat.name, language)
    made = write(here, order)
    assert made is not None
    return made


def test_the_last_letter_offers_it_and_shows_how_the_scores_went(house: House) -> None:
    places = houses.seated(house)
    while snapshots.look(house, places[0].table).table.phase != "over":
        place, move = houses.on_turn(house, places)
        assert houses.judged(house, place, move).accepted
    told = over(house, places[0], "de")
    plain, shown = (str(told.get_body((form,)).get_content()) for form in ("plain", "html"))
    assert "Antworte mit einem Wort: nochmal" in " ".join(plain.split())
    assert f"Noch einmal spielen: http://127.0.0.1:8765/t/{places[0].link}" in plain.replace("\n", " ")
    _, _, after = plain.partition("So liefen die Punkte:")
    bars = re.findall(rf"^  ([{curves.BARS}]{{{curves.POINTS}}}) (\w+)$", after.partition(":")[0], re.MULTILINE)
    assert [name for _, name in bars] == ["Anna", "Berta"]
    scores = snapshots.look(house, places[0].table)
    ends = [one.score for one in scores.game.standing(scores.table.state)]
    assert re.search(rf'alt="Anna: [-\d → ]*→ {ends[0]}; Berta: [-\d → ]*→ {ends[1]}"', shown)
