"""A mail answers one turn: In-Reply-To names its table, the letter its position, and no two letters have one menu."""

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
    app,
    deliver,
    last_letter,
    list_answer_kinds,
    list_mailed_moves,
    rows,
    text,
)
from workers.incoming import inbox, mail_moves
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write

assert app  # the fixture


def find_letter_id(app: App, place: Place, kind: str = "turn") -> str:
    """The id of the newest letter of this kind to this place."""
    query = select(letters.c.seq).where(letters.c.table == place.table, letters.c.seat == place.seat)
    with app.store.reading() as connection:
        seq = connection.execute(query.where(letters.c.kind == kind).order_by(letters.c.id.desc())).scalars().first()
    return f"<{place.table}.{seq}.{place.seat}.{kind}@games.example>"


def read_letter(app: App, kind: str) -> str:
    """The text of the newest letter of this kind."""
    row = rows(app, letters, letters.c.kind == kind)[-1]
    message = write(app, LetterRequest(row.table, row.seq, row.seat, row.kind, "anna@example.org", "Anna"))
    assert message is not None
    return text(message)


def test_a_reply_to_all_moves_at_the_table_whose_letter_it_answers(app: App) -> None:
    one, move = apps.find_move(app, apps.start_table(app))
    other = apps.start_table(app)[one.seat or 0]
    message = answer(app, one, move, In_Reply_To=find_letter_id(app, one))
    lengths = [apps.count_entries(app, place) for place in (one, other)]
    for place in (one, other):
        inbox.process_mail(app, message.as_bytes(), address(app, place), "somebody@example.org")
        mail_moves.run()
    assert [apps.count_entries(app, place) for place in (one, other)] == [lengths[0] + 1, lengths[1]]
    assert list_mailed_moves(app) == [move]
    assert list_answer_kinds(app) == ["refused"]
    assert "This mail answers a letter of another table" in text(last_letter(app, other))


def test_an_answer_to_the_invitation_of_another_table_moves_nothing(app: App) -> None:
    one, other = (apps.find_move(app, apps.start_table(app)) for _ in range(2))
    deliver(app, other[0], other[1], In_Reply_To=f"<{one[0].table}.0.table@games.example>")
    assert (list_mailed_moves(app), list_answer_kinds(app)) == ([], ["refused"])


def test_the_last_reference_counts_where_nothing_else_names_the_letter(app: App) -> None:
    one, other = (apps.find_move(app, apps.start_table(app)) for _ in range(2))
    own = f"<{other[0].table}.{other[0].seat}.table@games.example>"
    deliver(app, other[0], other[1], References=f"{own} {find_letter_id(app, one[0])}")
    assert (list_mailed_moves(app), list_answer_kinds(app)) == ([], ["refused"])


def take_move_back(app: App) -> tuple[Place, str, str]:
    """Let a player take a move back with consent; return her place, the move, and the id of the letter it answered."""
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    first = find_letter_id(app, place)
    deliver(app, place, move, In_Reply_To=first)
    other, replying = apps.find_move(app, places)
    deliver(app, other, replying)
    app.now.advance(120)  # type: ignore[attr-defined]  # a clock of the tests
    deliver(app, place, "undo")
    deliver(app, other, "ja, klar")
    return place, move, first


def test_after_a_rollback_a_turn_begins_with_a_letter_and_older_answers_are_late(app: App) -> None:
    place, move, first = take_move_back(app)
    snapshot = apps.load_table(app, place.table)
    seat = snapshot.seats[place.seat or 0]
    assert seat.open_since == snapshot.row.length - 1
    assert rows(app, letters, letters.c.kind == "turn", letters.c.seq == seat.open_since, letters.c.seat == place.seat)
    deliver(app, place, move, In_Reply_To=first)
    assert "a letter of an earlier turn" in text(last_letter(app, place))
    deliver(app, place, move, In_Reply_To=f"<{place.table}.{seat.open_since}.{place.seat}.refused.9@games.example>")
    assert list_mailed_moves(app)[-1] == move
    assert apps.count_entries(app, place) == snapshot.row.length + 1


def test_a_command_is_not_the_last_move_of_a_seat(app: App) -> None:
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    deliver(app, place, move)
    other, replying = apps.find_move(app, places)
    deliver(app, other, replying)
    deliver(app, place, "pause")
    deliver(app, place, "status")
    letter = last_letter(app, place)
    assert "What happened since your last move:" in text(letter)
    assert replying.split()[-1] in text(letter).partition("What happened since your last move:")[2]


def test_an_answer_to_the_invitation_that_opens_the_turn_gets_one_letter(app: App) -> None:
    first, second = (access.find(app, link) for link in [place.link for place in apps.open_table(app)])
    for place in (second, first):
        deliver(app, place, "ja gerne")
    place, _ = apps.find_move(app, [first, second])
    seat = apps.load_table(app, place.table).seats[place.seat or 0]
    kinds = [row.kind.partition("/")[0] for row in rows(app, letters, letters.c.seat == seat.seat)]
    assert kinds.count("turn") + kinds.count("accepted") == (1 if place == first else 2)


def test_who_is_asked_reads_who_asks_what_would_be_undone_and_which_word_answers(app: App) -> None:
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    deliver(app, place, move)
    other, replying = apps.find_move(app, places)
    deliver(app, other, replying)
    deliver(app, place, "undo")
    names = [apps.NAMES[one.seat or 0] for one in places]
    asker = apps.load_table(app, place.table).names[place.seat or 0]
    letter = read_letter(app, "asked")
    assert asker in names
    assert f"{asker} would like to take a move back. Do you agree?" in letter
    undone = letter.partition("This would be taken back:")[2].partition("Answer this letter with one word, yes or no.")[
        0
    ]
    assert move.split()[-1] in undone
    assert replying.split()[-1] in undone
    deliver(app, other, "nein danke")
    assert list_mailed_moves(app)[-1] == "refuse"


def test_a_pause_names_who_asked(app: App) -> None:
    places = apps.start_table(app)
    deliver(app, places[0], "pause")
    asker = apps.load_table(app, places[0].table).names[0]
    assert f"{asker} would like to pause the game" in read_letter(app, "pausing")
    deliver(app, places[1], "ok")
    letter = read_letter(app, "paused")
    assert f"{asker} asked for a pause, and the table pauses" in letter
    assert "To go on, answer this letter with one word: resume" in letter


@pytest.mark.parametrize(("tries", "left"), [(0, 0), (1, 1)], ids=["waits", "in hand"])
def test_a_letter_about_a_mail_takes_the_place_of_the_turns_unless_that_is_in_hand(
    app: App, tries: int, left: int
) -> None:
    place, _ = apps.find_move(app, apps.start_table(app))
    own = (letters.c.table == place.table, letters.c.seat == place.seat, letters.c.kind == "turn")
    with app.store.writing() as connection:
        connection.execute(update(letters).where(*own).values(tries=tries, sent_at=None))
    deliver(app, place, "move nowhere")
    assert list_answer_kinds(app) == ["refused"]
    assert len(rows(app, letters, *own)) == left
