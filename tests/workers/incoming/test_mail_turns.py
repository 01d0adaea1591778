"""Which turn a mail answers: its table by In-Reply-To, its position by the letter, and no menu in two letters."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from service.house import House
from service.store.schema import letters
from service.tables import access, snapshots
from service.tables.access import Place
from tests import houses
from tests.workers.incoming.test_inbox import (
    address,
    answer,
    answered,
    handed_in,
    here,
    last_letter,
    posted,
    rows,
    text,
)
from workers.incoming import inbox, mail_moves
from workers.outgoing.envelopes import LetterOrder
from workers.outgoing.letters import write

assert here  # the fixture


def written_to(here: House, place: Place, kind: str = "turn") -> str:
    """The id of the newest letter of this kind to this place."""
    wanted = select(letters.c.seq).where(letters.c.table == place.table, letters.c.seat == place.seat)
    with here.store.reading() as connection:
        seq = connection.execute(wanted.where(letters.c.kind == kind).order_by(letters.c.id.desc())).scalars().first()
    return f"<{place.table}.{seq}.{place.seat}.{kind}@games.example>"


def told_by(here: House, kind: str) -> str:
    """The text of the newest letter of this kind."""
    row = rows(here, letters, letters.c.kind == kind)[-1]
    message = write(here, LetterOrder(row.table, row.seq, row.seat, row.kind, "anna@example.org", "Anna"))
    assert message is not None
    return text(message)


def test_a_reply_to_all_moves_at_the_table_whose_letter_it_answers(here: House) -> None:
    one, move = houses.on_turn(here, houses.seated(here))
    other = houses.seated(here)[one.seat or 0]
    message = answer(here, one, move, In_Reply_To=written_to(here, one))
    lengths = [houses.length(here, place) for place in (one, other)]
    for place in (one, other):
        inbox.take(here, message.as_bytes(), address(here, place), "somebody@example.org")
        mail_moves.hear()
    assert [houses.length(here, place) for place in (one, other)] == [lengths[0] + 1, lengths[1]]
    assert handed_in(here) == [move]
    assert answered(here) == ["refused"]
    assert "This mail answers a letter of another table" in text(last_letter(here, other))


def test_an_answer_to_the_invitation_of_another_table_moves_nothing(here: House) -> None:
    one, other = (houses.on_turn(here, houses.seated(here)) for _ in range(2))
    posted(here, other[0], other[1], In_Reply_To=f"<{one[0].table}.0.table@games.example>")
    assert (handed_in(here), answered(here)) == ([], ["refused"])


def test_the_last_reference_counts_where_nothing_else_names_the_letter(here: House) -> None:
    one, other = (houses.on_turn(here, houses.seated(here)) for _ in range(2))
    own = f"<{other[0].table}.{other[0].seat}.table@games.example>"
    posted(here, other[0], other[1], References=f"{own} {written_to(here, one[0])}")
    assert (handed_in(here), answered(here)) == ([], ["refused"])


def taken_back(here: House) -> tuple[Place, str, str]:
    """Whose move was taken back with consent, that move, and the letter that she had answered with it."""
    places = houses.seated(here)
    place, move = houses.on_turn(here, places)
    first = written_to(here, place)
    posted(here, place, move, In_Reply_To=first)
    other, replying = houses.on_turn(here, places)
    posted(here, other, replying)
    here.now.move(120)  # type: ignore[attr-defined]  # a clock of the tests
    posted(here, place, "undo")
    posted(here, other, "ja, klar")
    return place, move, first


def test_after_a_rollback_a_turn_begins_with_a_letter_and_older_answers_are_late(here: House) -> None:
    place, move, first = taken_back(here)
    look = snapshots.look(here, place.table)
    seat = look.seats[place.seat or 0]
    assert seat.open_since == look.row.length - 1
    assert rows(here, letters, letters.c.kind == "turn", letters.c.seq == seat.open_since, letters.c.seat == place.seat)
    posted(here, place, move, In_Reply_To=first)
    assert "a letter of an earlier turn" in text(last_letter(here, place))
    posted(here, place, move, In_Reply_To=f"<{place.table}.{seat.open_since}.{place.seat}.refused.9@games.example>")
    assert handed_in(here)[-1] == move
    assert houses.length(here, place) == look.row.length + 1


def test_a_command_is_not_the_last_move_of_a_seat(here: House) -> None:
    places = houses.seated(here)
    place, move = houses.on_turn(here, places)
    posted(here, place, move)
    other, replying = houses.on_turn(here, places)
    posted(here, other, replying)
    posted(here, place, "pause")
    posted(here, place, "status")
    letter = last_letter(here, place)
    assert "What happened since your last move:" in text(letter)
    assert replying.split()[-1] in text(letter).partition("What happened since your last move:")[2]


def test_an_answer_to_the_invitation_that_opens_the_turn_gets_one_letter(here: House) -> None:
    first, second = (access.find(here, link) for link in [place.link for place in houses.opened(here)])
    for place in (second, first):
        posted(here, place, "ja gerne")
    place, _ = houses.on_turn(here, [first, second])
    seat = snapshots.look(here, place.table).seats[place.seat or 0]
    kinds = [row.kind.partition("/")[0] for row in rows(here, letters, letters.c.seat == seat.seat)]
    assert kinds.count("turn") + kinds.count("accepted") == (1 if place == first else 2)


def test_who_is_asked_reads_who_asks_what_would_be_undone_and_which_word_answers(here: House) -> None:
    places = houses.seated(here)
    place, move = houses.on_turn(here, places)
    posted(here, place, move)
    other, replying = houses.on_turn(here, places)
    posted(here, other, replying)
    posted(here, place, "undo")
    names = [houses.NAMES[one.seat or 0] for one in places]
    asker = snapshots.look(here, place.table).names[place.seat or 0]
    told = told_by(here, "asked")
    assert asker in names
    assert f"{asker} would like to take a move back. Do you agree?" in told
    undone = told.partition("This would be taken back:")[2].partition("Answer this letter with one word, yes or no.")[0]
    assert move.split()[-1] in undone
    assert replying.split()[-1] in undone
    posted(here, other, "nein danke")
    assert handed_in(here)[-1] == "refuse"


def test_a_pause_names_who_asked(here: House) -> None:
    places = houses.seated(here)
    posted(here, places[0], "pause")
    asker = snapshots.look(here, places[0].table).names[0]
    assert f"{asker} would like to pause the game" in told_by(here, "pausing")
    posted(here, places[1], "ok")
    told = told_by(here, "paused")
    assert f"{asker} asked for a pause, and the table pauses" in told
    assert "To go on, answer this letter with one word: resume" in told


@pytest.mark.parametrize(("tries", "left"), [(0, 0), (1, 1)], ids=["waits", "in hand"])
def test_a_letter_about_a_mail_takes_the_place_of_the_turns_unless_that_is_in_hand(
    here: House, tries: int, left: int
) -> None:
    place, _ = houses.on_turn(here, houses.seated(here))
    own = (letters.c.table == place.table, letters.c.seat == place.seat, letters.c.kind == "turn")
    with here.store.writing() as connection:
        connection.execute(update(letters).where(*own).values(tries=tries, sent_at=None))
    posted(here, place, "move nowhere")
    assert answered(here) == ["refused"]
    assert len(rows(here, letters, *own)) == left
