"""The corpus is fetched from a mailbox at a real server and played."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from service.app import App
from tests import apps
from tests.workers.incoming import corpus
from tests.workers.incoming.corpus import CorpusMail
from tests.workers.incoming.test_corpus import GAMES, SAMPLE_SIZE, list_mailed_moves, start_table
from tests.workers.incoming.test_mailbox_polling import Mailbox, app, fetch_mails, imap_server, mailbox

assert all((app, imap_server, mailbox))  # the fixtures


def put_mails(mailbox: Mailbox, mails: Iterable[CorpusMail]) -> None:
    """Put mails into the mailbox as servers of providers do: one adds the recipient, another does not."""
    with mailbox.connect() as box:
        for number, mail in enumerate(mails):
            note = f"Delivered-To: {mail.to}\nReceived: from x by y; today\n".encode() if number % 2 else b""
            box.append((note + mail.raw).replace(b"\n", b"\r\n"))


def test_answers_of_many_programs_are_right_by_imap(app: App, mailbox: Mailbox) -> None:
    tables = {game: start_table(app, game)[0].table for game in GAMES}
    for number in range(0, 4 * SAMPLE_SIZE, 9):  # another choice than goes by LMTP
        place = corpus.find_mover(app, tables[GAMES[number % len(GAMES)]])
        assert place is not None
        mail, before = corpus.genuine(app, place, number), list_mailed_moves(app)
        put_mails(mailbox, [mail])
        fetch_mails(app)
        assert list_mailed_moves(app) == [*before, mail.move], mail.name


def test_a_mail_in_a_mailbox_moves_only_if_a_move_was_typed_into_it(app: App, mailbox: Mailbox) -> None:
    place, _ = apps.find_move(app, start_table(app, "kurier"))
    other = next(
        turn for _ in range(50) if (turn := apps.find_move(app, start_table(app, "kurier"))[0]).seat != place.seat
    )
    length = apps.count_entries(app, place)
    put_mails(mailbox, itertools.islice(corpus.attacks(app, place, other), 0, None, 3))  # test_corpus.py tries all
    put_mails(mailbox, (corpus.write_mail_without_move(app, place, number) for number in range(0, SAMPLE_SIZE, 3)))
    fetch_mails(app)
    assert list_mailed_moves(app) == []
    assert apps.count_entries(app, place) == length
