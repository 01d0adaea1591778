"""A corpus of replies as real mail programs write them: every one plays what it says, and nothing else."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from service.app import App
from service.store.schema import letters, submissions
from service.tables import access, opening
from service.tables.opening import Invitee, OpenedTable
from tests import apps
from tests.workers.incoming.replies import make
from tests.workers.incoming.replies.cases import POSITIONS, REPLIES, Reply
from workers.incoming import inbox, mail_moves

LANGUAGE = re.compile("_(en|de|fr|nl)$")


class FixedSecrets:
    """The secrets of a table, always the same, so that a mail can be written beforehand."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.numbers = itertools.count(1)

    def token_bytes(self, size: int) -> bytes:
        return bytes([self.seed]) * size

    def token_hex(self, size: int) -> str:
        return f"{self.seed * 1000 + next(self.numbers):0{2 * size}x}"


@pytest.fixture
def app(tmp_path) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path, sender="table@games.example"), apps.FakeTime()) as app:
        yield app


def open_fixed_table(app: App, game: str, monkeypatch: pytest.MonkeyPatch) -> OpenedTable:
    """The table that replies about this game are written for."""
    monkeypatch.setattr(opening, "secrets", FixedSecrets(POSITIONS[game].seed))
    guests = [Invitee("Anna", "anna@example.org"), Invitee("Berta", "berta@example.org")]
    opened = apps.open_new(app, game, {}, guests)
    for link in opened.links:
        assert apps.submit(app, access.find(app, link), "sit lantern").accepted
    return opened


@pytest.mark.parametrize("game", POSITIONS)
def test_the_corpus_is_written_for_these_tables(app, game, monkeypatch):
    snapshot = apps.load_table(app, open_fixed_table(app, game, monkeypatch).table)
    assert app.links.make_reply_address(app.settings, snapshot.seats[0]) == POSITIONS[game].answer
    assert snapshot.seats[0].open_since is not None


def test_the_corpus_is_large_and_as_its_script_writes_it():
    assert len(REPLIES) >= 60
    assert {file.name for file in make.FOLDER.glob("*.eml")} == {f"{reply.name}.eml" for reply in REPLIES}
    for reply in REPLIES:
        assert (make.FOLDER / f"{reply.name}.eml").read_bytes() == make.mail(reply), reply.name


def list_replies() -> Iterator[Any]:
    """List all replies; what differs from an earlier one only in its language waits for a release."""
    tested = set[str]()
    for reply in REPLIES:
        kind = LANGUAGE.sub("", reply.name)
        yield pytest.param(reply, id=reply.name, marks=[pytest.mark.release] if kind in tested else [])
        tested.add(kind)


@pytest.mark.parametrize("reply", list(list_replies()))
def test_a_reply_plays_what_it_says(app: App, reply: Reply, monkeypatch: pytest.MonkeyPatch) -> None:
    open_fixed_table(app, reply.game, monkeypatch)
    raw = (make.FOLDER / f"{reply.name}.eml").read_bytes()
    inbox.process_mail(app, raw.replace(b"\n", b"\r\n"), POSITIONS[reply.game].answer, "anna@example.org")
    mail_moves.run()
    with app.store.reading() as connection:
        query = select(submissions.c.move).where(submissions.c.by_mail, submissions.c.accepted)
        moves = tuple(connection.execute(query.order_by(submissions.c.id)).scalars())
        kinds = [kind.partition("/") for kind in connection.execute(select(letters.c.kind)).scalars()]
    assert moves == reply.moves
    assert [kind for kind, slash, _ in kinds if slash] == ([reply.letter] if reply.letter else [])
