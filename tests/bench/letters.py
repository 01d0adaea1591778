"""Letters through the real worker to a mail server, compared with messages of the same parts over bare smtplib."""

import smtplib
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple
from sqlalchemy import func, select, update

from engine import catalogue
from service.app import App
from service.commands.benches import Measure, register_bench
from service.store.schema import letters as rows
from service.tables import access
from service.tables.access import Place
from service.tables.opening import Invitee
from tests import apps, servers
from workers import process_pool
from workers.outgoing import post
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write

ROOT = Path(__file__).parents[2]
TABLES, SEATS, ROUNDS = 2, 3, 9  # tables of each game
MIN_SHARE, MIN_PICTURE_SHARE = 0.75, 0.6  # of the rate of bare smtplib
MIN_RATE, MAX_WORK_MS = 25.0, 40.0  # letters per second on one core, and work for each


@register_bench
def letters() -> Iterator[Measure]:
    """Letters per second, milliseconds per letter, and how many of these the processor works.

    First with text and HTML only, then with a cached picture, with a new picture, and with a new picture by the second
    process of an embedded service, which writes letters that come often.
    """
    with tempfile.TemporaryDirectory() as folder, run_mail_server() as relay:
        settings = apps.make_settings(Path(folder), smtp=relay)
        with apps.run_app(settings, apps.FakeTime()) as app:
            app.relay = relay
            links = open_tables(app)
            yield from measure_repeated(app, "invitation", "text and HTML", MIN_SHARE)
            for link in links:
                assert apps.submit(app, access.find(app, link), "sit word").accepted
            yield from measure_repeated(app, "turn", "its picture known", MIN_PICTURE_SHARE)
            yield from measure_new_boards(app, links, "its board new", MIN_RATE)
            process_pool.start()
            try:
                yield from measure_new_boards(app, links, "its board new, by the second process", None)
            finally:
                process_pool.stop()


def measure_new_boards(app: App, links: Sequence[str], what: str, budget: float | None) -> Iterator[Measure]:
    """Measure letters after a turn at every table, so that no board was drawn before."""
    places, random = [access.find(app, link) for link in links], Random(1)
    tables = [places[first : first + SEATS] for first in range(0, len(places), SEATS)]
    took, worked = list[float](), list[float]()
    for _ in range(ROUNDS):
        for table in tables:
            take_turn(app, table, random)
        before, start = count_sent(app), time.process_time()
        wall = time_call(post.run)
        work, count = time.process_time() - start, count_sent(app) - before
        took.append(wall / count)
        worked.append(work / count)
    seconds, work = median(took[1:]), 1_000 * median(worked[1:])  # in the first the templates of the games are read
    yield Measure(f"letters, {what}", 1 / seconds, "letters/s", budget)
    yield Measure(
        f"work for one letter, {what}", work, "ms of this process", MAX_WORK_MS if budget else None, at_most=True
    )


def take_turn(app: App, table: Sequence[Place], random: Random) -> None:
    """Let one player of the table move until it is another one's turn."""
    place = next((place for place in table if apps.list_moves(app, place)), None)
    while place and (moves := apps.list_moves(app, place)):
        assert apps.submit(app, place, random.choice(moves)).accepted


def count_sent(app: App) -> int:
    """Count the letters that were sent; withdrawn ones are not among them."""
    with app.store.reading() as connection:
        left = select(func.count()).select_from(rows).where(rows.c.outcome == "sent")
        return int(connection.execute(left).scalar_one())


