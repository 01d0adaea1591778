"""The corpus once more through a mailbox at a real server: laid there as mail, fetched, and played."""

from __future__ import annotations

from collections.abc import Iterable

from service.app import App
from tests import apps
from tests.workers.incoming import corpus
from tests.workers.incoming.corpus import Written
from tests.workers.incoming.test_corpus import FEW, GAMES, begun, moved
from tests.workers.incoming.test_mailbox_polling import Mailbox, app, fetch_mails, imap_server, mailbox

assert all((app, imap_server, mailbox))  # the fixtures


def put_mails(mailbox: Mailbox, mails: Iterable[Written]) -> None:
    """As the provider's server puts them into the box: one notes for whom they came, another does not."""
    with mailbox.connect() as box:
        for number, mail in enumerate(mails):
            note = f"Delivered-To: {mail.to}\nReceived: from x by y; today\n".encode() if number % 2 else b""
            box.append((note + mail.raw).replace(b"\n", b"\r\n"))


def test_answers_of_many_programs_are_right_by_imap(app: App, mailbox: Mailbox) -> None:
    tables = {game: begun(app, game)[0].table for game in GAMES}
    for number in range(0, 4 * FEW, 5):  # another choice than goes by LMTP
        place = corpus.on_turn(app, tables[GAMES[number % len(GAMES)]])
        assert place is not None
        mail, before = corpus.genuine(app, place, number), moved(app)
        put_mails(mailbox, [mail])
        fetch_mails(app)
        assert moved(app) == [*before, mail.move], mail.name


def test_no_mail_in_a_mailbox_moves_that_nobody_typed_a_move_into(app: App, mailbox: Mailbox) -> None:
    place, _ = apps.find_move(app, begun(app, "kurier"))
    other = next(turn for _ in range(50) if (turn := apps.find_move(app, begun(app, "kurier"))[0]).seat != place.seat)
    length = apps.count_entries(app, place)
    put_mails(mailbox, corpus.attacks(app, place, other))
    put_mails(mailbox, (corpus.quoting_only(app, place, number) for number in range(FEW)))
    fetch_mails(app)
    assert moved(app) == []
    assert apps.count_entries(app, place) == length
