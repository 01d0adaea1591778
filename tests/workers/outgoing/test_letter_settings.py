"""Letter settings, quiet hours and the daily digest decide which letters are sent, and when."""

from __future__ import annotations

import re
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
from service.tables import talk
from service.tables.access import Place
from service.timing import HOUR_S, Calendar
from tests import apps
from tests.apps import FakeTime
from tests.servers import Sink
from tests.workers.incoming.test_inbox import deliver, list_mailed_moves, report
from workers import clock as timekeeping
from workers.outgoing import digest, emails, personal_letters, post
from workers.outgoing.owed import LETTER_KINDS

DAY = 86_400
MORNING_AT = int(datetime(2027, 1, 15, 7, tzinfo=UTC).timestamp())  # eight in Amsterdam
HOME = "Europe/Amsterdam"


@pytest.fixture
def relay_app(app: App, smtp_sink: Sink, clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> App:
    """An app with a relay, at noon, whose letters have no real pictures."""
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    clock.at = MORNING_AT + 4 * HOUR_S
    return app


def set_letters(app: App, **settings: Any) -> None:
    """Give all people these letter settings."""
    with app.store.writing() as connection:
        connection.execute(
            update(people).values(letter_settings=letter_settings.dump_settings(LetterSettings(**settings)))
        )


def set_table_letters(app: App, place: Place, **settings: Any) -> None:
    own = (seats.c.table == place.table, seats.c.seat == place.seat)
    with app.store.writing() as connection:
        connection.execute(
            update(seats)
            .where(*own)
            .values(letter_settings=letter_settings.dump_settings(TableLetterSettings(**settings)))
        )


def set_calendar(app: App, calendar: Calendar) -> None:
    """Give all people this calendar."""
    with app.store.writing() as connection:
        connection.execute(update(people).values(calendar=timing.dump_calendar(calendar)))


def rows(app: App, kind: str = "%") -> list[Row[Any]]:
    with app.store.reading() as connection:
        return list(connection.execute(select(letters).where(letters.c.kind.like(kind)).order_by(letters.c.id)).all())


def start_game(app: App, sink: Sink, pace: int | None = None) -> tuple[list[Place], Place]:
    """Start a game; return its places, and the one to move. Only the invitations have been sent."""
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


def find_letters(sink: Sink, address: str) -> list[EmailMessage]:
    """The letters that were sent to an address."""
    return [letter for letter in sink.letters if letter["To"].addresses[0].addr_spec == address]


def headlines(sink: Sink) -> list[str]:
    """The first line of every letter that was sent."""
    return [letter.get_body(("plain",)).get_content().splitlines()[0] for letter in sink.letters]


def play(app: App, place: Place) -> None:
    """Move until another seat is on turn."""
    while moves := apps.list_moves(app, place):
        assert apps.submit(app, place, moves[0]).accepted


# Kind by kind

ALWAYS = {"enter", "confirm", "accepted", "refused", "stranger", "invitation", "seat", "rehoused", "digest"}
ALWAYS |= {"channel", "follower", "added", "secret"}
TURNS = {"turn", "resumed"}
OUTCOMES = {
    "turn": {},
    "digest": dict.fromkeys(TURNS, "gathered"),
    "reminders": dict.fromkeys(TURNS, "not wanted"),
    "none": dict.fromkeys(LETTER_KINDS.keys() - ALWAYS, "not wanted"),
}


@pytest.mark.parametrize("mode", OUTCOMES)
def test_every_kind_of_letter_is_sent_or_not_as_its_reader_chose(relay_app: App, smtp_sink: Sink, mode: str) -> None:
    _, mover = start_game(relay_app, smtp_sink)
    set_letters(relay_app, letters=mode, talk=True)
    with relay_app.store.writing() as connection:
        person = connection.execute(select(people.c.id).order_by(people.c.id)).scalars().first()
        connection.execute(update(letters).values(sent_at=relay_app.now()))
        for kind in LETTER_KINDS:
            at = {"table": mover.table, "seq": 0, "seat": mover.seat, "kind": f"{kind}/1", "due_at": relay_app.now()}
            mine = {"person": person, "kind": f"{kind}/1", "due_at": relay_app.now()}
            connection.execute(insert(letters), mine if kind in personal_letters.WRITERS else at)
    post.run()
    outcomes = {row.kind.partition("/")[0]: row.outcome for row in rows(relay_app, "%/1")}
    assert outcomes.keys() == LETTER_KINDS.keys()
    unsent = {kind: outcome for kind, outcome in outcomes.items() if outcome in ("gathered", "not wanted")}
    assert unsent == OUTCOMES[mode]


def test_the_settings_of_one_table_come_before_those_of_the_person(relay_app: App, smtp_sink: Sink) -> None:
    _, mover = start_game(relay_app, smtp_sink)
    set_letters(relay_app, letters="none")
    set_table_letters(relay_app, mover, letters="turn", plain=UNSET)
    post.run()
    assert len(smtp_sink.letters) == 1


def test_a_plain_letter_has_neither_html_nor_picture(relay_app: App, smtp_sink: Sink) -> None:
    start_game(relay_app, smtp_sink)
    set_letters(relay_app, plain=True)
    post.run()
    (letter,) = smtp_sink.letters
    assert letter.get_content_type() == "text/plain"
    assert letter["Content-Language"] == "en"


def test_reminders_come_where_turns_are_in_the_digest_or_unwanted(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    for mode in ("digest", "reminders"):
        _, mover = start_game(relay_app, smtp_sink)
        set_letters(relay_app, letters=mode)
        post.run()
        clock.at = apps.load_table(relay_app, mover.table).seats[mover.seat or 0].remind_at
        timekeeping.remind(relay_app, apps.find_due(relay_app))
        post.run()
        assert any("still waiting for your move" in line for line in headlines(smtp_sink)), mode


# One letter a day


def test_turns_are_collected_in_one_letter_at_the_readers_hour(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    first = start_game(relay_app, smtp_sink)
    set_letters(relay_app, letters="digest", hour=8)
    set_calendar(relay_app, Calendar(HOME))
    tables = [first, start_game(relay_app, smtp_sink)]
    post.run()
    assert smtp_sink.letters == []
    owed = {row.kind: row.due_at for row in rows(relay_app, "digest/%")}
    assert owed == {"digest/2027-01-16": MORNING_AT + DAY}
    clock.at = MORNING_AT + DAY
    post.run()
    sent = smtp_sink.letters
    recipients = {letter["To"].addresses[0].addr_spec for letter in sent}
    assert recipients == {apps.load_address(relay_app, mover) for _, mover in tables}
    for _, mover in tables:
        assert any(f"/t/{mover.link}" in text(letter) for letter in sent)


def test_the_digest_says_until_when_and_what_happened_since(relay_app: App, smtp_sink: Sink, clock: FakeTime) -> None:
    places, mover = start_game(relay_app, smtp_sink)
    other = next(place for place in places if place != mover)
    play(relay_app, mover)
    post.run()
    set_letters(relay_app, letters="digest", hour=8)
    play(relay_app, other)
    smtp_sink.letters.clear()
    post.run()
    clock.at = MORNING_AT + DAY + HOUR_S
    post.run()
    (letter,) = smtp_sink.letters
    name = apps.load_table(relay_app, mover.table).names[other.seat or 0]
    assert letter["Subject"].startswith("Kaiser")
    assert "it is your turn" in text(letter)
    assert "You have time until" in text(letter)
    assert f"- {name} " in text(letter)
    assert letter["Message-ID"].startswith(f"<{rows(relay_app, 'digest/%')[0].person}.digest.2027-01-16@")


def test_a_digest_of_one_table_is_answered_like_a_letter_and_an_old_one_moves_nothing(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    places, mover = start_game(relay_app, smtp_sink)
    set_letters(relay_app, letters="digest", hour=8)
    post.run()
    smtp_sink.letters.clear()
    clock.at = MORNING_AT + DAY + HOUR_S
    post.run()
    (letter,) = smtp_sink.letters
    assert "For instance:" in text(letter)
    assert any(part.get_content_type() == "image/png" for part in letter.walk())
    seen = {"References": f"{letter['References']} {letter['Message-ID']}", "In_Reply_To": letter["Message-ID"]}
    deliver(relay_app, mover, apps.list_moves(relay_app, mover)[0], **seen)
    assert len(list_mailed_moves(relay_app)) == 1
    play(relay_app, next(place for place in places if place != mover))
    deliver(relay_app, mover, apps.list_moves(relay_app, mover)[0], **seen)
    assert report(relay_app)[-1][1] == "refused"


@pytest.mark.parametrize("layout", ["{sign} {move}", "[{sign}]: {move}", "Hi all,\n\n> quoted\n{SIGN} {move}\n\nBye"])
def test_a_line_of_an_answer_to_a_digest_of_several_tables_names_its_table(
    relay_app: App, smtp_sink: Sink, clock: FakeTime, layout: str
) -> None:
    movers = [start_game(relay_app, smtp_sink)[1]]
    set_letters(relay_app, letters="digest", hour=8)
    movers += [start_game(relay_app, smtp_sink)[1] for _ in range(2)]
    tables = max(([one for one in movers if one.seat == seat] for seat in (0, 1)), key=len)
    post.run()
    smtp_sink.letters.clear()
    clock.at = MORNING_AT + DAY + HOUR_S
    post.run()
    (letter,) = find_letters(smtp_sink, apps.load_address(relay_app, tables[0]))
    assert sum(part.get_content_type() == "image/png" for part in letter.walk()) == len(tables)
    assert letter["Reply-To"]
    signs = re.findall(r" · ([0-9a-f]{6}-\d+)", text(letter))
    assert len(signs) == len(tables)
    place = next(place for place in tables if place.table.startswith(signs[-1][:6]))
    move = apps.list_moves(relay_app, place)[0]
    own = layout.format(sign=signs[-1], SIGN=signs[-1].upper(), move=move)
    deliver(relay_app, tables[0], own, In_Reply_To=letter["Message-ID"])
    assert list_mailed_moves(relay_app) == [move]
    assert not apps.list_moves(relay_app, place)
    deliver(relay_app, tables[0], own, In_Reply_To=letter["Message-ID"])
    deliver(relay_app, tables[0], move, In_Reply_To=letter["Message-ID"])
    assert list_mailed_moves(relay_app) == [move]
    assert report(relay_app)[-1][1] == "refused"


def test_the_example_of_a_digest_names_a_table_that_is_in_it_and_not_one_that_pauses(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    games = [start_game(relay_app, smtp_sink, pace=0)]  # without deadlines the tables are in the order of their names
    set_letters(relay_app, letters="digest", hour=8)
    games += [start_game(relay_app, smtp_sink, pace=0) for _ in range(4)]
    of_players = [[game for game in games if game[1].seat == seat] for seat in (0, 1)]
    (places, mover), (_, next_mover), *_ = sorted(max(of_players, key=len), key=lambda game: game[1].table)
    other = next(place for place in places if place != mover)
    assert apps.submit(relay_app, mover, "pause").accepted
    assert apps.submit(relay_app, other, "agree").accepted
    post.run()
    smtp_sink.letters.clear()
    clock.at = MORNING_AT + DAY + HOUR_S
    post.run()
    (letter,) = find_letters(smtp_sink, apps.load_address(relay_app, mover))
    assert f"such as: {next_mover.table[:6]}-" in " ".join(text(letter).split())
    assert mover.table[:6] not in text(letter)


def test_a_remark_comes_at_once_to_those_who_wish_it(relay_app: App, smtp_sink: Sink, clock: FakeTime) -> None:
    places, mover = start_game(relay_app, smtp_sink)
    other = next(place for place in places if place != mover)
    apps.say(relay_app, mover, "Nobody asked for this one at once.")
    set_letters(relay_app, letters="reminders", talk=True)
    for remark in ("Hello there!", "How are you?"):
        apps.say(relay_app, mover, remark)
    clock.advance(talk.TALK_DELAY_S)
    post.run()
    (letter,) = find_letters(smtp_sink, apps.load_address(relay_app, other))
    assert smtp_sink.letters == [letter]
    assert "Hello there!" in text(letter)
    assert "How are you?" in html(letter)
    deliver(relay_app, other, "say Fine, thanks", In_Reply_To=letter["Message-ID"])
    clock.advance(talk.TALK_DELAY_S)
    post.run()
    (answer,) = find_letters(smtp_sink, apps.load_address(relay_app, mover))
    assert "Fine, thanks" in text(answer)


def test_the_digest_brings_what_others_said_since_its_readers_last_move(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    places, mover = start_game(relay_app, smtp_sink)
    other = next(place for place in places if place != mover)
    apps.say(relay_app, other, "Well begun.")
    clock.advance(60)
    play(relay_app, mover)
    post.run()
    set_letters(relay_app, letters="digest", hour=8)
    apps.say(relay_app, other, "Not bad at all!\nWait and see.")
    apps.say(relay_app, mover, "I shall.")
    play(relay_app, other)
    smtp_sink.letters.clear()
    post.run()
    clock.at = MORNING_AT + DAY + HOUR_S
    post.run()
    (letter,) = smtp_sink.letters
    name = apps.load_table(relay_app, mover.table).names[other.seat or 0]
    assert f"Said at the table: {name}: Not bad at all! Wait and see. To say something" in text(letter)
    assert f"<b>{name}:</b> Not bad at all!<br>Wait and see.</p>" in html(letter)
    assert not any(remark in text(letter) for remark in ("Well begun", "I shall"))


def test_who_is_not_on_turn_any_more_gets_no_digest(relay_app: App, smtp_sink: Sink, clock: FakeTime) -> None:
    _, mover = start_game(relay_app, smtp_sink)
    set_letters(relay_app, letters="digest")
    post.run()
    play(relay_app, mover)
    clock.advance(2 * DAY)
    post.run()
    assert next(row.outcome for row in rows(relay_app, "digest/%")) == "overtaken"


def test_what_was_left_to_the_digest_is_in_it_even_if_its_reader_then_wants_every_turn(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    start_game(relay_app, smtp_sink)
    set_letters(relay_app, letters="digest")
    post.run()
    set_letters(relay_app, letters="turn")
    clock.advance(DAY)
    post.run()
    assert [line.partition(", ")[2] for line in headlines(smtp_sink)] == ["it is your turn."]


def test_after_todays_letter_has_left_the_next_turn_is_for_tomorrows(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    start_game(relay_app, smtp_sink)
    set_letters(relay_app, letters="digest", hour=13)
    post.run()
    clock.advance(2 * HOUR_S)
    post.run()
    assert len(smtp_sink.letters) == 1
    with relay_app.store.writing() as connection:
        digest.schedule_digest(connection, rows(relay_app, "digest/%")[0].person, 20, Calendar(), relay_app.now())
    assert [row.kind for row in rows(relay_app, "digest/%")] == ["digest/2027-01-15", "digest/2027-01-16"]


def test_letters_left_to_the_digest_by_two_processes_are_one_digest(any_app: App, smtp_sink: Sink) -> None:
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    for _ in range(6):
        apps.open_table(any_app)
    with any_app.store.writing() as connection:
        connection.execute(update(letters).values(kind="turn"))
    set_letters(any_app, letters="digest")
    batches = [[row] for row in post.claim(any_app)]
    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(post.send, any_app, batch) for batch in batches]:
            done.result()
    assert {row.outcome for row in rows(any_app, "turn")} == {"gathered"}
    assert len(rows(any_app, "digest/%")) == 2  # one for each of two people


# Quiet hours


def go_to_midnight(app: App, clock: FakeTime, quiet: tuple[int, int] = (22, 7)) -> int:
    """Set the time to midnight, and quiet hours until the moment that is returned."""
    clock.at = MORNING_AT - 8 * HOUR_S + DAY
    set_calendar(app, Calendar(HOME, quiet))
    return MORNING_AT + DAY - HOUR_S


def test_a_turn_letter_waits_until_its_reader_is_up(relay_app: App, smtp_sink: Sink, clock: FakeTime) -> None:
    _, mover = start_game(relay_app, smtp_sink)
    morning = go_to_midnight(relay_app, clock)
    post.run()
    assert smtp_sink.letters == []
    assert [(row.due_at, row.tries) for row in rows(relay_app, "turn")] == [(morning, 0)]
    clock.at = morning
    post.run()
    assert len(smtp_sink.letters) == 1
    assert f"/t/{mover.link}" in text(smtp_sink.letters[0])


def test_news_and_answers_do_not_wait(relay_app: App, smtp_sink: Sink, clock: FakeTime) -> None:
    _, mover = start_game(relay_app, smtp_sink)
    go_to_midnight(relay_app, clock)
    assert apps.submit(relay_app, mover, "resign").accepted
    post.run()
    assert "The game of Kaiser, König, Edelmann is over." in headlines(smtp_sink)


def test_a_letter_whose_time_is_over_in_the_morning_leaves_at_night(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    start_game(relay_app, smtp_sink)
    morning = go_to_midnight(relay_app, clock)
    with relay_app.store.writing() as connection:
        connection.execute(update(seats).where(seats.c.open_since.is_not(None)).values(due_at=morning))
    post.run()
    assert len(smtp_sink.letters) == 1


def test_during_a_vacation_turn_letters_wait_until_it_ends(relay_app: App, smtp_sink: Sink, clock: FakeTime) -> None:
    start_game(relay_app, smtp_sink)
    set_calendar(relay_app, Calendar(HOME))
    with relay_app.store.writing() as connection:
        for person in connection.execute(select(people.c.id)).scalars().all():
            away = {"person": person, "first": "2027-01-10", "last": "2027-01-17"}
            connection.execute(insert(vacations), away)
        connection.execute(update(seats).values(due_at=None))
    post.run()
    (turn,) = rows(relay_app, "turn")
    assert turn.due_at == MORNING_AT + 3 * DAY - 8 * HOUR_S
    assert smtp_sink.letters == []


def test_the_digest_leaves_when_its_reader_is_at_home_and_up() -> None:
    noon = MORNING_AT + 4 * HOUR_S
    assert timing.find_next_digest_time(noon, 8, Calendar(HOME)) == MORNING_AT + DAY
    assert timing.find_next_digest_time(noon, 20, Calendar(HOME)) == MORNING_AT + 12 * HOUR_S
    assert timing.find_next_digest_time(noon, 8, Calendar(HOME, quiet=(22, 9))) == MORNING_AT + DAY + HOUR_S
    away = Calendar(HOME, away=(("2027-01-16", "2027-01-18"),))
    assert timing.find_next_digest_time(noon, 8, away) == MORNING_AT + 4 * DAY
    assert timing.find_next_digest_time(noon, 8, Calendar("nowhere")) == MORNING_AT + DAY + HOUR_S


# Two turns at once


@pytest.fixture
def slow_app(tmp_path: Path, smtp_sink: Sink, clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """An app where a turn letter waits a minute, in case the turn is over by then."""
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    with apps.run_app(apps.make_settings(tmp_path, smtp=relay, gather=60), clock) as app:
        yield app


def test_two_turns_within_a_minute_are_one_letter_with_what_is_true_then(
    slow_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    places, mover = start_game(slow_app, smtp_sink)
    other = next(place for place in places if place != mover)
    for _ in range(2):
        clock.advance(10)
        play(slow_app, mover)
        clock.advance(10)
        play(slow_app, other)
        post.run()
        assert smtp_sink.letters == []
    clock.advance(59)
    post.run()
    clock.advance(1)
    post.run()
    (letter,) = smtp_sink.letters
    table = apps.load_table(slow_app, mover.table)
    assert letter["To"].addresses[0].addr_spec == apps.load_address(slow_app, mover)
    assert table.row.head in text(letter)
    assert {row.outcome for row in rows(slow_app, "turn")} == {"overtaken", "sent"}


def test_other_letters_do_not_wait_for_a_second_turn(slow_app: App, smtp_sink: Sink) -> None:
    _, mover = start_game(slow_app, smtp_sink)
    assert apps.submit(slow_app, mover, "resign").accepted
    post.run()
    assert len(smtp_sink.letters) == 2  # the game is over, for both