def measure_repeated(app: App, kind: str, what: str, share: float) -> Iterator[Measure]:
    """Send these letters repeatedly, in turn with bare messages made of their parts, and measure both."""
    parts = [split_parts(message) for order in list_orders(app, kind) if (message := write(app, order)) is not None]
    turns = list[tuple[Spent, Spent]]()
    for _ in range(ROUNDS + 1):
        make_unsent(app, kind)
        turns.append(
            (measure_spent(post.run, len(parts)), measure_spent(lambda: send_bare(app.relay, parts), len(parts)))
        )
    del turns[0]  # the templates are read
    ours, bare = (Spent(*map(median, zip(*map(astuple, side), strict=True))) for side in zip(*turns, strict=True))
    rate, work = (median(getattr(b, name) / getattr(o, name) for o, b in turns) for name in Spent.__struct_fields__)
    yield Measure(f"letters, {what}, of bare smtplib", rate, "", share)
    yield Measure(f"the same by processor time of the sender, {what}", work, "", share)
    yield Measure(f"letters, {what}", 1 / ours.wall_s, "letters/s")
    yield Measure(f"work for one letter, {what}", 1_000 * ours.cpu_s, "ms of this process")
    yield Measure(f"bare smtplib, {what}", 1 / bare.wall_s, "letters/s")


class Spent(Struct, frozen=True):
    """What one letter takes: seconds, and seconds of this process's processor time."""

    wall_s: float
    cpu_s: float


def measure_spent(send: Callable[[], object], number: int) -> Spent:
    cpu = time.process_time()
    wall = time_call(send)
    return Spent(wall / number, (time.process_time() - cpu) / number)


def open_tables(app: App) -> list[str]:
    """Open tables of every game; return the links of their seats."""
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in apps.NAMES[:SEATS]]
    games = [game for game in catalogue.find_all() for _ in range(TABLES)]
    return [link for game in games for link in apps.open_new(app, game, {}, guests).links]


def list_orders(app: App, kind: str) -> list[LetterRequest]:
    with app.store.reading() as connection:
        owed = connection.execute(select(rows).where(rows.c.kind == kind)).all()
    return [LetterRequest(row.table, row.seq, row.seat, row.kind, "anna@example.org", "Anna") for row in owed]


def make_unsent(app: App, kind: str) -> None:
    """Mark all letters of this kind as due and not sent."""
    with app.store.writing() as connection:
        query = update(rows).where(rows.c.kind == kind)
        connection.execute(query.values(sent_at=None, due_at=app.now(), outcome=""))


def split_parts(message: EmailMessage) -> dict[str, Any]:
    by_type = {part.get_content_type(): part for part in message.walk() if not part.is_multipart()}
    headers = [(name, value) for name, value in message.items() if not name.startswith(("Content-", "MIME-"))]
    return {
        "headers": headers,
        "text": by_type["text/plain"].get_content(),
        "html": by_type["text/html"].get_content(),
        "png": by_type["image/png"].get_content() if "image/png" in by_type else b"",
    }


def send_bare(relay: str, parts: Sequence[dict[str, Any]]) -> None:
    """Send messages composed by the standard library, over one connection."""
    host, _, port = relay.removeprefix("smtp://").partition(":")
    with smtplib.SMTP(host, int(port)) as server:
        for part in parts:
            message = EmailMessage()
            for name, value in part["headers"]:
                message[name] = str(value)
            message.set_content(part["text"])
            message.add_alternative(part["html"], subtype="html")
            if part["png"]:
                html: Any = message.get_payload()[1]  # type: ignore[index]  # the HTML, just added
                html.add_related(part["png"], "image", "png", cid="<board>")
            server.send_message(message)


def time_call(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def run_mail_server() -> Iterator[str]:
    """Run a mail server in a separate process, which discards what it receives; yield its URL."""
    port = servers.free_port()
    listen = ["-n", "-c", "tests.bench.mail_sink.PipeliningSink", "-l", f"127.0.0.1:{port}"]
    with subprocess.Popen([sys.executable, "-m", "aiosmtpd", *listen], cwd=ROOT) as process:
        try:
            wait_for(port)
            yield f"smtp://127.0.0.1:{port}"
        finally:
            process.terminate()


def wait_for(port: int) -> None:
    end = time.monotonic() + servers.START_TIMEOUT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
