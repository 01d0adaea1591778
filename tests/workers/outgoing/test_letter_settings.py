"""Which letters leave, and when: by their reader's wishes, his quiet hours, and the one letter of the day."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from sqlalchemy import Row, insert, select, update

from service import timing
from service.app import App
from service.people import letter_settings
from service.people.letter_settings import LetterSettings, TableLetterSettings
from service.store.schema import letters, people, seats, vacations
from service.tables import access, snapshots, talk
from service.tables.access import Place
from service.timing import HOUR, Calendar
from tests import apps
from tests.apps import FakeTime
from tests.servers import Sink
from workers import clock as timekeeping
from workers.outgoing import letter_kinds, personal_letters, pictures, post

DAY = 86_400
MORNING = int(datetime(2027, 1, 15, 7, tzinfo=UTC).timestamp())  # eight in Amsterdam
HOME = "Europe/Amsterdam"


@pytest.fixture
def posted(app: App, smtp_sink: Sink, clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> App:
    """A house with a relay, at noon, whose pictures are quickly drawn."""
    monkeypatch.setattr(pictures, "png", lambda svg: b"a picture")
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    clock.at = MORNING + 4 * HOUR
    return app


def wish(app: App, **wished: Any) -> None:
    """From now on everybody wants his letters so."""
    with app.store.writing() as connection:
        connection.execute(update(people).values(wishes=letter_settings.kept(LetterSettings(**wished))))


def wish_at(app: App, place: Place, **wished: Any) -> None:
    own = (seats.c.table == place.table, seats.c.seat == place.seat)
    with app.store.writing() as connection:
        connection.execute(update(seats).where(*own).values(wishes=letter_settings.kept(TableLetterSettings(**wished))))


def live(app: App, calendar: Calendar) -> None:
    """From now on everybody lives by this calendar."""
    with app.store.writing() as connection:
        connection.execute(update(people).values(calendar=timing.kept(calendar)))


def rows(app: App, kind: str = "%") -> list[Row[Any]]:
    with app.store.reading() as connection:
        return list(connection.execute(select(letters).where(letters.c.kind.like(kind)).order_by(letters.c.id)).all())


def started(app: App, sink: Sink, pace: int | None = None) -> tuple[list[Place], Place]:
    """A game that has begun, and who is on turn; everything that is owed has not been sent but the invitations."""
    places = apps.open_table(app, pace=pace)
    post.run()
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    sink.letters.clear()
    return places, apps.find_move(app, places)[0]


def html(message: EmailMessage) -> str:
    body = message.get_body(("html",))
    assert body
    return str(body.get_content())


def text(message: EmailMessage) -> str:
    return " ".join(message.get_body(("plain",)).get_content().split())


def headlines(sink: Sink) -> list[str]:
    """The first line of every letter that was sent."""
    return [letter.get_body(("plain",)).get_content().splitlines()[0] for letter in sink.letters]


def play(app: App, place: Place) -> None:
    """Move until another seat is on turn."""
    while moves := apps.list_moves(app, place):
        assert apps.submit(app, place, moves[0]).accepted


# Kind by kind

ALWAYS = {"enter", "confirm", "accepted", "refused", "stranger", "invitation", "seat", "rehoused", "digest"}
TURNS = {"turn", "resumed"}
UNSENT = {
    "turn": {},
    "digest": dict.fromkeys(TURNS, "gathered"),
    "reminders": dict.fromkeys(TURNS, "not wanted"),
    "none": dict.fromkeys(letter_kinds.LETTER_KINDS.keys() - ALWAYS, "not wanted"),
}


@pytest.mark.parametrize("mode", UNSENT)
def test_every_kind_of_letter_leaves_or_not_as_its_reader_wished(posted: App, smtp_sink: Sink, mode: str) -> None:
    _, mover = started(posted, smtp_sink)
    wish(posted, letters=mode)
    with posted.store.writing() as connection:
        person = connection.execute(select(people.c.id).order_by(people.c.id)).scalars().first()
        connection.execute(update(letters).values(sent_at=posted.now()))
        for kind in letter_kinds.LETTER_KINDS:
            at = {"table": mover.table, "seq": 0, "seat": mover.seat, "kind": f"{kind}/1", "due_at": posted.now()}
            mine = {"person": person, "kind": f"{kind}/1", "due_at": posted.now()}
            connection.execute(insert(letters), mine if kind in ("enter", "confirm", "digest", "replaced") else at)
    post.run()
    fates = {row.kind.partition("/")[0]: row.outcome for row in rows(posted, "%/1")}
    assert fates.keys() == letter_kinds.LETTER_KINDS.keys()
    unsent = {kind: fate for kind, fate in fates.items() if fate in ("gathered", "not wanted")}
    assert unsent == UNSENT[mode]


def test_a_wish_for_one_table_goes_before_that_for_all(posted: App, smtp_sink: Sink) -> None:
    _, mover = started(posted, smtp_sink)
    wish(posted, letters="none")
    wish_at(posted, mover, letters="turn", plain=UNSET)
    post.run()
    assert len(smtp_sink.letters) == 1


def test_a_plain_letter_has_neither_html_nor_picture(posted: App, smtp_sink: Sink) -> None:
    started(posted, smtp_sink)
    wish(posted, plain=True)
    post.run()
    (letter,) = smtp_sink.letters
    assert letter.get_content_type() == "text/plain"
    assert letter["Content-Language"] == "en"


def test_reminders_come_where_turns_are_gathered_or_unwanted(posted: App, smtp_sink: Sink, clock: FakeTime) -> None:
    for mode in ("digest", "reminders"):
        _, mover = started(posted, smtp_sink)
        wish(posted, letters=mode)
        post.run()
        clock.at = snapshots.look(posted, mover.table).seats[mover.seat or 0].remind_at
        timekeeping.remind(posted)
        post.run()
        assert any("still waiting for your move" in line for line in headlines(smtp_sink)), mode


# One letter a day


def test_turns_are_gathered_into_one_letter_at_the_readers_hour(posted: App, smtp_sink: Sink, clock: FakeTime) -> None:
    first = started(posted, smtp_sink)
    wish(posted, letters="digest", hour=8)
    live(posted, Calendar(HOME))
    tables = [first, started(posted, smtp_sink)]
    post.run()
    assert smtp_sink.letters == []
    owed = {row.kind: row.due_at for row in rows(posted, "digest/%")}
    assert owed == {"digest/2027-01-16": MORNING + DAY}
    clock.at = MORNING + DAY
    post.run()
    sent = smtp_sink.letters
    told = {letter["To"].addresses[0].addr_spec for letter in sent}
    assert told == {access.owner(posted, mover) for _, mover in tables}
    for _, mover in tables:
        assert any(f"/t/{mover.link}" in text(letter) for letter in sent)


def test_the_letter_of_the_day_says_until_when_and_what_happened_since(
    posted: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    places, mover = started(posted, smtp_sink)
    other = next(place for place in places if place != mover)
    play(posted, mover)
    post.run()
    wish(posted, letters="digest", hour=8)
    play(posted, other)
    smtp_sink.letters.clear()
    post.run()
    clock.at = MORNING + DAY + HOUR
    post.run()
    (letter,) = smtp_sink.letters
    name = snapshots.look(posted, mover.table).names[other.seat or 0]
    assert letter["Subject"] == "It is your turn at one table"
    assert f"with {name}" in text(letter)
    assert "You have time until" in text(letter)
    assert f"- {name} " in text(letter)
    assert "Reply-To" not in letter
    assert letter["List-Id"] == "Depesche <person.localhost>"
    assert letter["Message-ID"].startswith(f"<{rows(posted, 'digest/%')[0].person}.digest.2027-01-16@")


def test_the_letter_of_the_day_brings_what_others_said_since_its_readers_last_move(
    posted: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    places, mover = started(posted, smtp_sink)
    other = next(place for place in places if place != mover)
    talk.say(posted, other, "Well begun.")
    clock.advance(60)
    play(posted, mover)
    post.run()
    wish(posted, letters="digest", hour=8)
    talk.say(posted, other, "Not bad at all!\nWait and see.")
    talk.say(posted, mover, "I shall.")
    play(posted, other)
    smtp_sink.letters.clear()
    post.run()
    clock.at = MORNING + DAY + HOUR
    post.run()
    (letter,) = smtp_sink.letters
    name = snapshots.look(posted, mover.table).names[other.seat or 0]
    assert f"Said at the table: {name}: Not bad at all! Wait and see. Make your move:" in text(letter)
    assert f"<b>{name}:</b> Not bad at all!<br>Wait and see.</p>" in html(letter)
    assert not any(said in text(letter) for said in ("Well begun", "I shall"))


def test_who_is_not_on_turn_any_more_gets_no_letter_of_the_day(posted: App, smtp_sink: Sink, clock: FakeTime) -> None:
    _, mover = started(posted, smtp_sink)
    wish(posted, letters="digest")
    post.run()
    play(posted, mover)
    clock.advance(2 * DAY)
    post.run()
    assert next(row.outcome for row in rows(posted, "digest/%")) == "overtaken"


def test_what_was_gathered_is_told_even_if_its_reader_then_wants_every_turn(
    posted: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    started(posted, smtp_sink)
    wish(posted, letters="digest")
    post.run()
    wish(posted, letters="turn")
    clock.advance(DAY)
    post.run()
    assert headlines(smtp_sink) == ["It is your turn at one table"]


def test_after_todays_letter_has_left_the_next_turn_is_for_tomorrows(
    posted: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    started(posted, smtp_sink)
    wish(posted, letters="digest", hour=13)
    post.run()
    clock.advance(2 * HOUR)
    post.run()
    assert len(smtp_sink.letters) == 1
    with posted.store.writing() as connection:
        personal_letters.schedule_digest(connection, rows(posted, "digest/%")[0].person, 20, Calendar(), posted.now())
    assert [row.kind for row in rows(posted, "digest/%")] == ["digest/2027-01-15", "digest/2027-01-16"]


def test_letters_gathered_by_two_at_once_are_one_letter_of_the_day(any_app: App, smtp_sink: Sink) -> None:
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    for _ in range(6):
        apps.open_table(any_app)
    with any_app.store.writing() as connection:
        connection.execute(update(letters).values(kind="turn"))
    wish(any_app, letters="digest")
    batches = [[row] for row in post.claim(any_app)]
    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(post.send, any_app, batch) for batch in batches]:
            done.result()
    assert {row.outcome for row in rows(any_app, "turn")} == {"gathered"}
    assert len(rows(any_app, "digest/%")) == 2  # one for each of two people


# Quiet hours


def at_night(app: App, clock: FakeTime, quiet: tuple[int, int] = (22, 7)) -> int:
    """It is midnight, and everybody is in bed until this moment."""
    clock.at = MORNING - 8 * HOUR + DAY
    live(app, Calendar(HOME, quiet))
    return MORNING + DAY - HOUR


def test_a_turn_letter_waits_until_its_reader_is_up(posted: App, smtp_sink: Sink, clock: FakeTime) -> None:
    _, mover = started(posted, smtp_sink)
    morning = at_night(posted, clock)
    post.run()
    assert smtp_sink.letters == []
    assert [(row.due_at, row.tries) for row in rows(posted, "turn")] == [(morning, 0)]
    clock.at = morning
    post.run()
    assert len(smtp_sink.letters) == 1
    assert f"/t/{mover.link}" in text(smtp_sink.letters[0])


def test_news_and_answers_do_not_wait(posted: App, smtp_sink: Sink, clock: FakeTime) -> None:
    _, mover = started(posted, smtp_sink)
    at_night(posted, clock)
    assert apps.submit(posted, mover, "resign").accepted
    post.run()
    assert "The game of Kaiser, König, Edelmann is over." in headlines(smtp_sink)


def test_a_letter_whose_time_is_over_in_the_morning_leaves_at_night(
    posted: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    started(posted, smtp_sink)
    morning = at_night(posted, clock)
    with posted.store.writing() as connection:
        connection.execute(update(seats).where(seats.c.open_since.is_not(None)).values(due_at=morning))
    post.run()
    assert len(smtp_sink.letters) == 1


def test_on_vacation_no_turn_is_told_until_it_ends(posted: App, smtp_sink: Sink, clock: FakeTime) -> None:
    started(posted, smtp_sink)
    live(posted, Calendar(HOME))
    with posted.store.writing() as connection:
        for person in connection.execute(select(people.c.id)).scalars().all():
            away = {"person": person, "first": "2027-01-10", "last": "2027-01-17"}
            connection.execute(insert(vacations), away)
        connection.execute(update(seats).values(due_at=None))
    post.run()
    (turn,) = rows(posted, "turn")
    assert turn.due_at == MORNING + 3 * DAY - 8 * HOUR
    assert smtp_sink.letters == []


def test_the_letter_of_the_day_leaves_when_its_reader_is_at_home_and_up() -> None:
    noon = MORNING + 4 * HOUR
    assert timing.daily(noon, 8, Calendar(HOME)) == MORNING + DAY
    assert timing.daily(noon, 20, Calendar(HOME)) == MORNING + 12 * HOUR
    assert timing.daily(noon, 8, Calendar(HOME, quiet=(22, 9))) == MORNING + DAY + HOUR
    away = Calendar(HOME, away=(("2027-01-16", "2027-01-18"),))
    assert timing.daily(noon, 8, away) == MORNING + 4 * DAY
    assert timing.daily(noon, 8, Calendar("nowhere")) == MORNING + DAY + HOUR


# Two turns at once


@pytest.fixture
def patient(tmp_path: Path, smtp_sink: Sink, clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """A house where a turn letter waits a minute, in case the turn is over by then."""
    monkeypatch.setattr(pictures, "png", lambda svg: b"a picture")
    relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    with apps.run_app(apps.make_settings(tmp_path, smtp=relay, gather=60), clock) as app:
        yield app


def test_two_turns_within_a_minute_are_one_letter_with_what_is_true_then(
    patient: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    places, mover = started(patient, smtp_sink)
    other = next(place for place in places if place != mover)
    for _ in range(2):
        clock.advance(10)
        play(patient, mover)
        clock.advance(10)
        play(patient, other)
        post.run()
        assert smtp_sink.letters == []
    clock.advance(59)
    post.run()
    clock.advance(1)
    post.run()
    (letter,) = smtp_sink.letters
    look = snapshots.look(patient, mover.table)
    assert letter["To"].addresses[0].addr_spec == access.owner(patient, mover)
    assert look.row.head in text(letter)
    assert {row.outcome for row in rows(patient, "turn")} == {"overtaken", "sent"}


def test_other_letters_do_not_wait_for_a_second_turn(patient: App, smtp_sink: Sink) -> None:
    _, mover = started(patient, smtp_sink)
    assert apps.submit(patient, mover, "resign").accepted
    post.run()
    assert len(smtp_sink.letters) == 2  # the game is over, for both
