"""The post sends every letter that is owed, at least once, and only while it still says something."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import Row, select, update
from sqlalchemy.exc import OperationalError

from service.app import App
from service.store.schema import letters, people, seats
from service.tables.access import Place
from tests import apps
from tests.apps import FakeTime
from tests.servers import Sink, free_port
from workers.jobs import set_app
from workers.outgoing import post


@pytest.fixture
def relay_app(any_app: App, smtp_sink: Sink) -> App:
    """An app with a relay."""
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    return any_app


def rows(app: App) -> list[Row[Any]]:
    with app.store.reading() as connection:
        return list(connection.execute(select(letters).order_by(letters.c.id)).all())


def outcomes(app: App) -> list[str]:
    """Return the outcome of each letter; empty while it is due and was not tried."""
    return [row.outcome for row in rows(app)]


def start_game(app: App, sink: Sink) -> list[Place]:
    """Start a game, send its letters and forget them; return its places."""
    places = apps.start_table(app)
    post.run()
    sink.letters.clear()
    return places


def parts(message: EmailMessage) -> list[str]:
    return [part.get_content_type() for part in message.walk() if not part.is_multipart()]


@pytest.mark.usefixtures("real_pictures")
def test_a_turn_letter_has_text_html_and_a_picture(relay_app: App, smtp_sink: Sink) -> None:
    places = apps.start_table(relay_app)
    post.run()
    letter = smtp_sink.letters[-1]
    assert parts(letter) == ["text/plain", "text/html", "image/png"]
    picture = next(part for part in letter.walk() if part.get_content_type() == "image/png")
    assert picture.get_payload(decode=True).startswith(b"\x89PNG")
    assert len(picture.get_payload(decode=True)) > 1_000
    html = letter.get_body(("html",))
    text = letter.get_body(("plain",))
    assert html
    assert text
    assert f"cid:{picture['Content-ID'].strip('<>')}" in html.get_content()
    mover, _ = apps.find_move(relay_app, places)
    assert f"{relay_app.settings.address}/t/{mover.link}" in text.get_content()
    assert apps.load_table(relay_app, mover.table).row.head in text.get_content()  # the receipt
    assert letter["To"].addresses[0].addr_spec == f"{apps.NAMES[mover.seat or 0].lower()}@example.org"
    assert letter["Auto-Submitted"] == "auto-generated"


def test_letters_of_a_seat_are_one_thread(relay_app: App, smtp_sink: Sink) -> None:
    apps.start_table(relay_app)
    post.run()
    invitation, other, turn = smtp_sink.letters
    assert turn["To"] in (invitation["To"], other["To"])
    root = next(letter for letter in (invitation, other) if letter["To"] == turn["To"])
    assert turn["In-Reply-To"] == turn["References"] == root["Message-ID"]
    assert turn["Subject"] == root["Subject"]
    assert len({letter["Message-ID"] for letter in smtp_sink.letters}) == 3


def test_nothing_is_sent_twice_by_two_wakeups(relay_app: App, smtp_sink: Sink) -> None:
    apps.start_table(relay_app)
    post.run()
    post.run()
    assert len(smtp_sink.letters) == 3
    assert outcomes(relay_app) == ["sent"] * 3


def test_the_post_does_not_look_again_when_it_has_all_that_is_due(
    relay_app: App, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    apps.open_table(relay_app)
    monkeypatch.setattr(post, "is_waiting", lambda _: pytest.fail("looked again"))
    post.run()
    assert outcomes(relay_app) == ["sent"] * 2


def test_two_workers_share_the_letters(relay_app: App, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "BATCH", 5)
    monkeypatch.setattr(post, "DUE_LETTERS", post.DUE_LETTERS.limit(5))
    for _ in range(10):
        apps.open_table(relay_app)
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(post.run) for _ in range(3)]:
            done.result()
    sent = [letter["Message-ID"] for letter in smtp_sink.letters]
    assert len(sent) == len(set(sent)) == 20


def test_a_refused_recipient_is_marked_and_not_tried_again(relay_app: App, smtp_sink: Sink, clock: FakeTime) -> None:
    apps.open_table(relay_app)
    smtp_sink.refuse("550 no such mailbox")
    post.run()
    assert all(outcome.startswith("refused") for outcome in outcomes(relay_app))
    smtp_sink.accept()
    clock.advance(30 * 86_400)
    post.run()
    assert smtp_sink.letters == []


def test_an_address_that_no_letter_can_be_written_to_holds_no_other_letter_up(relay_app: App, smtp_sink: Sink) -> None:
    apps.open_table(relay_app)
    with relay_app.store.writing() as connection:
        first = connection.execute(select(people.c.id).order_by(people.c.id).limit(1)).scalar_one()
        connection.execute(update(people).where(people.c.id == first).values(address="mu\u017fter@example.org"))
    post.run()
    assert relay_app.redis.lrange("wakeup:post", 0, -1)  # for the letter to the table about it
    post.run()
    assert {outcome.partition(":")[0] for outcome in outcomes(relay_app)} == {"refused", "sent"}
    with relay_app.store.reading() as connection:
        assert connection.execute(select(people.c.bounced_at).where(people.c.id == first)).scalar_one()


def test_what_was_sent_stays_sent_where_the_database_goes_away_in_the_middle(
    relay_app: App, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    apps.open_table(relay_app)
    close, closed = post.close, list[int]()

    def close_once(app: App, row: Any, outcome: str) -> None:
        if closed:
            raise OperationalError("UPDATE", {}, OSError("gone"))
        closed.append(row.id)
        close(app, row, outcome)

    monkeypatch.setattr(post, "close", close_once)
    with pytest.raises(OperationalError):
        post.send_batch(relay_app)
    assert outcomes(relay_app) == ["sent", ""]


def pauses(app: App, clock: FakeTime) -> Iterator[int]:
    """How long the post waits before each further try of the first letter."""
    while (letter := rows(app)[0]).sent_at is None:
        pause = letter.due_at - clock.at
        clock.advance(pause - 1)
        post.run()
        assert rows(app)[0].tries == letter.tries, "tried before its time"
        clock.advance(1)
        post.run()
        yield pause


def refuse_for_now(app: App, sink: Sink) -> None:
    sink.refuse("451 try again later")


def stop_relay(app: App, _: Sink) -> None:
    app.relay = f"smtp://127.0.0.1:{free_port()}"


@pytest.mark.parametrize("trouble", [refuse_for_now, stop_relay])
def test_trouble_is_met_with_growing_pauses(relay_app: App, smtp_sink: Sink, clock: FakeTime, trouble: Any) -> None:
    apps.open_table(relay_app)
    relay = relay_app.relay
    trouble(relay_app, smtp_sink)
    post.run()
    assert list(itertools.islice(pauses(relay_app, clock), 5)) == [10, 20, 40, 80, 160]
    smtp_sink.accept()
    relay_app.relay = relay
    clock.advance(6 * 3600)
    post.run()
    assert outcomes(relay_app) == ["sent"] * 2
    assert len(smtp_sink.letters) == 2


def test_after_three_days_it_is_given_up_and_said(relay_app: App, smtp_sink: Sink, clock: FakeTime) -> None:
    apps.open_table(relay_app)
    started_at = clock.at
    refuse_for_now(relay_app, smtp_sink)
    post.run()
    assert max(pauses(relay_app, clock)) == 6 * 3600
    assert all(outcome.startswith("given up: ") for outcome in outcomes(relay_app))
    assert 3 * 86_400 <= clock.at - started_at <= 4 * 86_400


def test_an_overtaken_turn_letter_is_not_sent(relay_app: App, smtp_sink: Sink) -> None:
    places = start_game(relay_app, smtp_sink)
    first, move = apps.find_move(relay_app, places)
    assert apps.submit(relay_app, first, move).accepted
    while apps.list_moves(relay_app, first):
        assert apps.submit(relay_app, first, apps.list_moves(relay_app, first)[0]).accepted
    second, move = apps.find_move(relay_app, places)
    while apps.list_moves(relay_app, second):
        assert apps.submit(relay_app, second, apps.list_moves(relay_app, second)[0]).accepted
    post.run()
    assert outcomes(relay_app)[-2:] == ["overtaken", "sent"]
    (letter,) = smtp_sink.letters
    assert letter["To"].addresses[0].addr_spec.startswith(apps.NAMES[first.seat or 0].lower())


def test_the_letters_of_a_worker_that_died_are_sent_by_another(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    apps.open_table(relay_app)
    assert len(post.claim(relay_app)) == 2  # and then the power went
    post.run()
    assert smtp_sink.letters == []
    clock.advance(relay_app.settings.lease)
    post.run()
    assert outcomes(relay_app) == ["sent"] * 2
    assert len(smtp_sink.letters) == 2


def test_a_worker_whose_lease_ran_out_sends_nothing_more(relay_app: App, smtp_sink: Sink, clock: FakeTime) -> None:
    apps.open_table(relay_app)
    slow = post.claim(relay_app)
    clock.advance(relay_app.settings.lease)
    post.run()
    post.send(relay_app, slow)
    assert len(smtp_sink.letters) == 2


def test_a_letter_that_tells_a_whole_game_goes_last_and_alone_and_may_take_long(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    assert apps.submit(relay_app, start_game(relay_app, smtp_sink)[0], "resign").accepted
    clock.advance(1)
    apps.open_table(relay_app)
    batches = [post.claim(relay_app) for _ in range(4)]
    assert [[letter.request.kind for letter in batch] for batch in batches] == [
        ["invitation"] * 2,
        ["over"],
        ["over"],
        [],
    ]
    clock.advance(relay_app.settings.lease)  # so long does it take to write them
    for batch in batches:
        post.send(relay_app, batch)
    assert [letter["Subject"].startswith("The end") for letter in smtp_sink.letters] == [True] * 2


def test_a_lost_connection_costs_only_the_letter_in_hand(
    relay_app: App, smtp_sink: Sink, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang_up(server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address.startswith("anna"):
            server.transport.close()
        envelope.rcpt_tos.append(address)
        return "250 fine"

    monkeypatch.setattr(smtp_sink, "handle_RCPT", hang_up, raising=False)
    apps.open_table(relay_app, 3)
    post.run()
    assert [row.tries for row in rows(relay_app)] == [1, 1, 1]
    assert [row.outcome == "sent" for row in rows(relay_app)] == [False, True, True]


def test_a_letter_that_cannot_be_written_does_not_hold_up_the_others(
    relay_app: App, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = post.write

    def fail_for_some(app: App, order: Any) -> EmailMessage | None:
        if order.seat == 0:
            raise ZeroDivisionError("ink")
        message = write(app, order)
        if message is not None and order.seat == 1:
            message._headers = [("X", "\udce4")]  # type: ignore[attr-defined]  # no bytes can be made of this
        return message

    monkeypatch.setattr(post, "write", fail_for_some)
    apps.open_table(relay_app, 3)
    post.run()
    assert outcomes(relay_app)[0] == "not written: ink"
    assert outcomes(relay_app)[2] == "sent"
    assert len(smtp_sink.letters) == 1


def test_a_letter_to_a_seat_without_a_player_is_not_sent(relay_app: App, smtp_sink: Sink) -> None:
    first, _ = apps.open_table(relay_app)
    with relay_app.store.writing() as connection:
        erased = update(seats).where(seats.c.table == first.table, seats.c.seat == 0)
        connection.execute(erased.values(person=None))
    post.run()
    assert outcomes(relay_app) == ["nobody there", "sent"]


def test_an_embedded_house_reads_its_own_letters(tmp_path: Path, clock: FakeTime) -> None:
    from service.hosting import local_mailbox

    with apps.run_app(replace(apps.make_settings(tmp_path), smtp="embedded"), clock) as app:
        mail = local_mailbox.start(app)
        app.relay = f"smtp://127.0.0.1:{mail.port}"
        try:
            set_app(app)
            apps.open_table(app)
            post.run()
            assert {letter.recipient for letter in local_mailbox.list_newest(app)} == {
                "anna@example.org",
                "berta@example.org",
            }
        finally:
            mail.stop()
