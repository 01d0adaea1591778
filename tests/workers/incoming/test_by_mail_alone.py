"""Games by mail alone, between two people in different languages: from the invitation to another game, and no page."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from engine import catalogue
from service.app import App
from service.store.schema import people, tables
from service.tables.opening import Invitee
from tests import apps
from tests.sampling import one_of
from tests.servers import Sink
from tests.workers.incoming.correspondence import Correspondent, play
from workers.outgoing import emails

TONGUES = {"kaiser": ("de", "fr"), "kurier": ("nl", "en"), "carcassonne": ("fr", "nl"), "turfmaster": ("en", "de")}


def invite_correspondents(app: App, game: str, verdict_wait: int) -> tuple[str, list[Correspondent]]:
    """A table of that game, and its two players, each with a language."""
    tongues = TONGUES.get(game, ("de", "fr"))
    guests = [Invitee(f"Player{one}", f"{one}{number}@example.org") for number, one in enumerate(tongues)]
    opened = apps.open_new(app, game, {}, guests)
    correspondents = []
    for seat, (guest, language) in enumerate(zip(guests, tongues, strict=True)):
        with app.store.writing() as connection:
            own = update(people).where(people.c.address == guest.address)
            connection.execute(own.values(language=language, chose=True, letter_settings='{"plain":true}'))
        correspondents.append(Correspondent(guest.address, language, seat, 10_000 if seat else verdict_wait))
    return opened.table, correspondents


@pytest.fixture
def posted(app: App, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    return app


def is_played_again(app: App, table: str, readers: list[Correspondent]) -> None:
    """The game came to its end, and one word laid the table again."""
    assert apps.load_table(app, table).position.phase == "over", [reader.last for reader in readers]
    assert [text for reader in readers for text in reader.refused] == []
    with app.store.reading() as connection:
        (new,) = connection.execute(select(tables.c.id).where(tables.c.id != table)).scalars().all()
    assert apps.load_table(app, new).position.phase == "playing"
    for reader in readers:
        assert "turn" in reader.kinds or "accepted" in reader.kinds
        assert "over" in reader.kinds


@pytest.mark.parametrize("game", one_of(catalogue.find_all(), "kurier"))
def test_two_people_play_from_the_invitation_to_another_game(posted: App, smtp_sink: Sink, game: str) -> None:
    table, readers = invite_correspondents(posted, game, 3)
    play(posted, smtp_sink, readers, 40)
    is_played_again(posted, table, readers)


@pytest.mark.soak
@pytest.mark.parametrize("game", catalogue.find_all())
def test_two_people_play_a_whole_game(posted: App, smtp_sink: Sink, game: str) -> None:
    table, readers = invite_correspondents(posted, game, 10_000)
    read = play(posted, smtp_sink, readers, 4_000)
    print(f"{game}: {read} letters")
    is_played_again(posted, table, readers)
