"""Which turn a mail answers: its table by In-Reply-To, its position by the letter, and no menu in two letters."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from service.app import App
from service.store.schema import letters
from service.tables import access
from service.tables.access import Place
from tests import apps
from tests.workers.incoming.test_inbox import (
    address,
    answer,
    answered,
    app,
    handed_in,
    last_letter,
    posted,
    rows,
    text,
)
from workers.incoming import inbox, mail_moves
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write

assert app  # the fixture


def written_to(app: App, place: Place, kind: str = "turn") -> str:
    """The id of the newest letter of this kind to this place."""
    wanted = select(letters.c.seq).where(letters.c.table == place.table, letters.c.seat == place.seat)
    with app.store.reading() as connection:
        seq = connection.execute(wanted.where(letters.c.kind == kind).order_by(letters.c.id.desc())).scalars().first()
    return f"<{place.table}.{seq}.{place.seat}.{kind}@games.example>"


def told_by(app: App, kind: str) -> str:
    """The text of the newest letter of this kind."""
    row = rows(app, letters, letters.c.kind == kind)[-1]
    message = write(app, LetterRequest(row.table, row.seq, row.seat, row.kind, "anna@example.org", "Anna"))
    assert message is not None
    return text(message)


def test_a_reply_to_all_moves_at_the_table_whose_letter_it_answers(app: App) -> None:
    one, move = apps.find_move(app, apps.start_table(app))
    other = apps.start_table(app)[one.seat or 0]
    message = answer(app, one, move, In_Reply_To=written_to(app, one))
    lengths = [apps.count_entries(app, place) for place in (one, other)]
    for place in (one, other):
        inbox.process_mail(app, message.as_bytes(), address(app, place), "somebody@example.org")
        mail_moves.run()
    assert [apps.count_entries(app, place) for place in (one, other)] == [lengths[0] + 1, lengths[1]]
    assert handed_in(app) == [move]
    assert answered(app) == ["refused"]
    assert "This mail answers a letter of another table" in text(last_letter(app, other))


def test_an_answer_to_the_invitation_of_another_table_moves_nothing(app: App) -> None:
    one, other = (apps.find_move(app, apps.start_table(app)) for _ in range(2))
    posted(app, other[0], other[1], In_Reply_To=f"<{one[0].table}.0.table@games.example>")
    assert (handed_in(app), answered(app)) == ([], ["refused"])


def test_the_last_reference_counts_where_nothing_else_names_the_letter(app: App) -> None:
    one, other = (apps.find_move(app, apps.start_table(app)) for _ in range(2))
    own = f"<{other[0].table}.{other[0].seat}.table@games.example>"
    posted(app, other[0], other[1], References=f"{own} {written_to(app, one[0])}")
    assert (handed_in(app), answered(app)) == ([], ["refused"])


def taken_back(app: App) -> tuple[Place, str, str]:
    """Whose move was taken back with consent, that move, and the letter that she had answered with it."""
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    first = written_to(app, place)
    posted(app, place, move, In_Reply_To=first)
    other, replying = apps.find_move(app, places)
    posted(app, other, replying)
    app.now.advance(120)  # type: ignore[attr-defined]  # a clock of the tests
    posted(app, place, "undo")
    posted(app, other, "ja, klar")
    return place, move, first


def test_after_a_rollback_a_turn_begins_with_a_letter_and_older_answers_are_late(app: App) -> None:
    place, move, first = taken_back(app)
    look = apps.load_table(app, place.table)
    seat = look.seats[place.seat or 0]
    assert seat.open_since == look.row.length - 1
    assert rows(app, letters, letters.c.kind == "turn", letters.c.seq == seat.open_since, letters.c.seat == place.seat)
    posted(app, place, move, In_Reply_To=first)
    assert "a letter of an earlier turn" in text(last_letter(app, place))
    posted(app, place, move, In_Reply_To=f"<{place.table}.{seat.open_since}.{place.seat}.refused.9@games.example>")
    assert handed_in(app)[-1] == move
    assert apps.count_entries(app, place) == look.row.length + 1


def test_a_command_is_not_the_last_move_of_a_seat(app: App) -> None:
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    posted(app, place, move)
    other, replying = apps.find_move(app, places)
    posted(app, other, replying)
    posted(app, place, "pause")
    posted(app, place, "status")
    letter = last_letter(app, place)
    assert "What happened since your last move:" in text(letter)
    assert replying.split()[-1] in text(letter).partition("What happened since your last move:")[2]


def test_an_answer_to_the_invitation_that_opens_the_turn_gets_one_letter(app: App) -> None:
    first, second = (access.find(app, link) for link in [place.link for place in apps.open_table(app)])
    for place in (second, first):
        posted(app, place, "ja gerne")
    place, _ = apps.find_move(app, [first, second])
    seat = apps.load_table(app, place.table).seats[place.seat or 0]
    kinds = [row.kind.partition("/")[0] for row in rows(app, letters, letters.c.seat == seat.seat)]
    assert kinds.count("turn") + kinds.count("accepted") == (1 if place == first else 2)


def test_who_is_asked_reads_who_asks_what_would_be_undone_and_which_word_answers(app: App) -> None:
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    posted(app, place, move)
    other, replying = apps.find_move(app, places)
    posted(app, other, replying)
    posted(app, place, "undo")
    names = [apps.NAMES[one.seat or 0] for one in places]
    asker = apps.load_table(app, place.table).names[place.seat or 0]
    told = told_by(app, "asked")
    assert asker in names
    assert f"{asker} would like to take a move back. Do you agree?" in told
    undone = told.partition("This would be taken back:")[2].partition("Answer this letter with one word, yes or no.")[0]
    assert move.split()[-1] in undone
    assert replying.split()[-1] in undone
    posted(app, other, "nein danke")
    assert handed_in(app)[-1] == "refuse"


def test_a_pause_names_who_asked(app: App) -> None:
    places = apps.start_table(app)
    posted(app, places[0], "pause")
    asker = apps.load_table(app, places[0].table).names[0]
    assert f"{asker} would like to pause the game" in told_by(app, "pausing")
    posted(app, places[1], "ok")
    told = told_by(app, "paused")
    assert f"{asker} asked for a pause, and the table pauses" in told
    assert "To go on, answer this letter with one word: resume" in told


@pytest.mark.parametrize(("tries", "left"), [(0, 0), (1, 1)], ids=["waits", "in hand"])
def test_a_letter_about_a_mail_takes_the_place_of_the_turns_unless_that_is_in_hand(
    app: App, tries: int, left: int
) -> None:
    place, _ = apps.find_move(app, apps.start_table(app))
    own = (letters.c.table == place.table, letters.c.seat == place.seat, letters.c.kind == "turn")
    with app.store.writing() as connection:
        connection.execute(update(letters).where(*own).values(tries=tries, sent_at=None))
    posted(app, place, "move nowhere")
    assert answered(app) == ["refused"]
    assert len(rows(app, letters, *own)) == left
